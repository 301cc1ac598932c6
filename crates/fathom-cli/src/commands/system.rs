//! `fathom system`.

use std::path::{Path, PathBuf};

use fathom_base::{Clock, Nanos, SystemClock};
use fathom_model::{Drive, Field, Layer, Machine, TargetInfo};
use fathom_system::{
    Candidate, DescribeOptions, Root, Sensors, describe, list_targets, resolve_target,
    system_fields, target_line,
};
use serde::Serialize;

use crate::args::SystemArgs;
use crate::describe::wrapped;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

/// Machine and target, as `--json` prints them.
#[derive(Serialize)]
struct Described {
    machine: Machine,
    target: TargetInfo,
}

/// A line of `--targets --json`.
#[derive(Serialize)]
struct Listed<'a> {
    point: &'a str,
    file_system: &'a str,
    available_bytes: u64,
    is_writable: bool,
    target: &'a TargetInfo,
}

/// Describes the machine and a target, or lists targets.
pub fn system(args: &SystemArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let root = Root::system();
    if args.sensors {
        return sensors(args, &root, printer);
    }
    match args.targets {
        true => targets(args.json, &root, settings, printer)?,
        false => machine(args, &root, settings, printer)?,
    }
    Ok(Exit::Good)
}

/// Prints what the sensors say, once or again and again.
fn sensors(args: &SystemArgs, root: &Root, printer: &Printer) -> Result<Exit, Failure> {
    const STEP: Nanos = Nanos::from_secs(1);
    let path = args.target.clone().unwrap_or_else(|| PathBuf::from("."));
    let target = resolve_target(root, &absolute(&path)?)?;
    let mut sensors = Sensors::find(root, &target);
    if sensors.is_empty() {
        return Err(Failure::unmet("no sensor was found on this machine"));
    }
    let clock = SystemClock::new();
    // What is counted has a value from the second look on.
    sensors.read(clock.now());
    let times = match args.watch {
        None => 1,
        Some(0) => u64::MAX,
        Some(times) => times,
    };
    for _ in 0..times {
        clock.sleep(STEP);
        let values = sensors.read(clock.now());
        let mut text = String::new();
        for (info, value) in sensors.infos().zip(values) {
            let value = value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
            text.push_str(&format!("{:<36} {value:>12} {}\n", info.id, info.unit));
        }
        if times > 1 {
            text.push('\n');
        }
        printer.data(&text)?;
    }
    Ok(Exit::Good)
}

fn machine(
    args: &SystemArgs,
    root: &Root,
    settings: &Settings,
    printer: &Printer,
) -> Result<(), Failure> {
    let path = args.target.clone().unwrap_or_else(|| PathBuf::from("."));
    let target = resolve_target(root, &absolute(&path)?)?;
    let options = DescribeOptions {
        search_path: Some(settings.search_path.clone()),
        reveals_serials: args.serials,
    };
    let machine = describe(root, &options);
    match args.json {
        true => printer.json(&Described { machine, target }),
        false => printer.data(&text(&machine, &target, settings.look.columns)),
    }
}

/// A path as the user would write it in full; links stay.
///
/// # Errors
/// When the current directory is gone.
pub fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(path)
        .map_err(|error| Failure::unmet(format!("find the current directory: {error}")))?;
    // `.` alone leaves a trailing `/.` behind.
    Ok(absolute.components().collect())
}

fn text(machine: &Machine, target: &TargetInfo, columns: usize) -> String {
    let fields = system_fields(machine, target);
    let mut text = String::new();
    for (title, fields) in [
        ("hardware", &fields.hardware),
        ("software", &fields.software),
        ("notes", &fields.notes),
    ] {
        push_fields(&mut text, title, fields, columns);
    }
    text.push_str(&format!(
        "target\n{}",
        wrapped(&target_line(target), 2, columns)
    ));
    for layer in &target.layers {
        text.push_str(&layer_text(layer));
    }
    for drive in &target.drives {
        text.push_str(&wrapped(&drive_text(drive), 2, columns));
    }
    text
}

fn push_fields(text: &mut String, title: &str, fields: &[Field], columns: usize) {
    if fields.is_empty() {
        return;
    }
    let name_width = fields
        .iter()
        .map(|field| field.name.chars().count())
        .max()
        .unwrap_or(0);
    text.push_str(&format!("{title}\n"));
    for field in fields {
        let body = wrapped(&field.text, name_width + 4, columns);
        let body = body.trim_start();
        text.push_str(&format!("  {:name_width$}  {body}", field.name));
    }
    text.push('\n');
}

fn layer_text(layer: &Layer) -> String {
    let kind = serde_json::to_value(layer.kind);
    let kind = kind.ok().and_then(|kind| Some(kind.as_str()?.to_owned()));
    let detail = match layer.detail.as_str() {
        "" => String::new(),
        detail => format!(", {detail}"),
    };
    let below = match layer.below.is_empty() {
        true => String::new(),
        false => format!(" on {}", layer.below.join(", ")),
    };
    let size = fathom_base::Bytes::new(layer.size_bytes).rough();
    let kind = kind.unwrap_or_default();
    format!("  {}: {kind}, {size}{detail}{below}\n", layer.name)
}

fn drive_text(drive: &Drive) -> String {
    let mut words = vec![format!(
        "{}: {}",
        drive.name,
        drive.model.as_deref().unwrap_or("no model name")
    )];
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.push(format!("{name} {value}"));
        }
    };
    add("firmware", drive.firmware.clone());
    add("serial", drive.serial.clone());
    add("by", drive.transport.clone());
    add("link", drive.link.as_ref().map(|link| link.text.clone()));
    add("scheduler", drive.scheduler.clone());
    add("write cache", drive.write_cache.clone());
    add("queue of", drive.nr_requests.map(|count| count.to_string()));
    let block = drive.logical_block_bytes.zip(drive.physical_block_bytes);
    add(
        "blocks",
        block.map(|(logical, physical)| format!("{logical}/{physical} B")),
    );
    words.join(", ")
}

fn targets(json: bool, root: &Root, settings: &Settings, printer: &Printer) -> Result<(), Failure> {
    let candidates = list_targets(root);
    if json {
        let listed: Vec<Listed<'_>> = candidates.iter().map(listed).collect();
        return printer.json(&listed);
    }
    let lines: String = candidates
        .iter()
        .map(|candidate| {
            let writable = match candidate.is_writable {
                true => "",
                false => "  (not writable by you)",
            };
            let free = fathom_base::Bytes::new(candidate.mount.available_bytes).rough();
            let line = format!("{}  {free} free{writable}", target_line(&candidate.target));
            let body = wrapped(&line, 4, settings.look.columns);
            body.trim_start().to_owned()
        })
        .collect();
    printer.data(&lines)
}

fn listed(candidate: &Candidate) -> Listed<'_> {
    Listed {
        point: &candidate.mount.point,
        file_system: &candidate.mount.file_system,
        available_bytes: candidate.mount.available_bytes,
        is_writable: candidate.is_writable,
        target: &candidate.target,
    }
}

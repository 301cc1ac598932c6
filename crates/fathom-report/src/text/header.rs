//! What was measured, above the results.

use std::fmt::Write;

use fathom_model::{Drive, System, TargetInfo};

use super::ShowOptions;
use super::columns::{fit, push_left, push_wrapped, width};
use super::style::Tone;
use crate::clean;
use crate::reading::reading_text;
use crate::view::View;

/// Widest first column.
const MOST_NAME: usize = 34;

/// Title, description, systems with their targets; what differs between systems once a system,
/// the rest once for all.
pub(super) fn push_header(out: &mut String, view: &View<'_>, options: ShowOptions) {
    let columns = options.columns();
    let style = options.style();
    let title = match view.file.title.trim() {
        "" => "Untitled result",
        title => title,
    };
    style.push(out, Tone::Strong, |out| {
        push_wrapped(out, &clean::line(title), 0, 0, columns)
    });
    out.push('\n');
    let description = clean::line(&view.file.description);
    if !description.trim().is_empty() && description.trim() != title {
        push_wrapped(out, &description, 0, 0, columns);
        out.push('\n');
    }
    out.push('\n');
    match view.file.systems.as_slice() {
        [] => {}
        [system] => push_single(out, view, system, options),
        _ => push_several(out, view, options),
    }
    if let Some(text) = reading_text(view.file) {
        push_wrapped(out, &text, 0, 0, columns);
        out.push('\n');
    }
    let origin = view.file.origin.as_deref();
    let warnings = origin.map_or(0, |origin| origin.warnings.len());
    if warnings > 0 {
        let texts = match warnings {
            1 => "1 thing".to_owned(),
            many => format!("{many} things"),
        };
        style.push(out, Tone::Warning, |out| {
            let _ = write!(
                out,
                "{texts} in the imported file could not be read; see explain"
            );
        });
        out.push('\n');
    }
}

fn push_single(out: &mut String, view: &View<'_>, system: &System, options: ShowOptions) {
    push_fact(out, "system", &system.identifier, options);
    if let Some(target) = &system.target {
        push_fact(out, "target", &target_text(target), options);
    }
    let fields = || system.hardware.iter().chain(&system.software);
    let name = fields()
        .map(|field| width(&field.name))
        .max()
        .unwrap_or(0)
        .min(20);
    for field in fields() {
        let start = out.len();
        out.push_str("  ");
        push_left(out, &clean::line(&field.name), name);
        out.push_str("  ");
        let used = width(&out[start..]);
        push_wrapped(
            out,
            &clean::line(&field.text),
            used,
            name + 4,
            options.columns(),
        );
        out.push('\n');
    }
    if !system.remark.is_empty() {
        push_fact(out, "remark", &system.remark, options);
    }
    debug_assert!(view.file.systems.len() == 1);
    out.push('\n');
}

fn push_fact(out: &mut String, name: &str, text: &str, options: ShowOptions) {
    push_left(out, name, 8);
    out.push(' ');
    push_wrapped(out, &clean::line(text), 9, 9, options.columns());
    out.push('\n');
}

fn push_several(out: &mut String, view: &View<'_>, options: ShowOptions) {
    let columns = options.columns();
    let style = options.style();
    let names: Vec<String> = view
        .file
        .systems
        .iter()
        .map(|system| clean::line(&system.identifier))
        .collect();
    let name_width = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let name_width = name_width.min(MOST_NAME.min(columns / 2));
    let _ = writeln!(out, "{} systems", names.len());
    for (place, name) in names.iter().enumerate() {
        out.push_str("  ");
        let facts: Vec<String> = view
            .conditions
            .differing
            .iter()
            .filter_map(|row| {
                Some(format!(
                    "{}: {}",
                    row.name,
                    row.values.get(place)?.as_ref()?
                ))
            })
            .collect();
        let facts = clean::line(&facts.join("; "));
        style.push(out, Tone::Strong, |out| {
            if facts.is_empty() {
                out.push_str(&fit(name, name_width));
            } else {
                push_left(out, &fit(name, name_width), name_width);
            }
        });
        if !facts.is_empty() {
            out.push_str("  ");
            push_wrapped(out, &facts, name_width + 4, name_width + 4, columns);
        }
        out.push('\n');
    }
    if !view.conditions.common.is_empty() {
        let common = view.conditions.common.iter();
        let facts: Vec<String> = common
            .map(|condition| format!("{}: {}", condition.name, condition.value))
            .collect();
        out.push_str("  ");
        push_left(out, "all", name_width);
        out.push_str("  ");
        let facts = clean::line(&facts.join("; "));
        style.push(out, Tone::Faint, |out| {
            push_wrapped(out, &facts, name_width + 4, name_width + 4, columns);
        });
        out.push('\n');
    }
    out.push('\n');
}

/// `/home/ann/proj  ext4 (rw,relatime) on nvme0n1p2, Samsung SSD 970 EVO 250GB, firmware ...`.
pub(crate) fn target_text(target: &TargetInfo) -> String {
    let mut text = target.path.clone();
    if let Some(memory) = &target.memory {
        let _ = write!(text, ", memory ({})", memory.0);
    }
    if let Some(mount) = &target.mount {
        let _ = write!(text, ", {}", mount.file_system);
        if !mount.options.is_empty() {
            let _ = write!(text, " ({})", mount.options.join(","));
        }
        if !mount.source.is_empty() {
            let _ = write!(text, " on {}", mount.source);
        }
    }
    for layer in target
        .layers
        .iter()
        .filter(|layer| !layer.detail.is_empty())
    {
        let _ = write!(text, ", {} {}", layer.name, layer.detail);
    }
    for drive in &target.drives {
        text.push_str(", ");
        text.push_str(&drive_text(drive));
    }
    if let Some(opaque) = &target.opaque {
        let _ = write!(text, ", {opaque}");
    }
    text
}

fn drive_text(drive: &Drive) -> String {
    let mut text = drive.model.clone().unwrap_or_else(|| drive.name.clone());
    if let Some(firmware) = &drive.firmware {
        let _ = write!(text, ", firmware {firmware}");
    }
    if let Some(link) = &drive.link {
        let _ = write!(
            text,
            ", {}{}",
            link.text,
            if link.is_degraded { " (degraded)" } else { "" }
        );
    }
    if let Some(scheduler) = &drive.scheduler {
        let _ = write!(text, ", scheduler {scheduler}");
    }
    if let Some(cache) = &drive.write_cache {
        let _ = write!(text, ", write cache {cache}");
    }
    text
}

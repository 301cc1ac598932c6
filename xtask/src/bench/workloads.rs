//! The built-in file-system tests against the originals: the same case by both implementations, on a
//! file system in memory and on the disk.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fathom_base::process::{Finished, Program, find_program, run};
use fathom_base::{Cancel, Nanos};
use serde_json::Value;

use super::{Choices, Goal, Row, ours};
use crate::run::{cargo, insist};

/// A file system in memory on every Linux.
const MEMORY: &str = "/dev/shm";
/// Size of the loop device that hdparm reads.
const DEVICE_BYTES: u64 = 2 << 30;

/// One case that both implementations carry out.
struct Load {
    /// `dbench 6 clients`.
    name: &'static str,
    test: &'static str,
    /// The original.
    program: &'static str,
    options: &'static [&'static str],
    figure: Figure,
    /// Where it is measured.
    places: &'static [Place],
    /// What the ratio should be in memory, within 1 plus or minus this; `None` is only shown.
    in_memory: Option<f64>,
}

/// What is compared.
#[derive(Clone, Copy, Debug)]
enum Figure {
    /// A metric: its id and unit. A rate of work done in a fixed time, so that processor time is
    /// taken for each unit of it.
    Rate(&'static str, &'static str),
    /// A metric of work that is the same on both sides.
    Metric(&'static str, &'static str),
    /// Time of the whole trial, for an original whose clock counts seconds.
    Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Memory,
    Disk,
    Device,
}

const BOTH: &[Place] = &[Place::Memory, Place::Disk];
const CLIENT_TXT: &str = "loadfile=/usr/share/dbench/client.txt";

const fn dbench(name: &'static str, options: &'static [&'static str]) -> Load {
    Load {
        name,
        test: "dbench",
        program: "dbench",
        options,
        figure: Figure::Rate("throughput", "MB/s"),
        places: BOTH,
        in_memory: Some(0.1),
    }
}

const fn fs_mark(name: &'static str, options: &'static [&'static str]) -> Load {
    Load {
        name,
        test: "fs-mark",
        program: "fs_mark",
        options,
        figure: Figure::Metric("files-per-second", "files/s"),
        places: BOTH,
        in_memory: Some(0.1),
    }
}

const fn iozone(
    name: &'static str,
    options: &'static [&'static str],
    metric: &'static str,
) -> Load {
    Load {
        name,
        test: "iozone",
        program: "iozone",
        options,
        figure: Figure::Metric(metric, "MiB/s"),
        places: BOTH,
        in_memory: Some(0.1),
    }
}

/// The variants of the seeds, with fewer files where those would fill the memory.
const LOADS: [Load; 17] = [
    dbench("dbench 1 client", &["time=5s", "clients=1", CLIENT_TXT]),
    dbench("dbench 6 clients", &["time=5s", "clients=6", CLIENT_TXT]),
    dbench("dbench 12 clients", &["time=5s", "clients=12", CLIENT_TXT]),
    dbench("dbench 48 clients", &["time=5s", "clients=48", CLIENT_TXT]),
    Load {
        name: "postmark 50000 transactions",
        test: "postmark",
        program: "postmark",
        options: &["transactions=50000"],
        figure: Figure::Duration,
        places: BOTH,
        in_memory: Some(0.1),
    },
    fs_mark("fs-mark 1000 files", &["files=1000"]),
    fs_mark("fs-mark 1000 files, no sync", &["files=1000", "sync=none"]),
    fs_mark("fs-mark 4 x 500 files", &["files=500", "threads=4"]),
    fs_mark(
        "fs-mark 1000 files, 32 directories",
        &["files=1000", "directories=32"],
    ),
    fs_mark(
        "fs-mark 20000 files of 4KiB",
        &["files=20000", "size=4KiB", "sync=none"],
    ),
    iozone(
        "iozone write 4KiB",
        &["record=4KiB", "operation=write"],
        "write",
    ),
    iozone(
        "iozone write 64KiB",
        &["record=64KiB", "operation=write"],
        "write",
    ),
    iozone(
        "iozone read 1MiB",
        &["record=1MiB", "operation=read"],
        "read",
    ),
    iozone(
        "iozone random read 4KiB",
        &["record=4KiB", "operation=random-read"],
        "random-read",
    ),
    Load {
        name: "sqlite 7500 rows",
        test: "sqlite",
        program: "sqlite3",
        options: &[],
        figure: Figure::Metric("time", "s"),
        places: &[Place::Memory],
        in_memory: None,
    },
    Load {
        name: "sqlite 600 rows",
        test: "sqlite",
        program: "sqlite3",
        options: &["rows=200"],
        figure: Figure::Metric("time", "s"),
        places: &[Place::Disk],
        in_memory: None,
    },
    Load {
        name: "hdparm -t",
        test: "hdparm-read",
        program: "hdparm",
        options: &[],
        figure: Figure::Rate("read", "MiB/s"),
        places: &[Place::Device],
        in_memory: None,
    },
];

/// Measures the loads whose name holds `--only`, where their originals are installed.
pub fn measure_all(choices: &Choices, rows: &mut Vec<Row>) -> Result<()> {
    insist(cargo(&["build", "--release", "--package", "fathom-cli"]))?;
    let wanted = |load: &&Load| load.name.contains(choices.only.as_str());
    for load in LOADS.iter().filter(wanted) {
        let search = std::env::var_os("PATH").unwrap_or_default();
        if find_program(load.program, &search).is_none()
            && find_program(load.program, "/usr/sbin".as_ref()).is_none()
        {
            println!("  {:<48} {} is not installed", load.name, load.program);
            continue;
        }
        for place in load.places {
            let measured = match place {
                Place::Memory => on_memory(load, choices)?,
                Place::Disk => compare(load, *place, &choices.directory, choices)?,
                Place::Device => on_device(load, choices)?,
            };
            measured.iter().for_each(Row::print);
            println!("    load average {}", load_average());
            rows.extend(measured);
        }
    }
    Ok(())
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Removes what it names when it goes.
struct Guard(PathBuf);

impl Drop for Guard {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

fn on_memory(load: &Load, choices: &Choices) -> Result<Vec<Row>> {
    let directory = PathBuf::from(MEMORY).join(format!("fathom-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).context("make a directory in memory")?;
    let guard = Guard(directory);
    compare(load, Place::Memory, &guard.0, choices)
}

/// A loop device, detached when it goes.
struct Device(String);

impl Drop for Device {
    fn drop(&mut self) {
        call("losetup", &["--detach", &self.0]).ok();
    }
}

fn on_device(load: &Load, choices: &Choices) -> Result<Vec<Row>> {
    let image = choices.directory.join("device");
    // Random, so that nothing between here and the drive makes it smaller.
    let count = format!("count={}", DEVICE_BYTES >> 20);
    let of = format!("of={}", image.display());
    call(
        "dd",
        &["if=/dev/urandom", &of, "bs=1M", &count, "conv=fsync"],
    )?;
    let name = call(
        "losetup",
        &["--find", "--show", &image.display().to_string()],
    );
    let measured = name.and_then(|name| {
        let device = Device(name.trim().to_owned());
        compare(load, Place::Device, Path::new(&device.0), choices)
    });
    std::fs::remove_file(&image).ok();
    measured
}

fn call(name: &str, words: &[&str]) -> Result<String> {
    let search = std::env::join_paths(["/usr/sbin", "/sbin", "/usr/bin", "/bin"])?;
    let path = find_program(name, &search).with_context(|| format!("{name} is not there"))?;
    let finished = run(&Program::new(path).args(words), &Cancel::new())?;
    match finished.is_success() {
        true => Ok(finished.stdout_text()),
        false => bail!("{name}: {}", finished.stderr_text().trim()),
    }
}

/// What one run gave.
#[derive(Clone, Copy, Debug)]
struct Measured {
    figure: f64,
    /// Processor time of everything, the test's own and what is around it.
    cpu: f64,
    /// The implementation's version.
    version: [u8; 16],
}

fn compare(load: &Load, place: Place, target: &Path, choices: &Choices) -> Result<Vec<Row>> {
    let around = around(target, place, choices)?;
    let mut pairs = Vec::new();
    for number in 0..choices.pairs {
        let one = |implementation: &str| measure(load, implementation, target, choices);
        // A B, then B A: a drift within pairs cancels over them.
        let pair = match number % 2 {
            0 => {
                let native = one("native")?;
                (native, one("program")?)
            }
            _ => {
                let program = one("program")?;
                (one("native")?, program)
            }
        };
        pairs.push(pair);
    }
    let place_name = match place {
        Place::Memory => "tmpfs",
        Place::Disk => "disk",
        Place::Device => "loop device",
    };
    let version = pairs.first().map_or_else(String::new, |(_, program)| {
        let bytes = program.version.iter().copied().filter(|byte| *byte != 0);
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    });
    let row = |what: String, unit, of: &dyn Fn(&Measured) -> f64, goal| Row {
        what,
        unit,
        ours: pairs.iter().map(|(native, _)| of(native)).collect(),
        peer: pairs.iter().map(|(_, program)| of(program)).collect(),
        peer_name: format!("{} {version}", load.program),
        goal,
    };
    let (unit, cpu_unit) = match load.figure {
        Figure::Rate(_, unit) => (unit, "s/unit"),
        Figure::Metric(_, unit) => (unit, "s"),
        Figure::Duration => ("s", "s"),
    };
    let cpu = |measured: &Measured| {
        let own = (measured.cpu - around).max(0.0);
        match load.figure {
            // Both run for the same time: work is in proportion to the rate.
            Figure::Rate(..) => own / measured.figure,
            _ => own,
        }
    };
    let goal = match (place, load.in_memory, load.test) {
        (Place::Memory, Some(share), _) => Goal::RatioWithin(share),
        (Place::Disk, _, "dbench") => Goal::RatioWithin(0.4),
        _ => Goal::None,
    };
    Ok(vec![
        row(
            format!("{}, {place_name}", load.name),
            unit,
            &|m| m.figure,
            goal,
        ),
        row(
            format!("{}, {place_name}, CPU of the work", load.name),
            cpu_unit,
            &cpu,
            Goal::RatioAtMost(1.0),
        ),
    ])
}

/// Processor time of `fathom run` with next to no work: what is around a trial.
fn around(target: &Path, place: Place, choices: &Choices) -> Result<f64> {
    let (test, options): (_, &[&str]) = match place {
        Place::Device => ("hdparm-read", &["time=1ms", "settle=0s"]),
        _ => ("fs-mark", &["files=1", "size=4KiB", "sync=none"]),
    };
    let finished = fathom(test, "native", options, target, choices)?;
    Ok(cpu_of(&finished))
}

fn cpu_of(finished: &Finished) -> f64 {
    finished.user.plus(finished.system).as_secs_f64()
}

fn measure(
    load: &Load,
    implementation: &str,
    target: &Path,
    choices: &Choices,
) -> Result<Measured> {
    let finished = fathom(load.test, implementation, load.options, target, choices)?;
    let result: Value = serde_json::from_slice(&finished.stdout).context("read the result")?;
    let figure = figure(&result, load.figure)
        .with_context(|| format!("{} by {implementation} gave no figure", load.name))?;
    let mut version = [0; 16];
    let found = result.pointer("/cases/0/implementation/version");
    let text = found.and_then(Value::as_str).unwrap_or_default();
    version
        .iter_mut()
        .zip(text.bytes())
        .for_each(|(to, from)| *to = from);
    Ok(Measured {
        figure,
        cpu: cpu_of(&finished),
        version,
    })
}

fn figure(result: &Value, figure: Figure) -> Option<f64> {
    let trial = result.pointer("/runs/0/trials/0")?;
    match figure {
        Figure::Rate(id, _) | Figure::Metric(id, _) => trial.get("values")?.get(id)?.as_f64(),
        Figure::Duration => Some(trial.get("duration_ns")?.as_f64()? / 1e9),
    }
}

fn fathom(
    test: &str,
    implementation: &str,
    options: &[&str],
    target: &Path,
    choices: &Choices,
) -> Result<Finished> {
    let words = [
        "run",
        test,
        "--implementation",
        implementation,
        "--min-trials",
        "1",
        "--max-trials",
        "1",
        "--quiet",
        "--json",
    ];
    let options = options.iter().flat_map(|option| ["-o", option]);
    let mut program = Program::new(ours::binary()?)
        .args(words)
        .args(options)
        .args(["--target".as_ref(), target.as_os_str()]);
    let data = choices.directory.join("data");
    program.environment = vec![("FATHOM_DATA".into(), data.into())];
    program.timeout = Nanos::from_secs(1200);
    program.output_limit = 64 << 20;
    let finished = run(&program, &Cancel::new()).context("run fathom")?;
    match finished.is_success() {
        true => Ok(finished),
        false => bail!("{}: {}", program.command_line(), finished.stderr_text()),
    }
}

//! The I/O engine against fio: the same load, file size, direction and depth on both sides.

use std::path::Path;

use anyhow::{Result, bail};

use super::fio::{self, FioFigures};
use super::ours::{self, OurFigures};
use super::{Choices, Goal, Row};
use crate::run::{cargo, insist};

/// One figure of both sides and what it should be.
struct Figure {
    what: &'static str,
    unit: &'static str,
    ours: fn(&OurFigures) -> f64,
    peer: fn(&FioFigures) -> f64,
    goal: Goal,
}

/// One load, written for both sides.
struct Load {
    name: String,
    ours: Vec<String>,
    peer: Vec<String>,
    figures: Vec<Figure>,
}

/// Measures all loads against the fio that is installed.
pub fn measure_all(choices: &Choices, rows: &mut Vec<Row>) -> Result<()> {
    let Some(version) = fio::version() else {
        bail!("fio is not installed: apt-get install fio");
    };
    let example = [
        "build",
        "--release",
        "--package",
        "fathom-io",
        "--example",
        "bench",
    ];
    insist(cargo(&example))?;
    // One file for both sides, every block of it written.
    let lay_out = format!("path={FILE} size=1GiB layout=1 engine=psync runtime=100ms");
    ours::measure(&words(&lay_out), &choices.directory)?;
    let asked = |load: &Load| load.name.contains(&choices.only);
    for load in loads(choices.seconds).into_iter().filter(asked) {
        let measured = measure(&load, choices, &version)?;
        measured.iter().for_each(Row::print);
        rows.extend(measured);
    }
    std::fs::remove_file(choices.directory.join(FILE)).ok();
    Ok(())
}

const FILE: &str = "bench.data";

fn measure(load: &Load, choices: &Choices, version: &str) -> Result<Vec<Row>> {
    let directory: &Path = &choices.directory;
    let mut pairs = Vec::new();
    for number in 0..choices.pairs {
        // A B, then B A: a drift within pairs cancels over them.
        let pair = match number % 2 {
            0 => {
                let ours = ours::measure(&load.ours, directory)?;
                (ours, fio::run(&load.peer, directory)?)
            }
            _ => {
                let peer = fio::run(&load.peer, directory)?;
                (ours::measure(&load.ours, directory)?, peer)
            }
        };
        pairs.push(pair);
    }
    let row = |figure: &Figure| Row {
        what: format!("{}, {}", load.name, figure.what),
        unit: figure.unit,
        ours: pairs.iter().map(|(ours, _)| (figure.ours)(ours)).collect(),
        peer: pairs.iter().map(|(_, peer)| (figure.peer)(peer)).collect(),
        peer_name: version.to_owned(),
        goal: figure.goal,
    };
    Ok(load.figures.iter().map(row).collect())
}

fn loads(seconds: u32) -> Vec<Load> {
    let mut loads = vec![null(1, seconds), null(32, seconds)];
    loads.extend(cached(seconds));
    for engine in ["io_uring", "libaio"] {
        for mode in ["randread", "randwrite"] {
            loads.extend([32, 64].map(|depth| direct(engine, mode, depth, seconds)));
        }
    }
    loads.extend(["randread", "randwrite"].map(|mode| psync(mode, seconds)));
    loads
}

fn rate(goal: Goal) -> Figure {
    Figure {
        what: "rate",
        unit: "IOPS",
        ours: |ours| ours.iops,
        peer: |peer| peer.iops,
        goal,
    }
}

fn user_cpu(goal: Goal) -> Figure {
    Figure {
        what: "user CPU per I/O",
        unit: "ns",
        ours: |ours| ours.user_ns_per_io,
        peer: |peer| peer.user_ns_per_io,
        goal,
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Fathom's own cost: nothing is read, everything is counted.
fn null(depth: u32, seconds: u32) -> Load {
    let time = Figure {
        what: "time per I/O",
        unit: "ns",
        ours: |ours| 1e9 / ours.iops,
        peer: |peer| 1e9 / peer.iops,
        goal: Goal::AtMost(60.0),
    };
    Load {
        name: format!("null engine, depth {depth}"),
        ours: words(&format!(
            "engine=null rw=randread size=1GiB depth={depth} runtime={seconds}s"
        )),
        peer: words(&format!(
            "ioengine=null rw=randread bs=4k size=1g iodepth={depth} runtime={seconds} time_based=1 thread=1"
        )),
        figures: vec![time, rate(Goal::RatioAtLeast(2.0))],
    }
}

/// Reads from the page cache: the kernel answers at once, so the tool's own cost shows.
fn cached(seconds: u32) -> [Load; 2] {
    let ours = format!(
        "path={FILE} engine=io_uring warm=1 rw=randread size=1GiB depth=32 runtime={seconds}s"
    );
    // `pre_read` warms the cache and `invalidate=0` keeps it.
    let peer = format!(
        "ioengine=io_uring direct=0 invalidate=0 pre_read=1 rw=randread bs=4k size=1g iodepth=32 \
         runtime={seconds} time_based=1 thread=1 filename={FILE}"
    );
    let tuned = format!(
        "{peer} iodepth_batch_submit=16 iodepth_batch_complete_min=1 \
         iodepth_batch_complete_max=32 fixedbufs=1 registerfiles=1 nonvectored=1 norandommap=1 \
         gtod_reduce=1"
    );
    [("as used", &peer, 1.4), ("best tuned", &tuned, 1.1)].map(|(name, peer, goal)| Load {
        name: format!("cached 4 KiB randread, io_uring depth 32, fio {name}"),
        ours: words(&ours),
        peer: words(peer),
        figures: vec![rate(Goal::RatioAtLeast(goal))],
    })
}

/// Reads and writes of the disk, queued.
fn direct(engine: &str, mode: &str, depth: u32, seconds: u32) -> Load {
    Load {
        name: format!("O_DIRECT 4 KiB {mode}, {engine} depth {depth}"),
        ours: words(&format!(
            "path={FILE} engine={engine} direct=1 rw={mode} size=1GiB depth={depth} \
             runtime={seconds}s ramp=500ms"
        )),
        peer: words(&format!(
            "ioengine={engine} direct=1 rw={mode} bs=4k size=1g iodepth={depth} \
             runtime={seconds} ramp_time=500ms time_based=1 thread=1 filename={FILE}"
        )),
        figures: vec![
            rate(Goal::RatioAtLeast(0.97)),
            user_cpu(Goal::RatioAtMost(0.5)),
        ],
    }
}

/// One at a time: what one I/O takes.
fn psync(mode: &str, seconds: u32) -> Load {
    let latency = |what, ours, peer| Figure {
        what,
        unit: "us",
        ours,
        peer,
        goal: Goal::RatioWithin(0.03),
    };
    Load {
        name: format!("O_DIRECT 4 KiB {mode}, psync depth 1"),
        ours: words(&format!(
            "path={FILE} engine=psync direct=1 rw={mode} size=1GiB depth=1 \
             runtime={seconds}s ramp=500ms"
        )),
        peer: words(&format!(
            "ioengine=psync direct=1 rw={mode} bs=4k size=1g iodepth=1 runtime={seconds} \
             ramp_time=500ms time_based=1 thread=1 filename={FILE} lat_percentiles=1 clat_percentiles=0"
        )),
        figures: vec![
            latency("latency p50", |ours| ours.p50_us, |peer| peer.p50_us),
            latency("latency p99", |ours| ours.p99_us, |peer| peer.p99_us),
        ],
    }
}

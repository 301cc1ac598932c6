//! What a person waits for beside the measuring itself, and memory.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use fathom_base::process::{Finished, Program, run};
use fathom_base::{Cancel, Nanos};
use serde_json::Value;

use super::{Choices, Goal, Row, ours};
use crate::run::{cargo, insist, root};

/// Measures all of them.
pub fn measure_all(choices: &Choices, rows: &mut Vec<Row>) -> Result<()> {
    insist(cargo(&["build", "--release", "--package", "fathom-cli"]))?;
    let mut add = |row: Row| {
        row.print();
        rows.push(row);
    };
    let (total, beyond) = quick(&choices.directory)?;
    add(total);
    add(beyond);
    add(show(choices)?);
    add(memory(&choices.directory)?);
    if choices.build {
        add(cold_build()?);
    }
    Ok(())
}

/// A row without a peer.
fn alone(what: &str, unit: &'static str, ours: Vec<f64>, goal: Goal) -> Row {
    Row {
        what: what.to_owned(),
        unit,
        ours,
        peer: Vec::new(),
        peer_name: String::new(),
        goal,
    }
}

fn fathom(directory: &Path, words: &[&str]) -> Result<Finished> {
    let mut program = Program::new(ours::binary()?).args(words.iter().copied());
    program.directory = Some(directory.to_path_buf());
    program.environment = vec![("FATHOM_DATA".into(), directory.join("data").into())];
    program.timeout = Nanos::from_secs(1200);
    program.output_limit = 256 << 20;
    let finished = run(&program, &Cancel::new()).context("run fathom")?;
    if !finished.is_success() {
        let errors = finished.stderr_text();
        bail!("{}: {:?}: {errors}", program.command_line(), finished.end);
    }
    Ok(finished)
}

/// `fathom run quick` as a newcomer runs it: whole time, and time beyond its trials.
fn quick(directory: &Path) -> Result<(Row, Row)> {
    let finished = fathom(directory, &["run", "quick", "--quiet", "--json"])?;
    let result: Value = serde_json::from_slice(&finished.stdout).context("read the result")?;
    let runs = result.get("runs").and_then(Value::as_array);
    let trials = runs
        .into_iter()
        .flatten()
        .filter_map(|run| run.get("trials")?.as_array())
        .flatten();
    let trial_ns: u64 = trials
        .filter_map(|trial| trial.get("duration_ns")?.as_u64())
        .sum();
    let total = finished.elapsed.as_secs_f64();
    let beyond = total - Nanos::new(trial_ns).as_secs_f64();
    Ok((
        alone("fathom run quick, whole", "s", vec![total], Goal::None),
        alone(
            "fathom run quick, beyond its trials",
            "s",
            vec![beyond],
            Goal::AtMost(2.0),
        ),
    ))
}

/// `fathom show` of the result of [`quick`].
fn show(choices: &Choices) -> Result<Row> {
    let one = |_| {
        let started = Instant::now();
        fathom(&choices.directory, &["show", "latest"])?;
        Ok(started.elapsed().as_secs_f64() * 1e3)
    };
    let times: Result<Vec<f64>> = (0..choices.pairs.max(20)).map(one).collect();
    Ok(alone(
        "fathom show latest",
        "ms",
        times?,
        Goal::AtMost(30.0),
    ))
}

/// Largest resident set at depth 256, without the I/O buffers (256 of 4 KiB).
fn memory(directory: &Path) -> Result<Row> {
    const BUFFERS: u64 = 256 * 4096;
    let words = [
        "run",
        "io",
        "--min-trials",
        "1",
        "--max-trials",
        "1",
        "--quiet",
        "-o",
        "depth=256",
        "-o",
        "runtime=1s",
        "-o",
        "size=256MiB",
    ];
    let finished = fathom(directory, &words)?;
    let mib = finished.max_resident_bytes.saturating_sub(BUFFERS) as f64 / f64::from(1 << 20);
    Ok(alone(
        "memory at depth 256, without buffers",
        "MiB",
        vec![mib],
        Goal::AtMost(64.0),
    ))
}

/// The newcomer's first command, from an empty target directory; crates are downloaded already.
fn cold_build() -> Result<Row> {
    let target = root().join("target/bench-cold");
    std::fs::remove_dir_all(&target).ok();
    let mut command = cargo(&["build", "--release"]);
    command.env("CARGO_TARGET_DIR", &target);
    let started = Instant::now();
    let built = insist(command);
    let seconds = started.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&target).ok();
    built?;
    Ok(alone(
        "cold cargo build --release",
        "s",
        vec![seconds],
        Goal::AtMost(150.0),
    ))
}

//! Runs our own binaries and reads their JSON.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::run::output;

/// What one measurement by the engine gave.
#[derive(Clone, Copy, Debug)]
pub struct OurFigures {
    /// Operations a second.
    pub iops: f64,
    /// User CPU of the submitting threads for each operation of the window.
    pub user_ns_per_io: f64,
    /// Median latency, submission to reaping.
    pub p50_us: f64,
    /// 99th percentile.
    pub p99_us: f64,
}

/// The release directory of this workspace, where this cargo builds.
fn release() -> Result<PathBuf> {
    let own = std::env::current_exe().context("find our own path")?;
    let target = own
        .ancestors()
        .nth(2)
        .context("find the target directory")?;
    Ok(target.join("release"))
}

/// The release binary.
pub fn binary() -> Result<PathBuf> {
    Ok(release()?.join("fathom"))
}

/// The engine's example `bench`.
pub fn example() -> Result<PathBuf> {
    Ok(release()?.join("examples/bench"))
}

/// One measurement by the engine alone, `key=value` as its example `bench` takes them.
pub fn measure(options: &[String], directory: &Path) -> Result<OurFigures> {
    let mut command = Command::new(example()?);
    command.args(options).current_dir(directory);
    let line: Value = serde_json::from_str(&output(command)?).context("read our JSON")?;
    figures(&line).with_context(|| format!("a figure is missing in {line}"))
}

fn figures(line: &Value) -> Option<OurFigures> {
    let number = |name: &str| line.get(name)?.as_f64();
    Some(OurFigures {
        iops: number("iops")?,
        user_ns_per_io: number("user_ns_per_op")?,
        p50_us: number("p50_ns")? / 1e3,
        p99_us: number("p99_ns")? / 1e3,
    })
}

//! Runs the release binary as a user would and reads its JSON.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What one trial of one case gave.
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

/// The release binary of this workspace, where this cargo builds it.
pub fn binary() -> Result<PathBuf> {
    let own = std::env::current_exe().context("find our own path")?;
    let target = own
        .ancestors()
        .nth(2)
        .context("find the target directory")?;
    Ok(target.join("release/fathom"))
}

/// A command of ours with a data directory of its own.
pub fn command(directory: &Path, words: &[&str]) -> Result<Command> {
    let mut command = Command::new(binary()?);
    command
        .args(words)
        .env("FATHOM_DATA", directory.join("data"))
        .current_dir(directory)
        .stdin(Stdio::null());
    Ok(command)
}

/// One trial of test `io` with these options.
pub fn run(options: &[String], directory: &Path) -> Result<OurFigures> {
    let words = [
        "run",
        "io",
        "--min-trials",
        "1",
        "--max-trials",
        "1",
        "--quiet",
        "--json",
    ];
    let mut command = command(directory, &words)?;
    for option in options {
        command.arg("-o").arg(option);
    }
    let output = command.output().context("start fathom")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("fathom run io {}: {errors}", options.join(" "));
    }
    let result: Value = serde_json::from_slice(&output.stdout).context("read fathom's JSON")?;
    let trial = result
        .pointer("/runs/0/trials/0")
        .context("the result has no trial")?;
    figures(trial).context("the trial lacks a figure")
}

fn figures(trial: &Value) -> Option<OurFigures> {
    let value = |name: &str| {
        let value = trial.get("values")?.get(name)?;
        value.as_f64().or_else(|| value.as_str()?.parse().ok())
    };
    let evidence = |path: &str| trial.pointer(&format!("/evidence/{path}"))?.as_f64();
    let user_ns = evidence("cpu/user_ns").unwrap_or(f64::NAN);
    Some(OurFigures {
        iops: value("iops")?,
        user_ns_per_io: user_ns / evidence("io/operations")?,
        p50_us: value("latency-p50").unwrap_or(f64::NAN),
        p99_us: value("latency-p99").unwrap_or(f64::NAN),
    })
}

//! Runs fio and reads its JSON.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::output;

/// What one run of one fio job gave.
#[derive(Clone, Copy, Debug)]
pub struct FioFigures {
    /// Operations a second, both directions.
    pub iops: f64,
    /// User CPU of the job for each operation.
    pub user_ns_per_io: f64,
    /// Median total latency; NaN when latencies are off.
    pub p50_us: f64,
    /// 99th percentile of total latency, likewise.
    pub p99_us: f64,
}

/// fio's version, `fio-3.33`; `None` when it is not installed.
pub fn version() -> Option<String> {
    let output = Command::new("fio").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// One job; `options` are written as in a job file: `rw=randread`.
pub fn run(options: &[String], directory: &Path) -> Result<FioFigures> {
    let mut command = Command::new("fio");
    command
        .arg("--output-format=json")
        .arg("--name=bench")
        .args(options.iter().map(|option| format!("--{option}")))
        .current_dir(directory);
    let text = output(command)?;
    // Notes of fio stand before the document.
    let start = text.find('{').context("fio printed no JSON")?;
    let document: Value = serde_json::from_str(&text[start..]).context("read fio's JSON")?;
    let job = document.pointer("/jobs/0").context("fio ran no job")?;
    if job.get("error").and_then(Value::as_u64) != Some(0) {
        bail!("fio failed: {}", options.join(" "));
    }
    figures(job).context("fio's JSON lacks a figure")
}

fn figures(job: &Value) -> Option<FioFigures> {
    let number = |path: &str| job.pointer(path).and_then(Value::as_f64);
    let directions = ["read", "write"];
    let sum = |field: &str| -> Option<f64> {
        let of = |direction: &&str| number(&format!("/{direction}/{field}"));
        directions.iter().map(of).sum()
    };
    let main = match number("/read/iops")? > 0.0 {
        true => "read",
        false => "write",
    };
    let percentile = |p: &str| {
        let by_kind = |kind: &str| number(&format!("/{main}/{kind}/percentile/{p}"));
        by_kind("lat_ns")
            .or_else(|| by_kind("clat_ns"))
            .unwrap_or(f64::NAN)
            / 1e3
    };
    let total_ios = sum("total_ios")?;
    // usr_cpu is a percentage of the job's own run time.
    let user_ns = number("/usr_cpu")? / 100.0 * number("/job_runtime")? * 1e6;
    Some(FioFigures {
        iops: sum("iops")?,
        user_ns_per_io: user_ns / total_ios,
        p50_us: percentile("50.000000"),
        p99_us: percentile("99.000000"),
    })
}

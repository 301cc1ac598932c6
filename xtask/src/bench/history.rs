//! Keeps what was measured: `bench-history/<date>-<host hash>.jsonl`, a line a comparison.

use std::io::Write;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::json;

use super::Row;
use crate::run::root;

/// Appends the rows.
pub fn keep(rows: &[Row]) -> Result<()> {
    let directory = root().join("bench-history");
    std::fs::create_dir_all(&directory).context("create bench-history")?;
    let date = today()?;
    let path = directory.join(format!("{date}-{}.jsonl", host_hash()));
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .with_context(|| format!("open {}", path.display()))?;
    let commit = commit();
    for row in rows {
        let line = json!({
            "date": date,
            "commit": commit,
            "kernel": kernel(),
            "cpu": cpu(),
            "what": row.what,
            "unit": row.unit,
            "ours": row.ours,
            "peer": row.peer,
            "peer_name": row.peer_name,
            "ratio": row.ratio(),
            "missed": row.is_missed(),
        });
        writeln!(file, "{line}").with_context(|| format!("write {}", path.display()))?;
    }
    println!("kept in bench-history/{date}-{}.jsonl", host_hash());
    Ok(())
}

fn today() -> Result<String> {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    let output = output.context("run date")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn commit() -> String {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(root())
        .output();
    output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

fn kernel() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease");
    text.unwrap_or_default().trim().to_owned()
}

fn cpu() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find(|line| line.starts_with("model name"));
    model
        .and_then(|line| line.split_once(':'))
        .map_or_else(String::new, |(_, model)| model.trim().to_owned())
}

/// Tells machines apart without naming them.
fn host_hash() -> String {
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let hash = fathom_base::seed_for(0, &format!("{} {}", id.trim(), cpu()));
    format!("{:08x}", hash >> 32)
}

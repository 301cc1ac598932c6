//! Reading fio's JSON out of whatever it printed.

use std::collections::BTreeMap;

use fathom_stats::Histogram;
use serde::Deserialize;

use crate::error::ProfileError;

/// The parts of `--output-format=json+` that matter here. Absent fields are zero.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Output {
    #[serde(rename = "fio version", default)]
    pub(super) version: String,
    pub(super) jobs: Vec<Job>,
}

/// One job, or the group it stands for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Job {
    /// Error number of what ended the job.
    pub(super) error: i32,
    /// Errors that were counted and passed over.
    pub(super) total_err: u64,
    pub(super) read: Side,
    pub(super) write: Side,
    pub(super) trim: Side,
    pub(super) sync: Side,
    /// Milliseconds of all jobs of the group together.
    pub(super) job_runtime: u64,
    pub(super) usr_cpu: f64,
    pub(super) sys_cpu: f64,
}

/// One direction.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Side {
    pub(super) io_bytes: u64,
    pub(super) total_ios: u64,
    /// Milliseconds.
    pub(super) runtime: u64,
    pub(super) lat_ns: Latency,
}

/// Latency from submission to completion.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Latency {
    pub(super) mean: f64,
    #[serde(rename = "N")]
    pub(super) count: u64,
    /// Middle of the bin in nanoseconds, and how many fell into it.
    pub(super) bins: BTreeMap<String, u64>,
}

impl Side {
    /// Operations completed in the window. `total_ios` counts those issued, which after a ramp are
    /// fewer by what was in flight then, and none for syncs; bytes and latencies count completions.
    pub(super) fn completed(&self) -> u64 {
        match self.lat_ns.count {
            0 => self.total_ios,
            count => count,
        }
    }
}

impl Latency {
    /// The bins as one of our histograms; empty when fio gave none.
    pub(super) fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::new();
        for (middle, count) in &self.bins {
            if let Ok(ns) = middle.parse::<u64>() {
                histogram.record_n(ns, *count);
            }
        }
        histogram
    }
}

/// Finds the first JSON object with jobs in a text that may hold messages before, between and
/// after.
pub(super) fn parse(text: &str) -> Result<Output, ProfileError> {
    let starts = text
        .match_indices('{')
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'));
    for start in starts {
        let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter();
        if let Some(Ok(output)) = documents.next() {
            return Ok(output);
        }
    }
    Err(ProfileError::NoJson {
        begin: text.trim().chars().take(200).collect(),
    })
}

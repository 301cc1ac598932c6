use fathom_base::WallTime;
use serde_json::{Map, Value};

/// What one job of one run did, from whatever format.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub name: String,
    pub group: u64,
    /// fio's error number; 0 is good.
    pub error: u64,
    /// Options of the job over the global ones; `None` where the format has none.
    pub options: Option<Vec<(String, String)>>,
    pub host: Option<String>,
    pub read: Flow,
    pub write: Flow,
    pub trim: Flow,
    pub sync: Flow,
    /// Both directions together, where fio was asked for that instead.
    pub mixed: Flow,
    /// Wall time.
    pub elapsed_ms: f64,
    /// Further facts, kept with the trial.
    pub facts: Map<String, Value>,
}

/// One direction of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub operations: f64,
    pub iops: f64,
    pub bytes_per_second: f64,
    pub runtime_ms: f64,
    pub latency_mean_us: Option<f64>,
    /// Percentile and latency in microseconds.
    pub percentiles: Vec<(f64, f64)>,
    /// Latency in nanoseconds and count.
    pub bins: Vec<(u64, u64)>,
}

impl Flow {
    pub(super) fn is_empty(&self) -> bool {
        self.operations <= 0.0 && self.iops <= 0.0 && self.bytes_per_second <= 0.0
    }

    /// The latency below which `percent` of the operations are.
    pub(super) fn percentile_us(&self, percent: f64) -> Option<f64> {
        let found = self
            .percentiles
            .iter()
            .find(|(p, _)| (p - percent).abs() < 1e-6)?;
        Some(found.1)
    }

    /// Adds what another thread of the same job did at the same time.
    pub(super) fn add(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.latency_mean_us = match (self.latency_mean_us, other.latency_mean_us) {
            (Some(a), Some(b)) if self.operations + other.operations > 0.0 => Some(
                (a * self.operations + b * other.operations) / (self.operations + other.operations),
            ),
            _ => None,
        };
        let pooled = !self.bins.is_empty() && !other.bins.is_empty();
        self.bins.extend_from_slice(&other.bins);
        self.bins.sort_unstable();
        if !pooled {
            self.bins.clear();
        }
        // Percentiles of parts say nothing exact about the whole.
        self.percentiles.clear();
        self.operations += other.operations;
        self.iops += other.iops;
        self.bytes_per_second += other.bytes_per_second;
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
    }
}

/// One output of fio: all jobs of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// `3.33`, without what git adds.
    pub version: String,
    /// When it was written.
    pub time: Option<WallTime>,
    pub jobs: Vec<Job>,
    pub facts: Map<String, Value>,
}

/// `fio-3.19-10-g3bd2` is version 3.19.
pub(super) fn version(text: &str) -> String {
    let text = text.trim().strip_prefix("fio-").unwrap_or(text.trim());
    text.split('-').next().unwrap_or(text).to_owned()
}

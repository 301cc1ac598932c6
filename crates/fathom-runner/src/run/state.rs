use std::collections::BTreeMap;

use fathom_base::Nanos;
use fathom_model::{PlannedCase, StopReason, Trial};
use fathom_stats::Sample;

/// How far a case is; made of its trials alone, so that a resumed run decides as the first would.
#[derive(Clone, Debug, Default)]
pub(super) struct CaseState {
    /// Trials ended, failed ones included; also the number of the last one.
    pub attempts: u32,
    /// Trials that failed since the last good one.
    pub failures_in_a_row: u32,
    /// Time of all trials.
    pub spent: Nanos,
    /// Most bytes one trial has written.
    pub written_most: Option<u64>,
    /// Values of the metrics that steer.
    values: BTreeMap<String, Vec<f64>>,
    /// Why it gets no more trials.
    pub stop: Option<StopReason>,
    /// It cannot run here.
    pub is_unavailable: bool,
    /// The journal says so already.
    pub is_announced: bool,
    /// Ready for a trial.
    pub is_prepared: bool,
    /// Why it is not ready, until a trial was recorded as failed for it.
    pub prepare_error: Option<String>,
}

impl CaseState {
    /// Whether it gets more trials.
    pub(super) fn is_open(&self) -> bool {
        self.stop.is_none() && !self.is_unavailable
    }

    /// Takes a trial into account.
    pub(super) fn take(&mut self, planned: &PlannedCase, trial: &Trial) {
        self.attempts = self.attempts.max(trial.number);
        self.spent = self.spent.plus(Nanos::new(trial.duration_ns));
        if trial.error.is_some() {
            self.failures_in_a_row += 1;
            return;
        }
        self.failures_in_a_row = 0;
        let written = super::budget::written_by(planned, trial);
        self.written_most = Some(self.written_most.unwrap_or(0).max(written));
        for metric in planned.metrics.iter().filter(|metric| metric.steers) {
            if let Some(figure) = trial.values.get(&metric.id) {
                let values = self.values.entry(metric.id.clone()).or_default();
                values.push(figure.value());
            }
        }
    }

    /// The values of each metric that steers, as far as there are any.
    pub(super) fn samples(&self) -> Vec<Sample> {
        let all = self.values.values();
        all.filter_map(|values| Sample::new(values.clone()).ok())
            .collect()
    }

    /// Mean time of a trial; `None` before the first.
    pub(super) fn mean_time(&self) -> Option<Nanos> {
        let mean = self.spent.as_u64().checked_div(u64::from(self.attempts))?;
        Some(Nanos::new(mean))
    }
}

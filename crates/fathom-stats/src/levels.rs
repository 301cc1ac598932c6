//! Variance at two levels: windows within a run, and runs.
//!
//! Seconds of one run are correlated; only runs are independent. The interval therefore comes
//! from the run means, and the split of variance says where more repetition pays (Kalibera &
//! Jones 2013).

use crate::difference::Side;
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::sample::Sample;

/// Most windows a run is ever told to have.
const MAX_WINDOWS: f64 = 1e6;

/// Mean over runs with its interval, and the two parts of the variance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoLevels {
    /// Mean of the run means with the interval t(runs - 1) sqrt(S2^2 / runs).
    pub mean: Estimate,
    /// S1^2: mean variance of the windows within a run.
    pub within_variance: f64,
    /// S2^2: variance of the run means.
    pub run_mean_variance: f64,
    /// T2^2 = S2^2 - S1^2 / windows: variance between runs alone; 0 or less if the windows
    /// explain all.
    pub between_variance: f64,
}

/// Analyses runs of equally many windows each.
///
/// # Errors
/// [`StatsError::TooFewValues`] below two runs or two windows, [`StatsError::LengthMismatch`] if
/// runs differ in their number of windows.
pub fn two_levels(runs: &[Sample], confidence: Confidence) -> Result<TwoLevels, StatsError> {
    let (what, got) = ("a two-level variance (runs)", runs.len());
    let Some(first) = runs.first().filter(|_| got >= 2) else {
        return Err(StatsError::TooFewValues {
            what,
            needed: 2,
            got,
        });
    };
    let windows = first.len();
    let mut within = 0.0;
    for (position, run) in runs.iter().enumerate() {
        let (what, got) = ("run", run.len());
        if got != windows {
            return Err(StatsError::LengthMismatch {
                what,
                position,
                expected: windows,
                got,
            });
        }
        let what = "a two-level variance (windows in a run)";
        within += run.variance().ok_or(StatsError::TooFewValues {
            what,
            needed: 2,
            got,
        })?;
    }
    let within_variance = within / got as f64;
    let means = Sample::new(runs.iter().map(Sample::mean).collect::<Vec<_>>())?;
    let side = Side::of(&means, what)?;
    let run_mean_variance = side.variance * got as f64;
    let half_width = confidence.t_critical(side.degrees_of_freedom) * side.variance.sqrt();
    Ok(TwoLevels {
        mean: Estimate::around(side.mean, half_width, confidence),
        within_variance,
        run_mean_variance,
        between_variance: run_mean_variance - within_variance / windows as f64,
    })
}

impl TwoLevels {
    /// Best number of windows a run, ceil(sqrt(c2/c1 * S1^2/T2^2)), if starting a run costs
    /// `run_cost` and a window `window_cost`; `None` if runs do not differ (T2^2 <= 0): then one
    /// long run is as good as several.
    #[must_use]
    pub fn best_windows(&self, run_cost: f64, window_cost: f64) -> Option<u32> {
        let positive = self.between_variance > 0.0 && run_cost > 0.0 && window_cost > 0.0;
        positive.then(|| {
            let ratio = run_cost / window_cost * self.within_variance / self.between_variance;
            ratio.sqrt().ceil().clamp(1.0, MAX_WINDOWS) as u32
        })
    }
}

#[cfg(test)]
mod tests;

//! One number for several tests.

use crate::compare::LogRatio;
use crate::difference::{satterthwaite, statistic};
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::sample::Sample;

/// Geometric mean of ratios with its propagated error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CombinedRatio {
    /// The geometric mean and its interval.
    pub estimate: Estimate,
    /// Standard error of its logarithm.
    pub log_error: f64,
    /// Degrees of freedom (Satterthwaite).
    pub degrees_of_freedom: f64,
    /// Two-sided p value of "the geometric mean is 1".
    pub p: f64,
}

/// Geometric mean of independent ratios, one weight each, with its interval.
///
/// exp((1/K) sum d), variance (1/K^2) sum v, degrees of freedom by Satterthwaite (1946); the
/// geometric mean because ratios multiply (Fleming & Wallace 1986).
///
/// # Errors
/// [`StatsError::TooFewValues`] without any ratio.
pub fn combine_ratios(
    ratios: &[LogRatio],
    confidence: Confidence,
) -> Result<CombinedRatio, StatsError> {
    if ratios.is_empty() {
        let what = "a geometric mean of ratios";
        return Err(StatsError::TooFewValues {
            what,
            needed: 1,
            got: 0,
        });
    }
    let count = ratios.len() as f64;
    let log = ratios.iter().map(|r| r.log_ratio).sum::<f64>() / count;
    let log_error = ratios.iter().map(|r| r.variance).sum::<f64>().sqrt() / count;
    let df = satterthwaite(ratios.iter().map(|r| (r.variance, r.degrees_of_freedom)));
    let half_width = if log_error == 0.0 {
        0.0
    } else {
        confidence.t_critical(df) * log_error
    };
    Ok(CombinedRatio {
        estimate: Estimate::around(log, half_width, confidence).map(f64::exp),
        log_error,
        degrees_of_freedom: df,
        p: statistic(log, log_error, df).1,
    })
}

/// Geometric mean of positive values, by logarithms.
///
/// # Errors
/// [`StatsError::NotPositive`] for a value that is not above 0.
pub fn geometric_mean(values: &Sample) -> Result<f64, StatsError> {
    Ok(values.logarithms()?.mean().exp())
}

/// Harmonic mean n / sum(1/x) of positive values: the mean of rates over equal amounts of work.
///
/// # Errors
/// [`StatsError::NotPositive`] for a value that is not above 0.
pub fn harmonic_mean(values: &Sample) -> Result<f64, StatsError> {
    let bad = values.values().iter().position(|&v| v <= 0.0);
    if let Some(position) = bad {
        let (what, value) = ("a harmonic mean", values.values()[position]);
        return Err(StatsError::NotPositive {
            what,
            position,
            value,
        });
    }
    Ok(values.len() as f64 / values.values().iter().map(|v| 1.0 / v).sum::<f64>())
}

#[cfg(test)]
mod tests;

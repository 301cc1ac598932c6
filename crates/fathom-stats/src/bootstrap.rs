//! Bootstrap intervals for statistics without a formula of their own.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::order::sorted_quantile;
use crate::random::Xoshiro256;
use crate::sample::Sample;

/// Fewest values a side: below, the interval is far too narrow (with three values it covers a
/// third of what the t-interval does).
pub const MIN_VALUES: usize = 8;
/// Fewest resamples.
pub const MIN_RESAMPLES: u32 = 1000;
/// Most resamples.
pub const MAX_RESAMPLES: u32 = 1_000_000;

/// How the interval is read off the resampled statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Quantiles of the resampled statistics (Efron 1979).
    Percentile,
    /// Bias-corrected and accelerated (Efron 1987).
    BiasCorrectedAccelerated,
}

/// How to resample. The same plan and values give the same interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Number of resamples, [`MIN_RESAMPLES`] to [`MAX_RESAMPLES`]; 10,000 is usual.
    pub resamples: u32,
    /// Seed of the generator ([`Xoshiro256`]), to be stored with the result.
    pub seed: u64,
    /// How the interval is made.
    pub method: Method,
    /// Its confidence.
    pub confidence: Confidence,
}

/// Interval of `statistic` of one sample; the statistic gets resampled values in no order.
///
/// # Errors
/// [`StatsError::TooFewValues`] below [`MIN_VALUES`], [`StatsError::OutOfRange`] for the number
/// of resamples, [`StatsError::NotFinite`] if the statistic of a resample is not finite.
pub fn bootstrap(
    sample: &Sample,
    statistic: impl Fn(&[f64]) -> f64,
    plan: Plan,
) -> Result<Estimate, StatsError> {
    resample(&[sample], |arms| statistic(&arms[0]), plan)
}

/// Interval of a statistic of two samples (a, b), each resampled for itself.
///
/// # Errors
/// As [`bootstrap`].
pub fn bootstrap_two(
    a: &Sample,
    b: &Sample,
    statistic: impl Fn(&[f64], &[f64]) -> f64,
    plan: Plan,
) -> Result<Estimate, StatsError> {
    resample(&[a, b], |arms| statistic(&arms[0], &arms[1]), plan)
}

fn resample(
    arms: &[&Sample],
    statistic: impl Fn(&[Vec<f64>]) -> f64,
    plan: Plan,
) -> Result<Estimate, StatsError> {
    check(arms, plan)?;
    let measured: Vec<Vec<f64>> = arms.iter().map(|arm| arm.values().to_vec()).collect();
    let value = statistic(&measured);
    let mut random = Xoshiro256::new(plan.seed);
    let mut drawn = measured.clone();
    let mut statistics = Vec::with_capacity(plan.resamples as usize);
    for _ in 0..plan.resamples {
        for (into, arm) in drawn.iter_mut().zip(arms) {
            let values = arm.values();
            into.fill_with(|| values[random.below(values.len() as u64) as usize]);
        }
        statistics.push(statistic(&drawn));
    }
    let bad = std::iter::once(&value)
        .chain(&statistics)
        .position(|s| !s.is_finite());
    if let Some(position) = bad {
        let value = if position == 0 {
            value
        } else {
            statistics[position - 1]
        };
        return Err(StatsError::NotFinite { position, value });
    }
    statistics.sort_by(f64::total_cmp);
    let tail = plan.confidence.alpha() / 2.0;
    let tails = match plan.method {
        Method::Percentile => [tail, 1.0 - tail],
        Method::BiasCorrectedAccelerated => {
            let bias = bias(&statistics, value);
            let acceleration = acceleration(&measured, &statistic);
            [tail, 1.0 - tail].map(|p| corrected(p, bias, acceleration))
        }
    };
    let [low, high] = tails.map(|p| sorted_quantile(&statistics, p));
    Ok(Estimate {
        value,
        low,
        high,
        confidence: plan.confidence,
    })
}

fn check(arms: &[&Sample], plan: Plan) -> Result<(), StatsError> {
    if let Some(got) = arms.iter().map(|arm| arm.len()).find(|&n| n < MIN_VALUES) {
        return Err(StatsError::TooFewValues {
            what: "a bootstrap",
            needed: MIN_VALUES,
            got,
        });
    }
    if !(MIN_RESAMPLES..=MAX_RESAMPLES).contains(&plan.resamples) {
        let (what, expected) = ("number of resamples", "1000 to 1000000");
        return Err(StatsError::OutOfRange {
            what,
            value: plan.resamples.into(),
            expected,
        });
    }
    Ok(())
}

/// z0: how far the measured statistic is from the middle of the resampled ones, ties half.
fn bias(sorted: &[f64], value: f64) -> f64 {
    let below = sorted.partition_point(|&s| s < value) as f64;
    let not_above = sorted.partition_point(|&s| s <= value) as f64;
    let total = sorted.len() as f64;
    let share = (below + not_above) / (2.0 * total);
    normal_quantile(share.clamp(0.5 / total, 1.0 - 0.5 / total))
}

/// a: skewness of the jackknife values, all arms together, each weighted by its size
/// (Efron & Tibshirani 1993, sections 14.3 and 22.6).
fn acceleration(measured: &[Vec<f64>], statistic: &impl Fn(&[Vec<f64>]) -> f64) -> f64 {
    let (mut cubes, mut squares) = (0.0, 0.0);
    for arm in 0..measured.len() {
        let mut left = measured.to_vec();
        let values = &measured[arm];
        let n = values.len() as f64;
        let without = |i: usize, left: &mut Vec<Vec<f64>>| {
            left[arm].clone_from(values);
            left[arm].swap_remove(i);
            statistic(left)
        };
        let jackknife: Vec<f64> = (0..values.len()).map(|i| without(i, &mut left)).collect();
        let mean = jackknife.iter().sum::<f64>() / n;
        for value in jackknife {
            let influence = (n - 1.0) * (mean - value) / n;
            cubes += influence.powi(3);
            squares += influence.powi(2);
        }
    }
    let scale = 6.0 * squares.powf(1.5);
    if scale > 0.0 && cubes.is_finite() {
        cubes / scale
    } else {
        0.0
    }
}

fn corrected(p: f64, bias: f64, acceleration: f64) -> f64 {
    let z = bias + normal_quantile(p);
    normal_cdf(bias + z / (1.0 - acceleration * z))
}

#[cfg(test)]
mod tests;

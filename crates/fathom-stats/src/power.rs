//! How many trials are needed, and how small a difference can be seen.

use crate::distribution::{PowerCurve, t_quantile};
use crate::interval::Confidence;

/// Most trials a planning function asks for.
pub const MAX_PLANNED_TRIALS: u32 = 100_000;

/// Half-width of the t-interval in percent of the mean for `n` trials of a coefficient of
/// variation (a fraction): t(n-1) cv / sqrt(n). `None` for fewer than two trials.
#[must_use]
pub fn half_width_percent(
    coefficient_of_variation: f64,
    n: u32,
    confidence: Confidence,
) -> Option<f64> {
    (n >= 2).then(|| {
        let n = f64::from(n);
        100.0 * confidence.t_critical(n - 1.0) * coefficient_of_variation / n.sqrt()
    })
}

/// Smallest number of trials (at least 2) whose t-interval is within `goal_percent` of the mean
/// either way; `None` above [`MAX_PLANNED_TRIALS`] or for a goal that is not positive.
#[must_use]
pub fn trials_for_half_width(
    coefficient_of_variation: f64,
    goal_percent: f64,
    confidence: Confidence,
) -> Option<u32> {
    if !(goal_percent > 0.0 && coefficient_of_variation >= 0.0) {
        return None;
    }
    smallest(2, MAX_PLANNED_TRIALS, |n| {
        half_width_percent(coefficient_of_variation, n, confidence)
            .is_some_and(|h| h <= goal_percent)
    })
}

/// Smallest n in `from..=to` with `enough(n)`, which stays true once it is.
pub(crate) fn smallest(from: u32, to: u32, enough: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut too_few, mut n) = (from - 1, from);
    while !enough(n) {
        if n >= to {
            return None;
        }
        too_few = n;
        n = n.saturating_mul(2).min(to);
    }
    while n - too_few > 1 {
        let middle = too_few + (n - too_few) / 2;
        if enough(middle) {
            n = middle;
        } else {
            too_few = middle;
        }
    }
    Some(n)
}

/// Smallest true difference, in units of what `error` is in, that a two-sided t test finds with
/// the chance `power`: the noncentrality (by the noncentral t distribution) times the standard
/// error of the difference (Cohen 1988, chapter 2).
///
/// `error` is the standard error of the difference with `df` degrees of freedom, `power` lies
/// between 0.5 and 1. For two samples of n with coefficient of variation cv:
/// `error = cv * sqrt(2/n)`, `df = 2n - 2`.
#[must_use]
pub fn minimum_detectable(error: f64, df: f64, power: f64, confidence: Confidence) -> f64 {
    if error == 0.0 {
        return 0.0;
    }
    let critical = confidence.t_critical(df);
    let curve = PowerCurve::new(critical, df);
    // The central approximation is close; widen around it until the power lies between.
    let guess = critical + t_quantile(power, df);
    let (mut low, mut high) = (0.95 * guess, 1.05 * guess);
    while curve.at(low) > power && low > 1e-6 {
        low *= 0.5;
    }
    while curve.at(high) < power && high < 1e12 {
        high *= 1.5;
    }
    root(low, high, |delta| curve.at(delta) - power) * error
}

/// Where the rising function `f` crosses 0 between `low` and `high`, by the Illinois variant of
/// false position (Dowell & Jarratt 1971).
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut at_low, mut at_high) = (f(low), f(high));
    let mut between = high;
    for _ in 0..60 {
        between = high - at_high * (high - low) / (at_high - at_low);
        let at_between = f(between);
        if at_between.abs() < 1e-10 || high - low < 1e-12 * high {
            break;
        }
        if at_between < 0.0 {
            (low, at_low) = (between, at_between);
            at_high *= 0.5;
        } else {
            (high, at_high) = (between, at_between);
            at_low *= 0.5;
        }
    }
    between
}

#[cfg(test)]
mod tests;

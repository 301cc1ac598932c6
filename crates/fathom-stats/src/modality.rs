//! Do the trials fall into two groups?
//!
//! The sorted values are cut where the variance within the two parts is smallest (two-means,
//! Fisher 1958), each part holding at least three values and a fifth of them all. The distance of
//! the parts' means in units of their pooled standard deviation is compared with
//! `4 + 20/n`. The threshold was set by simulation: it calls about 1 % of normal samples of 8
//! values bimodal and fewer of larger ones, about 5 % of uniform and exponential ones, and finds
//! two normal groups eight standard deviations apart in nine of ten samples of 10 values. A flag
//! for people, not a test.

use crate::sample::Sample;

/// Fewest values that are looked at.
pub const MIN_VALUES: usize = 8;

/// Two groups of trials, such as "fast" and "slow" runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoModes {
    /// Mean of the lower group.
    pub low_mean: f64,
    /// Number of values in the lower group.
    pub low_count: usize,
    /// Mean of the upper group.
    pub high_mean: f64,
    /// Number of values in the upper group.
    pub high_count: usize,
    /// Distance of the means in pooled standard deviations; [`f64::MAX`] if both groups are
    /// constant.
    pub separation: f64,
}

/// The two groups of a sample that has them; `None` below [`MIN_VALUES`], or if the groups'
/// means are closer than the fraction `min_distance` of the overall mean (rounded figures would
/// otherwise look like groups), or not separated enough.
#[must_use]
pub fn two_modes(sample: &Sample, min_distance: f64) -> Option<TwoModes> {
    let n = sample.len();
    if n < MIN_VALUES {
        return None;
    }
    let mean = sample.mean();
    let centred: Vec<f64> = sample.sorted().iter().map(|v| v - mean).collect();
    let (cut, within) = best_cut(&centred, n.div_ceil(5).max(3))?;
    let (low, high) = centred.split_at(cut);
    let mean_of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (low_mean, high_mean) = (mean_of(low) + mean, mean_of(high) + mean);
    let distance = high_mean - low_mean;
    let deviation = (within / (n as f64 - 2.0)).sqrt();
    let separation = if deviation > 0.0 {
        distance / deviation
    } else {
        f64::MAX
    };
    let apart = distance > 0.0 && distance >= min_distance * mean.abs();
    (apart && separation > 4.0 + 20.0 / n as f64).then_some(TwoModes {
        low_mean,
        low_count: cut,
        high_mean,
        high_count: n - cut,
        separation,
    })
}

/// Place of the cut with the smallest sum of squares within the parts, and that sum.
fn best_cut(centred: &[f64], min_part: usize) -> Option<(usize, f64)> {
    let n = centred.len();
    let total: f64 = centred.iter().map(|v| v * v).sum();
    let all: f64 = centred.iter().sum();
    let mut low = 0.0;
    let mut best: Option<(usize, f64)> = None;
    for cut in 1..n {
        low += centred[cut - 1];
        if cut < min_part || n - cut < min_part {
            continue;
        }
        let high = all - low;
        let between = low * low / cut as f64 + high * high / (n - cut) as f64;
        // Rounding leaves a trace where the parts are constant.
        let within = if total - between > 1e-12 * total {
            total - between
        } else {
            0.0
        };
        if best.is_none_or(|(_, smallest)| within < smallest) {
            best = Some((cut, within));
        }
    }
    best
}

#[cfg(test)]
mod tests;

//! Medians, quantiles, outliers and intervals from ranks.

use crate::distribution::{binomial_pmf, normal_quantile};
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::sample::Sample;

/// Modified z score above which a value is flagged (Iglewicz & Hoaglin 1993).
pub const OUTLIER_THRESHOLD: f64 = 3.5;

/// Up to this many values the rank interval is the shortest exact one.
const EXACT_RANKS_UP_TO: u64 = 1000;

/// A value far from the others; it is shown as such and never removed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Place in the sample, from 0.
    pub position: usize,
    /// The value.
    pub value: f64,
    /// Its modified z score; infinite if all but a few values are equal.
    pub modified_z: f64,
}

/// Ranks (1 = smallest) between which a quantile lies, and how surely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankInterval {
    /// Rank of the lower end.
    pub low: u64,
    /// Rank of the upper end.
    pub high: u64,
    /// Probability that the quantile lies between them, ends included.
    pub coverage: f64,
}

impl Sample {
    /// Median; the mean of the two middle values if their number is even.
    #[must_use]
    pub fn median(&self) -> f64 {
        sorted_quantile(&self.sorted(), 0.5)
    }

    /// Quantile `fraction` (0 to 1, kept within) by linear interpolation, definition 7 of
    /// Hyndman & Fan (1996), the default of R and NumPy.
    #[must_use]
    pub fn quantile(&self, fraction: f64) -> f64 {
        sorted_quantile(&self.sorted(), fraction)
    }

    /// Median of the absolute deviations from the median, unscaled.
    #[must_use]
    pub fn median_absolute_deviation(&self) -> f64 {
        let median = self.median();
        let mut deviations: Vec<f64> = self.values().iter().map(|v| (v - median).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        sorted_quantile(&deviations, 0.5)
    }

    /// Modified z scores 0.6745 (x - median) / MAD, in the order of the values.
    ///
    /// If the MAD is 0 (most values equal), 0.7979 / mean absolute deviation replaces
    /// 0.6745 / MAD; if that is 0 too, every score is 0 (Iglewicz & Hoaglin 1993, as IBM SPSS
    /// extends it).
    #[must_use]
    pub fn modified_z_scores(&self) -> Vec<f64> {
        let median = self.median();
        let spread = self.median_absolute_deviation() / 0.6745;
        let n = self.len() as f64;
        let mean_deviation = self
            .values()
            .iter()
            .map(|v| (v - median).abs() / n)
            .sum::<f64>();
        let scale = if spread > 0.0 {
            spread
        } else {
            mean_deviation * 1.253_314
        };
        let score = |v: &f64| {
            if scale > 0.0 {
                (v - median) / scale
            } else {
                0.0
            }
        };
        self.values().iter().map(score).collect()
    }

    /// Values whose modified z score is beyond [`OUTLIER_THRESHOLD`]; for flagging only.
    #[must_use]
    pub fn outliers(&self) -> Vec<Outlier> {
        let scores = self
            .modified_z_scores()
            .into_iter()
            .zip(self.values())
            .enumerate();
        scores
            .filter(|(_, (score, _))| score.abs() > OUTLIER_THRESHOLD)
            .map(|(position, (modified_z, &value))| Outlier {
                position,
                value,
                modified_z,
            })
            .collect()
    }

    /// Quantile `fraction` with a distribution-free interval from binomial ranks (see
    /// [`rank_interval`]); the confidence reached is the coverage of the ranks.
    ///
    /// # Errors
    /// [`StatsError::TooFewValues`] if no pair of ranks is sure enough (a median at 95 % needs 6
    /// values), [`StatsError::OutOfRange`] unless 0 < `fraction` < 1.
    pub fn quantile_interval(
        &self,
        fraction: f64,
        confidence: Confidence,
    ) -> Result<Estimate, StatsError> {
        let got = self.len();
        let ranks = rank_interval(got as u64, fraction, confidence)?;
        let Some(ranks) = ranks else {
            let needed = ranks_need(fraction, confidence);
            let what = "a distribution-free interval of a quantile";
            return Err(StatsError::TooFewValues { what, needed, got });
        };
        let sorted = self.sorted();
        let (low, high) = (
            sorted[ranks.low as usize - 1],
            sorted[ranks.high as usize - 1],
        );
        let value = sorted_quantile(&sorted, fraction).clamp(low, high);
        Ok(Estimate {
            value,
            low,
            high,
            confidence,
        })
    }
}

/// Definition 7 of Hyndman & Fan (1996) on sorted values.
pub(crate) fn sorted_quantile(sorted: &[f64], fraction: f64) -> f64 {
    assert!(!sorted.is_empty(), "quantiles are taken of values");
    let last = sorted.len() - 1;
    let place = fraction.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(last)]);
    low + (high - low) * (place - below as f64)
}

/// Ranks that enclose the quantile `fraction` of `n` independent values with at least the
/// confidence asked for; `None` if even all values do not.
///
/// The number of values below the quantile is binomial (David & Nagaraja 2003, section 7.1). Up
/// to 1000 values the pair with the fewest ranks between is taken (then the surest, then the
/// lowest); above, the pair with equal tails by the normal approximation with continuity
/// correction, or by Poisson tails where fewer than 100 values are expected beyond the quantile.
/// The values must be independent: operations within one trial are not, so a percentile's
/// interval over operations is a lower bound of its uncertainty.
///
/// # Errors
/// [`StatsError::OutOfRange`] unless 0 < `fraction` < 1.
pub fn rank_interval(
    n: u64,
    fraction: f64,
    confidence: Confidence,
) -> Result<Option<RankInterval>, StatsError> {
    if !(fraction > 0.0 && fraction < 1.0) {
        let (what, expected) = ("quantile", "a fraction above 0 and below 1");
        return Err(StatsError::OutOfRange {
            what,
            value: fraction,
            expected,
        });
    }
    if n <= EXACT_RANKS_UP_TO {
        return Ok(shortest_ranks(n as u32, fraction, confidence.fraction()));
    }
    Ok(equal_tail_ranks(n, fraction, confidence))
}

fn shortest_ranks(n: u32, fraction: f64, confidence: f64) -> Option<RankInterval> {
    let mut cumulative = vec![0.0];
    for p in binomial_pmf(n, fraction) {
        cumulative.push(cumulative[cumulative.len() - 1] + p);
    }
    // P(low <= K < high) with cumulative[k] = P(K < k).
    let coverage = |low: usize, high: usize| cumulative[high] - cumulative[low];
    let n = n as usize;
    let mut best: Option<(usize, usize)> = None;
    let mut high = 1;
    for low in 1..=n {
        high = high.max(low);
        while high < n && coverage(low, high) < confidence {
            high += 1;
        }
        if coverage(low, high) < confidence {
            break;
        }
        let better = best.is_none_or(|(l, h)| {
            let (width, best_width) = (high - low, h - l);
            let surer = coverage(low, high) > coverage(l, h) + 1e-12;
            width < best_width || (width == best_width && surer)
        });
        if better {
            best = Some((low, high));
        }
    }
    best.map(|(low, high)| RankInterval {
        low: low as u64,
        high: high as u64,
        coverage: coverage(low, high),
    })
}

fn equal_tail_ranks(n: u64, fraction: f64, confidence: Confidence) -> Option<RankInterval> {
    let alpha = confidence.alpha();
    if fraction > 0.5 {
        // Mirror, so that the rarer side is counted.
        let r = equal_tail_ranks(n, 1.0 - fraction, confidence)?;
        return Some(RankInterval {
            low: n + 1 - r.high,
            high: n + 1 - r.low,
            ..r
        });
    }
    let expected = n as f64 * fraction;
    let (low, high) = if expected < 100.0 {
        poisson_ranks(expected, alpha)?
    } else {
        let z = normal_quantile(1.0 - alpha / 2.0);
        let half = z * (expected * (1.0 - fraction)).sqrt();
        let low = (expected - half + 0.5).floor() as u64;
        (low, (expected + half + 0.5).ceil() as u64)
    };
    (low >= 1 && high <= n).then_some(RankInterval {
        low,
        high,
        coverage: confidence.fraction(),
    })
}

/// Largest `low` with P(K < low) <= alpha/2 and smallest `high` with P(K >= high) <= alpha/2
/// for a Poisson count K; `None` if `low` would be 0.
fn poisson_ranks(expected: f64, alpha: f64) -> Option<(u64, u64)> {
    let mut p = (-expected).exp();
    let mut below = 0.0;
    let (mut low, mut k) = (0_u64, 0_u64);
    // `below` is P(K < k).
    while 1.0 - below > alpha / 2.0 {
        if below <= alpha / 2.0 {
            low = k;
        }
        below += p;
        k += 1;
        p *= expected / k as f64;
    }
    (low >= 1).then_some((low, k))
}

/// Fewest values with which the quantile has a distribution-free interval.
pub(crate) fn ranks_need(fraction: f64, confidence: Confidence) -> usize {
    // All n values enclose the quantile unless they all lie on one side of it.
    let misses = |n: f64| fraction.powf(n) + (1.0 - fraction).powf(n);
    let rarer = fraction.min(1.0 - fraction);
    let mut needed = (confidence.alpha().ln() / (1.0 - rarer).ln())
        .floor()
        .max(1.0);
    while misses(needed) > confidence.alpha() && needed < 1e9 {
        needed += 1.0;
    }
    needed as usize
}

/// Fewest operations for which the percentile `percent` is shown: ten beyond it are expected,
/// n >= 10 / (1 - p); 10,000 for 99.9. `None` unless 0 <= `percent` < 100.
#[must_use]
pub fn percentile_needs_samples(percent: f64) -> Option<u64> {
    (0.0..100.0).contains(&percent).then(|| {
        let needed = 1000.0 / (100.0 - percent);
        // 100 - 99.9 is not 0.1 in binary; a part in 10^9 does not make another operation.
        (needed * (1.0 - 1e-9)).ceil() as u64
    })
}

/// Fewest independent values with which the largest is an upper bound of the percentile
/// `percent` at the given confidence: smallest n with 1 - p^n >= confidence (299 for 99 at
/// 95 %). `None` unless 0 < `percent` < 100.
#[must_use]
pub fn percentile_bound_needs_samples(percent: f64, confidence: Confidence) -> Option<u64> {
    let fraction = percent / 100.0;
    (fraction > 0.0 && fraction < 1.0)
        .then(|| (confidence.alpha().ln() / fraction.ln() * (1.0 - 1e-12)).ceil() as u64)
}

#[cfg(test)]
mod tests;

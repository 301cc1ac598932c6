//! Reading a histogram: percentiles, buckets, curves.

use super::mapping::{bucket_bounds, middle};
use super::{Histogram, SUB_BUCKET_BITS};
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::order::{rank_interval, ranks_need};

/// One bucket that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value counted here, in nanoseconds.
    pub low_ns: u64,
    /// Highest value counted here, in nanoseconds, inclusive.
    pub high_ns: u64,
    /// Number of samples.
    pub count: u64,
}

/// A point of the cumulative distribution: `fraction` of the samples took at most `ns`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CdfPoint {
    /// Upper edge of a bucket, in nanoseconds (the exact maximum for the last point).
    pub ns: u64,
    /// Share of samples at or below it, 0 to 1.
    pub fraction: f64,
}

/// A percentile and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PercentilePoint {
    /// Percentile, 0 to 100.
    pub percent: f64,
    /// Its value in nanoseconds.
    pub ns: u64,
}

impl Histogram {
    /// The percentile `percent` (0 to 100) in nanoseconds; `None` if the histogram is empty or
    /// `percent` is outside the range.
    ///
    /// Nearest rank (definition 1 of Hyndman & Fan 1996): the sample of rank
    /// `ceil(percent/100 * count)`, at least 1. The middle of its bucket stands for it, kept
    /// within minimum and maximum, so the result is at most 0.40 % off. Rank 1 gives the exact
    /// minimum and the last rank the exact maximum.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        if self.is_empty() || !(0.0..=100.0).contains(&percent) {
            return None;
        }
        self.at_rank(nearest_rank(percent, self.count))
    }

    /// The sample of `rank` (1 = shortest) in nanoseconds, as exact as
    /// [`percentile`](Self::percentile); `None` if there is no such rank.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> Option<u64> {
        if rank == 0 || rank > self.count {
            return None;
        }
        if rank == 1 {
            return self.min();
        }
        if rank == self.count {
            return self.max();
        }
        let mut seen = 0_u64;
        for bucket in self.iter_buckets() {
            seen = seen.saturating_add(bucket.count);
            if seen >= rank {
                let value = middle(bucket.low_ns, bucket.high_ns);
                return Some(value.clamp(self.min_ns, self.max_ns));
            }
        }
        self.max()
    }

    /// The percentile with its distribution-free interval from ranks (see
    /// [`rank_interval`]), as exact as a bucket.
    ///
    /// It holds for independent samples. Operations of one trial are correlated, so the interval
    /// is a lower bound of the uncertainty: to compare systems take one percentile a trial.
    ///
    /// # Errors
    /// [`StatsError::TooFewValues`] if there are not enough samples beyond the percentile,
    /// [`StatsError::OutOfRange`] unless 0 < `percent` < 100.
    pub fn percentile_interval(
        &self,
        percent: f64,
        confidence: Confidence,
    ) -> Result<Estimate, StatsError> {
        let what = "an interval of a percentile";
        let ranks = rank_interval(self.count, percent / 100.0, confidence)?;
        let needed = ranks_need(percent / 100.0, confidence);
        let got = usize::try_from(self.count).unwrap_or(usize::MAX);
        let too_few = StatsError::TooFewValues {
            what,
            needed: needed.max(got.saturating_add(1)),
            got,
        };
        let at = |rank| self.at_rank(rank).map(|ns| ns as f64);
        let (Some(value), Some(ranks)) = (self.percentile(percent), ranks) else {
            return Err(too_few);
        };
        let (low, high) = (
            at(ranks.low).unwrap_or(0.0),
            at(ranks.high).unwrap_or(f64::MAX),
        );
        let value = (value as f64).clamp(low, high);
        Ok(Estimate {
            value,
            low,
            high,
            confidence,
        })
    }

    /// Buckets with samples, shortest first.
    ///
    /// The top bucket also holds clipped samples; its edge is not theirs.
    pub fn iter_buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(index, &count)| {
                let (low_ns, high_ns) = bucket_bounds(SUB_BUCKET_BITS, index);
                Bucket {
                    low_ns,
                    high_ns,
                    count,
                }
            })
    }

    /// Number of samples of at most `ns`, to the resolution of a bucket: the bucket of `ns` counts
    /// in full.
    #[must_use]
    pub fn count_at_most(&self, ns: u64) -> u64 {
        if ns >= self.max_ns {
            return self.count;
        }
        if ns < self.min_ns {
            return 0;
        }
        self.iter_buckets()
            .take_while(|b| b.low_ns <= ns)
            .map(|b| b.count)
            .sum()
    }

    /// Standard deviation (divisor n) in nanoseconds, each sample taken as the middle of its
    /// bucket; `None` if there is no sample. Clipped samples count as [`super::MAX_TRACKABLE_NS`].
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        let total = self.count as f64;
        let middle_of = |b: &Bucket| middle(b.low_ns, b.high_ns) as f64;
        let mean = self
            .iter_buckets()
            .map(|b| middle_of(&b) * (b.count as f64 / total))
            .sum::<f64>();
        let variance = self
            .iter_buckets()
            .map(|b| (middle_of(&b) - mean).powi(2) * (b.count as f64 / total))
            .sum::<f64>();
        (!self.is_empty()).then(|| variance.sqrt())
    }

    /// Points of the cumulative distribution for a chart, at most `max_points` (at least 2), the
    /// first and the last bucket always among them.
    #[must_use]
    pub fn cdf_points(&self, max_points: usize) -> Vec<CdfPoint> {
        let mut seen = 0_u64;
        let mut points = Vec::new();
        for bucket in self.iter_buckets() {
            seen = seen.saturating_add(bucket.count);
            let ns = if seen >= self.count {
                self.max_ns
            } else {
                bucket.high_ns
            };
            points.push(CdfPoint {
                ns,
                fraction: seen as f64 / self.count as f64,
            });
        }
        thin(points, max_points.max(2))
    }

    /// Percentiles for a latency curve, evenly spaced in the number of nines: 0, then about
    /// `per_decade` (at least 1) points for each of 0-90 %, 90-99 %, 99-99.9 % ..., as far as the
    /// count supports them (10 samples beyond the percentile), then 100.
    #[must_use]
    pub fn percentile_curve(&self, per_decade: u32) -> Vec<PercentilePoint> {
        let (Some(min), Some(max)) = (self.min(), self.max()) else {
            return Vec::new();
        };
        let per_decade = per_decade.clamp(1, 1000);
        let mut points = vec![PercentilePoint {
            percent: 0.0,
            ns: min,
        }];
        for step in 1.. {
            let beyond = 10_f64.powf(-f64::from(step) / f64::from(per_decade));
            if (self.count as f64) * beyond < 10.0 * (1.0 - 1e-9) {
                break;
            }
            let percent = 100.0 * (1.0 - beyond);
            if let Some(ns) = self.percentile(percent) {
                points.push(PercentilePoint { percent, ns });
            }
        }
        points.push(PercentilePoint {
            percent: 100.0,
            ns: max,
        });
        points
    }
}

/// `ceil(percent/100 * count)` within `1..=count`, free of the error of binary fractions
/// (99.9 % of 1000 is rank 999).
fn nearest_rank(percent: f64, count: u64) -> u64 {
    let exact = percent / 100.0 * count as f64;
    let rank = (exact - exact * 1e-12).ceil();
    (rank as u64).clamp(1, count)
}

/// Every k-th point so that at most `max_points` remain, first and last included.
fn thin(points: Vec<CdfPoint>, max_points: usize) -> Vec<CdfPoint> {
    if points.len() <= max_points {
        return points;
    }
    let last = points.len() - 1;
    (0..max_points)
        .map(|i| points[i * last / (max_points - 1)])
        .collect()
}

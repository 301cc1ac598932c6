//! Histograms made elsewhere: checked, and brought to this crate's resolution.

use super::mapping::{
    FIO_SUB_BUCKET_BITS, MAX_BITS, MIN_BITS, bucket_bounds, bucket_index, last_index, middle,
};
use super::{Histogram, MAX_COUNT, MAX_TRACKABLE_NS, SUB_BUCKET_BITS};
use crate::error::StatsError;

/// Last bucket of fio's histograms (29 groups of 64); longer operations are counted there.
const FIO_LAST_INDEX: u64 = 29 * 64 - 1;

/// Bins of another tool's log-linear histogram, such as the `bins` of fio's JSON+ output.
#[derive(Debug, Clone, Copy)]
pub struct Bins<'a> {
    /// Resolution the bins were made with; [`FIO_SUB_BUCKET_BITS`] for fio.
    pub sub_bucket_bits: u32,
    /// Pairs of any duration within the bucket, in nanoseconds, and its count; in any order.
    pub counts: &'a [(u64, u64)],
    /// Shortest duration if known, else the lower edge of the first bucket.
    pub min_ns: Option<u64>,
    /// Longest duration if known, else the upper edge of the last bucket.
    pub max_ns: Option<u64>,
    /// Mean in nanoseconds if known, else that of the buckets' middles.
    pub mean_ns: Option<f64>,
}

impl Histogram {
    /// A histogram from another tool's bins.
    ///
    /// Bins finer than ours fold without loss; a coarser bin goes where its middle lies, so that
    /// percentiles are as exact as the tool's. Durations beyond fio's range (17 s) are known only
    /// by the maximum; one of them is then counted as clipped.
    ///
    /// # Errors
    /// [`StatsError::HistogramBits`], [`StatsError::HistogramLimit`] above [`MAX_COUNT`] samples,
    /// [`StatsError::HistogramField`] if minimum, maximum or mean cannot belong to the bins.
    pub fn from_bins(bins: Bins<'_>) -> Result<Self, StatsError> {
        let bits = bins.sub_bucket_bits;
        check_bits(bits)?;
        let buckets = indexed(bits, bins.counts);
        let counted: u128 = buckets.iter().map(|&(_, n)| u128::from(n)).sum();
        check_count(counted)?;
        let bounds = |&(index, _): &(u64, u64)| bucket_bounds(bits, index as usize);
        let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else {
            return Ok(Self::empty());
        };
        let min_ns = bins.min_ns.unwrap_or(bounds(first).0);
        let max_ns = bins.max_ns.unwrap_or(bounds(last).1);
        let at_end = bits == FIO_SUB_BUCKET_BITS && last.0 >= FIO_LAST_INDEX;
        let of_middles = || {
            let middles = buckets
                .iter()
                .map(|b| (middle(bounds(b).0, bounds(b).1), b.1));
            let total: f64 = middles.map(|(ns, n)| ns as f64 * n as f64).sum();
            (total / counted as f64).clamp(min_ns as f64, max_ns as f64)
        };
        let mean_ns = bins.mean_ns.unwrap_or_else(of_middles);
        let foreign = Foreign {
            bits,
            count: counted as u64,
            min_ns,
            max_ns,
            // Saturates at the ends of u64; NaN becomes 0 and is refused below.
            sum_ns: (mean_ns * counted as f64).round() as u64,
            clipped: u64::from(at_end && max_ns > bounds(last).1),
            buckets: &buckets,
        };
        foreign.check()?;
        Ok(foreign.rebucket())
    }
}

/// Counts by bucket index, indices rising, empty bins left out.
fn indexed(bits: u32, counts: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let filled = counts.iter().filter(|&&(_, n)| n > 0);
    let mut buckets: Vec<(u64, u64)> = filled
        .map(|&(ns, n)| (bucket_index(bits, ns) as u64, n))
        .collect();
    buckets.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::with_capacity(buckets.len());
    for (index, n) in buckets {
        match merged.last_mut() {
            Some(last) if last.0 == index => last.1 = last.1.saturating_add(n),
            _ => merged.push((index, n)),
        }
    }
    merged
}

fn check_bits(bits: u32) -> Result<(), StatsError> {
    if (MIN_BITS..=MAX_BITS).contains(&bits) {
        return Ok(());
    }
    Err(StatsError::HistogramBits {
        bits,
        min: MIN_BITS,
        max: MAX_BITS,
    })
}

fn check_count(counted: u128) -> Result<(), StatsError> {
    if counted <= u128::from(MAX_COUNT) {
        return Ok(());
    }
    Err(StatsError::HistogramLimit {
        field: "count",
        value: counted,
        limit: MAX_COUNT,
    })
}

/// A histogram of any resolution, not yet trusted.
pub(super) struct Foreign<'a> {
    pub bits: u32,
    pub count: u64,
    pub min_ns: u64,
    pub max_ns: u64,
    pub sum_ns: u64,
    pub clipped: u64,
    pub buckets: &'a [(u64, u64)],
}

impl Foreign<'_> {
    /// Refuses what no recording could have left behind.
    pub fn check(&self) -> Result<(), StatsError> {
        self.check_indices()?;
        let counted = self.buckets.iter().map(|&(_, n)| u128::from(n)).sum();
        if counted > u128::from(MAX_COUNT) {
            let (field, limit) = ("count", MAX_COUNT);
            return Err(StatsError::HistogramLimit {
                field,
                value: counted,
                limit,
            });
        }
        if counted != u128::from(self.count) {
            return Err(StatsError::HistogramCount {
                stated: self.count,
                counted,
            });
        }
        self.check_facts()
    }

    fn check_indices(&self) -> Result<(), StatsError> {
        let bits = self.bits;
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(StatsError::HistogramBits {
                bits,
                min: MIN_BITS,
                max: MAX_BITS,
            });
        }
        let limit = last_index(bits) as u64;
        let mut previous = None;
        for (position, &(index, _)) in self.buckets.iter().enumerate() {
            if index > limit {
                return Err(StatsError::HistogramIndex {
                    position,
                    index,
                    limit,
                });
            }
            if let Some(previous) = previous.filter(|&p| p >= index) {
                return Err(StatsError::HistogramOrder {
                    position,
                    index,
                    previous,
                });
            }
            previous = Some(index);
        }
        Ok(())
    }

    /// Minimum, maximum, sum and clipped must be possible with these buckets.
    fn check_facts(&self) -> Result<(), StatsError> {
        let mut filled = self.buckets.iter().filter(|&&(_, n)| n > 0);
        let Some(&first) = filled.next() else {
            return self.check_empty();
        };
        let last = *filled.next_back().unwrap_or(&first);
        let (first_low, first_high) = bucket_bounds(self.bits, first.0 as usize);
        let (last_low, last_high) = bucket_bounds(self.bits, last.0 as usize);
        within("clipped", self.clipped, 0, last.1.into())?;
        let top = if self.clipped > 0 {
            u64::MAX
        } else {
            last_high
        };
        let first_top = if first.0 == last.0 { top } else { first_high };
        within("min", self.min_ns, first_low.into(), first_top.into())?;
        let max_top = if self.count == 1 { self.min_ns } else { top };
        within(
            "max",
            self.max_ns,
            last_low.max(self.min_ns).into(),
            max_top.into(),
        )?;
        if self.sum_ns == u64::MAX {
            return Ok(());
        }
        let times_count = |ns| u128::from(self.count) * u128::from(ns);
        within(
            "sum",
            self.sum_ns,
            times_count(self.min_ns),
            times_count(self.max_ns),
        )
    }

    fn check_empty(&self) -> Result<(), StatsError> {
        for (field, value) in [
            ("min", self.min_ns),
            ("max", self.max_ns),
            ("sum", self.sum_ns),
            ("clipped", self.clipped),
        ] {
            within(field, value, 0, 0)?;
        }
        Ok(())
    }

    /// Finer buckets fold without loss; a coarser one goes where its middle lies, except that
    /// the shortest and the longest sample go where they belong.
    pub fn rebucket(&self) -> Histogram {
        let mut histogram = Histogram::empty();
        if self.count == 0 {
            return histogram;
        }
        let mut beyond = 0;
        let mut place = |ns, n| {
            histogram.add(bucket_index(SUB_BUCKET_BITS, ns), n);
            beyond += if ns > MAX_TRACKABLE_NS { n } else { 0 };
        };
        let exact = if self.bits < SUB_BUCKET_BITS {
            self.count.min(2)
        } else {
            0
        };
        let (mut skip_low, mut skip_high) = (exact.min(1), exact / 2);
        [self.min_ns, self.max_ns]
            .iter()
            .take(exact as usize)
            .for_each(|&ns| place(ns, 1));
        let last = self.buckets.iter().rposition(|&(_, n)| n > 0);
        for (position, &(index, n)) in self.buckets.iter().enumerate().filter(|(_, b)| b.1 > 0) {
            let (low, high) = bucket_bounds(self.bits, index as usize);
            let ns = if self.bits < SUB_BUCKET_BITS {
                middle(low, high).clamp(self.min_ns, self.max_ns)
            } else {
                low
            };
            let high_taken = if last == Some(position) {
                std::mem::take(&mut skip_high)
            } else {
                0
            };
            place(ns, n - std::mem::take(&mut skip_low) - high_taken);
        }
        histogram.count = self.count;
        histogram.min_ns = self.min_ns;
        histogram.max_ns = self.max_ns;
        histogram.sum_ns = self.sum_ns;
        histogram.clipped = self.clipped.max(beyond);
        histogram
    }
}

fn within(field: &'static str, value: u64, low: u128, high: u128) -> Result<(), StatsError> {
    if (low..=high).contains(&u128::from(value)) {
        return Ok(());
    }
    Err(StatsError::HistogramField {
        field,
        value,
        low,
        high,
    })
}

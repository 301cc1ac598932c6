//! A latency histogram: constant relative error, exact extremes and mean, lossless merging.
//!
//! Buckets are log-linear, [`SUB_BUCKET_BITS`] = 7: 128 buckets an octave, each at most 0.79 %
//! wide, so that a percentile (the middle of its bucket) is at most 0.40 % off. Values below
//! 256 ns are exact. Count, minimum, maximum and sum are kept exactly beside the buckets.

mod foreign;
mod mapping;
mod view;
mod wire;

pub use foreign::Bins;
pub use mapping::{
    FIO_SUB_BUCKET_BITS, MAX_BITS, MIN_BITS, bucket_bounds, bucket_index, last_index,
};
pub use view::{Bucket, CdfPoint, PercentilePoint};

use crate::error::StatsError;

/// Sub-bucket bits of [`Histogram`]: 2^7 = 128 buckets an octave.
pub const SUB_BUCKET_BITS: u32 = 7;

/// Largest value with a bucket of its own resolution: 2^44 - 1 ns, about 4.9 hours.
///
/// A longer one is counted in the top bucket and in [`Histogram::clipped`]; minimum, maximum and
/// mean still know its exact value.
pub const MAX_TRACKABLE_NS: u64 = (1 << 44) - 1;

/// Number of buckets of a full histogram (4864, 38 KiB).
pub const BUCKETS: usize = bucket_index(SUB_BUCKET_BITS, MAX_TRACKABLE_NS) + 1;

/// Most samples a histogram read from a file may hold, 2^53 (exact in every JSON reader).
pub const MAX_COUNT: u64 = 1 << 53;

/// Counts of durations in nanoseconds.
///
/// Recording costs about 2 ns and never allocates in a histogram made by [`Histogram::new`].
/// The sum saturates at 2^64 - 1 ns (584 years of latency); below that the mean is exact.
#[derive(Clone)]
pub struct Histogram {
    /// Counts by index; may be shorter than [`BUCKETS`], what is missing is zero.
    counts: Vec<u64>,
    count: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u64,
    clipped: u64,
}

impl Histogram {
    /// An empty histogram with room for every value: what a recording thread wants.
    #[must_use]
    pub fn new() -> Self {
        Self::with_counts(vec![0; BUCKETS])
    }

    /// An empty histogram that takes memory only as values arrive: for results held by the many.
    #[must_use]
    pub const fn empty() -> Self {
        Self::with_counts(Vec::new())
    }

    const fn with_counts(counts: Vec<u64>) -> Self {
        Self {
            counts,
            count: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            sum_ns: 0,
            clipped: 0,
        }
    }

    /// Counts one duration of `ns` nanoseconds.
    // Wrapping, because 2^64 calls cannot happen and the check costs a branch in debug builds.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        let index = bucket_index(SUB_BUCKET_BITS, ns).min(BUCKETS - 1);
        match self.counts.get_mut(index) {
            Some(slot) => *slot = slot.wrapping_add(1),
            None => self.add_beyond(index, 1),
        }
        self.count = self.count.wrapping_add(1);
        self.sum_ns = self.sum_ns.saturating_add(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        self.clipped = self.clipped.wrapping_add(u64::from(ns > MAX_TRACKABLE_NS));
    }

    /// Counts `n` durations of `ns` nanoseconds each; nothing if `n` is 0.
    pub fn record_n(&mut self, ns: u64, n: u64) {
        if n == 0 {
            return;
        }
        self.add(bucket_index(SUB_BUCKET_BITS, ns), n);
        self.count = self.count.saturating_add(n);
        self.sum_ns = self.sum_ns.saturating_add(ns.saturating_mul(n));
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
        if ns > MAX_TRACKABLE_NS {
            self.clipped = self.clipped.saturating_add(n);
        }
    }

    /// Adds `n` to a bucket, the top one if `index` is beyond it.
    fn add(&mut self, index: usize, n: u64) {
        let index = index.min(BUCKETS - 1);
        match self.counts.get_mut(index) {
            Some(slot) => *slot = slot.saturating_add(n),
            None => self.add_beyond(index, n),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, index: usize, n: u64) {
        assert!(
            index < BUCKETS,
            "bucket indices are limited before they are used"
        );
        self.counts.resize(index + 1, 0);
        if let Some(last) = self.counts.last_mut() {
            *last = n;
        }
    }

    /// Adds all samples of `other`; nothing is lost, in whatever order histograms are merged.
    pub fn merge(&mut self, other: &Self) {
        let used = other.used();
        if used.len() > self.counts.len() {
            self.counts.resize(used.len(), 0);
        }
        for (slot, &n) in self.counts.iter_mut().zip(used) {
            *slot = slot.saturating_add(n);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.clipped = self.clipped.saturating_add(other.clipped);
    }

    /// The samples counted since `earlier`, a former state of this histogram.
    ///
    /// Counts and mean of the difference are exact; its minimum and maximum are known only to
    /// the edges of their buckets (and never outside this histogram's own), unless it is one
    /// sample.
    ///
    /// # Errors
    /// [`StatsError::HistogramNotEarlier`] if `earlier` holds a sample that `self` does not.
    pub fn subtract(&self, earlier: &Self) -> Result<Self, StatsError> {
        let mut delta = Self::empty();
        delta.counts = self.used().to_vec();
        let later_len = delta.counts.len();
        for (index, &n) in earlier.used().iter().enumerate() {
            let later = if index < later_len {
                delta.counts[index]
            } else {
                0
            };
            let Some(rest) = later.checked_sub(n) else {
                let (low_ns, _) = bucket_bounds(SUB_BUCKET_BITS, index);
                return Err(StatsError::HistogramNotEarlier {
                    low_ns,
                    earlier: n,
                    later,
                });
            };
            if index < later_len {
                delta.counts[index] = rest;
            }
        }
        delta.count = self.count.saturating_sub(earlier.count);
        delta.sum_ns = self.sum_ns.saturating_sub(earlier.sum_ns);
        delta.clipped = self.clipped.saturating_sub(earlier.clipped);
        delta.bound_extremes(self.min_ns, self.max_ns);
        if !delta.is_empty() && self.sum_ns < u64::MAX {
            let times_count = |ns: u64| ns.saturating_mul(delta.count);
            let (low, high) = (times_count(delta.min_ns), times_count(delta.max_ns));
            delta.sum_ns = delta.sum_ns.clamp(low, high);
        }
        if delta.count == 1 {
            // The sum is the sample.
            (delta.min_ns, delta.max_ns) = (delta.sum_ns, delta.sum_ns);
        }
        Ok(delta)
    }

    /// Sets minimum and maximum from the outermost buckets, kept within `min_ns..=max_ns`.
    fn bound_extremes(&mut self, min_ns: u64, max_ns: u64) {
        let edges = |index| bucket_bounds(SUB_BUCKET_BITS, index);
        let first = self.counts.iter().position(|&n| n > 0);
        let last = self.counts.iter().rposition(|&n| n > 0);
        let (Some(first), Some(last)) = (first, last) else {
            return;
        };
        self.min_ns = edges(first).0.max(min_ns);
        self.max_ns = if self.clipped > 0 {
            max_ns
        } else {
            edges(last).1.min(max_ns)
        };
    }

    /// Forgets all samples and keeps the memory.
    pub fn reset(&mut self) {
        self.counts.fill(0);
        let counts = std::mem::take(&mut self.counts);
        *self = Self::with_counts(counts);
    }

    /// Gives back the memory of the buckets above the largest sample.
    pub fn shrink(&mut self) {
        let used = self.used().len();
        self.counts.truncate(used);
        self.counts.shrink_to_fit();
    }

    /// Counts up to the last one that is not zero.
    fn used(&self) -> &[u64] {
        let used = self
            .counts
            .iter()
            .rposition(|&n| n > 0)
            .map_or(0, |last| last + 1);
        &self.counts[..used]
    }

    /// Whether nothing has been recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Number of samples.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Number of samples longer than [`MAX_TRACKABLE_NS`].
    #[must_use]
    pub const fn clipped(&self) -> u64 {
        self.clipped
    }

    /// Sum of all samples in nanoseconds, at most 2^64 - 1.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.sum_ns
    }

    /// Shortest sample in nanoseconds; `None` if there is none.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// Longest sample in nanoseconds; `None` if there is none.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// Arithmetic mean in nanoseconds, from the exact sum; `None` if there is no sample.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Self::empty()
    }
}

impl PartialEq for Histogram {
    /// Equal samples as far as a histogram can tell; memory held does not matter.
    fn eq(&self, other: &Self) -> bool {
        let facts = |h: &Self| (h.count, h.min_ns, h.max_ns, h.sum_ns, h.clipped);
        facts(self) == facts(other) && self.used() == other.used()
    }
}

impl Eq for Histogram {}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count)
            .field("min_ns", &self.min())
            .field("max_ns", &self.max())
            .field("sum_ns", &self.sum_ns)
            .field("clipped", &self.clipped)
            .field("buckets", &self.iter_buckets().count())
            .finish()
    }
}

impl Extend<u64> for Histogram {
    fn extend<T: IntoIterator<Item = u64>>(&mut self, durations_ns: T) {
        for ns in durations_ns {
            self.record(ns);
        }
    }
}

#[cfg(test)]
mod tests;

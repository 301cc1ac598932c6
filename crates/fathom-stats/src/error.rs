//! The error of every fallible function of this crate.

use thiserror::Error;

/// Why a number could not be computed or a histogram could not be read.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// A histogram in a file is in another unit than nanoseconds.
    #[error("histogram field `unit` is {unit:?}, expected \"ns\"")]
    HistogramUnit {
        /// The unit found.
        unit: String,
    },
    /// A histogram has a resolution this reader does not know.
    #[error("histogram field `sub_bucket_bits` is {bits}, expected {min} to {max}")]
    HistogramBits {
        /// The bits found.
        bits: u32,
        /// Fewest bits accepted.
        min: u32,
        /// Most bits accepted.
        max: u32,
    },
    /// A bucket index lies outside the range of the histogram's resolution.
    #[error("histogram bucket {position} has index {index}, the largest possible is {limit}")]
    HistogramIndex {
        /// Place in the `buckets` list, from 0.
        position: usize,
        /// The index found.
        index: u64,
        /// Largest index that stands for a 64-bit number of nanoseconds.
        limit: u64,
    },
    /// The bucket list is not sorted, or an index is listed twice.
    #[error(
        "histogram bucket {position} has index {index} after {previous}, expected rising indices"
    )]
    HistogramOrder {
        /// Place in the `buckets` list, from 0.
        position: usize,
        /// The index found.
        index: u64,
        /// The index before it.
        previous: u64,
    },
    /// The bucket counts do not add up to the stated count.
    #[error("histogram field `count` is {stated}, but its buckets hold {counted}")]
    HistogramCount {
        /// The field `count`.
        stated: u64,
        /// Sum over the buckets.
        counted: u128,
    },
    /// More samples than a histogram may hold in a file.
    #[error("histogram field `{field}` is {value}, the limit is {limit}")]
    HistogramLimit {
        /// Name of the field.
        field: &'static str,
        /// The value found.
        value: u128,
        /// Largest value accepted.
        limit: u64,
    },
    /// `min`, `max` or `sum` cannot belong to the listed buckets.
    #[error("histogram field `{field}` is {value}, its buckets allow {low} to {high}")]
    HistogramField {
        /// Name of the field.
        field: &'static str,
        /// The value found.
        value: u64,
        /// Smallest value the buckets allow.
        low: u128,
        /// Largest value the buckets allow.
        high: u128,
    },
    /// A histogram was subtracted that is not an earlier state of the other.
    #[error(
        "histogram to subtract holds {earlier} samples in the bucket at {low_ns} ns, \
         the later one only {later}"
    )]
    HistogramNotEarlier {
        /// Lower edge of the bucket.
        low_ns: u64,
        /// Count in the histogram to subtract.
        earlier: u64,
        /// Count in the histogram subtracted from.
        later: u64,
    },
}

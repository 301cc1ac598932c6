//! The error of every fallible function of this crate.

use thiserror::Error;

/// Why a number could not be computed or a histogram could not be read.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There are not enough values for what was asked.
    #[error("{what} needs at least {needed} values, got {got}")]
    TooFewValues {
        /// What was to be computed.
        what: &'static str,
        /// Fewest values it takes.
        needed: usize,
        /// Values given.
        got: usize,
    },
    /// There are more values than the method handles.
    #[error("{what} takes at most {limit} values, got {got}")]
    TooManyValues {
        /// What was to be computed.
        what: &'static str,
        /// Most values it takes.
        limit: usize,
        /// Values given.
        got: usize,
    },
    /// A value is NaN, infinite or so large that its square would be.
    #[error("value {position} is {value}, expected a finite number up to 1e120")]
    NotFinite {
        /// Place of the value, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// A value is zero or negative where a logarithm or reciprocal is taken.
    #[error("{what} needs values above 0, value {position} is {value}")]
    NotPositive {
        /// What was to be computed.
        what: &'static str,
        /// Place of the value, from 0.
        position: usize,
        /// The value.
        value: f64,
    },
    /// An argument is outside its range.
    #[error("{what} is {value}, expected {expected}")]
    OutOfRange {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Its range in words.
        expected: &'static str,
    },
    /// Lists that belong together differ in length.
    #[error("{what} {position} has {got} values, expected {expected} as in the first")]
    LengthMismatch {
        /// What one list is.
        what: &'static str,
        /// Place of the list, from 0.
        position: usize,
        /// Length of the first list.
        expected: usize,
        /// Length of this one.
        got: usize,
    },
    /// No finite interval exists because the divisor may be zero.
    #[error("{what} has no finite interval: the divisor {mean} is not distinguishable from 0")]
    Unbounded {
        /// What was to be computed.
        what: &'static str,
        /// Mean of the divisor.
        mean: f64,
    },
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

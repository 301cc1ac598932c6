//! Numeric formulas: moments, intervals, percentiles, histograms and tests of difference.
//!
//! ```
//! use fathom_stats::Histogram;
//!
//! let mut latencies = Histogram::new();
//! for ns in [90_000, 95_000, 120_000, 4_000_000] {
//!     latencies.record(ns);
//! }
//! assert_eq!(latencies.count(), 4);
//! assert_eq!(latencies.percentile(100.0), Some(4_000_000));
//! assert_eq!(latencies.mean(), Some(1_076_250.0));
//! ```

pub mod error;
pub mod histogram;

pub use error::StatsError;
pub use histogram::{Bucket, Histogram};

//! Numeric formulas: moments, intervals, percentiles, histograms and tests of difference.
//!
//! ```
//! use fathom_stats::compare::{Answer, CompareRule, Direction, compare};
//! use fathom_stats::{Confidence, Sample, StatsError, t_interval};
//!
//! # fn main() -> Result<(), StatsError> {
//! let before = Sample::new([101.2, 99.8, 100.5, 102.1, 98.9])?;
//! let after = Sample::new([105.0, 103.7, 106.2, 104.4, 105.6])?;
//! let mean = t_interval(&before, Confidence::P95)?;
//! assert!((mean.half_width_percent() - 1.5257).abs() < 1e-4);
//!
//! let found = compare(&before, &after, Direction::HigherIsBetter, CompareRule::STANDARD)?;
//! assert_eq!(found.answer, Answer::Faster);
//! assert!((found.ratio - 1.0446).abs() < 1e-4);
//! # Ok(())
//! # }
//! ```
//!
//! Layers: [`Sample`] and [`Histogram`] hold values; [`Estimate`] is a point with its interval;
//! the modules hold one family of formulas each and cite their sources. Nothing here reads files,
//! clocks or random state: the same values and seed give the same numbers.

pub mod bootstrap;
pub mod change;
pub mod combine;
pub mod compare;
pub mod difference;
mod distribution;
pub mod error;
pub mod histogram;
pub mod interval;
pub mod knee;
pub mod levels;
pub mod modality;
pub mod multiple;
pub mod order;
pub mod power;
pub mod pts;
pub mod random;
pub mod rank;
pub mod sample;
pub mod series;
pub mod steady;
pub mod stopping;

pub use difference::{TTest, fieller, log_ratio, welch};
pub use error::StatsError;
pub use histogram::{Bucket, Histogram};
pub use interval::{Confidence, Estimate, t_interval};
pub use order::percentile_needs_samples;
pub use sample::Sample;

#[cfg(test)]
mod testing;

//! Shared by the unit tests: reference data and a comparison of floats.
//!
//! Expected figures named "stat_refs" were computed with NumPy 2.4.6 and SciPy 1.17.1, and those
//! named "scipy" with SciPy 1.17.1; they are rounded to 10 digits.

use crate::sample::Sample;

/// Throughput of one system over five trials.
pub const A: [f64; 5] = [101.2, 99.8, 100.5, 102.1, 98.9];
/// A faster system over five trials.
pub const B: [f64; 5] = [105.0, 103.7, 106.2, 104.4, 105.6];
/// A noisy system over three trials.
pub const C: [f64; 3] = [100.0, 103.0, 97.0];
/// Another noisy system over three trials.
pub const D: [f64; 3] = [101.5, 104.0, 98.5];

/// A sample of values known to be valid.
pub fn sample(values: &[f64]) -> Sample {
    Sample::new(values).expect("test values are finite")
}

/// Equal to 9 digits, or to 1e-12 around zero.
#[track_caller]
pub fn near(actual: f64, expected: f64) {
    within(actual, expected, 1e-9 * expected.abs() + 1e-12);
}

/// Equal to an absolute tolerance.
#[track_caller]
pub fn within(actual: f64, expected: f64, tolerance: f64) {
    let off = (actual - expected).abs();
    assert!(
        off <= tolerance,
        "{actual} is {off:e} from {expected}, allowed {tolerance:e}"
    );
}

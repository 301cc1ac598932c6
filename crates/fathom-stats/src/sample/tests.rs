//! Tests of samples and moments.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, B, C, near, sample, within};

#[test]
fn moments_match_the_reference() {
    // stat_refs `summary`.
    for (values, mean, sd, cv_percent, se) in [
        (&A[..], 100.5, 1.234908904, 1.228765078, 0.5522680509),
        (&B[..], 104.98, 0.9808159868, 0.9342884233, 0.438634244),
        (&C[..], 100.0, 3.0, 3.0, 1.732050808),
    ] {
        let sample = sample(values);
        near(sample.mean(), mean);
        near(sample.standard_deviation().unwrap(), sd);
        near(
            100.0 * sample.coefficient_of_variation().unwrap(),
            cv_percent,
        );
        near(sample.standard_error().unwrap(), se);
    }
    near(sample(&C).population_standard_deviation(), 6.0_f64.sqrt());
}

#[test]
fn values_that_no_formula_survives_are_refused_with_their_place() {
    let refused = |values: &[f64]| Sample::new(values).unwrap_err().to_string();
    assert_eq!(refused(&[]), "a sample needs at least 1 values, got 0");
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e121] {
        let expected = format!("value 1 is {bad}, expected a finite number up to 1e120");
        assert_eq!(refused(&[1.0, bad, 2.0]), expected);
    }
    let error = sample(&[3.0, 0.0]).logarithms().unwrap_err();
    assert_eq!(
        error.to_string(),
        "a ratio needs values above 0, value 1 is 0"
    );
}

#[test]
fn one_value_has_a_mean_and_no_spread() {
    let one = sample(&[42.5]);
    assert_eq!(one.mean(), 42.5);
    assert_eq!(one.standard_deviation(), None);
    assert_eq!(one.standard_error(), None);
    assert_eq!(one.coefficient_of_variation(), None);
    assert_eq!(one.population_standard_deviation(), 0.0);
    assert_eq!(sample(&[-1.0, 1.0]).coefficient_of_variation(), None);
}

#[test]
fn a_large_offset_does_not_hide_the_spread() {
    // A textbook one-pass formula gives 0 or a negative variance here.
    let shifted = sample(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0]);
    assert_eq!(shifted.variance(), Some(30.0));
}

#[test]
fn extreme_magnitudes_stay_finite() {
    let huge = sample(&[1e120, -1e120, 1e120]);
    assert!(huge.standard_deviation().unwrap().is_finite());
    assert_eq!(sample(&[5e-324, 5e-324]).standard_deviation(), Some(0.0));
}

proptest! {
    #[test]
    fn moments_follow_shift_and_scale(
        values in prop::collection::vec(-1e3..1e3_f64, 2..40),
        shift in -1e3..1e3_f64,
        scale in 0.01..100.0_f64,
    ) {
        let plain = sample(&values);
        let moved = sample(&values.iter().map(|v| v * scale + shift).collect::<Vec<_>>());
        let sd = plain.standard_deviation().unwrap();
        within(moved.mean(), plain.mean() * scale + shift, 1e-9 * (1e5 + shift.abs()));
        within(moved.standard_deviation().unwrap(), sd * scale, 1e-9 * (1e5 + shift.abs()));
    }

    #[test]
    fn moments_do_not_depend_on_order(
        mut values in prop::collection::vec(-1e6..1e6_f64, 2..40),
    ) {
        let (mean, sd) = (sample(&values).mean(), sample(&values).standard_deviation().unwrap());
        values.reverse();
        within(sample(&values).mean(), mean, 1e-8);
        within(sample(&values).standard_deviation().unwrap(), sd, 1e-7);
        prop_assert!(sample(&values).min() <= mean + 1e-8 && mean <= sample(&values).max() + 1e-8);
    }
}

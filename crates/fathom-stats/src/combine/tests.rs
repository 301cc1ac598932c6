//! Tests of combining.

use super::*;
use crate::compare::{CompareRule, Direction, compare};
use crate::testing::{near, sample};

fn ratio_of(a: [f64; 3], b: [f64; 3]) -> LogRatio {
    let (direction, rule) = (Direction::HigherIsBetter, CompareRule::STANDARD);
    compare(&sample(&a), &sample(&b), direction, rule)
        .unwrap()
        .log_ratio()
        .unwrap()
}

#[test]
fn propagated_error_matches_the_reference() {
    // stat_refs `geomean_propagated`.
    let ratios = [
        ratio_of([100.0, 102.0, 98.0], [110.0, 111.0, 109.0]),
        ratio_of([200.0, 190.0, 210.0], [198.0, 205.0, 197.0]),
        ratio_of([50.0, 51.0, 49.0], [47.0, 46.0, 48.0]),
    ];
    for (ratio, log, variance, df) in [
        (ratios[0], 0.09541599046, 0.000160923263, 2.792437804),
        (ratios[1], 0.0006772563816, 0.0009914126617, 2.724399638),
        (ratios[2], -0.06189297572, 0.0002843224394, 3.98477319),
    ] {
        near(ratio.log_ratio, log);
        near(ratio.variance, variance);
        near(ratio.degrees_of_freedom, df);
    }
    let combined = combine_ratios(&ratios, Confidence::P95).unwrap();
    near(combined.estimate.value, 1.011465319);
    near(combined.estimate.low, 0.979656426);
    near(combined.estimate.high, 1.044307029);
    near(combined.log_error, 0.01263442548);
    near(combined.degrees_of_freedom, 5.287703827);
    assert!(combined.p > 0.05, "the interval holds 1");
}

#[test]
fn one_ratio_keeps_its_interval() {
    let one = ratio_of([100.0, 102.0, 98.0], [110.0, 111.0, 109.0]);
    let combined = combine_ratios(&[one], Confidence::P95).unwrap();
    near(combined.estimate.value, one.log_ratio.exp());
    near(combined.degrees_of_freedom, one.degrees_of_freedom);
    assert!(combine_ratios(&[], Confidence::P95).is_err());
}

#[test]
fn certain_ratios_have_no_width() {
    let sure = |log_ratio| LogRatio {
        log_ratio,
        variance: 0.0,
        degrees_of_freedom: 4.0,
    };
    let combined = combine_ratios(&[sure(0.1), sure(0.3)], Confidence::P95).unwrap();
    near(combined.estimate.value, 0.2_f64.exp());
    assert_eq!(combined.estimate.half_width(), 0.0);
}

#[test]
fn means_of_known_values() {
    near(geometric_mean(&sample(&[1.0, 10.0, 100.0])).unwrap(), 10.0);
    near(harmonic_mean(&sample(&[40.0, 60.0])).unwrap(), 48.0);
    assert!(geometric_mean(&sample(&[1.0, -1.0])).is_err());
    let error = harmonic_mean(&sample(&[1.0, 0.0])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a harmonic mean needs values above 0, value 1 is 0"
    );
    // Large and small values do not overflow.
    near(geometric_mean(&sample(&[1e100; 50])).unwrap() / 1e100, 1.0);
}

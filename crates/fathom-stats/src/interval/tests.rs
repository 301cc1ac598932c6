//! Tests of intervals.

use super::*;
use crate::testing::{A, B, C, D, near, sample};

#[test]
fn t_intervals_match_the_reference() {
    // stat_refs `summary.*.ci95`.
    for (values, low, high, half_percent) in [
        (&A[..], 98.96665807, 102.0333419, 1.52571336),
        (&B[..], 103.7621561, 106.1978439, 1.160072299),
        (&C[..], 92.54758686, 107.4524131, 7.452413135),
        (&D[..], 94.49255149, 108.1741152, 6.750771561),
    ] {
        let estimate = t_interval(&sample(values), Confidence::P95).unwrap();
        near(estimate.low, low);
        near(estimate.high, high);
        near(estimate.half_width_percent(), half_percent);
        assert!(estimate.contains(estimate.value));
        assert!(!estimate.contains(high * 1.0001));
    }
}

#[test]
fn a_single_value_has_no_interval() {
    let error = t_interval(&sample(&[5.0]), Confidence::P95).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an interval of the mean needs at least 2 values, got 1"
    );
}

#[test]
fn equal_values_have_an_interval_of_no_width() {
    let estimate = t_interval(&sample(&[7.0; 4]), Confidence::P95).unwrap();
    assert_eq!(
        (estimate.low, estimate.high, estimate.half_width_percent()),
        (7.0, 7.0, 0.0)
    );
}

#[test]
fn confidence_is_a_fraction() {
    for bad in [0.0, 0.5, 1.0, 95.0, -1.0, f64::NAN] {
        assert!(Confidence::new(bad).is_err(), "{bad} was taken");
    }
    let confidence = Confidence::new(0.99).unwrap();
    near(confidence.t_critical(4.0), 4.604094871415897); // scipy t.ppf(.995, 4)
    near(confidence.t_critical(1e9), 2.575829304); // stat_refs `normal.z995`
    assert!(confidence > Confidence::P95);
}

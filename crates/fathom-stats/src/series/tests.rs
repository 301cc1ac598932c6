//! Tests of series.

use proptest::prelude::*;

use super::*;
use crate::testing::{near, sample};

/// stat_refs `autocorr.x`.
const WAVE: [f64; 16] = [
    10.0, 11.0, 12.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 12.0, 11.0,
];

#[test]
fn autocorrelation_matches_the_reference() {
    let found = autocorrelation(&sample(&WAVE)).unwrap();
    near(found.lag_one, 0.751476378);
    near(found.effective_count, 2.270300646);
    near(found.standard_error, 0.9655717453);
}

#[test]
fn negative_correlation_is_not_credited() {
    let found = autocorrelation(&sample(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0])).unwrap();
    assert!(found.lag_one < 0.0);
    assert_eq!(found.effective_count, 6.0);
    assert_eq!(
        autocorrelation(&sample(&[3.0; 5])).unwrap().effective_count,
        5.0
    );
    assert!(autocorrelation(&sample(&[1.0, 2.0])).is_err());
}

#[test]
fn batches_drop_the_oldest_values() {
    let series: Vec<f64> = (0..43).map(f64::from).collect();
    let means = batch_means(&sample(&series), 20).unwrap();
    assert_eq!(means.len(), 20);
    assert_eq!(means.values()[0], 3.5);
    assert_eq!(means.values()[19], 41.5);
    let error = batch_means(&sample(&series), 22).unwrap_err();
    assert_eq!(
        error.to_string(),
        "batch means needs at least 44 values, got 43"
    );
    assert!(batch_means(&sample(&series), 19).is_err());
}

#[test]
fn trend_matches_the_reference() {
    // stat_refs `mann_kendall`.
    let falling = [30.1, 29.8, 29.9, 29.2, 29.0, 28.7, 28.9, 28.1];
    let found = mann_kendall(&sample(&falling)).unwrap();
    assert_eq!(found.s, -24);
    near(found.variance, 65.33333333333);
    near(found.z, -2.845512041);
    near(found.p, 0.004434008303);
    near(found.sen_slope, -0.2775);
}

#[test]
fn trend_allows_for_ties() {
    // Slope from scipy `theilslopes`; variance (7*6*19 - 2*1*9)/18 by hand.
    let found = mann_kendall(&sample(&[1.0, 3.0, 2.0, 5.0, 4.0, 4.0, 7.0])).unwrap();
    assert_eq!(found.s, 14);
    near(found.variance, 780.0 / 18.0);
    near(found.sen_slope, 0.75);
    let flat = mann_kendall(&sample(&[2.0; 6])).unwrap();
    assert_eq!((flat.s, flat.z, flat.p, flat.sen_slope), (0, 0.0, 1.0, 0.0));
    assert!(mann_kendall(&sample(&[1.0, 2.0, 3.0])).is_err());
    assert!(mann_kendall(&sample(&vec![1.0; MAX_TREND_POINTS + 1])).is_err());
}

#[test]
fn a_line_is_found() {
    // stat_refs `snia`, second and fourth window.
    let line = least_squares(&sample(&[36000.0, 34500.0, 33000.0, 31500.0, 30000.0]));
    near(line.slope, -1500.0);
    near(line.intercept, 36000.0);
    let line = least_squares(&sample(&[30000.0, 31000.0, 32000.0, 32500.0, 33000.0]));
    near(line.slope, 750.0);
    near(line.intercept, 30200.0);
    assert_eq!(
        least_squares(&sample(&[5.0])),
        Line {
            intercept: 5.0,
            slope: 0.0
        }
    );
}

proptest! {
    #[test]
    fn reversing_time_reverses_the_trend(
        values in prop::collection::vec(-1e3..1e3_f64, 4..30),
    ) {
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let there = mann_kendall(&sample(&values)).unwrap();
        let back = mann_kendall(&sample(&reversed)).unwrap();
        prop_assert_eq!(there.s, -back.s);
        prop_assert!((there.sen_slope + back.sen_slope).abs() < 1e-9);
        prop_assert!((there.p - back.p).abs() < 1e-12);
    }
}

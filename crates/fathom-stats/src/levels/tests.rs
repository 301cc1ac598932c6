//! Tests of two-level variance.

use super::*;
use crate::testing::{near, sample};

fn runs() -> [Sample; 3] {
    // stat_refs `two_level.W`.
    [
        sample(&[100.0, 102.0, 98.0, 101.0]),
        sample(&[105.0, 104.0, 106.0, 103.0]),
        sample(&[99.0, 97.0, 100.0, 98.0]),
    ]
}

#[test]
fn two_levels_match_the_reference() {
    let found = two_levels(&runs(), Confidence::P95).unwrap();
    near(found.within_variance, 2.0833333333333);
    near(found.run_mean_variance, 9.5208333333333);
    near(found.between_variance, 9.0);
    near(found.mean.value, 101.0833333333);
    near(found.mean.half_width(), 7.665017474);
    // Treating all windows as independent would claim four times the precision.
    let all: Vec<f64> = runs()
        .iter()
        .flat_map(|run| run.values().to_vec())
        .collect();
    let naive = crate::t_interval(&sample(&all), Confidence::P95).unwrap();
    near(naive.half_width(), 1.866385655);
}

#[test]
fn dear_runs_ask_for_more_windows() {
    let found = two_levels(&runs(), Confidence::P95).unwrap();
    // sqrt(100 * 2.0833 / 9) = 4.81.
    assert_eq!(found.best_windows(100.0, 1.0), Some(5));
    assert_eq!(found.best_windows(1.0, 1.0), Some(1));
    assert_eq!(found.best_windows(0.0, 1.0), None);
}

#[test]
fn equal_runs_need_no_repeating() {
    let run = sample(&[99.0, 101.0, 100.0]);
    let found = two_levels(&[run.clone(), run], Confidence::P95).unwrap();
    assert!(found.between_variance < 0.0);
    assert_eq!(found.best_windows(10.0, 1.0), None);
}

#[test]
fn runs_must_be_alike() {
    let uneven = [sample(&[1.0, 2.0]), sample(&[1.0, 2.0, 3.0])];
    let error = two_levels(&uneven, Confidence::P95).unwrap_err();
    assert_eq!(
        error.to_string(),
        "run 1 has 3 values, expected 2 as in the first"
    );
    assert!(two_levels(&uneven[..1], Confidence::P95).is_err());
    assert!(two_levels(&[sample(&[1.0]), sample(&[2.0])], Confidence::P95).is_err());
}

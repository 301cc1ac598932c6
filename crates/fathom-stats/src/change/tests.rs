//! Tests of change points.

use super::*;
use crate::random::Xoshiro256;
use crate::testing::{near, sample};

/// stat_refs `edivisive.series`.
const STEP: [f64; 10] = [
    100.0, 101.0, 99.0, 100.0, 102.0, 90.0, 91.0, 89.0, 92.0, 90.0,
];

#[test]
fn split_statistics_match_the_reference() {
    // stat_refs `edivisive.qhat`.
    let splits = split_statistics(&sample(&STEP), 2).unwrap();
    let expected = [10.34285714, 15.4, 26.08, 43.0, 25.84, 16.0, 7.257142857];
    assert_eq!(splits.len(), expected.len());
    for (split, (index, q)) in splits.iter().zip((2..).zip(expected)) {
        assert_eq!(split.index, index);
        near(split.q, q);
    }
    assert!(
        split_statistics(&sample(&[1.0, 2.0, 3.0]), 2)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_step_is_found_if_it_is_large_enough() {
    let rule = ChangeRule {
        min_magnitude: 0.05,
        ..ChangeRule::STANDARD
    };
    let [change] = change_points(&sample(&STEP), rule).unwrap()[..] else {
        panic!("one change was expected");
    };
    assert_eq!(change.index, 5);
    near(change.before, 100.4);
    near(change.after, 90.4);
    near(change.magnitude(), -10.0 / 100.4);
    // It is 9.96 %.
    assert!(
        change_points(&sample(&STEP), ChangeRule::STANDARD)
            .unwrap()
            .is_empty()
    );
}

/// Levels of 20 points each with uniform noise of +- 3 %.
fn levels(levels: &[f64], seed: u64) -> Sample {
    let mut random = Xoshiro256::new(seed);
    let points = levels.iter().flat_map(|level| [*level; 20]);
    sample(
        &points
            .map(|l| l * (0.97 + 0.06 * random.fraction()))
            .collect::<Vec<_>>(),
    )
}

#[test]
fn several_steps_are_found_in_order() {
    let series = levels(&[500.0, 300.0, 360.0, 200.0], 3);
    let changes = change_points(&series, ChangeRule::STANDARD).unwrap();
    let places: Vec<usize> = changes.iter().map(|c| c.index).collect();
    assert_eq!(places, [20, 40, 60]);
    assert!(changes.iter().all(|c| c.p <= 0.01));
}

#[test]
fn a_pulse_is_found_at_both_ends() {
    let changes = change_points(&levels(&[100.0, 150.0, 100.0], 5), ChangeRule::STANDARD).unwrap();
    let places: Vec<usize> = changes.iter().map(|c| c.index).collect();
    assert_eq!(places, [20, 40]);
}

#[test]
fn noise_alone_has_no_changes() {
    let rule = ChangeRule {
        min_magnitude: 0.0,
        ..ChangeRule::STANDARD
    };
    let found = |seed| {
        change_points(&levels(&[100.0; 3], seed), rule)
            .unwrap()
            .len()
    };
    let false_alarms = (0..200).filter(|&seed| found(seed) > 0).count();
    // Alpha is 1 % for a series; twice that in 200 series is still chance.
    assert!(false_alarms <= 6, "{false_alarms} of 200");
}

#[test]
fn short_and_constant_series_have_no_changes() {
    for values in [&[1.0][..], &[1.0, 9.0], &[1.0, 1.0, 9.0, 9.0], &[4.0; 30]] {
        assert!(
            change_points(&sample(values), ChangeRule::STANDARD)
                .unwrap()
                .is_empty()
        );
    }
    let too_long = sample(&vec![1.0; MAX_POINTS + 1]);
    assert!(change_points(&too_long, ChangeRule::STANDARD).is_err());
    let rule = ChangeRule {
        min_segment: 1,
        ..ChangeRule::STANDARD
    };
    assert!(change_points(&sample(&STEP), rule).is_err());
}

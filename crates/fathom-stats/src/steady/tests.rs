//! Tests of steady state.

use super::*;
use crate::testing::{near, sample};

#[test]
fn windows_match_the_reference() {
    // stat_refs `snia`.
    for (rounds, average, range, slope, steady) in [
        (
            [30000.0, 29500.0, 30500.0, 29800.0, 30200.0],
            30000.0,
            3.333333333,
            0.9333333333,
            true,
        ),
        (
            [36000.0, 34500.0, 33000.0, 31500.0, 30000.0],
            33000.0,
            18.18181818,
            18.18181818,
            false,
        ),
        (
            [30000.0, 33500.0, 29000.0, 35500.0, 30500.0],
            31700.0,
            20.50473186,
            3.785488959,
            false,
        ),
        (
            [30000.0, 31000.0, 32000.0, 32500.0, 33000.0],
            31700.0,
            9.463722397,
            9.463722397,
            true,
        ),
    ] {
        let window = last_window(&sample(&rounds), SteadyRule::SNIA).unwrap();
        near(window.average, average);
        near(window.range_percent, range);
        near(window.slope_percent, slope);
        assert_eq!(window.steady, steady, "{rounds:?}");
    }
}

#[test]
fn the_first_steady_window_is_found() {
    let rounds = [80.0, 60.0, 50.0, 42.0, 40.0, 41.0, 39.5, 40.5, 40.0];
    let found = first_steady(&sample(&rounds), SteadyRule::SNIA)
        .unwrap()
        .unwrap();
    assert_eq!(found.first_round, 3);
    assert!(
        first_steady(&sample(&rounds[..7]), SteadyRule::SNIA)
            .unwrap()
            .is_none()
    );
    let last = last_window(&sample(&rounds), SteadyRule::SNIA).unwrap();
    assert_eq!(last.first_round, 4);
}

#[test]
fn impossible_windows_are_refused() {
    let few = last_window(&sample(&[1.0; 4]), SteadyRule::SNIA).unwrap_err();
    assert_eq!(
        few.to_string(),
        "a steady-state window needs at least 5 values, got 4"
    );
    let narrow = SteadyRule {
        window: 2,
        ..SteadyRule::SNIA
    };
    assert!(last_window(&sample(&[1.0; 4]), narrow).is_err());
    assert!(last_window(&sample(&[0.0; 5]), SteadyRule::SNIA).is_err());
}

//! Tests of planning.

use super::*;
use crate::testing::{near, within};

const P95: Confidence = Confidence::P95;

#[test]
fn needed_trials_match_the_reference() {
    // stat_refs `n_for_halfwidth_t`.
    for (cv, goal, trials) in [
        (0.01, 1.0, 7),
        (0.01, 2.0, 4),
        (0.01, 5.0, 3),
        (0.02, 1.0, 18),
        (0.02, 2.0, 7),
        (0.02, 5.0, 3),
        (0.03, 1.0, 38),
        (0.03, 2.0, 12),
        (0.03, 5.0, 4),
        (0.05, 1.0, 99),
        (0.05, 2.0, 27),
        (0.05, 5.0, 7),
        (0.10, 1.0, 387),
        (0.10, 2.0, 99),
        (0.10, 5.0, 18),
    ] {
        assert_eq!(
            trials_for_half_width(cv, goal, P95),
            Some(trials),
            "cv {cv} goal {goal} %"
        );
    }
    assert_eq!(trials_for_half_width(0.0, 1.0, P95), Some(2));
    assert_eq!(trials_for_half_width(10.0, 0.01, P95), None);
    assert_eq!(trials_for_half_width(0.01, 0.0, P95), None);
}

#[test]
fn half_widths_match_the_reference() {
    // stat_refs `half_width_pct_when_cv_3pct`.
    for (n, percent) in [
        (2, 26.9539306),
        (3, 7.452413135),
        (4, 4.773669458),
        (5, 3.724991995),
        (6, 3.14830692),
        (8, 2.508062765),
        (10, 2.146070718),
        (12, 1.906109062),
        (15, 1.661344625),
        (20, 1.404043219),
        (30, 1.12021841),
    ] {
        near(half_width_percent(0.03, n, P95).unwrap(), percent);
    }
    assert_eq!(half_width_percent(0.03, 1, P95), None);
}

#[test]
fn detectable_differences_match_the_reference() {
    // stat_refs `mde_pct_80power_welch_equal_n_cv` (noncentral t).
    for (cv, n, percent) in [
        (0.01, 3.0, 3.070892261),
        (0.01, 5.0, 2.024439339),
        (0.01, 10.0, 1.324947393),
        (0.01, 20.0, 0.9091290327),
        (0.01, 30.0, 0.7356210696),
        (0.03, 3.0, 9.212676782),
        (0.03, 10.0, 3.974842178),
        (0.05, 5.0, 10.1221967),
        (0.05, 30.0, 3.678105348),
    ] {
        let error = cv * (2.0_f64 / n).sqrt();
        let found = 100.0 * minimum_detectable(error, 2.0 * n - 2.0, 0.8, P95);
        within(found, percent, 1e-6);
    }
    assert_eq!(minimum_detectable(0.0, 4.0, 0.8, P95), 0.0);
}

#[test]
fn detectable_differences_have_their_power_at_the_edges() {
    for confidence in [0.6, 0.95, 0.99, 0.9999].map(|c| Confidence::new(c).unwrap()) {
        for df in [1.0, 1.3, 2.0, 8.0, 500.0] {
            for power in [0.51, 0.8, 0.99] {
                let delta = minimum_detectable(1.0, df, power, confidence);
                let critical = confidence.t_critical(df);
                within(PowerCurve::new(critical, df).at(delta), power, 1e-8);
            }
        }
    }
}

#[test]
fn smallest_finds_the_first() {
    for first in [1, 2, 3, 7, 64, 1000] {
        assert_eq!(smallest(1, 1000, |n| n >= first), Some(first));
    }
    assert_eq!(smallest(5, 1000, |_| true), Some(5));
    assert_eq!(smallest(1, 1000, |_| false), None);
}

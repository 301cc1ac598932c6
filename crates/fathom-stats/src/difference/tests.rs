//! Tests of differences and ratios.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, B, C, D, near, sample, within};

const P95: Confidence = Confidence::P95;

#[test]
fn welch_matches_the_reference() {
    // stat_refs `welch_A_B`, `welch_C_D`.
    for (a, b, difference, t, df, p, low, high) in [
        (
            &A[..],
            &B[..],
            4.48,
            6.352214042,
            7.610012584,
            0.0002717850179,
            2.839031768,
            6.120968232,
        ),
        (
            &C[..],
            &D[..],
            1.333333333,
            0.567104964,
            3.971020306,
            0.6011629506,
            -5.213260257,
            7.879926923,
        ),
    ] {
        let test = welch(&sample(a), &sample(b), P95).unwrap();
        near(test.estimate.value, difference);
        near(test.t, t);
        near(test.degrees_of_freedom, df);
        near(test.p, p);
        near(test.estimate.low, low);
        near(test.estimate.high, high);
    }
}

#[test]
fn log_ratio_matches_the_reference() {
    // stat_refs `log_ratio_B_over_A`, `log_ratio_D_over_C`.
    for (a, b, ratio, low, high, df, p) in [
        (
            &A[..],
            &B[..],
            1.04460372,
            1.027897938,
            1.06158101,
            7.467316801,
            0.0003038986847,
        ),
        (
            &C[..],
            &D[..],
            1.013387519,
            0.9494357842,
            1.08164689,
            3.962406531,
            0.600332375,
        ),
    ] {
        let test = log_ratio(&sample(a), &sample(b), P95).unwrap();
        near(test.estimate.value, ratio);
        near(test.estimate.low, low);
        near(test.estimate.high, high);
        near(test.degrees_of_freedom, df);
        near(test.p, p);
    }
}

#[test]
fn fieller_matches_the_reference() {
    // stat_refs `fieller_B_over_A`.
    let estimate = fieller(&sample(&A), &sample(&B), P95).unwrap();
    near(estimate.value, 1.044577114);
    near(estimate.low, 1.027967567);
    near(estimate.high, 1.061528251);
}

#[test]
fn fieller_refuses_a_divisor_that_may_be_zero() {
    let around_zero = sample(&[-1.0, 1.0, 0.5]);
    let error = fieller(&around_zero, &sample(&A), P95).unwrap_err();
    assert!(matches!(error, StatsError::Unbounded { .. }), "{error}");
    assert!(fieller(&sample(&[0.0, 0.0]), &sample(&A), P95).is_err());
}

#[test]
fn effect_size_matches_the_reference() {
    // stat_refs `hedges_g_A_B`.
    let effect = effect_size(&sample(&A), &sample(&B)).unwrap();
    near(effect.cohen_d, 4.017492912);
    near(effect.correction, 0.9032258065);
    near(effect.hedges_g, 3.628703275);
}

#[test]
fn constant_samples_give_certain_answers() {
    let (five, six) = (sample(&[5.0; 3]), sample(&[6.0; 3]));
    let equal = welch(&five, &five, P95).unwrap();
    assert_eq!(
        (equal.t, equal.p, equal.estimate.half_width()),
        (0.0, 1.0, 0.0)
    );
    let different = welch(&five, &six, P95).unwrap();
    assert_eq!((different.t, different.p), (f64::MAX, 0.0));
    assert_eq!(effect_size(&five, &five).unwrap().cohen_d, 0.0);
    // One constant side: the other one's degrees of freedom.
    let half = welch(&five, &sample(&C), P95).unwrap();
    near(half.degrees_of_freedom, 2.0);
}

#[test]
fn one_trial_has_no_difference() {
    let error = welch(&sample(&A), &sample(&[1.0]), P95).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a difference of means needs at least 2 values, got 1"
    );
}

prop_compose! {
    fn positives()(values in prop::collection::vec(1.0..1e4_f64, 2..20)) -> Vec<f64> {
        values
    }
}

proptest! {
    #[test]
    fn welch_ignores_a_common_shift(a in positives(), b in positives(), shift in -1e3..1e3_f64) {
        let moved = |v: &[f64]| sample(&v.iter().map(|x| x + shift).collect::<Vec<_>>());
        let plain = welch(&sample(&a), &sample(&b), P95).unwrap();
        let other = welch(&moved(&a), &moved(&b), P95).unwrap();
        within(other.estimate.value, plain.estimate.value, 1e-8);
        within(other.p, plain.p, 1e-7);
    }

    #[test]
    fn log_ratio_mirrors_and_scales(a in positives(), b in positives(), scale in 0.01..100.0_f64) {
        let (sa, sb) = (sample(&a), sample(&b));
        let there = log_ratio(&sa, &sb, P95).unwrap();
        let back = log_ratio(&sb, &sa, P95).unwrap();
        within(there.estimate.value * back.estimate.value, 1.0, 1e-9);
        within((there.estimate.low.ln() + back.estimate.high.ln()).abs(), 0.0, 1e-7);
        let scaled = sample(&b.iter().map(|v| v * scale).collect::<Vec<_>>());
        let times = log_ratio(&sa, &scaled, P95).unwrap();
        within(times.estimate.value / (there.estimate.value * scale), 1.0, 1e-9);
        prop_assert!(there.estimate.low <= there.estimate.value);
        prop_assert!((0.0..=1.0).contains(&there.p));
    }
}

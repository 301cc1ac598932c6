//! Tests of the four answers.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, B, C, D, near, sample, within};

const HIGHER: Direction = Direction::HigherIsBetter;
const LOWER: Direction = Direction::LowerIsBetter;
const RULE: CompareRule = CompareRule::STANDARD;

#[track_caller]
fn check(a: &[f64], b: &[f64], direction: Direction, rule: CompareRule, expected: Answer) {
    let found = compare(&sample(a), &sample(b), direction, rule).unwrap();
    assert_eq!(found.answer, expected, "{found:?}");
}

#[test]
fn answers_follow_the_interval_and_the_direction() {
    check(&A, &B, HIGHER, RULE, Answer::Faster);
    check(&A, &B, LOWER, RULE, Answer::Slower);
    check(&B, &A, HIGHER, RULE, Answer::Slower);
    check(&B, &A, LOWER, RULE, Answer::Faster);
    // The interval is 1.0279 to 1.0616: beyond 2 %, within 8 %, and neither for 5 %.
    check(
        &A,
        &B,
        HIGHER,
        CompareRule {
            margin: 0.02,
            ..RULE
        },
        Answer::Faster,
    );
    check(
        &A,
        &B,
        HIGHER,
        CompareRule {
            margin: 0.08,
            ..RULE
        },
        Answer::Same,
    );
    let five = CompareRule {
        margin: 0.05,
        ..RULE
    };
    let found = compare(&sample(&A), &sample(&B), HIGHER, five).unwrap();
    assert!(
        matches!(
            found.answer,
            Answer::CannotTell {
                more_trials: Some(_)
            }
        ),
        "{found:?}"
    );
}

#[test]
fn the_comparison_states_ratio_interval_and_detectable_difference() {
    let found = compare(&sample(&A), &sample(&B), HIGHER, RULE).unwrap();
    near(found.ratio, 1.04460372);
    let test = found.interval.unwrap();
    near(test.estimate.low, 1.027897938); // stat_refs `log_ratio_B_over_A`
    near(test.estimate.high, 1.06158101);
    assert!(found.p_beyond_margin.unwrap() < 0.05);
    // Without a margin 80 % power needs about t(.975) + t(.8) standard errors.
    let no_margin = CompareRule {
        margin: 0.0,
        ..RULE
    };
    let exact = compare(&sample(&A), &sample(&B), HIGHER, no_margin).unwrap();
    within(
        exact.minimum_detectable.unwrap(),
        3.24 * test.standard_error,
        0.0005,
    );
    let with_margin = (1.0 + exact.minimum_detectable.unwrap()) * 1.01 - 1.0;
    near(found.minimum_detectable.unwrap(), with_margin);
    near(found.improvement(), found.ratio);
    let lower = compare(&sample(&A), &sample(&B), LOWER, RULE).unwrap();
    near(lower.improvement(), 1.0 / found.ratio);
}

#[test]
fn more_trials_would_decide() {
    let rule = CompareRule {
        margin: 0.05,
        ..RULE
    };
    let found = compare(&sample(&A), &sample(&B), HIGHER, rule).unwrap();
    let Answer::CannotTell {
        more_trials: Some(more),
    } = found.answer
    else {
        panic!("{found:?}");
    };
    // The same values again and again: spread and ratio as measured (a little smaller sd).
    let longer = |values: &[f64]| sample(&values.repeat((5 + more as usize).div_ceil(5)));
    let later = compare(&longer(&A), &longer(&B), HIGHER, rule).unwrap();
    assert_eq!(later.answer, Answer::Same);
    // Noise of 3 % against a difference of 1.3 % and a margin of 1 %: hopeless.
    check(
        &C,
        &D,
        HIGHER,
        RULE,
        Answer::CannotTell { more_trials: None },
    );
}

#[test]
fn one_trial_cannot_tell() {
    check(
        &[100.0],
        &[200.0],
        HIGHER,
        RULE,
        Answer::CannotTell { more_trials: None },
    );
    let found = compare(&sample(&[100.0]), &sample(&B), HIGHER, RULE).unwrap();
    near(
        found.ratio,
        sample(&B).logarithms().unwrap().mean().exp() / 100.0,
    );
    assert_eq!((found.interval, found.minimum_detectable), (None, None));
    assert_eq!(found.log_ratio(), None);
}

#[test]
fn constant_trials_are_judged_by_the_margin_alone() {
    check(&[5.0; 3], &[5.0; 3], HIGHER, RULE, Answer::Same);
    check(&[5.0; 3], &[5.04; 3], HIGHER, RULE, Answer::Same);
    check(&[5.0; 3], &[6.0; 3], HIGHER, RULE, Answer::Faster);
}

#[test]
fn values_without_a_ratio_are_refused() {
    let error = compare(&sample(&[1.0, 0.0]), &sample(&A), HIGHER, RULE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a ratio needs values above 0, value 1 is 0"
    );
    for margin in [-0.01, 1.0, f64::NAN] {
        let rule = CompareRule { margin, ..RULE };
        assert!(compare(&sample(&A), &sample(&B), HIGHER, rule).is_err());
    }
    let rule = CompareRule { power: 0.4, ..RULE };
    assert!(compare(&sample(&A), &sample(&B), HIGHER, rule).is_err());
}

#[test]
fn summaries_are_judged_like_their_trials() {
    let summary = |values: &[f64]| Arm::Summary(Summary::of(&sample(values)));
    let found = compare_arms(summary(&A), summary(&B), HIGHER, RULE).unwrap();
    assert_eq!(found.answer, Answer::Faster);
    near(found.ratio, 104.98 / 100.5);
    let test = found.interval.unwrap();
    // Delta method against Fieller (stat_refs): a few parts in 10,000.
    within(test.estimate.low, 1.027967567, 3e-4);
    within(test.estimate.high, 1.061528251, 3e-4);
    let (a, b) = (sample(&A), sample(&B));
    let mixed = compare_arms(Arm::Trials(&a), summary(&B), HIGHER, RULE).unwrap();
    assert_eq!(mixed, found);
    let trials = compare_arms(Arm::Trials(&a), Arm::Trials(&b), HIGHER, RULE).unwrap();
    assert_eq!(trials, compare(&a, &b, HIGHER, RULE).unwrap());
}

#[test]
fn summaries_without_spread_cannot_tell() {
    let bare = |mean, standard_error, trials| {
        Arm::Summary(Summary {
            mean,
            standard_error,
            trials,
        })
    };
    let cannot = Answer::CannotTell { more_trials: None };
    let known = bare(200.0, Some(0.1), 3);
    for unknown in [bare(100.0, None, 3), bare(100.0, Some(0.0), 1)] {
        let found = compare_arms(unknown, known, HIGHER, RULE).unwrap();
        assert_eq!(found.answer, cannot);
        near(found.ratio, 2.0);
    }
    assert!(compare_arms(bare(0.0, None, 3), known, HIGHER, RULE).is_err());
    assert!(compare_arms(bare(1.0, Some(f64::NAN), 3), known, HIGHER, RULE).is_err());
}

#[test]
fn printed_zero_error_is_not_certainty() {
    let printed = |mean| Arm::Summary(Summary::from_printed(mean, 0.01, 0.0, 0.01, 3));
    let found = compare_arms(printed(0.50), printed(0.51), HIGHER, RULE).unwrap();
    // 2 % apart, but each error may be 0.005: one percent of the mean.
    assert!(
        matches!(found.answer, Answer::CannotTell { .. }),
        "{found:?}"
    );
    let Summary { standard_error, .. } = Summary::from_printed(100.0, 1.0, 2.0, 0.01, 5);
    near(
        standard_error.unwrap(),
        (2.005_f64.powi(2) + 1.0 / 12.0).sqrt(),
    );
}

#[test]
fn equivalence_matches_the_reference() {
    // stat_refs `tost_A_B_2pct`, `tost_A_B_8pct`.
    near(
        equivalence_p(&sample(&A), &sample(&B), 0.02).unwrap(),
        0.9951800202,
    );
    near(
        equivalence_p(&sample(&A), &sample(&B), 0.08).unwrap(),
        0.0007958282313,
    );
    assert_eq!(
        equivalence_p(&sample(&[5.0; 3]), &sample(&[5.0; 3]), 0.01).unwrap(),
        0.0
    );
    assert!(equivalence_p(&sample(&A), &sample(&B), 0.0).is_err());
}

#[test]
fn adjusting_takes_back_the_weakest_claims() {
    // Interval 1.0279 to 1.0616 with a margin just inside: p beyond the margin just below 5 %.
    let barely = CompareRule {
        margin: 0.0278,
        ..RULE
    };
    let weak = compare(&sample(&A), &sample(&B), HIGHER, barely).unwrap();
    assert_eq!(weak.answer, Answer::Faster);
    let noisy = compare(&sample(&C), &sample(&D), HIGHER, RULE).unwrap();
    let single = compare(&sample(&[1.0]), &sample(&B), HIGHER, RULE).unwrap();
    let strong = compare(&sample(&A), &sample(&B), LOWER, RULE).unwrap();
    let mut all = [weak.clone(), single, strong, noisy];
    let p = adjust(&mut all, Adjustment::Holm);
    assert_eq!(all[0].answer, Answer::CannotTell { more_trials: None });
    assert_eq!(all[2].answer, Answer::Slower);
    assert_eq!(p[1], None);
    near(p[0].unwrap(), 2.0 * weak.p_beyond_margin.unwrap());
    let mut alone = [weak];
    adjust(&mut alone, Adjustment::BenjaminiHochberg);
    assert_eq!(alone[0].answer, Answer::Faster);
}

#[test]
fn the_noise_floor_only_widens_the_margin() {
    assert_eq!(CompareRule::with_noise_floor(0.002).margin, 0.01);
    assert_eq!(CompareRule::with_noise_floor(0.04).margin, 0.04);
}

#[test]
fn a_comparison_survives_json() {
    for b in [&B[..], &[5.0][..], &[7.0, 7.0][..]] {
        let found = compare(&sample(&A), &sample(b), HIGHER, RULE).unwrap();
        let text = serde_json::to_string(&found).unwrap();
        let back: Comparison = serde_json::from_str(&text).unwrap();
        assert_eq!(back.answer, found.answer);
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }
}

prop_compose! {
    fn trials()(
        level in 1.0..1e6_f64,
        factors in prop::collection::vec(0.9..1.1_f64, 2..12),
    ) -> Vec<f64> {
        factors.into_iter().map(|f| f * level).collect()
    }
}

fn mirrored(answer: Answer) -> Answer {
    match answer {
        Answer::Faster => Answer::Slower,
        Answer::Slower => Answer::Faster,
        other => other,
    }
}

proptest! {
    #[test]
    fn swapping_mirrors_the_answer(a in trials(), b in trials()) {
        let there = compare(&sample(&a), &sample(&b), HIGHER, RULE).unwrap();
        let back = compare(&sample(&b), &sample(&a), HIGHER, RULE).unwrap();
        prop_assert_eq!(mirrored(there.answer), back.answer);
        let other_way = compare(&sample(&a), &sample(&b), LOWER, RULE).unwrap();
        prop_assert_eq!(mirrored(there.answer), other_way.answer);
    }

    #[test]
    fn units_do_not_matter(a in trials(), b in trials(), scale in 1e-6..1e6_f64) {
        let scaled = |v: &[f64]| sample(&v.iter().map(|x| x * scale).collect::<Vec<_>>());
        let plain = compare(&sample(&a), &sample(&b), HIGHER, RULE).unwrap();
        let other = compare(&scaled(&a), &scaled(&b), HIGHER, RULE).unwrap();
        prop_assert!((plain.ratio / other.ratio - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_p_value_beyond_the_margin_agrees_with_the_answer(a in trials(), b in trials()) {
        let found = compare(&sample(&a), &sample(&b), HIGHER, RULE).unwrap();
        let p = found.p_beyond_margin.unwrap();
        prop_assume!((p - 0.05).abs() > 1e-9);
        let claimed = matches!(found.answer, Answer::Faster | Answer::Slower);
        prop_assert_eq!(claimed, p < 0.05);
    }
}

//! Simulated systems with a known truth: the answers must be right as often as they claim.
//!
//! Seeds are fixed, so the rates are exact numbers that change only with the formulas.

use fathom_stats::Sample;
use fathom_stats::compare::{Adjustment, Answer, CompareRule, Direction, adjust, compare};
use fathom_stats::random::Xoshiro256;
use fathom_stats::stopping::{Decision, Progress, StoppingOptions, StoppingRule};

#[derive(Clone, Copy, Debug)]
enum Shape {
    Normal,
    LogNormal,
}

/// Standard normal numbers by Box and Muller (1958).
struct Normals(Xoshiro256);

impl Normals {
    fn next(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.fraction()).cos()
    }

    /// One trial of a system with the given mean and coefficient of variation.
    fn trial(&mut self, shape: Shape, mean: f64, cv: f64) -> f64 {
        match shape {
            Shape::Normal => mean * (1.0 + cv * self.next()),
            Shape::LogNormal => {
                let sigma = (cv * cv).ln_1p().sqrt();
                mean * (sigma * self.next() - sigma * sigma / 2.0).exp()
            }
        }
    }

    fn trials(&mut self, n: usize, shape: Shape, mean: f64, cv: f64) -> Sample {
        let values: Vec<f64> = (0..n).map(|_| self.trial(shape, mean, cv)).collect();
        Sample::new(values).unwrap()
    }
}

/// Counts of faster, slower, same and cannot tell over simulated pairs of means 100 and `other`.
fn answers(pairs: u32, n: usize, shape: Shape, other: f64, cv: f64, seed: u64) -> [u32; 4] {
    let mut random = Normals(Xoshiro256::new(seed));
    let mut counts = [0; 4];
    for _ in 0..pairs {
        let a = random.trials(n, shape, 100.0, cv);
        let b = random.trials(n, shape, other, cv);
        let found = compare(&a, &b, Direction::HigherIsBetter, CompareRule::STANDARD).unwrap();
        counts[match found.answer {
            Answer::Faster => 0,
            Answer::Slower => 1,
            Answer::Same => 2,
            Answer::CannotTell { .. } => 3,
        }] += 1;
    }
    counts
}

#[test]
fn identical_systems_are_rarely_called_different() {
    const PAIRS: u32 = 2000;
    for shape in [Shape::Normal, Shape::LogNormal] {
        for cv in [0.01, 0.02, 0.03, 0.05] {
            let [faster, slower, ..] = answers(PAIRS, 5, shape, 100.0, cv, 11);
            let wrong = f64::from(faster + slower) / f64::from(PAIRS);
            assert!(wrong <= 0.05, "{shape:?} cv {cv}: {wrong}");
        }
    }
}

#[test]
fn quiet_identical_systems_are_called_the_same() {
    let [faster, slower, same, _] = answers(500, 10, Shape::Normal, 100.0, 0.005, 12);
    assert_eq!(faster + slower, 0);
    assert!(same >= 475, "{same} of 500");
}

#[test]
fn a_difference_of_five_percent_is_found() {
    const PAIRS: u32 = 1000;
    for shape in [Shape::Normal, Shape::LogNormal] {
        let [faster, ..] = answers(PAIRS, 10, shape, 105.0, 0.01, 13);
        assert!(
            faster >= PAIRS * 95 / 100,
            "{shape:?} faster: {faster} of {PAIRS}"
        );
        let [_, slower, ..] = answers(PAIRS, 10, shape, 95.0, 0.01, 14);
        assert!(
            slower >= PAIRS * 95 / 100,
            "{shape:?} slower: {slower} of {PAIRS}"
        );
    }
}

#[test]
fn the_detectable_difference_is_detected_as_often_as_claimed() {
    const PAIRS: u32 = 1000;
    let mut random = Normals(Xoshiro256::new(15));
    let mut claim = || {
        let [a, b] = [0, 1].map(|_| random.trials(5, Shape::LogNormal, 100.0, 0.02));
        let found = compare(&a, &b, Direction::HigherIsBetter, CompareRule::STANDARD).unwrap();
        found.minimum_detectable.unwrap()
    };
    let claimed = (0..PAIRS).map(|_| claim()).sum::<f64>() / f64::from(PAIRS);
    // sqrt(2/5) * 2 % * 3.2 = 4.05 % (stat_refs) and the margin of 1 %.
    assert!((claimed - 0.0514).abs() < 0.003, "{claimed}");
    let [faster, ..] = answers(
        PAIRS,
        5,
        Shape::LogNormal,
        100.0 * (1.0 + claimed),
        0.02,
        15,
    );
    let power = f64::from(faster) / f64::from(PAIRS);
    assert!((power - 0.8).abs() < 0.04, "{power}");
}

#[test]
fn stopping_early_does_not_break_the_promise() {
    const PAIRS: u32 = 300;
    let rule = StoppingRule::new(StoppingOptions::standard()).unwrap();
    let mut random = Normals(Xoshiro256::new(16));
    let mut run = |cv: f64| {
        let mut values = Vec::new();
        loop {
            values.push(random.trial(Shape::Normal, 100.0, cv));
            let sample = Sample::new(values.clone()).unwrap();
            let trials = values.len() as u32;
            let progress = Progress {
                trials,
                spent: std::time::Duration::ZERO,
            };
            if let Decision::Stop(_) = rule.decide(&[&sample], progress) {
                return sample;
            }
        }
    };
    for cv in [0.01, 0.03, 0.05] {
        let different = (0..PAIRS).filter(|_| {
            let (a, b) = (run(cv), run(cv));
            let found = compare(&a, &b, Direction::HigherIsBetter, CompareRule::STANDARD).unwrap();
            matches!(found.answer, Answer::Faster | Answer::Slower)
        });
        let wrong = different.count() as f64 / f64::from(PAIRS);
        assert!(wrong <= 0.05, "cv {cv}: {wrong}");
    }
}

#[test]
fn many_tests_at_once_raise_no_more_alarms() {
    // Twenty cases that differ by the whole margin: each alone errs up to 5 %, Holm all together.
    const FAMILIES: u32 = 100;
    let mut random = Normals(Xoshiro256::new(17));
    let (mut alone, mut adjusted) = (0, 0);
    for _ in 0..FAMILIES {
        let mut family: Vec<_> = (0..20)
            .map(|_| {
                let a = random.trials(5, Shape::LogNormal, 100.0, 0.02);
                let b = random.trials(5, Shape::LogNormal, 101.0, 0.02);
                compare(&a, &b, Direction::HigherIsBetter, CompareRule::STANDARD).unwrap()
            })
            .collect();
        let alarm = |family: &[fathom_stats::compare::Comparison]| {
            family
                .iter()
                .any(|c| matches!(c.answer, Answer::Faster | Answer::Slower))
        };
        alone += u32::from(alarm(&family));
        adjust(&mut family, Adjustment::Holm);
        adjusted += u32::from(alarm(&family));
    }
    assert!(adjusted <= FAMILIES * 5 / 100, "{adjusted} of {FAMILIES}");
    assert!(
        alone > 4 * adjusted,
        "without adjustment {alone} of {FAMILIES}"
    );
}

//! Tests of the stopping rule.

use super::*;
use crate::testing::{A, B, C, near, sample};

fn rule(change: impl FnOnce(&mut StoppingOptions)) -> StoppingRule {
    let mut options = StoppingOptions::standard();
    change(&mut options);
    StoppingRule::new(options).unwrap()
}

fn at(trials: u32, seconds: u64) -> Progress {
    Progress {
        trials,
        spent: Duration::from_secs(seconds),
    }
}

const LAST: Decision = Decision::Stop(StopReason::LastLook);
const GOAL: Decision = Decision::Stop(StopReason::GoalReached);
const SPENT: Decision = Decision::Stop(StopReason::BudgetSpent);

const fn to(next_look: u32) -> Decision {
    Decision::Continue { next_look }
}

#[test]
fn only_declared_looks_can_reach_the_goal() {
    let rule = rule(|_| ());
    let sharp = sample(&[100.0, 100.1, 99.9, 100.0]);
    assert_eq!(rule.decide(&[&sharp], at(3, 0)), GOAL);
    // After four trials nobody looks, however sharp the interval.
    assert_eq!(rule.decide(&[&sharp], at(4, 0)), to(5));
    assert_eq!(rule.decide(&[&sharp], at(5, 0)), GOAL);
}

#[test]
fn every_metric_must_reach_the_goal() {
    let rule = rule(|_| ());
    let (a, b, c) = (sample(&A), sample(&B), sample(&C));
    assert_eq!(rule.decide(&[&a, &b], at(5, 0)), GOAL);
    assert_eq!(rule.decide(&[&a, &c], at(5, 0)), to(8));
    assert_eq!(rule.decide(&[&c], at(30, 0)), LAST);
    assert_eq!(rule.decide(&[&a], at(30, 0)), GOAL);
    assert_eq!(rule.decide(&[], at(5, 0)), to(8));
    assert_eq!(rule.decide(&[&sample(&[1.0])], at(3, 0)), to(5));
    assert_eq!(rule.decide(&[], at(0, 0)), to(3));
}

#[test]
fn equal_values_are_known_and_zero_means_are_not() {
    let rule = rule(|_| ());
    assert_eq!(rule.decide(&[&sample(&[0.0; 3])], at(3, 0)), GOAL);
    assert_eq!(rule.decide(&[&sample(&[-1.0, 0.0, 1.0])], at(3, 0)), to(5));
}

#[test]
fn the_budget_ends_a_case_after_the_minimum() {
    let rule = rule(|o| o.budget = Some(Duration::from_secs(100)));
    let noisy = sample(&C);
    // Two trials have taken all the time, but three are made whatever they take.
    assert_eq!(rule.decide(&[&noisy], at(2, 200)), to(3));
    assert_eq!(rule.decide(&[&noisy], at(3, 200)), SPENT);
    // Another trial of 25 s fits in 100 s exactly; one of 26 s would not.
    assert_eq!(rule.decide(&[&noisy], at(3, 75)), to(5));
    assert_eq!(rule.decide(&[&noisy], at(3, 78)), SPENT);
}

#[test]
fn fixed_numbers_of_trials_are_kept() {
    let rule = StoppingRule::new(StoppingOptions::fixed(4)).unwrap();
    let sharp = sample(&[100.0, 100.1, 99.9]);
    assert_eq!(rule.decide(&[&sharp], at(3, 0)), to(4));
    assert_eq!(rule.decide(&[&sharp], at(4, 0)), GOAL);
    assert_eq!(rule.decide(&[&sample(&C)], at(4, 0)), LAST);
}

#[test]
fn bad_options_are_named() {
    let refused = |change: &dyn Fn(&mut StoppingOptions)| {
        let mut options = StoppingOptions::standard();
        change(&mut options);
        StoppingRule::new(options).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|o| o.looks.clear()),
        "number of looks is 0, expected at least 1"
    );
    assert_eq!(
        refused(&|o| o.looks[0] = 0),
        "look is 0, expected 1 to 10000 trials"
    );
    let order = "look is 5, expected more trials than the look before";
    assert_eq!(refused(&|o| o.looks[0] = 5), order);
    assert_eq!(
        refused(&|o| o.looks[5] = 20_000),
        "look is 20000, expected 1 to 10000 trials"
    );
    assert_eq!(
        refused(&|o| o.goal_percent = 0.0),
        "goal in percent is 0, expected above 0"
    );
    let minimum = "minimum of trials is 31, expected at most the last look";
    assert_eq!(refused(&|o| o.min_trials = 31), minimum);
}

#[test]
fn looks_cost_confidence() {
    let rule = rule(|_| ());
    near(rule.corrected_confidence(0).fraction(), 0.95);
    near(rule.corrected_confidence(3).fraction(), 0.95);
    near(rule.corrected_confidence(8).fraction(), 1.0 - 0.05 / 3.0);
    near(rule.corrected_confidence(30).fraction(), 1.0 - 0.05 / 6.0);
}

#[test]
fn the_reached_width_is_known() {
    near(
        half_width_percent_of(&sample(&A), Confidence::P95).unwrap(),
        1.52571336,
    );
    assert_eq!(
        half_width_percent_of(&sample(&[5.0]), Confidence::P95),
        None
    );
    assert_eq!(
        half_width_percent_of(&sample(&[-1.0, 1.0]), Confidence::P95),
        None
    );
}

#[test]
fn a_rule_survives_json_and_is_checked() {
    let rule = rule(|o| o.budget = Some(Duration::from_millis(1500)));
    let text = serde_json::to_string(&rule).unwrap();
    assert_eq!(serde_json::from_str::<StoppingRule>(&text).unwrap(), rule);
    let spoiled = text.replace("\"goal_percent\":2.0", "\"goal_percent\":-2.0");
    let error = serde_json::from_str::<StoppingRule>(&spoiled).unwrap_err();
    assert!(
        error.to_string().contains("goal in percent is -2"),
        "{error}"
    );
}

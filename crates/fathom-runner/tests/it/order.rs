use std::collections::BTreeSet;

use fathom_model::{Event, ResultFile};
use fathom_runner::round_order;
use fathom_testkit::CaseScript;
use proptest::prelude::*;

use crate::rig::{Recorder, Rig, label};

const CASES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn run(seed: u64) -> (Vec<String>, ResultFile) {
    let mut rig = Rig::new(&CASES, |script| {
        CASES.iter().fold(script, |script, case| {
            script.case(case, CaseScript::values(&[10.0, 20.0, 30.0]))
        })
    })
    .set("max-trials", "4");
    rig.seed = seed;
    let plan = rig.plan();
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    let started = recorder.0.iter().filter_map(|event| match event {
        Event::TrialStarted { case, number } => Some(format!("{}{number}", label(&plan, case))),
        _ => None,
    });
    (started.collect(), outcome.result.unwrap())
}

#[test]
fn the_seed_fixes_the_order_and_every_trial_has_its_own() {
    let (first, one) = run(1);
    let (again, two) = run(1);
    let (other, _) = run(2);
    assert_eq!(first, again);
    assert_ne!(first, other);
    let seeds = |file: &ResultFile| -> Vec<u64> {
        let trials = file.runs.iter().flat_map(|run| &run.trials);
        trials.map(|trial| trial.evidence.counts["seed"]).collect()
    };
    assert_eq!(seeds(&one), seeds(&two));
    let distinct: BTreeSet<u64> = seeds(&one).into_iter().collect();
    assert_eq!(distinct.len(), 20);
}

#[test]
fn every_case_has_one_trial_a_round_in_a_fresh_order() {
    let (order, _) = run(3);
    let rounds: Vec<&[String]> = order.chunks(CASES.len()).collect();
    assert_eq!(rounds.len(), 4);
    let mut orders = BTreeSet::new();
    for (number, round) in (1..).zip(rounds) {
        let mut cases: Vec<String> = round.to_vec();
        orders.insert(
            cases
                .iter()
                .map(|case| case[..1].to_owned())
                .collect::<String>(),
        );
        cases.sort();
        let expected: Vec<String> = CASES.iter().map(|case| format!("{case}{number}")).collect();
        assert_eq!(cases, expected);
    }
    assert!(orders.len() > 1, "the same order each round: {orders:?}");
}

proptest! {
    #[test]
    fn an_order_is_a_permutation(seed: u64, group: u32, round: u32, cases in 0_usize..50) {
        let mut order = round_order(seed, group, round, cases);
        prop_assert_eq!(&order, &round_order(seed, group, round, cases));
        order.sort_unstable();
        prop_assert_eq!(order, (0..cases).collect::<Vec<_>>());
    }
}

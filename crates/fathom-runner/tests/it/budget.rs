use fathom_base::{Bytes, Nanos};
use fathom_model::{Estimate, Event, StopReason};
use fathom_testkit::{Act, CaseScript};

use crate::rig::{Each, Recorder, Rig, transcript};

/// Values that never come within any goal.
const WILD: [f64; 6] = [1.0, 100.0, 3.0, 80.0, 20.0, 60.0];

/// Cases of these names with trials of so many seconds; gives trials and stop reason of each.
fn ran(cases: &[(&str, u64)], settings: &[(&str, &str)]) -> Vec<(usize, StopReason)> {
    let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
    let mut rig = Rig::new(&names, |script| {
        cases.iter().fold(script, |script, (name, seconds)| {
            let case = CaseScript {
                time: Nanos::from_secs(*seconds),
                ..CaseScript::values(&WILD)
            };
            script.case(name, case)
        })
    });
    for (name, value) in settings {
        rig = rig.set(name, value);
    }
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    let result = outcome.result.unwrap();
    let runs = result.runs.iter();
    runs.map(|run| (run.trials.len(), run.stop.unwrap()))
        .collect()
}

#[test]
fn a_run_budget_is_shared_by_rounds_and_no_trial_is_begun_that_cannot_end() {
    use StopReason::RunBudget;
    // A second of preparation; 27 seconds fit 13 rounds of two seconds, and a half one.
    assert_eq!(
        ran(&[("a", 1), ("b", 1)], &[("budget", "28s")]),
        [(14, RunBudget), (13, RunBudget)]
    );
    // The long case ends when its next trial does not fit; the short one uses what is left.
    assert_eq!(
        ran(&[("a", 1), ("b", 10)], &[("budget", "50s")]),
        [(9, RunBudget), (4, RunBudget)]
    );
}

#[test]
fn the_smallest_number_of_trials_is_done_whatever_the_budgets() {
    use StopReason::{CaseBudget, RunBudget};
    assert_eq!(
        ran(
            &[("a", 5), ("b", 5)],
            &[("budget", "3s"), ("min-trials", "4")]
        ),
        [(4, RunBudget), (4, RunBudget)]
    );
    assert_eq!(
        ran(&[("a", 5)], &[("case-budget", "3s"), ("min-trials", "4")]),
        [(4, CaseBudget)]
    );
}

#[test]
fn a_case_budget_ends_a_case_before_the_trial_that_would_exceed_it() {
    use StopReason::CaseBudget;
    assert_eq!(
        ran(&[("a", 3), ("b", 1)], &[("case-budget", "17s")]),
        [(5, CaseBudget), (17, CaseBudget)]
    );
}

#[test]
fn a_budget_that_is_lifted_is_none() {
    assert_eq!(
        ran(&[("a", 1)], &[("budget", "none"), ("max-trials", "6")]),
        [(6, StopReason::MaxTrials)]
    );
}

/// Trials of case `a` when it writes `written` bytes each, is estimated at `estimate`, and both
/// cases together may write `limit`.
fn trials_within(limit: &str, written: u64, estimate: u64) -> Vec<(usize, Option<StopReason>)> {
    let rig = Rig::new(&["a", "b"], |script| {
        let writer = CaseScript {
            estimate: Estimate {
                trial_bytes: Bytes::new(estimate),
                prepare_bytes: Bytes::new(100),
                ..Estimate::default()
            },
            ..CaseScript::acts(WILD.map(|value| Act::Writes(value, written)))
        };
        let reader = CaseScript {
            estimate: Estimate::default(),
            ..CaseScript::values(&WILD)
        };
        script.case("a", writer).case("b", reader)
    })
    .set("write-limit", limit)
    .set("max-trials", "8");
    let outcome = rig.run(&mut []);
    let runs = outcome.result.unwrap().runs;
    runs.iter()
        .map(|run| (run.trials.len(), run.stop))
        .collect()
}

#[test]
fn the_write_limit_stops_what_writes_before_it_is_exceeded_and_reading_goes_on() {
    let reader = (8, Some(StopReason::MaxTrials));
    let limited = |trials| (trials, Some(StopReason::WriteLimit));
    // 100 for the preparation, 1000 a trial, and 250 in reserve once one was measured.
    assert_eq!(trials_within("5000B", 1000, 1000), [limited(4), reader]);
    assert_eq!(trials_within("4349B", 1000, 1000), [limited(3), reader]);
    // The estimate holds before the first trial, whatever the truth.
    assert_eq!(trials_within("5000B", 10, 10_000), [limited(0), reader]);
    // And the truth from then on.
    assert_eq!(
        trials_within("3000B", 10, 2000),
        [(8, Some(StopReason::MaxTrials)), reader]
    );
}

#[test]
fn groups_share_the_time_that_is_left() {
    let rig = Rig::new(&["a", "b"], |script| {
        let alone = |seconds| CaseScript {
            time: Nanos::from_secs(seconds),
            estimate: Estimate {
                exclusive: true,
                ..Estimate::default()
            },
            ..CaseScript::values(&WILD)
        };
        script.case("a", alone(1)).case("b", alone(2))
    })
    .set("budget", "60s");
    let plan = rig.plan();
    assert_eq!(plan.totals.groups, 2);
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    let runs = outcome.result.unwrap().runs;
    let counts: Vec<usize> = runs.iter().map(|run| run.trials.len()).collect();
    // A third of the time for the first, the rest for the second.
    assert_eq!(counts, [20, 20]);
    let text = transcript(&plan, &recorder.0);
    let done = text.find("a done: RunBudget").unwrap();
    let next = text.find("preparing b").unwrap();
    assert!(done < next, "{text}");
}

#[test]
fn what_was_written_before_a_stop_counts_after_it() {
    let rig = || {
        Rig::new(&["a"], |script| {
            let writer = CaseScript {
                estimate: Estimate {
                    trial_bytes: Bytes::new(1000),
                    prepare_bytes: Bytes::new(500),
                    ..Estimate::default()
                },
                ..CaseScript::acts(WILD.map(|value| Act::Writes(value, 1000)))
            };
            script.case("a", writer)
        })
        .set("write-limit", "6800B")
    };
    // 500, then 1000 each with 250 in reserve: six trials end at 6500.
    let whole = rig().run_recorded(&mut []).result.unwrap();
    assert_eq!(whole.runs[0].trials.len(), 6);
    let mut rig = rig();
    let control = rig.control.clone();
    let stop = |event: &Event| {
        if matches!(event, Event::TrialStarted { number: 4, .. }) {
            control.cancel.cancel();
        }
    };
    rig.run_recorded(&mut [&mut Each(stop)]);
    rig.control = fathom_runner::Control::default();
    let resumed = rig.resume(&mut []).unwrap().result.unwrap();
    // The file was laid out twice: one trial less.
    assert_eq!(resumed.runs[0].trials.len(), 5);
    assert_eq!(resumed.runs[0].stop, Some(StopReason::WriteLimit));
}

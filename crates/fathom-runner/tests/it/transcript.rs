use expect_test::expect;
use fathom_model::{Level, ResultBuilder, RunEnd, Status, Unmet};
use fathom_testkit::{Act, CaseScript};

use crate::rig::{Recorder, Rig, transcript};

#[test]
fn a_run_from_first_to_last_event() {
    let rig = Rig::new(&["a", "b", "c", "d"], |script| {
        script
            // Known well at the first look.
            .case("a", CaseScript::values(&[100.0, 100.1, 99.9]))
            // Wide: 8 trials are not enough, and the second failed.
            .case(
                "b",
                CaseScript::acts([
                    Act::Value(100.0),
                    Act::Fail("it broke"),
                    Act::Value(150.0),
                    Act::Value(60.0),
                    Act::Value(110.0),
                ]),
            )
            .case(
                "c",
                CaseScript {
                    unmet: vec![Unmet {
                        what: "fio is not installed".to_owned(),
                        hint: "apt-get install fio".to_owned(),
                    }],
                    ..CaseScript::values(&[1.0])
                },
            )
            // Known well, but only at the second look.
            .case("d", CaseScript::values(&[100.0, 101.5, 98.5, 100.0, 100.0]))
    })
    .set("max-trials", "8");
    let plan = rig.plan();
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    expect![[r#"
        run started, 4 cases
        c not available: fio is not installed (apt-get install fio)
        preparing a
        preparing b
        preparing d
        trial a 1
          a 1: 100, 1 s
        trial d 1
          d 1: 100, 1 s
        trial b 1
          b 1: 100, 1 s
        trial d 2
          d 2: 101.5, 1 s
        trial b 2
          b 2: failed: the script failed: it broke, 1 s
        trial a 2
          a 2: 100.1, 1 s
        trial b 3
          b 3: 150, 1 s
        trial a 3
          a 3: 99.9, 1 s
        a done: GoalReached
        trial d 3
          d 3: 98.5, 1 s
        trial b 4
          b 4: 60, 1 s
        trial d 4
          d 4: 100, 1 s
        trial d 5
          d 5: 100, 1 s
        d done: GoalReached
        trial b 5
          b 5: 110, 1 s
        trial b 6
          b 6: 110, 1 s
        trial b 7
          b 7: 110, 1 s
        trial b 8
          b 8: 110, 1 s
        b done: MaxTrials
        run finished: Complete
    "#]]
    .assert_eq(&transcript(&plan, &recorder.0));
    assert_eq!(outcome.end, RunEnd::Complete);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let counts = outcome.counts;
    assert_eq!((counts.trials, counts.failed_trials), (16, 1));
    assert_eq!((counts.failed_cases, counts.unavailable), (0, 1));
    assert_eq!(rig.left_in_target(), [""; 0], "no file is left");
    let result = outcome.result.unwrap();
    assert_eq!(result.status, Status::Complete);
    assert_eq!(result.results.len(), 4);
    assert_eq!(result.results[0].entries[0].verdict.level, Level::Valid);
    // The recorded events give the same bytes.
    let replayed = ResultBuilder::replay(&recorder.0).build().unwrap();
    assert_eq!(
        serde_json::to_string(&replayed).unwrap(),
        serde_json::to_string(&result).unwrap()
    );
    let mut prepared = rig.script.log();
    prepared.retain(|line| line.starts_with("prepare") || line.starts_with("finish"));
    assert_eq!(
        prepared,
        [
            "prepare a",
            "prepare b",
            "prepare d",
            "finish a",
            "finish b",
            "finish d"
        ]
    );
}

#[test]
fn trials_are_timed_and_stamped_by_the_clock_of_the_run() {
    let rig = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::values(&[5.0]))
    });
    let outcome = rig.run(&mut []);
    let result = outcome.result.unwrap();
    let trials = &result.runs[0].trials;
    // Half a second of preparation, then a second each.
    let starts: Vec<i64> = trials
        .iter()
        .map(|trial| trial.started.unix_ms() - crate::rig::START)
        .collect();
    assert_eq!(starts, [500, 1500, 2500]);
    assert_eq!(trials[0].duration_ns, 1_000_000_000);
    let id = &trials[1].id;
    let case = &result.cases[0].id;
    assert_eq!(*id, format!("20261130-184512-4f1c9a3e/{case}/2"));
}

#[test]
fn a_case_that_cannot_vary_is_not_repeated_beyond_the_smallest_number() {
    let rig = Rig::new(&["a"], |script| {
        script.case(
            "a",
            CaseScript {
                steers: false,
                ..CaseScript::values(&[1.0, 50.0])
            },
        )
    })
    .set("min-trials", "2");
    let mut recorder = Recorder::default();
    rig.run(&mut [&mut recorder]);
    let text = transcript(&rig.plan(), &recorder.0);
    assert!(
        text.contains("a 2: 50, 1 s\na done: Deterministic\n"),
        "{text}"
    );
}

#[test]
fn nothing_to_do_touches_nothing() {
    let rig = Rig::new(&["a"], |script| {
        script.case(
            "a",
            CaseScript {
                unmet: vec![Unmet {
                    what: "no luck".to_owned(),
                    hint: String::new(),
                }],
                ..CaseScript::values(&[1.0])
            },
        )
    });
    // A target that is not there: only a scratch directory would notice.
    std::fs::remove_dir(&rig.target).unwrap();
    let outcome = rig.run(&mut []);
    assert_eq!(outcome.end, RunEnd::Complete);
    assert_eq!(outcome.counts.unavailable, 1);
    assert_eq!(rig.script.log(), [""; 0]);
}

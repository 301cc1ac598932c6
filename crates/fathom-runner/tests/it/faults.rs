use fathom_base::Nanos;
use fathom_model::{Event, RunEnd, Status, StopReason};
use fathom_runner::RunError;
use fathom_testkit::{Act, CaseScript};

use crate::rig::{At, Each, Recorder, Rig, disk_full, label, names_in, transcript, trials_of};

/// Runs a case `a` that does `acts` beside a good case `b`; gives the lines about `a` and what the
/// test was asked.
fn with_acts(acts: Vec<Act>, change: impl FnOnce(&mut CaseScript)) -> (Vec<String>, Rig) {
    let mut case = CaseScript::acts(acts);
    change(&mut case);
    let rig = Rig::new(&["a", "b"], |script| {
        script
            .case("a", case)
            .case("b", CaseScript::values(&[100.0]))
    })
    .set("max-trials", "5");
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    assert_eq!(outcome.end, RunEnd::Complete, "{:?}", outcome.error);
    assert_eq!(rig.left_in_target(), [""; 0]);
    let text = transcript(&rig.plan(), &recorder.0);
    assert!(
        text.contains("b 3: 100, 1 s\nb done: GoalReached"),
        "{text}"
    );
    let about_a =
        |line: &&str| line.starts_with("  a") || line.starts_with("a ") || line.starts_with("note");
    let lines = text.lines().filter(about_a).map(str::to_owned).collect();
    (lines, rig)
}

#[test]
fn a_failing_case_is_given_up_after_three_failures_in_a_row() {
    let (lines, _) = with_acts(
        vec![
            Act::Fail("x"),
            Act::Value(1.0),
            Act::Fail("y"),
            Act::Fail("y"),
            Act::NoSpace,
        ],
        |_| {},
    );
    assert_eq!(
        lines,
        [
            "  a 1: failed: the script failed: x, 1 s",
            "  a 2: 1, 1 s",
            "  a 3: failed: the script failed: y, 1 s",
            "  a 4: failed: the script failed: y, 1 s",
            "  a 5: failed: no space left on the target while writing file: 1GiB needed, 0 s",
            "a done: Failing",
        ]
    );
}

#[test]
fn a_panic_is_a_failed_trial_and_the_case_is_prepared_again() {
    let (lines, rig) = with_acts(
        vec![
            Act::Value(7.0),
            Act::Panic("out of bounds"),
            Act::Value(9.0),
        ],
        |_| {},
    );
    assert_eq!(
        lines[1],
        "  a 2: failed: the test panicked (a bug): out of bounds, 0 s"
    );
    assert_eq!(
        lines[2..],
        [
            "  a 3: 9, 1 s",
            "  a 4: 9, 1 s",
            "  a 5: 9, 1 s",
            "a done: MaxTrials"
        ]
    );
    let mut log = rig.script.log();
    log.retain(|line| line.ends_with('a') || line.contains(" a "));
    assert_eq!(
        log,
        [
            "prepare a",
            "trial a 1",
            "trial a 2",
            "finish a",
            "prepare a",
            "trial a 3",
            "trial a 4",
            "trial a 5",
            "finish a"
        ]
    );
}

#[test]
fn a_preparation_that_fails_is_tried_again_and_counts_as_failed_trial() {
    let (lines, _) = with_acts(vec![Act::Value(9.0)], |case| {
        case.prepare = vec![Act::Fail("no file"), Act::Panic("worse"), Act::Value(0.0)];
    });
    assert_eq!(
        lines[0],
        "  a 1: failed: preparation failed: the script failed: no file, 0 s"
    );
    assert_eq!(
        lines[1],
        "  a 2: failed: preparation failed: the test panicked (a bug): worse, 0 s"
    );
    assert_eq!(lines[2], "  a 3: 9, 1 s");
    let (lines, rig) = with_acts(vec![Act::Value(9.0)], |case| {
        case.prepare = vec![Act::NoSpace];
    });
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3], "a done: Failing");
    assert!(!rig.script.log().contains(&"finish a".to_owned()));
}

#[test]
fn cleaning_up_that_fails_is_said_and_the_directory_goes_all_the_same() {
    let (lines, _) = with_acts(vec![Act::Value(9.0)], |case| case.finish_fails = true);
    assert_eq!(
        lines.last().unwrap(),
        "note: case a: cleaning up failed: cleaning up failed: something is left"
    );
}

#[test]
fn a_trial_beyond_its_limit_is_asked_to_stop_and_the_run_goes_on() {
    let (lines, _) = with_acts(vec![Act::Stuck, Act::Value(3.0)], |_| {});
    assert_eq!(
        lines[0],
        "note: case a: trial 1 has been running for 1 h 10 min, its limit is 10 min 0 s; it is \
         asked to stop"
    );
    assert_eq!(
        lines[1],
        "  a 1: failed: stopped because it took longer than its limit, 4200 s"
    );
    assert_eq!(lines[2], "  a 2: 3, 1 s");
}

#[test]
fn a_test_that_never_answers_ends_the_run_with_what_was_measured() {
    let rig = Rig::new(&["a", "b"], |script| {
        script
            .case("a", CaseScript::acts([Act::Value(1.0), Act::Hang]))
            .case("b", CaseScript::values(&[2.0]))
    });
    let mut recorder = Recorder::default();
    let outcome = rig.run(&mut [&mut recorder]);
    rig.script.release();
    assert_eq!(outcome.end, RunEnd::Aborted);
    let Some(RunError::Hung { case, age }) = &outcome.error else {
        panic!("{:?}", outcome.error)
    };
    assert_eq!(case, "case a");
    assert!(*age > Nanos::from_secs(4200), "{age}");
    let text = transcript(&rig.plan(), &recorder.0);
    assert!(text.contains("it is asked to stop"), "{text}");
    assert!(
        text.contains("a 2: failed: case a: no answer for"),
        "{text}"
    );
    assert!(text.ends_with("run finished: Aborted\n"), "{text}");
    assert_eq!(
        rig.left_in_target(),
        [""; 0],
        "the scratch directory is gone"
    );
    let result = outcome.result.unwrap();
    assert_eq!(result.status, Status::Partial);
    assert_eq!(result.runs[0].trials.len(), 2);
}

#[test]
fn a_recorder_that_fails_at_any_event_ends_the_run_cleanly_with_what_is_safe() {
    let rig = || {
        Rig::new(&["a", "b"], |script| {
            script
                .case("a", CaseScript::values(&[10.0, 20.0, 10.0]))
                .case(
                    "b",
                    CaseScript::acts([Act::Value(2.0), Act::Fail("x"), Act::Value(2.0)]),
                )
        })
        .set("max-trials", "3")
    };
    let mut whole = Recorder::default();
    rig().run(&mut [&mut whole]);
    let total = whole.0.len();
    assert!(total > 15, "{total}");
    for number in 0..total {
        let rig = rig();
        let mut shown = Recorder::default();
        let outcome = rig.run(&mut [&mut At::new(number, |_| Err(disk_full())), &mut shown]);
        assert!(
            matches!(outcome.error, Some(RunError::Sink(_))),
            "event {number}: {:?}",
            outcome.error
        );
        let is_last = number == total - 1;
        let end = if is_last {
            RunEnd::Complete
        } else {
            RunEnd::Aborted
        };
        assert_eq!(outcome.end, end, "event {number}");
        assert_eq!(rig.left_in_target(), [""; 0], "event {number}");
        // The other sink has seen exactly what was recorded, and the end.
        let plan = rig.plan();
        let text = |events: &[Event]| transcript(&plan, events);
        assert_eq!(text(&shown.0[..number]), text(&whole.0[..number]));
        assert!(matches!(shown.0.last(), Some(Event::RunFinished { .. })));
        // Everything that was prepared is cleaned up.
        let log = rig.script.log();
        let count = |what: &str| log.iter().filter(|line| line.starts_with(what)).count();
        assert_eq!(count("prepare"), count("finish"), "event {number}: {log:?}");
        let safe = fathom_model::ResultBuilder::replay(&whole.0[..number]);
        let kept = outcome.result.as_ref().map(trials_of);
        assert_eq!(kept, safe.build().as_ref().map(trials_of), "event {number}");
    }
}

#[test]
fn a_display_that_fails_loses_nothing_that_was_recorded() {
    let rig = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::values(&[1.0]))
    });
    let mut journal = Recorder::default();
    let outcome = rig.run(&mut [&mut journal, &mut At::new(3, |_| Err(disk_full()))]);
    assert_eq!(outcome.end, RunEnd::Aborted);
    assert_eq!(journal.0.len(), 5, "four events and the end");
    assert_eq!(trials_of(&outcome.result.unwrap()).len(), 1);
}

#[test]
fn stopping_at_any_event_cleans_up_and_keeps_what_was_measured() {
    let rig = || {
        Rig::new(&["a", "b"], |script| {
            script
                .case("a", CaseScript::values(&[10.0, 20.0, 10.0]))
                .case("b", CaseScript::values(&[2.0]))
        })
        .set("max-trials", "3")
    };
    let mut whole = Recorder::default();
    rig().run(&mut [&mut whole]);
    for number in 0..whole.0.len() - 1 {
        let rig = rig();
        let control = rig.control.clone();
        let mut recorder = Recorder::default();
        let outcome = rig.run(&mut [
            &mut recorder,
            &mut At::new(number, |_| {
                control.cancel.cancel();
                Ok(())
            }),
        ]);
        let text = transcript(&rig.plan(), &recorder.0);
        // Where everything was measured there is nothing left to stop.
        let is_done = text.matches("done: ").count() - text.matches("done: Cancelled").count() == 2;
        let end = if is_done {
            RunEnd::Complete
        } else {
            RunEnd::Cancelled
        };
        assert!(
            outcome.end == RunEnd::Cancelled || outcome.end == end,
            "event {number}: {text}"
        );
        assert!(outcome.error.is_none(), "{:?}", outcome.error);
        assert_eq!(rig.left_in_target(), [""; 0], "event {number}");
        let log = rig.script.log();
        let count = |what: &str| log.iter().filter(|line| line.starts_with(what)).count();
        assert_eq!(count("prepare"), count("finish"), "event {number}: {log:?}");
        assert!(!text.contains("failed"), "stopping is no failure: {text}");
    }
}

#[test]
fn a_trial_that_is_under_way_is_given_up_when_the_user_stops_the_run() {
    let rig = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::acts([Act::Value(1.0), Act::Wait]))
    });
    let control = rig.control.clone();
    let mut recorder = Recorder::default();
    let stop = |event: &Event| {
        if matches!(event, Event::TrialStarted { number: 2, .. }) {
            control.cancel.cancel();
        }
    };
    let outcome = rig.run(&mut [&mut recorder, &mut Each(stop)]);
    assert_eq!(outcome.end, RunEnd::Cancelled);
    let result = outcome.result.unwrap();
    assert_eq!(result.runs[0].trials.len(), 1);
    assert_eq!(result.runs[0].stop, Some(StopReason::Cancelled));
    assert_eq!(result.status, Status::Partial);
}

#[test]
fn a_skipped_case_ends_and_the_others_go_on() {
    let rig = Rig::new(&["a", "b"], |script| {
        script
            .case("a", CaseScript::acts([Act::Value(1.0), Act::Wait]))
            .case("b", CaseScript::values(&[2.0]))
    });
    let control = rig.control.clone();
    let plan = rig.plan();
    let mut recorder = Recorder::default();
    let skip = |event: &Event| {
        if let Event::TrialStarted { case, number: 2 } = event
            && label(&plan, case) == "a"
        {
            control.skip();
        }
    };
    let outcome = rig.run(&mut [&mut recorder, &mut Each(skip)]);
    assert_eq!(outcome.end, RunEnd::Complete);
    let text = transcript(&plan, &recorder.0);
    assert!(text.contains("trial a 2\na done: Skipped\n"), "{text}");
    assert!(text.contains("b done: GoalReached\n"), "{text}");
}

#[test]
fn links_in_the_scratch_directory_are_removed_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("precious"), "data").unwrap();
    let target = outside.path().to_path_buf();
    let (_, _) = with_acts(vec![Act::Litter(target.clone()), Act::Value(1.0)], |_| {});
    assert_eq!(names_in(outside.path()), ["precious"]);
}

#[test]
fn a_target_that_cannot_hold_a_scratch_directory_is_named() {
    let rig = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::values(&[1.0]))
    });
    std::fs::remove_dir(&rig.target).unwrap();
    let outcome = rig.run(&mut []);
    assert_eq!(outcome.end, RunEnd::Aborted);
    let text = outcome.error.unwrap().to_string();
    let target = rig.target.display().to_string();
    assert!(
        text.contains(&target) && text.contains("does not exist"),
        "{text}"
    );
}

#[test]
fn a_case_can_be_skipped_while_it_is_prepared() {
    let rig = Rig::new(&["a", "b"], |script| {
        let slow = CaseScript {
            prepare: vec![Act::Wait],
            ..CaseScript::values(&[1.0])
        };
        script.case("a", slow).case("b", CaseScript::values(&[2.0]))
    });
    let control = rig.control.clone();
    let plan = rig.plan();
    let mut recorder = Recorder::default();
    let skip = |event: &Event| {
        if let Event::PreparingCase { case } = event
            && label(&plan, case) == "a"
        {
            control.skip();
        }
    };
    let outcome = rig.run(&mut [&mut recorder, &mut Each(skip)]);
    assert_eq!(outcome.end, RunEnd::Complete);
    let text = transcript(&plan, &recorder.0);
    assert!(
        text.contains("preparing a\na done: Skipped\npreparing b\n"),
        "{text}"
    );
    assert!(text.contains("b done: GoalReached\n"), "{text}");
}

#[test]
fn what_could_not_be_read_again_is_not_recorded() {
    let acts = vec![Act::Value(1.0), Act::Unreadable, Act::Value(9.0)];
    let (lines, _) = with_acts(acts, |_| {});
    let error = "  a 2: failed: the test gave what cannot be recorded: duplicate field `number`";
    assert!(lines[1].starts_with(error), "{}", lines[1]);
    assert!(lines[1].ends_with(", 1 s"), "{}", lines[1]);
    assert_eq!(lines[2], "  a 3: 9, 1 s");
}

use std::sync::mpsc::channel;

use fathom_model::{Event, RunEnd};
use fathom_testkit::{Act, CaseScript};

use crate::rig::{Each, Recorder, Rig};

#[test]
fn two_runs_at_once_in_one_directory_leave_each_other_alone() {
    let mut first = Rig::new(&["a"], |script| {
        script.case(
            "a",
            CaseScript::acts([Act::Value(1.0), Act::Wait, Act::Value(1.0)]),
        )
    });
    let mut second = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::values(&[2.0]))
    });
    second.target.clone_from(&first.target);
    second.host.target.clone_from(&first.host.target);
    second.store = first.store.clone();
    second.run_id = "20261130-184512-0000beef".to_owned();
    first.life = 11;
    // Another process: where it looks, the first one is not to be seen; only its lock is.
    second.life = 12;
    let (say, waits) = channel();
    let script = first.script.clone();
    let target = first.target.clone();
    let running = std::thread::spawn(move || {
        let tell = |event: &Event| {
            if matches!(event, Event::TrialStarted { number: 2, .. }) {
                say.send(()).unwrap();
            }
        };
        let outcome = first.run_recorded(&mut [&mut Each(tell)]);
        (first, outcome)
    });
    waits.recv().unwrap();
    let mut recorder = Recorder::default();
    let outcome = second.run_recorded(&mut [&mut recorder]);
    assert_eq!(outcome.end, RunEnd::Complete, "{:?}", outcome.error);
    let notes = recorder
        .0
        .iter()
        .filter(|e| matches!(e, Event::Note { .. }));
    assert_eq!(notes.count(), 0);
    assert_eq!(crate::rig::names_in(&target), [".fathom-4f1c9a3e"]);
    script.release();
    let (first, outcome) = running.join().unwrap();
    assert_eq!(outcome.end, RunEnd::Complete, "{:?}", outcome.error);
    assert_eq!(
        outcome.counts.trials, 3,
        "one of them was given up by its test"
    );
    assert_eq!(first.left_in_target(), [""; 0]);
    let names = first.store.names().unwrap();
    let names: Vec<&str> = names.iter().map(fathom_store::ResultName::as_str).collect();
    assert_eq!(names, ["2026-11-30-scripted", "2026-11-30-scripted-2"]);
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next_one_on_the_target() {
    let mut rig = Rig::new(&["a"], |script| {
        script.case("a", CaseScript::values(&[1.0]))
    });
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let die = |event: &Event| {
            if matches!(event, Event::TrialStarted { number: 2, .. }) {
                panic!("killed");
            }
        };
        rig.run_recorded(&mut [&mut Each(die)])
    }));
    assert!(died.is_err());
    assert_eq!(rig.left_in_target(), [".fathom-4f1c9a3e"]);
    // As long as the process lives, nothing is touched, although it holds no lock any more.
    rig.run_id = "20261130-184512-00000002".to_owned();
    rig.run_recorded(&mut []);
    assert_eq!(rig.left_in_target(), [".fathom-4f1c9a3e"]);
    rig.run_id = "20261130-184512-00000003".to_owned();
    rig.life += 1;
    let mut recorder = Recorder::default();
    rig.run_recorded(&mut [&mut recorder]);
    assert_eq!(rig.left_in_target(), [""; 0]);
    let said = recorder.0.iter().any(|event| {
        matches!(event, Event::Note { text }
            if text.contains("run 20261130-184512-4f1c9a3e left behind"))
    });
    assert!(said);
}

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fathom_base::Nanos;
use fathom_model::{Drive, Event, ResultBuilder, RunEnd, Status};
use fathom_runner::{ResumeOptions, RunError};
use fathom_store::{ResultName, StoreError};
use fathom_testkit::{Act, CaseScript};

use crate::rig::{At, Each, Recorder, Rig, keeper, label, trials_of};

/// Four cases: one known soon, one wild, one that fails now and then, one not available; one of
/// them in a group of its own.
pub fn rig() -> Rig {
    Rig::new(&["a", "b", "c", "d"], |script| {
        let alone = CaseScript {
            estimate: fathom_model::Estimate {
                exclusive: true,
                ..fathom_model::Estimate::default()
            },
            ..CaseScript::acts([Act::Value(5.0), Act::Fail("now and then"), Act::Value(5.1)])
        };
        let absent = CaseScript {
            unmet: vec![fathom_model::Unmet {
                what: "no such drive".to_owned(),
                hint: String::new(),
            }],
            ..CaseScript::values(&[1.0])
        };
        script
            .case("a", CaseScript::values(&[100.0, 100.1, 99.9]))
            .case("b", CaseScript::values(&[1.0, 30.0, 7.0, 50.0, 3.0]))
            .case("c", alone)
            .case("d", absent)
    })
    .set("max-trials", "6")
}

fn name() -> ResultName {
    ResultName::new("2026-11-30-scripted").unwrap()
}

/// Trials in the order they were started.
fn started(rig: &Rig, events: &[Event]) -> Vec<String> {
    let plan = rig.plan();
    let all = events.iter().filter_map(|event| match event {
        Event::TrialStarted { case, number } => Some(format!("{}{number}", label(&plan, case))),
        _ => None,
    });
    all.collect()
}

#[test]
fn a_run_that_ends_is_saved_whole_and_its_journal_goes() {
    let rig = rig();
    let outcome = rig.run_recorded(&mut []);
    assert_eq!(outcome.end, RunEnd::Complete);
    assert_eq!(outcome.saved_as, Some(name()));
    assert_eq!(rig.store.load(&name()).unwrap(), outcome.result.unwrap());
    assert_eq!(rig.journals(), [""; 0]);
    assert!(matches!(
        rig.store.unfinished(None),
        Err(StoreError::NothingUnfinished)
    ));
}

/// Power cut after every event: the journal ends there, nothing is cleaned up, the process is
/// gone. The run then goes on in another process.
#[test]
fn a_power_cut_after_any_event_loses_no_trial_and_no_case() {
    let whole_rig = rig();
    let mut whole_events = Recorder::default();
    let whole = whole_rig.run_recorded(&mut [&mut whole_events]);
    let whole = whole.result.unwrap();
    let order = started(&whole_rig, &whole_events.0);
    let total = whole_events.0.len();
    assert!(total > 30, "{total}");
    for cut in 0..total {
        let mut rig = rig();
        let mut before = Recorder::default();
        let died = catch_unwind(AssertUnwindSafe(|| {
            let mut power = At::new(cut, |_| panic!("power cut"));
            rig.run_recorded(&mut [&mut before, &mut power])
        }));
        assert!(died.is_err(), "cut {cut}");
        assert_eq!(before.0.len(), cut + 1);
        // A new process, some time later.
        rig.life += 1;
        rig.clock.advance(Nanos::from_secs(86_400));
        let mut after = Recorder::default();
        let outcome = rig.resume(&mut [&mut after]).unwrap();
        let context = format!("cut {cut} after {:?}", before.0.last());
        assert_eq!(
            outcome.end,
            RunEnd::Complete,
            "{context}: {:?}",
            outcome.error
        );
        let result = outcome.result.unwrap();
        // Every trial of the journal, unchanged, and the same as without the cut.
        let journalled = ResultBuilder::replay(&before.0).build().unwrap();
        let all: BTreeSet<_> = trials_of(&result).into_iter().collect();
        assert!(
            trials_of(&journalled)
                .iter()
                .all(|trial| all.contains(trial)),
            "{context}"
        );
        assert_eq!(trials_of(&result), trials_of(&whole), "{context}");
        assert_eq!(result.cases, whole.cases, "{context}");
        let stops = |file: &fathom_model::ResultFile| -> Vec<_> {
            file.runs
                .iter()
                .map(|run| (run.stop, run.unavailable.clone()))
                .collect()
        };
        assert_eq!(stops(&result), stops(&whole), "{context}");
        assert_eq!(result.status, Status::Complete);
        // In the order it would have been; at most the trial that was cut is started twice.
        let mut both = started(&rig, &before.0);
        let again = started(&rig, &after.0);
        if both.last() == again.first() && !again.is_empty() {
            both.pop();
        }
        both.extend(again);
        assert_eq!(both, order, "{context}");
        assert_eq!(rig.left_in_target(), [""; 0], "{context}");
        assert_eq!(rig.journals(), [""; 0], "{context}");
        assert_eq!(rig.store.load(&outcome.saved_as.unwrap()).unwrap(), result);
    }
}

#[test]
fn a_run_killed_before_its_first_event_leaves_nothing_to_go_on_with() {
    let rig = rig();
    drop(rig.store.start_journal(&rig.run_id, "0.1.0").unwrap());
    assert!(matches!(
        rig.resume(&mut []),
        Err(RunError::NotBegun { .. })
    ));
    assert_eq!(rig.journals().len(), 1);
    let mut other = self::rig();
    other.store = rig.store.clone();
    other.run_id = "20261130-184512-00000001".to_owned();
    other.run_recorded(&mut []);
    assert_eq!(rig.journals(), [""; 0], "the next run clears it away");
}

#[test]
fn a_stopped_run_is_saved_as_it_is_and_replaced_when_it_is_whole() {
    let mut rig = rig();
    let control = rig.control.clone();
    let mut stop = At::new(20, |_| {
        control.cancel.cancel();
        Ok(())
    });
    let outcome = rig.run_recorded(&mut [&mut stop]);
    assert_eq!(outcome.end, RunEnd::Cancelled);
    assert_eq!(outcome.saved_as, Some(name()));
    let partial = rig.store.load(&name()).unwrap();
    assert_eq!(partial.status, Status::Partial);
    let info = rig.store.unfinished(Some("2026-11-30-scripted")).unwrap();
    assert_eq!(info.run_id, rig.run_id);
    assert_eq!((info.end, info.is_live), (Some(RunEnd::Cancelled), false));
    rig.control = fathom_runner::Control::default();
    let outcome = rig.resume(&mut []).unwrap();
    assert_eq!(outcome.saved_as, Some(name()));
    let whole = rig.store.load(&name()).unwrap();
    assert_eq!(whole.status, Status::Complete);
    assert!(trials_of(&whole).len() > trials_of(&partial).len());
    // What was saved in between can be had back.
    rig.store.undo(&name()).unwrap();
    assert_eq!(rig.store.load(&name()).unwrap(), partial);
}

#[test]
fn a_run_stopped_before_its_first_trial_saves_nothing() {
    let rig = rig();
    let control = rig.control.clone();
    let mut stop = At::new(1, |_| {
        control.cancel.cancel();
        Ok(())
    });
    let outcome = rig.run_recorded(&mut [&mut stop]);
    assert_eq!((outcome.end, outcome.saved_as), (RunEnd::Cancelled, None));
    assert_eq!(rig.store.names().unwrap(), []);
    assert_eq!(rig.journals(), [""; 0], "there is nothing to go on with");
}

#[test]
fn a_name_that_was_taken_meanwhile_is_not_overwritten() {
    let rig = rig();
    let foreign = fathom_model::ResultFile::new("not ours", fathom_model::Generator::default());
    let store = rig.store.clone();
    let mut meanwhile = At::new(5, |_| {
        store.save_new(&name(), &foreign).unwrap();
        Ok(())
    });
    let outcome = rig.run_recorded(&mut [&mut meanwhile]);
    assert_eq!(outcome.saved_as.unwrap().as_str(), "2026-11-30-scripted-2");
    assert_eq!(rig.store.load(&name()).unwrap(), foreign);
}

#[test]
fn a_run_that_was_only_not_saved_is_saved() {
    let mut rig = rig();
    let results = rig.store.directory().join("results");
    std::fs::create_dir_all(rig.store.directory()).unwrap();
    std::fs::write(&results, "a file in the way").unwrap();
    let outcome = rig.run_recorded(&mut []);
    assert_eq!((outcome.end, &outcome.saved_as), (RunEnd::Complete, &None));
    let text = outcome.error.unwrap().to_string();
    assert!(text.contains(&results.display().to_string()), "{text}");
    std::fs::remove_file(&results).unwrap();
    rig.life += 1;
    let again = rig.resume(&mut []).unwrap();
    assert_eq!(again.saved_as, Some(name()));
    assert_eq!(again.result, outcome.result, "nothing was measured again");
    assert_eq!(rig.journals(), [""; 0]);
}

/// A run stopped after some trials, ready to go on.
fn stopped() -> Rig {
    let mut rig = rig();
    let control = rig.control.clone();
    let mut stop = At::new(20, |_| {
        control.cancel.cancel();
        Ok(())
    });
    rig.run_recorded(&mut [&mut stop]);
    rig.control = fathom_runner::Control::default();
    rig.life += 1;
    rig
}

#[test]
fn another_drive_or_machine_is_refused_with_what_differs() {
    let refused = |change: &dyn Fn(&mut Rig)| {
        let mut rig = stopped();
        change(&mut rig);
        let journal = rig.store.read_journal(&rig.run_id).unwrap();
        let Err(error @ RunError::TargetChanged { .. }) = rig.resume(&mut []) else {
            panic!("it went on")
        };
        let unchanged = rig.store.read_journal(&rig.run_id).unwrap();
        assert_eq!(journal, unchanged, "nothing was recorded");
        error.to_string()
    };
    let text = refused(&|rig| {
        let drive = Drive {
            name: "sda".to_owned(),
            model: Some("Other SSD".to_owned()),
            serial_hash: Some("0123456789ab".to_owned()),
            ..Drive::default()
        };
        rig.system.target.as_mut().unwrap().drives = vec![drive];
    });
    assert!(
        text.contains("what holds the target was \"/dev/sda1\" and is \"Other SSD 0123456789ab\""),
        "{text}"
    );
    let text = refused(&|rig| {
        let target = rig.system.target.as_mut().unwrap();
        target.mount.as_mut().unwrap().file_system = "xfs".to_owned();
    });
    assert!(
        text.contains("the file system was \"ext4\" and is \"xfs\""),
        "{text}"
    );
}

#[test]
fn a_condition_that_changed_is_said() {
    let mut rig = stopped();
    let target = rig.system.target.as_mut().unwrap();
    target.mount.as_mut().unwrap().options = vec!["noatime".to_owned()];
    let mut recorder = Recorder::default();
    rig.resume(&mut [&mut recorder]).unwrap();
    let has_note = recorder.0.iter().any(|event| {
        matches!(event, Event::Note { text }
            if text.contains("mount options") && text.contains("noatime"))
    });
    assert!(
        !has_note,
        "options were not recorded before, so nothing changed"
    );
    let mut rig = stopped();
    rig.system.software = vec![fathom_model::Field::new("Kernel", "7.0")];
    assert!(
        rig.resume(&mut []).is_ok(),
        "only told when it was known before"
    );
}

#[test]
fn a_case_whose_test_changed_keeps_its_trials_and_gets_no_more() {
    let mut rig = stopped();
    let before = rig.store.load(&name()).unwrap();
    rig.script = rig.script.clone().version("1.1");
    let outcome = rig.resume(&mut []).unwrap();
    let result = outcome.result.unwrap();
    assert_eq!(trials_of(&result), trials_of(&before));
    let wild = &result.runs[1];
    assert_eq!(
        wild.unavailable.as_deref(),
        Some("it was begun with version 1.0 of test scripted, this is version 1.1")
    );
    let done = &result.runs[0];
    assert_eq!(done.unavailable, None, "what was done is not touched");
    assert!(result.results[1].entries[0].value.is_some());
}

#[test]
fn a_run_another_process_is_at_is_left_to_it() {
    let rig = rig();
    let mut busy = false;
    let other = rig.store.clone();
    let run_id = rig.run_id.clone();
    let mut look = At::new(10, |_| {
        busy = matches!(
            other.unfinished(Some(&run_id)),
            Err(StoreError::Busy { .. })
        ) && matches!(other.unfinished(None), Err(StoreError::NothingUnfinished))
            && matches!(
                other.continue_journal(&run_id),
                Err(StoreError::Busy { .. })
            );
        Ok(())
    });
    rig.run_recorded(&mut [&mut look]);
    assert!(busy);
}

#[test]
fn a_damaged_journal_is_refused_and_goes_on_when_salvaged() {
    let rig = stopped();
    let path = rig
        .store
        .directory()
        .join("runs")
        .join(&rig.run_id)
        .join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The head of the journal is line 1; the 15th event is damaged.
    let mut damaged: Vec<&str> = lines.clone();
    damaged[15] = "{\"event\":\"trial-finis\0\0\0";
    std::fs::write(&path, damaged.join("\n") + "\n").unwrap();
    let Err(RunError::Store(
        error @ StoreError::Damaged {
            line: 16, kept: 14, ..
        },
    )) = rig.resume(&mut [])
    else {
        panic!("it went on")
    };
    assert!(error.to_string().contains("--salvage"), "{error}");
    let options = ResumeOptions { salvage: true };
    let outcome = rig
        .runner()
        .resume(
            &rig.run_id,
            &rig.system,
            options,
            &keeper(&rig.store),
            &mut [],
        )
        .unwrap();
    assert_eq!(outcome.end, RunEnd::Complete);
    let whole = self::rig().run_recorded(&mut []).result.unwrap();
    assert_eq!(trials_of(&outcome.result.unwrap()), trials_of(&whole));
}

#[test]
fn the_time_a_run_has_used_counts_after_it_is_resumed() {
    let rig = || {
        Rig::new(&["a"], |script| {
            script.case("a", CaseScript::values(&[1.0, 50.0, 3.0]))
        })
        .set("budget", "20s")
    };
    let whole = rig().run_recorded(&mut []).result.unwrap();
    assert_eq!(whole.runs[0].trials.len(), 19);
    let mut rig = rig();
    let control = rig.control.clone();
    let plan = rig.plan();
    let stop = |event: &Event| {
        if let Event::TrialStarted { case, number: 11 } = event
            && label(&plan, case) == "a"
        {
            control.cancel.cancel();
        }
    };
    rig.run_recorded(&mut [&mut Each(stop)]);
    rig.control = fathom_runner::Control::default();
    rig.clock.advance(Nanos::from_secs(100_000));
    let resumed = rig.resume(&mut []).unwrap().result.unwrap();
    // The preparation, half a second, is done a second time and counts once.
    assert_eq!(resumed.runs[0].trials.len(), 19);
}

#[test]
fn a_run_is_added_to_a_saved_result_or_saved_alone_where_it_does_not_fit() {
    let other = ResultName::new("others").unwrap();
    let run = |merge: &'static fathom_runner::Merge, is_there: bool| {
        let rig = rig();
        let foreign = fathom_model::ResultFile::new("others", fathom_model::Generator::default());
        if is_there {
            rig.store.save_new(&other, &foreign).unwrap();
        }
        let mut plan = rig.plan();
        plan.header.add_to = Some("others".to_owned());
        let keeper = fathom_runner::Keeper {
            store: &rig.store,
            merge,
        };
        let outcome = rig.runner().run_recorded(&plan, &keeper, &mut []).unwrap();
        assert_eq!(rig.journals(), [""; 0]);
        (rig, outcome)
    };
    let (rig, outcome) = run(
        &|saved, added| {
            let mut merged = saved.clone();
            merged.systems.extend(added.systems.iter().cloned());
            Ok(merged)
        },
        true,
    );
    assert_eq!(outcome.saved_as, Some(other.clone()));
    assert_eq!(rig.store.load(&other).unwrap().systems.len(), 1);
    assert_eq!(rig.store.undo_count(&other).unwrap(), 1);
    let refuse: &fathom_runner::Merge = &|_, _| {
        Err(fathom_model::ModelError::DifferentMachines {
            system: "a disk".to_owned(),
            difference: "the drive".to_owned(),
        })
    };
    let (rig, outcome) = run(refuse, true);
    assert_eq!(outcome.saved_as, Some(name()));
    assert_eq!(rig.store.load(&other).unwrap().systems.len(), 0);
    // The result it was to be added to is gone: it is saved alone.
    let (_, outcome) = run(refuse, false);
    assert_eq!(outcome.saved_as, Some(name()));
}

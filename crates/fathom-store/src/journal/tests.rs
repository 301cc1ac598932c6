use fathom_model::{StopReason, System};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const RUN: &str = "20261130-184512-4f1c9a3e";

fn store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path());
    (directory, store)
}

fn started() -> Event {
    Event::RunStarted(Box::new(RunHeader {
        run_id: RUN.to_owned(),
        name: "2026-11-30-quick".to_owned(),
        title: "Quick".to_owned(),
        description: String::new(),
        add_to: None,
        version: "0.1.0".to_owned(),
        started: WallTime::from_unix_ms(1000),
        seed: u64::MAX,
        target: "/t".to_owned(),
        scratch: "/t/.fathom-4f1c9a3e".to_owned(),
        system: Box::new(System::default()),
        cases: Vec::new(),
        goal_percent: 2.0,
        min_trials: 3,
        max_trials: 30,
        case_budget: None,
        run_budget: None,
        write_limit: None,
        trial_limit: None,
    }))
}

fn note(text: &str) -> Event {
    Event::Note {
        text: text.to_owned(),
    }
}

fn path(store: &Store) -> PathBuf {
    store.directory().join(RUNS).join(RUN).join(JOURNAL)
}

/// A journal with these events, closed.
fn written(store: &Store, events: &[Event]) {
    let mut journal = store.start_journal(RUN, "0.1.0").unwrap();
    for event in events {
        journal.event(event).unwrap();
    }
}

#[test]
fn what_is_recorded_is_read_again_without_progress() {
    let (_directory, store) = store();
    let stopped = Event::CaseStopped {
        case: fathom_model::CaseId("c".to_owned()),
        reason: StopReason::Failing,
    };
    let progress = Event::Progress {
        case: fathom_model::CaseId("c".to_owned()),
        progress: fathom_model::Progress::default(),
    };
    written(
        &store,
        &[started(), progress, note("a\nb"), stopped.clone()],
    );
    let replay = store.read_journal(RUN).unwrap();
    assert_eq!(replay.events, [started(), note("a\nb"), stopped]);
    assert_eq!((replay.is_torn, &replay.damage), (false, &None));
    assert_eq!(replay.header().unwrap().seed, u64::MAX);
    let lines = std::fs::read_to_string(path(&store)).unwrap();
    assert!(lines.starts_with("{\"fathom_journal\":1,"), "{lines}");
    assert_eq!(lines.lines().count(), 4);
}

#[test]
fn a_line_torn_at_any_byte_is_ignored_and_cut_off_before_going_on() {
    let (_directory, store) = store();
    written(
        &store,
        &[
            started(),
            note("kept"),
            note("the last one, with é and \"quotes\""),
        ],
    );
    let whole = std::fs::read(path(&store)).unwrap();
    let last_line = whole[..whole.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap()
        + 1;
    for end in last_line..whole.len() {
        for filling in [&b""[..], b"\0\0\0\0", b"\xff"] {
            let torn = [&whole[..end], filling].concat();
            std::fs::write(path(&store), &torn).unwrap();
            let replay = store.read_journal(RUN).unwrap();
            assert_eq!(replay.events, [started(), note("kept")], "cut at {end}");
            assert_eq!(replay.is_torn, torn.len() > last_line);
            assert_eq!(replay.damage, None);
        }
    }
    let (mut journal, replay) = store.continue_journal(RUN).unwrap();
    assert_eq!(replay.events.len(), 2);
    journal.event(&note("after")).unwrap();
    drop(journal);
    let replay = store.read_journal(RUN).unwrap();
    assert_eq!(replay.events, [started(), note("kept"), note("after")]);
}

#[test]
fn a_damaged_line_is_named_and_what_was_before_it_is_kept() {
    let (_directory, store) = store();
    written(
        &store,
        &[started(), note("one"), note("two"), note("three")],
    );
    let text = std::fs::read_to_string(path(&store)).unwrap();
    let damaged = text.replace(
        "{\"event\":\"note\",\"text\":\"two\"}",
        "{\"event\":\"nope\"}",
    );
    std::fs::write(path(&store), &damaged).unwrap();
    let error = store.continue_journal(RUN).unwrap_err();
    assert!(
        matches!(
            error,
            StoreError::Damaged {
                line: 4,
                kept: 2,
                ..
            }
        ),
        "{error:?}"
    );
    let said = error.to_string();
    assert!(
        said.contains("journal.jsonl, line 4: \"{\"event\":\"nope\"}\" is not an event"),
        "{said}"
    );
    assert_eq!(
        std::fs::read_to_string(path(&store)).unwrap(),
        damaged,
        "nothing is touched"
    );
    let info = &store.runs().unwrap()[0];
    assert!(
        info.error.as_deref().unwrap().starts_with("line 4"),
        "{info:?}"
    );
    assert_eq!(store.salvage(RUN).unwrap(), 2);
    let (_journal, replay) = store.continue_journal(RUN).unwrap();
    assert_eq!(replay.events, [started(), note("one")]);
    let copy = path(&store).with_file_name(DAMAGED);
    assert_eq!(std::fs::read_to_string(copy).unwrap(), damaged);
}

#[test]
fn a_newer_journal_is_refused_and_left() {
    let (_directory, store) = store();
    written(&store, &[started()]);
    let text = std::fs::read_to_string(path(&store)).unwrap();
    let newer = text.replace("\"fathom_journal\":1", "\"fathom_journal\":7");
    std::fs::write(path(&store), &newer).unwrap();
    let error = store.continue_journal(RUN).unwrap_err();
    assert!(
        matches!(error, StoreError::NewerJournal { found: 7, .. }),
        "{error}"
    );
    assert!(
        store.runs().unwrap()[0]
            .error
            .as_deref()
            .unwrap()
            .contains("newer version")
    );
    store.sweep_runs().unwrap();
    assert_eq!(std::fs::read_to_string(path(&store)).unwrap(), newer);
}

#[test]
fn a_first_line_that_is_not_ours_is_damage_at_line_1() {
    let (_directory, store) = store();
    written(&store, &[started()]);
    for first in ["nonsense\n", "{}\n", "{\"fathom_journal\":\"x\"}\n"] {
        std::fs::write(path(&store), first).unwrap();
        let replay = store.read_journal(RUN).unwrap();
        assert_eq!(replay.damage.unwrap().line, 1, "{first}");
        assert_eq!(replay.events, []);
    }
}

#[test]
fn only_one_process_writes_a_journal() {
    let (_directory, store) = store();
    let mut journal = store.start_journal(RUN, "0.1.0").unwrap();
    journal.event(&started()).unwrap();
    // Half of a line that is being written must not be cut off by somebody who looks.
    let again = store.continue_journal(RUN).unwrap_err();
    assert!(matches!(again, StoreError::Busy { .. }));
    let again = store.start_journal(RUN, "0.1.0").unwrap_err();
    assert!(matches!(again, StoreError::Busy { .. }));
    assert!(store.runs().unwrap()[0].is_live);
    assert!(matches!(store.salvage(RUN), Err(StoreError::Busy { .. })));
    journal.event(&note("still here")).unwrap();
    drop(journal);
    assert!(!store.runs().unwrap()[0].is_live);
    assert_eq!(store.continue_journal(RUN).unwrap().1.events.len(), 2);
}

#[test]
fn a_discarded_journal_is_gone() {
    let (_directory, store) = store();
    let journal = store.start_journal(RUN, "0.1.0").unwrap();
    journal.discard().unwrap();
    assert_eq!(store.runs().unwrap(), []);
    assert!(matches!(
        store.read_journal(RUN),
        Err(StoreError::NoRun { .. })
    ));
    assert!(!path(&store).parent().unwrap().exists());
}

#[test]
fn runs_that_never_began_are_swept_and_others_are_not() {
    let (_directory, store) = store();
    let runs = store.directory().join(RUNS);
    // Killed right after making the directory, after the lock, after half of the head.
    std::fs::create_dir_all(runs.join("empty")).unwrap();
    std::fs::create_dir_all(runs.join("locked")).unwrap();
    std::fs::write(runs.join("locked").join(LOCK), "").unwrap();
    std::fs::create_dir_all(runs.join("half")).unwrap();
    std::fs::write(runs.join("half").join(JOURNAL), "{\"fathom_jou").unwrap();
    written(&store, &[started()]);
    let living = store.start_journal("living", "0.1.0").unwrap();
    store.sweep_runs().unwrap();
    let mut left: Vec<String> = std::fs::read_dir(&runs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [RUN, "living"]);
    drop(living);
}

#[test]
fn the_run_to_go_on_with_is_found_by_name_by_id_or_as_the_newest() {
    let (_directory, store) = store();
    assert!(matches!(
        store.unfinished(None),
        Err(StoreError::NothingUnfinished)
    ));
    written(&store, &[started()]);
    let mut later = store
        .start_journal("20261201-000000-00000001", "0.1.0")
        .unwrap();
    let Event::RunStarted(mut header) = started() else {
        unreachable!()
    };
    header.name = "other".to_owned();
    header.started = WallTime::from_unix_ms(2000);
    later.event(&Event::RunStarted(header)).unwrap();
    let found = |which: Option<&str>| store.unfinished(which).map(|run| run.name);
    assert_eq!(
        found(None).unwrap(),
        "2026-11-30-quick",
        "the newer one is alive"
    );
    drop(later);
    assert_eq!(found(None).unwrap(), "other");
    assert_eq!(found(Some("latest")).unwrap(), "other");
    assert_eq!(found(Some("2026-11-30-quick")).unwrap(), "2026-11-30-quick");
    assert_eq!(found(Some(RUN)).unwrap(), "2026-11-30-quick");
    assert!(matches!(
        found(Some("nothing")),
        Err(StoreError::NoRun { .. })
    ));
    store.discard_run(RUN).unwrap();
    assert!(matches!(found(Some(RUN)), Err(StoreError::NoRun { .. })));
    assert!(matches!(
        store.discard_run(RUN),
        Err(StoreError::NoRun { .. })
    ));
    // Names that are only promised are not given away.
    let name = crate::ResultName::new("other").unwrap();
    assert_eq!(store.fresh_name(&name).unwrap().as_str(), "other-2");
}

#[test]
fn an_id_is_never_a_path() {
    let (_directory, store) = store();
    for id in ["..", "a/b", "", ".", "/etc", "a.b", &"x".repeat(101)] {
        assert!(
            matches!(store.read_journal(id), Err(StoreError::NoRun { .. })),
            "{id}"
        );
        assert!(
            matches!(store.start_journal(id, ""), Err(StoreError::NoRun { .. })),
            "{id}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), lines in "[{}\":a-z,\n0-9]{0,200}") {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().join("journal");
        std::fs::write(&at, &bytes).unwrap();
        let _ = read(&at);
        std::fs::write(&at, format!("{{\"fathom_journal\":1}}\n{lines}")).unwrap();
        let replay = read(&at).unwrap();
        prop_assert!(replay.events.is_empty());
    }
}

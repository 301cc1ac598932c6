use fathom_base::WallTime;
use fathom_model::{Case, CaseId, Generator, Run, System, Trial};
use tempfile::TempDir;

use super::*;

fn store() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(&directory.path().join("data"));
    (directory, store)
}

fn name(text: &str) -> ResultName {
    ResultName::new(text).unwrap()
}

/// A result with a trial that began at `at`, if there is one.
fn result(title: &str, at: Option<i64>) -> ResultFile {
    let mut file = ResultFile::new(title, Generator::default());
    file.modified = Some(WallTime::from_unix_ms(500));
    let system = System {
        identifier: "a disk".to_owned(),
        ..System::default()
    };
    file.systems.push(system);
    let trials = at.into_iter().map(|at| Trial {
        id: format!("run/case/{at}"),
        number: 1,
        started: WallTime::from_unix_ms(at),
        ..Trial::default()
    });
    file.runs.push(Run {
        case: CaseId("c".to_owned()),
        system: "a disk".to_owned(),
        trials: trials.collect(),
        ..Run::default()
    });
    file
}

#[test]
fn what_is_saved_is_loaded_and_nothing_is_overwritten() {
    let (_directory, store) = store();
    assert_eq!(store.names().unwrap(), []);
    assert!(!store.directory().exists(), "looking makes nothing");
    let first = result("first", None);
    assert_eq!(store.save_new(&name("x"), &first).unwrap(), name("x"));
    let second = result("second", None);
    assert_eq!(store.save_new(&name("x"), &second).unwrap(), name("x-2"));
    assert_eq!(store.save_new(&name("x"), &second).unwrap(), name("x-3"));
    assert_eq!(store.load(&name("x")).unwrap(), first);
    assert_eq!(store.load(&name("x-2")).unwrap(), second);
    assert_eq!(
        store.names().unwrap(),
        [name("x"), name("x-2"), name("x-3")]
    );
    let taken = store.save_as(&name("x"), &second).unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }), "{taken}");
    assert_eq!(store.load(&name("x")).unwrap(), first);
}

#[test]
fn many_savers_at_once_get_names_of_their_own() {
    let (_directory, store) = store();
    let names: Vec<ResultName> = std::thread::scope(|scope| {
        let save = |number: usize| {
            let store = &store;
            move || {
                let file = result(&number.to_string(), None);
                let name = store.save_new(&name("x"), &file).unwrap();
                assert_eq!(store.load(&name).unwrap().title, number.to_string());
                name
            }
        };
        let savers: Vec<_> = (0..8).map(|number| scope.spawn(save(number))).collect();
        savers
            .into_iter()
            .map(|saver| saver.join().unwrap())
            .collect()
    });
    let distinct: BTreeSet<ResultName> = names.into_iter().collect();
    assert_eq!(distinct.len(), 8);
}

#[test]
fn latest_is_what_was_measured_last_not_what_was_edited_last() {
    let (_directory, store) = store();
    let none = store.latest().unwrap_err();
    assert!(matches!(none, StoreError::Empty { .. }), "{none}");
    store
        .save_new(&name("new"), &result("", Some(2000)))
        .unwrap();
    store
        .save_new(&name("old"), &result("", Some(1000)))
        .unwrap();
    store
        .save_new(&name("imported"), &result("", None))
        .unwrap();
    assert_eq!(store.latest().unwrap(), name("new"));
    let mut edited = result("edited", Some(1000));
    edited.modified = Some(WallTime::from_unix_ms(9000));
    store.save_with_history(&name("old"), &edited).unwrap();
    assert_eq!(store.resolve("latest").unwrap(), name("new"));
}

#[test]
fn a_name_that_is_not_there_gets_the_nearest() {
    let (_directory, store) = store();
    store
        .save_new(&name("2026-11-30-quick"), &result("", None))
        .unwrap();
    let text = store.resolve("2026-11-30-quik").unwrap_err().to_string();
    assert_eq!(
        text,
        "there is no saved result named 2026-11-30-quik; did you mean 2026-11-30-quick?"
    );
    let text = store.load(&name("nothing")).unwrap_err().to_string();
    assert_eq!(text, "there is no saved result named nothing");
    assert!(store.resolve("../../etc/passwd").is_err());
}

#[test]
fn files_that_are_no_results_are_not_seen() {
    let (_directory, store) = store();
    store.save_new(&name("a"), &result("", None)).unwrap();
    let results = store.results();
    for other in [
        "b.txt",
        ".c.json",
        ".a.json.1.0.tmp",
        "with space.json",
        "latest.json",
    ] {
        fs::write(results.join(other), "x").unwrap();
    }
    assert_eq!(store.names().unwrap(), [name("a")]);
}

#[test]
fn corrupt_and_newer_files_are_errors_that_name_the_file() {
    let (_directory, store) = store();
    store.save_new(&name("a"), &result("", None)).unwrap();
    let path = store.path(&name("a"));
    let check = |bytes: &str, parts: &[&str]| {
        fs::write(&path, bytes).unwrap();
        let text = store.load(&name("a")).unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.contains("a.json"), "{text}");
    };
    check("{\"fathom_result\": 1,\n \"title\": 3}", &["line 2"]);
    check("{\"fathom_result\": 2}", &["newer"]);
    check("", &["line 1"]);
    // A file cut anywhere is an error, never a result with something missing.
    let whole = String::from_utf8(encode(&name("a"), &result("t", Some(1))).unwrap()).unwrap();
    for end in 0..whole.trim_end().len() {
        fs::write(&path, &whole[..end]).unwrap();
        assert!(store.load(&name("a")).is_err(), "cut at {end}");
    }
}

#[test]
fn every_edit_can_be_undone_and_so_can_deleting() {
    let (_directory, store) = store();
    let a = name("a");
    let versions: Vec<ResultFile> = (0..4).map(|n| result(&n.to_string(), None)).collect();
    let missing = store.save_with_history(&a, &versions[0]).unwrap_err();
    assert!(matches!(missing, StoreError::Unknown { .. }));
    store.save_new(&a, &versions[0]).unwrap();
    for version in &versions[1..] {
        store.save_with_history(&a, version).unwrap();
    }
    store.delete(&a).unwrap();
    assert!(!store.has(&a));
    assert_eq!(store.undo_count(&a).unwrap(), 4);
    for version in versions.iter().rev() {
        store.undo(&a).unwrap();
        assert_eq!(store.load(&a).unwrap(), *version);
    }
    let none = store.undo(&a).unwrap_err();
    assert!(matches!(none, StoreError::NoHistory { .. }), "{none}");
}

#[test]
fn the_history_is_limited_and_goes_with_the_name() {
    let (_directory, store) = store();
    store.save_new(&name("a"), &result("0", None)).unwrap();
    for number in 1..=25 {
        store
            .save_with_history(&name("a"), &result(&number.to_string(), None))
            .unwrap();
    }
    assert_eq!(store.undo_count(&name("a")).unwrap(), 20);
    store.rename(&name("a"), &name("b")).unwrap();
    assert!(!store.has(&name("a")));
    store.undo(&name("b")).unwrap();
    assert_eq!(store.load(&name("b")).unwrap().title, "24");
    store.save_new(&name("c"), &result("", None)).unwrap();
    let taken = store.rename(&name("b"), &name("c")).unwrap_err();
    assert!(matches!(taken, StoreError::Taken { .. }));
    assert!(store.rename(&name("gone"), &name("d")).is_err());
}

#[test]
fn a_case_with_strange_content_survives() {
    let (_directory, store) = store();
    let mut file = result("\u{0}\"\\ \u{1F600}", Some(1));
    let case = Case {
        id: CaseId("c".to_owned()),
        test: "io".to_owned(),
        test_version: "1".to_owned(),
        implementation: fathom_model::Implementation {
            kind: fathom_model::ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: [("b", "1"), ("a", "2")].into_iter().collect(),
        label: "l".to_owned(),
        extra: serde_json::Map::new(),
    };
    file.cases.push(case);
    store.save_new(&name("a"), &file).unwrap();
    assert_eq!(store.load(&name("a")).unwrap(), file);
}

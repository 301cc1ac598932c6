use fathom_model::{Generator, Run, Trial};

use super::*;

fn name(text: &str) -> ResultName {
    ResultName::new(text).unwrap()
}

fn result(title: &str) -> ResultFile {
    let mut file = ResultFile::new(title, Generator::default());
    let trial = |number, error: Option<&str>| Trial {
        number,
        started: WallTime::from_unix_ms(i64::from(number)),
        error: error.map(str::to_owned),
        ..Trial::default()
    };
    file.runs.push(Run {
        trials: vec![trial(1, None), trial(2, Some("x"))],
        ..Run::default()
    });
    file
}

fn filled() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::new(directory.path());
    for title in ["a", "b", "c"] {
        store.save_new(&name(title), &result(title)).unwrap();
    }
    (directory, store)
}

#[test]
fn a_list_says_what_is_in_each_result() {
    let (_directory, store) = filled();
    let list = store.list().unwrap();
    assert_eq!(list.len(), 3);
    let b = &list[1];
    assert_eq!((b.name.as_str(), b.title.as_str()), ("b", "b"));
    assert_eq!((b.trials, b.failed), (2, 1));
    assert_eq!(b.measured, Some(WallTime::from_unix_ms(2)));
    assert!(b.size_bytes > 0 && b.file_time_ns > 0);
}

#[test]
fn the_index_is_rebuilt_to_the_same_rows_whatever_happened_to_it() {
    let (_directory, store) = filled();
    let rows = store.list().unwrap();
    let index = store.directory().join(INDEX);
    let whole = std::fs::read(&index).unwrap();
    // Killed at any point while it was written in place, or filled with something else.
    let cuts = (0..whole.len()).step_by(7).map(|end| whole[..end].to_vec());
    let others = [
        b"{}".to_vec(),
        b"[1]".to_vec(),
        vec![0xff; 100],
        String::from_utf8(whole.clone())
            .unwrap()
            .replace("fathom_index\":1", "fathom_index\":9")
            .into_bytes(),
    ];
    for bytes in cuts.chain(others) {
        std::fs::write(&index, bytes).unwrap();
        assert_eq!(store.list().unwrap(), rows);
        assert_eq!(std::fs::read(&index).unwrap(), whole);
    }
    std::fs::remove_file(&index).unwrap();
    assert_eq!(store.list().unwrap(), rows);
    // An index that cannot be written costs time, not the list.
    std::fs::remove_file(&index).unwrap();
    std::fs::create_dir(&index).unwrap();
    assert_eq!(store.list().unwrap(), rows);
}

#[test]
fn the_index_saves_reading_what_has_not_changed() {
    let (_directory, store) = filled();
    store.list().unwrap();
    let index = store.directory().join(INDEX);
    let text = std::fs::read_to_string(&index).unwrap();
    std::fs::write(
        &index,
        text.replace("\"title\":\"b\"", "\"title\":\"from the index\""),
    )
    .unwrap();
    assert_eq!(store.list().unwrap()[1].title, "from the index");
}

#[test]
fn a_changed_added_or_deleted_file_is_seen() {
    let (_directory, store) = filled();
    store.list().unwrap();
    // The same size, within the same tick of the clock.
    store.save_with_history(&name("b"), &result("B")).unwrap();
    store.delete(&name("a")).unwrap();
    store.save_new(&name("d"), &result("d")).unwrap();
    let titles: Vec<String> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|row| row.title)
        .collect();
    assert_eq!(titles, ["B", "c", "d"]);
}

#[test]
fn a_broken_file_is_a_row_with_its_error() {
    let (_directory, store) = filled();
    std::fs::write(store.path(&name("b")), "{").unwrap();
    for _ in 0..2 {
        let list = store.list().unwrap();
        assert_eq!(list.len(), 3);
        let error = list[1].error.as_deref().unwrap();
        assert!(
            error.contains("b.json") && error.contains("line 1"),
            "{error}"
        );
    }
    assert_eq!(store.latest().unwrap(), name("c"));
}

use std::fs;
use std::io::Write;

use proptest::prelude::*;

use super::*;

fn begun() -> Begun {
    Begun {
        name: "mine".to_owned(),
        text: "format = 1\n".to_owned(),
        seed: 7,
        started: WallTime::from_unix_ms(1_796_064_312_000),
        version: "0.1.0".to_owned(),
    }
}

fn file(name: &str) -> Thing {
    Thing::File { path: name.into() }
}

#[test]
fn what_is_made_and_not_gone_is_outstanding_after_reading_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut journal = Journal::open(&path).unwrap();
    journal.begin(begun()).unwrap();
    let first = journal.making(file("a")).unwrap();
    let second = journal.making(file("b")).unwrap();
    journal.gone(first).unwrap();
    journal.saving("mine").unwrap();

    let again = Journal::open(&path).unwrap();
    assert_eq!(again.state, journal.state);
    assert_eq!(again.state.begun, Some(begun()));
    assert_eq!(
        again.state.outstanding.into_iter().collect::<Vec<_>>(),
        [(second, file("b"))]
    );
    assert_eq!(again.state.saving.as_deref(), Some("mine"));
}

#[test]
fn a_torn_last_line_is_cut_and_its_number_is_used_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut journal = Journal::open(&path).unwrap();
    journal.making(file("a")).unwrap();
    let whole = fs::read(&path).unwrap();
    journal.making(file("b")).unwrap();
    let both = fs::read(&path).unwrap();
    for cut in whole.len()..both.len() {
        fs::write(&path, &both[..cut]).unwrap();
        assert_eq!(read(&path).unwrap().outstanding.len(), 1, "cut at {cut}");
        let mut again = Journal::open(&path).unwrap();
        assert_eq!(again.making(file("c")).unwrap(), 2);
        assert_eq!(read(&path).unwrap(), again.state);
    }
}

#[test]
fn a_damaged_line_is_named_and_nothing_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let mut journal = Journal::open(&path).unwrap();
    journal.making(file("a")).unwrap();
    let mut raw = fs::OpenOptions::new().append(true).open(&path).unwrap();
    raw.write_all(b"{\"event\":\"made\"}\n").unwrap();
    let error = Journal::open(&path).unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        fs::write(&path, bytes).unwrap();
        let _ = read(&path);
    }
}

use super::*;

#[test]
fn an_atomic_write_replaces_the_whole_file_and_leaves_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/result.json");
    write_atomic(&path, b"old and long").unwrap();
    write_atomic(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_failed_atomic_write_keeps_the_old_content() {
    let dir = tempfile::tempdir().unwrap();
    // A directory in the way: the rename fails after the temporary file was written.
    let path = dir.path().join("taken");
    fs::create_dir(&path).unwrap();
    let error = write_atomic(&path, b"new").unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert!(path.is_dir());
    assert_eq!(
        fs::read_dir(dir.path()).unwrap().count(),
        1,
        "the temporary file is gone"
    );
}

#[test]
fn reading_stops_at_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("big");
    fs::write(&path, [b'x'; 11]).unwrap();
    assert_eq!(read_limited(&path, 11).unwrap().len(), 11);
    let error = read_limited(&path, 10).unwrap_err();
    assert!(
        matches!(
            error,
            BaseError::TooLarge {
                size: 11,
                limit: 10,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_torn_last_line_is_cut_before_appending() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    for (before, after) in [
        ("a\nb\ntor", "a\nb\nnext\n"),
        ("torn", "next\n"),
        ("a\n", "a\nnext\n"),
        ("", "next\n"),
    ] {
        fs::write(&path, before).unwrap();
        AppendLog::open(&path).unwrap().append("next").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), after);
    }
    // A torn tail longer than the block it is searched with.
    fs::write(&path, format!("a\n{}", "x".repeat(10_000))).unwrap();
    AppendLog::open(&path).unwrap().append("next").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "a\nnext\n");
}

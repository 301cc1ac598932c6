use std::path::Path;

use fathom_testkit::{Redactor, disk_directory, file_system, golden, unredacted};

#[test]
fn shapes_are_replaced_and_longer_numbers_are_not() {
    let redact = |text: &str| Redactor::new().redact(text);
    assert_eq!(
        redact("2026-11-30T18:45:12.123Z"),
        "[DATE]T18:45:12.123Z".replace("18:45:12.123", "[TIME]")
    );
    assert_eq!(redact("12026-11-300 1:02:03"), "12026-11-300 1:02:03");
    assert_eq!(redact("./.fathom-4f1c9a3e/x"), "./[SCRATCH]/x");
    assert_eq!(redact("é 2026-11-30"), "é [DATE]");
}

#[test]
fn texts_are_replaced_before_shapes() {
    let redactor = Redactor::new()
        .replace("/t/2026-11-30", "[TARGET]")
        .replace("", "never");
    assert_eq!(redactor.redact("/t/2026-11-30/a"), "[TARGET]/a");
}

#[test]
fn a_golden_file_that_is_missing_or_differs_fails_with_the_line() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        // These files are made to differ.
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.expected");
    let failure = |actual: &str| {
        let caught = std::panic::catch_unwind(|| golden(&path, actual)).unwrap_err();
        caught.downcast_ref::<String>().unwrap().clone()
    };
    assert!(failure("a\nb\n").contains("UPDATE_GOLDEN=1"));
    std::fs::write(&path, "a\nb\n").unwrap();
    golden(&path, "a\nb\n");
    assert!(
        failure("a\nc\n").contains("line 2"),
        "{}",
        failure("a\nc\n")
    );
    assert!(failure("a\nb\n\n").contains("lines"));
}

#[test]
fn what_is_of_this_machine_or_day_is_found() {
    let home = std::env::var("HOME").unwrap_or_default();
    if home.len() > 1 {
        assert!(unredacted(&format!("in {home}/x")).is_some());
    }
    let output = std::process::Command::new("date")
        .args(["-u", "+%Y-%m-%d"])
        .output();
    if let Ok(output) = output {
        let today = String::from_utf8(output.stdout).unwrap();
        assert!(unredacted(&format!("on {}", today.trim())).is_some());
    }
    assert_eq!(unredacted("on 1999-01-01"), None);
}

#[test]
fn a_disk_directory_is_not_in_memory() {
    if let Some(directory) = disk_directory() {
        let kind = file_system(directory.path()).unwrap();
        assert_ne!(kind, "tmpfs");
    }
    assert_eq!(file_system(Path::new("/proc")).as_deref(), Some("proc"));
}

use fathom_base::process::{Program, find_program, run};
use fathom_base::{Cancel, Nanos};
use fathom_model::{Test, TestError};
use fathom_testkit::{Bench, conforms, skipped};

use super::*;

const SHORT: [(&str, &str); 2] = [("rows", "10"), ("connections", "3")];

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&SqliteTest::new(), &SHORT, &mut bench);
    let trial = &trials[0];
    assert_eq!(trial.histograms["insert"].count(), 30);
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert!(durability.durable);
    assert_eq!(
        durability.policy,
        "rollback journal (delete), synchronous=full: fdatasync for every row"
    );
}

#[test]
fn a_row_costs_four_syncs() {
    let bench = Bench::new();
    let syncs = |typed: &[(&str, &str)]| {
        let trials = bench.run(&SqliteTest::new(), typed, 1).unwrap();
        let counts = trials[0].evidence.counts.clone();
        (
            counts["rows"],
            counts["file-syncs"],
            counts["directory-syncs"],
        )
    };
    // Creating the table is one transaction more.
    let (rows, files, directories) = syncs(&SHORT);
    assert_eq!((rows, directories), (30, 31));
    assert_eq!(files + directories, 4 * rows + CREATE_SYNCS);
    let two = syncs(&[("rows", "5"), ("copies", "2")]);
    assert_eq!(two.0, 30);
    assert_eq!(two.1 + two.2, 4 * 30 + 2 * CREATE_SYNCS);
    let off = syncs(&[("rows", "5"), ("synchronous", "off")]);
    assert_eq!((off.1, off.2), (0, 0));
}

/// Syncs of creating the table.
const CREATE_SYNCS: u64 = 4;

#[test]
fn page_size_and_journal_take_effect() {
    let bench = Bench::new();
    for typed in [
        vec![("variant", "3.8"), ("rows", "3")],
        vec![("page-size", "16384"), ("rows", "3")],
        vec![("journal", "wal"), ("rows", "3")],
        vec![("journal", "persist"), ("rows", "3")],
        vec![
            ("journal", "truncate"),
            ("synchronous", "normal"),
            ("rows", "3"),
        ],
        vec![("synchronous", "extra"), ("rows", "3")],
    ] {
        // The page size is verified after each trial.
        let trials = bench.run(&SqliteTest::new(), &typed, 2);
        assert!(trials.is_ok(), "{typed:?}: {trials:?}");
    }
}

#[test]
fn lost_rows_and_a_broken_file_fail_the_trial() {
    let bench = Bench::new();
    vfs::register().unwrap();
    let database = Database {
        path: bench.directory().join("broken.db"),
        settings: SqliteSettings::from_case(&Bench::case(&SqliteTest::new(), &SHORT)).unwrap(),
        statements: definition::statements(10).into(),
    };
    let cx = bench.context(1);
    let limits = database::Limits {
        cancel: cx.cancel,
        clock: cx.clock,
        deadline: cx.deadline,
        rows_done: &std::sync::atomic::AtomicU64::new(0),
    };
    database.run(&limits).unwrap();
    database.verify(30).unwrap();
    let error = database.verify(31).unwrap_err().to_string();
    assert!(
        error.starts_with("rows in the table failed: 30 instead of 31"),
        "{error}"
    );
    let mut bytes = std::fs::read(&database.path).unwrap();
    let middle = bytes.len() - 2000;
    bytes[middle..].fill(0xff);
    std::fs::write(&database.path, bytes).unwrap();
    assert!(database.verify(30).is_err());
    database.remove().unwrap();
}

#[test]
fn cancelling_stops_at_the_next_row() {
    let bench = Bench::new();
    let case = Bench::case(
        &SqliteTest::new(),
        &[("rows", "1000000"), ("synchronous", "off")],
    );
    let mut prepared = SqliteTest::new().prepare(&case, &bench.context(0)).unwrap();
    let result = std::thread::scope(|scope| {
        let cancel = &bench.cancel;
        let database = bench
            .scratch()
            .join(format!("sqlite-{}/benchmark-1.db", case.id));
        scope.spawn(move || {
            // Raised when the first rows are there.
            while std::fs::metadata(&database).map_or(0, |meta| meta.len()) < 20_000 {
                std::thread::yield_now();
            }
            cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let error = bench.run(&SqliteTest::new(), &SHORT, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn a_device_is_no_place_for_a_database() {
    let mut bench = Bench::new();
    bench.host.target.kind = fathom_model::TargetKind::BlockDevice;
    let case = Bench::case(&SqliteTest::new(), &SHORT);
    let unmet = SqliteTest::new().check(&bench.host, &case);
    assert!(unmet[0].what.ends_with("is not a directory"), "{unmet:?}");
}

/// The child that `strace` watches: one short trial, in the directory the variable names.
#[test]
#[ignore = "run by syncs_are_fdatasync_as_strace_sees_them"]
fn one_short_trial() {
    let Some(parent) = std::env::var_os("FATHOM_SQLITE_STRACE_DIRECTORY") else {
        return;
    };
    let bench = Bench::inside(std::path::Path::new(&parent));
    bench.run(&SqliteTest::new(), &SHORT, 1).unwrap();
}

#[test]
fn syncs_are_fdatasync_as_strace_sees_them() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let Some(strace) = find_program("strace", &path) else {
        skipped("strace is not installed");
        return;
    };
    let bench = Bench::new();
    let mine = std::env::current_exe().unwrap();
    let child = ["sqlite::tests::one_short_trial", "--exact", "--ignored"];
    let ours = strace_counts(&bench, &strace, mine.as_os_str(), &child, None);
    let Some(ours) = ours else {
        skipped("strace may not trace here");
        return;
    };
    assert_eq!(ours, (4 * 30 + CREATE_SYNCS, 0), "(fdatasync, fsync)");
    let Some(sqlite3) = find_program("sqlite3", &path) else {
        skipped("sqlite3 is not installed, its syncs were not compared");
        return;
    };
    let database = bench.directory().join("cli.db");
    let database = database.to_str().unwrap();
    let mut theirs = (0, 0);
    let mut feed = |text: String| {
        let counts = strace_counts(
            &bench,
            &strace,
            sqlite3.as_os_str(),
            &[database],
            Some(text),
        );
        let counts = counts.unwrap();
        theirs = (theirs.0 + counts.0, theirs.1 + counts.1);
    };
    feed(definition::CREATE_TABLE.to_owned());
    for _ in 0..3 {
        feed(definition::statements(10).join("\n"));
    }
    assert_eq!(ours, theirs, "the sqlite3 program syncs differently");
}

/// Calls of fdatasync and fsync under a directory of the bench; `None` when strace may not trace.
fn strace_counts(
    bench: &Bench,
    strace: &std::path::Path,
    program: &std::ffi::OsStr,
    args: &[&str],
    input: Option<String>,
) -> Option<(u64, u64)> {
    let log = bench.directory().join("strace.log");
    let mut command = Program::new(strace)
        .args(["-f", "-e", "trace=fdatasync,fsync", "-o"])
        .args([log.as_os_str(), program])
        .args(args);
    command.input = input.map(String::into_bytes);
    command.environment = vec![(
        "FATHOM_SQLITE_STRACE_DIRECTORY".into(),
        bench.directory().as_os_str().to_owned(),
    )];
    let finished = run(&command, &Cancel::new()).unwrap();
    let log = std::fs::read_to_string(&log).unwrap_or_default();
    if finished.stderr_text().contains("ptrace") {
        return None;
    }
    assert!(
        finished.is_success(),
        "{}{}",
        finished.stdout_text(),
        finished.stderr_text()
    );
    let count = |call: &str| log.lines().filter(|line| line.contains(call)).count() as u64;
    // A call another thread interrupts is split in two lines; only the first has its arguments.
    Some((count(" fdatasync("), count(" fsync(")))
}

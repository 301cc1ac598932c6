use fathom_testkit::{Bench, conforms, skipped};

use super::*;

fn installed() -> Option<Sqlite3Test> {
    let test = Sqlite3Test::new(&std::env::var_os("PATH").unwrap_or_default());
    if test.sqlite3().is_none() {
        skipped("sqlite3 is not installed");
        return None;
    }
    Some(test)
}

const SHORT: [(&str, &str); 2] = [("rows", "5"), ("connections", "2")];

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed() else { return };
    let trials = conforms(&test, &SHORT, &mut Bench::new());
    assert_eq!(trials[0].evidence.counts["rows"], 10);
    assert!(!trials[0].values.contains_key("insert-latency-mean"));
}

#[test]
fn variants_copies_and_journals_take_effect() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    for more in [
        ("variant", "3.8"),
        ("copies", "3"),
        ("journal", "wal"),
        ("synchronous", "off"),
    ] {
        let typed = [SHORT[0], SHORT[1], more];
        // Rows, page size and integrity are checked after each trial.
        let trials = bench.run(&test, &typed, 2);
        assert!(trials.is_ok(), "{more:?}: {trials:?}");
    }
}

#[test]
fn a_missing_program_is_a_need() {
    let test = Sqlite3Test::new(OsStr::new("/nonexistent"));
    let bench = Bench::new();
    let unmet = test.check(&bench.host, &Bench::case(&test, &SHORT));
    assert_eq!(unmet[0].what, "sqlite3 is not installed");
}

#[test]
fn what_the_program_says_is_reported() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    let case = Bench::case(&test, &SHORT);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    // Something that is no database lies where the first one will be.
    let path = bench
        .scratch()
        .join(format!("sqlite3-{}/benchmark-1.db", case.id));
    std::fs::write(&path, vec![7; 5000]).unwrap();
    let error = prepared.run_once(&bench.context(1)).unwrap_err();
    assert!(error.to_string().contains("not a database"), "{error}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn the_database_is_the_same_as_the_native_tests() {
    let Some(test) = installed() else { return };
    let native = fathom_workloads::sqlite::SqliteTest::new();
    let bench = Bench::new();
    let size = |test: &dyn Test| {
        let trial = bench.run(test, &[("rows", "400")], 1).unwrap().remove(0);
        trial.evidence.file.unwrap().size_bytes
    };
    assert_eq!(size(&test), size(&native));
}

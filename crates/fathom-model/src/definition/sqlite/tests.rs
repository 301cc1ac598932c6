use expect_test::expect;

use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> SqliteSettings {
    let info = TestInfo {
        id: ID,
        title: TITLE,
        summary: SUMMARY,
        version: VERSION.to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: options(),
    };
    let typed: Options = typed.iter().copied().collect();
    SqliteSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn the_defaults_are_the_originals() {
    let full = settings(&[]);
    assert_eq!((full.rows_per_copy(), full.rows_in_all()), (7500, 7500));
    assert_eq!(full.page_size, 4096);
    assert!(full.is_durable());
    assert_eq!(settings(&[("variant", "3.8")]).page_size, 1024);
    assert_eq!(settings(&[("copies", "16")]).rows_in_all(), 120_000);
    assert_eq!(settings(&[("scale", "short")]).rows_per_copy(), 300);
    assert_eq!(settings(&[("scale", "short"), ("rows", "7")]).rows, 7);
}

#[test]
fn contradictions_are_named() {
    let copies = settings(&[("variant", "3.22"), ("copies", "8")]).conflicts();
    assert_eq!(copies[0].what, "variant=3.22 has one copy, not 8");
    let page = settings(&[("page-size", "1000")]).conflicts();
    assert_eq!(page[0].what, "page-size=1000 is not a power of two");
    assert_eq!(settings(&[]).conflicts(), []);
}

#[test]
fn durability_is_what_sqlite_promises() {
    let durable = |typed: &[(&str, &str)]| settings(typed).is_durable();
    assert!(!durable(&[("synchronous", "off")]));
    assert!(durable(&[("synchronous", "normal")]));
    assert!(!durable(&[("synchronous", "normal"), ("journal", "wal")]));
}

#[test]
fn values_have_the_ids_of_the_metrics() {
    let mut inserts = Histogram::new();
    inserts.record_n(4_000_000, 1500);
    let values = values(Nanos::from_secs(6), 1500, Some(&inserts));
    assert_eq!(values["seconds"].value(), 6.0);
    assert_eq!(values["rows-per-second"].value(), 250.0);
    assert_eq!(values["insert-latency-p99"].value(), 4000.0);
    assert!(!values.contains_key("insert-latency-p99.9"));
    let ids: Vec<String> = metrics().into_iter().map(|metric| metric.id).collect();
    assert!(values.keys().all(|id| ids.contains(id)));
}

#[test]
fn statements_are_the_same_each_time() {
    let rows = statements(3);
    assert_eq!(rows, statements(3));
    expect!["INSERT INTO 'pts1' ('I', 'DT', 'F1', 'F2') VALUES ('2', CURRENT_TIMESTAMP, '8817', '3474290672383091');"]
    .assert_eq(&rows[1]);
}

#[test]
fn only_what_differs_from_sqlite_is_set() {
    let pragmas = |typed: &[(&str, &str)]| {
        let settings = settings(typed);
        (
            settings.pragmas_at_creation(),
            settings.pragmas_of_connection(),
        )
    };
    assert_eq!(pragmas(&[]), (String::new(), String::new()));
    let (creation, connection) = pragmas(&[("variant", "3.8"), ("synchronous", "off")]);
    assert_eq!(creation, "PRAGMA page_size=1024;PRAGMA synchronous=off;");
    assert_eq!(connection, "PRAGMA synchronous=off;");
    let (creation, connection) = pragmas(&[("journal", "wal")]);
    assert_eq!(
        (creation.as_str(), connection.as_str()),
        ("PRAGMA journal_mode=wal;", "")
    );
}

use std::time::Duration;

use fathom_base::Cancel;
use fathom_profiles::drivers::{DriverError, DriverFigures, Expected, driver};
use fathom_testkit::servers;

use crate::harness::{options, socket_of, whole, with_call};

/// One server for all, since starting one takes longer than any of the tests.
#[test]
fn drivers_of_postgresql() {
    let under = tempfile::tempdir().unwrap();
    servers::open_to_all(under.path());
    let Some(server) = servers::postgres(under.path(), &["fsync=off", "max_connections=40"]) else {
        return;
    };
    let endpoint = socket_of(&server, "fathom", "postgres");
    for protocol in ["simple", "extended", "prepared"] {
        let choices = [
            ("scale", "1"),
            ("clients", "4"),
            ("threads", "2"),
            ("duration", "300ms"),
            ("protocol", protocol),
        ];
        let (figures, found) = whole("pgbench", &endpoint, &choices);
        assert!(figures.value("tps").unwrap() > 0.0);
        assert_eq!(figures.counts.statements, 7 * figures.counts.operations);
        let histogram = &figures.latencies["transaction"];
        assert_eq!(histogram.count(), figures.counts.operations, "{protocol}");
        assert_eq!(
            figures.per_second.iter().sum::<u64>(),
            figures.counts.operations
        );
        assert!(
            found[0].starts_with("sums of the balances are equal"),
            "{found:?}"
        );
    }
    other_transactions_keep_the_balances(&endpoint);
    lost_money_is_found(&endpoint);
    too_many_clients_are_counted(&endpoint);
    keys_are_those_that_were_written(&endpoint);
    a_cancelled_run_ends(&endpoint);
}

type Endpoint = fathom_profiles::drivers::Endpoint;

fn run(
    id: &str,
    endpoint: &Endpoint,
    pairs: &[(&str, &str)],
) -> Result<DriverFigures, DriverError> {
    let (driver, options) = (driver(id).unwrap(), options(pairs));
    with_call(Duration::from_secs(30), &Cancel::new(), |call| {
        let figures = driver.run(endpoint, &options, call)?;
        driver.verify(endpoint, &options, &figures, call)?;
        Ok(figures)
    })
}

fn other_transactions_keep_the_balances(endpoint: &Endpoint) {
    let short = ("duration", "200ms");
    let reads = run("pgbench", endpoint, &[("mode", "select-only"), short]).unwrap();
    assert!(matches!(
        reads.expected,
        Expected::History { committed: 0, .. }
    ));
    let updates = run("pgbench", endpoint, &[("mode", "simple-update"), short]).unwrap();
    assert_eq!(updates.counts.statements, 5 * updates.counts.operations);
}

fn lost_money_is_found(endpoint: &Endpoint) {
    let wrong = [("scale", "2"), ("duration", "100ms")];
    let text = run("pgbench", endpoint, &wrong).unwrap_err().to_string();
    assert!(text.contains("1 branches instead of 2"), "{text}");
    let (driver, options) = (
        driver("pgbench").unwrap(),
        options(&[("mode", "simple-update")]),
    );
    with_call(Duration::from_secs(30), &Cancel::new(), |call| {
        let figures = DriverFigures {
            expected: Expected::History {
                rows_before: 0,
                committed: 1 << 40,
                uncertain: 0,
            },
            ..DriverFigures::default()
        };
        let error = driver
            .verify(endpoint, &options, &figures, call)
            .unwrap_err();
        assert!(matches!(error, DriverError::Invariant { .. }), "{error}");
    });
}

fn too_many_clients_are_counted(endpoint: &Endpoint) {
    let crowd = [
        ("mode", "select-only"),
        ("clients", "60"),
        ("duration", "200ms"),
    ];
    let figures = run("pgbench", endpoint, &crowd).unwrap();
    // 40 connections, of which some are kept for the administrator.
    assert!(
        (20..=30).contains(&figures.counts.failed_clients),
        "{:?}",
        figures.counts
    );
    let note = figures.notes.join("\n");
    assert!(
        note.contains("too many clients") || note.contains("remaining connection"),
        "{note}"
    );
}

fn keys_are_those_that_were_written(endpoint: &Endpoint) {
    let choices = [
        ("read-percent", "50"),
        ("concurrency", "16"),
        ("duration", "600ms"),
        ("ramp", "100ms"),
    ];
    let (figures, found) = whole("cockroach-kv", endpoint, &choices);
    let (reads, writes) = (&figures.latencies["read"], &figures.latencies["write"]);
    let count = (reads.count() + writes.count()) as f64;
    let share = reads.count() as f64 / count;
    // Six standard deviations of a fair coin.
    assert!(
        (share - 0.5).abs() < 3.0 / count.sqrt(),
        "{share} of {count}"
    );
    assert!(
        figures
            .notes
            .iter()
            .any(|note| note.contains("not CockroachDB"))
    );
    assert!(found[0].contains("and no other"), "{found:?}");
    assert_eq!(figures.counts.errors, 0);
    let Expected::Sequence { last, .. } = figures.expected else {
        panic!("kv says what must be in the table");
    };
    assert!(last >= writes.count());
    forged_keys_are_found(endpoint, last);
}

/// With one number more than was given out a key is missing.
fn forged_keys_are_found(endpoint: &Endpoint, last: u64) {
    let (driver, options) = (driver("cockroach-kv").unwrap(), options(&[]));
    with_call(Duration::from_secs(30), &Cancel::new(), |call| {
        let figures = DriverFigures {
            expected: Expected::Sequence {
                last: last + 1,
                uncertain: Vec::new(),
            },
            ..DriverFigures::default()
        };
        let error = driver
            .verify(endpoint, &options, &figures, call)
            .unwrap_err();
        assert!(
            error.to_string().contains("1 keys of confirmed writes"),
            "{error}"
        );
    });
}

fn a_cancelled_run_ends(endpoint: &Endpoint) {
    let (driver, options) = (driver("pgbench").unwrap(), options(&[("duration", "80s")]));
    let cancel = Cancel::new();
    cancel.cancel();
    let error = with_call(Duration::from_secs(30), &cancel, |call| {
        driver.run(endpoint, &options, call).unwrap_err()
    });
    assert!(matches!(error, DriverError::Cancelled), "{error}");
}

use std::time::Duration;

use fathom_base::Cancel;
use fathom_profiles::drivers::{Address, DriverError, Endpoint, driver};

use crate::cql_stub;
use crate::harness::{options, whole, with_call};

fn endpoint(port: u16) -> Endpoint {
    Endpoint {
        address: Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port,
        },
        user: String::new(),
        password: None,
        database: String::new(),
    }
}

const SHORT: [(&str, &str); 4] = [
    ("threads", "4"),
    ("duration", "200ms"),
    ("warm-up", "100"),
    ("population", "500"),
];

#[test]
fn writes_go_through_the_population_in_order() {
    let stub = cql_stub::start();
    let (figures, found) = whole("cassandra", &endpoint(stub.port), &SHORT);
    let seen = stub.seen.lock().unwrap();
    // The warm-up is not counted.
    assert_eq!(seen.writes, 100 + figures.counts.operations);
    assert!(figures.counts.operations > 0);
    let expected = usize::try_from(figures.counts.operations).unwrap().min(500);
    assert!(
        (expected.max(100)..=500).contains(&seen.rows.len()),
        "{}",
        seen.rows.len()
    );
    assert!(
        found[0].ends_with("read back hold what was written"),
        "{found:?}"
    );
    // Which server answered can be seen in the result.
    assert!(
        figures.notes[0].contains("stub of a test"),
        "{:?}",
        figures.notes
    );
    assert_eq!(
        figures.latencies["write"].count(),
        figures.counts.operations
    );
    assert!(
        seen.statements
            .iter()
            .any(|s| s.contains("compression = {'enabled': 'false'}"))
    );
}

#[test]
fn a_mix_reads_what_was_filled() {
    let stub = cql_stub::start();
    let choices = [&SHORT[..], &[("mix", "1:3")]].concat();
    let (figures, _) = whole("cassandra", &endpoint(stub.port), &choices);
    let (reads, writes) = (&figures.latencies["read"], &figures.latencies["write"]);
    let count = (reads.count() + writes.count()) as f64;
    let share = reads.count() as f64 / count;
    assert!(
        (share - 0.75).abs() < 3.0 / count.sqrt(),
        "{share} of {count}"
    );
    assert!(
        figures
            .notes
            .iter()
            .any(|note| note == "0 reads found no row"),
        "{:?}",
        figures.notes
    );
    assert_eq!(stub.seen.lock().unwrap().rows.len(), 500);
}

#[test]
fn what_the_server_refuses_is_tried_again_and_counted() {
    let stub = cql_stub::start();
    stub.seen.lock().unwrap().refuse_every = 7;
    let (figures, _) = whole("cassandra", &endpoint(stub.port), &SHORT);
    let refused = stub.seen.lock().unwrap().refused;
    assert!(figures.counts.retries > 0 && figures.counts.retries <= refused);
    assert_eq!(figures.counts.errors, 0);
}

#[test]
fn other_values_are_found_when_they_are_read_back() {
    let stub = cql_stub::start();
    stub.seen.lock().unwrap().forges = true;
    let (driver, options) = (driver("cassandra").unwrap(), options(&SHORT));
    let endpoint = endpoint(stub.port);
    with_call(Duration::from_secs(10), &Cancel::new(), |call| {
        driver.prepare(&endpoint, &options, call).unwrap();
        let figures = driver.run(&endpoint, &options, call).unwrap();
        let error = driver
            .verify(&endpoint, &options, &figures, call)
            .unwrap_err();
        assert!(matches!(error, DriverError::Invariant { .. }), "{error}");
    });
}

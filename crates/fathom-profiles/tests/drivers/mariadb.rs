use fathom_testkit::servers;

use crate::harness::{socket_of, whole};

#[test]
fn drivers_of_mariadb() {
    let under = tempfile::tempdir().unwrap();
    servers::open_to_all(under.path());
    let settings = ["--innodb-flush-log-at-trx-commit=0", "--max-connections=12"];
    let Some(server) = servers::mariadb(under.path(), &settings) else {
        return;
    };
    let endpoint = socket_of(&server, "root", "test");
    let per_event = [
        ("oltp_read_write", 20),
        ("oltp_read_only", 16),
        ("oltp_write_only", 6),
        ("oltp_point_select", 1),
        ("oltp_update_index", 1),
        ("oltp_update_non_index", 1),
    ];
    for (test, queries) in per_event {
        let choices = [
            ("test", test),
            ("tables", "2"),
            ("table-size", "1000"),
            ("threads", "4"),
            ("duration", "200ms"),
        ];
        let (figures, found) = whole("sysbench-oltp", &endpoint, &choices);
        let (events, sent) = (figures.counts.operations, figures.counts.statements);
        // An event that was begun again has sent some of its queries for nothing.
        let most = (events + figures.counts.retries) * queries;
        assert!(
            (events * queries..=most).contains(&sent),
            "{test}: {:?}",
            figures.counts
        );
        assert!(events > 0 && figures.counts.failed_clients == 0);
        assert!(found[0].contains("holds 1000 rows"), "{found:?}");
    }
    slap_counts_its_rows(&endpoint);
}

fn slap_counts_its_rows(endpoint: &fathom_profiles::drivers::Endpoint) {
    let choices = [("concurrency", "3"), ("iterations", "2")];
    let (figures, found) = whole("mariadb-slap", endpoint, &choices);
    assert_eq!(
        found,
        ["`mysqlslap`.t1 holds 1734 rows after the last iteration"]
    );
    assert_eq!(figures.counts.operations, 2 * 3 * 1000);
    let mean = figures.value("seconds-mean").unwrap();
    let shown = figures.value("queries-per-second").unwrap();
    assert!(
        (shown * mean / 1000.0 - 1.0).abs() < 0.02,
        "{shown} and {mean}"
    );
    let aggregate = figures.value("aggregate-rate").unwrap();
    assert!(
        (aggregate * mean / 3000.0 - 1.0).abs() < 1e-9,
        "{aggregate} and {mean}"
    );
    let crowd = [
        ("concurrency", "30"),
        ("iterations", "1"),
        ("queries", "3000"),
    ];
    let (figures, _) = whole("mariadb-slap", endpoint, &crowd);
    let (failed, done) = (figures.counts.failed_clients, figures.counts.operations);
    assert_eq!(done, (30 - failed) * 3000, "{:?}", figures.counts);
}

use fathom_profiles::drivers::{Address, Endpoint};
use fathom_testkit::servers;

use crate::harness::whole;

#[test]
fn the_driver_of_clickhouse() {
    let under = tempfile::tempdir().unwrap();
    let Some(server) = servers::clickhouse(under.path()) else {
        return;
    };
    let endpoint = Endpoint {
        address: Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port: server.port,
        },
        user: "default".to_owned(),
        password: None,
        database: "default".to_owned(),
    };
    let (figures, found) = whole("clickhouse-hits", &endpoint, &[("rows", "3000")]);
    assert_eq!(figures.counts.operations, 3 * 43);
    let [first, second, third] =
        ["first-run", "second-run", "third-run"].map(|metric| figures.value(metric).unwrap());
    assert!(first > 0.0 && second > 0.0 && third > 0.0);
    let expected = [
        "hits holds 3000 rows, as before",
        "answers to 43 queries on 10000 rows are those computed without it",
    ];
    assert_eq!(found, expected);
    a_file_is_loaded(&endpoint);
}

/// A file in the format of the public data set, and queries of one's own.
fn a_file_is_loaded(endpoint: &Endpoint) {
    let directory = tempfile::tempdir().unwrap();
    let (data, queries) = (
        directory.path().join("hits.tsv"),
        directory.path().join("q.sql"),
    );
    let mut line = vec!["1"; 105];
    for text in [2, 13, 14] {
        line[text] = "it\\'s\\ttext";
    }
    for time in [4, 45, 64] {
        line[time] = "2013-07-15 10:47:34";
    }
    line[5] = "2013-07-15";
    let line = line.join("\t") + "\n";
    std::fs::write(&data, line.repeat(5)).unwrap();
    std::fs::write(
        &queries,
        "-- mine\nSELECT COUNT(*) FROM hits;\n\nSELECT 1;\n",
    )
    .unwrap();
    let choices = [
        ("rows", "4"),
        ("data", data.to_str().unwrap()),
        ("queries", queries.to_str().unwrap()),
    ];
    let (figures, found) = whole("clickhouse-hits", endpoint, &choices);
    assert_eq!(figures.counts.operations, 2 * 3);
    assert_eq!(found[0], "hits holds 4 rows, as before");
}

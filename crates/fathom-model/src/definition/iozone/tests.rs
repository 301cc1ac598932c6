use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> IozoneSettings {
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
    IozoneSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn short_is_a_64th_of_whole_records() {
    let size = |size: &str, record: &str| {
        let short = settings(&[("size", size), ("record", record), ("scale", "short")]);
        assert_eq!(short.conflicts(), []);
        short.size
    };
    assert_eq!(size("8GiB", "4KiB"), Bytes::new(128 << 20));
    assert_eq!(size("512MiB", "64KiB"), Bytes::new(8 << 20));
    assert_eq!(size("2MiB", "4KiB"), Bytes::new(2 << 20));
    assert_eq!(size("12MiB", "3KiB"), Bytes::new((4 << 20) + 2048));
    assert_eq!(settings(&[]).size, Bytes::new(512 << 20));
}

#[test]
fn contradictions_are_named() {
    let what = |typed: &[(&str, &str)]| {
        let found = settings(typed).conflicts();
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(what(&[]), Vec::<String>::new());
    assert_eq!(
        what(&[("record", "5KiB"), ("size", "1MiB")]),
        ["size=1MiB is not a number of records of 5KiB"]
    );
    assert_eq!(
        what(&[("record", "1500B")]),
        ["record=1500B is not a number of KiB"]
    );
    let large = [("size", "1TiB"), ("operation", "random-read")];
    assert!(what(&large)[0].starts_with("268435456 records are more than"));
}

#[test]
fn the_operation_is_primary_and_what_goes_before_is_shown() {
    let ids = |operation: IozoneOperation| {
        let all = metrics(operation);
        let first = all.iter().find(|metric| metric.is_primary).unwrap();
        assert_eq!(
            (first.id.as_str(), first.unit.as_str()),
            (operation.name(), "MiB/s")
        );
        all.into_iter().map(|metric| metric.id).collect::<Vec<_>>()
    };
    let read = ids(IozoneOperation::Read);
    for id in ["write", "rewrite", "read", "reread", "read-latency-p99"] {
        assert!(read.contains(&id.to_owned()), "{id}");
    }
    assert!(!ids(IozoneOperation::Write).contains(&"read".to_owned()));
}

#[test]
fn the_same_rate_in_three_units() {
    let settings = settings(&[]);
    let mut latency = Histogram::new();
    latency.record_n(3000, 200_000);
    let measured = [
        IozoneMeasured {
            operation: IozoneOperation::Write,
            kib_per_second: kib_per_second(Bytes::new(512 << 20), Nanos::from_millis(1959)),
            latency: Some(&latency),
        },
        IozoneMeasured {
            operation: IozoneOperation::Rewrite,
            kib_per_second: 1_143_620.0,
            latency: None,
        },
    ];
    let values = values(&settings, &measured);
    assert!((values["kib-per-second"].value() - 267_630.4).abs() < 0.1);
    assert!((values["write"].value() - 261.358).abs() < 0.001);
    assert_eq!(values["pts-bandwidth"].value(), 261.36);
    assert!((values["rewrite"].value() - 1116.816).abs() < 0.001);
    assert_eq!(values["write-latency-p99.9"].value(), 3.0);
    let ids: Vec<String> = metrics(settings.operation)
        .into_iter()
        .map(|m| m.id)
        .collect();
    assert!(values.keys().all(|id| ids.contains(id)));
}

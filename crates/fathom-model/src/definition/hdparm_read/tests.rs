use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> HdparmSettings {
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
    HdparmSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn the_originals_choices_are_the_defaults() {
    let full = settings(&[]);
    assert_eq!(
        (full.time, full.settle),
        (Nanos::from_secs(3), Nanos::from_secs(3))
    );
    assert!(!full.direct && full.offset == Bytes::new(0));
    assert_eq!(full.conflicts(), []);
}

#[test]
fn short_is_a_quarter() {
    let short = settings(&[("scale", "short")]);
    assert_eq!(short.time, Nanos::from_millis(750));
    assert_eq!(short.settle, Nanos::from_millis(750));
    assert_eq!(short.file_size, Bytes::new(512 << 20));
    let small = settings(&[("scale", "short"), ("file-size", "100MiB")]);
    assert_eq!(small.file_size, Bytes::new(64 << 20));
    assert_eq!(
        settings(&[("scale", "short"), ("settle", "0s")]).settle,
        Nanos::new(0)
    );
}

#[test]
fn contradictions_are_named() {
    let what = |typed: &[(&str, &str)]| {
        let found = settings(typed).conflicts();
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(
        what(&[("offset", "5KB")]),
        ["offset=5KB is not a multiple of 4 KiB"]
    );
    assert_eq!(
        what(&[("file-size", "3MiB")]),
        ["file-size=3MiB is not a number of reads of 2 MiB"]
    );
}

#[test]
fn every_value_is_a_metric_and_the_print_has_two_decimals() {
    let mut latency = Histogram::new();
    latency.record_n(8_000_000, 353);
    // 706 MB in 3.004 s.
    let values = values(&HdparmMeasured {
        mib_per_second: 706.0 / 3.004_4,
        latency: Some(&latency),
    });
    assert_eq!(values["pts-bandwidth"].value(), 234.99);
    let ids: Vec<String> = metrics().into_iter().map(|metric| metric.id).collect();
    assert!(values.keys().all(|id| ids.contains(id)));
    assert!((values["read"].value() - 234.988_7).abs() < 1e-4);
}

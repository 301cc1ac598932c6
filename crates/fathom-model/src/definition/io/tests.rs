use std::fmt::Write as _;

use expect_test::{expect, expect_file};
use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use super::*;
use crate::{Case, Implementation, ImplementationKind, Options, TestInfo};

fn info() -> TestInfo {
    TestInfo {
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
    }
}

fn case(typed: &[(&str, &str)]) -> Case {
    let typed: Options = typed.iter().copied().collect();
    Case::resolve(&info(), &typed, "").unwrap()
}

fn settings(typed: &[(&str, &str)]) -> IoSettings {
    IoSettings::from_case(&case(typed)).unwrap()
}

#[test]
fn the_option_table_is_as_published() {
    let mut text = String::new();
    for row in options() {
        let menu: Vec<&str> = row.menu.iter().map(|choice| choice.value).collect();
        let none = if row.none_allowed { " or none" } else { "" };
        writeln!(
            text,
            "{:<17} {:<12} {}{none} [{}] {}",
            row.name,
            row.default,
            kind_name(&row.kind),
            menu.join(" "),
            row.help
        )
        .unwrap();
    }
    expect_file!["../../../tests/data/io-options.txt"].assert_eq(&text);
}

fn kind_name(kind: &crate::OptionKind) -> String {
    let text = format!("{kind:?}");
    text.split(['(', ' ']).next().unwrap().to_owned()
}

#[test]
fn defaults_resolve_and_menus_are_accepted() {
    let defaults = settings(&[]);
    assert_eq!(defaults.conflicts(), []);
    for row in options() {
        for choice in &row.menu {
            let case = case(&[(row.name, choice.value)]);
            assert!(
                IoSettings::from_case(&case).is_ok(),
                "{} {}",
                row.name,
                choice.value
            );
        }
    }
}

#[test]
fn enum_menus_read_back() {
    for mode in IoMode::ALL {
        assert_eq!(mode.name().parse::<IoMode>().as_ref(), Ok(mode));
    }
    let error = "randreed".parse::<IoMode>().unwrap_err().to_string();
    expect![[r#""randreed" is not a direction; expected one of read write randread randwrite readwrite randrw trim randtrim"#]]
        .assert_eq(&error);
}

#[test]
fn contradictions_are_named() {
    let check = |typed: &[(&str, &str)], expected: expect_test::Expect| {
        let found: Vec<String> = settings(typed)
            .conflicts()
            .into_iter()
            .map(|unmet| format!("{} -> {}", unmet.what, unmet.hint))
            .collect();
        expected.assert_eq(&found.join("\n"));
    };
    check(
        &[("runtime", "none")],
        expect![
            "runtime, bytes and passes are all none: the trial would never end -> give one of them"
        ],
    );
    check(
        &[("fdatasync-every", "1")],
        expect![
            "rw=randread writes nothing that could be synced -> leave fsync-every, fdatasync-every and final-flush at none"
        ],
    );
    check(
        &[("layout", "fallocate")],
        expect![
            "rw=randread reads, and layout=fallocate leaves nothing to read -> use layout=written"
        ],
    );
    check(
        &[("size", "1MiB"), ("block-size", "2MiB")],
        expect!["a block of 2MiB is larger than size=1MiB -> use a smaller block or a larger size"],
    );
    check(
        &[("force-async", "4"), ("engine", "libaio")],
        expect!["force-async is a choice of io_uring, and engine=libaio -> use engine=io_uring"],
    );
    check(
        &[("rate", "1000/s"), ("rate-limit", "1000/s")],
        expect![
            "rate (open loop) and rate-limit (closed loop) are both given -> give rate for latency at a rate, rate-limit to hold a load back"
        ],
    );
    check(
        &[("arrivals", "poisson")],
        expect![
            "arrivals=poisson says when operations of an open loop are due, and rate is none -> give a rate"
        ],
    );
    check(
        &[("verify", "on"), ("jobs", "2"), ("cursor", "own")],
        expect![
            "verify needs a part of the span for each job, and cursor=own -> use cursor=partitioned"
        ],
    );
    check(
        &[("verify", "on"), ("contents", "zeros")],
        expect![
            "verify needs blocks that differ from each other -> use contents=random and dedupe-percent=0"
        ],
    );
    check(
        &[("verify", "on"), ("block-size", "1000B")],
        expect![
            "verify needs blocks of whole 512 bytes, each a multiple of the smallest -> use other block sizes or another offset"
        ],
    );
    check(
        &[("verify", "on"), ("rw", "randrw"), ("jobs", "2")],
        expect![""],
    );
    check(
        &[("rw", "randwrite"), ("fdatasync-every", "1")],
        expect![""],
    );
}

fn ids(typed: &[(&str, &str)]) -> String {
    let all = metrics(&settings(typed));
    assert_eq!(all.iter().filter(|metric| metric.is_primary).count(), 1);
    assert!(all.iter().all(|metric| metric.is_primary == metric.steers));
    let names: Vec<String> = all
        .iter()
        .map(|m| format!("{}{}", if m.is_primary { "*" } else { "" }, m.id))
        .collect();
    names.join(" ")
}

#[test]
fn metrics_follow_the_directions_and_the_block() {
    expect!["bandwidth *iops latency-mean latency-p50 latency-p99 latency-p99.9"]
        .assert_eq(&ids(&[]));
    expect!["*bandwidth iops latency-mean latency-p50 latency-p99 latency-p99.9"]
        .assert_eq(&ids(&[("rw", "write"), ("block-size", "64KiB")]));
    expect!["bandwidth *iops read-bandwidth read-iops read-latency-mean read-latency-p50 read-latency-p99 read-latency-p99.9 write-bandwidth write-iops write-latency-mean write-latency-p50 write-latency-p99 write-latency-p99.9"]
        .assert_eq(&ids(&[("rw", "randrw")]));
    expect!["bandwidth *iops latency-mean latency-p50 latency-p99 latency-p99.9 sync-latency-mean sync-latency-p50 sync-latency-p99 sync-latency-p99.9"]
        .assert_eq(&ids(&[("rw", "randwrite"), ("fdatasync-every", "1")]));
}

#[test]
fn at_a_rate_latency_and_service_time_are_two_things() {
    let rate = ("rate", "1000/s");
    expect!["bandwidth *iops latency-mean latency-p50 latency-p99 latency-p99.9 service-mean service-p50 service-p99 service-p99.9"]
        .assert_eq(&ids(&[rate]));
    // A closed loop has no latency at a rate.
    expect!["bandwidth *iops service-mean service-p50 service-p99 service-p99.9"]
        .assert_eq(&ids(&[("rate-limit", "1000/s")]));
    let mut latency = Histogram::new();
    latency.record_n(2_000_000, 1000);
    let mut service = Histogram::new();
    service.record_n(1000, 1000);
    let measured = IoMeasured {
        window: Nanos::from_secs(1),
        read: IoTotals {
            operations: 1000,
            bytes: 4_096_000,
            latency: Some(&latency),
            service: Some(&service),
            latency_ns_mean: None,
        },
        ..IoMeasured::default()
    };
    let open = settings(&[rate]);
    let found = values(&open, &measured);
    assert_eq!(found["latency-mean"].value(), 2000.0);
    assert_eq!(found["service-mean"].value(), 1.0);
    let known: Vec<String> = metrics(&open).into_iter().map(|m| m.id).collect();
    assert!(found.keys().all(|id| known.contains(id)));
    let closed = values(&settings(&[("rate-limit", "1000/s")]), &measured);
    assert!(!closed.contains_key("latency-p99") && closed.contains_key("service-p99"));
}

#[test]
fn values_have_the_ids_of_the_metrics_and_need_samples() {
    let mut latency = Histogram::new();
    for i in 0..1000_u64 {
        latency.record(100_000 + i);
    }
    let read = IoTotals {
        operations: 1000,
        bytes: 4_096_000,
        latency: Some(&latency),
        ..IoTotals::default()
    };
    let measured = IoMeasured {
        window: Nanos::from_millis(500),
        read,
        ..IoMeasured::default()
    };
    let settings = settings(&[]);
    let values = values(&settings, &measured);
    assert_eq!(values["iops"].value(), 2000.0);
    assert!((values["bandwidth"].value() - 8.192).abs() < 1e-12);
    assert!((values["latency-mean"].value() - 100.4995).abs() < 1e-9);
    assert!(values.contains_key("latency-p99"));
    assert!(
        !values.contains_key("latency-p99.9"),
        "1000 samples do not give a p99.9"
    );
    let known: Vec<String> = metrics(&settings).into_iter().map(|m| m.id).collect();
    assert!(values.keys().all(|id| known.contains(id)));
}

#[test]
fn percentiles_need_ten_samples_beyond_them() {
    let needs = [50.0, 99.0, 99.9, 99.99].map(percentile_needs);
    assert_eq!(needs, [20, 1000, 10_000, 100_000]);
}

#[test]
fn block_sizes_cover_what_the_mode_does() {
    let of = |typed: &[(&str, &str)]| settings(typed).single_block_size();
    assert_eq!(of(&[]), Some(Bytes::new(4096)));
    let write = [("rw", "write"), ("write-block-size", "8KiB")];
    assert_eq!(of(&write), Some(Bytes::new(8192)));
    assert_eq!(of(&[("rw", "randrw"), ("write-block-size", "8KiB")]), None);
    assert_eq!(of(&[("block-split", "4k/50:8k/50")]), None);
}

#[test]
fn pts_figures_follow_the_units_of_the_seeds() {
    // Published pairs: IOPS x 4 KiB against the "MB/s" printed beside them.
    let figure = |iops: f64| pts_fio_figure(FioFamily::Two, iops * 4096.0).unwrap();
    for (iops, shown) in [(77_347.0, 309.40), (136_521.0, 546.10), (75_096.0, 300.40)] {
        assert!((figure(iops) - shown).abs() < 0.05, "{iops}");
    }
    for (iops, shown) in [(260_576.0, 1018.00), (260_461.0, 1017.47)] {
        assert!((figure(iops) - shown).abs() < 0.15, "{iops}");
    }
    // fio 3: 2 MiB blocks, 1780 IOPS shown as 3562.
    let three = |bytes| pts_fio_figure(FioFamily::Three, bytes);
    assert_eq!(three(1781.0 * 2097152.0), Some(3562.0));
    assert_eq!(three(843.0 * 1024.0), Some(0.843));
    assert_eq!(three(10_000.0 * 1048576.0), None);
    assert_eq!(three(0.0), None);
    assert_eq!(FioFamily::of_version("fio-3.36"), Some(FioFamily::Three));
    assert_eq!(FioFamily::of_version("2.1.13"), Some(FioFamily::Two));
    assert_eq!(FioFamily::of_version("unknown"), None);
}

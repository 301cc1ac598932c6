use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> TiobenchSettings {
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
    TiobenchSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

fn measured(operation: TiobenchOperation, millis: u64) -> TiobenchMeasured<'static> {
    TiobenchMeasured {
        operation,
        elapsed: Nanos::from_millis(millis),
        latency: None,
    }
}

#[test]
fn a_file_of_32_mib_is_8192_calls() {
    let full = settings(&[]);
    assert_eq!((full.threads, full.calls(full.operation)), (4, 8192));
    assert_eq!(full.calls_in_all(TiobenchOperation::RandomRead), 4000);
    assert!(full.sync_open);
    assert_eq!(full.policy(), ("O_SYNC: every write".to_owned(), true));
}

#[test]
fn short_is_an_eighth() {
    let short = |size: &str| settings(&[("size", size), ("scale", "short")]);
    assert_eq!(short("256MiB").size, Bytes::new(32 << 20));
    assert_eq!(short("32MiB").size, Bytes::new(4 << 20));
    assert_eq!(short("64KiB").size, Bytes::new(64 << 10));
    assert_eq!(short("64KiB").random_operations, 125);
    let odd = short("33MiB");
    assert_eq!(odd.conflicts(), []);
}

#[test]
fn a_size_of_no_whole_blocks_is_refused() {
    let found = settings(&[("size", "5KiB")]).conflicts();
    assert_eq!(
        found[0].what,
        "size=5KiB is not a number of blocks of 4 KiB"
    );
}

/// 8.19 at 32 MiB and 65.5 at 256 MiB: what made a seed's 41,407.9 MB/s of 632 MiB/s.
#[test]
fn pts_credits_random_work_with_the_whole_file() {
    let ratio = |size: &str, random: &str| {
        let settings = settings(&[
            ("operation", "random-write"),
            ("size", size),
            ("random-operations", random),
        ]);
        let phases = [
            measured(TiobenchOperation::Write, 3000),
            measured(TiobenchOperation::RandomWrite, 2000),
        ];
        let values = values(&settings, &phases);
        values["pts-bandwidth"].value() / values["random-write"].value()
    };
    assert!((ratio("32MiB", "1000") - 8.192).abs() < 1e-3);
    assert!((ratio("256MiB", "1000") - 65.536).abs() < 1e-3);
    assert!((ratio("256MiB", "65536") - 1.0).abs() < 1e-9);
}

#[test]
fn the_rate_of_a_seed_is_found_again() {
    let settings = settings(&[("operation", "random-write"), ("size", "256MiB")]);
    // 4000 synchronous writes at 805 a second.
    let phases = [measured(TiobenchOperation::RandomWrite, 4969)];
    let values = values(&settings, &phases);
    assert!((values["pts-bandwidth"].value() - 206.07).abs() < 0.1);
    assert!((values["random-write"].value() - 3.145).abs() < 0.01);
    assert!((values["operations-per-second"].value() - 805.0).abs() < 1.0);
}

#[test]
fn sequential_work_has_no_credit() {
    let settings = settings(&[]);
    let values = values(&settings, &[measured(TiobenchOperation::Write, 4000)]);
    assert_eq!(values["write"].value(), 32.0);
    assert_eq!(values["pts-bandwidth"].value(), 32.0);
    assert_eq!(values["operations-per-second"].value(), 8192.0);
}

#[test]
fn every_value_is_a_metric_and_the_operation_is_primary() {
    for operation in TiobenchOperation::ALL {
        let settings = settings(&[("operation", operation.name())]);
        let all = metrics(*operation);
        let first = all.iter().find(|metric| metric.is_primary).unwrap();
        assert_eq!(first.id, operation.name());
        assert_eq!(first.unit, "MiB/s");
        let mut latency = Histogram::new();
        latency.record_n(3000, 200_000);
        let phases: Vec<TiobenchMeasured<'_>> = operation
            .chain()
            .iter()
            .map(|one| TiobenchMeasured {
                latency: Some(&latency),
                ..measured(*one, 100)
            })
            .collect();
        for id in values(&settings, &phases).keys() {
            assert!(all.iter().any(|metric| metric.id == *id), "{id}");
        }
    }
}

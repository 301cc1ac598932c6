use std::path::Path;

use fathom_base::Bytes;
use fathom_model::{Test, TestError};
use fathom_testkit::{Bench, conforms};

use super::*;
use crate::classic::testing::{
    Calls, a_full_disk_is_told, child_command, more_work, traced, traced_child,
};

const SMALL: [(&str, &str); 3] = [
    ("size", "256KiB"),
    ("threads", "3"),
    ("random-operations", "50"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&TiobenchTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    let calls = |kind: &str| trial.histograms[kind].count();
    assert_eq!(
        (calls("write"), calls("open"), calls("truncate")),
        (192, 3, 3)
    );
    assert_eq!((calls("fsync"), calls("close")), (3, 3));
    let io = trial.evidence.io.as_ref().unwrap();
    assert_eq!((io.operations, io.written_bytes), (192, (3 * 256) << 10));
    assert_eq!((io.block_size_bytes, io.depth_total), (Some(4096), 3));
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert!(durability.durable && durability.syncs == 3);
    assert_eq!(durability.policy, "O_SYNC: every write");
    let file = trial.evidence.file.as_ref().unwrap();
    assert_eq!(file.size_bytes, (3 * 256) << 10);
    let data = trial.evidence.data.as_ref().unwrap();
    assert!(data.compressible_share.unwrap() > 0.99);
}

#[test]
fn every_operation_follows_the_writes() {
    let bench = Bench::new();
    for operation in TiobenchOperation::ALL {
        let typed = with(&[("operation", operation.name())]);
        let trial = &bench.run(&TiobenchTest::new(), &typed, 1).unwrap()[0];
        assert_eq!(trial.histograms["write"].count(), 192, "{operation}");
        let calls = if operation.is_random() { 150 } else { 192 };
        assert_eq!(trial.histograms[operation.name()].count(), calls);
        let io = trial.evidence.io.as_ref().unwrap();
        let bytes = calls * 4096;
        let expected = match operation.reads() {
            true => (bytes, 0),
            false => (0, bytes),
        };
        assert_eq!((io.read_bytes, io.written_bytes), expected, "{operation}");
        let phases = operation.chain().len() as u64;
        assert_eq!(trial.evidence.counts["fsync"], 3 * phases);
        let rate = trial.values[operation.name()].value();
        let window = io.window_ns as f64 / 1e9;
        let expected = bytes as f64 / 1_048_576.0 / window;
        assert!((rate / expected - 1.0).abs() < 1e-9, "{rate} {expected}");
        let shown = trial.values["pts-bandwidth"].value();
        let credited = 192.0 / calls as f64;
        assert!(
            (shown / rate / credited - 1.0).abs() < 0.01,
            "{shown} {rate}"
        );
    }
}

#[test]
fn many_threads_work_at_once() {
    let bench = Bench::new();
    let typed = [("size", "16KiB"), ("threads", "128")];
    let trial = &bench.run(&TiobenchTest::new(), &typed, 1).unwrap()[0];
    assert_eq!(trial.evidence.counts["write"], 512);
    assert_eq!(trial.evidence.counts["threads"], 128);
}

#[test]
fn without_o_sync_the_flush_makes_it_durable() {
    let bench = Bench::new();
    let typed = with(&[("sync-open", "no")]);
    let trial = &bench.run(&TiobenchTest::new(), &typed, 1).unwrap()[0];
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert_eq!(durability.policy, "fsync at the end, inside the window");
    assert!(durability.durable && durability.final_flush_ns.is_some());
}

#[test]
fn random_places_follow_the_seed_and_repeat() {
    let places = |seed: u64, thread: u32| -> Vec<u64> {
        let seed = seed_for(seed_for(seed, "random-read"), &format!("thread {thread}"));
        let mut random = fathom_base::SplitMix64::new(seed);
        (0..1000).map(|_| random.below(64)).collect()
    };
    assert_eq!(places(1, 0), places(1, 0));
    assert_ne!(places(1, 0), places(1, 1));
    assert_ne!(places(1, 0), places(2, 0));
    let used: std::collections::BTreeSet<u64> = places(1, 0).into_iter().collect();
    assert_eq!(used.len(), 64);
}

#[test]
fn a_full_disk_is_a_clear_error() {
    a_full_disk_is_told(&TiobenchTest::new(), &[("sync-open", "no")]);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let outside = bench.directory().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let test = TiobenchTest::new();
    let case = Bench::case(&test, &SMALL);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let place = bench.scratch().join(format!("tiobench-{}", case.id));
    std::os::unix::fs::symlink(&outside, place.join("tiobench.thr1")).unwrap();
    let error = prepared.run_once(&bench.context(1)).unwrap_err();
    assert!(error.to_string().contains("tiobench.thr1"), "{error}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
    prepared.finish(&bench.context(0)).unwrap();
}

#[test]
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let error = bench.run(&TiobenchTest::new(), &SMALL, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn cancelling_stops_all_threads() {
    let bench = Bench::new();
    let typed = [
        ("operation", "random-write"),
        ("size", "64KiB"),
        ("random-operations", "100000000"),
        ("sync-open", "no"),
    ];
    let test = TiobenchTest::new();
    let case = Bench::case(&test, &typed);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let first = bench
        .scratch()
        .join(format!("tiobench-{}/tiobench.thr0", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Raised when the first file is there.
            while !Path::exists(&first) {
                std::thread::yield_now();
            }
            bench.cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn space_and_inodes_are_named() {
    let mut bench = Bench::new();
    let test = TiobenchTest::new();
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 100 << 20;
    mount.available_inodes = Some(3);
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert!(unmet[0].what.contains("has 105 MB free"), "{unmet:?}");
    assert!(
        unmet[1]
            .what
            .contains("has 3 inodes free, the case needs 5")
    );
    let estimate = test
        .estimate(&bench.host, &Bench::case(&test, &[]))
        .unwrap();
    assert_eq!(estimate.trial_bytes, Bytes::new(128 << 20));
    assert_eq!(estimate.inodes, 5);
}

/// The child that `strace` watches.
#[test]
#[ignore = "run by the_system_calls_are_the_originals"]
fn one_trial() {
    traced_child(&TiobenchTest::new());
}

/// Calls of one thread more: 8192 writes of 4096 bytes, one ftruncate, one fsync for 32 MiB.
#[test]
fn the_system_calls_are_the_originals() {
    let bench = Bench::new();
    let calls = |size: &str, threads: &str, operation: &str| -> Option<Calls> {
        let typed = [
            ("size", size),
            ("threads", threads),
            ("operation", operation),
        ];
        traced(&child_command(
            "tiobench::tests::one_trial",
            bench.directory(),
            &typed,
        ))
    };
    // A quarter of the 32 MiB, since each call is stopped twice under strace.
    for (operation, name, each) in [
        ("write", "pwrite64", 2048),
        ("random-read", "pread64", 1000),
    ] {
        let (Some(one), Some(two)) = (calls("8MiB", "1", operation), calls("8MiB", "2", operation))
        else {
            return;
        };
        let more = more_work(&one, &two);
        assert_eq!(more[name], each, "{more:?}");
        assert_eq!(more["pwrite64"], 2048);
        let phases = if operation == "write" { 1 } else { 2 };
        assert_eq!((more["ftruncate"], more["fsync"]), (phases, phases));
        assert!(!more.contains_key("write"), "{more:?}");
    }
    let settings = TiobenchSettings::from_case(&Bench::case(&TiobenchTest::new(), &[])).unwrap();
    assert_eq!(settings.calls(TiobenchOperation::Write), 8192);
}

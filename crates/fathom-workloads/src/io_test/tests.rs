use fathom_base::{Bytes, Nanos};
use fathom_model::definition::io::{IoDirect, IoSettings};
use fathom_model::{Case, Test, TestError, Trial};
use fathom_testkit::{Bench, conforms, skipped};

use super::*;
use crate::common::testing::{LoopDevice, LoopMount};

/// Small and short enough for a test.
const SMALL: [(&str, &str); 3] = [("size", "16MiB"), ("runtime", "60ms"), ("ramp", "10ms")];

fn small(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    SMALL.iter().chain(more).copied().collect()
}

fn run_one(bench: &Bench, typed: &[(&str, &str)]) -> Trial {
    let trials = bench.run(&IoTest::new(), typed, 1);
    trials
        .unwrap_or_else(|error| panic!("{typed:?}: {error}"))
        .remove(0)
}

#[test]
fn reads_keep_the_contract() {
    let trials = conforms(
        &IoTest::new(),
        &small(&[("rw", "randread")]),
        &mut Bench::new(),
    );
    let evidence = &trials[0].evidence;
    let file = evidence.file.as_ref().unwrap();
    assert_eq!((file.size_bytes, file.unwritten_bytes), (16 << 20, Some(0)));
    assert_eq!(
        evidence.cache.as_ref().unwrap().resident_bytes_before,
        Some(0)
    );
    assert_eq!(
        evidence.data.as_ref().unwrap().compressible_share,
        Some(0.0)
    );
    assert!(evidence.durability.is_none());
}

#[test]
fn writes_keep_the_contract() {
    let typed = small(&[("rw", "write"), ("block-size", "1MiB"), ("depth", "8")]);
    let trials = conforms(&IoTest::new(), &typed, &mut Bench::new());
    let durability = trials[0].evidence.durability.as_ref().unwrap();
    assert_eq!(
        (durability.policy.as_str(), durability.durable),
        ("none", false)
    );
    assert!(
        trials[0].series["bandwidth"]
            .values
            .iter()
            .all(|value| value.is_finite())
    );
}

#[test]
fn durable_writes_keep_the_contract() {
    let typed = small(&[
        ("rw", "randwrite"),
        ("depth", "1"),
        ("fdatasync-every", "1"),
    ]);
    let trials = conforms(&IoTest::new(), &typed, &mut Bench::new());
    let trial = &trials[0];
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert_eq!(durability.policy, "fdatasync after every write");
    assert!(durability.durable && durability.syncs > 0);
    assert_eq!(trial.histograms["sync"].count(), durability.syncs);
    assert!(trial.values.contains_key("sync-latency-mean"));
}

#[test]
fn mixes_keep_the_contract() {
    let trials = conforms(
        &IoTest::new(),
        &small(&[("rw", "randrw")]),
        &mut Bench::new(),
    );
    let values = &trials[0].values;
    let sum = values["read-iops"].value() + values["write-iops"].value();
    assert!((values["iops"].value() - sum).abs() < 1e-6 * sum);
    assert!(trials[0].series.contains_key("write-bandwidth"));
}

#[test]
fn an_open_loop_has_latency_and_service_time_side_by_side() {
    let bench = Bench::new();
    let typed = [
        ("engine", "null"),
        ("clock", "virtual:1000"),
        ("runtime", "1s"),
        ("ramp", "0s"),
        ("rate", "10000/s"),
    ];
    for (arrivals, due) in [("constant", 10_000..=10_000), ("poisson", 9_600..=10_400)] {
        let typed = [&typed[..], &[("arrivals", arrivals)]].concat();
        let trial = run_one(&bench, &typed);
        let pace = trial.evidence.pace.unwrap();
        let open = pace.open.unwrap();
        assert!(due.contains(&open.due), "{arrivals}: {open:?}");
        assert_eq!((pace.rate.as_str(), open.backlog), ("10000/s", 0));
        assert_eq!(open.arrivals, arrivals);
        let names: Vec<&String> = trial.histograms.keys().collect();
        assert_eq!(names, ["read", "read-service"]);
        let mean = |name: &str| trial.values[name].value();
        assert!(mean("latency-mean") >= mean("service-mean"), "{arrivals}");
    }
}

#[test]
fn a_rate_limit_has_service_time_only() {
    let bench = Bench::new();
    let typed = [
        ("engine", "null"),
        ("clock", "virtual:1000"),
        ("runtime", "100ms"),
        ("ramp", "0s"),
        ("rate-limit", "10000/s"),
    ];
    let trial = run_one(&bench, &typed);
    let names: Vec<&String> = trial.histograms.keys().collect();
    assert_eq!(names, ["read-service"]);
    assert!(trial.values.contains_key("service-p50"));
    assert!(trial.values.keys().all(|name| !name.contains("latency")));
    assert!(trial.series.keys().all(|name| !name.contains("latency")));
    let pace = trial.evidence.pace.unwrap();
    assert!(pace.open.is_none() && pace.reached_share.unwrap() > 0.99);
}

/// A file system that stands still must show in the latency of what was due, whichever engine
/// writes; that it must not show in the service time of what was submitted is why fio's does not.
#[test]
fn a_frozen_file_system_shows_in_the_latency_of_every_engine() {
    let Some(mount) = LoopMount::ext4(256 << 20) else {
        return;
    };
    let engines = ["io_uring", "libaio", "psync", "posixaio", "mmap"];
    let (ready, all_ready) = std::sync::mpsc::channel();
    let prepared = std::sync::Barrier::new(engines.len());
    let trials = std::thread::scope(|scope| {
        let jobs: Vec<_> = engines
            .iter()
            .map(|engine| {
                let (ready, mount, prepared) = (ready.clone(), &mount, &prepared);
                scope.spawn(move || open_loop_writes(mount.path(), engine, prepared, &ready))
            })
            .collect();
        for _ in engines {
            all_ready.recv().unwrap();
        }
        let frozen_for = mount.freeze(Nanos::from_millis(400));
        let trials: Vec<Trial> = jobs.into_iter().map(|job| job.join().unwrap()).collect();
        frozen_for.map(|frozen| (frozen, trials))
    });
    let Some((frozen, trials)) = trials else {
        return;
    };
    for (engine, trial) in engines.iter().zip(trials) {
        let open = trial.evidence.pace.unwrap().open.unwrap();
        let stalled = frozen.as_secs_f64() * 500.0;
        assert!(
            open.late_starts as f64 > 0.8 * stalled - 64.0,
            "{engine}: {open:?} of {stalled}"
        );
        let ns = |name: &str, p| trial.histograms[name].percentile(p).unwrap() as f64;
        // A sixth and more of the operations were due while nothing moved.
        let least = 0.5 * frozen.as_u64() as f64;
        assert!(
            ns("write", 95.0) > least,
            "{engine} p95 {}",
            ns("write", 95.0)
        );
        assert!(ns("write-service", 50.0) < least, "{engine}");
    }
}

/// Writes at 500/s; says when the window is open.
fn open_loop_writes(
    directory: &std::path::Path,
    engine: &str,
    all_prepared: &std::sync::Barrier,
    ready: &std::sync::mpsc::Sender<()>,
) -> Trial {
    let bench = Bench::inside(directory);
    let test = IoTest::new();
    let typed = [
        ("rw", "randwrite"),
        ("size", "8MiB"),
        ("runtime", "1500ms"),
        ("ramp", "0s"),
        ("direct", "no"),
        ("rate", "500/s"),
        ("engine", engine),
        ("depth", "8"),
    ];
    let case = Bench::case(&test, &typed);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    all_prepared.wait();
    let is_told = std::sync::Once::new();
    let in_window = |progress: fathom_model::Progress| {
        if progress.phase == "measure" {
            is_told.call_once(|| ready.send(()).unwrap());
        }
    };
    let mut cx = bench.context(1);
    cx.progress = &in_window;
    let trial = prepared.run_once(&cx).unwrap();
    prepared.finish(&bench.context(0)).unwrap();
    trial
}

#[test]
fn a_span_is_preconditioned_before_the_first_trial() {
    let bench = Bench::new();
    let test = IoTest::new();
    let case = Bench::case(&test, &small(&[("precondition", "2"), ("verify", "on")]));
    let estimate = test.estimate(&bench.host, &case).unwrap();
    assert_eq!(estimate.prepare_bytes, Bytes::new(3 * (16 << 20)));
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    // What it wrote is as sound as the layout.
    let trial = prepared.run_once(&bench.context(1)).unwrap();
    let verify = trial.evidence.verify.unwrap();
    assert_eq!((verify.faults.len(), verify.read_back_bytes), (0, 16 << 20));
    prepared.finish(&bench.context(0)).unwrap();
    let unmet = test.check(
        &bench.host,
        &Bench::case(
            &test,
            &[
                ("rw", "write"),
                ("layout", "fallocate"),
                ("precondition", "1"),
            ],
        ),
    );
    assert!(unmet[0].what.contains("precondition"), "{unmet:?}");
}

#[test]
fn sound_data_verifies_with_every_engine() {
    let bench = Bench::new();
    for engine in ["auto", "psync", "posixaio", "mmap"] {
        for (mode, distribution) in [
            ("randread", "once"),
            ("write", "once"),
            ("randrw", "zipf:1.2"),
        ] {
            let typed = small(&[
                ("engine", engine),
                ("rw", mode),
                ("distribution", distribution),
                ("jobs", "2"),
                ("verify", "on"),
            ]);
            let verify = run_one(&bench, &typed).evidence.verify.unwrap();
            assert_eq!(verify.faults.len(), 0, "{engine} {mode}: {verify:?}");
            assert_eq!(verify.read_back_bytes, 16 << 20, "{engine} {mode}");
            assert_eq!(verify.checked_bytes > 0, mode != "write", "{engine} {mode}");
        }
    }
}

#[test]
fn a_block_that_changes_between_trials_is_found_and_named() {
    let bench = Bench::new();
    let test = IoTest::new();
    let case = Bench::case(&test, &small(&[("rw", "randread"), ("verify", "on")]));
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let file = bench.context(0).scratch.join(&bench.leftovers()[0]);
    let mut data = std::fs::read(&file).unwrap();
    data[5 * 4096 + 600] ^= 4;
    data.copy_within(8192..12_288, 40_960);
    std::fs::write(&file, data).unwrap();
    let trial = prepared.run_once(&bench.context(1)).unwrap();
    let verify = trial.evidence.verify.unwrap();
    let faults: Vec<(&str, u64)> = verify
        .faults
        .iter()
        .map(|(k, n)| (k.as_str(), *n))
        .collect();
    assert_eq!(faults, [("flipped", 1), ("misdirected", 1)]);
    let mut named = verify.first;
    named.sort();
    assert_eq!(
        named,
        [
            "at offset 20480 (4KiB) is what was written but for 1 bits",
            "at offset 40960 (4KiB) is what was written to offset 8192",
        ]
    );
    prepared.finish(&bench.context(0)).unwrap();
}

#[test]
fn every_engine_and_mode_gives_a_trial() {
    let bench = Bench::new();
    for engine in ["auto", "psync", "posixaio", "mmap"] {
        for mode in [
            "read",
            "write",
            "randread",
            "randwrite",
            "readwrite",
            "randrw",
        ] {
            let trial = run_one(&bench, &small(&[("engine", engine), ("rw", mode)]));
            assert!(trial.values["iops"].value() > 0.0, "{engine} {mode}");
        }
    }
}

#[test]
fn the_null_engine_with_the_virtual_clock_gives_the_same_each_time() {
    let bench = Bench::new();
    let typed = [
        ("engine", "null"),
        ("clock", "virtual:100"),
        ("runtime", "10ms"),
        ("ramp", "0s"),
        ("rw", "randrw"),
    ];
    let once = run_one(&bench, &typed);
    let again = run_one(&bench, &typed);
    assert_eq!(once.values, again.values);
    assert_eq!(once.histograms, again.histograms);
    assert_eq!(once.series, again.series);
    assert!(once.evidence.file.is_none() && once.evidence.direct.is_none());
}

#[test]
fn cases_share_a_file_and_the_last_one_removes_it() {
    let bench = Bench::new();
    let test = IoTest::new();
    let prepare = |more: &[(&'static str, &'static str)]| {
        let case = Bench::case(&test, &small(more));
        test.prepare(&case, &bench.context(0)).unwrap()
    };
    let read = prepare(&[("rw", "read")]);
    let write = prepare(&[("rw", "randwrite")]);
    assert_eq!(bench.leftovers().len(), 1, "{:?}", bench.leftovers());
    let zeros = prepare(&[("rw", "write"), ("contents", "zeros")]);
    let larger = prepare(&[("rw", "read"), ("size", "17MiB")]);
    assert_eq!(bench.leftovers().len(), 3);
    for prepared in [read, zeros, larger] {
        prepared.finish(&bench.context(0)).unwrap();
    }
    assert_eq!(bench.leftovers().len(), 1);
    write.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn readers_and_writers_are_apart_where_writing_moves_blocks() {
    let mut bench = Bench::new();
    let test = IoTest::new();
    let number = |bench: &Bench, mode| {
        let case = Bench::case(&test, &small(&[("rw", mode)]));
        test.estimate(&bench.host, &case).unwrap().layout
    };
    assert_eq!(number(&bench, "read"), number(&bench, "randwrite"));
    bench.host.target.mount.as_mut().unwrap().file_system = "btrfs".to_owned();
    assert_ne!(number(&bench, "read"), number(&bench, "randwrite"));
    assert_eq!(number(&bench, "read"), number(&bench, "randread"));
    assert_eq!(number(&bench, "write"), number(&bench, "randrw"));
}

#[test]
fn a_new_file_for_each_trial_starts_unwritten() {
    let bench = Bench::new();
    let typed = [
        ("rw", "write"),
        ("layout", "fallocate"),
        ("size", "16MiB"),
        ("block-size", "1MiB"),
        ("bytes", "4MiB"),
        ("runtime", "none"),
        ("ramp", "0s"),
    ];
    let trials = bench.run(&IoTest::new(), &typed, 2).unwrap();
    for trial in trials {
        let file = trial.evidence.file.unwrap();
        assert_eq!(
            file.unwritten_bytes,
            Some(12 << 20),
            "a quarter was written"
        );
    }
}

#[test]
fn buffered_reads_start_cold_or_warm_as_asked() {
    let bench = Bench::new();
    let resident = |cache| {
        let typed = small(&[
            ("direct", "no"),
            ("cache", cache),
            ("depth", "1"),
            ("ramp", "0s"),
            ("engine", "psync"),
        ]);
        let evidence = run_one(&bench, &typed).evidence.cache.unwrap();
        assert_eq!(evidence.asked, cache);
        evidence.resident_bytes_before.unwrap()
    };
    assert_eq!(resident("cold"), 0);
    assert_eq!(resident("warm"), 16 << 20);
}

#[test]
fn direct_io_that_cannot_be_used_falls_back_and_says_so() {
    let bench = Bench::new();
    // 1000 bytes are a multiple of no device's sector.
    let odd = [
        ("block-size", "1000B"),
        ("size", "1000000B"),
        ("runtime", "20ms"),
        ("ramp", "0s"),
    ];
    let trial = run_one(&bench, &odd);
    let direct = trial.evidence.direct.unwrap();
    if direct.offset_align_bytes.is_none() {
        skipped("this file system does not tell its alignment");
        return;
    }
    assert!(direct.requested && !direct.opened);
    let note = trial
        .evidence
        .notes
        .iter()
        .find(|note| note.contains("direct I/O cannot be used"));
    assert!(
        note.unwrap().contains("1KB is not a multiple of"),
        "{note:?}"
    );
    let mut typed = odd.to_vec();
    typed.push(("direct", "yes"));
    let case = Bench::case(&IoTest::new(), &typed);
    let unmet = IoTest::new().check(&bench.host, &case);
    assert!(
        unmet[0].what.contains("needs blocks of a multiple of"),
        "{unmet:?}"
    );
}

#[test]
fn tmpfs_is_named_by_the_evidence() {
    let shm = std::path::Path::new("/dev/shm");
    if !shm.is_dir() {
        skipped("no /dev/shm");
        return;
    }
    let bench = Bench::inside(shm);
    let trial = run_one(&bench, &small(&[]));
    let direct = trial.evidence.direct.unwrap();
    // Nothing leaves the page cache there, with O_DIRECT or without.
    assert!(direct.offset_align_bytes.is_none());
    let cache = trial.evidence.cache.unwrap();
    assert_eq!(cache.resident_bytes_before, Some(16 << 20));
}

#[test]
fn an_existing_file_is_read_and_left_alone() {
    let mut bench = Bench::new();
    let path = bench.directory().join("mine");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    bench.device = Some(path.clone());
    bench.host.target.kind = fathom_model::TargetKind::File;
    bench.host.target.path = path.display().to_string();
    let typed = [("size", "1MiB"), ("runtime", "20ms"), ("ramp", "0s")];
    let case = Bench::case(&IoTest::new(), &typed);
    assert_eq!(IoTest::new().check(&bench.host, &case), []);
    let trial = run_one(&bench, &typed);
    assert!(trial.values["iops"].value() > 0.0);
    assert_eq!(std::fs::read(&path).unwrap(), vec![7; 1 << 20]);
    let longer = Bench::case(&IoTest::new(), &[("size", "2MiB")]);
    let unmet = IoTest::new().check(&bench.host, &longer);
    assert!(unmet[0].what.contains("the span ends at 2MiB"), "{unmet:?}");
}

#[test]
fn other_file_systems_say_whether_direct_io_works() {
    for (make, bytes) in [
        (["mkfs.xfs", "-q", "-f"], 320_u64 << 20),
        (["mkfs.btrfs", "-q", "-f"], 128 << 20),
    ] {
        let Some(mount) = LoopMount::of(&make, bytes) else {
            continue;
        };
        let mut bench = Bench::inside(mount.path());
        make[0][5..].clone_into(&mut bench.host.target.mount.as_mut().unwrap().file_system);
        for mode in ["randread", "randwrite"] {
            let trial = run_one(&bench, &small(&[("rw", mode)]));
            let evidence = trial.evidence;
            let direct = evidence.direct.unwrap();
            assert!(
                direct.opened && direct.transfer_ok == Some(true),
                "{make:?} {mode}"
            );
            let cached = direct.transfer_cached_pages.unwrap();
            let after = evidence.cache.unwrap().resident_bytes_after.unwrap();
            // btrfs passes some direct reads through the page cache, depending on the kernel; what
            // matters there is that it is seen.
            if make[0] == "mkfs.xfs" {
                assert_eq!((cached, after), (0, 0), "{mode}");
            }
            assert_eq!(
                evidence.file.unwrap().unwritten_bytes,
                Some(0),
                "{make:?} {mode}"
            );
        }
    }
}

#[test]
fn a_block_device_is_read_written_and_discarded() {
    let Some(device) = LoopDevice::new(16 << 20) else {
        return;
    };
    let mut bench = Bench::new();
    bench.device = Some(device.path().to_path_buf());
    bench.host.target = fathom_model::TargetInfo {
        path: device.path().display().to_string(),
        kind: fathom_model::TargetKind::BlockDevice,
        layers: vec![fathom_model::Layer {
            size_bytes: 16 << 20,
            ..fathom_model::Layer::default()
        }],
        ..fathom_model::TargetInfo::default()
    };
    let test = IoTest::new();
    for mode in ["randread", "write", "randrw", "trim", "randtrim"] {
        let typed = small(&[("rw", mode), ("direct", "yes"), ("engine", "psync")]);
        let case = Bench::case(&test, &typed);
        assert_eq!(test.check(&bench.host, &case), [], "{mode}");
        assert_eq!(
            test.estimate(&bench.host, &case).unwrap().space,
            Bytes::new(0)
        );
        let trial = run_one(&bench, &typed);
        assert!(trial.values["iops"].value() > 0.0, "{mode}");
        assert!(trial.evidence.file.is_none());
        assert!(trial.evidence.direct.unwrap().opened);
    }
    let check = |typed: &[(&str, &str)], expected: &str| {
        let unmet = test.check(&bench.host, &Bench::case(&test, typed));
        assert!(
            unmet.iter().any(|unmet| unmet.what.contains(expected)),
            "{unmet:?}"
        );
    };
    check(&[("size", "32MiB")], "the span ends at 32MiB");
    check(
        &small(&[("rw", "write"), ("layout", "fallocate")]),
        "makes a new file",
    );
    check(
        &small(&[("rw", "trim"), ("punch-holes", "yes")]),
        "is for files",
    );
}

#[test]
fn needs_are_named_before_any_io() {
    let bench = Bench::new();
    let check = |typed: &[(&str, &str)], expected: &str| {
        let case = Bench::case(&IoTest::new(), typed);
        let unmet = IoTest::new().check(&bench.host, &case);
        let found: Vec<&str> = unmet.iter().map(|unmet| unmet.what.as_str()).collect();
        assert!(
            found.iter().any(|what| what.contains(expected)),
            "{expected}: {found:?}"
        );
    };
    check(&[("runtime", "none")], "the trial would never end");
    check(&[("size", "1TiB")], "free, the case needs 1100 GB");
    check(
        &[("rw", "trim")],
        "rw=trim discards, and the target is a directory",
    );
    check(&[("depth", "4096"), ("block-size", "2MiB")], "of memory");
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn a_full_target_is_named_and_nothing_stays() {
    let Some(mount) = LoopMount::ext4(32 << 20) else {
        return;
    };
    let bench = Bench::inside(mount.path());
    let test = IoTest::new();
    for typed in [
        vec![("size", "64MiB")],
        vec![("size", "64MiB"), ("direct", "no"), ("rw", "write")],
        vec![("size", "64MiB"), ("rw", "write"), ("layout", "fallocate")],
    ] {
        let error = bench.run(&test, &typed, 1).unwrap_err();
        let is_full =
            matches!(&error, TestError::NoSpace { needed, .. } if *needed == Bytes::new(64 << 20));
        assert!(is_full, "{typed:?}: {error:?}");
    }
    // The room is there again.
    run_one(&bench, &small(&[]));
}

#[test]
fn holes_are_punched_into_a_file_of_its_own() {
    let bench = Bench::new();
    let typed = small(&[
        ("rw", "trim"),
        ("punch-holes", "yes"),
        ("block-size", "64KiB"),
        ("engine", "psync"),
    ]);
    let trials = bench.run(&IoTest::new(), &typed, 2);
    let trials = trials.unwrap_or_else(|error| panic!("{error}"));
    let io = trials[1].evidence.io.as_ref().unwrap();
    assert!(io.trimmed_bytes > 0);
}

#[test]
fn cancelling_stops_a_long_trial_soon() {
    let bench = Bench::new();
    let test = IoTest::new();
    let case = Bench::case(
        &test,
        &[("size", "16MiB"), ("runtime", "1h"), ("ramp", "0s")],
    );
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let cancel = bench.cancel.clone();
    let in_window = move |progress: fathom_model::Progress| {
        if progress.phase == "measure" {
            cancel.cancel();
        }
    };
    let mut cx = bench.context(1);
    cx.progress = &in_window;
    let result = prepared.run_once(&cx);
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn the_deadline_ends_a_long_trial() {
    let mut bench = Bench::new();
    let test = IoTest::new();
    let case = Bench::case(
        &test,
        &[("size", "16MiB"), ("runtime", "1h"), ("ramp", "0s")],
    );
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    bench.patience = Nanos::from_millis(300);
    let result = prepared.run_once(&bench.context(1));
    assert!(
        matches!(result, Err(TestError::Deadline { .. })),
        "{result:?}"
    );
    prepared.finish(&bench.context(0)).unwrap();
}

#[test]
fn estimates_are_bounded() {
    let bench = Bench::new();
    let test = IoTest::new();
    let estimate = |typed: &[(&str, &str)]| {
        test.estimate(&bench.host, &Bench::case(&test, typed))
            .unwrap()
    };
    let read = estimate(&[]);
    assert_eq!(
        (read.trial_bytes, read.prepare_bytes),
        (Bytes::new(0), Bytes::GIB)
    );
    assert!(read.trial_time >= Nanos::from_millis(5500));
    let write = estimate(&[("rw", "write"), ("block-size", "1MiB")]);
    assert!(write.trial_bytes > Bytes::GIB);
    let limited = estimate(&[("rw", "write"), ("bytes", "10MiB")]);
    assert_eq!(limited.trial_bytes, Bytes::new(10 << 20));
    let slow = estimate(&[("rw", "write"), ("rate-limit", "1MB/s"), ("ramp", "0s")]);
    assert_eq!(slow.trial_bytes, Bytes::new(5_000_000));
    let null = estimate(&[("engine", "null"), ("rw", "write")]);
    assert_eq!(
        (null.trial_bytes, null.space, null.layout),
        (Bytes::new(0), Bytes::new(0), None)
    );
}

#[test]
fn the_jobs_of_the_seeds_become_jobs_of_the_engine() {
    let settings = |typed: &[(&str, &str)]| {
        IoSettings::from_case(&Bench::case(&IoTest::new(), typed)).unwrap()
    };
    let typed = settings(&[
        ("rw", "write"),
        ("block-size", "2MiB"),
        ("depth", "64"),
        ("jobs", "16"),
        ("engine", "io_uring"),
        ("direct", "yes"),
        ("runtime", "60s"),
        ("ramp", "5s"),
        ("cursor", "own"),
        ("submit-batch", "1"),
        ("force-async", "4"),
        ("fixed-buffers", "no"),
        ("fixed-files", "no"),
        ("layout", "fallocate"),
    ]);
    assert_eq!(typed.direct, IoDirect::Yes);
    let place = spec::Place {
        path: "file".into(),
        kind: fathom_io::TargetKind::File,
        direct: true,
        laid_out: false,
    };
    let job = spec::job(&typed, &place, 7);
    expect_test::expect_file!["../../tests/data/seed-job.txt"].assert_debug_eq(&job);
}

#[test]
fn stored_cases_of_another_version_are_refused_with_the_option() {
    let mut case: Case = Bench::case(&IoTest::new(), &[]);
    case.options.set("rw", "backwards");
    let unmet = IoTest::new().check(&Bench::new().host, &case);
    assert!(
        unmet[0]
            .what
            .contains("option rw of test io: \"backwards\""),
        "{unmet:?}"
    );
    let error = IoTest::new()
        .estimate(&Bench::new().host, &case)
        .unwrap_err();
    assert!(matches!(error, TestError::Option(_)));
}

use std::ffi::OsString;

use expect_test::expect;
use fathom_model::{Case, TestError, Trial};
use fathom_testkit::{Bench, conforms, skipped};

use super::*;

fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// The test, when fio is there.
fn installed() -> Option<FioTest> {
    let test = FioTest::new(&search_path());
    if test.fio().is_none_or(Fio::is_too_old) {
        skipped("fio is not installed or too old");
        return None;
    }
    Some(test)
}

fn some_fio() -> Fio {
    Fio {
        path: "fio".into(),
        version: "3.33".to_owned(),
        has_io_uring: true,
    }
}

fn settings(typed: &[(&str, &str)]) -> IoSettings {
    let test = FioTest::new(OsStr::new(""));
    IoSettings::from_case(&Bench::case(&test, typed)).unwrap()
}

const SMALL: [(&str, &str); 3] = [("size", "16MiB"), ("runtime", "300ms"), ("ramp", "100ms")];

fn small(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn versions_are_read_and_compared() {
    assert_eq!(version_of("fio-3.33\n").as_deref(), Some("3.33"));
    assert_eq!(
        version_of("fio-3.36-105-g9d2e").as_deref(),
        Some("3.36-105-g9d2e")
    );
    assert_eq!(version_of("something else"), None);
    let is_old = |version: &str| {
        let version = version.to_owned();
        Fio {
            version,
            ..some_fio()
        }
        .is_too_old()
    };
    assert!(is_old("2.21") && is_old("3.1") && is_old("3.13"));
    assert!(!is_old("3.14") && !is_old("3.36-105-g9d2e") && !is_old("4.0"));
}

#[test]
fn a_seed_case_becomes_the_job_of_its_profile() {
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
    expect![[r#"
        [io]
        filename=/data/fio
        rw=write
        bs=2097152
        ioengine=io_uring
        iodepth=64
        direct=1
        randseed=3
        offset=0
        numjobs=16
        size=1073741824
        runtime=60000000us
        time_based=1
        ramp_time=5000000us
        iodepth_batch_submit=1
        iodepth_batch_complete_min=1
        force_async=4
        lat_percentiles=1
        clat_percentiles=0
        slat_percentiles=0
        group_reporting=1
    "#]]
    .assert_eq(&job::file(
        &typed,
        &some_fio(),
        "/data/fio".as_ref(),
        true,
        7,
    ));
}

#[test]
fn options_become_lines_of_the_job() {
    let check = |typed: &[(&str, &str)], lines: &[&str]| {
        let text = job::file(&settings(typed), &some_fio(), "/a:b".as_ref(), false, 1);
        assert!(text.contains("filename=/a\\:b\n"), "{text}");
        for line in lines {
            assert!(text.lines().any(|known| known == *line), "{line} in {text}");
        }
    };
    check(
        &[("rw", "readwrite"), ("read-percent", "30")],
        &["rw=rw", "rwmixread=30"],
    );
    check(
        &[("block-split", "4k/60:64k/40")],
        &["bssplit=4096/60:65536/40"],
    );
    check(
        &[("rw", "randrw"), ("write-block-size", "8k")],
        &["bs=4096,8192,8192"],
    );
    check(
        &[("jobs", "4"), ("size", "1GiB")],
        &["size=268435456", "offset_increment=268435456"],
    );
    check(
        &[("rate-limit", "1000/s"), ("jobs", "2")],
        &["rate_iops=500"],
    );
    check(
        &[("rate-limit", "10MB/s"), ("cursor", "own")],
        &["rate=10000000", "size=1073741824"],
    );
    check(
        &[("rw", "write"), ("fdatasync-every", "1")],
        &["fdatasync=1"],
    );
    check(
        &[
            ("rw", "write"),
            ("open-sync", "dsync"),
            ("final-flush", "fsync"),
        ],
        &["sync=dsync", "end_fsync=1"],
    );
    check(
        &[("distribution", "zipf:1.1")],
        &["random_distribution=zipf:1.1"],
    );
    check(
        &[("contents", "compressible:40"), ("rw", "write")],
        &["buffer_compress_percentage=40"],
    );
    check(&[("passes", "2"), ("runtime", "none")], &["loops=2"]);
    check(
        &[("engine", "psync"), ("hipri", "yes")],
        &["ioengine=pvsync2", "hipri=1"],
    );
    check(
        &[("cache", "warm"), ("direct", "no")],
        &["pre_read=1", "invalidate=0"],
    );
}

#[test]
fn what_fio_cannot_do_is_a_need() {
    let unmet = |typed: &[(&str, &str)]| {
        let found = job::inexpressible(&settings(typed), &some_fio());
        found
            .into_iter()
            .map(|unmet| unmet.what)
            .collect::<Vec<_>>()
    };
    assert_eq!(unmet(&[]), Vec::<String>::new());
    let both = unmet(&[("cursor", "shared"), ("jobs", "2"), ("stamps", "per-batch")]);
    assert_eq!(
        both,
        [
            "fio has no counterpart of cursor=shared",
            "fio has no counterpart of stamps=per-batch"
        ]
    );
    assert_eq!(unmet(&[("read-percent", "33.3")]).len(), 1);
    let without = Fio {
        has_io_uring: false,
        ..some_fio()
    };
    let found = job::inexpressible(&settings(&[("engine", "io_uring")]), &without);
    assert_eq!(found[0].what, "fio 3.33 was built without io_uring");
    assert_eq!(job::engine(&settings(&[]), &without), "libaio");
}

#[test]
fn a_missing_fio_is_a_need_and_not_an_error() {
    let test = FioTest::new(OsStr::new("/nonexistent"));
    assert_eq!(test.info().implementation.version, "");
    let bench = Bench::new();
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert_eq!(
        (unmet[0].what.as_str(), unmet[0].hint.as_str()),
        ("fio is not installed", "apt-get install fio")
    );
}

#[test]
fn json_is_found_between_messages() {
    let json = r#"{"fio version": "fio-3.33", "jobs": [{"error": 0, "job_runtime": 1000,
        "usr_cpu": 1.5, "sys_cpu": 2.5,
        "read": {"io_bytes": 8192, "total_ios": 2, "runtime": 1000,
                 "lat_ns": {"mean": 150.0, "N": 2, "bins": {"100": 1, "200": 1}}}}]}"#;
    for text in [
        json.to_owned(),
        format!("fio: pid=1, err=5/file:io_u.c\nnote {{ not json\n{json}\ntrailing words"),
        format!("{{\"other\": 1}}\n{json}"),
    ] {
        let output = output::parse(&text).unwrap();
        assert_eq!(output.jobs[0].read.lat_ns.histogram().count(), 2);
        let host = Bench::new().host;
        let settings = settings(&[]);
        let trial = report::trial(
            &output,
            report::Known {
                settings: &settings,
                engine: "io_uring",
                direct: true,
                file_bytes: None,
                host: &host,
                witnessed: None,
            },
        );
        assert_eq!(trial.values["iops"].value(), 2.0);
        assert_eq!(trial.values["latency-mean"].value(), 0.15);
        assert_eq!(trial.evidence.cpu.as_ref().unwrap().system_ns, 25_000_000);
    }
    for text in [
        "",
        "fio: nothing",
        "{\"jobs\": 3}",
        "{",
        "{\"jobs\": [{\"read\": {\"io_bytes\": -1}}]}",
    ] {
        let error = output::parse(text).unwrap_err().to_string();
        assert!(error.contains("holds no JSON with jobs"), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_output_panics(text in "\\PC{0,200}") {
        let _ = output::parse(&text);
        let _ = output::parse(&format!("{{{text}\n{{\"jobs\":[{text}]}}"));
    }
}

#[test]
fn json_of_other_versions_is_read() {
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/fio");
    if !corpus.is_dir() {
        skipped("the shared corpus is not here");
        return;
    }
    let mut read = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !(name.starts_with("fio-3") && name.ends_with(".json")) {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let output = output::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            output.version.starts_with("fio-3"),
            "{name}: {}",
            output.version
        );
        read += 1;
    }
    assert!(read >= 5, "only {read} files");
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed() else { return };
    let mut bench = Bench::new();
    // fio gives no intervals, so the account of the conformance suite is not of them.
    let trials = conforms(&test, &small(&[("rw", "randread")]), &mut bench);
    let evidence = &trials[0].evidence;
    assert!(evidence.direct.as_ref().unwrap().opened);
    assert_eq!(evidence.file.as_ref().unwrap().size_bytes, 16 << 20);
    assert!(evidence.notes.last().unwrap().contains("rw=randread"));
}

fn run_one(test: &FioTest, typed: &[(&str, &str)]) -> Trial {
    let trials = Bench::new().run(test, typed, 1);
    trials
        .unwrap_or_else(|error| panic!("{typed:?}: {error}"))
        .remove(0)
}

#[test]
fn kinds_of_load_give_their_metrics() {
    let Some(test) = installed() else { return };
    let durable = run_one(
        &test,
        &small(&[
            ("rw", "randwrite"),
            ("depth", "1"),
            ("fdatasync-every", "1"),
        ]),
    );
    assert!(durable.evidence.durability.as_ref().unwrap().syncs > 0);
    assert!(durable.values.contains_key("sync-latency-mean"));
    let mixed = run_one(&test, &small(&[("rw", "randrw"), ("engine", "libaio")]));
    assert!(mixed.values["read-iops"].value() > mixed.values["write-iops"].value());
    let new = run_one(
        &test,
        &small(&[
            ("rw", "write"),
            ("layout", "fallocate"),
            ("block-size", "1MiB"),
            ("depth", "8"),
        ]),
    );
    assert!(new.values["bandwidth"].value() > 0.0);
    let buffered = run_one(&test, &small(&[("direct", "no"), ("engine", "psync")]));
    assert!(!buffered.evidence.direct.as_ref().unwrap().requested);
    let jobs = run_one(&test, &small(&[("jobs", "2"), ("engine", "sync")]));
    assert!(jobs.values["iops"].value() > 0.0);
}

#[test]
fn cases_share_a_written_file() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    let prepare = |mode| {
        let case = Bench::case(&test, &small(&[("rw", mode)]));
        test.prepare(&case, &bench.context(0)).unwrap()
    };
    let (read, write) = (prepare("read"), prepare("write"));
    assert_eq!(bench.leftovers().len(), 1);
    read.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers().len(), 1);
    write.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn a_refusal_of_fio_is_reported_with_its_words() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    let case: Case = Bench::case(&test, &small(&[("direct", "yes"), ("block-size", "1000B")]));
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let result = prepared.run_once(&bench.context(1));
    prepared.finish(&bench.context(0)).unwrap();
    match result {
        Err(TestError::Io { doing, .. }) => assert!(doing.contains("O_DIRECT")),
        // Some file systems buffer what is not aligned.
        Ok(_) => skipped("this file system takes unaligned direct I/O"),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn every_seed_is_accepted() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    let case = Bench::case(&test, &small(&[]));
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let mut cx = bench.context(1);
    cx.seed = u64::MAX;
    let trial = prepared.run_once(&cx);
    prepared.finish(&bench.context(0)).unwrap();
    assert!(trial.is_ok(), "{trial:?}");
}

#[test]
fn cancelling_ends_fio() {
    let Some(test) = installed() else { return };
    let bench = Bench::new();
    let case = Bench::case(
        &test,
        &[("size", "16MiB"), ("runtime", "1h"), ("ramp", "0s")],
    );
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let result = std::thread::scope(|scope| {
        let cancel = &bench.cancel;
        let job = bench.scratch().join(format!("fio-{}.job", case.id));
        scope.spawn(move || {
            while !job.exists() {
                std::thread::yield_now();
            }
            cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn fio_and_the_native_test_do_the_same_work() {
    let Some(fio) = installed() else { return };
    let native = fathom_workloads::io_test::IoTest::new();
    let bench = Bench::new();
    for (typed, operations) in [
        // Each block once.
        (vec![("rw", "randread"), ("depth", "16")], 4096),
        (
            vec![("rw", "write"), ("block-size", "64KiB"), ("depth", "4")],
            256,
        ),
        // A part of the blocks, durable.
        (
            vec![
                ("rw", "randwrite"),
                ("depth", "1"),
                ("fdatasync-every", "1"),
                ("bytes", "128KiB"),
            ],
            32,
        ),
        // Two jobs, a half each.
        (
            vec![("rw", "read"), ("jobs", "2"), ("engine", "libaio")],
            4096,
        ),
    ] {
        let mut typed = typed;
        if !typed.iter().any(|(name, _)| *name == "bytes") {
            typed.push(("passes", "1"));
        }
        typed.extend([("size", "16MiB"), ("runtime", "none"), ("ramp", "0s")]);
        let work = |test: &dyn Test| {
            let trial = bench.run(test, &typed, 1);
            let trial = trial
                .unwrap_or_else(|error| panic!("{typed:?}: {error}"))
                .remove(0);
            let io = trial.evidence.io.unwrap();
            let syncs = trial
                .evidence
                .durability
                .map_or(0, |durability| durability.syncs);
            ((io.operations, io.read_bytes, io.written_bytes), syncs)
        };
        let ((theirs, their_syncs), (ours, our_syncs)) = (work(&fio), work(&native));
        assert_eq!(ours, theirs, "{typed:?}");
        // fio does not sync after the last write of a job.
        assert!(
            [0, 1].contains(&(our_syncs - their_syncs)),
            "{our_syncs} {their_syncs}"
        );
        assert_eq!(ours.0, operations, "{typed:?}");
    }
}

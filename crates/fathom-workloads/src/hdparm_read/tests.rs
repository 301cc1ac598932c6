use fathom_base::Cancel;
use fathom_base::process::{Program, run};
use fathom_testkit::{Bench, conforms, skipped};

use super::*;
use crate::classic::testing::{SmallDisk, tool};
use crate::common::testing::LoopDevice;

const SMALL: [(&str, &str); 3] = [("file-size", "8MiB"), ("settle", "0s"), ("time", "10s")];

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&HdparmReadTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    // The whole file, long before the time is over.
    assert_eq!(trial.histograms["read"].count(), 4);
    let io = trial.evidence.io.as_ref().unwrap();
    assert_eq!(
        (io.read_bytes, io.block_size_bytes),
        (8 << 20, Some(2 << 20))
    );
    let notes = &trial.evidence.notes;
    assert!(notes[0].contains("laid out on the target"), "{notes:?}");
    assert!(notes[1].contains("before the time was over"), "{notes:?}");
    let data = trial.evidence.data.as_ref().unwrap();
    assert!(data.compressible_share.unwrap() < 0.01);
    let cache = trial.evidence.cache.as_ref().unwrap();
    assert_eq!(cache.asked, "cold");
}

#[test]
fn the_file_is_read_from_the_disk_each_time() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let bench = Bench::inside(disk.path());
    for trial in bench.run(&HdparmReadTest::new(), &SMALL, 3).unwrap() {
        let cache = trial.evidence.cache.as_ref().unwrap();
        assert_eq!(cache.resident_bytes_before, Some(0));
        assert_eq!(cache.resident_bytes_after, Some(0));
        assert_eq!(
            trial.evidence.file.as_ref().unwrap().unwritten_bytes,
            Some(0)
        );
    }
}

#[test]
fn the_time_ends_the_reading() {
    let bench = Bench::new();
    let typed = [("file-size", "256MiB"), ("settle", "0s"), ("time", "10ms")];
    let trial = &bench.run(&HdparmReadTest::new(), &typed, 1).unwrap()[0];
    let io = trial.evidence.io.as_ref().unwrap();
    assert!(io.window_ns >= 10_000_000);
    assert_eq!(io.read_bytes, io.operations * BLOCK);
    assert_eq!(trial.evidence.notes.len(), 1, "{:?}", trial.evidence.notes);
}

#[test]
fn the_offset_is_passed_over() {
    let bench = Bench::new();
    let typed = [&SMALL[..], &[("offset", "3MiB")]].concat();
    let trial = &bench.run(&HdparmReadTest::new(), &typed, 1).unwrap()[0];
    // Five MiB are left: two whole pieces.
    assert_eq!(trial.evidence.counts["bytes-read"], 4 << 20);
    let test = HdparmReadTest::new();
    let typed = [&SMALL[..], &[("offset", "7MiB")]].concat();
    let unmet = test.check(&bench.host, &Bench::case(&test, &typed));
    assert_eq!(
        unmet[0].what,
        "the file has 8MiB, no piece of 2 MiB at offset 7MiB"
    );
}

#[test]
fn a_device_is_read_itself_and_left_cold() {
    let Some(device) = LoopDevice::new(16 << 20) else {
        return;
    };
    let mut bench = Bench::new();
    bench.device = Some(device.path().to_path_buf());
    bench.host.target.kind = TargetKind::BlockDevice;
    bench.host.target.path = device.path().display().to_string();
    bench.host.target.mount = None;
    for direct in ["no", "yes"] {
        let typed = [("settle", "0s"), ("time", "10s"), ("direct", direct)];
        let test = HdparmReadTest::new();
        assert_eq!(test.check(&bench.host, &Bench::case(&test, &typed)), []);
        for trial in bench.run(&test, &typed, 2).unwrap() {
            assert_eq!(trial.evidence.counts["bytes-read"], 16 << 20);
            let cache = trial.evidence.cache.as_ref().unwrap();
            assert_eq!(cache.resident_bytes_before, Some(0));
            let note = &trial.evidence.notes[0];
            assert!(
                note.starts_with("read the block device /dev/loop"),
                "{note}"
            );
            assert_eq!(trial.evidence.direct.is_some(), direct == "yes");
        }
    }
}

#[test]
fn a_target_that_cannot_be_read_is_named() {
    let mut bench = Bench::new();
    bench.host.target.kind = TargetKind::File;
    bench.host.target.path = bench.directory().join("missing").display().to_string();
    let test = HdparmReadTest::new();
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert!(unmet[0].what.contains("missing"), "{unmet:?}");
    std::fs::write(bench.directory().join("missing"), [0; 100]).unwrap();
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert!(
        unmet[0]
            .what
            .ends_with("has 100B, no piece of 2 MiB at offset 0B")
    );
}

#[test]
fn a_full_disk_is_a_clear_error_and_leaves_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let bench = Bench::inside(disk.path());
    let test = HdparmReadTest::new();
    let case = Bench::case(&test, &[("file-size", "256MiB")]);
    let Err(error) = test.prepare(&case, &bench.context(0)) else {
        panic!("256 MiB fit on 64 MiB");
    };
    assert!(matches!(error, TestError::NoSpace { .. }), "{error}");
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn cancelling_ends_the_quiet_time() {
    let bench = Bench::new();
    let typed = [("file-size", "2MiB"), ("settle", "600s")];
    let test = HdparmReadTest::new();
    let case = Bench::case(&test, &typed);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| bench.cancel.cancel());
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn the_deadline_ends_a_trial() {
    let bench = Bench::new();
    let test = HdparmReadTest::new();
    let case = Bench::case(&test, &[("file-size", "2MiB"), ("settle", "600s")]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let mut cx = bench.context(1);
    cx.deadline = Nanos::new(0);
    let error = prepared.run_once(&cx).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

/// The native test beside hdparm on one loop device, alternating; prints what both say.
#[test]
#[ignore = "takes a minute; a comparison, run by hand with --nocapture"]
#[expect(
    clippy::print_stderr,
    reason = "its figures are for the one who runs it"
)]
fn beside_the_original() {
    let (Some(original), Some(device)) = (tool("hdparm"), LoopDevice::new(512 << 20)) else {
        skipped("no hdparm or no loop device");
        return;
    };
    let mut bench = Bench::new();
    bench.device = Some(device.path().to_path_buf());
    bench.host.target.kind = TargetKind::BlockDevice;
    for (direct, arguments) in [("no", vec!["-t"]), ("yes", vec!["-t", "--direct"])] {
        for _ in 0..5 {
            let ours = bench
                .run(&HdparmReadTest::new(), &[("direct", direct)], 1)
                .unwrap();
            let ours = ours[0].values["read"].value();
            let command = Program::new(&original)
                .args(arguments.clone())
                .args([device.path().as_os_str()]);
            let theirs = run(&command, &Cancel::new()).unwrap().stdout_text();
            eprintln!("direct={direct} native {ours:.2} MiB/s; {}", theirs.trim());
        }
    }
}

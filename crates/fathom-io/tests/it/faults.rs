//! Devices and file systems that refuse, fill up or hang.

use std::time::Duration;

use fathom_base::{Bytes, Cancel, Nanos};
use fathom_io::contents::Filler;
use fathom_io::{
    Contents, EngineKind, Hooks, IoError, JobSpec, LayoutSpec, Mode, Snapshot, TargetKind, Verify,
    lay_out, run,
};

use crate::common::{
    BLOCK, Loop, SIZE, SmallFileSystem, engines, is_root, laid_out, measure, passes, runtime, spec,
};

#[test]
fn a_full_file_system_is_named_before_the_job_starts() {
    if !is_root("a file system that is full") {
        return;
    }
    let Some(fs) = SmallFileSystem::new(Bytes::new(16 << 20)) else {
        return;
    };
    let path = fs.directory.join("file");
    for engine in engines() {
        let job = JobSpec {
            size: Bytes::new(64 << 20),
            ..spec(&path, engine, Mode::Write)
        };
        let error = measure(&job).unwrap_err();
        assert!(
            matches!(error, IoError::NoSpace { .. }),
            "{engine}: {error}"
        );
        assert_eq!(error.os_error(), Some(libc::ENOSPC));
        assert!(!path.exists(), "a file that could not be made is not left");
    }
    // Blocks of a file just removed are free only when the journal says so.
    let sync = std::process::Command::new("sync")
        .arg("-f")
        .arg(&fs.directory)
        .status();
    assert!(sync.unwrap().success());
    std::fs::write(&path, b"there before").unwrap();
    let job = JobSpec {
        size: Bytes::new(64 << 20),
        ..spec(&path, EngineKind::Psync, Mode::Write)
    };
    assert!(measure(&job).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"there before");
    std::fs::remove_file(&path).unwrap();
    let layout = LayoutSpec {
        path: path.clone(),
        size: Bytes::new(64 << 20),
        contents: Contents::Random,
        seed: 1,
        direct: true,
        stuck_after: Nanos::from_secs(60),
    };
    let error = lay_out(&layout, &Cancel::new(), &|_| {}).unwrap_err();
    assert!(matches!(error, IoError::NoSpace { .. }), "{error}");
    assert!(!path.exists(), "a layout that failed leaves no file");
}

/// A sparse file of the right length needs space only when it is written.
#[test]
fn a_file_system_that_fills_up_is_named_with_the_place() {
    if !is_root("a file system that fills up") {
        return;
    }
    let Some(fs) = SmallFileSystem::new(Bytes::new(16 << 20)) else {
        return;
    };
    for engine in engines() {
        let path = fs.directory.join("file");
        std::fs::File::create(&path)
            .unwrap()
            .set_len(64 << 20)
            .unwrap();
        for direct in [true, false] {
            if direct && engine == EngineKind::Mmap {
                continue;
            }
            let job = JobSpec {
                size: Bytes::new(64 << 20),
                depth: 4,
                direct,
                ..spec(&path, engine, Mode::RandWrite)
            };
            let error = measure(&job).unwrap_err();
            match error {
                IoError::NoSpace { length, .. } => assert!(length <= Bytes::new(BLOCK)),
                other => panic!("{engine} direct {direct}: {other}"),
            }
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_frozen_file_system_is_noticed() {
    if !is_root("a file system that hangs") {
        return;
    }
    let Some(fs) = SmallFileSystem::new(Bytes::new(32 << 20)) else {
        return;
    };
    let path = laid_out(&fs.directory.join("file"), SIZE);
    if !fs.freeze("--freeze") {
        crate::common::skip("fsfreeze: does not work here");
        return;
    }
    let job = JobSpec {
        stuck_after: Nanos::from_secs(1),
        stop: runtime(3_600_000),
        ..spec(&path, EngineKind::Psync, Mode::RandWrite)
    };
    let order = Order::default();
    let error = run(&job, &order, &Cancel::new()).unwrap_err();
    assert_eq!(*order.0.lock().unwrap(), ["begin", "end"]);
    match &error {
        IoError::Stuck { what, age, .. } => {
            assert_eq!(*what, "write");
            assert!(*age >= Nanos::from_secs(1));
        }
        other => panic!("{other}"),
    }
    // A cancel does not wait for ever either.
    let cancel = Cancel::new();
    cancel.cancel();
    let error = run(&job, &fathom_io::NoHooks, &cancel).unwrap_err();
    assert!(matches!(error, IoError::Cancelled { .. }), "{error}");
    assert!(fs.freeze("--unfreeze"));
    wait_until_threads_are_gone();
}

/// Abandoned threads hold the file until the device answers.
fn wait_until_threads_are_gone() {
    let is_ours = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|n| n.trim() == "io-0")
    };
    for _ in 0..100 {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        if !tasks.flatten().any(|t| is_ours(&t)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_block_device_is_written_and_read() {
    if !is_root("a block device") {
        return;
    }
    let Some(device) = Loop::new(SIZE) else {
        return;
    };
    for engine in engines() {
        for direct in [false, true] {
            if direct && engine == EngineKind::Mmap {
                continue;
            }
            let mut write = JobSpec {
                depth: 8,
                direct,
                ..spec(&device.device, engine, Mode::RandWrite)
            };
            write.target.kind = TargetKind::BlockDevice;
            write.sync.final_flush = Some(fathom_io::SyncKind::Fsync);
            let report = measure(&write).unwrap();
            assert_eq!(report.write.bytes, SIZE.as_u64(), "{engine}");
            let read = JobSpec {
                mode: Mode::Read,
                verify: Verify::Pattern,
                ..write.clone()
            };
            assert_eq!(measure(&read).unwrap().read.corrupt, 0, "{engine}");
        }
        let mut trim = JobSpec {
            stop: passes(1),
            ..spec(&device.device, engine, Mode::Trim)
        };
        trim.target.kind = TargetKind::BlockDevice;
        match measure(&trim) {
            Ok(report) => {
                assert_eq!(report.trim.ops, SIZE.as_u64() / BLOCK);
                let data = std::fs::read(&device.device).unwrap();
                let filler = Filler::new(Contents::Random, 1);
                assert!(filler.verify(&data, 0).is_err(), "{engine}: data are gone");
            }
            Err(error) if error.os_error() == Some(libc::EOPNOTSUPP) => {
                crate::common::skip("discard on a loop device: not supported here");
            }
            Err(error) => panic!("{engine}: {error}"),
        }
    }
}

#[test]
fn a_block_device_that_the_caller_holds_is_written_all_the_same() {
    if !is_root("a block device") {
        return;
    }
    let Some(device) = Loop::new(SIZE) else {
        return;
    };
    let claim = rustix::fs::open(
        &device.device,
        rustix::fs::OFlags::RDWR | rustix::fs::OFlags::EXCL,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let mut job = spec(&device.device, EngineKind::Psync, Mode::Write);
    job.target.kind = TargetKind::BlockDevice;
    let error = measure(&job).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EBUSY), "{error}");
    job.target.kind = TargetKind::ClaimedDevice;
    assert_eq!(measure(&job).unwrap().write.bytes, SIZE.as_u64());
    drop(claim);
}

#[test]
fn a_block_device_that_is_too_small_or_in_use_is_refused() {
    if !is_root("a mounted block device") {
        return;
    }
    let Some(fs) = SmallFileSystem::new(Bytes::new(16 << 20)) else {
        return;
    };
    let mut job = spec(fs.device(), EngineKind::Psync, Mode::Write);
    job.target.kind = TargetKind::BlockDevice;
    let error = measure(&job).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EBUSY), "{error}");
    assert!(error.hint().is_some());
    job.mode = Mode::Read;
    assert!(measure(&job).is_ok(), "reading it is harmless");
    job.size = Bytes::new(17 << 20);
    let error = measure(&job).unwrap_err();
    assert!(matches!(error, IoError::TooShort { .. }), "{error}");
}

/// Counts the borders of the window in the order they come.
#[derive(Default)]
struct Order(std::sync::Mutex<Vec<&'static str>>);

impl Hooks for Order {
    fn window_begin(&self) {
        self.0.lock().unwrap().push("begin");
    }

    fn window_end(&self) {
        self.0.lock().unwrap().push("end");
    }

    fn progress(&self, _: &Snapshot) {}
}

#[test]
fn hooks_come_in_pairs_also_when_a_job_fails() {
    let directory = crate::common::scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    let mut job = spec(&path, EngineKind::Psync, Mode::Read);
    job.verify = Verify::Pattern;
    job.seed = 2;
    let order = Order::default();
    let error = run(&job, &order, &Cancel::new()).unwrap_err();
    assert!(matches!(error, IoError::Corrupt { .. }), "{error}");
    assert_eq!(*order.0.lock().unwrap(), ["begin", "end"]);
    let order = Order::default();
    job.target.path = directory.path().join("missing");
    assert!(run(&job, &order, &Cancel::new()).is_err());
    assert!(order.0.lock().unwrap().is_empty(), "nothing was opened");
}

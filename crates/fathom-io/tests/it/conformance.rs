//! What every engine must do.

use std::sync::atomic::{AtomicU32, Ordering};

use fathom_base::{Bytes, Cancel, Nanos, Percent};
use fathom_io::contents::Filler;
use fathom_io::{
    BlockSizes, Contents, Cursor, EngineKind, Hooks, IoError, JobSpec, Mode, NoHooks, OpenSync,
    SizeShare, Snapshot, SyncKind, TargetKind, Verify, run,
};

use crate::common::{
    BLOCK, SIZE, engines, has_direct, laid_out, measure, passes, runtime, scratch, spec,
};

/// Each engine, buffered and (where that works) direct.
fn each_way(check: impl Fn(EngineKind, bool, &std::path::Path)) {
    let directory = scratch();
    let direct_works = has_direct(directory.path());
    for engine in engines() {
        for direct in [false, true] {
            if direct && (!direct_works || engine == EngineKind::Mmap) {
                continue;
            }
            let name = format!("{engine}-{direct}");
            check(engine, direct, &directory.path().join(name));
        }
    }
}

fn verified(spec: &JobSpec) -> JobSpec {
    JobSpec {
        mode: Mode::RandRead,
        verify: Verify::Pattern,
        ..spec.clone()
    }
}

#[test]
fn data_written_are_data_read() {
    each_way(|engine, direct, path| {
        for (depth, mode) in [
            (1, Mode::Write),
            (2, Mode::RandWrite),
            (64, Mode::RandWrite),
        ] {
            let what = format!("{engine} direct {direct} depth {depth}");
            let write = JobSpec {
                direct,
                depth,
                ..spec(path, engine, mode)
            };
            let report = measure(&write).unwrap();
            assert_eq!(report.write.ops, SIZE.as_u64() / BLOCK, "{what}");
            assert_eq!(report.write.bytes, SIZE.as_u64(), "{what}");
            assert_eq!(report.engine.used, engine);
            let data = std::fs::read(path).unwrap();
            assert_eq!(data.len() as u64, SIZE.as_u64(), "{what}");
            let filler = Filler::new(Contents::Random, 1);
            assert_eq!(filler.verify(&data, 0), Ok(()), "{what}");
            let report = measure(&verified(&write)).unwrap();
            assert_eq!(report.read.ops, SIZE.as_u64() / BLOCK, "{what}");
            assert_eq!(report.read.corrupt, 0, "{what}");
            std::fs::remove_file(path).unwrap();
        }
    });
}

#[test]
fn great_depth_works() {
    let directory = scratch();
    let direct = has_direct(directory.path());
    for engine in engines() {
        // A pool of threads has no use for so many, and others have no depth.
        if !matches!(engine, EngineKind::IoUring | EngineKind::Libaio) {
            continue;
        }
        let write = JobSpec {
            direct,
            depth: 2048,
            block_sizes: BlockSizes::one(Bytes::new(512)),
            ..spec(&directory.path().join("file"), engine, Mode::RandWrite)
        };
        let report = match measure(&write) {
            // A disk with sectors of 4 KiB.
            Err(IoError::Unaligned { .. }) => continue,
            other => other.unwrap(),
        };
        assert_eq!(report.write.bytes, SIZE.as_u64(), "{engine}");
        assert!(report.max_depth_reached <= 2048, "{engine}");
        assert_eq!(measure(&verified(&write)).unwrap().read.corrupt, 0);
    }
}

#[test]
fn every_block_size_works_buffered() {
    let directory = scratch();
    for engine in engines() {
        for size in [1, 511, 512, 5000, 1 << 20] {
            let path = directory.path().join(format!("{engine}-{size}"));
            let span = Bytes::new(if size < 512 { 4096 } else { 2 << 20 });
            let write = JobSpec {
                block_sizes: BlockSizes::one(Bytes::new(size)),
                size: span,
                depth: 4,
                ..spec(&path, engine, Mode::Write)
            };
            let report = measure(&write).unwrap();
            let ops = span.as_u64() / size;
            assert_eq!((report.write.ops, report.write.bytes), (ops, ops * size));
            let data = std::fs::read(&path).unwrap();
            let filler = Filler::new(Contents::Random, 1);
            let covered = &data[..(ops * size) as usize];
            if size % 512 == 0 {
                assert_eq!(filler.verify(covered, 0), Ok(()), "{engine} {size}");
            } else {
                assert!(covered.iter().any(|&b| b != 0), "{engine} {size}");
            }
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn corrupted_data_are_found() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[0xFF], 10 * BLOCK + 700).unwrap();
    }
    for engine in engines() {
        let read = JobSpec {
            depth: 8,
            ..verified(&spec(&path, engine, Mode::Read))
        };
        let error = measure(&read).unwrap_err();
        match error {
            IoError::Corrupt {
                offset, mismatch, ..
            } => {
                assert_eq!((offset, mismatch.offset), (10 * BLOCK, 10 * BLOCK + 512));
            }
            other => panic!("{engine}: {other}"),
        }
    }
}

#[test]
fn jobs_write_their_parts() {
    each_way(|engine, direct, path| {
        let write = JobSpec {
            direct,
            depth: 3,
            jobs: 4,
            cursor: Cursor::Partitioned,
            ..spec(path, engine, Mode::RandWrite)
        };
        let report = measure(&write).unwrap();
        assert_eq!(report.write.ops, SIZE.as_u64() / BLOCK, "{engine}");
        assert_eq!(measure(&verified(&write)).unwrap().read.corrupt, 0);
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn jobs_share_one_cursor() {
    let directory = scratch();
    for engine in engines() {
        let path = directory.path().join(engine.name());
        let write = JobSpec {
            depth: 2,
            jobs: 3,
            cursor: Cursor::Shared,
            ..spec(&path, engine, Mode::Write)
        };
        let report = measure(&write).unwrap();
        assert_eq!(report.write.ops, SIZE.as_u64() / BLOCK, "{engine}");
        assert_eq!(measure(&verified(&write)).unwrap().read.corrupt, 0);
    }
}

#[test]
fn mixes_keep_their_share() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    for engine in engines() {
        let mixed = JobSpec {
            depth: 4,
            stop: passes(2),
            block_sizes: BlockSizes::split(&[
                SizeShare {
                    size: Bytes::new(4096),
                    share: Percent::new(50.0).unwrap(),
                },
                SizeShare {
                    size: Bytes::new(8192),
                    share: Percent::new(50.0).unwrap(),
                },
            ]),
            ..spec(
                &path,
                engine,
                Mode::RandMixed {
                    read_percent: Percent::new(70.0).unwrap(),
                },
            )
        };
        let report = measure(&mixed).unwrap();
        let ops = report.ops();
        let reads = report.read.ops as f64 / ops as f64;
        assert!((0.65..0.75).contains(&reads), "{engine}: {reads}");
        assert_eq!(report.read.ops + report.write.ops, ops);
        let mean = report.bytes() as f64 / ops as f64;
        assert!((5800.0..6500.0).contains(&mean), "{engine}: {mean}");
        let data = std::fs::read(&path).unwrap();
        assert_eq!(Filler::new(Contents::Random, 1).verify(&data, 0), Ok(()));
    }
}

#[test]
fn unaligned_direct_io_is_refused_before_it_starts() {
    let directory = scratch();
    if !has_direct(directory.path()) {
        return;
    }
    let path = laid_out(&directory.path().join("file"), SIZE);
    for engine in engines() {
        if engine == EngineKind::Mmap {
            continue;
        }
        let plain = JobSpec {
            direct: true,
            ..spec(&path, engine, Mode::RandRead)
        };
        for (what, job) in [
            (
                "block size",
                JobSpec {
                    block_sizes: BlockSizes::one(Bytes::new(1000)),
                    ..plain.clone()
                },
            ),
            (
                "offset",
                JobSpec {
                    offset: Bytes::new(100),
                    size: Bytes::MIB,
                    ..plain.clone()
                },
            ),
        ] {
            match measure(&job).unwrap_err() {
                // Where statx tells the alignment.
                IoError::Unaligned { what: found, .. } => assert_eq!(found, what),
                // Where only the transfer does.
                IoError::Transfer { source, .. } => {
                    assert_eq!(source.raw_os_error(), Some(libc::EINVAL));
                }
                other => panic!("{engine}: {other}"),
            }
        }
    }
}

/// Raises a flag at the first sign of progress.
struct CancelOnProgress<'a>(&'a Cancel);

impl Hooks for CancelOnProgress<'_> {
    fn progress(&self, snapshot: &Snapshot) {
        if snapshot.ops > 0 {
            self.0.cancel();
        }
    }
}

#[test]
fn a_cancel_brings_everything_back() {
    each_way(|engine, direct, path| {
        let path = laid_out(path, SIZE);
        let endless = JobSpec {
            direct,
            depth: 16,
            jobs: 2,
            stop: runtime(3_600_000),
            ..spec(&path, engine, Mode::RandRead)
        };
        let cancel = Cancel::new();
        let error = run(&endless, &CancelOnProgress(&cancel), &cancel).unwrap_err();
        match error {
            IoError::Cancelled { abandoned, .. } => assert_eq!(abandoned, 0, "{engine}"),
            other => panic!("{engine}: {other}"),
        }
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn a_cancel_raised_before_ends_at_once() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    let cancel = Cancel::new();
    cancel.cancel();
    let job = JobSpec {
        stop: runtime(3_600_000),
        ramp: Nanos::from_secs(3600),
        ..spec(&path, EngineKind::Psync, Mode::RandRead)
    };
    let error = run(&job, &NoHooks, &cancel).unwrap_err();
    assert!(matches!(error, IoError::Cancelled { .. }), "{error}");
}

extern "C" fn ignore(_: libc::c_int) {}

/// Sends a signal that interrupts system calls to every job's thread, at each progress.
struct Interrupt {
    sent: AtomicU32,
    enough: Cancel,
}

impl Hooks for Interrupt {
    fn progress(&self, _: &Snapshot) {
        let process = std::process::id().cast_signed();
        for task in std::fs::read_dir("/proc/self/task").unwrap() {
            let task = task.unwrap();
            let name = std::fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if name.starts_with("io-") {
                let id: i32 = task.file_name().to_str().unwrap().parse().unwrap();
                // SAFETY: sends a signal whose handler does nothing.
                unsafe { libc::syscall(libc::SYS_tgkill, process, id, libc::SIGUSR1) };
                self.sent.fetch_add(1, Ordering::Relaxed);
            }
        }
        if self.sent.load(Ordering::Relaxed) > 20 {
            self.enough.cancel();
        }
    }
}

#[test]
fn interrupted_system_calls_are_not_errors() {
    // SAFETY: zeros are a valid sigaction.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = ignore as *const () as usize;
    // SAFETY: a complete structure; the handler does nothing. Without SA_RESTART calls end.
    unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) };
    each_way(|engine, direct, path| {
        let path = laid_out(path, SIZE);
        let job = JobSpec {
            direct,
            depth: 8,
            jobs: 2,
            stop: runtime(3_600_000),
            // Slow enough that threads sleep in the kernel when the signal comes.
            pace: fathom_io::Pace::Closed(fathom_base::Rate::Operations(200.0)),
            ..spec(&path, engine, Mode::RandRead)
        };
        let hooks = Interrupt {
            sent: AtomicU32::new(0),
            enough: Cancel::new(),
        };
        let error = run(&job, &hooks, &hooks.enough).unwrap_err();
        assert!(
            matches!(error, IoError::Cancelled { abandoned: 0, .. }),
            "{engine}: {error}"
        );
        std::fs::remove_file(&path).unwrap();
    });
}

/// Cuts the file at the first sign of progress.
struct Cut<'a>(&'a std::path::Path);

impl Hooks for Cut<'_> {
    fn progress(&self, _: &Snapshot) {
        let file = std::fs::File::options().write(true).open(self.0).unwrap();
        file.set_len(SIZE.as_u64() / 2 + 100).unwrap();
    }
}

#[test]
fn a_file_cut_while_it_is_read_is_an_error_with_its_place() {
    each_way(|engine, direct, path| {
        let path = laid_out(path, SIZE);
        let job = JobSpec {
            direct,
            depth: 4,
            stop: runtime(3_600_000),
            ..spec(&path, engine, Mode::RandRead)
        };
        let error = run(&job, &Cut(&path), &Cancel::new()).unwrap_err();
        let offset = match error {
            IoError::EndOfFile { offset, .. } => offset,
            // A mapping has no end of file, only missing pages. A direct read that ends in the
            // middle of a sector goes on at an offset that is not aligned.
            IoError::Transfer { offset, .. } => offset,
            other => panic!("{engine}: {other}"),
        };
        assert!(offset >= SIZE.as_u64() / 2, "{engine}: {offset}");
        std::fs::remove_file(&path).unwrap();
    });
}

#[test]
fn syncs_are_made_and_counted() {
    let directory = scratch();
    for engine in engines() {
        let path = directory.path().join(engine.name());
        let mut job = JobSpec {
            depth: 4,
            size: Bytes::new(64 * BLOCK),
            ..spec(&path, engine, Mode::RandWrite)
        };
        job.sync.every = Some((10, SyncKind::Fdatasync));
        job.sync.final_flush = Some(SyncKind::Fsync);
        let report = measure(&job).unwrap();
        assert_eq!(report.write.ops, 64);
        assert_eq!(report.sync.ops, 6 + 1, "{engine}");
        assert_eq!(report.sync.latency.count(), 7);
        let flush = report.final_flush.unwrap();
        assert!(flush.as_u64() > 0 && flush < report.window, "{engine}");
    }
}

#[test]
fn files_can_be_opened_for_durable_writes() {
    let directory = scratch();
    for engine in engines() {
        for open in [OpenSync::Sync, OpenSync::Dsync] {
            let path = directory.path().join(engine.name());
            let mut job = JobSpec {
                size: Bytes::new(16 * BLOCK),
                ..spec(&path, engine, Mode::Write)
            };
            job.sync.open = open;
            assert_eq!(measure(&job).unwrap().write.ops, 16);
        }
    }
}

#[test]
fn targets_that_cannot_be_used_are_refused_with_their_path() {
    let directory = scratch();
    let missing = directory.path().join("missing");
    let short = laid_out(&directory.path().join("short"), Bytes::MIB);
    for engine in engines() {
        let error = measure(&spec(&missing, engine, Mode::Read)).unwrap_err();
        assert!(matches!(error, IoError::Open { .. }), "{engine}: {error}");
        assert!(error.to_string().contains("missing"), "{error}");
        assert!(!missing.exists(), "reading makes no file");
        let error = measure(&spec(directory.path(), engine, Mode::Read)).unwrap_err();
        match error {
            IoError::WrongKind { found, .. } => assert_eq!(found, "a directory"),
            other => panic!("{engine}: {other}"),
        }
        let error = measure(&spec(&short, engine, Mode::Read)).unwrap_err();
        assert!(matches!(error, IoError::TooShort { .. }), "{error}");
        assert!(error.hint().is_some());
        let mut device = spec(&short, engine, Mode::Read);
        device.target.kind = TargetKind::BlockDevice;
        let error = measure(&device).unwrap_err();
        assert!(matches!(error, IoError::WrongKind { .. }), "{error}");
    }
}

#[test]
fn discards_punch_holes_where_asked() {
    let directory = scratch();
    for engine in engines() {
        let path = laid_out(&directory.path().join(engine.name()), SIZE);
        let mut job = JobSpec {
            size: Bytes::new(SIZE.as_u64() / 2),
            ..spec(&path, engine, Mode::RandTrim)
        };
        job.engine_options.punch_holes = true;
        let report = match measure(&job) {
            Ok(report) => report,
            Err(error) if error.os_error() == Some(libc::EOPNOTSUPP) => {
                crate::common::skip("punching holes: not supported here");
                return;
            }
            Err(error) => panic!("{engine}: {error}"),
        };
        assert_eq!(report.trim.ops, SIZE.as_u64() / 2 / BLOCK);
        let data = std::fs::read(&path).unwrap();
        let (first, second) = data.split_at(data.len() / 2);
        assert!(first.iter().all(|&b| b == 0), "{engine}");
        let filler = Filler::new(Contents::Random, 1);
        assert_eq!(filler.verify(second, SIZE.as_u64() / 2), Ok(()));
    }
}

/// Options of the engines change how, not what.
#[test]
fn options_of_engines_do_not_change_the_data() {
    let directory = scratch();
    let direct = has_direct(directory.path());
    let path = directory.path().join("file");
    let plain = |engine| JobSpec {
        depth: 8,
        direct,
        ..spec(&path, engine, Mode::RandWrite)
    };
    let mut jobs = Vec::new();
    for engine in engines() {
        let mut job = plain(engine);
        job.engine_options.submit_batch = 3;
        job.engine_options.reap_batch = 2;
        jobs.push(job);
        let mut job = plain(engine);
        job.engine_options.reap_batch = 0;
        jobs.push(job);
        match engine {
            EngineKind::IoUring => {
                let mut job = plain(engine);
                job.engine_options.fixed_buffers = false;
                job.engine_options.fixed_files = false;
                jobs.push(job);
                let mut job = plain(engine);
                job.engine_options.force_async = Some(4);
                job.engine_options.write_dsync = true;
                jobs.push(job);
                let mut job = plain(engine);
                job.engine_options.sqpoll = true;
                jobs.push(job);
            }
            EngineKind::Libaio => {
                let mut job = plain(engine);
                job.engine_options.user_space_reap = false;
                jobs.push(job);
            }
            EngineKind::Psync | EngineKind::PosixAio => {
                let mut job = plain(engine);
                job.engine_options.write_dsync = true;
                jobs.push(job);
                let mut job = plain(engine);
                job.engine_options.nowait = true;
                jobs.push(job);
                if engine == EngineKind::PosixAio {
                    let mut job = plain(engine);
                    job.engine_options.pool_threads = Some(1);
                    jobs.push(job);
                }
            }
            EngineKind::Mmap | EngineKind::Null => {}
        }
    }
    for mut job in jobs {
        if job.engine == EngineKind::Mmap {
            job.direct = false;
        }
        let what = format!("{} {:?}", job.engine, job.engine_options);
        let report = match measure(&job) {
            Ok(report) => report,
            Err(error) if error.os_error() == Some(libc::EOPNOTSUPP) => {
                crate::common::skip(&format!("{what}: not supported here"));
                continue;
            }
            Err(error) => panic!("{what}: {error}"),
        };
        assert_eq!(report.write.ops, SIZE.as_u64() / BLOCK, "{what}");
        let report = measure(&verified(&job)).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(report.read.corrupt, 0, "{what}");
        std::fs::remove_file(&path).unwrap();
    }
}

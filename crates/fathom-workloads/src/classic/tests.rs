use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use fathom_base::{Bytes, Nanos};
use fathom_model::TestError;
use fathom_testkit::Bench;

use super::*;

#[test]
fn a_crew_starts_together_and_gives_every_result() {
    let bench = Bench::new();
    let ready = AtomicU32::new(0);
    let work = |seat: &Seat<'_>| {
        ready.fetch_add(1, Ordering::SeqCst);
        seat.start()?;
        // Nobody starts before all are ready.
        Ok((seat.index, ready.load(Ordering::SeqCst)))
    };
    let done = run_crew(&bench.context(1), 20, work, |conductor| {
        let started = conductor.release();
        (started, conductor.wait(Nanos::from_secs(60)))
    })
    .unwrap();
    assert_eq!(done.conducted, (true, true));
    let expected: Vec<(u32, u32)> = (0..20).map(|index| (index, 20)).collect();
    assert_eq!(done.results, expected);
}

#[test]
fn one_failure_stops_the_crew_and_is_the_one_reported() {
    let bench = Bench::new();
    let work = |seat: &Seat<'_>| -> Result<(), TestError> {
        seat.start()?;
        if seat.index == 3 {
            Root::expect("the number of files", 4, 5)?;
        }
        while !seat.is_halted() {
            std::thread::yield_now();
        }
        Err(TestError::Cancelled)
    };
    let error = run_crew(&bench.context(1), 8, work, |conductor| {
        conductor.release();
        conductor.wait(Nanos::from_secs(60))
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the number of files failed: 4 instead of 5"
    );
}

#[test]
fn nobody_starts_when_one_cannot_get_ready() {
    let bench = Bench::new();
    let started = AtomicU32::new(0);
    let work = |seat: &Seat<'_>| {
        if seat.index == 2 {
            Root::expect("readiness", 0, 1)?;
        }
        seat.start()?;
        started.fetch_add(1, Ordering::SeqCst);
        Ok(())
    };
    let mut released = true;
    let error = run_crew(&bench.context(1), 4, work, |conductor| {
        released = conductor.release();
    })
    .unwrap_err();
    assert!(error.to_string().starts_with("readiness failed"), "{error}");
    assert!(!released);
    assert_eq!(started.load(Ordering::SeqCst), 0);
}

#[test]
fn a_conductor_that_leaves_early_calls_the_start_off() {
    let bench = Bench::new();
    let work = |seat: &Seat<'_>| seat.start();
    let error = run_crew(&bench.context(1), 3, work, |_| ()).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
}

#[test]
fn a_panic_is_reported_and_waits_for_nobody() {
    let bench = Bench::new();
    let work = |seat: &Seat<'_>| {
        seat.start()?;
        assert!(seat.index != 1, "thread 1 panics on purpose");
        Ok(())
    };
    let error = run_crew(&bench.context(1), 2, work, |conductor| {
        conductor.release();
        conductor.wait(Nanos::from_secs(60))
    })
    .unwrap_err();
    assert!(error.to_string().contains("panicked"), "{error}");
}

#[test]
fn threads_have_files_of_their_own_like_processes() {
    let bench = Bench::new();
    let (highest, own) = (AtomicU64::new(0), AtomicU32::new(0));
    let work = |seat: &Seat<'_>| {
        // Taken before the start, so that all threads have theirs open at the same time.
        let files: Vec<_> = (0..50)
            .map(|_| std::fs::File::open("/dev/null").unwrap())
            .collect();
        let fd = files.iter().map(std::os::fd::AsRawFd::as_raw_fd).max();
        highest.fetch_max(fd.unwrap_or(0) as u64, Ordering::SeqCst);
        own.fetch_add(u32::from(seat.has_own_files), Ordering::SeqCst);
        seat.start()
    };
    let done = run_crew(&bench.context(1), 40, work, |conductor| {
        conductor.release();
    })
    .unwrap();
    if done.note.is_some() {
        testing::skipped("threads may not have files of their own here");
        assert!(own.load(Ordering::SeqCst) < 40);
        return;
    }
    assert_eq!(own.load(Ordering::SeqCst), 40);
    // In one table 40 x 50 files would need numbers up to 2000.
    let highest = highest.load(Ordering::SeqCst);
    assert!(highest < 1000, "highest descriptor {highest}");
}

#[test]
fn the_window_may_end_before_the_thread() {
    let bench = Bench::new();
    let window_over = std::sync::Barrier::new(3);
    let work = |seat: &Seat<'_>| {
        seat.start()?;
        seat.stop_clock();
        window_over.wait();
        Ok(())
    };
    let waited = run_crew(&bench.context(1), 2, work, |conductor| {
        conductor.release();
        let waited = conductor.wait(Nanos::from_secs(60));
        // The threads are still there.
        window_over.wait();
        waited
    })
    .unwrap();
    assert!(waited.conducted);
}

#[test]
fn meters_add_up_by_kind() {
    const NAMES: &[&str] = &["a", "b", "c"];
    let (mut all, mut one) = (Meter::new(NAMES), Meter::new(NAMES));
    one.record(0, Nanos::new(5));
    one.record(2, Nanos::new(7));
    all.merge(&one);
    all.merge(&one);
    assert_eq!(all.counts().collect::<Vec<_>>(), [("a", 2), ("c", 2)]);
    assert_eq!(all.of(2).sum(), 14);
    let names: Vec<String> = all.clone().into_histograms().into_keys().collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn laps_share_their_clock_readings() {
    let mut laps = Laps::start(Nanos::new(100));
    assert_eq!(laps.lap(Nanos::new(130)), Nanos::new(30));
    assert_eq!(laps.lap(Nanos::new(135)), Nanos::new(5));
    assert_eq!(
        (laps.total(), laps.last()),
        (Nanos::new(35), Nanos::new(135))
    );
}

#[test]
fn errors_of_files_have_their_path_and_need() {
    let bench = Bench::new();
    let root = Root::open(bench.scratch(), Bytes::MIB).unwrap();
    let error = Places::new(&root)
        .remove_file(c"a/b")
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("removing ") && error.contains("/scratch/a/b: No such file"));
    let full = root.error("writing", c"x", rustix::io::Errno::NOSPC);
    assert!(full.to_string().ends_with("x: 1MiB needed"), "{full}");
    let quota = root.error("writing", c"x", rustix::io::Errno::DQUOT);
    assert!(matches!(quota, TestError::NoSpace { .. }), "{quota}");
}

#[test]
fn renewing_removes_everything_and_follows_no_link() {
    let bench = Bench::new();
    let outside = bench.directory().join("outside");
    std::fs::create_dir_all(outside.join("kept")).unwrap();
    std::fs::create_dir_all(bench.scratch().join("a/b/c")).unwrap();
    std::fs::write(bench.scratch().join("a/b/file"), "x").unwrap();
    std::fs::write(bench.scratch().join("file"), "x").unwrap();
    std::os::unix::fs::symlink(&outside, bench.scratch().join("link")).unwrap();
    renew(bench.scratch()).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
    assert!(outside.join("kept").is_dir());
    assert!(renew(&bench.scratch().join("none")).is_err());
}

/// A scratch directory with `dir/file`, and links out of it: `dir/link` to a file, `out` to a
/// directory with a file `kept` in it.
fn with_links_out(bench: &Bench) -> std::path::PathBuf {
    let outside = bench.directory().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), "precious").unwrap();
    let inside = bench.scratch().join("dir");
    std::fs::create_dir(&inside).unwrap();
    std::fs::write(inside.join("file"), "x").unwrap();
    std::os::unix::fs::symlink(outside.join("kept"), inside.join("link")).unwrap();
    std::os::unix::fs::symlink(&outside, bench.scratch().join("out")).unwrap();
    outside
}

#[test]
fn no_name_leads_out_of_the_root() {
    use rustix::fs::{Mode, OFlags};
    let bench = Bench::new();
    let outside = with_links_out(&bench);
    let open = || Root::open(bench.scratch(), Bytes::MIB).unwrap();
    for root in [open(), open().by_parts()] {
        let mode = Mode::from_raw_mode(0o600);
        let create = OFlags::RDWR | OFlags::CREATE;
        for name in [
            c"dir/link",
            c"out/kept",
            c"out/new",
            c"../outside/kept",
            c"out",
        ] {
            for flags in [OFlags::RDONLY, create, create | OFlags::TRUNC] {
                assert!(
                    root.open_at(name, flags, mode).is_err(),
                    "{name:?} {flags:?}"
                );
            }
        }
        assert!(root.open_at(c"dir/file", create, mode).is_ok());
        assert!(
            root.open_at(c".", OFlags::RDONLY | OFlags::DIRECTORY, mode)
                .is_ok()
        );
        assert!(root.look(c"out/kept", |_| ()).is_err());
        let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap();
        assert_eq!(root.look(c"dir/file", read).unwrap().unwrap(), "x");
        assert_eq!(root.look(c"dir/none", read).unwrap(), None);
        let mut places = Places::new(&root);
        assert!(places.stat(c"out/kept").is_err());
        assert!(places.unlink(c"out/kept").is_err());
        assert!(places.make_directory(c"out/new", mode).is_err());
        assert!(places.rename(c"dir/file", c"out/file").is_err());
        assert!(places.rename(c"out/kept", c"dir/kept").is_err());
        let times = rustix::fs::Timestamps {
            last_access: rustix::fs::Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            },
            last_modification: rustix::fs::Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            },
        };
        assert!(places.set_times(c"out/kept", &times).is_err());
        // Links themselves are things like others.
        assert!(places.stat(c"dir/link").is_ok());
        let names: Vec<_> = std::fs::read_dir(&outside).unwrap().collect();
        assert_eq!(names.len(), 1);
        assert_eq!(read(&outside.join("kept")), "precious");
    }
}

#[test]
fn directories_that_go_or_move_are_found_anew() {
    let bench = Bench::new();
    let root = Root::open(bench.scratch(), Bytes::MIB).unwrap();
    let (mut mine, mut others) = (Places::new(&root), Places::new(&root));
    let mode = rustix::fs::Mode::from_raw_mode(0o700);
    let make = |places: &mut Places<'_>| {
        places.make_directory(c"a", mode).unwrap();
        places.make_directory(c"a/b", mode).unwrap();
        std::fs::write(bench.scratch().join("a/b/file"), "x").unwrap();
    };
    make(&mut mine);
    assert!(mine.stat(c"a/b/file").is_ok() && others.stat(c"a/b/file").is_ok());
    mine.unlink(c"a/b/file").unwrap();
    mine.remove_directory(c"a/b").unwrap();
    mine.remove_directory(c"a").unwrap();
    make(&mut mine);
    for places in [&mut mine, &mut others] {
        assert!(places.stat(c"a/b/file").is_ok());
    }
    mine.rename(c"a", c"c").unwrap();
    for places in [&mut mine, &mut others] {
        assert!(places.stat(c"a/b/file").is_err());
        assert!(places.stat(c"c/b/file").is_ok());
    }
    // More directories than are kept, and a rename between two of them.
    for number in 0..200 {
        let name = std::ffi::CString::new(format!("d{number}")).unwrap();
        mine.make_directory(&name, mode).unwrap();
        let inside = std::ffi::CString::new(format!("d{number}/file")).unwrap();
        std::fs::write(bench.scratch().join(format!("d{number}/file")), "x").unwrap();
        assert!(mine.stat(&inside).is_ok());
    }
    mine.rename(c"d3/file", c"d199/other").unwrap();
    assert!(mine.stat(c"d199/other").is_ok() && mine.stat(c"d3/file").is_err());
}

#[test]
fn processor_time_is_of_the_thread() {
    let before = CpuTime::of_this_thread();
    let mut sum = 0_u64;
    while CpuTime::of_this_thread().since(before).user == Nanos::default() {
        sum = std::hint::black_box(sum + 1);
    }
    let others = std::thread::spawn(CpuTime::of_this_thread).join().unwrap();
    assert!(others.user < CpuTime::of_this_thread().user);
}

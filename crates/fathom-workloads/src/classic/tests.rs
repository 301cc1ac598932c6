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
    let error = root.unlink(c"a/b").unwrap_err().to_string();
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

//! What reports say: windows, sums, rates, and the same bytes for the same seed.

use std::sync::Mutex;

use fathom_base::{Bytes, Cancel, Nanos, Rate};
use fathom_io::{
    Arrivals, ClockChoice, Cursor, EngineKind, Hooks, IoError, JobReport, JobSpec, Mode, NoteKind,
    Pace, Snapshot, Stop, SyncKind, run,
};

use crate::common::{BLOCK, SIZE, engines, laid_out, measure, passes, runtime, scratch, spec};

/// The null engine in virtual time: nothing depends on the machine.
fn virtual_job() -> JobSpec {
    JobSpec {
        clock: ClockChoice::Virtual { step_ns: 1000 },
        ..spec("unused".as_ref(), EngineKind::Null, Mode::RandRead)
    }
}

/// Every figure of a report must come from the same operations.
fn assert_consistent(report: &JobReport, block: u64) {
    for direction in [&report.read, &report.write, &report.trim] {
        assert_eq!(direction.latency.count(), direction.ops);
        assert_eq!(direction.bytes, direction.ops * block);
        assert_eq!(direction.latency.clipped(), 0);
    }
    let rows = &report.series.rows;
    assert_eq!(rows.iter().map(|r| r.ops()).sum::<u64>(), report.ops());
    assert_eq!(rows.iter().map(|r| r.bytes()).sum::<u64>(), report.bytes());
    let latencies: u64 = rows.iter().map(|r| r.read.latency_sum_ns).sum();
    assert_eq!(latencies, report.read.latency.sum());
    let longest = rows.iter().map(|r| r.read.latency_max_ns).max();
    assert_eq!(longest.unwrap_or(0), report.read.latency.max().unwrap_or(0));
    let length: u64 = rows.iter().map(|r| r.length_ns).sum();
    assert_eq!(length, report.window.as_u64(), "rows cover the window");
    for (index, row) in rows.iter().enumerate() {
        assert_eq!(row.start_ns, index as u64 * report.series.interval.as_u64());
    }
}

#[derive(Default)]
struct Watch {
    borders: Mutex<Vec<&'static str>>,
    last: Mutex<Snapshot>,
}

impl Hooks for Watch {
    fn window_begin(&self) {
        self.borders.lock().unwrap().push("begin");
    }

    fn window_end(&self) {
        self.borders.lock().unwrap().push("end");
    }

    fn progress(&self, snapshot: &Snapshot) {
        *self.last.lock().unwrap() = *snapshot;
    }
}

#[test]
fn the_window_is_what_was_asked_for() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    for engine in engines() {
        let job = JobSpec {
            depth: 4,
            jobs: 2,
            ramp: Nanos::from_millis(100),
            stop: runtime(350),
            ..spec(&path, engine, Mode::RandRead)
        };
        let watch = Watch::default();
        let report = run(&job, &watch, &Cancel::new()).unwrap();
        assert_eq!(*watch.borders.lock().unwrap(), ["begin", "end"]);
        assert!(watch.last.lock().unwrap().ops > 0, "progress was told");
        assert_eq!(report.window, Nanos::from_millis(350), "{engine}");
        assert_eq!(report.series.rows.len(), 35);
        assert!(report.outside.ramp_ops > 0, "{engine}: the ramp ran");
        assert_consistent(&report, BLOCK);
        let depth = if engine.is_synchronous() { 1 } else { 4 };
        assert_eq!(report.max_depth_reached, depth, "{engine}");
        // The ramp is not in the figures: a window of 350 ms holds no 450 ms of latency.
        assert!(report.mean_in_flight <= 2.0 * f64::from(depth) + 1e-9);
        assert!(report.mean_in_flight > 0.0);
        assert!(report.cpu.user_ns + report.cpu.system_ns > 0);
        assert!((0.0..=1.0).contains(&report.cpu.busiest_job));
    }
}

#[test]
fn littles_law_holds() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    for engine in engines() {
        let job = JobSpec {
            depth: 4,
            jobs: 2,
            ramp: Nanos::from_millis(20),
            stop: runtime(50),
            ..spec(&path, engine, Mode::RandRead)
        };
        let report = measure(&job).unwrap();
        let (little, mean) = (report.little_in_flight, report.mean_in_flight);
        assert!(
            (little / mean - 1.0).abs() < 1e-6,
            "{engine}: {little} against {mean}"
        );
        let depth = if engine.is_synchronous() { 2.0 } else { 8.0 };
        assert!(mean > 0.0 && mean <= depth, "{engine}: {mean}");
    }
}

#[test]
fn a_ramp_longer_than_the_job_is_an_error() {
    let job = JobSpec {
        ramp: Nanos::from_secs(3600),
        ..virtual_job()
    };
    let error = measure(&job).unwrap_err();
    match error {
        IoError::Spec { field, .. } => assert_eq!(field, "ramp"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_depth_that_cannot_be_reached_is_noted() {
    let directory = scratch();
    let path = laid_out(&directory.path().join("file"), SIZE);
    let job = JobSpec {
        depth: 32,
        ..spec(&path, EngineKind::Psync, Mode::Read)
    };
    let report = measure(&job).unwrap();
    assert_eq!(report.max_depth_reached, 1);
    assert!(report.notes.iter().any(|n| n.kind == NoteKind::Depth));
}

#[test]
fn limits_end_the_job() {
    let mut job = virtual_job();
    job.jobs = 3;
    job.depth = 5;
    for cursor in [Cursor::Own, Cursor::Partitioned, Cursor::Shared] {
        job.cursor = cursor;
        job.stop = Stop {
            runtime: None,
            bytes: Some(Bytes::new(100 * BLOCK)),
            passes: None,
        };
        assert_eq!(measure(&job).unwrap().read.ops, 100, "{cursor:?}");
        job.stop = passes(2);
        let covering = if cursor == Cursor::Own { 3 } else { 1 };
        let expected = 2 * covering * SIZE.as_u64() / BLOCK;
        assert_eq!(measure(&job).unwrap().read.ops, expected, "{cursor:?}");
    }
}

#[test]
fn a_flush_ends_the_window_of_a_timed_job() {
    let directory = scratch();
    let path = directory.path().join("file");
    let mut job = JobSpec {
        stop: runtime(50),
        ..spec(&path, EngineKind::Psync, Mode::RandWrite)
    };
    job.sync.final_flush = Some(SyncKind::Fdatasync);
    let report = measure(&job).unwrap();
    let flush = report.final_flush.unwrap();
    assert!(report.window >= Nanos::from_millis(50).plus(flush));
    assert_eq!(report.sync.ops, 1);
    assert_eq!(report.outside.late_ops, 0, "everything is in the window");
    assert_consistent(&report, BLOCK);
}

#[test]
fn virtual_time_gives_one_exact_report() {
    let mut job = virtual_job();
    job.depth = 4;
    job.stop = runtime(5);
    job.interval = Nanos::from_millis(1);
    job.ramp = Nanos::from_millis(1);
    let report = measure(&job).unwrap();
    assert_eq!(report, measure(&job).unwrap());
    assert_consistent(&report, BLOCK);
    let rows: Vec<_> = report
        .series
        .rows
        .iter()
        .map(|r| (r.start_ns, r.length_ns, r.read.ops, r.read.latency_sum_ns))
        .collect();
    let facts = (
        report.read.ops,
        report.window,
        report.mean_in_flight,
        report.read.latency.max(),
        report.outside,
        rows,
    );
    expect_test::expect![[r#"
        (
            2500,
            Nanos(
                5000000,
            ),
            2.0,
            Some(
                4000,
            ),
            OutsideReport {
                ramp_ops: 499,
                ramp_bytes: 2043904,
                late_ops: 1,
                late_bytes: 4096,
                errors: 0,
            },
            [
                (
                    0,
                    1000000,
                    500,
                    2000000,
                ),
                (
                    1000000,
                    1000000,
                    500,
                    2000000,
                ),
                (
                    2000000,
                    1000000,
                    500,
                    2000000,
                ),
                (
                    3000000,
                    1000000,
                    500,
                    2000000,
                ),
                (
                    4000000,
                    1000000,
                    500,
                    2000000,
                ),
            ],
        )
    "#]]
    .assert_debug_eq(&facts);
}

#[test]
fn a_closed_rate_is_kept() {
    let mut job = virtual_job();
    job.stop = runtime(1000);
    for (rate, expected) in [
        (Rate::Operations(1000.0), 1000),
        (Rate::Operations(33_333.0), 33_333),
        (Rate::Bytes(BLOCK * 500), 500),
    ] {
        job.pace = Pace::Closed(rate);
        for jobs in [1, 3] {
            job.jobs = jobs;
            let report = measure(&job).unwrap();
            let off = report.read.ops.abs_diff(expected);
            assert!(off <= u64::from(jobs), "{rate}: {}", report.read.ops);
            assert_eq!(report.window, Nanos::from_secs(1));
            assert!(report.open_loop.is_none());
        }
    }
}

#[test]
fn a_rate_that_is_not_reached_is_noted() {
    let mut job = virtual_job();
    job.stop = runtime(100);
    job.pace = Pace::Closed(Rate::Operations(1e7));
    let report = measure(&job).unwrap();
    assert!(report.notes.iter().any(|n| n.kind == NoteKind::Pace));
    job.pace = Pace::Closed(Rate::Operations(1e4));
    assert!(measure(&job).unwrap().notes.is_empty());
}

#[test]
fn an_open_loop_counts_from_the_due_time() {
    let mut job = virtual_job();
    job.stop = runtime(100);
    // Each operation that is behind takes two readings of the clock, 2 us: 500 kIOPS at most.
    job.pace = Pace::Open {
        rate: Rate::Operations(100_000.0),
        arrivals: Arrivals::Constant,
    };
    let report = measure(&job).unwrap();
    let open = report.open_loop.unwrap();
    assert!(report.read.ops.abs_diff(10_000) <= 1, "{}", report.read.ops);
    assert_eq!(open.backlog, 0, "it keeps up");
    job.pace = Pace::Open {
        rate: Rate::Operations(2e6),
        arrivals: Arrivals::Constant,
    };
    let report = measure(&job).unwrap();
    let open = report.open_loop.unwrap();
    assert!(open.due.abs_diff(200_000) <= 1, "{open:?}");
    assert_eq!(
        open.backlog + report.read.ops + report.outside.late_ops,
        open.due
    );
    assert!(open.backlog > 140_000, "{open:?}");
    let service = report.read.service.as_ref().unwrap();
    assert_eq!(service.count(), report.read.ops);
    assert!(service.max().unwrap() < 10_000, "the engine is fast");
    let waited = report.read.latency.max().unwrap();
    assert!(
        waited > 50_000_000,
        "yet the last operation waited {waited} ns"
    );
}

#[test]
fn poisson_arrivals_have_the_mean_rate() {
    let mut job = virtual_job();
    job.stop = runtime(1000);
    job.pace = Pace::Open {
        rate: Rate::Operations(20_000.0),
        arrivals: Arrivals::Poisson,
    };
    let report = measure(&job).unwrap();
    let ops = report.read.ops as f64;
    // Four standard deviations of a Poisson count.
    assert!((ops - 20_000.0).abs() < 4.0 * 20_000_f64.sqrt(), "{ops}");
}

#[test]
fn a_slow_pace_ends_at_the_deadline() {
    let mut job = virtual_job();
    job.stop = runtime(100);
    for pace in [
        Pace::Closed(Rate::Operations(1.0)),
        Pace::Open {
            rate: Rate::Operations(1.0),
            arrivals: Arrivals::Constant,
        },
    ] {
        job.pace = pace;
        let report = measure(&job).unwrap();
        assert_eq!(report.read.ops, 1, "{pace:?}");
        assert_eq!(report.window, Nanos::from_millis(100));
    }
}

#[test]
fn pinning_that_is_refused_is_noted() {
    let mut job = virtual_job();
    job.cpus = vec![1023];
    let report = measure(&job).unwrap();
    assert!(report.notes.iter().any(|n| n.kind == NoteKind::Affinity));
    job.cpus = vec![0];
    assert!(measure(&job).unwrap().notes.is_empty());
}

#[test]
fn many_jobs_and_great_depth_work() {
    let mut job = virtual_job();
    job.jobs = 64;
    job.depth = 512;
    job.cursor = Cursor::Shared;
    job.stop = passes(3);
    let report = measure(&job).unwrap();
    assert_eq!(report.read.ops, 3 * SIZE.as_u64() / BLOCK);
}

//! The loop against engines that do what real ones do rarely.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};

use fathom_base::{Bytes, Cancel, Nanos, Percent};

use super::load::Batch;
use super::{Load, Outcome};
use crate::buffer::{Buffers, Plan};
use crate::engine::{Engine, EngineFailure, Op, Queued, Wait};
use crate::error::IoError;
use crate::shared::{Cell, Gate, Shared, Window};
use crate::source::Kind;
use crate::spec::{JobSpec, Mode, OnError, Stamps, SyncKind};
use crate::testing::null_spec;

/// Answers each operation as `answer` says, all of them at the next step.
struct Scripted<F> {
    answer: F,
    queued: Vec<(u32, i64)>,
    log: Vec<(Kind, u64, u32, bool)>,
    most_in_flight: usize,
    fails_at_step: Option<u32>,
}

impl<F: FnMut(usize, &Op) -> i64> Scripted<F> {
    fn new(answer: F) -> Self {
        Self {
            answer,
            queued: Vec::new(),
            log: Vec::new(),
            most_in_flight: 0,
            fails_at_step: None,
        }
    }
}

impl<F: FnMut(usize, &Op) -> i64> Engine for Scripted<F> {
    fn queue(&mut self, op: &Op) -> Queued {
        let result = (self.answer)(self.log.len(), op);
        self.log.push((op.kind, op.offset, op.length, op.may_block));
        self.queued.push((op.slot, result));
        self.most_in_flight = self.most_in_flight.max(self.queued.len());
        Queued::InFlight
    }

    fn step(&mut self, _: Wait) -> Result<(), EngineFailure> {
        if let Some(left) = &mut self.fails_at_step {
            if *left == 0 {
                return Err(EngineFailure {
                    call: "io_scripted on",
                    source: io::Error::from_raw_os_error(libc::EBADF),
                });
            }
            *left -= 1;
        }
        Ok(())
    }

    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        for (slot, result) in self.queued.drain(..) {
            done(slot, result);
        }
    }
}

fn all_of(_: usize, op: &Op) -> i64 {
    i64::from(op.length)
}

struct Ran<F> {
    result: Result<(), IoError>,
    left_in_flight: u32,
    outcome: Outcome,
    engine: Scripted<F>,
}

fn run<F: FnMut(usize, &Op) -> i64>(spec: JobSpec, mut engine: Scripted<F>) -> Ran<F> {
    let (result, left_in_flight, outcome) = run_engine(spec, &mut engine);
    Ran {
        result,
        left_in_flight,
        outcome,
        engine,
    }
}

/// The result, what is left in flight, and what was measured.
fn run_engine(spec: JobSpec, engine: &mut impl Engine) -> (Result<(), IoError>, u32, Outcome) {
    let depth = spec.depth;
    let shared = Arc::new(Shared {
        cancel: Cancel::new(),
        stop: AtomicBool::new(false),
        cursor: Arc::new(AtomicU64::new(0)),
        unfinished: AtomicU32::new(1),
        gate: Gate::default(),
        window: Window::unknown(),
        cells: vec![Cell::new(depth)],
        spec,
    });
    shared.window.open(0, u64::MAX);
    let plan = Plan::new(&shared.spec, depth);
    let buffers = Buffers::new(plan.count(), plan.bytes).unwrap();
    let mut load = Load::new(&shared, 0, depth, None, buffers);
    load.fill_buffers();
    load.start(0);
    let result = load.run(engine);
    let left_in_flight = load.in_flight();
    (result, left_in_flight, load.finish())
}

/// One pass over four blocks.
fn four_blocks(mode: Mode) -> JobSpec {
    JobSpec {
        mode,
        size: Bytes::new(4 * 4096),
        ..null_spec()
    }
}

#[test]
fn a_short_operation_goes_on_and_counts_once() {
    let engine = Scripted::new(|n, op: &Op| match n {
        0 => 1000,
        1 => 96,
        _ => i64::from(op.length),
    });
    let ran = run(four_blocks(Mode::Read), engine);
    assert!(ran.result.is_ok());
    let reads = &ran.outcome.tally.kinds[Kind::Read as usize];
    assert_eq!((reads.ops, reads.bytes, reads.short), (4, 4 * 4096, 2));
    assert_eq!(reads.latency.count(), 4);
    let first: Vec<_> = ran.engine.log[..3].iter().map(|l| (l.1, l.2)).collect();
    assert_eq!(first, [(0, 4096), (1000, 3096), (1096, 3000)]);
}

#[test]
fn interrupted_and_refused_operations_are_repeated() {
    let engine = Scripted::new(|n, op: &Op| match n {
        0 => -i64::from(libc::EINTR),
        1 => -i64::from(libc::EAGAIN),
        _ => i64::from(op.length),
    });
    let ran = run(four_blocks(Mode::RandRead), engine);
    assert!(ran.result.is_ok());
    let reads = &ran.outcome.tally.kinds[Kind::Read as usize];
    assert_eq!((reads.ops, reads.retried), (4, 2));
}

#[test]
fn an_operation_refused_for_ever_fails() {
    let engine = Scripted::new(|_, _: &Op| -i64::from(libc::EAGAIN));
    let ran = run(four_blocks(Mode::RandRead), engine);
    let error = ran.result.unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EAGAIN));
    assert_eq!(ran.left_in_flight, 0);
}

#[test]
fn what_would_block_is_done_blocking() {
    let mut spec = four_blocks(Mode::Read);
    spec.engine_options.nowait = true;
    let engine = Scripted::new(|_, op: &Op| {
        if op.may_block {
            i64::from(op.length)
        } else {
            -i64::from(libc::EAGAIN)
        }
    });
    let ran = run(spec, engine);
    assert!(ran.result.is_ok());
    let reads = &ran.outcome.tally.kinds[Kind::Read as usize];
    assert_eq!((reads.ops, reads.would_block, reads.retried), (4, 4, 0));
}

#[test]
fn the_end_of_the_file_is_an_error_with_its_place() {
    let engine = Scripted::new(|n, op: &Op| match n {
        2 => 512,
        3 => 0,
        _ => i64::from(op.length),
    });
    let ran = run(four_blocks(Mode::Read), engine);
    match ran.result.unwrap_err() {
        IoError::EndOfFile { offset, length, .. } => {
            assert_eq!((offset, length), (2 * 4096 + 512, Bytes::new(4096 - 512)));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_full_disk_is_named() {
    let engine = Scripted::new(|n, op: &Op| match n {
        1 => -i64::from(libc::ENOSPC),
        _ => i64::from(op.length),
    });
    let mut spec = four_blocks(Mode::Write);
    spec.depth = 2;
    let ran = run(spec, engine);
    let error = ran.result.unwrap_err();
    assert!(
        matches!(error, IoError::NoSpace { offset: 4096, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "write 4KiB at offset 4096 of unused: no space left (write)"
    );
    assert_eq!(ran.left_in_flight, 0, "what was in flight came back");
}

#[test]
fn counted_errors_do_not_end_the_job() {
    let engine = Scripted::new(|n, op: &Op| match n {
        0 => -i64::from(libc::EIO),
        2 => 0,
        _ => i64::from(op.length),
    });
    let mut spec = four_blocks(Mode::RandRead);
    spec.on_error = OnError::Count;
    let ran = run(spec, engine);
    assert!(ran.result.is_ok());
    let reads = &ran.outcome.tally.kinds[Kind::Read as usize];
    assert_eq!((reads.ops, reads.latency.count()), (2, 2));
    assert_eq!(reads.errors.get(&libc::EIO), Some(&1));
    assert_eq!(reads.errors.get(&0), Some(&1));
}

#[test]
fn a_failing_engine_leaves_its_operations() {
    let mut engine = Scripted::new(all_of);
    engine.fails_at_step = Some(1);
    let mut spec = four_blocks(Mode::RandRead);
    spec.depth = 2;
    let ran = run(spec, engine);
    let error = ran.result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "io_scripted on unused: Bad file descriptor (os error 9)"
    );
    assert_eq!(ran.left_in_flight, 2);
}

#[test]
fn depth_is_reached_and_never_exceeded() {
    for (depth, batch) in [(1, 0), (2, 0), (7, 0), (8, 3), (300, 0)] {
        let mut spec = null_spec();
        spec.depth = depth;
        spec.engine_options.submit_batch = batch;
        let ran = run(spec, Scripted::new(all_of));
        assert!(ran.result.is_ok());
        let expected = match batch {
            0 => depth.min(256),
            n => n,
        };
        assert_eq!(ran.engine.most_in_flight, expected as usize);
        assert_eq!(ran.outcome.tally.most_in_flight, u64::from(expected));
    }
}

/// Completions come only to a step that waits, as of a disk; counts what each step hands over.
struct Slow {
    queued: Vec<(u32, i64)>,
    handed_over: Vec<usize>,
    ready: bool,
}

impl Engine for Slow {
    fn queue(&mut self, op: &Op) -> Queued {
        self.queued.push((op.slot, i64::from(op.length)));
        *self.handed_over.last_mut().unwrap() += 1;
        Queued::InFlight
    }

    fn step(&mut self, wait: Wait) -> Result<(), EngineFailure> {
        self.handed_over.push(0);
        self.ready = wait != Wait::For(0);
        Ok(())
    }

    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        if self.ready {
            self.queued
                .drain(..)
                .for_each(|(slot, result)| done(slot, result));
        }
    }
}

#[test]
fn a_target_that_keeps_waiting_gets_operations_one_by_one_and_a_quick_one_in_batches() {
    let mut spec = null_spec();
    spec.depth = 8;
    let mut engine = Slow {
        queued: Vec::new(),
        handed_over: vec![0],
        ready: false,
    };
    assert!(run_engine(spec.clone(), &mut engine).0.is_ok());
    let sizes: Vec<usize> = engine.handed_over.into_iter().filter(|n| *n > 0).collect();
    assert_eq!(sizes[0], 8, "the first fill");
    assert!(sizes[1..].iter().all(|size| *size == 1), "{sizes:?}");

    let mut batch = Batch::new(0, 8);
    batch.had_to_wait();
    (0..3 * Batch::BUSY).for_each(|_| batch.was_busy());
    assert_eq!(batch.size, 8, "doubled three times");
}

#[test]
fn every_nth_write_is_followed_by_a_sync() {
    for (every, syncs) in [(1, 256), (3, 85), (100, 2), (1000, 0)] {
        let mut spec = null_spec();
        spec.mode = Mode::RandWrite;
        spec.depth = 8;
        spec.sync.every = Some((every, SyncKind::Fdatasync));
        let ran = run(spec, Scripted::new(all_of));
        let kinds = &ran.outcome.tally.kinds;
        assert_eq!(kinds[Kind::Write as usize].ops, 256);
        assert_eq!(kinds[Kind::Sync as usize].ops, syncs, "every {every}");
        assert_eq!(kinds[Kind::Sync as usize].latency.count(), syncs);
    }
}

#[test]
fn a_sync_waits_for_the_writes_it_covers() {
    let mut spec = null_spec();
    spec.mode = Mode::RandWrite;
    spec.depth = 8;
    spec.sync.every = Some((3, SyncKind::Fsync));
    let ran = run(spec, Scripted::new(all_of));
    assert_eq!(ran.engine.most_in_flight, 3, "no write passes a sync");
}

#[test]
fn reads_do_not_count_for_the_sync() {
    let mut spec = null_spec();
    spec.mode = Mode::RandMixed {
        read_percent: Percent::new(50.0).unwrap(),
    };
    spec.sync.every = Some((2, SyncKind::Fsync));
    let ran = run(spec, Scripted::new(all_of));
    let kinds = &ran.outcome.tally.kinds;
    let writes = kinds[Kind::Write as usize].ops;
    assert_eq!(kinds[Kind::Sync as usize].ops, writes / 2);
    assert_eq!(kinds[Kind::Read as usize].ops + writes, 256);
}

#[test]
fn stamps_of_a_batch_say_how_coarse_they_are() {
    let mut spec = null_spec();
    spec.depth = 16;
    spec.stamps = Stamps::PerBatch;
    let ran = run(spec.clone(), Scripted::new(all_of));
    assert!(ran.outcome.resolution_ns > 0);
    let batched = ran.outcome.tally.last_ns;
    spec.stamps = Stamps::PerIo;
    let ran = run(spec, Scripted::new(all_of));
    assert_eq!(ran.outcome.resolution_ns, 0);
    assert!(
        batched < ran.outcome.tally.last_ns,
        "fewer readings of the clock"
    );
}

#[test]
fn a_runtime_ends_the_job_between_operations() {
    let mut spec = null_spec();
    spec.stop.passes = None;
    spec.stop.runtime = Some(Nanos::new(10_000));
    let ran = run(spec, Scripted::new(all_of));
    // Two readings of 100 ns an operation.
    let ops = ran.outcome.tally.kinds[Kind::Read as usize].ops;
    assert_eq!(ops, 50);
}

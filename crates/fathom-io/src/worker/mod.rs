//! The loop that every job runs: engine x offsets x pace x stop, all of them values.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::buffer::{Buffers, Plan};
use crate::clock::StampClock;
use crate::engine::{self, Engine, Setup};
use crate::error::IoError;
use crate::report::{Note, NoteKind, OpenLoopReport};
use crate::shared::Shared;
use crate::spec::{EngineKind, JobSpec, Pace, Stamps};
use crate::verify::Ledger;

mod load;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use load::Load;
pub(crate) use tally::{KindTally, Row, Tally, ThreadCpu, add_cell, coalesce, process_cpu};

/// Everything one job measured.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) resolution_ns: u64,
    pub(crate) final_flush_ns: Option<u64>,
    pub(crate) open_loop: OpenLoopReport,
    pub(crate) ledger: Option<Ledger>,
    pub(crate) features: Vec<&'static str>,
    pub(crate) notes: Vec<Note>,
}

/// Prepares job number `index`, says so by `ready`, waits for the gate and does the work.
///
/// `None` when the gate sent it home.
pub(crate) fn run_job(
    shared: &Arc<Shared>,
    index: u32,
    engine: EngineKind,
    ready: impl FnOnce(),
) -> Result<Option<Outcome>, IoError> {
    let spec = &shared.spec;
    let mut notes = Vec::new();
    pin(spec, index, &mut notes);
    if spec.pace != Pace::Unpaced {
        wake_on_time();
    }
    let file = match engine {
        EngineKind::Null => None,
        _ => Some(crate::target::open(spec)?),
    };
    let depth = effective_depth(spec, engine);
    let plan = Plan::new(spec, depth);
    let buffers = Buffers::new(plan.count(), plan.bytes)?;
    let mut features = Vec::new();
    let mut setup = Setup {
        spec,
        fd: file.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        depth,
        extent: buffers.extent(),
        stride: buffers.stride(),
        buffers: plan.count(),
        features: &mut features,
        notes: &mut notes,
    };
    let refuse = |unavailable| IoError::Engine {
        engine,
        unavailable,
    };
    let job = |file| Job {
        shared,
        index,
        depth,
        file,
        buffers,
    };
    let outcome = match engine {
        EngineKind::IoUring => {
            let engine = engine::Uring::new(&mut setup).map_err(refuse)?;
            job(file).work(engine, ready)?
        }
        EngineKind::Libaio => {
            let engine = engine::Libaio::new(&mut setup).map_err(refuse)?;
            job(file).work(engine, ready)?
        }
        EngineKind::Psync => {
            let engine = engine::Psync::new(&setup);
            job(file).work(engine, ready)?
        }
        EngineKind::PosixAio => {
            let engine = engine::Pool::new(&mut setup)
                .map_err(|e| IoError::resource("start the threads of posixaio", e))?;
            job(file).work(engine, ready)?
        }
        EngineKind::Mmap => {
            let held = file.as_ref().ok_or(IoError::Panicked)?;
            let engine = engine::Mapped::new(&setup, held)
                .map_err(|source| crate::probe::call_error(&spec.target.path, "mmap", source))?;
            job(file).work(engine, ready)?
        }
        EngineKind::Null => job(file).work(engine::Null::new(depth), ready)?,
    };
    Ok(outcome.map(|mut outcome| {
        outcome.features = features;
        outcome.notes = notes;
        outcome
    }))
}

/// Operations in flight that the engine can have.
pub(crate) fn effective_depth(spec: &JobSpec, engine: EngineKind) -> u32 {
    if engine.is_synchronous() {
        1
    } else {
        spec.depth
    }
}

/// A job that is ready to work but for its engine.
struct Job<'a> {
    shared: &'a Arc<Shared>,
    index: u32,
    depth: u32,
    file: Option<File>,
    buffers: Buffers,
}

impl Job<'_> {
    fn work<E: Engine>(
        self,
        mut engine: E,
        ready: impl FnOnce(),
    ) -> Result<Option<Outcome>, IoError> {
        let Self {
            shared,
            index,
            depth,
            file,
            buffers,
        } = self;
        let mut load = Load::new(shared, index, depth, file, buffers);
        load.fill_buffers();
        ready();
        let Some(start_ns) = shared.gate.wait() else {
            return Ok(None);
        };
        load.start(start_ns);
        let result = load.run(&mut engine);
        if load.in_flight() > 0 {
            // The kernel may still write to the buffers: they stay.
            std::mem::forget(engine);
            load.leak_buffers();
        } else {
            drop(engine);
        }
        if let Err(error) = result {
            shared.stop.store(true, Ordering::Relaxed);
            shared.unfinished.fetch_sub(1, Ordering::AcqRel);
            return Err(error);
        }
        let is_last = shared.unfinished.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            load.final_flush()?;
        }
        Ok(Some(load.finish()))
    }
}

fn pin(spec: &JobSpec, index: u32, notes: &mut Vec<Note>) {
    if spec.cpus.is_empty() {
        return;
    }
    let cpu = spec.cpus[index as usize % spec.cpus.len()];
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu as usize);
    if let Err(errno) = rustix::thread::sched_setaffinity(None, &set) {
        notes.push(Note {
            kind: NoteKind::Affinity,
            text: format!("job {index} could not be pinned to processor {cpu}: {errno}"),
        });
    }
}

/// Lets sleeps of the calling thread end when they should, not up to 50 us later.
fn wake_on_time() {
    let slack_ns: libc::c_ulong = 1;
    // SAFETY: passes numbers; it concerns the timers of this thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, slack_ns) };
}

/// Whether stamps are taken for each operation.
pub(crate) fn stamps_each(spec: &JobSpec, engine_is_synchronous: bool) -> bool {
    spec.stamps == Stamps::PerIo || engine_is_synchronous
}

/// The clock of a job.
pub(crate) fn clock_of(spec: &JobSpec) -> StampClock {
    StampClock::new(spec.clock)
}

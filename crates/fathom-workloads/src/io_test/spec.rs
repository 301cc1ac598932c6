//! From the options of a case to a job of the engine.

use std::path::PathBuf;

use fathom_base::{Bytes, Nanos};
use fathom_io::{
    Arrivals, BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, EngineOptions,
    JobSpec, Mode, OnError, OpenSync, Pace, SizeShare, Stamps, Stop, SyncKind, SyncPolicy, Target,
    TargetKind, Verify,
};
use fathom_model::definition::io::{
    IoArrivals, IoClock, IoContents, IoCursor, IoDistribution, IoEngine, IoFlush, IoMode,
    IoOnError, IoOpenSync, IoSettings, IoStamps,
};

use super::files::{STUCK_AFTER, layout_seed};

/// What SNIA preconditions with.
const PRECONDITION_BLOCK: Bytes = Bytes::new(128 << 10);
const PRECONDITION_DEPTH: u32 = 8;

/// Where the job goes and how, as found out while preparing.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) path: PathBuf,
    pub(super) kind: TargetKind,
    pub(super) direct: bool,
    /// Every block was written by [`super::files`].
    pub(super) laid_out: bool,
}

/// The job of one trial.
pub(super) fn job(settings: &IoSettings, place: &Place, seed: u64) -> JobSpec {
    JobSpec {
        target: Target {
            path: place.path.clone(),
            kind: place.kind,
        },
        mode: mode(settings),
        block_sizes: block_sizes(settings),
        engine: engine(settings.engine),
        engine_fallback: settings.engine == IoEngine::Auto,
        engine_options: engine_options(settings),
        depth: settings.depth,
        jobs: settings.jobs,
        cursor: match settings.cursor {
            IoCursor::Own => Cursor::Own,
            IoCursor::Partitioned => Cursor::Partitioned,
            IoCursor::Shared => Cursor::Shared,
        },
        direct: place.direct,
        offset: settings.offset,
        size: settings.size,
        stop: Stop {
            runtime: settings.runtime,
            bytes: settings.bytes,
            passes: settings.passes,
        },
        ramp: settings.ramp,
        sync: sync(settings),
        pace: pace(settings),
        distribution: match settings.distribution {
            IoDistribution::Once => Distribution::OnceEach,
            IoDistribution::Uniform => Distribution::Uniform,
            IoDistribution::Zipf { theta } => Distribution::Zipf { theta },
            IoDistribution::Pareto { h } => Distribution::Pareto { h },
        },
        contents: contents(settings),
        verify: match settings.verify {
            true => Verify::Ledger {
                contents_seed: layout_seed(),
                laid_out: place.laid_out,
            },
            false => Verify::Off,
        },
        on_error: match settings.on_error {
            IoOnError::Stop => OnError::Stop,
            IoOnError::Count => OnError::Count,
        },
        seed,
        interval: interval(settings.runtime),
        stamps: match settings.stamps {
            IoStamps::PerIo => Stamps::PerIo,
            IoStamps::PerBatch => Stamps::PerBatch,
        },
        clock: match settings.clock {
            IoClock::Auto => ClockChoice::Auto,
            IoClock::Monotonic => ClockChoice::Monotonic,
            IoClock::Virtual(step_ns) => ClockChoice::Virtual { step_ns },
        },
        cpus: Vec::new(),
        stuck_after: STUCK_AFTER,
    }
}

/// The writes that bring a span into the state of one that is in use.
pub(super) fn preconditioning(settings: &IoSettings, place: &Place, passes: u32) -> JobSpec {
    let mut job = job(settings, place, layout_seed());
    job.mode = Mode::Write;
    job.block_sizes = BlockSizes::one(PRECONDITION_BLOCK.min(settings.size));
    job.engine = EngineKind::IoUring;
    job.engine_fallback = true;
    job.engine_options = EngineOptions::PLAIN;
    (job.depth, job.jobs) = (PRECONDITION_DEPTH, 1);
    job.cursor = Cursor::Own;
    job.stop = Stop {
        runtime: None,
        bytes: None,
        passes: Some(passes),
    };
    job.ramp = Nanos::new(0);
    job.sync = SyncPolicy {
        final_flush: Some(SyncKind::Fsync),
        ..SyncPolicy::NONE
    };
    job.pace = Pace::Unpaced;
    job.verify = Verify::Off;
    job.on_error = OnError::Stop;
    job
}

fn pace(settings: &IoSettings) -> Pace {
    match (settings.rate, settings.rate_limit) {
        (Some(rate), _) => Pace::Open {
            rate,
            arrivals: match settings.arrivals {
                IoArrivals::Constant => Arrivals::Constant,
                IoArrivals::Poisson => Arrivals::Poisson,
            },
        },
        (None, Some(limit)) => Pace::Closed(limit),
        (None, None) => Pace::Unpaced,
    }
}

/// Width of a row of the series: 1 s, and 100 ms for trials shorter than 5 s or of unknown length
/// (a long one's rows are merged by the engine).
fn interval(runtime: Option<Nanos>) -> Nanos {
    match runtime {
        Some(runtime) if runtime >= Nanos::from_secs(5) => Nanos::from_secs(1),
        _ => Nanos::from_millis(100),
    }
}

/// The engine that a name stands for.
pub(super) fn engine(engine: IoEngine) -> EngineKind {
    match engine {
        IoEngine::Auto | IoEngine::IoUring => EngineKind::IoUring,
        IoEngine::Libaio => EngineKind::Libaio,
        IoEngine::Psync | IoEngine::Sync => EngineKind::Psync,
        IoEngine::PosixAio => EngineKind::PosixAio,
        IoEngine::Mmap => EngineKind::Mmap,
        IoEngine::Null => EngineKind::Null,
    }
}

fn mode(settings: &IoSettings) -> Mode {
    let read_percent = settings.read_percent;
    match settings.mode {
        IoMode::Read => Mode::Read,
        IoMode::Write => Mode::Write,
        IoMode::RandRead => Mode::RandRead,
        IoMode::RandWrite => Mode::RandWrite,
        IoMode::ReadWrite => Mode::Mixed { read_percent },
        IoMode::RandRw => Mode::RandMixed { read_percent },
        IoMode::Trim => Mode::Trim,
        IoMode::RandTrim => Mode::RandTrim,
    }
}

fn block_sizes(settings: &IoSettings) -> BlockSizes {
    match &settings.block_split {
        Some(split) => {
            let shares: Vec<SizeShare> = split
                .parts()
                .iter()
                .map(|&(size, share)| SizeShare { size, share })
                .collect();
            BlockSizes::split(&shares)
        }
        None => BlockSizes::separate(
            settings.block_size,
            settings.write_block_size.unwrap_or(settings.block_size),
        ),
    }
}

fn engine_options(settings: &IoSettings) -> EngineOptions {
    let tuning = &settings.tuning;
    EngineOptions {
        submit_batch: tuning.submit_batch,
        reap_batch: tuning.reap_batch,
        fixed_buffers: tuning.fixed_buffers,
        fixed_files: tuning.fixed_files,
        sqpoll: tuning.sqpoll,
        iopoll: tuning.iopoll,
        force_async: tuning.force_async,
        hipri: tuning.hipri,
        nowait: tuning.nowait,
        uncached: tuning.uncached,
        pool_threads: tuning.pool_threads,
        punch_holes: tuning.punch_holes,
        ..EngineOptions::PLAIN
    }
}

fn sync(settings: &IoSettings) -> SyncPolicy {
    let fsync = settings.fsync_every.map(|every| (every, SyncKind::Fsync));
    let fdatasync = settings
        .fdatasync_every
        .map(|every| (every, SyncKind::Fdatasync));
    SyncPolicy {
        every: fsync.or(fdatasync),
        final_flush: match settings.final_flush {
            IoFlush::None => None,
            IoFlush::Fsync => Some(SyncKind::Fsync),
            IoFlush::Fdatasync => Some(SyncKind::Fdatasync),
        },
        open: match settings.open_sync {
            IoOpenSync::None => OpenSync::None,
            IoOpenSync::Sync => OpenSync::Sync,
            IoOpenSync::Dsync => OpenSync::Dsync,
        },
    }
}

/// What is written, in the layout and in the trials.
pub(super) fn contents(settings: &IoSettings) -> Contents {
    let dedupe = settings.dedupe;
    match settings.contents {
        IoContents::Zeros => Contents::Zeros,
        IoContents::Random if dedupe.value() == 0.0 => Contents::Random,
        IoContents::Random => Contents::Shaped {
            compressible: fathom_base::Percent::default(),
            dedupe,
        },
        IoContents::Compressible(compressible) => Contents::Shaped {
            compressible,
            dedupe,
        },
    }
}

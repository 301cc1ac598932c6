//! What a job is to do: every choice is said, nothing is assumed.

use std::path::PathBuf;

use fathom_base::{Bytes, Nanos, Percent, Rate};

mod check;
#[cfg(test)]
mod tests;

pub use check::{
    MAX_BLOCK_BYTES, MAX_DEPTH, MAX_JOBS, MAX_SHARES, MIN_INTERVAL_NS, MIN_STUCK_AFTER_NS,
};
pub(crate) use check::{check, sector_of};

/// One I/O job: a target, a load, an engine and when to stop.
///
/// There is no `Default`: a result can be repeated only when every choice was made by someone.
/// [`crate::run`] checks the whole of it before it touches the target.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// Where the I/O goes.
    pub target: Target,
    /// Direction and order of the operations.
    pub mode: Mode,
    /// How many bytes each operation moves.
    pub block_sizes: BlockSizes,
    /// How operations reach the kernel.
    pub engine: EngineKind,
    /// Whether another engine may stand in when `engine` cannot be used (with a note in the
    /// report): true when the caller chose the engine as a default, false when a user named it.
    pub engine_fallback: bool,
    /// The engine's own choices.
    pub engine_options: EngineOptions,
    /// Operations each job keeps in flight, 1 to [`MAX_DEPTH`]; synchronous engines reach 1.
    pub depth: u32,
    /// Threads, each with its own engine, 1 to [`MAX_JOBS`].
    pub jobs: u32,
    /// How the jobs share the span.
    pub cursor: Cursor,
    /// O_DIRECT: past the page cache. Offsets and sizes must then be aligned.
    pub direct: bool,
    /// First byte of the span.
    pub offset: Bytes,
    /// Length of the span. Reading needs a file that reaches its end; writing makes it so.
    pub size: Bytes,
    /// When the job is over.
    pub stop: Stop,
    /// Load that runs before the measured window opens and is not counted.
    pub ramp: Nanos,
    /// When written data is made durable.
    pub sync: SyncPolicy,
    /// When operations start.
    pub pace: Pace,
    /// Which blocks random modes choose.
    pub distribution: Distribution,
    /// What is written.
    pub contents: Contents,
    /// What is checked of data read.
    pub verify: Verify,
    /// What a failed operation does to the job.
    pub on_error: OnError,
    /// Fixes offsets, sizes, directions and contents.
    pub seed: u64,
    /// Width of a row of the series, at least [`MIN_INTERVAL_NS`]. Rows are merged in pairs when
    /// there would be more than [`crate::MAX_ROWS`].
    pub interval: Nanos,
    /// How often the clock is read.
    pub stamps: Stamps,
    /// Where time stamps come from.
    pub clock: ClockChoice,
    /// Processors the jobs are pinned to, job `i` to entry `i % len`; empty pins none.
    pub cpus: Vec<u32>,
    /// An operation in flight for longer than this is stuck: the job is abandoned with
    /// [`crate::IoError::Stuck`]. At least [`MIN_STUCK_AFTER_NS`].
    pub stuck_after: Nanos,
}

/// Where the I/O goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The file or device.
    pub path: PathBuf,
    /// What it must be; another kind is refused.
    pub kind: TargetKind,
}

/// Kinds of target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A regular file; made when missing if the mode writes.
    File,
    /// A block device. Whether it may be written is the caller's question, asked before; while
    /// it is written it is held exclusively.
    BlockDevice,
    /// A block device that the caller holds exclusively already (`O_EXCL`) for as long as the job
    /// runs.
    ClaimedDevice,
}

impl TargetKind {
    /// Whether it is a block device.
    #[must_use]
    pub const fn is_device(self) -> bool {
        matches!(self, Self::BlockDevice | Self::ClaimedDevice)
    }
}

/// Direction and order of the operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Reads in order of offset.
    Read,
    /// Writes in order of offset.
    Write,
    /// Reads in the order of the distribution.
    RandRead,
    /// Writes in the order of the distribution.
    RandWrite,
    /// Reads and writes, each direction in order of offset with a cursor of its own.
    Mixed {
        /// Share of reads.
        read_percent: Percent,
    },
    /// Reads and writes in the order of the distribution.
    RandMixed {
        /// Share of reads.
        read_percent: Percent,
    },
    /// Discards in order of offset.
    Trim,
    /// Discards in the order of the distribution.
    RandTrim,
}

impl Mode {
    /// Whether any operation reads.
    #[must_use]
    pub fn reads(self) -> bool {
        match self {
            Self::Read | Self::RandRead => true,
            Self::Mixed { read_percent } | Self::RandMixed { read_percent } => {
                read_percent.value() > 0.0
            }
            _ => false,
        }
    }

    /// Whether any operation writes.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Write | Self::RandWrite => true,
            Self::Mixed { read_percent } | Self::RandMixed { read_percent } => {
                read_percent.value() < 100.0
            }
            _ => false,
        }
    }

    /// Whether operations discard.
    #[must_use]
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim)
    }

    /// Whether offsets come from the distribution rather than in order.
    #[must_use]
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            Self::RandRead | Self::RandWrite | Self::RandMixed { .. } | Self::RandTrim
        )
    }
}

/// How many bytes each operation moves; discards use the sizes of writes.
///
/// With several sizes, offsets are multiples of the smallest one.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSizes {
    /// Sizes of reads with their shares.
    pub reads: Vec<SizeShare>,
    /// Sizes of writes with their shares.
    pub writes: Vec<SizeShare>,
}

/// One size of a split and its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeShare {
    /// The size.
    pub size: Bytes,
    /// Its share of the operations, relative to the sum of all shares.
    pub share: Percent,
}

impl BlockSizes {
    /// One size for everything.
    #[must_use]
    pub fn one(size: Bytes) -> Self {
        Self::separate(size, size)
    }

    /// One size for reads and one for writes and discards.
    #[must_use]
    pub fn separate(reads: Bytes, writes: Bytes) -> Self {
        let whole = |size| {
            let share = Percent::new(100.0).unwrap_or_default();
            vec![SizeShare { size, share }]
        };
        Self {
            reads: whole(reads),
            writes: whole(writes),
        }
    }

    /// The same weighted split for reads and writes.
    #[must_use]
    pub fn split(shares: &[SizeShare]) -> Self {
        Self {
            reads: shares.to_vec(),
            writes: shares.to_vec(),
        }
    }

    /// The largest size of either direction.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        self.all().max().unwrap_or_default()
    }

    /// The smallest size of either direction: the grid of offsets.
    #[must_use]
    pub fn smallest(&self) -> Bytes {
        self.all().min().unwrap_or_default()
    }

    fn all(&self) -> impl Iterator<Item = Bytes> {
        self.reads.iter().chain(&self.writes).map(|s| s.size)
    }
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// `io_uring_enter(2)`.
    IoUring,
    /// `io_submit(2)` and `io_getevents(2)`. Without O_DIRECT the kernel completes each
    /// operation inside `io_submit`.
    Libaio,
    /// `preadv2(2)` and `pwritev2(2)` (or `pread`, `pwrite`) in the job's own thread.
    Psync,
    /// A pool of threads calling `pread` and `pwrite`. glibc's `aio_read` serves one descriptor
    /// with one thread; [`EngineOptions::pool_threads`] 1 is that.
    PosixAio,
    /// Copies in and out of a shared mapping.
    Mmap,
    /// Completes at once without a system call: what Fathom itself costs.
    Null,
}

impl EngineKind {
    /// All kinds, in order of preference.
    pub const ALL: [Self; 6] = [
        Self::IoUring,
        Self::Libaio,
        Self::Psync,
        Self::PosixAio,
        Self::Mmap,
        Self::Null,
    ];

    /// The name a user types.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Libaio => "libaio",
            Self::Psync => "psync",
            Self::PosixAio => "posixaio",
            Self::Mmap => "mmap",
            Self::Null => "null",
        }
    }

    /// Whether an operation is over when its submission returns, so that depth is always 1.
    #[must_use]
    pub const fn is_synchronous(self) -> bool {
        matches!(self, Self::Psync | Self::Mmap)
    }
}

impl std::fmt::Display for EngineKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// An engine's own choices. Fields that do not apply to the engine are ignored, except that one
/// the engine cannot honour (`iopoll` with libaio, say) is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// Operations handed over by one system call at most; 0 means as many as are free.
    pub submit_batch: u32,
    /// Completions waited for at least, where that many are in flight; 0 never waits (polls).
    pub reap_batch: u32,
    /// io_uring: map the buffers into the kernel once instead of at each operation.
    pub fixed_buffers: bool,
    /// io_uring: look the file up once instead of at each operation.
    pub fixed_files: bool,
    /// io_uring: a kernel thread takes operations from the queue; it costs a processor.
    pub sqpoll: bool,
    /// io_uring: completions are polled from the device, which needs poll queues and O_DIRECT.
    pub iopoll: bool,
    /// io_uring: every n-th operation is given to a kernel worker thread (fio's `force_async`).
    pub force_async: Option<u32>,
    /// libaio: take completions from the ring in memory where possible.
    pub user_space_reap: bool,
    /// psync and posixaio: RWF_HIPRI, poll for the completion, which needs O_DIRECT.
    pub hipri: bool,
    /// psync, posixaio and io_uring: RWF_NOWAIT; what would block is counted and done without.
    pub nowait: bool,
    /// psync, posixaio and io_uring: RWF_DSYNC, each write durable as with O_DSYNC.
    pub write_dsync: bool,
    /// psync, posixaio and io_uring: RWF_DONTCACHE, buffered but dropped from the page cache.
    pub uncached: bool,
    /// posixaio: number of threads; `None` is the depth.
    pub pool_threads: Option<u32>,
    /// Regular files: trim modes punch holes instead of being refused.
    pub punch_holes: bool,
}

impl EngineOptions {
    /// The choices that measure the target rather than the engine: batches as large as there
    /// are free operations, waiting for one completion, buffers and files registered, and
    /// nothing that changes what is asked of the device.
    pub const PLAIN: Self = Self {
        submit_batch: 0,
        reap_batch: 1,
        fixed_buffers: true,
        fixed_files: true,
        sqpoll: false,
        iopoll: false,
        force_async: None,
        user_space_reap: true,
        hipri: false,
        nowait: false,
        write_dsync: false,
        uncached: false,
        pool_threads: None,
        punch_holes: false,
    };
}

/// How the jobs share the span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// Each job works on the whole span as if alone (fio's `numjobs`). Sequential jobs then
    /// touch the same blocks nearly in step; random ones draw orders of their own.
    Own,
    /// The span is cut into one part a job.
    Partitioned,
    /// One order, from which each job takes the next block.
    Shared,
}

/// When the job is over: at whichever limit comes first. One must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Length of the measured window (ramp not counted).
    pub runtime: Option<Nanos>,
    /// Bytes of all jobs together, counted from the start of the ramp, rounded up to whole
    /// blocks.
    pub bytes: Option<Bytes>,
    /// Times each job covers its span (the jobs together, with [`Cursor::Shared`]).
    pub passes: Option<u32>,
}

/// When written data is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncPolicy {
    /// After every so many writes of a job: no new operation starts, the job's writes in flight
    /// finish, then the file is synced. Depth 1 and `(1, Fdatasync)` are durable writes.
    pub every: Option<(u32, SyncKind)>,
    /// Once at the end, inside the measured window.
    pub final_flush: Option<SyncKind>,
    /// How the file is opened.
    pub open: OpenSync,
}

impl SyncPolicy {
    /// Never: writes are acknowledged, not durable.
    pub const NONE: Self = Self {
        every: None,
        final_flush: None,
        open: OpenSync::None,
    };
}

/// System calls that make data durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncKind {
    /// `fsync(2)`: data and metadata.
    Fsync,
    /// `fdatasync(2)`: data and what is needed to read it back.
    Fdatasync,
}

/// Flags that make each write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenSync {
    /// Neither.
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// When operations start. Rates are of all jobs together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as one of `depth` is free.
    Unpaced,
    /// At most at this rate, on a schedule: a job that falls behind catches up at most 100 ms.
    /// Latency counts from the submission.
    Closed(Rate),
    /// On a schedule that does not wait for completions: latency counts from the moment an
    /// operation was due, also when it could not start because `depth` were in flight.
    Open {
        /// Mean rate.
        rate: Rate,
        /// How the due times lie.
        arrivals: Arrivals,
    },
}

/// How the due times of an open loop lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Evenly.
    Constant,
    /// Exponential gaps, drawn from the seed.
    Poisson,
}

/// Which blocks random modes choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Each block exactly once a pass, in an order that differs from pass to pass: what fio's
    /// random map does.
    OnceEach,
    /// Each block with the same chance, independently.
    Uniform,
    /// The k-th most popular block with a chance proportional to `k^-theta`; popular blocks lie
    /// scattered.
    Zipf {
        /// Exponent, above 0 (fio's `zipf:theta`).
        theta: f64,
    },
    /// Self-similar: a share of `h` of the blocks gets `1 - h` of the operations, and so on
    /// within that share (fio's `pareto:h`); popular blocks lie scattered.
    Pareto {
        /// The share, between 0 and 1, not 0.5 (0.2 is the 80/20 rule).
        h: f64,
    },
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contents {
    /// Incompressible and different for each block and each time it is written; can be verified.
    /// What surrounds the 16 bytes that differ in each sector comes again after 1 MiB written by a
    /// job (less with more than 64 jobs): see [`crate::contents`].
    Random,
    /// Random, but in each 4 KiB the given share is zeros and the given share of all 4 KiB
    /// chunks repeats one of 64 fixed chunks.
    Shaped {
        /// Share of each chunk that compresses away.
        compressible: Percent,
        /// Share of chunks that are duplicates.
        dedupe: Percent,
    },
    /// Zero bytes.
    Zeros,
}

/// What is checked of data read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verify {
    /// Nothing.
    Off,
    /// That it is what [`Contents::Random`] with this seed writes there; costs the job's
    /// processor time, outside of latency.
    Pattern,
    /// That each block is what was last written to it: what is read while measuring, and in the
    /// end, after the window, the whole span. Faults are told apart, named and counted
    /// ([`crate::JobReport::verify`]) and do not end the job. Needs [`Contents::Random`] in whole
    /// sectors, block sizes that are multiples of the smallest, one job or [`Cursor::Partitioned`];
    /// operations that would meet on a block wait for each other. Costs 4 bytes of memory a block.
    Ledger {
        /// The seed of the contents, of what is in the target and of what is written.
        contents_seed: u64,
        /// The whole span was written with this seed before, by [`crate::lay_out`] or a job.
        laid_out: bool,
    },
}

/// What a failed operation does to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// Ends it with [`crate::IoError`].
    Stop,
    /// Counted by error number; the job goes on.
    Count,
}

/// How often the clock is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// At each submission and each completion.
    PerIo,
    /// Once for all operations submitted or completed together: cheaper, and latency is blurred
    /// by up to one batch ([`crate::JobReport::resolution_ns`]).
    PerBatch,
}

/// Where time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChoice {
    /// The processor's time stamp counter where it is invariant and agrees with the kernel's
    /// clock, else [`ClockChoice::Monotonic`].
    Auto,
    /// `clock_gettime(CLOCK_MONOTONIC)`.
    Monotonic,
    /// Advances by so many nanoseconds each time it is read, from zero in each job: with the
    /// null engine the report is then the same on every machine. Other engines refuse it.
    Virtual {
        /// Nanoseconds a reading, at least 1.
        step_ns: u32,
    },
}

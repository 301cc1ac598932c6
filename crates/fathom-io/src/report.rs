//! What a job measured.

use std::collections::BTreeMap;

use fathom_base::Nanos;
use fathom_stats::Histogram;

use crate::spec::EngineKind;

/// Most rows a series holds; a longer one has its rows merged in pairs.
pub const MAX_ROWS: usize = 2048;

/// Result of one job (all its threads together).
///
/// Everything but [`JobReport::outside`] was counted inside the measured window: an operation
/// belongs to the window when its completion does.
#[derive(Clone, Debug, PartialEq)]
pub struct JobReport {
    /// Reads.
    pub read: DirectionReport,
    /// Writes.
    pub write: DirectionReport,
    /// Discards.
    pub trim: DirectionReport,
    /// fsync and fdatasync calls, the final flush included; they move no bytes.
    pub sync: DirectionReport,
    /// The same operations in intervals; their sums are the totals.
    pub series: Series,
    /// Length of the measured window, from the common start to the deadline, or to the last
    /// completion or the end of the final flush where these end it.
    pub window: Nanos,
    /// Time the final flush took (also counted in `sync`); `None` if none was asked for.
    pub final_flush: Option<Nanos>,
    /// Mean number of reads, writes and discards in flight over the window, from the time each
    /// number of them lasted.
    pub mean_in_flight: f64,
    /// The same by Little's law, from the operations: the parts of their service times that lie
    /// inside the window, over its length. The two are counted apart; if they differ by more than
    /// a rounding error (with [`crate::Stamps::PerIo`]), the accounting is wrong.
    pub little_in_flight: f64,
    /// Most operations of one job ever in flight.
    pub max_depth_reached: u32,
    /// Processor time over the window.
    pub cpu: CpuUse,
    /// Engine asked for and engine used.
    pub engine: EngineUse,
    /// Operations outside of the window.
    pub outside: OutsideReport,
    /// Time stamps.
    pub clock: ClockReport,
    /// How far a latency may be off because operations share stamps: 0 with a stamp for each, else
    /// the longest time in which a batch was reaped and the next one made.
    pub resolution_ns: u64,
    /// How operations met an open schedule; `None` for other paces.
    pub open_loop: Option<OpenLoopReport>,
    /// What verifying found ([`crate::Verify::Ledger`]).
    pub verify: Option<VerifyReport>,
    /// Things worth telling that are not errors.
    pub notes: Vec<Note>,
}

impl JobReport {
    /// Reads, writes and discards in the window.
    #[must_use]
    pub fn ops(&self) -> u64 {
        self.transfers().map(|d| d.ops).sum()
    }

    /// Bytes of reads, writes and discards in the window.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.transfers().map(|d| d.bytes).sum()
    }

    /// Reads, writes and discards a second.
    #[must_use]
    pub fn iops(&self) -> f64 {
        per_second(self.ops(), self.window)
    }

    /// Bytes a second.
    #[must_use]
    pub fn bytes_per_second(&self) -> f64 {
        per_second(self.bytes(), self.window)
    }

    fn transfers(&self) -> impl Iterator<Item = &DirectionReport> {
        [&self.read, &self.write, &self.trim].into_iter()
    }
}

fn per_second(count: u64, window: Nanos) -> f64 {
    match window.as_u64() {
        0 => 0.0,
        ns => count as f64 * 1e9 / ns as f64,
    }
}

/// Operations of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionReport {
    /// Completed without error; equals the count of `latency`.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From submission to reaping; in an open loop from the due time.
    pub latency: Histogram,
    /// Open loop only: from submission to reaping.
    pub service: Option<Histogram>,
    /// Failed operations by error number; they are in neither `ops` nor `latency`.
    pub errors: BTreeMap<i32, u64>,
    /// Operations the kernel did in part and that were continued (each counts once in `ops`).
    pub short: u64,
    /// Operations repeated because of EINTR or EAGAIN.
    pub retried: u64,
    /// Operations that RWF_NOWAIT refused and that were then done without it.
    pub would_block: u64,
    /// Reads whose data were not what had been written ([`crate::Verify::Pattern`]).
    pub corrupt: u64,
}

/// The window in intervals of equal width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Width of a row; the one asked for, or a power of two times that.
    pub interval: Nanos,
    /// Rows in order, none missing; the last may be shorter.
    pub rows: Vec<IntervalRow>,
}

/// One interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalRow {
    /// Start, since the window opened.
    pub start_ns: u64,
    /// Length.
    pub length_ns: u64,
    /// Reads completed in it.
    pub read: IntervalCell,
    /// Writes completed in it.
    pub write: IntervalCell,
    /// Discards completed in it.
    pub trim: IntervalCell,
    /// Syncs completed in it.
    pub sync: IntervalCell,
}

impl IntervalRow {
    /// Reads, writes and discards.
    #[must_use]
    pub fn ops(&self) -> u64 {
        self.read.ops + self.write.ops + self.trim.ops
    }

    /// Bytes of reads, writes and discards.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.read.bytes + self.write.bytes + self.trim.bytes
    }
}

/// One direction in one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntervalCell {
    /// Operations completed.
    pub ops: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of their latencies.
    pub latency_sum_ns: u64,
    /// Longest latency.
    pub latency_max_ns: u64,
}

/// Processor time over the window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuUse {
    /// User time of the submitting threads.
    pub user_ns: u64,
    /// System time of the submitting threads.
    pub system_ns: u64,
    /// User time of the whole process: pool threads and whatever else it does included.
    pub process_user_ns: u64,
    /// System time of the whole process: kernel workers of io_uring included.
    pub process_system_ns: u64,
    /// Times a submitting thread was made to leave the processor.
    pub involuntary_switches: u64,
    /// Times a submitting thread waited.
    pub voluntary_switches: u64,
    /// Largest share of the window one submitting thread was busy, 0 to 1.
    pub busiest_job: f64,
}

/// Engine asked for and engine used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineUse {
    /// As in the specification.
    pub asked: EngineKind,
    /// What ran.
    pub used: EngineKind,
    /// Kernel features in force, such as `defer_taskrun` or `fixed_buffers`.
    pub features: Vec<&'static str>,
}

/// Operations outside of the window: not in any other figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutsideReport {
    /// Completed during the ramp.
    pub ramp_ops: u64,
    /// Bytes of these.
    pub ramp_bytes: u64,
    /// In flight at the deadline and completed after it.
    pub late_ops: u64,
    /// Bytes of these.
    pub late_bytes: u64,
    /// Failed before or after the window.
    pub errors: u64,
}

/// The clock that gave the stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReport {
    /// `tsc`, `monotonic` or `virtual`.
    pub source: &'static str,
    /// Cost of reading it.
    pub read_ns: f64,
    /// How far it went from CLOCK_MONOTONIC over the run, in parts of a million.
    pub drift_ppm: f64,
}

/// How operations met an open schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenLoopReport {
    /// Operations that were due in the window.
    pub due: u64,
    /// Of these, started more than 50 us after they were due.
    pub late_starts: u64,
    /// Longest delay of a start.
    pub latest_start_ns: u64,
    /// Due but not started when the window closed.
    pub backlog: u64,
}

/// What verifying with a ledger found, in and out of the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Bytes checked of the job's own reads.
    pub checked_bytes: u64,
    /// Bytes read back and checked after it.
    pub read_back_bytes: u64,
    /// Faulty blocks by kind ([`FaultKind::name`]); each once until it is written again.
    pub faults: BTreeMap<&'static str, u64>,
    /// The first of them.
    pub first: Vec<Fault>,
}

/// A block that is not what was last written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, in bytes from the start of the target.
    pub offset: u64,
    /// Length of the block.
    pub length: fathom_base::Bytes,
    /// What is there instead.
    pub kind: FaultKind,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An earlier writing of the same place: the last one was lost.
    Stale,
    /// Part of the last writing, part of an earlier one.
    Torn,
    /// What was written to another offset.
    Misdirected {
        /// That offset.
        from: u64,
    },
    /// What was written, but for some bits.
    Flipped {
        /// How many of the first such sector.
        bits: u32,
    },
    /// Zeros.
    Zeros,
    /// Anything else.
    Garbled,
    /// It could not be read back.
    Unreadable,
}

impl FaultKind {
    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Torn => "torn",
            Self::Misdirected { .. } => "misdirected",
            Self::Flipped { .. } => "flipped",
            Self::Zeros => "zeros",
            Self::Garbled => "garbled",
            Self::Unreadable => "unreadable",
        }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at offset {} ({}) ", self.offset, self.length)?;
        match self.kind {
            FaultKind::Stale => f.write_str("is an earlier writing: the last one was lost"),
            FaultKind::Torn => f.write_str("is in part the last writing, in part an earlier one"),
            FaultKind::Misdirected { from } => write!(f, "is what was written to offset {from}"),
            FaultKind::Flipped { bits } => write!(f, "is what was written but for {bits} bits"),
            FaultKind::Zeros => f.write_str("are zeros where data were written"),
            FaultKind::Garbled => f.write_str("is not what was written"),
            FaultKind::Unreadable => f.write_str("could not be read back"),
        }
    }
}

/// Something worth telling about how a job ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What it is about, for programs.
    pub kind: NoteKind,
    /// One sentence for people.
    pub text: String,
}

/// Kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    /// Another engine stood in.
    EngineFallback,
    /// Buffers could not be registered.
    Unregistered,
    /// A kernel feature is missing or was refused.
    Feature,
    /// The engine cannot reach the depth asked for.
    Depth,
    /// The clock is slow, coarse or drifted.
    Clock,
    /// A thread could not be pinned.
    Affinity,
    /// The rate asked for was not reached.
    Pace,
    /// Anything about the target.
    Target,
}

/// Counters of a job that is running, for a progress display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Whether the window is open (false during the ramp).
    pub in_window: bool,
    /// Since the window opened, or since the ramp began.
    pub elapsed: Nanos,
    /// Operations completed since the start, ramp included.
    pub ops: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Operations in flight.
    pub in_flight: u64,
    /// Age of the oldest of these.
    pub oldest: Nanos,
}

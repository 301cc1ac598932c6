//! The I/O engine: one worker loop made of values (engine x offsets x pace x stop), full latency
//! histograms and an interval series always on.
//!
//! ```
//! use fathom_base::{Bytes, Cancel, Nanos};
//! use fathom_io::*;
//!
//! let spec = JobSpec {
//!     target: Target { path: "unused".into(), kind: TargetKind::File },
//!     mode: Mode::RandRead,
//!     block_sizes: BlockSizes::one(Bytes::new(4096)),
//!     engine: EngineKind::Null,
//!     engine_fallback: false,
//!     engine_options: EngineOptions::PLAIN,
//!     depth: 32,
//!     jobs: 1,
//!     cursor: Cursor::Own,
//!     direct: false,
//!     offset: Bytes::new(0),
//!     size: Bytes::MIB,
//!     stop: Stop { runtime: None, bytes: None, passes: Some(2) },
//!     ramp: Nanos::new(0),
//!     sync: SyncPolicy::NONE,
//!     pace: Pace::Unpaced,
//!     distribution: Distribution::OnceEach,
//!     contents: Contents::Random,
//!     verify: Verify::Off,
//!     on_error: OnError::Stop,
//!     seed: 1,
//!     interval: Nanos::from_millis(100),
//!     stamps: Stamps::PerIo,
//!     clock: ClockChoice::Auto,
//!     cpus: Vec::new(),
//!     stuck_after: Nanos::from_secs(60),
//! };
//! let report = run(&spec, &NoHooks, &Cancel::new())?;
//! assert_eq!(report.read.ops, 512);
//! assert_eq!(report.read.latency.count(), 512);
//! # Ok::<(), IoError>(())
//! ```
//!
//! # Definitions
//! - *Latency* is from submission to reaping: the system call that hands an operation over, to
//!   the moment its completion is taken from the engine. In an open loop it starts when the
//!   operation was due.
//! - The *window* is common to all jobs. An operation belongs to it when its completion does.
//!   With a runtime it closes at the deadline and what completes later is counted apart; with a
//!   byte or pass limit, or a final flush, it closes at the last completion or the end of the
//!   flush.

mod buffer;
mod clock;
pub mod contents;
mod engine;
mod error;
mod layout;
mod merge;
mod pace;
mod probe;
mod report;
mod run;
mod shared;
mod source;
mod spec;
mod target;
#[cfg(test)]
mod testing;
mod verify;
mod worker;

pub use clock::{clock_cost, monotonic_ns};
pub use error::{IoError, Unavailable};
pub use layout::{LayoutReport, LayoutSpec, lay_out};
pub use probe::{
    DirectProbe, DirectVerdict, Evicted, ExtentMap, Range, Residency, direct_probe, evict, extents,
    probe, residency,
};
pub use report::{
    ClockReport, CpuUse, DirectionReport, EngineUse, Fault, FaultKind, IntervalCell, IntervalRow,
    JobReport, MAX_ROWS, Note, NoteKind, OpenLoopReport, OutsideReport, Series, Snapshot,
    VerifyReport,
};
pub use run::{Hooks, NoHooks, run};
pub use spec::{
    Arrivals, BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, EngineOptions,
    JobSpec, MAX_BLOCK_BYTES, MAX_DEPTH, MAX_JOBS, MAX_SHARES, MIN_INTERVAL_NS, MIN_STUCK_AFTER_NS,
    Mode, OnError, OpenSync, Pace, SizeShare, Stamps, Stop, SyncKind, SyncPolicy, Target,
    TargetKind, Verify,
};
pub use target::DirectAlignment;

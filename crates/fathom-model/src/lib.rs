//! The vocabulary of Fathom: systems, cases, results, verdicts and events, and the contracts
//! between the crates that measure, keep and show.
//!
//! A [`ResultFile`] holds [`System`]s, [`Case`]s, one [`ResultRecord`] for each metric of a case
//! (with an [`Entry`] for each system), and the [`Run`]s whose [`Trial`]s the entries come from.

mod assemble;
mod case;
pub mod compare;
mod conditions;
mod contract;
pub mod definition;
mod error;
mod event;
mod evidence;
mod figure;
mod identity;
pub mod judge;
mod machine;
pub mod merge;
mod option;
mod pts_json;
mod result;
mod system;
mod verdict;

pub use assemble::{ResultBuilder, trial_ids};
pub use case::{Case, CaseId, Implementation, ImplementationKind, Options};
pub use conditions::{Condition, conditions_of};
pub use contract::{
    Context, Estimate, Host, Observer, Prepared, Progress, SCRATCH_VARIABLE, Sink, Test, TestInfo,
    Unmet, Witness,
};
pub use error::{ModelError, OptionError, SinkError, TestError};
pub use event::{Event, PlannedCase, RunEnd, RunHeader, StopReason};
pub use evidence::{
    CacheEvidence, ClockEvidence, CpuEvidence, DataEvidence, DeviceEvidence, DirectEvidence,
    DurabilityEvidence, Evidence, FileEvidence, HostEvidence, IoEvidence, OpenEvidence,
    PaceEvidence, PressureEvidence, VerifyEvidence,
};
pub use figure::Figure;
pub use identity::{PtsIdentity, case_id, imported_case_id, pts_comparison_hash, pts_profile};
pub use machine::{
    Board, Cpu, Drive, Layer, LayerKind, Link, Machine, Memory, MemoryBacking, Mount, Peripherals,
    Platform, TargetInfo, TargetKind,
};
pub use option::{Choice, OptionInfo, OptionKind, SizeShares, Word, WordNumber, Worded, nearest};
pub use pts_json::PtsJson;
pub use result::{
    Direction, Display, Entry, EntryDetails, FORMAT_VERSION, Generator, Metric, Origin, PtsFacts,
    ResultFile, ResultRecord, Run, Series, Spread, Status, Trial, Warning,
};
pub use system::{Field, System};
pub use verdict::{Level, Reason, Verdict};

use fathom_base::{Bytes, Nanos, WallTime};
use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseId};
use crate::contract::Progress;
use crate::result::{Metric, Trial};
use crate::system::System;

/// What happens in a run, in order. Journal, progress display and web page are sinks of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// The plan stands, nothing was written yet.
    RunStarted(Box<RunHeader>),
    /// An unfinished run goes on, in a new process and a new scratch directory.
    RunResumed {
        /// When.
        at: WallTime,
        /// Version of Fathom that goes on.
        version: String,
        /// The new scratch directory.
        scratch: String,
    },
    /// A case is being prepared (its file laid out, for example).
    PreparingCase {
        /// The case.
        case: CaseId,
    },
    /// A case cannot run here.
    CaseUnavailable {
        /// The case.
        case: CaseId,
        /// Why, and what to do.
        reason: String,
    },
    /// A trial begins.
    TrialStarted {
        /// The case.
        case: CaseId,
        /// From 1.
        number: u32,
    },
    /// A trial goes on; not journalled.
    Progress {
        /// The case.
        case: CaseId,
        /// How far it is.
        progress: Progress,
    },
    /// A trial ended, well or not.
    TrialFinished {
        /// The case.
        case: CaseId,
        /// All of it.
        trial: Box<Trial>,
    },
    /// A case is not repeated any more.
    CaseStopped {
        /// The case.
        case: CaseId,
        /// Why.
        reason: StopReason,
    },
    /// Something worth saying.
    Note {
        /// One sentence.
        text: String,
    },
    /// The run ended.
    RunFinished {
        /// How.
        end: RunEnd,
        /// When.
        at: WallTime,
    },
}

impl Event {
    /// The event as one line of a journal, without the newline. Events are written and read only
    /// here, so that their large wire code is compiled once and not in every crate that uses it.
    ///
    /// # Errors
    /// When a number cannot be written as JSON.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The event that [`Event::to_line`] wrote.
    ///
    /// # Errors
    /// When the line is no event.
    pub fn from_line(line: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(line)
    }
}

/// The head of a run: everything needed to resume it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Unique.
    pub run_id: String,
    /// The name the result is saved under.
    pub name: String,
    /// Title of the result file.
    pub title: String,
    /// What the result file is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The saved result this run is added to; absent when it becomes a result of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_to: Option<String>,
    /// Version of Fathom.
    pub version: String,
    /// Start.
    pub started: WallTime,
    /// All randomness of the run comes from it.
    pub seed: u64,
    /// The target as the user named it, absolute.
    pub target: String,
    /// Where the scratch directory is, for cleaning up after a crash.
    pub scratch: String,
    /// The machine.
    pub system: Box<System>,
    /// The cases in the order of the suite.
    pub cases: Vec<PlannedCase>,
    /// Half-width of the 95 % interval to reach, per cent of the mean.
    pub goal_percent: f64,
    /// Trials at least.
    pub min_trials: u32,
    /// Trials at most.
    pub max_trials: u32,
    /// Time for all trials of one case; `None` is no limit.
    pub case_budget: Option<Nanos>,
    /// Time for the whole run; `None` is no limit.
    pub run_budget: Option<Nanos>,
    /// Limit on bytes written by the tests.
    pub write_limit: Option<Bytes>,
    /// Longest a trial or a preparation may take; `None`: ten minutes or ten times the estimate,
    /// whichever is longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial_limit: Option<Nanos>,
}

/// A case and what is expected of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlannedCase {
    /// The case.
    pub case: Case,
    /// Title of its test.
    pub title: String,
    /// Its metrics.
    pub metrics: Vec<Metric>,
    /// Why it cannot run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// Time one trial is expected to take.
    pub trial_time: Nanos,
    /// Time the preparation is expected to take.
    pub prepare_time: Nanos,
    /// Bytes one trial is expected to write at most.
    pub trial_bytes: Bytes,
    /// Bytes the preparation is expected to write.
    pub prepare_bytes: Bytes,
    /// Cases of one group are prepared together and interleaved; groups follow one another.
    #[serde(default)]
    pub group: u32,
}

/// Why a case was not repeated further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The interval is narrow enough.
    GoalReached,
    /// The largest number of trials was reached.
    MaxTrials,
    /// The time of the case was over.
    CaseBudget,
    /// The time of the run was over.
    RunBudget,
    /// The limit on bytes written was reached.
    WriteLimit,
    /// Too many trials failed.
    Failing,
    /// The user stopped the run.
    Cancelled,
    /// The user skipped the case.
    Skipped,
    /// Every trial gives the same by construction (a count, a check).
    Deterministic,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunEnd {
    /// Every case got its trials.
    Complete,
    /// The user stopped it; `resume` goes on.
    Cancelled,
    /// It could not go on, for example because the disk is full.
    Aborted,
}

use std::path::{Path, PathBuf};

use fathom_base::{Bytes, Cancel, Clock, Nanos};
use serde::{Deserialize, Serialize};

use crate::case::{Case, Implementation};
use crate::error::{OptionError, SinkError, TestError};
use crate::event::Event;
use crate::evidence::HostEvidence;
use crate::machine::TargetInfo;
use crate::option::OptionInfo;
use crate::result::{Metric, Trial};

/// A thing that can be measured, in one implementation.
pub trait Test: Send + Sync {
    /// Name, version, options and metrics. Cheap; the same on every machine, except that the
    /// version of an implementation by a program is the one found here (empty when none is).
    fn info(&self) -> TestInfo;

    /// The name alone, for looking a test up without asking any program for its version.
    fn id(&self) -> &'static str {
        self.info().id
    }

    /// Completes a resolved case with what only this machine can tell and the identity must hold,
    /// such as the hash of a file that an option names. Asked once, before the case is planned.
    ///
    /// # Errors
    /// [`OptionError`] that names the option, when what it names cannot be used here.
    fn complete(&self, case: Case) -> Result<Case, OptionError> {
        Ok(case)
    }

    /// The metrics of a case: an `io` case that only reads yields no write bandwidth.
    fn metrics(&self, case: &Case) -> Vec<Metric>;

    /// What the case needs and this machine lacks; asked before any I/O.
    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet>;

    /// What a trial will take; shown in the plan and held against limits.
    ///
    /// # Errors
    /// [`TestError::Option`] when a stored case cannot be understood.
    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError>;

    /// Gets ready: lays out files, starts what is needed. Several cases of one run are prepared at
    /// the same time in one scratch directory.
    ///
    /// # Errors
    /// [`TestError`]; nothing is left behind then.
    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError>;
}

/// A case that is ready to be measured.
pub trait Prepared {
    /// One trial: values, histograms, series and evidence. The caller fills in id, number, start
    /// and duration, and judges.
    ///
    /// # Errors
    /// [`TestError`]; the caller records a failed trial.
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError>;

    /// Cleans up: nothing stays behind, not even after errors.
    ///
    /// # Errors
    /// [`TestError`] when something could not be removed.
    fn finish(self: Box<Self>, cx: &Context<'_>) -> Result<(), TestError>;
}

/// Takes the events of a run.
pub trait Sink {
    /// Takes one event.
    ///
    /// # Errors
    /// [`SinkError`] when it could not be kept; the run then ends, since going on would lose it.
    fn event(&mut self, event: &Event) -> Result<(), SinkError>;
}

/// What a test is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestInfo {
    /// What a user types: `io`.
    pub id: &'static str,
    /// For people: `Random and sequential I/O`.
    pub title: &'static str,
    /// Two or three sentences: what is done, what is measured, what the figure means.
    pub summary: &'static str,
    /// Version of the workload; its part before the first dot is part of the identity.
    pub version: String,
    /// This implementation.
    pub implementation: Implementation,
    /// The options, in the order they are shown.
    pub options: Vec<OptionInfo>,
}

/// What the machine offers to a test.
#[derive(Clone, Debug)]
pub struct Host {
    /// The target of the run.
    pub target: TargetInfo,
    /// The machine's memory.
    pub memory: Bytes,
    /// Logical processors.
    pub cpus: u32,
    /// Whether we are root.
    pub is_root: bool,
    /// Where programs are looked up.
    pub search_path: std::ffi::OsString,
}

/// A need that is not met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmet {
    /// What is missing: `fio is not installed`.
    pub what: String,
    /// What to do: `apt-get install fio`; may be empty.
    pub hint: String,
}

/// What a case is expected to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// Time of one trial.
    pub trial_time: Nanos,
    /// Time of the preparation.
    pub prepare_time: Nanos,
    /// Bytes one trial writes at most; a rate times a duration where it is not fixed.
    pub trial_bytes: Bytes,
    /// Bytes the preparation writes.
    pub prepare_bytes: Bytes,
    /// Space taken on the target at the same time.
    pub space: Bytes,
    /// Files that exist at the same time.
    pub inodes: u64,
    /// Cases of a run with the same number here use one layout (a file that they all read and
    /// write): its space and its preparation count once. `None`: the case has its own.
    pub layout: Option<u64>,
    /// The case must not be prepared while others are: it starts a server, for example, whose work
    /// would disturb them. Such a case is measured on its own instead of in turn with the others.
    pub exclusive: bool,
}

/// Where a trial is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// `lay out`, `ramp`, `measure`, or a workload's own phase.
    pub phase: String,
    /// 0 to 1, where it is known.
    pub fraction: Option<f64>,
    /// What the phase yields at the moment: `1466 MB/s`.
    pub rate: String,
}

/// The variable that programs and servers of a run are started with: the run's scratch directory. By it
/// they are found and ended after a crash.
pub const SCRATCH_VARIABLE: &str = "FATHOM_SCRATCH";

/// What a test works with.
pub struct Context<'a> {
    /// A directory on the target that is the run's own; all I/O stays in it (unless the target is
    /// a block device).
    pub scratch: &'a Path,
    /// The block device or existing file to test instead, consented by the user.
    pub device: Option<PathBuf>,
    /// The machine and target.
    pub host: &'a Host,
    /// Seed of this case and trial.
    pub seed: u64,
    /// From 1; 0 while preparing.
    pub trial: u32,
    /// When the trial must be over, on `clock`.
    pub deadline: Nanos,
    /// Asked to stop.
    pub cancel: &'a Cancel,
    /// Time.
    pub clock: &'a dyn Clock,
    /// Watches the machine over the measured window.
    pub observer: &'a dyn Observer,
    /// Takes progress; a few times a second is enough.
    pub progress: &'a dyn Fn(Progress),
}

/// Watches what the machine does.
pub trait Observer: Send + Sync {
    /// Called when the measured window begins.
    fn begin(&self) -> Box<dyn Witness>;
}

/// One look, waiting for the second.
pub trait Witness: Send {
    /// Called when the measured window ends.
    fn end(self: Box<Self>) -> HostEvidence;
}

//! From settings to a plan: every case resolved or with the reason why it cannot run, what it will
//! take, and the order of the trials. Nothing is written while planning.

use std::path::{Path, PathBuf};

use fathom_base::{Bytes, Nanos, SplitMix64, WallTime, seed_for};
use fathom_model::{
    Case, Host, ImplementationKind, OptionError, PlannedCase, RunHeader, System, TargetInfo,
    TargetKind,
};

use crate::registry::Registry;
use crate::settings::{GOAL_PERCENT, RunSettings, SettingError};
use crate::suite::{Place, Suite};

mod estimate;
mod expand;
#[cfg(test)]
mod tests;

pub use estimate::Totals;

/// The most cases a plan may have.
pub const CASES_LIMIT: usize = 10_000;

/// What the user asked for, with everything resolved that is not about cases.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// Unique; see [`crate::run_id`].
    pub run_id: String,
    /// All randomness of the run comes from it.
    pub seed: u64,
    /// The name to save under, free at the moment; see `Store::fresh_name`.
    pub name: String,
    /// The saved result the run is added to.
    pub add_to: Option<String>,
    /// Title of the result; empty for the suite's.
    pub title: String,
    /// What it is about; empty for the suite's.
    pub description: String,
    /// Version of Fathom.
    pub version: String,
    /// Now.
    pub started: WallTime,
    /// The target as the user named it, absolute.
    pub target: PathBuf,
    /// Where the scratch directory is made; see [`scratch_parent`].
    pub scratch_parent: PathBuf,
    /// The machine, under the identifier the user chose.
    pub system: System,
    /// What to measure.
    pub selections: Vec<Selection>,
    /// Options said over it.
    pub overrides: Vec<Override>,
    /// How all tests are to be carried out; `None` leaves it to the selections.
    pub implementation: Option<ImplementationKind>,
    /// How long and how often; the suites' settings apply where nothing is said.
    pub settings: RunSettings,
}

/// Something to measure.
#[derive(Clone, Debug)]
pub enum Selection {
    /// The cases of a suite.
    Suite(Suite),
    /// A test with its defaults.
    Test(String),
    /// The cases of a saved result.
    Cases(Vec<Case>),
}

/// An option for every case that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Only for this test.
    pub test: Option<String>,
    /// The option.
    pub name: String,
    /// Its values; several give a case each.
    pub values: Vec<String>,
}

/// What will be done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The head of the run, as it will be recorded.
    pub header: RunHeader,
    /// What it takes altogether.
    pub totals: Totals,
    /// What the user should know before it starts.
    pub notes: Vec<String>,
}

/// A plan that cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A wrong option on the command line.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A wrong option in a suite.
    #[error("suite {file}, {place}: {source}")]
    Suite {
        /// The suite's file.
        file: String,
        /// Where.
        place: Place,
        /// What is wrong.
        source: Box<OptionError>,
    },
    /// An override that fits no case.
    #[error("no case of this run has an option {option}{}", did_you_mean(.nearest.as_deref()))]
    Unused {
        /// As typed, with its test when one was named.
        option: String,
        /// The nearest option.
        nearest: Option<String>,
    },
    /// There is no such test.
    #[error("there is no test named {test}{}", did_you_mean(.nearest.as_deref()))]
    UnknownTest {
        /// As typed.
        test: String,
        /// The nearest one.
        nearest: Option<String>,
    },
    /// Settings that contradict each other.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// More cases than a plan may have.
    #[error("the options give more than {limit} cases; name fewer values")]
    TooManyCases {
        /// The limit.
        limit: usize,
    },
    /// Nothing to do.
    #[error("there are no cases: {what}")]
    Empty {
        /// Why.
        what: String,
    },
    /// The preparation alone exceeds the limit on bytes written.
    #[error(
        "laying out the files writes {needed}, more than the write limit of {limit}; choose fewer \
         cases, a smaller size, or a larger limit"
    )]
    WriteLimit {
        /// What the preparation writes.
        needed: Bytes,
        /// The limit.
        limit: Bytes,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

impl Plan {
    /// Resolves the request against the tests and the machine. Reads nothing but what the tests'
    /// checks read, writes nothing.
    ///
    /// # Errors
    /// [`PlanError`] when something the user or a suite said is wrong. A case that cannot run on
    /// this machine is no error: it is in the plan with its reason.
    pub fn build(
        request: &PlanRequest,
        registry: &Registry,
        host: &Host,
    ) -> Result<Self, PlanError> {
        let mut notes = Vec::new();
        let drafts = expand::drafts(request, registry, &mut notes)?;
        let mut cases = estimate::resolved(drafts, registry, host);
        let room = estimate::assign_groups(&mut cases, &host.target, &mut notes);
        let cases = cases.into_iter().map(|case| case.planned).collect();
        let header = head(request, &settings_of(request), cases)?;
        let totals = estimate::totals(&header, room);
        let plan = Self {
            header,
            totals,
            notes,
        };
        plan.checked()
    }

    /// Cases that can run.
    pub fn available(&self) -> impl Iterator<Item = &PlannedCase> {
        let all = self.header.cases.iter();
        all.filter(|planned| planned.unavailable.is_none())
    }

    fn checked(mut self) -> Result<Self, PlanError> {
        if self.header.cases.is_empty() {
            let what = "the selection is empty".to_owned();
            return Err(PlanError::Empty { what });
        }
        if let Some(limit) = self.header.write_limit {
            let needed = self.totals.prepare_bytes;
            if needed > limit {
                return Err(PlanError::WriteLimit { needed, limit });
            }
            if self.totals.bytes_least > limit {
                self.notes.push(format!(
                    "the smallest number of trials may write {}, the limit is {}: cases will be \
                     stopped by it",
                    self.totals.bytes_least.rough(),
                    limit.rough()
                ));
            }
        }
        if let Some(budget) = self.header.run_budget
            && self.totals.time_least > budget
        {
            self.notes.push(format!(
                "{} trials of every case take about {}, longer than the budget of {}; they are \
                 done all the same",
                self.header.min_trials,
                self.totals.time_least.rough(),
                budget.rough()
            ));
        }
        Ok(self)
    }
}

/// Where the scratch directory of a target belongs: in the directory itself, beside a file, and
/// for a block device in `elsewhere`.
pub fn scratch_parent(target: &TargetInfo, elsewhere: &Path) -> PathBuf {
    let path = Path::new(&target.path);
    match target.kind {
        TargetKind::Directory => path.to_path_buf(),
        TargetKind::File => path.parent().unwrap_or(path).to_path_buf(),
        TargetKind::BlockDevice => elsewhere.to_path_buf(),
    }
}

/// The order in which the cases of a group take their trial in a round: drawn afresh each round,
/// the same for the same seed, whatever has happened before.
pub fn round_order(seed: u64, group: u32, round: u32, cases: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cases).collect();
    let seed = seed_for(seed, &format!("order/{group}/{round}"));
    SplitMix64::new(seed).shuffle(&mut order);
    order
}

fn settings_of(request: &PlanRequest) -> RunSettings {
    let mut settings = request.settings.clone();
    for selection in &request.selections {
        if let Selection::Suite(suite) = selection {
            settings = settings.over(&suite.run);
        }
    }
    settings
}

fn head(
    request: &PlanRequest,
    settings: &RunSettings,
    cases: Vec<PlannedCase>,
) -> Result<RunHeader, PlanError> {
    let (min_trials, max_trials) = settings.trials()?;
    let suite = request
        .selections
        .iter()
        .find_map(|selection| match selection {
            Selection::Suite(suite) => Some(suite),
            _ => None,
        });
    let or_suite = |own: &str, suites: Option<&String>| match own {
        "" => suites.cloned().unwrap_or_default(),
        own => own.to_owned(),
    };
    let mut title = or_suite(&request.title, suite.map(|suite| &suite.title));
    if title.is_empty() {
        title.clone_from(&request.name);
    }
    let scratch = crate::scratch::path_for(&request.scratch_parent, &request.run_id);
    Ok(RunHeader {
        run_id: request.run_id.clone(),
        name: request.name.clone(),
        title,
        description: or_suite(&request.description, suite.map(|suite| &suite.description)),
        add_to: request.add_to.clone(),
        version: request.version.clone(),
        started: request.started,
        seed: request.seed,
        target: request.target.to_string_lossy().into_owned(),
        scratch: scratch.to_string_lossy().into_owned(),
        system: Box::new(request.system.clone()),
        cases,
        goal_percent: settings.goal.map_or(GOAL_PERCENT, |goal| goal.value()),
        min_trials,
        max_trials,
        case_budget: settings.case_budget.and_then(crate::settings::Cap::limit),
        run_budget: settings.run_budget.and_then(crate::settings::Cap::limit),
        write_limit: settings.write_limit.and_then(crate::settings::Cap::limit),
        trial_limit: settings.trial_limit.and_then(crate::settings::Cap::limit),
    })
}

/// How long one trial or preparation may take: what was said, else ten minutes or ten times the
/// estimate, whichever is longer.
pub fn time_limit(header: &RunHeader, estimate: Nanos) -> Nanos {
    const LEAST: Nanos = Nanos::from_secs(600);
    let generous = Nanos::new(estimate.as_u64().saturating_mul(10)).max(LEAST);
    header.trial_limit.unwrap_or(generous)
}

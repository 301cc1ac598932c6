//! What a person reads when something does not work: what, where, what was expected, what to do.

use std::fmt;

use fathom_base::{BaseError, UnitError};
use fathom_model::{ModelError, OptionError, SinkError, TestError};
use fathom_profiles::profile::ProfileFileError;
use fathom_runner::suite::SuiteError;
use fathom_runner::{PlanError, RunError, SettingError};
use fathom_store::{NameError, StoreError};

use crate::exit::Exit;

/// Lines printed below the first one; the rest is counted.
const DETAIL_LIMIT: usize = 18;

/// Why a command ends without doing its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// One line: what is wrong, and where.
    pub what: String,
    /// What was expected and what to do, one line each.
    pub details: Vec<String>,
}

impl Failure {
    /// A failure without details.
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            details: Vec::new(),
        }
    }

    /// The command line is wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Exit::Usage, what)
    }

    /// The machine or target lacks something.
    pub fn unmet(what: impl Into<String>) -> Self {
        Self::new(Exit::Unmet, what)
    }

    /// The reader of our output has gone, which is no failure of ours.
    pub fn reader_gone() -> Self {
        Self::new(Exit::Good, "")
    }

    /// From the text of an error of ours: what comes after a semicolon is a line of its own.
    pub fn from_text(exit: Exit, text: &str) -> Self {
        let mut parts = text.split("; ");
        let failure = Self::new(exit, parts.next().unwrap_or_default());
        parts.fold(failure, Self::detail)
    }

    /// Adds a line; empty ones are left out.
    #[must_use]
    pub fn detail(mut self, line: impl Into<String>) -> Self {
        let line = line.into();
        if !line.is_empty() {
            self.details.push(line);
        }
        self
    }

    /// Adds `did you mean X?` when there is an X.
    #[must_use]
    pub fn nearest(self, name: Option<&str>) -> Self {
        match name {
            Some(name) => self.detail(format!("did you mean {name}?")),
            None => self,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        for line in self.details.iter().take(DETAIL_LIMIT) {
            write!(f, "\n  {line}")?;
        }
        match self.details.len().checked_sub(DETAIL_LIMIT) {
            Some(rest) if rest > 0 => write!(f, "\n  and {rest} more"),
            _ => Ok(()),
        }
    }
}

impl From<OptionError> for Failure {
    fn from(error: OptionError) -> Self {
        match &error {
            OptionError::Unknown {
                test,
                option,
                nearest,
            } => Self::usage(format!("test {test} has no option {option}"))
                .nearest(nearest.as_deref())
                .detail(format!("fathom info {test} lists its options")),
            OptionError::Value {
                test,
                option,
                value,
                expected,
                nearest,
            } => Self::usage(format!(
                "option {option} of test {test}: \"{value}\" is not accepted"
            ))
            .detail(format!("expected {expected}"))
            .nearest(nearest.as_deref()),
            OptionError::Missing { .. } => Self::usage(error.to_string()),
        }
    }
}

impl From<UnitError> for Failure {
    fn from(error: UnitError) -> Self {
        Self::usage(format!("\"{}\" is not a {}", error.text, error.what))
            .detail(format!("expected {}", error.expected))
    }
}

impl From<BaseError> for Failure {
    fn from(error: BaseError) -> Self {
        Self::unmet(error.to_string())
    }
}

impl From<SinkError> for Failure {
    fn from(error: SinkError) -> Self {
        Self::unmet(error.to_string())
    }
}

impl From<TestError> for Failure {
    fn from(error: TestError) -> Self {
        match error {
            TestError::Option(error) => error.into(),
            other => Self::new(Exit::Failed, other.to_string()),
        }
    }
}

impl From<fathom_system::SystemError> for Failure {
    fn from(error: fathom_system::SystemError) -> Self {
        Self::from_text(Exit::Unmet, &error.to_string())
            .detail("fathom system --targets lists directories that can be tested")
    }
}

impl From<SuiteError> for Failure {
    fn from(error: SuiteError) -> Self {
        let exit = match error {
            SuiteError::Base(_) => Exit::Unmet,
            _ => Exit::Usage,
        };
        Self::from_text(exit, &error.to_string())
    }
}

impl From<ProfileFileError> for Failure {
    fn from(error: ProfileFileError) -> Self {
        let exit = match error {
            ProfileFileError::Base(_) => Exit::Unmet,
            _ => Exit::Usage,
        };
        Self::from_text(exit, &error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let exit = match error {
            StoreError::Format { .. } | StoreError::Damaged { .. } => Exit::Failed,
            StoreError::Unknown { .. }
            | StoreError::Name(_)
            | StoreError::Taken { .. }
            | StoreError::NoRun { .. } => Exit::Usage,
            StoreError::Encode { .. } => Exit::Bug,
            _ => Exit::Unmet,
        };
        let failure = Self::from_text(exit, &error.to_string());
        match error {
            StoreError::Base(_) => {
                failure.detail("--data DIR or FATHOM_DATA names another place for saved results")
            }
            _ => failure,
        }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Option(error) => error.into(),
            PlanError::UnknownTest { .. } => Self::from_text(Exit::Usage, &error.to_string())
                .detail("fathom list tests shows them"),
            PlanError::Setting(error) => error.into(),
            PlanError::Unused { .. } => Self::from_text(Exit::Usage, &error.to_string())
                .detail("fathom info TEST lists the options of a test"),
            PlanError::WriteLimit { .. } => Self::from_text(Exit::Unmet, &error.to_string()),
            error => Self::from_text(Exit::Usage, &error.to_string()),
        }
    }
}

impl From<SettingError> for Failure {
    /// Settings of suites come with their file; these are from the command line.
    fn from(error: SettingError) -> Self {
        match error {
            SettingError::Value {
                name,
                value,
                expected,
            } => Self::usage(format!("--{name}: \"{value}\" is not accepted"))
                .detail(format!("expected {expected}")),
            SettingError::Trials { min, max } => Self::usage(format!(
                "at least {min} trials and at most {max} contradict"
            ))
            .detail("raise --max-trials or lower --min-trials"),
            SettingError::Unknown { .. } => Self::from_text(Exit::Usage, &error.to_string()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            RunError::WorkerLost => Self::from_text(Exit::Bug, &error.to_string()),
            RunError::NotBegun { .. } | RunError::TargetChanged { .. } => {
                Self::from_text(Exit::Usage, &error.to_string())
            }
            error => Self::from_text(Exit::Unmet, &error.to_string()),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let exit = match error {
            ModelError::Unknown { .. } | ModelError::NameTaken { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        let failure = Self::from_text(exit, &error.to_string());
        match &error {
            ModelError::DifferentMachines { system, .. } => failure.detail(format!(
                "give one of them another name: fathom edit RESULT --rename-system \"{system}=NEW\""
            )),
            _ => failure,
        }
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        Self::from_text(Exit::Usage, &error.to_string())
    }
}

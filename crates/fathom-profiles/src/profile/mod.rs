//! A profile: a test that runs a program, written as one TOML file.

mod expression;
mod extract;
mod metrics;
mod options;
mod parse;
mod raw;
mod steps;
mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use fathom_base::files::read_limited;
use fathom_base::{BaseError, Place};
use fathom_model::{Metric, OptionInfo};
use regex_lite::Regex;
use sha2::{Digest, Sha256};

use crate::service::ServiceKind;

pub use expression::{Expression, ExpressionError};
pub(crate) use extract::plain;
pub use extract::{Extraction, Outputs, Stream};
pub(crate) use steps::all_hold;
pub use template::{Form, Template, TemplateError, Value};

/// The version of the profile format this code reads.
pub const PROFILE_FORMAT: i64 = 1;
/// The largest profile that is read.
const FILE_LIMIT: u64 = 1 << 20;
/// Values of every case that a profile may use beside its own options.
pub const HOST_NAMES: [&str; 6] = ["cpus", "memory", "scratch", "target", "device", "trial"];
/// Values of the service, for profiles that have one.
pub const SERVICE_NAMES: [&str; 7] = [
    "service.url",
    "service.socket",
    "service.host",
    "service.port",
    "service.user",
    "service.database",
    "service.version",
];
/// The option of tests that know a short form, as the classic tests have it.
pub const SCALE: &str = "scale";

/// A profile, read and checked.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What a user types.
    pub id: String,
    /// For people.
    pub title: String,
    /// What it does and what its figures mean.
    pub summary: String,
    /// Version of the workload.
    pub version: String,
    /// The program the test is about, whose version is part of the identity.
    pub program: Option<ProgramSpec>,
    /// What else must be there.
    pub needs: Needs,
    /// The options, [`SCALE`] and those of the service among them.
    pub options: Vec<OptionSpec>,
    /// Values computed from the options.
    pub lets: BTreeMap<String, Let>,
    /// Options that `scale=short` replaces, with their values.
    pub short: BTreeMap<String, Expression>,
    /// The server it needs.
    pub service: Option<ServiceSpec>,
    /// Once, before the first trial.
    pub prepare: Vec<Step>,
    /// Before each trial, not timed.
    pub before: Vec<Step>,
    /// What is measured.
    pub run: Run,
    /// After each trial, not timed.
    pub after: Vec<Step>,
    /// After each trial; one that is not as expected fails the trial.
    pub checks: Vec<Check>,
    /// Once, at the end.
    pub cleanup: Vec<Step>,
    /// The metrics.
    pub metrics: Vec<MetricSpec>,
    /// Counts that are kept as evidence.
    pub counts: Vec<CountSpec>,
    /// Words of a program that mean that it failed, whatever it exits with.
    pub failures: Vec<FailureSpec>,
    /// What a trial takes.
    pub estimate: EstimateSpec,
    /// The file it was read from, for messages.
    pub file: String,
    /// The whole text.
    pub source: String,
    /// SHA-256 of it, in hexadecimal digits: what is trusted.
    pub content_hash: String,
    /// First digits of the hash of everything that changes what is measured, titles and helps left
    /// out: part of the identity.
    pub work_hash: String,
}

/// A program and how it is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Its name.
    pub name: String,
    /// What is said when it is missing: `apt-get install fio`.
    pub hint: String,
    /// Directories looked in before the search path; `*` stands for one name, the highest first.
    pub places: Vec<String>,
    /// How its version is found out.
    pub version: Option<VersionSpec>,
    /// Only needed under these conditions.
    pub when: Vec<Condition>,
}

/// How a program tells its version.
#[derive(Clone, Debug)]
pub struct VersionSpec {
    /// `--version`.
    pub arguments: Vec<String>,
    /// With one group, the version.
    pub regex: Regex,
}

impl PartialEq for VersionSpec {
    fn eq(&self, other: &Self) -> bool {
        self.arguments == other.arguments && self.regex.as_str() == other.regex.as_str()
    }
}

impl Eq for VersionSpec {}

/// What must be there besides the program.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// More programs.
    pub programs: Vec<ProgramSpec>,
    /// Files or directories that must exist.
    pub files: Vec<FileSpec>,
    /// Root.
    pub root: bool,
    /// What the target must be.
    pub target: TargetNeed,
    /// Space on the target, in bytes.
    pub space: Option<Expression>,
}

/// A file that must exist.
#[derive(Clone, Debug)]
pub struct FileSpec {
    /// Its path.
    pub path: Template,
    /// What to do when it does not.
    pub hint: String,
    /// Only under these conditions.
    pub when: Vec<Condition>,
}

/// What the target must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetNeed {
    /// A directory.
    #[default]
    Directory,
    /// A block device, only read.
    Device,
}

/// An option.
#[derive(Clone, Debug)]
pub struct OptionSpec {
    /// As the model has it.
    pub info: OptionInfo,
    /// Whether it is part of the identity.
    pub identifies: bool,
    /// Whether it names a file, whose name is part of the identity in its place.
    pub is_file: bool,
}

/// A value computed from options.
#[derive(Clone, Debug)]
pub enum Let {
    /// One expression.
    Plain(Expression),
    /// One for each value of an option.
    By {
        /// The option.
        option: String,
        /// Its values with theirs.
        values: BTreeMap<String, Expression>,
        /// For all other values.
        otherwise: Option<Expression>,
    },
}

/// `mode=read-only`, `mode!=read-only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The option.
    pub option: String,
    /// Whether it must be, or must not be, that value.
    pub is_equal: bool,
    /// The value, as a user types it.
    pub value: String,
}

/// The server a profile needs.
#[derive(Clone, Debug)]
pub struct ServiceSpec {
    /// Which.
    pub kind: ServiceKind,
    /// The database that is made and used.
    pub database: String,
    /// Settings by name, for its command line or file.
    pub settings: BTreeMap<String, Template>,
    /// More words for the program that makes the data directory.
    pub init: Vec<String>,
}

/// A word of a command line.
#[derive(Clone, Debug)]
pub enum Word {
    /// Always there.
    Plain(Template),
    /// Words under conditions that must all hold, else others.
    When {
        /// The conditions.
        when: Vec<Condition>,
        /// When they hold.
        then: Vec<Template>,
        /// When not.
        otherwise: Vec<Template>,
    },
}

/// A program that is run.
#[derive(Clone, Debug)]
pub struct Step {
    /// Program and arguments.
    pub command: Vec<Word>,
    /// Whether `command` is one text for `/bin/sh -c`.
    pub is_shell: bool,
    /// Where; the case's directory on the target when nothing is said.
    pub directory: Option<Template>,
    /// Text for its standard input.
    pub input: Option<Template>,
    /// File in the case's directory that takes its standard output.
    pub output: Option<Template>,
    /// Variables.
    pub environment: BTreeMap<String, Template>,
    /// Exit codes that are success.
    pub exit: Vec<i32>,
    /// Seconds it may take; the trial's limit when nothing is said.
    pub time_limit: Option<Expression>,
    /// Only under these conditions.
    pub when: Vec<Condition>,
}

/// What is measured.
#[derive(Clone, Debug)]
pub struct Run {
    /// The program, when there is one.
    pub program: Option<Step>,
    /// The built-in driver, when there is one.
    pub driver: Option<DriverSpec>,
    /// Whether each trial finds the case's directory empty.
    pub is_fresh: bool,
}

/// A built-in driver, which speaks the service's protocol.
#[derive(Clone, Debug)]
pub struct DriverSpec {
    /// Its name.
    pub name: String,
    /// Its options; words under a condition are joined by blanks.
    pub options: BTreeMap<String, Word>,
}

/// A program whose answer must fit.
#[derive(Clone, Debug)]
pub struct Check {
    /// For messages: `balances are equal`.
    pub name: String,
    /// What is run.
    pub step: Step,
    /// What its standard output must hold, a template of a regular expression.
    pub expect: Template,
}

/// A metric and where it comes from.
#[derive(Clone, Debug)]
pub struct MetricSpec {
    /// As the model has it.
    pub metric: Metric,
    /// Where its number is.
    pub extraction: Extraction,
    /// Whether a trial without it is good all the same.
    pub is_optional: bool,
    /// Only under these conditions.
    pub when: Vec<Condition>,
}

/// A count that is kept as evidence.
#[derive(Clone, Debug)]
pub struct CountSpec {
    /// Its name.
    pub id: String,
    /// Where it is.
    pub extraction: CountExtraction,
}

/// Where a count comes from.
#[derive(Clone, Debug)]
pub enum CountExtraction {
    /// The number in the group.
    Number(Extraction),
    /// How often it matches.
    Matches(extract::Stream, Regex),
}

/// Words that mean failure.
#[derive(Clone, Debug)]
pub struct FailureSpec {
    /// The words.
    pub regex: Regex,
    /// What they mean.
    pub says: String,
    /// What to do.
    pub hint: String,
}

/// What a trial takes.
#[derive(Clone, Debug, Default)]
pub struct EstimateSpec {
    /// Seconds of a trial.
    pub trial: Option<Expression>,
    /// Seconds of the preparation.
    pub prepare: Option<Expression>,
    /// Bytes a trial writes.
    pub trial_bytes: Option<Expression>,
    /// Bytes the preparation writes.
    pub prepare_bytes: Option<Expression>,
}

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileFileError {
    /// The file could not be read.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// Its name is in use.
    #[error("profile {file}: there is a test {id} already; choose another id")]
    Taken {
        /// The file.
        file: String,
        /// The id.
        id: String,
    },
    /// It is no TOML, or not the TOML of a profile.
    #[error("profile {file}, {place}: {what}")]
    Syntax {
        /// The file.
        file: String,
        /// Where.
        place: Place,
        /// What was found and expected.
        what: String,
    },
}

impl Profile {
    /// Reads a profile; `file` is only for messages.
    ///
    /// # Errors
    /// [`ProfileFileError::Syntax`] with file, line, column and what was expected.
    pub fn parse(file: &str, text: &str) -> Result<Self, ProfileFileError> {
        parse::profile(file, text)
    }

    /// Reads a file of at most a mebibyte.
    ///
    /// # Errors
    /// As [`Profile::parse`], and when it cannot be read.
    pub fn read(path: &Path) -> Result<Self, ProfileFileError> {
        let file = path.display().to_string();
        let bytes = read_limited(path, FILE_LIMIT)?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::parse(&file, text),
            Err(error) => {
                let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
                Err(ProfileFileError::Syntax {
                    file,
                    place: Place::of(&valid, valid.len()),
                    what: "this is not UTF-8; expected a TOML text".to_owned(),
                })
            }
        }
    }

    /// Everything it may run, a line each, for somebody who has to trust it.
    pub fn commands(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(service) = &self.service {
            lines.push(format!("server: {}", service.kind.title()));
        }
        let version = self.program.iter().filter_map(|program| {
            let version = program.version.as_ref()?;
            Some(format!(
                "version: {} {}",
                program.name,
                version.arguments.join(" ")
            ))
        });
        lines.extend(version);
        let mut add = |name: &str, steps: &[Step]| {
            lines.extend(steps.iter().map(|step| format!("{name}: {}", step.shown())));
        };
        add("prepare", &self.prepare);
        add("before", &self.before);
        if let Some(step) = &self.run.program {
            add("run", std::slice::from_ref(step));
        }
        add("after", &self.after);
        for check in &self.checks {
            add("check", std::slice::from_ref(&check.step));
        }
        add("cleanup", &self.cleanup);
        lines
    }
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

use std::io;
use std::path::PathBuf;

use fathom_base::{BaseError, Bytes, Nanos};

/// A wrong option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// The test has no such option.
    #[error("test {test} has no option {option}{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// The test.
        test: String,
        /// As typed.
        option: String,
        /// The nearest one it has.
        nearest: Option<String>,
    },
    /// The value does not fit.
    #[error(
        "option {option} of test {test}: \"{value}\" is not accepted; expected {expected}{}",
        did_you_mean(.nearest.as_deref())
    )]
    Value {
        /// The test.
        test: String,
        /// The option.
        option: String,
        /// As typed.
        value: String,
        /// What is accepted.
        expected: String,
        /// The nearest value of the menu.
        nearest: Option<String>,
    },
    /// A stored case lacks an option this version needs.
    #[error("option {option} of test {test} is missing from the stored case")]
    Missing {
        /// The test.
        test: String,
        /// The option.
        option: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name}?"))
}

/// Why a trial or its preparation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// The user stopped the run.
    #[error("stopped by the user")]
    Cancelled,
    /// It took longer than it may.
    #[error("{what} took longer than its limit of {limit}")]
    Deadline {
        /// What took too long.
        what: &'static str,
        /// The limit.
        limit: Nanos,
    },
    /// The target is full.
    #[error("no space left on the target while {doing} {path}: {needed} needed")]
    NoSpace {
        /// `writing`, `creating`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the case needs in all.
        needed: Bytes,
    },
    /// A system call failed.
    #[error("{doing} {path}: {source}")]
    Io {
        /// `open`, `write at 4096`.
        doing: String,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file or process operation failed.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// A stored option cannot be understood.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A program did not do what it should.
    #[error("{program} {what}")]
    Program {
        /// The command line.
        program: String,
        /// What it did, with the end of its error output.
        what: String,
    },
    /// A test found its own work wrong.
    #[error("{check} failed: {found}")]
    Check {
        /// What was checked: `PRAGMA integrity_check`, `rows in the table`.
        check: &'static str,
        /// What was found and expected.
        found: String,
    },
    /// The engine or workload failed; the source says how.
    #[error(transparent)]
    Workload(Box<dyn std::error::Error + Send + Sync>),
}

impl TestError {
    /// An I/O error at a path; a full disk becomes [`TestError::NoSpace`].
    pub fn io(doing: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace {
                doing,
                path,
                needed: Bytes::default(),
            },
            _ => Self::Io {
                doing: doing.to_owned(),
                path,
                source,
            },
        }
    }

    /// Whether the run should end rather than try the next trial.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

/// An event could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// A file could not be written.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// An event could not be turned into text.
    #[error("encode an event: {0}")]
    Encode(#[from] serde_json::Error),
}

/// Results that do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Two files name the same result with opposite directions or different units.
    #[error("result {result}: {what} is {left} in one file and {right} in the other")]
    Conflict {
        /// The result.
        result: String,
        /// `direction`, `unit`.
        what: &'static str,
        /// One side.
        left: String,
        /// The other.
        right: String,
    },
    /// Two different machines carry one name.
    #[error("system {system} names two different machines: {difference}")]
    DifferentMachines {
        /// The name.
        system: String,
        /// Where they differ.
        difference: String,
    },
    /// A new name is in use.
    #[error("there is a system named {name} already; join the two or choose another name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name is not in the file.
    #[error("there is no {kind} named {name}{}", did_you_mean(.nearest.as_deref()))]
    Unknown {
        /// `system`, `result`.
        kind: &'static str,
        /// As given.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
    },
}

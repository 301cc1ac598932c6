use std::path::PathBuf;

use fathom_base::BaseError;
use fathom_formats::FormatError;

use crate::name::NameError;

/// What can go wrong with saved results and journals.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file operation failed.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// A result file cannot be understood.
    #[error("read {path}: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: FormatError,
    },
    /// A name cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),
    /// There is no result of this name.
    #[error("there is no saved result named {name}{}", .nearest.as_deref().map_or_else(String::new, |n| format!("; did you mean {n}?")))]
    Unknown {
        /// As given.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
    },
    /// Nothing is saved.
    #[error("there are no saved results in {path}; fathom run makes one")]
    Empty {
        /// The directory.
        path: PathBuf,
    },
    /// The name is in use.
    #[error("there is a result named {name} already; choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// A result is larger than what can be read again.
    #[error("result {name} takes {size} bytes, more than the limit of {limit}")]
    TooLarge {
        /// The name.
        name: String,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// There is nothing to undo.
    #[error("result {name} has no earlier version")]
    NoHistory {
        /// The name.
        name: String,
    },
    /// A record cannot be turned into text.
    #[error("encode {what}: {source}")]
    Encode {
        /// `the index`, `an event`.
        what: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// There is no such run.
    #[error("there is no run {run}")]
    NoRun {
        /// As given.
        run: String,
    },
    /// There is nothing to go on with.
    #[error("there is no unfinished run; fathom list shows what is saved")]
    NothingUnfinished,
    /// Another process writes the journal.
    #[error("run {run} is going on in another process")]
    Busy {
        /// The run.
        run: String,
    },
    /// The journal was written by a newer version.
    #[error(
        "{path}: written by a newer version of Fathom (format {found}; this one reads {known})"
    )]
    NewerJournal {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format known here.
        known: u64,
    },
    /// A line of the journal cannot be understood.
    #[error(
        "{path}, line {line}: {what}; the {kept} events before it can be read. To go on from there \
         and keep a copy of the damaged journal, resume with --salvage"
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was found and expected.
        what: String,
        /// Events before it.
        kept: usize,
    },
}

use std::path::PathBuf;

use fathom_model::TestError;

/// What can go wrong in a built-in test beside what [`TestError`] already names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// The I/O engine failed.
    #[error("{source}{}", hint_of(.source))]
    Io {
        /// What failed.
        #[from]
        source: fathom_io::IoError,
    },
    /// SQLite failed.
    #[error("{doing} {path}: {source}")]
    Sqlite {
        /// What was tried: `open`, `insert row 17 into`.
        doing: String,
        /// The database.
        path: PathBuf,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
    /// A bug of ours: a thread of the workload panicked.
    #[error("a thread of the workload panicked, please report this")]
    Panicked,
}

fn hint_of(error: &fathom_io::IoError) -> String {
    error
        .hint()
        .map_or_else(String::new, |hint| format!(" ({hint})"))
}

impl From<WorkloadError> for TestError {
    fn from(error: WorkloadError) -> Self {
        Self::Workload(Box::new(error))
    }
}

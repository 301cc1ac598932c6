use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong in this crate; each variant names the path or program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BaseError {
    /// A file operation failed.
    #[error("{action} {path}: {source}")]
    File {
        /// What was tried, as a verb: `read`, `write`, `create directory`.
        action: &'static str,
        /// The path it was tried on.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A file is larger than its reader allows.
    #[error("read {path}: {size} bytes are more than the limit of {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes, as far as known.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A program could not be started or waited for.
    #[error("run {program}: {source}")]
    Spawn {
        /// The program as given.
        program: String,
        /// The system's answer.
        source: io::Error,
    },
}

/// Puts the path into an [`io::Error`].
pub trait IoContext<T> {
    /// Turns an `io::Error` into a [`BaseError::File`] with the verb and the path.
    ///
    /// # Errors
    /// The converted error, when `self` is an error.
    fn at(self, action: &'static str, path: impl AsRef<Path>) -> Result<T, BaseError>;
}

impl<T> IoContext<T> for Result<T, io::Error> {
    fn at(self, action: &'static str, path: impl AsRef<Path>) -> Result<T, BaseError> {
        self.map_err(|source| BaseError::File {
            action,
            path: path.as_ref().to_path_buf(),
            source,
        })
    }
}

impl BaseError {
    /// The operating system's error number, where there is one.
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Self::File { source, .. } | Self::Spawn { source, .. } => source.raw_os_error(),
            Self::TooLarge { .. } => None,
        }
    }
}

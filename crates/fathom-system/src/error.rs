use std::io;
use std::path::PathBuf;

/// Why a target could not be resolved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// There is no such path.
    #[error("target {path}: does not exist{}", nearest_hint(.nearest.as_ref()))]
    Missing {
        /// As given.
        path: PathBuf,
        /// The nearest directory above it that exists.
        nearest: Option<PathBuf>,
    },
    /// It exists and is nothing I/O can be measured on.
    #[error("target {path} is a {found}; expected a directory, a regular file or a block device")]
    Kind {
        /// As given.
        path: PathBuf,
        /// `character device`, `socket`, `pipe`.
        found: &'static str,
    },
    /// The system refused.
    #[error("{action} {path}: {source}")]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

fn nearest_hint(nearest: Option<&PathBuf>) -> String {
    nearest.map_or_else(String::new, |path| {
        format!(
            "; {} does, so make the rest of it or check the spelling",
            path.display()
        )
    })
}

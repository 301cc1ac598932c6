//! What building a configuration makes, so that it can be found again and undone by somebody who
//! only has the journal.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A thing that was made, or was about to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum Thing {
    /// The file behind a loop device.
    File {
        /// Where; in the directory of the matrix.
        path: PathBuf,
    },
    /// A loop device.
    Loop {
        /// The file behind it.
        file: PathBuf,
    },
    /// The scheduler of a drive was changed.
    Scheduler {
        /// The drive.
        serial: String,
        /// What it was.
        before: String,
    },
    /// A drive is written: what carries our mark on it is ours.
    Contents {
        /// The drive.
        serial: String,
        /// Our mark.
        mark: String,
    },
    /// An array.
    Array {
        /// Its identity, as `mdadm` writes it.
        uuid: String,
    },
    /// A mapping of dm-crypt.
    Mapping {
        /// Its name.
        name: String,
    },
    /// A mount, and the directory it is on.
    Mount {
        /// Where.
        point: PathBuf,
    },
}

impl fmt::Display for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path } => write!(f, "file {}", path.display()),
            Self::Loop { file } => write!(f, "loop device on {}", file.display()),
            Self::Scheduler { serial, before } => {
                write!(f, "scheduler of drive {serial} (was {before})")
            }
            Self::Contents { serial, mark } => write!(f, "contents of drive {serial} ({mark})"),
            Self::Array { uuid } => write!(f, "array {uuid}"),
            Self::Mapping { name } => write!(f, "mapping {name}"),
            Self::Mount { point } => write!(f, "mount on {}", point.display()),
        }
    }
}

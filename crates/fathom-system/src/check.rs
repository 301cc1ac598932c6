use std::fs::File;
use std::path::{Path, PathBuf};

use crate::root::Root;

/// A block device a run may overwrite. The exclusive claim lasts as long as this lives: nobody can
/// mount it, add it to an array or swap on it meanwhile.
#[derive(Debug)]
pub struct DeviceGrant {
    /// The device node without symbolic links.
    pub path: PathBuf,
    /// Kernel name.
    pub name: String,
    /// Major and minor number.
    pub device: String,
    /// Its size.
    pub size_bytes: u64,
    /// What the user consented with.
    pub consent: String,
    claim: File,
}

/// One reason not to touch a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalReason {
    /// Stable name: `mounted`, `signature`, `no-consent`.
    pub kind: &'static str,
    /// What was found, and where.
    pub text: String,
    /// What to do; may be empty.
    pub advice: String,
}

/// Why a device is left alone: every reason, not only the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// As given.
    pub path: PathBuf,
    /// What it is, where that is known: `nvme0n1, Samsung SSD 970 EVO 250GB, 250 GB`.
    pub device: String,
    /// At least one.
    pub reasons: Vec<RefusalReason>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not touched", self.path.display())?;
        for reason in &self.reasons {
            write!(f, "\n  {}", reason.text)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

impl DeviceGrant {
    /// The exclusive claim, open for reading.
    pub fn claim(&self) -> &File {
        &self.claim
    }
}

/// Checks that a block device holds nothing anybody could miss, and that the user consented to
/// overwrite it by its serial number (the backing file for a loop device without one).
///
/// # Errors
/// [`Refusal`] with every reason.
pub fn check_device(
    root: &Root,
    path: &Path,
    consent: Option<&str>,
) -> Result<DeviceGrant, Refusal> {
    let _ = (root, consent);
    Err(Refusal {
        path: path.to_path_buf(),
        device: String::new(),
        reasons: vec![RefusalReason {
            kind: "not-checked",
            text: "block devices cannot be checked yet".to_owned(),
            advice: String::new(),
        }],
    })
}

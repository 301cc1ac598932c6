use std::path::Path;

use fathom_model::{Mount, TargetInfo};

use crate::error::SystemError;
use crate::root::Root;

/// A place I/O could be measured at.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The mounted file system.
    pub mount: Mount,
    /// What lies below it.
    pub target: TargetInfo,
    /// Whether the user who asks may write at the mount point.
    pub is_writable: bool,
}

/// Follows a path to its mount, through the device stack, to the drives.
///
/// # Errors
/// [`SystemError`] when it does not exist or is nothing I/O can be measured on. A chain that
/// cannot be followed to its end is no error: [`TargetInfo::opaque`] says where it ends.
pub fn resolve_target(root: &Root, path: &Path) -> Result<TargetInfo, SystemError> {
    let _ = root;
    Ok(TargetInfo {
        path: path.display().to_string(),
        ..TargetInfo::default()
    })
}

/// The mounted file systems somebody could measure, those on drives first.
pub fn list_targets(root: &Root) -> Vec<Candidate> {
    let _ = root;
    Vec::new()
}

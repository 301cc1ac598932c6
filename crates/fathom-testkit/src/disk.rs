use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::skip::skipped;

/// File systems that live in memory.
const MEMORY: [&str; 3] = ["tmpfs", "ramfs", "devtmpfs"];

/// A new directory on a real disk, which the system's temporary directory often is not: looked for
/// in the build directory, then in `/var/tmp`. Says why and gives `None` when there is none.
///
/// # Panics
/// When a directory on a disk cannot be made.
pub fn disk_directory() -> Option<TempDir> {
    let candidates = [
        std::env::var_os("CARGO_TARGET_TMPDIR").map(PathBuf::from),
        std::env::current_exe()
            .ok()
            .and_then(|exe| exe.parent().map(PathBuf::from)),
        Some(PathBuf::from("/var/tmp")),
        Some(std::env::temp_dir()),
    ];
    let on_disk = candidates.into_iter().flatten().find(|path| {
        file_system(path).is_some_and(|kind| !MEMORY.contains(&kind.as_str()))
            && tempfile::tempdir_in(path).is_ok()
    });
    let Some(parent) = on_disk else {
        skipped("no directory on a disk to test in");
        return None;
    };
    let made = tempfile::Builder::new()
        .prefix("fathom-test-")
        .tempdir_in(&parent);
    Some(made.unwrap_or_else(|error| panic!("make a directory in {}: {error}", parent.display())))
}

/// The kind of the file system a path is on, as the kernel names it.
pub fn file_system(path: &Path) -> Option<String> {
    let device = path.metadata().ok()?.dev();
    let (major, minor) = (
        (device >> 8) & 0xfff,
        (device & 0xff) | ((device >> 12) & 0xfff00),
    );
    let wanted = format!("{major}:{minor}");
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    // The last mount on a place is the one that is seen.
    let line = mounts
        .lines()
        .rev()
        .find(|line| line.split(' ').nth(2) == Some(wanted.as_str()))?;
    let (_, after) = line.split_once(" - ")?;
    after.split(' ').next().map(str::to_owned)
}

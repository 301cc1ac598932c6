//! The directory on the target that is a run's own: made, marked, removed, and found again after a
//! crash.
//!
//! Nothing is ever removed that does not carry our mark, belongs to somebody else, or whose run may
//! still be alive. A run holds a lock on its mark for as long as it lives, and the mark names the
//! process, when it started, and since which boot of which machine, so that a killed run can be
//! told from a living one even where locks do not work.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fathom_base::{BaseError, IoContext};
use serde::{Deserialize, Serialize};

mod owner;
mod remove;
#[cfg(test)]
mod tests;

use owner::Owner;
pub use owner::ProcessTable;

/// Scratch directories are named so, with the last part of the run's id after it.
const PREFIX: &str = ".fathom-";
/// The mark inside.
const MARKER: &str = ".fathom-scratch";
const MARKER_LIMIT: u64 = 4096;
/// Entries of the target that are looked at for left-overs.
const ENTRIES_LIMIT: usize = 100_000;
/// Names tried before giving up.
const NAMES_LIMIT: u32 = 100;

/// What can go wrong with a scratch directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScratchError {
    /// A file operation failed.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// The directory cannot be made.
    #[error("make a scratch directory in {parent}: {source}{}", hint(.source))]
    Make {
        /// The target.
        parent: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Something in it could not be removed.
    #[error("remove {path}: {source}")]
    Remove {
        /// The first thing that could not be removed.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// Another file system is mounted inside.
    #[error("{path} is on another file system; unmount it, then remove the scratch directory")]
    Mounted {
        /// Where.
        path: PathBuf,
    },
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; name a directory you may write in with --target",
        io::ErrorKind::ReadOnlyFilesystem => "; the file system is mounted read-only",
        io::ErrorKind::NotFound => "; the directory does not exist",
        io::ErrorKind::NotADirectory => "; it is not a directory",
        io::ErrorKind::StorageFull => "; the file system is full",
        _ => "",
    }
}

/// The mark: whose directory it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    /// The run.
    fathom_run: String,
    #[serde(flatten)]
    owner: Owner,
}

/// A run's own directory. Dropping it removes nothing; see [`Scratch::remove`].
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    /// Held open for its lock.
    marker: File,
}

/// The path a run's scratch directory gets when nothing is in the way.
pub fn path_for(parent: &Path, run_id: &str) -> PathBuf {
    parent.join(format!("{PREFIX}{}", crate::run_id::short_id(run_id)))
}

impl Scratch {
    /// Makes the directory at `path` (mode 0700) with its mark in it; when something of that name
    /// exists, `-2`, `-3` ... is appended.
    ///
    /// # Errors
    /// [`ScratchError`] with the directory and what may help.
    pub fn create(
        path: &Path,
        run_id: &str,
        processes: &ProcessTable,
    ) -> Result<Self, ScratchError> {
        let path = make_directory(path)?;
        let made = mark(&path, run_id, processes);
        if made.is_err() {
            // Only what was just made and is still empty.
            let _ = std::fs::remove_file(path.join(MARKER));
            let _ = std::fs::remove_dir(&path);
        }
        Ok(Self {
            marker: made?,
            path,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the directory with everything in it, the mark last. Links are removed, not followed;
    /// other file systems mounted inside are left alone.
    ///
    /// # Errors
    /// [`ScratchError`] with the first thing that could not be removed; the mark then stays, so
    /// that the next start tries again.
    pub fn remove(self) -> Result<(), ScratchError> {
        remove::tree(&self.path, MARKER)?;
        drop(self.marker);
        Ok(())
    }
}

/// What a look for left-overs found.
#[derive(Debug, Default)]
pub struct Swept {
    /// Removed: the directory and the run it belonged to.
    pub removed: Vec<(PathBuf, String)>,
    /// Left alone, with the reason.
    pub kept: Vec<(PathBuf, String)>,
}

/// Removes scratch directories in `parent` whose runs are gone. Directories of living runs, of
/// other users, and everything without our mark are not touched.
pub fn sweep(parent: &Path, processes: &ProcessTable) -> Swept {
    let mut swept = Swept::default();
    let Ok(entries) = std::fs::read_dir(parent) else {
        // A target that cannot be listed has a better error coming when the scratch is made.
        return swept;
    };
    let mut names: Vec<PathBuf> = entries
        .take(ENTRIES_LIMIT)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(PREFIX)
        })
        .collect();
    names.sort();
    for path in names {
        match sweep_one(&path, processes) {
            Ok(Some(run)) => swept.removed.push((path, run)),
            Ok(None) => {}
            Err(why) => swept.kept.push((path, why)),
        }
    }
    swept
}

/// Removes what a run left at `path`, which its journal names: the directory with our mark when
/// the owner is gone, or an empty directory (the run was killed between making and marking it).
/// Anything else stays.
pub fn remove_recorded(path: &Path, processes: &ProcessTable) -> Swept {
    let mut swept = Swept::default();
    match sweep_one(path, processes) {
        Ok(Some(run)) => swept.removed.push((path.to_path_buf(), run)),
        // `rmdir` takes empty directories only.
        Ok(None) if is_own_directory(path) && std::fs::remove_dir(path).is_ok() => {
            swept.removed.push((path.to_path_buf(), String::new()));
        }
        Ok(None) => {}
        Err(why) => swept.kept.push((path.to_path_buf(), why)),
    }
    swept
}

/// The run whose left-over was removed; `None` when it is not a left-over of ours.
fn sweep_one(path: &Path, processes: &ProcessTable) -> Result<Option<String>, String> {
    if !is_own_directory(path) {
        return Ok(None);
    }
    let Some((file, marker)) = read_marker(&path.join(MARKER)) else {
        return Ok(None);
    };
    let (is_locked, locks_work) = match file.try_lock() {
        Ok(()) => (false, true),
        Err(TryLockError::WouldBlock) => (true, true),
        Err(TryLockError::Error(_)) => (false, false),
    };
    if is_locked || processes.is_alive(&marker.owner) {
        return Ok(None);
    }
    if !locks_work && !processes.can_see(&marker.owner) {
        return Err(format!(
            "left by run {} of a container, which may still be running; remove it when that run \
             is over",
            marker.fathom_run
        ));
    }
    if !processes.is_this_machine(&marker.owner) {
        return Err(format!(
            "left by run {} of another machine; remove it when that run is over",
            marker.fathom_run
        ));
    }
    // A server or a program of the run may still be writing.
    processes.end_marked(path);
    match remove::tree(path, MARKER) {
        Ok(()) => Ok(Some(marker.fathom_run)),
        Err(error) => Err(error.to_string()),
    }
}

/// A real directory, not a link, that belongs to us.
fn is_own_directory(path: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    path.symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == us)
}

fn read_marker(path: &Path) -> Option<(File, Marker)> {
    let us = rustix::process::geteuid().as_raw();
    let no_follow = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).ok()?;
    let nonblock = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(no_follow | nonblock)
        .open(path)
        .ok()?;
    let meta = file.metadata().ok()?;
    if !meta.is_file() || meta.uid() != us || meta.len() > MARKER_LIMIT {
        return None;
    }
    let mut text = String::new();
    Read::by_ref(&mut file)
        .take(MARKER_LIMIT)
        .read_to_string(&mut text)
        .ok()?;
    let marker = serde_json::from_str(&text).ok()?;
    Some((file, marker))
}

fn make_directory(path: &Path) -> Result<PathBuf, ScratchError> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let make = |source| ScratchError::Make {
        parent: parent.to_path_buf(),
        source,
    };
    for number in 1..=NAMES_LIMIT {
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        if number > 1 {
            name.push(format!("-{number}"));
        }
        let candidate = parent.join(name);
        match DirBuilder::new().mode(0o700).create(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(make(error)),
        }
    }
    Err(make(io::ErrorKind::AlreadyExists.into()))
}

fn mark(path: &Path, run_id: &str, processes: &ProcessTable) -> Result<File, ScratchError> {
    let marker = Marker {
        fathom_run: run_id.to_owned(),
        owner: processes.own(),
    };
    let text = serde_json::to_string(&marker).map_err(io::Error::other);
    let at = path.join(MARKER);
    let text = text.at("encode", &at)?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&at)
        .at("create", &at)?;
    // Without a lock the process table still tells.
    let _ = file.try_lock();
    file.write_all(text.as_bytes()).at("write", &at)?;
    file.sync_all().at("sync", &at)?;
    Ok(file)
}

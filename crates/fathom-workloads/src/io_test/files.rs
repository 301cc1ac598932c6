//! Files under test, shared by the cases that can use the same one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_base::{Bytes, Cancel, IoContext, Nanos, SharedByKey, seed_for};
use fathom_io::{Contents, IoError, LayoutSpec, lay_out};
use fathom_model::definition::io::{IoDirect, IoEngine, IoLayout, IoSettings};
use fathom_model::{Context, Host, Progress, TargetKind, TestError};

use super::spec;
use crate::common::check_limits;
use crate::error::WorkloadError;

/// An operation in flight for longer than this is stuck.
pub(super) const STUCK_AFTER: Nanos = Nanos::from_secs(120);

/// File systems that write in place: a write case leaves the file's blocks where they were, so
/// that read cases may use the same file. Others (btrfs, f2fs, ZFS, unknown ones) move them.
const IN_PLACE: [&str; 9] = [
    "ext2", "ext3", "ext4", "xfs", "jfs", "vfat", "exfat", "ntfs3", "tmpfs",
];

/// What two cases must agree on to share a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FileKey {
    length: Bytes,
    contents: Contents,
    use_: FileUse,
}

/// Who works on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileUse {
    /// All cases: writing leaves the blocks in place.
    Any,
    /// Cases that only read.
    Reading,
    /// Cases that write.
    Writing,
    /// Cases that verify: what they and the layout wrote is all there is.
    Verified,
}

impl FileUse {
    const fn name(self) -> &'static str {
        match self {
            Self::Any => "data",
            Self::Reading => "read",
            Self::Writing => "write",
            Self::Verified => "verify",
        }
    }
}

impl FileKey {
    /// The shared file a case works on; `None` when it has none (a device, the null engine) or one
    /// of its own (new for each trial).
    pub(super) fn of(settings: &IoSettings, host: &Host) -> Option<Self> {
        let is_own = settings.layout == IoLayout::Fallocate || settings.mode.trims();
        let has_none =
            host.target.kind != TargetKind::Directory || settings.engine == IoEngine::Null;
        if is_own || has_none {
            return None;
        }
        let file_system = host
            .target
            .mount
            .as_ref()
            .map_or("", |mount| mount.file_system.as_str());
        Some(Self {
            length: settings.end(),
            contents: spec::contents(settings),
            use_: match (IN_PLACE.contains(&file_system), settings.writes()) {
                _ if settings.verify => FileUse::Verified,
                (true, _) => FileUse::Any,
                (false, true) => FileUse::Writing,
                (false, false) => FileUse::Reading,
            },
        })
    }

    /// A number that is equal for equal keys.
    pub(super) fn number(&self) -> u64 {
        seed_for(
            self.length.as_u64(),
            &format!("{:?} {:?}", self.contents, self.use_),
        )
    }
}

/// The shared files of the prepared cases, by scratch directory and key.
#[derive(Debug, Default)]
pub(super) struct Files(SharedByKey<(PathBuf, FileKey), DataFile>);

impl Files {
    /// The file of a key in this run's scratch directory, written when nobody has it yet.
    pub(super) fn acquire(
        &self,
        key: FileKey,
        direct: IoDirect,
        cx: &Context<'_>,
    ) -> Result<Arc<DataFile>, TestError> {
        let name = format!("io-{}-{:016x}", key.use_.name(), key.number());
        let (length, contents) = (key.length, key.contents);
        let place = (cx.scratch.to_path_buf(), key);
        self.0.get_or_make(place, || {
            DataFile::lay_out(cx.scratch.join(name), length, contents, direct, cx)
        })
    }
}

/// A file that was made for cases and is removed with the last of them.
#[derive(Debug)]
pub(super) struct DataFile {
    path: PathBuf,
    is_removed: bool,
    /// Times it was written whole by preconditioning.
    passes: AtomicU32,
}

impl DataFile {
    /// Writes every block of a new file.
    pub(super) fn lay_out(
        path: PathBuf,
        length: Bytes,
        contents: Contents,
        direct: IoDirect,
        cx: &Context<'_>,
    ) -> Result<Self, TestError> {
        let file = Self {
            path,
            is_removed: false,
            passes: AtomicU32::new(0),
        };
        file.write(length, contents, direct, cx)?;
        Ok(file)
    }

    /// A path that a trial will make a file at.
    pub(super) fn at(path: PathBuf) -> Self {
        Self {
            path,
            is_removed: false,
            passes: AtomicU32::new(0),
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes every block, again where it was written.
    pub(super) fn write(
        &self,
        length: Bytes,
        contents: Contents,
        direct: IoDirect,
        cx: &Context<'_>,
    ) -> Result<(), TestError> {
        let started = cx.clock.now();
        check_limits(cx, "the layout", started)?;
        let own = cx.cancel.child();
        let layout = LayoutSpec {
            path: self.path.clone(),
            size: length,
            contents,
            seed: layout_seed(),
            direct: direct != IoDirect::No,
            stuck_after: STUCK_AFTER,
        };
        let result = lay_out(&layout, &own, &|done: Bytes| {
            stop_at_deadline(cx, &own);
            (cx.progress)(layout_progress(done, length, cx.clock.now().since(started)));
        });
        match result {
            Ok(_) => Ok(()),
            Err(error) => Err(engine_error(error, length, "the layout", started, cx)),
        }
    }

    /// Passes of preconditioning that are still to be made for so many; they count as made.
    pub(super) fn take_passes(&self, asked: u32) -> u32 {
        let before = self.passes.fetch_max(asked, Ordering::Relaxed);
        asked.saturating_sub(before)
    }

    /// Removes the file if it is there, keeping the right to make it again.
    pub(super) fn clear(&self) -> Result<(), TestError> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).at("remove", &self.path)?;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Removes the file for good, unless other cases still use it.
    pub(super) fn release(self: Arc<Self>) -> Result<(), TestError> {
        match Arc::into_inner(self) {
            Some(mut last) => {
                last.is_removed = true;
                last.clear()
            }
            None => Ok(()),
        }
    }
}

impl Drop for DataFile {
    fn drop(&mut self) {
        if !self.is_removed {
            // On the way out of an error; the runner removes the whole scratch directory too.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Raises the part's own flag when the time is over.
pub(super) fn stop_at_deadline(cx: &Context<'_>, own: &Cancel) {
    if cx.clock.now() > cx.deadline {
        own.cancel();
    }
}

/// The contents of files, the same in each run.
pub(super) fn layout_seed() -> u64 {
    seed_for(1, "io file")
}

fn layout_progress(done: Bytes, length: Bytes, elapsed: Nanos) -> Progress {
    let rate = done.as_u64() as f64 / 1e6 / elapsed.as_secs_f64().max(1e-9);
    Progress {
        phase: "lay out".to_owned(),
        fraction: Some(done.as_u64() as f64 / length.as_u64().max(1) as f64),
        rate: format!("{rate:.0} MB/s"),
    }
}

/// What an engine's error means for a test.
pub(super) fn engine_error(
    error: IoError,
    needed: Bytes,
    what: &'static str,
    started: Nanos,
    cx: &Context<'_>,
) -> TestError {
    match error {
        IoError::Cancelled { .. } if cx.cancel.is_cancelled() => TestError::Cancelled,
        IoError::Cancelled { .. } => TestError::Deadline {
            what,
            limit: cx.deadline.since(started),
        },
        IoError::NoSpace { path, .. } => TestError::NoSpace {
            doing: "writing",
            path,
            needed,
        },
        other => WorkloadError::from(other).into(),
    }
}

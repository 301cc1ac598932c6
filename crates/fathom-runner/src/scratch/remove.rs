use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use super::ScratchError;

/// Directories inside one another; each keeps one descriptor open.
const DEPTH_LIMIT: usize = 256;

/// Removes the directory at `path`, everything but `last` first, then `last`, then itself. Works
/// from open directories, so that nothing swapped in on the way is followed out of the tree.
pub(super) fn tree(path: &Path, last: &str) -> Result<(), ScratchError> {
    let failed = |source: rustix::io::Errno| ScratchError::Remove {
        path: path.to_path_buf(),
        source: source.into(),
    };
    let root = open_directory(rustix::fs::CWD, path).map_err(failed)?;
    let device = rustix::fs::fstat(&root).map_err(failed)?.st_dev;
    let walk = Walk { device };
    walk.empty(root.as_fd(), path, Some(last), 0)?;
    let mark = CString::new(last).map_err(|_| failed(rustix::io::Errno::INVAL))?;
    unlink(root.as_fd(), &mark, AtFlags::empty()).map_err(failed)?;
    match rustix::fs::unlinkat(rustix::fs::CWD, path, AtFlags::REMOVEDIR) {
        Err(rustix::io::Errno::NOENT) | Ok(()) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

struct Walk {
    device: u64,
}

impl Walk {
    /// Removes the content of an open directory, except for `keep`.
    fn empty(
        &self,
        directory: BorrowedFd<'_>,
        path: &Path,
        keep: Option<&str>,
        depth: usize,
    ) -> Result<(), ScratchError> {
        let failed = |path: PathBuf, source: io::Error| ScratchError::Remove { path, source };
        let names = names(directory).map_err(|error| failed(path.to_path_buf(), error.into()))?;
        for name in names {
            if keep.is_some_and(|keep| keep.as_bytes() == name.to_bytes()) {
                continue;
            }
            let at = path.join(OsStr::from_bytes(name.to_bytes()));
            if depth >= DEPTH_LIMIT {
                let text = format!("more than {DEPTH_LIMIT} directories inside one another");
                return Err(failed(at, io::Error::other(text)));
            }
            self.remove(directory, &name, &at, depth)?;
        }
        Ok(())
    }

    fn remove(
        &self,
        directory: BorrowedFd<'_>,
        name: &CStr,
        at: &Path,
        depth: usize,
    ) -> Result<(), ScratchError> {
        let failed = |source: rustix::io::Errno| ScratchError::Remove {
            path: at.to_path_buf(),
            source: source.into(),
        };
        let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(rustix::io::Errno::NOENT) => return Ok(()),
            other => other.map_err(failed)?,
        };
        if stat.st_dev != self.device {
            return Err(ScratchError::Mounted {
                path: at.to_path_buf(),
            });
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return unlink(directory, name, AtFlags::empty()).map_err(failed);
        }
        let inner = match open_directory(directory, name) {
            // A test may have taken its own permissions away.
            Err(rustix::io::Errno::ACCESS) => {
                rustix::fs::chmodat(directory, name, Mode::RWXU, AtFlags::empty())
                    .map_err(failed)?;
                open_directory(directory, name).map_err(failed)?
            }
            other => other.map_err(failed)?,
        };
        self.empty(inner.as_fd(), at, None, depth + 1)?;
        unlink(directory, name, AtFlags::REMOVEDIR).map_err(failed)
    }
}

fn open_directory<P: rustix::path::Arg>(
    parent: BorrowedFd<'_>,
    name: P,
) -> Result<OwnedFd, rustix::io::Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// What is gone already counts as removed.
fn unlink(directory: BorrowedFd<'_>, name: &CStr, flags: AtFlags) -> Result<(), rustix::io::Errno> {
    match rustix::fs::unlinkat(directory, name, flags) {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        other => other,
    }
}

/// All names are read before the first is removed: a directory that changes while it is read may
/// skip some.
fn names(directory: BorrowedFd<'_>) -> Result<Vec<CString>, rustix::io::Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

use std::ffi::{CStr, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use fathom_base::{Bytes, IoContext};
use fathom_model::TestError;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// A directory that file calls are made relative to, so that they stay inside it: names are never
/// absolute and have no `..`, and the last part of a name is never followed when it is a link.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    path: PathBuf,
    needed: Bytes,
}

impl Root {
    /// Opens a directory; `needed` is what the case needs in all, for the error when the disk is
    /// full.
    pub(crate) fn open(path: &Path, needed: Bytes) -> Result<Self, TestError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| TestError::io("opening", path, errno.into()))?;
        Ok(Self {
            fd,
            path: path.to_path_buf(),
            needed,
        })
    }

    /// The directory, for calls that are made directly.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The whole path of a name, for messages.
    pub(crate) fn path_of(&self, name: &CStr) -> PathBuf {
        self.path.join(OsStr::from_bytes(name.to_bytes()))
    }

    /// An error with its path; a full disk says what the case needs.
    #[cold]
    pub(crate) fn error(&self, doing: &'static str, name: &CStr, source: Errno) -> TestError {
        let error = TestError::io(doing, self.path_of(name), io::Error::from(source));
        full_disk(error, self.needed)
    }

    /// Opens a file; links are refused.
    #[inline]
    pub(crate) fn open_file(
        &self,
        name: &CStr,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, TestError> {
        rustix::fs::openat(
            &self.fd,
            name,
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            mode,
        )
        .map_err(|errno| self.error("opening", name, errno))
    }

    /// Makes a directory; one that exists is as good.
    #[inline]
    pub(crate) fn make_directory(&self, name: &CStr, mode: Mode) -> Result<(), TestError> {
        match rustix::fs::mkdirat(&self.fd, name, mode) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(self.error("creating", name, errno)),
        }
    }

    /// Writes the whole buffer at the file's position; one call unless the system takes less.
    #[inline]
    pub(crate) fn write(
        &self,
        file: BorrowedFd<'_>,
        name: &CStr,
        mut buffer: &[u8],
    ) -> Result<(), TestError> {
        while !buffer.is_empty() {
            match rustix::io::write(file, buffer) {
                Ok(0) => return Err(self.error("writing", name, Errno::IO)),
                Ok(count) => buffer = buffer.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.error("writing", name, errno)),
            }
        }
        Ok(())
    }

    /// Reads at the file's position in one call; gives the number of bytes, 0 at its end.
    #[inline]
    pub(crate) fn read(
        &self,
        file: BorrowedFd<'_>,
        name: &CStr,
        buffer: &mut [u8],
    ) -> Result<usize, TestError> {
        loop {
            match rustix::io::read(file, &mut *buffer) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(self.error("reading", name, errno)),
            }
        }
    }

    /// Makes a file durable.
    #[inline]
    pub(crate) fn sync_file(&self, file: BorrowedFd<'_>, name: &CStr) -> Result<(), TestError> {
        rustix::fs::fsync(file).map_err(|errno| self.error("syncing", name, errno))
    }

    /// Removes a file.
    #[inline]
    pub(crate) fn unlink(&self, name: &CStr) -> Result<(), TestError> {
        rustix::fs::unlinkat(&self.fd, name, AtFlags::empty())
            .map_err(|errno| self.error("removing", name, errno))
    }

    /// Checks that everything was done that should have been.
    pub(crate) fn expect(check: &'static str, found: u64, expected: u64) -> Result<(), TestError> {
        match found == expected {
            true => Ok(()),
            false => Err(TestError::Check {
                check,
                found: format!("{found} instead of {expected}"),
            }),
        }
    }
}

/// Says in the error of a full disk what the case needs.
pub(crate) fn full_disk(error: TestError, needed: Bytes) -> TestError {
    match error {
        TestError::NoSpace { doing, path, .. } => TestError::NoSpace {
            doing,
            path,
            needed,
        },
        other => other,
    }
}

/// Removes everything inside a directory: what a trial that failed left, so that the next one
/// starts with nothing.
pub(crate) fn renew(directory: &Path) -> Result<(), TestError> {
    for entry in fs::read_dir(directory).at("list", directory)? {
        let entry = entry.at("list", directory)?;
        let path = entry.path();
        // Not followed when it is a link.
        let is_directory = entry.file_type().at("look at", &path)?.is_dir();
        match is_directory {
            true => fs::remove_dir_all(&path).at("remove", &path)?,
            false => fs::remove_file(&path).at("remove", &path)?,
        }
    }
    Ok(())
}

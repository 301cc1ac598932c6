use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Bytes;
use fathom_model::TestError;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// How a directory is opened that only serves to name what is in it.
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A directory that file calls are made relative to, so that they stay inside it.
///
/// Files are opened by `openat2`, which follows no link and leaves no directory, whatever somebody
/// else puts in its way; calls that take a name are made by [`super::Places`] in a directory that
/// was opened so. Kernels without `openat2` (before 5.6) get one `openat` for each part of a name.
#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    path: PathBuf,
    needed: Bytes,
    resolution: Resolution,
    /// Counts removals and renames of directories.
    generation: AtomicU64,
}

/// Who keeps names from leading out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// `openat2`.
    Kernel,
    /// One `openat` for each part.
    ByParts,
}

impl Resolution {
    /// What this kernel, or the sandbox around us, can do.
    fn of_this_machine(fd: &OwnedFd) -> Self {
        match open_beneath(fd.as_fd(), c".", PLACE, Mode::empty()) {
            Ok(_) => Self::Kernel,
            Err(_) => Self::ByParts,
        }
    }
}

impl Root {
    /// Opens a directory; `needed` is what the case needs in all, for the error when the disk is
    /// full.
    pub(crate) fn open(path: &Path, needed: Bytes) -> Result<Self, TestError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|errno| TestError::io("opening", path, errno.into()))?;
        Ok(Self {
            resolution: Resolution::of_this_machine(&fd),
            fd,
            path: path.to_path_buf(),
            needed,
            generation: AtomicU64::new(0),
        })
    }

    /// As a kernel without `openat2` has it.
    #[cfg(test)]
    pub(super) fn by_parts(mut self) -> Self {
        self.resolution = Resolution::ByParts;
        self
    }

    /// The directory, for calls that are made directly.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Space that is left on the file system for an ordinary user; `None` where it does not tell.
    pub(crate) fn available(&self) -> Option<Bytes> {
        let stat = rustix::fs::fstatvfs(&self.fd).ok()?;
        Some(Bytes::new(stat.f_bavail.saturating_mul(stat.f_frsize)))
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

    /// Opens a file or directory; links are refused (`ELOOP`), as names that lead out (`EXDEV`).
    #[inline]
    pub(crate) fn open_at(&self, name: &CStr, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // `openat2` insists on it.
        let mode = match flags.contains(OFlags::CREATE) {
            true => mode,
            false => Mode::empty(),
        };
        match self.resolution {
            Resolution::Kernel => open_beneath(self.fd(), name, flags, mode),
            Resolution::ByParts => open_by_parts(self.fd(), name, flags, mode),
        }
    }

    /// [`Root::open_at`] with an error that names the file.
    #[inline]
    pub(crate) fn open_file(
        &self,
        name: &CStr,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, TestError> {
        self.open_at(name, flags, mode)
            .map_err(|errno| self.error("opening", name, errno))
    }

    /// Opens a directory to name things in it.
    pub(super) fn open_place(&self, name: &CStr) -> Result<OwnedFd, Errno> {
        self.open_at(name, PLACE, Mode::empty())
    }

    /// How many directories were removed or renamed so far.
    #[inline]
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// A directory was removed or renamed; gives the count before.
    pub(super) fn next_generation(&self) -> u64 {
        self.generation.fetch_add(1, Ordering::Relaxed)
    }

    /// Lets `look` look at a file by a path that leads to this very file, without following a link
    /// that somebody put in the place of its name; `None` when there is no such file.
    pub(crate) fn look<T>(
        &self,
        name: &CStr,
        look: impl FnOnce(&Path) -> T,
    ) -> Result<Option<T>, TestError> {
        match self.open_at(name, OFlags::RDONLY, Mode::empty()) {
            Ok(file) => {
                // The thread's own, whose table of files may not be the process's.
                let path = format!("/proc/thread-self/fd/{}", file.as_raw_fd());
                let path = PathBuf::from(path);
                Ok(Some(look(&path)))
            }
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error("looking at", name, errno)),
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

/// `openat2` below a directory; tried again when a rename beside it made the kernel give up.
fn open_beneath(
    below: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    const TRIES: u32 = 100;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    let mut tries = 0;
    loop {
        match rustix::fs::openat2(below, name, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tries < TRIES => tries += 1,
            answer => return answer,
        }
    }
}

/// The same part by part: no link is followed, and a part that leads out is refused.
fn open_by_parts(
    below: BorrowedFd<'_>,
    name: &CStr,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let bytes = name.to_bytes();
    let leads_out = |part: &[u8]| part == b"..";
    if bytes.starts_with(b"/") || bytes.split(|byte| *byte == b'/').any(leads_out) {
        return Err(Errno::XDEV);
    }
    let mut inside: Option<OwnedFd> = None;
    let mut parts = bytes.split(|byte| *byte == b'/').peekable();
    while let Some(part) = parts.next() {
        let part = CString::new(part).map_err(|_| Errno::INVAL)?;
        let at = inside.as_ref().map_or(below, AsFd::as_fd);
        if parts.peek().is_none() {
            return rustix::fs::openat(at, &part, flags, mode);
        }
        let place = PLACE | OFlags::NOFOLLOW;
        inside = Some(rustix::fs::openat(at, &part, place, Mode::empty())?);
    }
    Err(Errno::NOENT)
}

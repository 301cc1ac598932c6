use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use fathom_model::TestError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};
use rustix::io::Errno;

/// Directories inside one another that are removed at most.
const DEPTH_LIMIT: u32 = 256;
/// Bytes of entries read at a time.
const ENTRIES_BYTES: usize = 32 << 10;

/// Removes everything inside a directory: what a trial that failed left, so that the next one
/// starts with nothing. No link is followed, not even one in the place of the directory itself.
pub(crate) fn renew(directory: &Path) -> Result<(), TestError> {
    let failed = |errno: Errno| TestError::io("emptying", directory, errno.into());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(directory, flags, Mode::empty()).map_err(failed)?;
    empty(&opened, 0).map_err(failed)
}

fn empty(directory: &OwnedFd, depth: u32) -> Result<(), Errno> {
    if depth == DEPTH_LIMIT {
        return Err(Errno::NAMETOOLONG);
    }
    let mut entries = vec![MaybeUninit::uninit(); ENTRIES_BYTES];
    // Entries may be passed over while others are removed: until a look finds none.
    loop {
        let mut removed = 0_u64;
        rustix::fs::seek(directory, rustix::fs::SeekFrom::Start(0))?;
        let mut listing = RawDir::new(directory, &mut entries);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            remove(directory.as_fd(), name, entry.file_type(), depth)?;
            removed += 1;
        }
        if removed == 0 {
            return Ok(());
        }
    }
}

fn remove(
    at: BorrowedFd<'_>,
    name: &std::ffi::CStr,
    kind: FileType,
    depth: u32,
) -> Result<(), Errno> {
    if kind != FileType::Directory {
        match rustix::fs::unlinkat(at, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // The file system does not tell what an entry is.
            Err(Errno::ISDIR | Errno::PERM) if kind == FileType::Unknown => {}
            Err(errno) => return Err(errno),
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    empty(
        &rustix::fs::openat(at, name, flags, Mode::empty())?,
        depth + 1,
    )?;
    rustix::fs::unlinkat(at, name, AtFlags::REMOVEDIR)
}

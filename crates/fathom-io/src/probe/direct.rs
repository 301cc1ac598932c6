//! Whether O_DIRECT really goes past the page cache.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use fathom_base::Bytes;

use super::cache::{Range, evict_range, residency_of};
use crate::buffer::Buffers;
use crate::error::IoError;
use crate::target::{DirectAlignment, direct_alignment};

/// Bytes of the trial transfer: aligned for every device there is.
const TRIAL_BYTES: usize = 65536;

/// What O_DIRECT does on a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectProbe {
    /// What `statx` says of alignment; `None` where it says nothing (tmpfs, btrfs, old kernels).
    pub alignment: Option<DirectAlignment>,
    /// What a real transfer showed.
    pub verdict: DirectVerdict,
}

/// What a real transfer showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectVerdict {
    /// Data were read without entering the page cache.
    Effective,
    /// The transfer worked, but through the page cache: so many bytes of the trial's stayed there.
    Cached(Bytes),
    /// The pages cannot be evicted even before the transfer: the file system is memory.
    Memory,
    /// Opening or reading with O_DIRECT failed with this error number.
    Refused(i32),
    /// The file is too short to try.
    TooShort,
}

/// Tries O_DIRECT on an existing file or device (which is only read), or in a directory (with a
/// file without a name, which vanishes).
///
/// # Errors
/// [`IoError`] when the trial itself could not be made; that O_DIRECT does not work is a verdict.
pub fn direct_probe(path: &Path) -> Result<DirectProbe, IoError> {
    let open_error = |source| IoError::Open {
        path: path.to_path_buf(),
        source,
    };
    let metadata = std::fs::metadata(path).map_err(open_error)?;
    let plain = if metadata.is_dir() {
        trial_file(path)?
    } else {
        File::open(path).map_err(open_error)?
    };
    let verdict = verdict_of(&plain, path)?;
    let alignment = direct_alignment(&plain);
    Ok(DirectProbe { alignment, verdict })
}

/// A written file without a name.
fn trial_file(directory: &Path) -> Result<File, IoError> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_TMPFILE)
        .mode(0o600)
        .open(directory)
        .map_err(|source| IoError::Open {
            path: directory.to_path_buf(),
            source,
        })?;
    let data = vec![0xA5; TRIAL_BYTES];
    std::os::unix::fs::FileExt::write_all_at(&file, &data, 0).map_err(|source| IoError::Call {
        path: directory.to_path_buf(),
        call: "write a trial file in",
        source,
    })?;
    Ok(file)
}

fn verdict_of(plain: &File, path: &Path) -> Result<DirectVerdict, IoError> {
    let range = Range {
        offset: Bytes::new(0),
        length: Bytes::new(TRIAL_BYTES as u64),
    };
    let mut before = evict_range(plain, path, Some(range))?;
    if before.resident.as_u64() > 0 {
        // A large folio that reaches out of the range goes only as a whole.
        evict_range(plain, path, None)?;
        before = residency_of(plain, path, Some(range))?;
    }
    if before.looked_at < range.length {
        return Ok(DirectVerdict::TooShort);
    }
    // The way through /proc also reaches a file without a name.
    let again = format!("/proc/self/fd/{}", plain.as_raw_fd());
    let direct = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(again);
    let errno_of = |e: &io::Error| e.raw_os_error().unwrap_or(libc::EIO);
    let direct = match direct {
        Ok(file) => file,
        Err(e) => return Ok(DirectVerdict::Refused(errno_of(&e))),
    };
    let mut buffers = Buffers::new(1, TRIAL_BYTES)?;
    // SAFETY: these buffers were just made; no operation knows of them.
    let data = unsafe { buffers.slice_mut(0, TRIAL_BYTES) };
    match std::os::unix::fs::FileExt::read_at(&direct, data, 0) {
        Err(e) => return Ok(DirectVerdict::Refused(errno_of(&e))),
        Ok(n) if n < TRIAL_BYTES => return Ok(DirectVerdict::TooShort),
        Ok(_) => {}
    }
    let after = residency_of(plain, path, Some(range))?;
    Ok(match (before.resident.as_u64(), after.resident.as_u64()) {
        (0, 0) => DirectVerdict::Effective,
        (0, _) => DirectVerdict::Cached(after.resident),
        _ => DirectVerdict::Memory,
    })
}

//! Emptying the cache of what was read.

#![expect(unsafe_code, reason = "BLKFLSBUF has no safe wrapper")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use fathom_model::TestError;

use crate::error::WorkloadError;

/// `BLKFLSBUF` of `linux/fs.h`: writes out and drops the buffers of a block device.
const BLKFLSBUF: u32 = rustix::ioctl::opcode::none(0x12, 97);

/// Syncs, and puts the device or file out of the cache; gives the bytes of it that stayed there.
///
/// A device is flushed as the original does; where that needs more rights, and for a file, its pages
/// are dropped by advice.
pub(super) fn flush(file: &File, path: &Path, is_device: bool) -> Result<u64, TestError> {
    rustix::fs::sync();
    let at = |errno: rustix::io::Errno| TestError::io("syncing", path, errno.into());
    rustix::fs::fsync(file).map_err(at)?;
    rustix::fs::fdatasync(file).map_err(at)?;
    if is_device {
        match flush_buffers(file) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(error) => return Err(TestError::io("flushing the buffers of", path, error)),
        }
    }
    let evicted = fathom_io::evict(path).map_err(WorkloadError::from)?;
    Ok(evicted.after.resident.as_u64())
}

fn flush_buffers(file: &File) -> io::Result<()> {
    // SAFETY: the call takes no memory; the descriptor is open.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), BLKFLSBUF.into(), 0) };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

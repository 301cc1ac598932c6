//! Where a file's blocks are, and whether they were ever written.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use fathom_base::Bytes;
use rustix::fs::SeekFrom;

use super::cache::{call_error, open_to_read};
use crate::error::IoError;

/// `_IOWR('f', 11, struct fiemap)` of `linux/fs.h`.
const FS_IOC_FIEMAP: libc::c_ulong = 0xC020_660B;
/// Flush delayed allocations first.
const FIEMAP_FLAG_SYNC: u32 = 1;
/// Extents asked for by one call.
const BATCH: usize = 256;

const EXTENT_LAST: u32 = 0x1;
const EXTENT_DELALLOC: u32 = 0x4;
const EXTENT_ENCODED: u32 = 0x8;
const EXTENT_INLINE: u32 = 0x200;
const EXTENT_UNWRITTEN: u32 = 0x800;
const EXTENT_SHARED: u32 = 0x2000;

/// What a file is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtentMap {
    /// Length of the file.
    pub size: Bytes,
    /// Number of extents; `None` where the file system does not tell (`FIEMAP`).
    pub extents: Option<u64>,
    /// Allocated but never written: reads give zeros without touching the device. `None` where
    /// the file system does not tell.
    pub unwritten: Option<Bytes>,
    /// Not allocated: reads give zeros.
    pub holes: Bytes,
    /// Not yet allocated, in the page cache only.
    pub delayed: Bytes,
    /// Compressed or encrypted.
    pub encoded: Bytes,
    /// Kept in metadata.
    pub inline: Bytes,
    /// Shared with another file (reflink, snapshot).
    pub shared: Bytes,
}

impl ExtentMap {
    /// Whether every byte was written, as far as the file system tells.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.holes == Bytes::new(0) && self.unwritten.unwrap_or_default() == Bytes::new(0)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved_64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Fiemap {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

const _: () = assert!(size_of::<Extent>() == 56);
const _: () = assert!(size_of::<Fiemap>() == 32 + 56 * BATCH);

/// Reads the extent map of a regular file; writes out what is delayed first.
///
/// # Errors
/// [`IoError::Open`] or [`IoError::Call`] with the path.
pub fn extents(path: &Path) -> Result<ExtentMap, IoError> {
    let file = open_to_read(path)?;
    let size =
        rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|e| call_error(path, "lseek", e))?;
    match fiemap(&file, size) {
        Ok(map) => Ok(map),
        Err(e) if is_unsupported(&e) => {
            holes_only(&file, size).map_err(|e| call_error(path, "lseek", e))
        }
        Err(e) => Err(call_error(path, "ioctl FIEMAP", e)),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::EOPNOTSUPP | libc::ENOTTY | libc::ENOSYS | libc::EINVAL)
    )
}

fn fiemap(file: &File, size: u64) -> io::Result<ExtentMap> {
    let mut map = ExtentMap {
        size: Bytes::new(size),
        extents: Some(0),
        unwritten: Some(Bytes::new(0)),
        ..ExtentMap::default()
    };
    let mut mapped_until = 0;
    let mut holes = 0;
    let mut flags = FIEMAP_FLAG_SYNC;
    'calls: while mapped_until < size {
        let batch = fiemap_batch(file, mapped_until, size - mapped_until, flags)?;
        flags = 0;
        if batch.is_empty() {
            break;
        }
        for extent in &batch {
            holes += extent.logical.saturating_sub(mapped_until);
            mapped_until = mapped_until.max(extent.logical.saturating_add(extent.length));
            add(&mut map, extent, size);
            if extent.flags & EXTENT_LAST != 0 {
                break 'calls;
            }
        }
    }
    holes += size.saturating_sub(mapped_until);
    map.holes = Bytes::new(holes);
    Ok(map)
}

fn add(map: &mut ExtentMap, extent: &Extent, size: u64) {
    let end = extent.logical.saturating_add(extent.length).min(size);
    let bytes = end.saturating_sub(extent.logical);
    let plus = |to: &mut Bytes, flag: u32| {
        if extent.flags & flag != 0 {
            *to = Bytes::new(to.as_u64() + bytes);
        }
    };
    map.extents = map.extents.map(|n| n + 1);
    if let Some(unwritten) = &mut map.unwritten {
        plus(unwritten, EXTENT_UNWRITTEN);
    }
    plus(&mut map.delayed, EXTENT_DELALLOC);
    plus(&mut map.encoded, EXTENT_ENCODED);
    plus(&mut map.inline, EXTENT_INLINE);
    plus(&mut map.shared, EXTENT_SHARED);
}

fn fiemap_batch(file: &File, start: u64, length: u64, flags: u32) -> io::Result<Vec<Extent>> {
    let mut request = Box::new(Fiemap {
        start,
        length,
        flags,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    // SAFETY: the kernel reads the head and writes at most `extent_count` extents behind it,
    // which is what the structure has room for.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut *request) };
    if returned != 0 {
        return Err(io::Error::last_os_error());
    }
    let count = (request.mapped_extents as usize).min(BATCH);
    Ok(request.extents[..count].to_vec())
}

/// Holes by SEEK_DATA and SEEK_HOLE, for file systems without FIEMAP.
pub(super) fn holes_only(file: &File, size: u64) -> io::Result<ExtentMap> {
    let mut holes = 0;
    let mut at = 0;
    while at < size {
        match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => {
                holes += data - at;
                at = rustix::fs::seek(file, SeekFrom::Hole(data))?;
            }
            Err(rustix::io::Errno::NXIO) => {
                holes += size - at;
                break;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(ExtentMap {
        size: Bytes::new(size),
        holes: Bytes::new(holes),
        ..ExtentMap::default()
    })
}

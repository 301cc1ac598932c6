//! How much of a file is in the page cache, and getting it out.

use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::path::Path;

use fathom_base::Bytes;
use rustix::fs::Advice;

use crate::error::IoError;

/// `cachestat(2)` of Linux 6.5; the number is the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;
/// Times eviction is tried: pages on another processor's short lists need a second try.
const TRIES: u32 = 5;
/// Bytes of a file looked at by one `mincore` call.
const MINCORE_WINDOW: u64 = 1 << 30;

/// Part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First byte.
    pub offset: Bytes,
    /// Length.
    pub length: Bytes,
}

/// How much of a range is in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Bytes in the cache, in whole pages.
    pub resident: Bytes,
    /// Of these, not yet written to the device; `None` where only `mincore` could tell.
    pub dirty: Option<Bytes>,
    /// Bytes looked at.
    pub looked_at: Bytes,
}

impl Residency {
    /// Share of the range in the cache, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self.looked_at.as_u64() {
            0 => 0.0,
            all => (self.resident.as_u64() as f64 / all as f64).min(1.0),
        }
    }
}

/// Residency before and after an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Before.
    pub before: Residency,
    /// After: 0 resident, unless pages are mapped, dirty again, or the file system is memory.
    pub after: Residency,
}

#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Cachestat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// How much of a file, or of a range of it, is in the page cache.
///
/// # Errors
/// [`IoError::Open`] or [`IoError::Call`] with the path.
pub fn residency(path: &Path, range: Option<Range>) -> Result<Residency, IoError> {
    let file = open_to_read(path)?;
    residency_of(&file, path, range)
}

/// Writes a file's dirty pages out and drops all of its pages from the cache.
///
/// What stays is in the report, not an error: the caller says what it means.
///
/// # Errors
/// [`IoError::Open`] or [`IoError::Call`] with the path.
pub fn evict(path: &Path) -> Result<Evicted, IoError> {
    let file = open_to_read(path)?;
    let before = residency_of(&file, path, None)?;
    let after = evict_range(&file, path, None)?;
    Ok(Evicted { before, after })
}

/// Evicts a range of an open file and says what stayed.
pub(crate) fn evict_range(
    file: &File,
    path: &Path,
    range: Option<Range>,
) -> Result<Residency, IoError> {
    let (offset, length) = range.map_or((0, None), |r| {
        (r.offset.as_u64(), NonZeroU64::new(r.length.as_u64()))
    });
    let mut tries = 0;
    loop {
        rustix::fs::fdatasync(file).map_err(|e| call_error(path, "fdatasync", e))?;
        rustix::fs::fadvise(file, offset, length, Advice::DontNeed)
            .map_err(|e| call_error(path, "posix_fadvise", e))?;
        let after = residency_of(file, path, range)?;
        tries += 1;
        if after.resident == Bytes::new(0) || tries == TRIES {
            return Ok(after);
        }
    }
}

pub(crate) fn residency_of(
    file: &File,
    path: &Path,
    range: Option<Range>,
) -> Result<Residency, IoError> {
    let end = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))
        .map_err(|e| call_error(path, "lseek", e))?;
    let offset = range.map_or(0, |r| r.offset.as_u64()).min(end);
    let length = range.map_or(end, |r| r.length.as_u64()).min(end - offset);
    if length == 0 {
        return Ok(Residency {
            resident: Bytes::new(0),
            dirty: Some(Bytes::new(0)),
            looked_at: Bytes::new(0),
        });
    }
    match cachestat(file, offset, length) {
        Ok(stat) => {
            let bytes = |pages: u64| Bytes::new(pages.saturating_mul(page_bytes()));
            Ok(Residency {
                resident: bytes(stat.cached),
                dirty: Some(bytes(stat.dirty.saturating_add(stat.writeback))),
                looked_at: Bytes::new(length),
            })
        }
        Err(_) => mincore(file, offset, length).map_err(|source| IoError::Call {
            path: path.to_path_buf(),
            call: "mincore",
            source,
        }),
    }
}

fn cachestat(file: &File, offset: u64, length: u64) -> io::Result<Cachestat> {
    let range = CachestatRange { offset, length };
    let mut stat = Cachestat::default();
    let flags: libc::c_uint = 0;
    // SAFETY: reads one range and writes one stat, both locals laid out as `linux/mman.h` has
    // them; the descriptor is open.
    let returned = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            &raw const range,
            &raw mut stat,
            flags,
        )
    };
    if returned == 0 {
        Ok(stat)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// For kernels before 6.5. Linux answers it only to who may write the file.
pub(crate) fn mincore(file: &File, offset: u64, length: u64) -> io::Result<Residency> {
    let page = page_bytes();
    let end = offset + length;
    let mut at = offset / page * page;
    let mut pages = 0;
    let mut states = Vec::new();
    while at < end {
        let window = (end - at).min(MINCORE_WINDOW);
        states.resize(window.div_ceil(page) as usize, 0);
        pages += resident_pages(file, at, window as usize, &mut states)?;
        at += window;
    }
    Ok(Residency {
        resident: Bytes::new(pages * page),
        dirty: None,
        looked_at: Bytes::new(length),
    })
}

fn resident_pages(file: &File, at: u64, window: usize, states: &mut [u8]) -> io::Result<u64> {
    use rustix::mm::{MapFlags, ProtFlags};
    let address = std::ptr::null_mut();
    let (prot, flags) = (ProtFlags::READ, MapFlags::SHARED);
    // SAFETY: a new mapping at an address of the kernel's choice; it is never read through.
    let map = unsafe { rustix::mm::mmap(address, window, prot, flags, file, at) }?;
    // SAFETY: the range is the mapping just made, and there is a byte for each of its pages.
    let returned = unsafe { libc::mincore(map, window, states.as_mut_ptr()) };
    let result = if returned == 0 {
        Ok(states.iter().filter(|&&state| state & 1 == 1).count() as u64)
    } else {
        Err(io::Error::last_os_error())
    };
    // SAFETY: the mapping just made, of which nothing else knows.
    unsafe { rustix::mm::munmap(map, window) }?;
    result
}

pub(crate) fn page_bytes() -> u64 {
    // SAFETY: asks for a number; no memory is passed.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    u64::try_from(bytes).unwrap_or(4096)
}

pub(crate) fn open_to_read(path: &Path) -> Result<File, IoError> {
    File::open(path).map_err(|source| IoError::Open {
        path: path.to_path_buf(),
        source,
    })
}

pub(crate) fn call_error(path: &Path, call: &'static str, source: impl Into<io::Error>) -> IoError {
    IoError::Call {
        path: path.to_path_buf(),
        call,
        source: source.into(),
    }
}

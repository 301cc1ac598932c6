//! Copies in and out of a shared mapping.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::fault::Guard;
use super::{Engine, EngineFailure, Op, Queued, Setup, Wait, discard};
use crate::probe::page_bytes;
use crate::source::Kind;

/// A mapping of the span.
#[derive(Debug)]
pub(crate) struct Mapped {
    file: File,
    /// Unregistered before the mapping goes.
    guard: Guard,
    map: Map,
}

#[derive(Debug)]
struct Map {
    address: *mut u8,
    bytes: usize,
    /// Offset of the mapping in the file.
    start: u64,
    prot: ProtFlags,
}

impl Map {
    fn new(file: &File, start: u64, bytes: usize, prot: ProtFlags) -> io::Result<Self> {
        let address = std::ptr::null_mut();
        // SAFETY: a new mapping at an address of the kernel's choice.
        let map = unsafe { rustix::mm::mmap(address, bytes, prot, MapFlags::SHARED, file, start) }?;
        Ok(Self {
            address: map.cast(),
            bytes,
            start,
            prot,
        })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: our own mapping, of which nothing else knows.
        let _ = unsafe { rustix::mm::munmap(self.address.cast(), self.bytes) };
    }
}

impl Mapped {
    pub(crate) fn new(setup: &Setup<'_>, file: &File) -> io::Result<Self> {
        let spec = setup.spec;
        let offset = spec.offset.as_u64();
        let start = offset / page_bytes() * page_bytes();
        let bytes = usize::try_from(offset + spec.size.as_u64() - start)
            .map_err(|_| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let prot = if spec.mode.writes() {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        };
        let map = Map::new(file, start, bytes, prot)?;
        let advice = if spec.mode.is_random() {
            Advice::Random
        } else {
            Advice::Sequential
        };
        // SAFETY: our own mapping; the advice does not change its contents. It is only a hint.
        let _ = unsafe { rustix::mm::madvise(map.address.cast(), bytes, advice) };
        let guard = Guard::watch(map.address, bytes)?;
        Ok(Self {
            file: file.try_clone()?,
            guard,
            map,
        })
    }

    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn copy(&mut self, op: &Op) -> i64 {
        let length = op.length as usize;
        let within = (op.offset - self.map.start) as usize;
        assert!(
            within + length <= self.map.bytes,
            "an operation lies in the mapping"
        );
        let mapped = self.map.address.wrapping_add(within);
        if op.kind == Kind::Read {
            // SAFETY: both ranges hold `length` bytes and do not overlap; a fault on the mapping
            // is turned into an error by the guard. Other jobs may write to the file at the same
            // time, which memcpy, unlike a Rust copy, is allowed to meet.
            unsafe { libc::memcpy(op.address.cast(), mapped.cast(), length) };
        } else {
            // SAFETY: as above, the other way round; the mapping is writable when a mode writes.
            unsafe { libc::memcpy(mapped.cast(), op.address.cast(), length) };
        }
        if self.guard.was_hit() {
            return self.failed(op);
        }
        i64::from(op.length)
    }

    /// The pages could not be had: maps the file anew where zeros stand in for it.
    #[cold]
    fn failed(&mut self, op: &Op) -> i64 {
        let flags = MapFlags::SHARED | MapFlags::FIXED;
        let Map {
            address,
            bytes,
            start,
            prot,
        } = self.map;
        // SAFETY: replaces our own mapping as a whole by one of the same file and length.
        let again =
            unsafe { rustix::mm::mmap(address.cast(), bytes, prot, flags, &self.file, start) };
        if let Err(errno) = again {
            return -i64::from(errno.raw_os_error());
        }
        let is_full = rustix::fs::fstatvfs(&self.file)
            .is_ok_and(|fs| fs.f_bavail * fs.f_frsize < u64::from(op.length));
        if op.kind == Kind::Write && is_full {
            return -i64::from(libc::ENOSPC);
        }
        -i64::from(libc::EIO)
    }
}

impl Engine for Mapped {
    #[inline(always)]
    fn queue(&mut self, op: &Op) -> Queued {
        Queued::Done(match op.kind {
            Kind::Read | Kind::Write => self.copy(op),
            Kind::Trim | Kind::Sync => discard(self.fd(), op, false),
        })
    }

    #[inline(always)]
    fn step(&mut self, _: Wait) -> Result<(), EngineFailure> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, _: &mut impl FnMut(u32, i64)) {}
}

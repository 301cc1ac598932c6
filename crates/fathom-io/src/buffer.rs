//! Page-aligned memory that operations read into and write from.
//!
//! Reads use the buffer of their slot, the same one again while it is in the cache. Writes of random
//! data take buffers from a pool in turn, see [`crate::contents`].

use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::contents::{POOL_BYTES, SECTOR_BYTES};
use crate::error::IoError;
use crate::spec::{Contents, JobSpec};

/// Alignment of each buffer: enough for O_DIRECT on every device Linux has.
pub(crate) const ALIGNMENT: usize = 4096;

/// A huge page of most processors.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// From this size on, buffers ask for huge pages: with many small ones the processor spends more
/// time on finding a buffer than on stamping it.
const HUGE_FROM_BYTES: usize = 256 << 10;
/// All jobs' pools together take no more than this, unless depth asks for more.
const ALL_POOLS_BYTES: usize = 64 << 20;
/// The least a pool has beside what is in flight.
const LEAST_POOL_BYTES: usize = 128 << 10;

/// How many buffers a job has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Size of each.
    pub(crate) bytes: usize,
    /// One for each operation in flight: for all reads, and for writes without a pool.
    pub(crate) slots: u32,
    /// For writes; 0 when each write's data are made whole.
    pub(crate) pool: u32,
}

impl Plan {
    pub(crate) fn new(spec: &JobSpec, depth: u32) -> Self {
        let bytes = spec.block_sizes.largest().as_u64() as usize;
        let sector = SECTOR_BYTES as u64;
        let whole_sectors = spec.offset.as_u64().is_multiple_of(sector)
            && spec
                .block_sizes
                .writes
                .iter()
                .chain(&spec.block_sizes.reads)
                .all(|share| share.size.as_u64().is_multiple_of(sector));
        let pools = spec.mode.writes() && spec.contents == Contents::Random && whole_sectors;
        let room = (ALL_POOLS_BYTES / spec.jobs as usize).clamp(LEAST_POOL_BYTES, POOL_BYTES);
        let spare = room.div_ceil(stride_of(bytes)) as u32;
        Self {
            bytes,
            slots: if pools && !spec.mode.reads() {
                0
            } else {
                depth
            },
            pool: if pools { depth + spare } else { 0 },
        }
    }

    /// Buffers in all.
    pub(crate) const fn count(self) -> u32 {
        self.slots + self.pool
    }

    /// Memory of all of them.
    pub(crate) fn total_bytes(self) -> u64 {
        (stride_of(self.bytes) as u64).saturating_mul(u64::from(self.count()))
    }
}

fn stride_of(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT).max(ALIGNMENT)
}

/// One mapping cut into equal buffers.
///
/// The memory is given to the kernel by address, so it must outlive all operations: the owner
/// drops it after its engine, and leaks it when operations are abandoned.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    mapping: *mut u8,
    mapped_bytes: usize,
    stride: usize,
    count: u32,
}

// SAFETY: the mapping is private to this value; a thread that holds it is its only user.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps `count` buffers of at least `size` bytes.
    pub(crate) fn new(count: u32, size: usize) -> Result<Self, IoError> {
        let stride = stride_of(size);
        let total = stride.saturating_mul(count as usize);
        // Enough more to move the start to where huge pages begin.
        let mapped_bytes = if total >= HUGE_FROM_BYTES {
            total
                .next_multiple_of(HUGE_PAGE_BYTES)
                .saturating_add(HUGE_PAGE_BYTES)
        } else {
            total
        };
        let out_of_memory = |errno| IoError::resource("map memory for I/O buffers", errno);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory
        // that exists.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                mapped_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let mapping = mapped.map_err(out_of_memory)?.cast::<u8>();
        let skipped = match mapped_bytes - total {
            0 => 0,
            _ => mapping.align_offset(HUGE_PAGE_BYTES),
        };
        let base = NonNull::new(mapping.wrapping_add(skipped));
        let buffers = Self {
            base: base.ok_or_else(|| out_of_memory(rustix::io::Errno::NOMEM))?,
            mapping,
            mapped_bytes,
            stride,
            count,
        };
        buffers.advise_huge_pages();
        Ok(buffers)
    }

    /// Asks for huge pages; the kernel may have none, and nothing depends on it.
    fn advise_huge_pages(&self) {
        let (address, bytes) = (self.mapping.cast(), self.mapped_bytes);
        // SAFETY: the range is our own mapping, and the advice does not change its contents.
        let _ = unsafe { rustix::mm::madvise(address, bytes, Advice::LinuxHugepage) };
    }

    /// Address of the buffer `index`.
    #[inline(always)]
    pub(crate) fn address(&self, index: u32) -> *mut u8 {
        debug_assert!(index < self.count, "a buffer has its place");
        self.base
            .as_ptr()
            .wrapping_add(self.stride * index as usize)
    }

    /// Asks the processor for the lines that the next stamp of a buffer will write: the device has
    /// had them since, and waiting for them would cost more than all else.
    #[inline(always)]
    pub(crate) fn expect_stamp(&self, index: u32) {
        let buffer = self.address(index);
        for sector in 0..ALIGNMENT / SECTOR_BYTES {
            prefetch_to_write(buffer.wrapping_add(sector * SECTOR_BYTES));
        }
    }

    /// The first `len` bytes of the buffer `index`.
    ///
    /// # Safety
    /// No operation on this buffer may be in flight.
    #[inline(always)]
    pub(crate) unsafe fn slice_mut(&mut self, index: u32, len: usize) -> &mut [u8] {
        assert!(
            index < self.count && len <= self.stride,
            "an operation fits into its buffer"
        );
        // SAFETY: within the mapping by the assertion; borrowed through `&mut self`, and the
        // caller vouches that the kernel does not write to it.
        unsafe { std::slice::from_raw_parts_mut(self.address(index), len) }
    }

    /// All buffers as one range: address and bytes.
    pub(crate) const fn extent(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.stride * self.count as usize)
    }

    /// Number of buffers.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// Distance between buffers in bytes.
    pub(crate) const fn stride(&self) -> usize {
        self.stride
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch_to_write(address: *const u8) {
    // The intrinsic would ask to read only: not every x86-64 processor knows the other, but all of
    // them take it for nothing then.
    // SAFETY: a hint to the processor; any address is allowed, and nothing is read or written.
    unsafe {
        core::arch::asm!(
            "prefetchw byte ptr [{}]",
            in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn prefetch_to_write(_: *const u8) {}

impl Drop for Buffers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Operations may be in flight: the memory stays.
            return;
        }
        // SAFETY: the range is our own mapping, and the owner dropped the engine before.
        let _ = unsafe { rustix::mm::munmap(self.mapping.cast(), self.mapped_bytes) };
    }
}

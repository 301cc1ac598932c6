//! Page-aligned memory that operations read into and write from.

use std::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::IoError;

/// Alignment of each slot's buffer: enough for O_DIRECT on every device Linux has.
pub(crate) const ALIGNMENT: usize = 4096;

/// One mapping cut into equal buffers, one for each operation that may be in flight.
///
/// The memory is given to the kernel by address, so it must outlive all operations: the owner
/// drops it after its engine, and leaks it when operations are abandoned.
#[derive(Debug)]
pub(crate) struct Buffers {
    base: NonNull<u8>,
    mapped_bytes: usize,
    stride: usize,
    count: u32,
}

// SAFETY: the mapping is private to this value; a thread that holds it is its only user.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps `count` buffers of at least `size` bytes.
    pub(crate) fn new(count: u32, size: usize) -> Result<Self, IoError> {
        let stride = size.next_multiple_of(ALIGNMENT).max(ALIGNMENT);
        let total = stride.saturating_mul(count as usize);
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory
        // that exists.
        let mapped = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                total,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        };
        let address = mapped.map_err(|e| IoError::resource("map memory for I/O buffers", e))?;
        let base = NonNull::new(address.cast::<u8>()).ok_or_else(|| {
            IoError::resource("map memory for I/O buffers", rustix::io::Errno::NOMEM)
        })?;
        let buffers = Self {
            base,
            mapped_bytes: total,
            stride,
            count,
        };
        buffers.advise_huge_pages();
        Ok(buffers)
    }

    /// Asks for huge pages; the kernel may have none, and nothing depends on it.
    fn advise_huge_pages(&self) {
        let address = self.base.as_ptr().cast();
        // SAFETY: the range is our own mapping, and the advice does not change its contents.
        let _ = unsafe { rustix::mm::madvise(address, self.mapped_bytes, Advice::LinuxHugepage) };
    }

    /// Address of the buffer of `slot`.
    #[inline(always)]
    pub(crate) fn address(&self, slot: u32) -> *mut u8 {
        debug_assert!(slot < self.count, "a slot has a buffer");
        self.base.as_ptr().wrapping_add(self.stride * slot as usize)
    }

    /// The first `len` bytes of the buffer of `slot`.
    ///
    /// # Safety
    /// No operation on this buffer may be in flight.
    #[inline(always)]
    pub(crate) unsafe fn slice_mut(&mut self, slot: u32, len: usize) -> &mut [u8] {
        assert!(
            slot < self.count && len <= self.stride,
            "a slot's operation fits into its buffer"
        );
        // SAFETY: within the mapping by the assertion; borrowed through `&mut self`, and the
        // caller vouches that the kernel does not write to it.
        unsafe { std::slice::from_raw_parts_mut(self.address(slot), len) }
    }

    /// The whole mapping as (address, bytes).
    pub(crate) fn extent(&self) -> (*mut u8, usize) {
        (self.base.as_ptr(), self.mapped_bytes)
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

impl Drop for Buffers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Operations may be in flight: the memory stays.
            return;
        }
        // SAFETY: the range is our own mapping, and the owner dropped the engine before.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
    }
}

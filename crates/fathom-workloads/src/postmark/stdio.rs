//! Buffered files as the GNU C library has them, so that the same calls reach the kernel.
//!
//! A buffer is as large as the file system's preferred block when that is below 8 KiB, else 8 KiB.
//! It is made at the first read or write, which costs an `fstat`. Blocks that do not fit go to the
//! kernel directly, in whole buffers.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

use fathom_model::TestError;

use crate::classic::Root;

/// `BUFSIZ`.
const LARGEST: usize = 8192;

/// A buffer for one file at a time; its memory is used again for the next.
#[derive(Debug)]
pub(super) struct Stdio {
    buffer: Box<[u8; LARGEST]>,
    /// Its size for the file that is open; 0 before the first block.
    size: usize,
    /// What of it waits to be read or written.
    start: usize,
    end: usize,
}

impl Stdio {
    pub(super) fn new() -> Self {
        Self {
            buffer: Box::new([0; LARGEST]),
            size: 0,
            start: 0,
            end: 0,
        }
    }

    /// Begins with another file.
    pub(super) fn open(&mut self) {
        (self.size, self.start, self.end) = (0, 0, 0);
    }

    /// Writes a block.
    pub(super) fn write(
        &mut self,
        root: &Root,
        file: &OwnedFd,
        name: &CStr,
        block: &[u8],
    ) -> Result<(), TestError> {
        let fits = block.len().min(self.size - self.end);
        let (first, rest) = block.split_at(fits);
        self.buffer[self.end..self.end + fits].copy_from_slice(first);
        self.end += fits;
        if rest.is_empty() {
            return Ok(());
        }
        self.flush(root, file, name)?;
        if self.size == 0 {
            self.size = size_for(root, file, name)?;
        }
        let (direct, rest) = rest.split_at(rest.len() - rest.len() % self.size);
        root.write(file.as_fd(), name, direct)?;
        self.buffer[..rest.len()].copy_from_slice(rest);
        self.end = rest.len();
        Ok(())
    }

    /// Writes what is left, as closing does.
    pub(super) fn flush(
        &mut self,
        root: &Root,
        file: &OwnedFd,
        name: &CStr,
    ) -> Result<(), TestError> {
        let waiting = &self.buffer[..self.end];
        root.write(file.as_fd(), name, waiting)?;
        self.end = 0;
        Ok(())
    }

    /// Reads a block; gives how much of it the file still had.
    pub(super) fn read(
        &mut self,
        root: &Root,
        file: &OwnedFd,
        name: &CStr,
        block: &mut [u8],
    ) -> Result<usize, TestError> {
        if self.size == 0 {
            self.size = size_for(root, file, name)?;
        }
        let mut filled = 0;
        loop {
            let have = (self.end - self.start).min(block.len() - filled);
            block[filled..filled + have]
                .copy_from_slice(&self.buffer[self.start..self.start + have]);
            self.start += have;
            filled += have;
            let wanted = block.len() - filled;
            if wanted == 0 {
                return Ok(filled);
            }
            let count = match wanted < self.size {
                true => {
                    let buffer = &mut self.buffer[..self.size];
                    (self.start, self.end) = (0, root.read(file.as_fd(), name, buffer)?);
                    self.end
                }
                false => {
                    let direct = wanted - wanted % self.size;
                    let part = &mut block[filled..filled + direct];
                    let count = root.read(file.as_fd(), name, part)?;
                    filled += count;
                    count
                }
            };
            if count == 0 {
                return Ok(filled);
            }
        }
    }
}

/// The size of the buffer for a file.
fn size_for(root: &Root, file: &OwnedFd, name: &CStr) -> Result<usize, TestError> {
    let stat = rustix::fs::fstat(file).map_err(|errno| root.error("looking at", name, errno))?;
    let preferred = usize::try_from(stat.st_blksize).unwrap_or(0);
    Ok(match preferred {
        1..LARGEST => preferred,
        _ => LARGEST,
    })
}

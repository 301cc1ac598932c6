//! Engines: how an operation reaches the kernel and how its end is noticed.
//!
//! The worker loop knows engines only by [`Engine`]; it is compiled once for each of them.

use std::io;
use std::os::fd::RawFd;

use crate::report::Note;
use crate::source::Kind;
use crate::spec::JobSpec;

mod fault;
pub(crate) mod libaio;
mod map;
mod null;
mod pool;
mod psync;
pub(crate) mod uring;

pub(crate) use libaio::Libaio;
pub(crate) use map::Mapped;
pub(crate) use null::Null;
pub(crate) use pool::Pool;
pub(crate) use psync::Psync;
pub(crate) use uring::Uring;

/// An operation as an engine sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: Kind,
    /// Number of the operation's place, below the depth; its name until it is done.
    pub(crate) slot: u32,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Number of its buffer.
    pub(crate) buffer: u32,
    /// Its memory, in that buffer: `length` bytes that stay valid and untouched until it is done.
    pub(crate) address: *mut u8,
    /// RWF_NOWAIT must not be used (any more).
    pub(crate) may_block: bool,
}

/// What became of a queued operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    /// It is over: bytes moved, or minus the error number.
    Done(i64),
    /// It is on its way; [`Engine::reap`] will name it.
    InFlight,
    /// There is no room; to be queued again after a step.
    Full,
}

/// How long a step waits for completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Until so many are there, not more than are in flight; 0 does not wait.
    For(u32),
    /// For one, but at most so many nanoseconds.
    AtMost(u64),
}

/// A way to do I/O; made, used and dropped by one thread.
pub(crate) trait Engine {
    /// Takes an operation.
    fn queue(&mut self, op: &Op) -> Queued;

    /// Hands over what was queued and waits for completions.
    ///
    /// # Errors
    /// A failure of the engine itself, not of an operation.
    fn step(&mut self, wait: Wait) -> Result<(), EngineFailure>;

    /// Names each operation that is done, with bytes moved or minus the error number.
    fn reap(&mut self, done: &mut impl FnMut(u32, i64));
}

/// A system call of the engine itself that failed.
#[derive(Debug)]
pub(crate) struct EngineFailure {
    pub(crate) call: &'static str,
    pub(crate) source: io::Error,
}

/// What an engine is made of.
pub(crate) struct Setup<'a> {
    pub(crate) spec: &'a JobSpec,
    pub(crate) fd: RawFd,
    /// Operations in flight at most.
    pub(crate) depth: u32,
    /// All buffers as one range.
    pub(crate) extent: (*mut u8, usize),
    /// Distance between two buffers.
    pub(crate) stride: usize,
    /// Number of buffers.
    pub(crate) buffers: u32,
    /// Filled with what is in force.
    pub(crate) features: &'a mut Vec<&'static str>,
    /// Filled with what is worth telling.
    pub(crate) notes: &'a mut Vec<Note>,
}

/// Result of a system call that returns a count or -1 with `errno`.
#[inline(always)]
pub(crate) fn result_of(returned: isize) -> i64 {
    match returned {
        -1 => -i64::from(
            io::Error::last_os_error()
                .raw_os_error()
                .unwrap_or(libc::EIO),
        ),
        count => count as i64,
    }
}

/// Discards a range: the same system calls for all engines.
pub(crate) fn discard(fd: RawFd, op: &Op, is_device: bool) -> i64 {
    let length = i64::from(op.length);
    if is_device {
        let range = [op.offset, u64::from(op.length)];
        // SAFETY: BLKDISCARD reads two 64-bit numbers from the address, which lives until the
        // call returns; the descriptor belongs to the job.
        let returned = unsafe { libc::ioctl(fd, BLKDISCARD, range.as_ptr()) };
        return match result_of(returned as isize) {
            0 => length,
            failed => failed,
        };
    }
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: passes numbers only; the descriptor belongs to the job.
    let returned = unsafe { libc::fallocate(fd, mode, op.offset.cast_signed(), length) };
    match result_of(returned as isize) {
        0 => length,
        failed => failed,
    }
}

/// `_IO(0x12, 119)` of `linux/fs.h`.
const BLKDISCARD: libc::c_ulong = 0x1277;

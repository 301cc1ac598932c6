//! What a thread needs to stand in for a process.

#![expect(
    unsafe_code,
    reason = "unshare, locks of ranges and the usage of one thread have no safe wrapper"
)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Mutex;

use fathom_base::Nanos;
use fathom_model::CpuEvidence;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Gives the calling thread a table of open files of its own.
///
/// With one table for all threads the kernel counts references on every call and takes a lock on
/// every open and close, locks of one client do not exclude another's, and 256 clients share one
/// limit of open files. None of that is so for the processes of the originals.
///
/// # Errors
/// Where a sandbox forbids `unshare`.
pub(super) fn own_file_table() -> io::Result<()> {
    // SAFETY: what was open stays open in the thread's copy of the table, so every descriptor it
    // was given stays valid. What it opens from now on is unknown to other threads; the crew's
    // threads hand nothing back that owns a descriptor (their results are counts and times).
    unsafe { unshare_unsafe(UnshareFlags::FILES) }.map_err(io::Error::from)
}

/// What is done to a range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeLock {
    /// Locked for writing.
    Exclusive,
    /// Unlocked.
    Free,
}

/// Locks or unlocks a range of a file, waiting for others as the original does.
///
/// The kernel knows the owner of a lock by its table of open files, so that threads with tables of
/// their own exclude one another like processes. Where they share one, locks belong to the open file
/// instead and are not waited for: a client with two handles on a file would wait for itself.
///
/// # Errors
/// As the system gives them, a deadlock among them.
pub(crate) fn lock_range(
    file: BorrowedFd<'_>,
    lock: RangeLock,
    offset: i64,
    length: i64,
    has_own_files: bool,
) -> io::Result<()> {
    // SAFETY: `flock` is plain numbers, for which zeros are valid (a lock of an open file must have
    // no process in it).
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = match lock {
        RangeLock::Exclusive => libc::F_WRLCK as libc::c_short,
        RangeLock::Free => libc::F_UNLCK as libc::c_short,
    };
    range.l_whence = libc::SEEK_SET as libc::c_short;
    range.l_start = offset;
    range.l_len = length;
    let command = match has_own_files {
        true => libc::F_SETLKW,
        false => libc::F_OFD_SETLK,
    };
    // SAFETY: reads one `flock` from the address, which is a local of that type; the descriptor is
    // borrowed, so it is open.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw const range) };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Processor time of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    /// In user mode.
    pub(crate) user: Nanos,
    /// In the kernel.
    pub(crate) system: Nanos,
    /// Times it was put off the processor against its will.
    pub(crate) involuntary: u64,
}

impl CpuTime {
    /// Of the calling thread so far; zero where the system does not tell.
    pub(crate) fn of_this_thread() -> Self {
        // SAFETY: `rusage` is plain numbers, for which zeros are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: writes one `rusage` to the address, which is a local of that type.
        let answer = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        if answer != 0 {
            return Self::default();
        }
        Self {
            user: from_timeval(usage.ru_utime),
            system: from_timeval(usage.ru_stime),
            involuntary: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
        }
    }

    /// What was used since an earlier look.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user: self.user.since(earlier.user),
            system: self.system.since(earlier.system),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }

    /// Adds another thread's.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            user: self.user.plus(other.user),
            system: self.system.plus(other.system),
            involuntary: self.involuntary.saturating_add(other.involuntary),
        }
    }

    /// As evidence. The busiest thread is left out: in these tests being busy in the kernel's file
    /// calls is the work, not a limit of the generator.
    pub(crate) fn evidence(self) -> CpuEvidence {
        CpuEvidence {
            user_ns: self.user.as_u64(),
            system_ns: self.system.as_u64(),
            busiest_share: None,
            involuntary_switches: Some(self.involuntary),
            polls: false,
        }
    }
}

fn from_timeval(time: libc::timeval) -> Nanos {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Nanos::from_secs(seconds).plus(Nanos::new(micros.saturating_mul(1000)))
}

/// A sentence that any thread may want to leave, kept once.
#[derive(Debug, Default)]
pub(crate) struct NoteOnce(Mutex<Option<String>>);

impl NoteOnce {
    /// Keeps the first one.
    pub(crate) fn set(&self, make: impl FnOnce() -> String) {
        let mut kept = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if kept.is_none() {
            *kept = Some(make());
        }
    }

    /// What was kept.
    pub(crate) fn take(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .take()
    }
}

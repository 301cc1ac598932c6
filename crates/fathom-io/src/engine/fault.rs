//! Turning SIGBUS on a mapping into an error.
//!
//! A page of a mapped file that the device cannot read, or the file system cannot allocate, or
//! that lies behind the end of a file that was cut, kills the process by default. While a range
//! is watched, the handler puts a page of zeros in its place and remembers that it did.

use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::probe::page_bytes;
use crate::spec::MAX_JOBS;

/// A range that may be watched; `bytes` 0 is a free place.
struct Watched {
    taken: AtomicBool,
    start: AtomicUsize,
    bytes: AtomicUsize,
    hit: AtomicBool,
}

const PLACES: usize = MAX_JOBS as usize;

static WATCHED: [Watched; PLACES] = [const {
    Watched {
        taken: AtomicBool::new(false),
        start: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        hit: AtomicBool::new(false),
    }
}; PLACES];

/// The handler that was there before, for faults that are not ours.
static FORMER: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());
static PAGE: AtomicUsize = AtomicUsize::new(4096);

/// Watches one range until dropped.
#[derive(Debug)]
pub(crate) struct Guard(usize);

impl Guard {
    pub(crate) fn watch(address: *mut u8, bytes: usize) -> io::Result<Self> {
        install();
        let place = WATCHED.iter().position(|w| {
            w.taken
                .compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
        });
        let index = place.ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))?;
        let watched = &WATCHED[index];
        watched.hit.store(false, Ordering::Relaxed);
        watched.start.store(address.addr(), Ordering::Relaxed);
        watched.bytes.store(bytes, Ordering::Release);
        Ok(Self(index))
    }

    /// Whether a page was missing since the last question.
    #[inline(always)]
    pub(crate) fn was_hit(&self) -> bool {
        let hit = &WATCHED[self.0].hit;
        hit.load(Ordering::Relaxed) && hit.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let watched = &WATCHED[self.0];
        watched.bytes.store(0, Ordering::Release);
        watched.taken.store(false, Ordering::Release);
    }
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        PAGE.store(page_bytes() as usize, Ordering::Relaxed);
        // SAFETY: sigaction is plain data, for which zeros are valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_fault as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK;
        // SAFETY: as above; it is filled by the next call, and kept for ever.
        let former = Box::leak(Box::new(unsafe { std::mem::zeroed::<libc::sigaction>() }));
        // SAFETY: both are complete structures; the handler does only what a handler may.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, former) };
        FORMER.store(former, Ordering::Release);
    });
}

/// Async-signal-safe: atomics and system calls only.
extern "C" fn on_fault(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes the structure that belongs to this signal.
    let address = unsafe { (*info).si_addr() }.addr();
    for watched in &WATCHED {
        let bytes = watched.bytes.load(Ordering::Acquire);
        let start = watched.start.load(Ordering::Relaxed);
        if address.wrapping_sub(start) < bytes {
            let page = PAGE.load(Ordering::Relaxed);
            if put_zeros(address / page * page, page) {
                watched.hit.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
    let former = FORMER.load(Ordering::Acquire);
    // Not ours: whoever was there before gets the fault when the instruction is tried again.
    // SAFETY: a complete structure that is never freed, or null, which changes nothing.
    unsafe { libc::sigaction(libc::SIGBUS, former, std::ptr::null_mut()) };
}

fn put_zeros(page: usize, bytes: usize) -> bool {
    let (prot, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
    );
    let address = std::ptr::without_provenance_mut(page);
    // SAFETY: replaces one page of a watched mapping, which its owner expects.
    let mapped = unsafe { libc::mmap(address, bytes, prot, flags, -1, 0) };
    mapped != libc::MAP_FAILED
}

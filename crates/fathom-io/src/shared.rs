//! What the jobs of a run and the thread that leads them have in common.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use fathom_base::Cancel;

use crate::source::Kind;
use crate::spec::JobSpec;

/// State common to all jobs.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) spec: JobSpec,
    pub(crate) cancel: Cancel,
    /// Set when a job has failed, so that the others end too.
    pub(crate) stop: AtomicBool,
    /// Where all jobs take their blocks from, with a shared cursor.
    pub(crate) cursor: Arc<AtomicU64>,
    /// Jobs that have not finished their transfers.
    pub(crate) unfinished: AtomicU32,
    pub(crate) gate: Gate,
    pub(crate) window: Window,
    pub(crate) cells: Vec<Cell>,
}

/// Borders of the measured window in nanoseconds of the stamp clock; `u64::MAX` is not yet.
#[derive(Debug)]
pub(crate) struct Window {
    start: AtomicU64,
    end: AtomicU64,
}

impl Window {
    pub(crate) const fn unknown() -> Self {
        Self {
            start: AtomicU64::new(u64::MAX),
            end: AtomicU64::new(u64::MAX),
        }
    }

    /// Opens the window; who sees its start sees its end.
    pub(crate) fn open(&self, start_ns: u64, end_ns: u64) {
        self.end.store(end_ns, Ordering::Relaxed);
        self.start.store(start_ns, Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn start(&self) -> u64 {
        self.start.load(Ordering::Acquire)
    }

    #[inline(always)]
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }
}

/// Holds the jobs back until all of them are ready.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Start on the stamp clock; `Some(None)` sends everyone home.
    state: Mutex<Option<Option<u64>>>,
    changed: Condvar,
}

impl Gate {
    /// Waits for the word; `None` means to go home.
    pub(crate) fn wait(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(word) = *state {
                return word;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives the word once; later words change nothing.
    pub(crate) fn release(&self, word: Option<u64>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.get_or_insert(word);
        self.changed.notify_all();
    }
}

/// What one job shows of itself while it runs. Only the job writes; padded so that jobs do not
/// write to each other's cache lines.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct Cell {
    pub(crate) ops: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) in_flight: AtomicU64,
    /// One for each operation that may be in flight, and one for a sync.
    pub(crate) watches: Box<[Watch]>,
}

/// An operation in flight, as the leading thread sees it.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Submission on the stamp clock; 0 when nothing is in flight.
    started: AtomicU64,
    what: AtomicU64,
}

impl Cell {
    pub(crate) fn new(depth: u32) -> Self {
        Self {
            ops: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            watches: (0..=depth).map(|_| Watch::default()).collect(),
        }
    }

    /// The oldest operation in flight: its start, kind and offset.
    pub(crate) fn oldest(&self) -> Option<(u64, Kind, u64)> {
        let starts = self.watches.iter().map(|watch| {
            let started = watch.started.load(Ordering::Relaxed);
            (started, watch.what.load(Ordering::Relaxed))
        });
        let (started, what) = starts.filter(|(started, _)| *started > 0).min()?;
        let kind = match what & 3 {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Trim,
            _ => Kind::Sync,
        };
        Some((started, kind, what >> 2))
    }
}

impl Watch {
    #[inline(always)]
    pub(crate) fn begin(&self, now_ns: u64, kind: Kind, offset: u64) {
        self.what
            .store(offset << 2 | kind as u64, Ordering::Relaxed);
        self.started.store(now_ns, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn end(&self) {
        self.started.store(0, Ordering::Relaxed);
    }
}

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fathom_base::Nanos;
use fathom_model::{Context, TestError};

use super::process::{CpuTime, NoteOnce, own_file_table};
use crate::error::WorkloadError;

/// Stack of a thread; hundreds of them stay small.
const STACK_BYTES: usize = 256 << 10;

/// What all threads of a crew see.
#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    halt: AtomicBool,
    note: NoteOnce,
}

#[derive(Debug, Default)]
struct State {
    /// Threads that are ready to start.
    ready: u32,
    /// Threads whose clock has stopped.
    stopped: u32,
    /// Threads that have ended, well or not.
    ended: u32,
    gate: Gate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Gate {
    #[default]
    Closed,
    Open,
    /// The start was called off.
    Gone,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is plain numbers: valid whoever panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// A thread's place in the crew.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    /// From 0.
    pub(crate) index: u32,
    /// Whether the thread has a table of open files of its own, as a process has.
    pub(crate) has_own_files: bool,
    shared: &'a Shared,
    began: Cell<CpuTime>,
    used: Cell<Option<CpuTime>>,
}

impl Seat<'_> {
    /// Says that this thread is ready, and waits until all start together.
    ///
    /// # Errors
    /// When another thread could not get ready.
    pub(crate) fn start(&self) -> Result<(), TestError> {
        self.shared.change(|state| state.ready += 1);
        let mut state = self.shared.lock();
        while state.gate == Gate::Closed {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        match state.gate {
            Gate::Open => {
                self.began.set(CpuTime::of_this_thread());
                Ok(())
            }
            // Another thread's error is the one that is reported.
            _ => Err(TestError::Cancelled),
        }
    }

    /// Whether another thread failed, so that all should stop.
    #[inline]
    pub(crate) fn is_halted(&self) -> bool {
        self.shared.halt.load(Ordering::Relaxed)
    }

    /// Forgets the processor time used so far, where measuring begins later than the work.
    pub(crate) fn restart_cpu_time(&self) {
        self.began.set(CpuTime::of_this_thread());
    }

    /// Ends this thread's part of the measured window, where work follows that is not measured.
    pub(crate) fn stop_clock(&self) {
        if self.used.get().is_none() {
            let used = CpuTime::of_this_thread().since(self.began.get());
            self.used.set(Some(used));
            self.shared.change(|state| state.stopped += 1);
        }
    }
}

impl Drop for Seat<'_> {
    /// Says that the thread has ended, also when it panics.
    fn drop(&mut self) {
        self.stop_clock();
        self.shared.change(|state| state.ended += 1);
    }
}

/// What the calling thread does while the crew works.
#[derive(Debug)]
pub(crate) struct Conductor<'a> {
    shared: &'a Shared,
    count: u32,
}

impl Conductor<'_> {
    /// Waits until every thread is ready, then lets all start. Gives whether they did: when one
    /// could not get ready, nobody starts and all end.
    pub(crate) fn release(&self) -> bool {
        let mut state = self.shared.lock();
        while state.ready < self.count && state.ended == 0 {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let starts = state.ended == 0 && state.gate == Gate::Closed;
        state.gate = match starts {
            true => Gate::Open,
            false => Gate::Gone,
        };
        drop(state);
        self.shared.changed.notify_all();
        starts
    }

    /// Waits until every thread has stopped its clock (or ended) or `time` is over; gives whether
    /// all have.
    pub(crate) fn wait(&self, time: Nanos) -> bool {
        let until = Instant::now() + time.as_duration();
        let mut state = self.shared.lock();
        while state.stopped < self.count {
            let left = until.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return false;
            }
            (state, _) = self
                .shared
                .changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

/// Calls off the start and stops the crew when the conductor leaves early.
struct CallOff<'a>(&'a Shared);

impl Drop for CallOff<'_> {
    fn drop(&mut self) {
        self.0.change(|state| {
            if state.gate == Gate::Closed {
                state.gate = Gate::Gone;
            }
        });
    }
}

/// What a crew did.
#[derive(Debug)]
pub(crate) struct CrewDone<T, C> {
    /// Each thread's result, in order.
    pub(crate) results: Vec<T>,
    /// The conductor's.
    pub(crate) conducted: C,
    /// Processor time of all threads from their start to the stop of their clocks.
    pub(crate) cpu: CpuTime,
    /// How the threads differ from processes, when they do more than they should.
    pub(crate) note: Option<String>,
}

/// Runs `count` threads that stand in for processes, and `conduct` on the calling thread beside
/// them.
///
/// Each thread gets ready, calls [`Seat::start`] and works; `conduct` calls
/// [`Conductor::release`] when its clock may start. Memory: 256 KiB of stack a thread at most.
///
/// # Errors
/// The first thread's that failed (the others are then halted); [`TestError::Cancelled`] when all
/// that failed were cancelled; when a thread cannot be started.
pub(crate) fn run_crew<T, C>(
    cx: &Context<'_>,
    count: u32,
    work: impl Fn(&Seat<'_>) -> Result<T, TestError> + Sync,
    conduct: impl FnOnce(&Conductor<'_>) -> C,
) -> Result<CrewDone<T, C>, TestError>
where
    T: Send,
{
    run(cx, count, FileTables::Own, work, conduct)
}

/// As [`run_crew`], with threads that stand for the threads of one process: they share one table
/// of open files.
///
/// # Errors
/// As [`run_crew`].
pub(crate) fn run_threads<T, C>(
    cx: &Context<'_>,
    count: u32,
    work: impl Fn(&Seat<'_>) -> Result<T, TestError> + Sync,
    conduct: impl FnOnce(&Conductor<'_>) -> C,
) -> Result<CrewDone<T, C>, TestError>
where
    T: Send,
{
    run(cx, count, FileTables::Shared, work, conduct)
}

/// Whose table of open files a thread uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileTables {
    Own,
    Shared,
}

fn run<T, C>(
    cx: &Context<'_>,
    count: u32,
    tables: FileTables,
    work: impl Fn(&Seat<'_>) -> Result<T, TestError> + Sync,
    conduct: impl FnOnce(&Conductor<'_>) -> C,
) -> Result<CrewDone<T, C>, TestError>
where
    T: Send,
{
    let shared = Shared::default();
    let (shared, work) = (&shared, &work);
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let call_off = CallOff(shared);
        for index in 0..count {
            let thread = std::thread::Builder::new()
                .name(format!("client {index}"))
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || seated(shared, index, tables, work))
                .map_err(|source| TestError::Io {
                    doing: format!("start thread {} of {count} in", index + 1),
                    path: cx.scratch.to_path_buf(),
                    source,
                })?;
            threads.push(thread);
        }
        let conducted = conduct(&Conductor { shared, count });
        drop(call_off);
        let mut done = CrewDone {
            results: Vec::with_capacity(threads.len()),
            conducted,
            cpu: CpuTime::default(),
            note: None,
        };
        let mut failure: Option<TestError> = None;
        for thread in threads {
            let outcome = thread
                .join()
                .unwrap_or_else(|_| Err(WorkloadError::Panicked.into()));
            match outcome {
                Ok((result, cpu)) => {
                    done.results.push(result);
                    done.cpu = done.cpu.plus(cpu);
                }
                Err(error) if failure.as_ref().is_none_or(TestError::is_cancelled) => {
                    failure = Some(error);
                }
                Err(_) => {}
            }
        }
        done.note = shared.note.take();
        match failure {
            Some(error) => Err(error),
            None => Ok(done),
        }
    })
}

/// One thread: its own files, its work, its end.
fn seated<T>(
    shared: &Shared,
    index: u32,
    tables: FileTables,
    work: &(impl Fn(&Seat<'_>) -> Result<T, TestError> + Sync),
) -> Result<(T, CpuTime), TestError> {
    let own_files = match tables {
        FileTables::Own => own_file_table().map(|()| true),
        FileTables::Shared => Ok(false),
    };
    if let Err(error) = &own_files {
        shared.note.set(|| {
            format!("the threads share one table of open files, unlike processes ({error})")
        });
    }
    let seat = Seat {
        index,
        has_own_files: own_files.unwrap_or(false),
        shared,
        began: Cell::default(),
        used: Cell::default(),
    };
    let result = work(&seat);
    seat.stop_clock();
    match result {
        Ok(result) => Ok((result, seat.used.get().unwrap_or_default())),
        Err(error) => {
            shared.halt.store(true, Ordering::SeqCst);
            Err(error)
        }
    }
}

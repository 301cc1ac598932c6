//! Leading a run: threads, the window, the watch over stuck operations, merging.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_base::{Cancel, Nanos};

use crate::clock::{StampClock, monotonic_ns};
use crate::error::IoError;
use crate::merge::{Measured, merge};
use crate::probe::choose_engine;
use crate::report::{JobReport, Note, NoteKind, Snapshot};
use crate::shared::{Cell, Gate, Shared, Window};
use crate::spec::{EngineKind, JobSpec, check};
use crate::verify::{Ledger, read_back};
use crate::worker::{Outcome, ThreadCpu, effective_depth, process_cpu, run_job};

/// Time between two looks at running jobs.
const LOOK_NS: u64 = 200_000_000;
/// After a cancel, how long operations in flight have to come back before they are abandoned; less
/// when they count as stuck before.
const CANCEL_GRACE_NS: u64 = 5_000_000_000;

/// What a caller does at the borders of the measured window and while it lasts; called in the
/// thread that called [`run`].
pub trait Hooks {
    /// The window is about to open: after the ramp, right before the first counted moment. The
    /// place to read device counters; the load goes on meanwhile.
    fn window_begin(&self) {}

    /// The window has closed: at the deadline, or after the final flush where that ends it.
    fn window_end(&self) {}

    /// A few times a second.
    fn progress(&self, snapshot: &Snapshot) {
        let _ = snapshot;
    }
}

/// Hooks that do nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}

/// Runs a job and reports what it measured.
///
/// The target is opened (and made or extended where the mode only writes) but never removed.
/// Costs a thread a job, its buffers (block size x depth) and about 300 KiB.
///
/// # Errors
/// Whatever kept the job from running to its end, see [`IoError`]; nothing measured is returned
/// then.
pub fn run(spec: &JobSpec, hooks: &dyn Hooks, cancel: &Cancel) -> Result<JobReport, IoError> {
    check(spec)?;
    let mut notes = Vec::new();
    let engine = choose_engine(spec, &mut notes)?;
    let mut used = spec.clone();
    used.engine = engine;
    let held = match engine {
        EngineKind::Null => None,
        _ => Some(crate::target::prepare(&used)?),
    };
    let depth = effective_depth(&used, engine);
    note_depth(&used, depth, &mut notes);
    let shared = Arc::new(Shared {
        cancel: cancel.clone(),
        stop: AtomicBool::new(false),
        cursor: Arc::new(AtomicU64::new(0)),
        unfinished: AtomicU32::new(used.jobs),
        gate: Gate::default(),
        window: Window::unknown(),
        cells: (0..used.jobs).map(|_| Cell::new(depth)).collect(),
        spec: used,
    });
    let crew = Crew::hire(&shared, engine)?;
    let mut leader = Leader {
        shared: &shared,
        hooks,
        clock: StampClock::new(spec.clock),
        begun: false,
        ended: false,
        start_ns: 0,
        window: None,
        cpu_at_begin: ThreadCpu::default(),
        measured: Measured::default(),
    };
    let result = leader.lead(crew);
    if leader.begun {
        leader.end();
    }
    let mut outcomes = result?;
    drop(held);
    let mut measured = leader.measured;
    let ledgers: Vec<Ledger> = outcomes
        .iter_mut()
        .filter_map(|o| o.ledger.take())
        .collect();
    if !ledgers.is_empty() {
        measured.verify = Some(read_back(&shared.spec, ledgers, cancel)?);
    }
    measured.notes = notes;
    measured.asked = spec.engine;
    measured.clock_name = leader.clock.name();
    measured.clock_read_ns = leader.clock.cost_ns();
    merge(&shared.spec, outcomes, measured)
}

/// Says why no more than one operation will be in flight.
fn note_depth(spec: &JobSpec, depth: u32, notes: &mut Vec<Note>) {
    let engine = spec.engine;
    let text = if depth < spec.depth {
        format!(
            "{engine} does one operation at a time: depth 1, not {}",
            spec.depth
        )
    } else if engine == EngineKind::Libaio && !spec.direct && depth > 1 {
        "libaio without O_DIRECT: the kernel completes each operation inside io_submit".to_owned()
    } else {
        return;
    };
    notes.push(Note {
        kind: NoteKind::Depth,
        text,
    });
}

/// What a job's thread says.
enum Word {
    Ready,
    Ended(u32, Box<Result<Option<Outcome>, IoError>>),
}

/// The threads of a run.
struct Crew {
    words: Receiver<Word>,
    threads: Vec<Option<JoinHandle<()>>>,
}

impl Crew {
    /// Starts a thread a job and waits until all are ready.
    fn hire(shared: &Arc<Shared>, engine: EngineKind) -> Result<Self, IoError> {
        let jobs = shared.spec.jobs;
        let (sender, words) = sync_channel(2 * jobs as usize);
        let mut crew = Self {
            words,
            threads: Vec::new(),
        };
        for index in 0..jobs {
            match spawn(shared, index, engine, sender.clone()) {
                Ok(thread) => crew.threads.push(Some(thread)),
                Err(source) => {
                    crew.dismiss(shared);
                    return Err(IoError::resource("start a thread", source));
                }
            }
        }
        drop(sender);
        for _ in 0..jobs {
            match crew.words.recv() {
                Ok(Word::Ready) => {}
                Ok(Word::Ended(_, result)) => {
                    crew.dismiss(shared);
                    return Err((*result).err().unwrap_or(IoError::Panicked));
                }
                Err(_) => return Err(IoError::Panicked),
            }
        }
        Ok(crew)
    }

    /// Sends home all that wait at the gate.
    fn dismiss(&mut self, shared: &Shared) {
        shared.gate.release(None);
        for thread in self.threads.iter_mut().filter_map(Option::take) {
            // A panic in a thread was reported as its result.
            let _ = thread.join();
        }
    }
}

fn spawn(
    shared: &Arc<Shared>,
    index: u32,
    engine: EngineKind,
    words: SyncSender<Word>,
) -> std::io::Result<JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let body = move || {
        let ready_words = words.clone();
        let ready = move || {
            // The leader can only be gone after an error that it has reported.
            let _ = ready_words.send(Word::Ready);
        };
        let work = std::panic::AssertUnwindSafe(|| run_job(&shared, index, engine, ready));
        let result = std::panic::catch_unwind(work).unwrap_or(Err(IoError::Panicked));
        if result.is_err() {
            shared.stop.store(true, Ordering::Relaxed);
        }
        let _ = words.send(Word::Ended(index, Box::new(result)));
    };
    std::thread::Builder::new()
        .name(format!("io-{index}"))
        .spawn(body)
}

/// The thread that called [`run`], while jobs work.
struct Leader<'a> {
    shared: &'a Arc<Shared>,
    hooks: &'a dyn Hooks,
    clock: StampClock,
    begun: bool,
    ended: bool,
    start_ns: u64,
    /// Borders on the stamp clock; the end is `u64::MAX` while it is open.
    window: Option<(u64, u64)>,
    cpu_at_begin: ThreadCpu,
    measured: Measured,
}

impl Leader<'_> {
    /// Lets the jobs go, keeps the window and returns what they measured.
    fn lead(&mut self, mut crew: Crew) -> Result<Vec<Outcome>, IoError> {
        let ramp_ns = self.shared.spec.ramp.as_u64();
        if self.clock.is_virtual() {
            self.begin();
            self.open_window(ramp_ns);
            self.start_ns = 0;
        } else if ramp_ns == 0 {
            self.begin();
            self.start_ns = self.clock.now();
            self.open_window(self.start_ns);
        } else {
            self.start_ns = self.clock.now();
        }
        let started_at = monotonic_ns();
        self.shared.gate.release(Some(self.start_ns));
        let mut results: Vec<Option<Result<Option<Outcome>, IoError>>> = Vec::new();
        results.resize_with(crew.threads.len(), || None);
        let mut cancelled_at = None;
        while results.iter().any(Option::is_none) {
            match crew.words.recv_timeout(self.until_next_look()) {
                Ok(Word::Ended(index, result)) => {
                    results[index as usize] = Some(*result);
                    if let Some(thread) = crew.threads[index as usize].take() {
                        // A panic in it was reported as its result.
                        let _ = thread.join();
                    }
                }
                Ok(Word::Ready) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(IoError::Panicked),
            }
            self.keep_window();
            let missing = results.iter().filter(|r| r.is_none()).count() as u32;
            if missing > 0 {
                self.look(&mut cancelled_at, missing)?;
            }
        }
        if !self.clock.is_virtual() {
            let stamped = self.clock.now().saturating_sub(self.start_ns);
            let real = monotonic_ns().saturating_sub(started_at);
            self.measured.drift_ppm =
                crate::clock::drift_ppm(Nanos::new(stamped), Nanos::new(real));
        }
        self.collect(results)
    }

    fn collect(
        &mut self,
        results: Vec<Option<Result<Option<Outcome>, IoError>>>,
    ) -> Result<Vec<Outcome>, IoError> {
        let mut outcomes = Vec::new();
        for result in results.into_iter().flatten() {
            outcomes.extend(result?);
        }
        if self.shared.cancel.is_cancelled() {
            return Err(self.cancelled(0));
        }
        let Some((start_ns, end_ns)) = self.window else {
            return Err(IoError::Spec {
                field: "ramp",
                value: self.shared.spec.ramp.to_string(),
                expected: "a ramp that ends before the job does".to_owned(),
            });
        };
        self.measured.window_start_ns = start_ns;
        self.measured.window_end_ns = end_ns;
        Ok(outcomes)
    }

    fn cancelled(&self, abandoned: u32) -> IoError {
        IoError::Cancelled {
            path: self.shared.spec.target.path.clone(),
            abandoned,
        }
    }

    fn begin(&mut self) {
        self.hooks.window_begin();
        self.begun = true;
        self.cpu_at_begin = process_cpu();
    }

    fn end(&mut self) {
        if !self.ended {
            self.ended = true;
            if !self.clock.is_virtual() {
                self.measured.process_cpu = process_cpu().since(self.cpu_at_begin);
            }
            self.hooks.window_end();
        }
    }

    fn open_window(&mut self, start_ns: u64) {
        let spec = &self.shared.spec;
        let end_ns = match spec.stop.runtime {
            // With a flush at the end, the window lasts until that is over.
            Some(runtime) if spec.sync.final_flush.is_none() => {
                start_ns.saturating_add(runtime.as_u64())
            }
            _ => u64::MAX,
        };
        self.shared.window.open(start_ns, end_ns);
        self.window = Some((start_ns, end_ns));
    }

    /// The next moment the leader is needed, at most [`LOOK_NS`] from now.
    fn until_next_look(&mut self) -> Duration {
        if self.clock.is_virtual() {
            return Duration::from_nanos(LOOK_NS);
        }
        let now_ns = self.clock.now();
        let event_ns = match self.window {
            None => self.start_ns.saturating_add(self.shared.spec.ramp.as_u64()),
            Some((_, end_ns)) if !self.ended => end_ns,
            Some(_) => u64::MAX,
        };
        Duration::from_nanos(event_ns.saturating_sub(now_ns).min(LOOK_NS))
    }

    /// Opens and closes the window when its time has come.
    fn keep_window(&mut self) {
        if self.clock.is_virtual() {
            return;
        }
        let now_ns = self.clock.now();
        match self.window {
            None => {
                let opens_ns = self.start_ns.saturating_add(self.shared.spec.ramp.as_u64());
                if now_ns >= opens_ns {
                    self.begin();
                    let start_ns = self.clock.now();
                    self.open_window(start_ns);
                }
            }
            Some((_, end_ns)) => {
                if now_ns >= end_ns {
                    self.end();
                }
            }
        }
    }

    /// Progress, and whether something is stuck.
    fn look(&mut self, cancelled_at: &mut Option<u64>, missing: u32) -> Result<(), IoError> {
        if self.clock.is_virtual() {
            return Ok(());
        }
        let now_ns = self.clock.now();
        let mut snapshot = Snapshot {
            in_window: self.window.is_some() && !self.ended,
            elapsed: Nanos::new(now_ns.saturating_sub(self.window.map_or(self.start_ns, |w| w.0))),
            ..Snapshot::default()
        };
        let mut oldest = None;
        for cell in &self.shared.cells {
            snapshot.ops += cell.ops.load(Ordering::Relaxed);
            snapshot.bytes += cell.bytes.load(Ordering::Relaxed);
            snapshot.in_flight += cell.in_flight.load(Ordering::Relaxed);
            oldest = match (oldest, cell.oldest()) {
                (Some(a), Some(b)) => Some(std::cmp::min_by_key(a, b, |o: &(u64, _, _)| o.0)),
                (a, b) => a.or(b),
            };
        }
        let age_ns = oldest.map_or(0, |(started, _, _)| now_ns.saturating_sub(started));
        snapshot.oldest = Nanos::new(age_ns);
        self.hooks.progress(&snapshot);
        if self.shared.cancel.is_cancelled() {
            let since = *cancelled_at.get_or_insert(now_ns);
            let grace = CANCEL_GRACE_NS.min(self.shared.spec.stuck_after.as_u64());
            if now_ns.saturating_sub(since) > grace {
                return Err(self.cancelled(missing));
            }
        }
        match oldest {
            Some((_, kind, offset)) if age_ns > self.shared.spec.stuck_after.as_u64() => {
                self.shared.stop.store(true, Ordering::Relaxed);
                Err(IoError::Stuck {
                    path: self.shared.spec.target.path.clone(),
                    what: kind.name(),
                    offset,
                    age: Nanos::new(age_ns),
                })
            }
            _ => Ok(()),
        }
    }
}

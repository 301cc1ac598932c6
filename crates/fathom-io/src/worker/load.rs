//! The load of one job: its operations, where they are and what became of them.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fathom_base::Bytes;

use super::{Outcome, Tally, clock_of, stamps_each};
use crate::buffer::{Buffers, Plan};
use crate::clock::{StampClock, monotonic_ns};
use crate::contents::{Filler, SECTOR_BYTES};
use crate::engine::{Engine, Op, Queued, Wait};
use crate::error::IoError;
use crate::pace::{Due, Pacer};
use crate::report::OpenLoopReport;
use crate::shared::{Cell, Shared};
use crate::source::{Kind, Source, Step};
use crate::spec::{Contents, OnError, SyncKind, Verify};
use crate::verify::Ledger;

/// Before a moment waited for, the clock is watched instead of sleeping.
const WATCH_NS: u64 = 50_000;
/// Longest sleep without looking at the stop flags.
const NAP_NS: u64 = 50_000_000;
/// A start this much after its due time counts as late.
const LATE_START_NS: u64 = 50_000;
/// An operation refused with EAGAIN so often has failed.
const MAX_RETRIES: u32 = 10_000;

/// An operation in its slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    step: Step,
    /// Bytes already moved by earlier parts.
    moved: u32,
    retries: u32,
    may_block: bool,
    /// Number of its buffer.
    buffer: u32,
    /// From where latency counts.
    start_ns: u64,
    /// When it was submitted.
    submitted_ns: u64,
}

const IDLE: Slot = Slot {
    step: Step {
        kind: Kind::Read,
        offset: 0,
        length: 0,
    },
    moved: 0,
    retries: 0,
    may_block: false,
    buffer: 0,
    start_ns: 0,
    submitted_ns: 0,
};

/// A stack of slots: the one used last is used next, while its buffer is in the cache.
struct FreeSlots {
    slots: Box<[u32]>,
    count: usize,
}

impl FreeSlots {
    fn all(depth: u32) -> Self {
        Self {
            slots: (0..depth).rev().collect(),
            count: depth as usize,
        }
    }

    #[inline(always)]
    const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<u32> {
        let top = self.count.checked_sub(1)?;
        self.count = top;
        self.slots.get(top).copied()
    }

    #[inline(always)]
    fn push(&mut self, slot: u32) {
        // A slot comes back once, so there is room.
        self.slots[self.count] = slot;
        self.count += 1;
    }
}

/// How many operations are handed to the kernel at once.
///
/// A target that keeps the job waiting gets each operation as soon as it can: handed over in
/// batches, operations come back in batches, and the target idles in between (measured on a virtio
/// disk at depth 32: a tenth of the rate). A target that answers at once, such as the page cache,
/// is limited by the job's own time, and a batch saves that.
pub(super) struct Batch {
    pub(super) size: u32,
    most: u32,
    adapts: bool,
    /// Times in a row that nothing had to be waited for.
    busy: u32,
}

impl Batch {
    /// Times in a row without waiting after which batches grow.
    pub(super) const BUSY: u32 = 16;

    /// `asked` is a size, or 0 for one that adapts.
    pub(super) fn new(asked: u32, depth: u32) -> Self {
        Self {
            size: if asked == 0 { depth } else { asked.min(depth) },
            most: depth,
            adapts: asked == 0,
            busy: 0,
        }
    }

    /// Takes in that something came back without waiting.
    #[inline(always)]
    pub(super) fn was_busy(&mut self) {
        self.busy += 1;
        if self.busy >= Self::BUSY {
            self.busy = 0;
            self.size = self.size.saturating_mul(2).min(self.most);
        }
    }

    /// Takes in that the job had to wait.
    #[inline(always)]
    pub(super) const fn had_to_wait(&mut self) {
        self.size = 1;
        self.busy = 0;
    }
}

/// State of a job's loop.
pub(crate) struct Load<'a> {
    shared: &'a Shared,
    cell: &'a Cell,
    clock: StampClock,
    source: Source,
    pacer: Pacer,
    filler: Filler,
    buffers: Option<Buffers>,
    plan: Plan,
    /// Pool buffers that are not in flight, the longest unused first.
    pool: VecDeque<u32>,
    file: Option<File>,
    tally: Tally,
    slots: Vec<Slot>,
    free: FreeSlots,
    /// Slots whose operation must be queued again.
    again: Vec<u32>,
    /// The last stamp taken.
    now_ns: u64,
    in_flight: u32,
    writes_in_flight: u32,
    /// No operation starts at or after this moment.
    stop_ns: u64,
    closing: bool,
    writes_since_sync: u32,
    sync_due: bool,
    writes: u64,
    per_io: bool,
    fills: bool,
    verifies: bool,
    is_open: bool,
    /// What each block holds, where that is verified.
    ledger: Option<Ledger>,
    /// An operation that waits for another one on its blocks.
    held: Option<Step>,
    failure: Option<IoError>,
    resolution_ns: u64,
    open_loop: OpenLoopReport,
    final_flush_ns: Option<u64>,
}

impl<'a> Load<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        index: u32,
        depth: u32,
        file: Option<File>,
        buffers: Buffers,
    ) -> Self {
        let spec = &shared.spec;
        let plan = Plan::new(spec, depth);
        let pacer = Pacer::new(spec, index);
        let is_open = pacer.is_open();
        let source = Source::new(spec, index, &shared.cursor);
        let contents_seed = match spec.verify {
            Verify::Ledger { contents_seed, .. } => contents_seed,
            Verify::Off | Verify::Pattern => spec.seed,
        };
        Self {
            // A job that is repeated with its seed must not repeat its generations.
            ledger: Ledger::new(spec, source.part(), depth, spec.seed ^ monotonic_ns()),
            held: None,
            shared,
            cell: &shared.cells[index as usize],
            clock: clock_of(spec),
            source,
            pacer,
            filler: Filler::new(spec.contents, contents_seed),
            buffers: Some(buffers),
            plan,
            pool: pool_order(plan, index, spec.jobs),
            file,
            tally: Tally::new(spec.interval.as_u64(), is_open),
            slots: vec![IDLE; depth as usize],
            free: FreeSlots::all(depth),
            again: Vec::with_capacity(depth as usize),
            now_ns: 0,
            in_flight: 0,
            writes_in_flight: 0,
            stop_ns: u64::MAX,
            closing: false,
            writes_since_sync: 0,
            sync_due: false,
            // Jobs that write the same block at the same count must not write the same data.
            writes: u64::from(index) << 14,
            per_io: stamps_each(spec, spec.engine.is_synchronous()),
            fills: spec.mode.writes() && spec.contents != Contents::Zeros,
            verifies: spec.verify != Verify::Off,
            is_open,
            failure: None,
            resolution_ns: 0,
            open_loop: OpenLoopReport::default(),
            final_flush_ns: None,
        }
    }

    pub(crate) const fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Leaves the buffers to the kernel.
    pub(crate) fn leak_buffers(&mut self) {
        std::mem::forget(self.buffers.take());
    }

    /// Fills every buffer, which also keeps page faults out of the window.
    pub(crate) fn fill_buffers(&mut self) {
        let Plan { slots, .. } = self.plan;
        let Some(buffers) = &mut self.buffers else {
            return;
        };
        for index in 0..buffers.count() {
            let length = buffers.stride();
            // SAFETY: no operation has been queued yet.
            let data = unsafe { buffers.slice_mut(index, length) };
            match index.checked_sub(slots) {
                Some(place) => {
                    let first = filling_of(place, length);
                    self.filler.put_fillings(data, first);
                }
                None => data.fill(0),
            }
        }
    }

    pub(crate) fn start(&mut self, start_ns: u64) {
        self.now_ns = start_ns;
        self.pacer.start(start_ns);
        self.learn_window();
    }

    /// Does the job until nothing is in flight and nothing more is to be done.
    ///
    /// # Errors
    /// The first failure, after what was in flight came back (unless the engine itself failed:
    /// then [`Load::in_flight`] is not 0).
    pub(crate) fn run<E: Engine>(&mut self, engine: &mut E) -> Result<(), IoError> {
        let options = &self.shared.spec.engine_options;
        let depth = self.slots.len() as u32;
        let mut batch = Batch::new(options.submit_batch, depth);
        let reap_batch = options.reap_batch;
        loop {
            self.learn_window();
            if self.sync_due && self.writes_in_flight == 0 {
                self.sync_now();
            }
            let wake_ns = self.fill(engine, batch.size);
            if self.in_flight == 0 {
                if self.closing && self.again.is_empty() {
                    break;
                }
                if let Some(wake_ns) = wake_ns {
                    self.sleep_until(wake_ns);
                    continue;
                }
            }
            let wait = self.wait_for(wake_ns, reap_batch);
            match wait {
                Wait::For(want) if batch.adapts => {
                    let came = self.step(engine, Wait::For(0))?;
                    if came < want {
                        batch.had_to_wait();
                        self.step(engine, Wait::For(want - came))?;
                    } else if came > 0 {
                        batch.was_busy();
                    }
                }
                wait => {
                    self.step(engine, wait)?;
                }
            }
            self.publish();
        }
        self.publish();
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Submits what is queued, waits, and takes in what came back: the number of operations.
    #[inline(always)]
    fn step<E: Engine>(&mut self, engine: &mut E, wait: Wait) -> Result<u32, IoError> {
        if !self.per_io {
            self.note_resolution();
        }
        if let Err(failed) = engine.step(wait) {
            return Err(self.call_error(failed.call, failed.source));
        }
        if !self.per_io {
            self.now_ns = self.clock.now();
        }
        let mut came = 0;
        engine.reap(&mut |slot, result| {
            came += 1;
            self.complete(slot, result);
        });
        Ok(came)
    }

    /// Looks at what others decide: the window, a stop, a cancel.
    #[inline(always)]
    fn learn_window(&mut self) {
        let window = &self.shared.window;
        let start = window.start();
        if start != u64::MAX {
            self.tally.set_window(start, window.end());
            if self.stop_ns == u64::MAX
                && let Some(runtime) = self.shared.spec.stop.runtime
            {
                self.stop_ns = start.saturating_add(runtime.as_u64());
            }
        }
        if self.shared.stop.load(Ordering::Relaxed) || self.shared.cancel.is_cancelled() {
            self.closing = true;
        }
    }

    /// Queues up to `batch` operations; when the schedule holds the next one back, returns the
    /// moment it is due.
    #[inline(always)]
    fn fill<E: Engine>(&mut self, engine: &mut E, batch: u32) -> Option<u64> {
        if !self.again.is_empty() {
            self.queue_again(engine);
        }
        let mut room = batch;
        while room > 0 && !self.closing && !self.sync_due && !self.free.is_empty() {
            let mut due = self.pacer.due(self.now_ns);
            if matches!(due, Due::At(_)) {
                // What was due at the last stamp needs no new one.
                self.now_ns = self.clock.now();
                due = self.pacer.due(self.now_ns);
            }
            if self.now_ns >= self.stop_ns {
                self.closing = true;
                break;
            }
            let due_ns = match due {
                Due::Since(due_ns) => due_ns,
                // The job lasts until the deadline, though nothing more is due before it.
                Due::At(due_ns) => return Some(due_ns.min(self.stop_ns)),
            };
            let Some(step) = self.next_step() else { break };
            let Some(slot) = self.free.pop() else { break };
            self.pacer.advance(step.length);
            self.launch(engine, slot, step, due_ns);
            room -= 1;
        }
        None
    }

    /// The next operation; `None` when there is none, or it has to wait for one in flight.
    #[inline(always)]
    fn next_step(&mut self) -> Option<Step> {
        if self.verifies {
            return self.next_verified();
        }
        let step = self.source.next();
        self.closing |= step.is_none();
        step
    }

    #[cold]
    fn next_verified(&mut self) -> Option<Step> {
        let next = self.held.take().or_else(|| self.source.next());
        let Some(step) = next else {
            self.closing = true;
            return None;
        };
        if let Some(ledger) = &mut self.ledger
            && !ledger.admits(step)
        {
            self.held = Some(step);
            return None;
        }
        Some(step)
    }

    #[inline(always)]
    fn launch<E: Engine>(&mut self, engine: &mut E, slot: u32, step: Step, due_ns: u64) {
        let mut buffer = slot;
        if step.kind == Kind::Write {
            buffer = self.prepare_write(slot, step);
        }
        if self.per_io {
            self.now_ns = self.clock.now();
        }
        let submitted_ns = self.now_ns;
        let mut start_ns = submitted_ns;
        if self.is_open {
            start_ns = due_ns;
            self.note_start(due_ns, submitted_ns);
        }
        self.slots[slot as usize] = Slot {
            step,
            moved: 0,
            retries: 0,
            may_block: false,
            buffer,
            start_ns,
            submitted_ns,
        };
        self.in_flight += 1;
        self.tally.enter(submitted_ns);
        self.cell.watches[slot as usize].begin(submitted_ns, step.kind, step.offset);
        self.queue(engine, slot);
    }

    /// Makes the data of a write; the number of the buffer they are in.
    #[inline(always)]
    fn prepare_write(&mut self, slot: u32, step: Step) -> u32 {
        self.writes_in_flight += 1;
        self.writes += 1;
        if let Some((every, _)) = self.shared.spec.sync.every {
            self.writes_since_sync += 1;
            self.sync_due = self.writes_since_sync >= every;
        }
        // The pool is larger than the depth, so it has one when it has any.
        let pooled = self.pool.pop_front();
        let index = pooled.unwrap_or(slot);
        let (Some(buffers), true) = (&mut self.buffers, self.fills) else {
            return index;
        };
        let generation = match &mut self.ledger {
            Some(ledger) => ledger.begin_write(slot),
            None => self.writes,
        };
        let stride = buffers.stride();
        // SAFETY: neither a free slot's buffer nor one from the pool is in flight.
        let data = unsafe { buffers.slice_mut(index, step.length as usize) };
        match pooled {
            Some(index) => {
                let first = filling_of(index - self.plan.slots, stride);
                self.filler.stamp(data, first, step.offset, generation);
                if let Some(&next) = self.pool.front() {
                    buffers.expect_stamp(next);
                }
            }
            None => self.filler.fill(data, step.offset, generation),
        }
        index
    }

    fn note_start(&mut self, due_ns: u64, submitted_ns: u64) {
        let delay = submitted_ns.saturating_sub(due_ns);
        let window = &self.shared.window;
        if (window.start()..self.stop_ns).contains(&due_ns) {
            self.open_loop.due += 1;
            self.open_loop.late_starts += u64::from(delay > LATE_START_NS);
            self.open_loop.latest_start_ns = self.open_loop.latest_start_ns.max(delay);
        }
    }

    #[inline(always)]
    fn queue<E: Engine>(&mut self, engine: &mut E, slot: u32) {
        let state = &self.slots[slot as usize];
        let address = match &self.buffers {
            Some(buffers) => buffers.address(state.buffer),
            None => std::ptr::null_mut(),
        };
        let op = Op {
            kind: state.step.kind,
            slot,
            offset: state.step.offset + u64::from(state.moved),
            length: state.step.length - state.moved,
            buffer: state.buffer,
            address: address.wrapping_add(state.moved as usize),
            may_block: state.may_block,
        };
        match engine.queue(&op) {
            Queued::InFlight => {}
            Queued::Done(result) => self.complete(slot, result),
            Queued::Full => self.again.push(slot),
        }
    }

    #[cold]
    fn queue_again<E: Engine>(&mut self, engine: &mut E) {
        for _ in 0..self.again.len() {
            if let Some(slot) = self.again.pop() {
                self.queue(engine, slot);
            }
        }
    }

    /// An operation came back with `result` bytes or minus an error number.
    #[inline(always)]
    fn complete(&mut self, slot: u32, result: i64) {
        if self.per_io {
            self.now_ns = self.clock.now();
        }
        let state = &self.slots[slot as usize];
        if result != i64::from(state.step.length - state.moved) {
            self.complete_oddly(slot, result);
            return;
        }
        let end_ns = self.now_ns;
        let step = state.step;
        let times = (state.start_ns, state.submitted_ns, end_ns);
        self.leave(slot, step.kind, end_ns);
        self.tally.record(step.kind, u64::from(step.length), times);
        if self.verifies {
            self.verify(slot, step);
        }
    }

    /// Frees the slot of an operation that is over.
    #[inline(always)]
    fn leave(&mut self, slot: u32, kind: Kind, end_ns: u64) {
        self.tally.leave(end_ns);
        self.cell.watches[slot as usize].end();
        self.in_flight -= 1;
        if kind == Kind::Write {
            self.writes_in_flight -= 1;
            if self.plan.pool > 0 {
                self.pool.push_back(self.slots[slot as usize].buffer);
            }
        }
        self.free.push(slot);
    }

    /// Short, interrupted, refused or failed.
    #[cold]
    fn complete_oddly(&mut self, slot: u32, result: i64) {
        let state = &mut self.slots[slot as usize];
        let Step { kind, .. } = state.step;
        let rest = i64::from(state.step.length - state.moved);
        let errno = i32::try_from(-result).unwrap_or(libc::EIO);
        if (1..rest).contains(&result) {
            state.moved += result as u32;
            self.tally.in_window(kind, |t| t.short += 1);
            self.again.push(slot);
            return;
        }
        let nowait = self.shared.spec.engine_options.nowait && !state.may_block;
        if errno == libc::EAGAIN && nowait {
            state.may_block = true;
            self.tally.in_window(kind, |t| t.would_block += 1);
            self.again.push(slot);
            return;
        }
        if matches!(errno, libc::EAGAIN | libc::EINTR) && state.retries < MAX_RETRIES {
            state.retries += 1;
            self.tally.in_window(kind, |t| t.retried += 1);
            self.again.push(slot);
            return;
        }
        let step = state.step;
        let moved = state.moved;
        self.leave(slot, kind, self.now_ns);
        if let Some(ledger) = &mut self.ledger {
            ledger.fail(step);
        }
        let errno = if result < 0 { errno } else { 0 };
        self.fail(step, moved, errno);
    }

    /// Counts a failure or ends the job with it. Error number 0 is the end of the file.
    fn fail(&mut self, step: Step, moved: u32, errno: i32) {
        if self.shared.spec.on_error == OnError::Count {
            self.tally.record_error(step.kind, errno);
            return;
        }
        self.closing = true;
        let path = self.shared.spec.target.path.clone();
        let offset = step.offset + u64::from(moved);
        let length = Bytes::new(u64::from(step.length - moved));
        let call = step.kind.name();
        let error = match errno {
            0 if step.kind == Kind::Read => IoError::EndOfFile {
                path,
                offset,
                length,
            },
            libc::ENOSPC | libc::EDQUOT => IoError::NoSpace {
                path,
                call,
                offset,
                length,
            },
            errno => IoError::Transfer {
                path,
                call,
                offset,
                length,
                source: io::Error::from_raw_os_error(if errno == 0 { libc::EIO } else { errno }),
            },
        };
        self.failure.get_or_insert(error);
    }

    #[cold]
    fn verify(&mut self, slot: u32, step: Step) {
        let Some(buffers) = &mut self.buffers else {
            return;
        };
        if step.kind != Kind::Read {
            if let Some(ledger) = &mut self.ledger {
                ledger.complete(slot, step, &[]);
            }
            return;
        }
        // SAFETY: the operation of this slot is over, and no other was queued in it.
        let data = unsafe { buffers.slice_mut(slot, step.length as usize) };
        if let Some(ledger) = &mut self.ledger {
            ledger.complete(slot, step, data);
            return;
        }
        let Err(mismatch) = self.filler.verify(data, step.offset) else {
            return;
        };
        self.tally.in_window(step.kind, |t| t.corrupt += 1);
        if self.shared.spec.on_error == OnError::Stop {
            self.closing = true;
            self.failure.get_or_insert(IoError::Corrupt {
                path: self.shared.spec.target.path.clone(),
                offset: step.offset,
                length: Bytes::new(u64::from(step.length)),
                mismatch,
            });
        }
    }

    /// How long the next step waits.
    #[inline(always)]
    fn wait_for(&mut self, wake_ns: Option<u64>, reap_batch: u32) -> Wait {
        if let Some(wake_ns) = wake_ns {
            self.now_ns = self.clock.now();
            let left = wake_ns.saturating_sub(self.now_ns);
            return match left {
                0..WATCH_NS => Wait::For(0),
                _ => Wait::AtMost((left - WATCH_NS).min(NAP_NS)),
            };
        }
        let is_held = self.held.is_some() && self.in_flight > 0;
        let blocked = self.free.is_empty() || self.closing || self.sync_due || is_held;
        if blocked && self.again.is_empty() {
            Wait::For(reap_batch.min(self.in_flight))
        } else {
            Wait::For(0)
        }
    }

    /// Everything reaped and submitted since the last stamp shares it: how long that took is how
    /// far a latency may be off.
    fn note_resolution(&mut self) {
        let batch_ns = self.clock.now().saturating_sub(self.now_ns);
        self.resolution_ns = self.resolution_ns.max(batch_ns);
    }

    #[cold]
    fn sleep_until(&mut self, wake_ns: u64) {
        if self.clock.is_virtual() {
            self.clock.skip_to(wake_ns);
            return;
        }
        let now_ns = self.clock.now();
        let left = wake_ns.saturating_sub(now_ns);
        if left > WATCH_NS {
            let nap = (left - WATCH_NS).min(NAP_NS);
            std::thread::sleep(Duration::from_nanos(nap));
        } else {
            std::hint::spin_loop();
        }
    }

    /// Shows progress to the leading thread.
    #[inline(always)]
    fn publish(&self) {
        let (ops, bytes) = self.tally.all();
        self.cell.ops.store(ops, Ordering::Relaxed);
        self.cell.bytes.store(bytes, Ordering::Relaxed);
        let in_flight = u64::from(self.in_flight);
        self.cell.in_flight.store(in_flight, Ordering::Relaxed);
    }

    /// The sync that is due.
    fn sync_now(&mut self) {
        self.sync_due = false;
        self.writes_since_sync = 0;
        if let Some((_, kind)) = self.shared.spec.sync.every
            && let Err(error) = self.sync(kind)
        {
            self.closing = true;
            self.failure.get_or_insert(error);
        }
    }

    /// The flush at the end of all jobs.
    pub(crate) fn final_flush(&mut self) -> Result<(), IoError> {
        let Some(kind) = self.shared.spec.sync.final_flush else {
            return Ok(());
        };
        if self.shared.stop.load(Ordering::Relaxed) || self.shared.cancel.is_cancelled() {
            return Ok(());
        }
        let took_ns = self.sync(kind)?;
        self.final_flush_ns = Some(took_ns);
        Ok(())
    }

    /// Makes what was written durable; returns how long that took.
    fn sync(&mut self, kind: SyncKind) -> Result<u64, IoError> {
        let watch = self.cell.watches.last();
        let start_ns = self.clock.now();
        if let Some(watch) = watch {
            watch.begin(start_ns, Kind::Sync, 0);
        }
        let result = self
            .file
            .as_ref()
            .map_or(Ok(()), |file| sync_file(file, kind));
        self.now_ns = self.clock.now();
        if let Some(watch) = watch {
            watch.end();
        }
        self.tally.pass(self.now_ns);
        match result {
            Ok(()) => {
                let times = (start_ns, start_ns, self.now_ns);
                self.tally.record(Kind::Sync, 0, times);
                Ok(self.now_ns.saturating_sub(start_ns))
            }
            Err(source) if self.shared.spec.on_error == OnError::Count => {
                let errno = source.raw_os_error().unwrap_or(libc::EIO);
                self.tally.record_error(Kind::Sync, errno);
                Ok(self.now_ns.saturating_sub(start_ns))
            }
            Err(source) => Err(self.call_error(call_of(kind), source)),
        }
    }

    fn call_error(&self, call: &'static str, source: io::Error) -> IoError {
        IoError::Call {
            path: self.shared.spec.target.path.clone(),
            call,
            source,
        }
    }

    /// Closes the books.
    pub(crate) fn finish(mut self) -> Outcome {
        self.learn_window();
        let has_deadline = self.shared.window.end() != u64::MAX;
        let end_ns = if has_deadline {
            self.clock.now()
        } else {
            self.tally.last_ns
        };
        if self.is_open && self.stop_ns != u64::MAX {
            let length = self.shared.spec.block_sizes.smallest().as_u64();
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            self.open_loop.backlog = self.pacer.backlog(self.stop_ns, length);
            self.open_loop.due += self.open_loop.backlog;
        }
        self.tally.finish(end_ns);
        Outcome {
            tally: self.tally,
            resolution_ns: self.resolution_ns,
            final_flush_ns: self.final_flush_ns,
            open_loop: self.open_loop,
            ledger: self.ledger,
            features: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Number of the first filling of a pool's buffer.
#[inline(always)]
const fn filling_of(place: u32, stride: usize) -> u64 {
    place as u64 * (stride / SECTOR_BYTES) as u64
}

/// The pool's buffers; each job begins at another, so that neighbours in the target that are
/// written by different jobs have different fillings.
fn pool_order(plan: Plan, index: u32, jobs: u32) -> VecDeque<u32> {
    let mut order: VecDeque<u32> = (plan.slots..plan.count()).collect();
    let first = u64::from(plan.pool) * u64::from(index) / u64::from(jobs);
    order.rotate_left(first as usize);
    order
}

const fn call_of(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Fsync => "fsync",
        SyncKind::Fdatasync => "fdatasync",
    }
}

fn sync_file(file: &File, kind: SyncKind) -> io::Result<()> {
    loop {
        let fd = file.as_raw_fd();
        let returned = match kind {
            // SAFETY: passes the number of a descriptor that `file` keeps open.
            SyncKind::Fsync => unsafe { libc::fsync(fd) },
            // SAFETY: as above.
            SyncKind::Fdatasync => unsafe { libc::fdatasync(fd) },
        };
        if returned == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINTR) {
            return Err(error);
        }
    }
}

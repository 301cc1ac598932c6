//! Asynchronous I/O by a pool of threads that do it synchronously.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Engine, EngineFailure, Op, Psync, Queued, Setup, Wait};
use crate::report::{Note, NoteKind};
use crate::spec::MAX_JOBS;

/// An operation on its way to a thread of the pool.
struct Order(Op);

// SAFETY: the operation's memory belongs to it until it is done, whichever thread does it.
unsafe impl Send for Order {}

struct State {
    orders: VecDeque<Order>,
    done: Vec<(u32, i64)>,
    closed: bool,
}

struct Common {
    state: Mutex<State>,
    has_orders: Condvar,
    has_done: Condvar,
}

impl Common {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A pool; dropping it waits for what its threads are doing.
pub(crate) struct Pool {
    common: Arc<Common>,
    threads: Vec<JoinHandle<()>>,
    queued: Vec<Order>,
    taken: Vec<(u32, i64)>,
}

impl Pool {
    pub(crate) fn new(setup: &mut Setup<'_>) -> io::Result<Self> {
        let depth = setup.depth as usize;
        let wanted = setup.spec.engine_options.pool_threads;
        let count = wanted.unwrap_or(setup.depth).min(MAX_JOBS);
        if wanted.is_none() && count < setup.depth {
            setup.notes.push(Note {
                kind: NoteKind::Depth,
                text: format!("posixaio has {count} threads for a depth of {depth}"),
            });
        }
        let common = Arc::new(Common {
            state: Mutex::new(State {
                orders: VecDeque::with_capacity(depth),
                done: Vec::with_capacity(depth),
                closed: false,
            }),
            has_orders: Condvar::new(),
            has_done: Condvar::new(),
        });
        let mut pool = Self {
            common,
            threads: Vec::new(),
            queued: Vec::with_capacity(depth),
            taken: Vec::with_capacity(depth),
        };
        let engine = Psync::new(setup);
        for index in 0..count {
            let common = Arc::clone(&pool.common);
            let thread = std::thread::Builder::new()
                .name(format!("io-pool-{index}"))
                .spawn(move || serve(&common, engine))?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.common.lock().closed = true;
        self.common.has_orders.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing in flight.
            let _ = thread.join();
        }
    }
}

/// What each thread of the pool does.
fn serve(common: &Common, engine: Psync) {
    loop {
        let mut state = common.lock();
        let Order(op) = loop {
            if let Some(order) = state.orders.pop_front() {
                break order;
            }
            if state.closed {
                return;
            }
            state = common
                .has_orders
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let result = engine.perform(&op);
        common.lock().done.push((op.slot, result));
        common.has_done.notify_one();
    }
}

impl Engine for Pool {
    fn queue(&mut self, op: &Op) -> Queued {
        self.queued.push(Order(*op));
        Queued::InFlight
    }

    fn step(&mut self, wait: Wait) -> Result<(), EngineFailure> {
        let mut state = self.common.lock();
        let count = self.queued.len();
        state.orders.extend(self.queued.drain(..));
        match count {
            0 => {}
            1 => self.common.has_orders.notify_one(),
            _ => self.common.has_orders.notify_all(),
        }
        let has_done = &self.common.has_done;
        let state = match wait {
            Wait::For(want) => has_done
                .wait_while(state, |s| s.done.len() < want as usize)
                .unwrap_or_else(PoisonError::into_inner),
            Wait::AtMost(ns) => {
                let timeout = Duration::from_nanos(ns);
                has_done
                    .wait_timeout_while(state, timeout, |s| s.done.is_empty())
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            }
        };
        let mut state = state;
        std::mem::swap(&mut state.done, &mut self.taken);
        Ok(())
    }

    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        for (slot, result) in self.taken.drain(..) {
            done(slot, result);
        }
    }
}

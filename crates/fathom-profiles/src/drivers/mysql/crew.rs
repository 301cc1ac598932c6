//! Clients with a thread each, let go at the same moment.

use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crate::drivers::DriverError;

/// A client's thread needs little: thousands of them must fit.
const STACK_BYTES: usize = 256 << 10;

/// Holds clients until all are there.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Shut,
    Open(Instant),
    /// It will never open: a thread could not be started.
    GivenUp,
}

impl Gate {
    /// Waits for the gate to open; `None` when it never will.
    pub(crate) fn wait(&self) -> Option<Instant> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *state {
                State::Open(start) => return Some(start),
                State::GivenUp => return None,
                State::Shut => {
                    let woken = self.changed.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// Lets all clients go; the moment they all count from.
    pub(crate) fn open(&self) -> Instant {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        *state = State::Open(start);
        drop(state);
        self.changed.notify_all();
        start
    }

    fn give_up(&self) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::GivenUp;
        self.changed.notify_all();
    }
}

/// Starts a thread for each client. When one cannot be started, the others are sent home.
pub(crate) fn start<'scope, 'env, C, T>(
    scope: &'scope Scope<'scope, 'env>,
    gate: &'scope Gate,
    clients: impl IntoIterator<Item = C>,
    body: impl Fn(C, Instant) -> T + Clone + Send + 'scope,
) -> Result<Vec<ScopedJoinHandle<'scope, Option<T>>>, DriverError>
where
    C: Send + 'scope,
    T: Send + 'scope,
{
    let mut threads = Vec::new();
    for (number, client) in clients.into_iter().enumerate() {
        let body = body.clone();
        let run = move || gate.wait().map(|start| body(client, start));
        let builder = Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, run) {
            Ok(thread) => threads.push(thread),
            Err(source) => {
                gate.give_up();
                return Err(DriverError::Thread { number, source });
            }
        }
    }
    Ok(threads)
}

/// Collects what a thread has done.
pub(crate) fn join<T>(thread: ScopedJoinHandle<'_, Option<T>>) -> Option<T> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Sleeps until the moment or until `is_over`.
pub(crate) fn rest(length: Duration, is_over: &dyn Fn() -> bool) {
    let until = Instant::now() + length;
    while !is_over() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(Duration::from_millis(5)));
    }
}

//! What a client does: one operation after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::{BufMut, BytesMut};
use fathom_base::seed_for;
use fathom_stats::Histogram;
use fathom_stats::random::Xoshiro256;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend;

use super::key_of;
use crate::drivers::clients::count_second;
use crate::drivers::postgres::crowd::{Next, Script, Window};
use crate::drivers::postgres::{Reply, ServerError};

/// How often one operation is tried again before its client gives up.
const MOST_RETRIES: u32 = 1000;
/// Errors of a client after which it gives up.
const MOST_ERRORS: u64 = 1000;

/// What all clients have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    pub(super) read_percent: u64,
    pub(super) key_seed: u64,
    pub(super) clients: usize,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Read { key: i64 },
    Write { number: u64, value: u8 },
}

/// A client.
#[derive(Debug)]
pub(super) struct Operations {
    traffic: Traffic,
    /// The next number of the sequence.
    sequence: Arc<AtomicU64>,
    client: usize,
    random: Xoshiro256,
    window: Option<Window>,
    current: Option<Operation>,
    began: Option<Instant>,
    tries: u32,
    pub(super) reads: Histogram,
    pub(super) writes: Histogram,
    pub(super) per_second: Vec<u64>,
    pub(super) empty_reads: u64,
    pub(super) retries: u64,
    pub(super) errors: u64,
    pub(super) first_error: Option<String>,
    /// Numbers whose write failed in a way that leaves open whether it was done.
    pub(super) uncertain: Vec<u64>,
}

impl Operations {
    pub(super) fn new(traffic: Traffic, sequence: Arc<AtomicU64>, client: usize) -> Self {
        Self {
            random: Xoshiro256::new(seed_for(traffic.seed, &format!("kv client {client}"))),
            traffic,
            sequence,
            client,
            window: None,
            current: None,
            began: None,
            tries: 0,
            reads: Histogram::new(),
            writes: Histogram::new(),
            per_second: Vec::new(),
            empty_reads: 0,
            retries: 0,
            errors: 0,
            first_error: None,
            uncertain: Vec::new(),
        }
    }

    /// The number of a write that was under way when the client ended.
    pub(super) fn open_write(&self) -> Option<u64> {
        match self.current {
            Some(Operation::Write { number, .. }) => Some(number),
            _ => None,
        }
    }

    fn draw(&mut self) -> Operation {
        if self.random.below(100) < self.traffic.read_percent {
            let given_out = self.sequence.load(Ordering::Relaxed);
            let key = match given_out {
                0 => 0,
                _ => key_of(self.random.below(given_out), self.traffic.key_seed),
            };
            return Operation::Read { key };
        }
        Operation::Write {
            number: self.sequence.fetch_add(1, Ordering::Relaxed),
            value: self.random.below(256) as u8,
        }
    }

    fn begin_next(&mut self, now: Instant, out: &mut BytesMut) -> Next {
        self.current = None;
        if self.window.is_none_or(|window| now >= window.end) {
            return Next::Done;
        }
        self.current = Some(self.draw());
        self.began = Some(now);
        self.tries = 0;
        self.put(out)
    }

    fn put(&self, out: &mut BytesMut) -> Next {
        let put = match self.current {
            Some(Operation::Read { key }) => put_bound("read", &[&key.to_be_bytes()], out),
            Some(Operation::Write { number, value }) => {
                let key = key_of(number, self.traffic.key_seed);
                put_bound("write", &[&key.to_be_bytes(), &[value]], out)
            }
            None => return Next::Done,
        };
        match put {
            Ok(()) => Next::Send,
            Err(why) => Next::Fail(why),
        }
    }

    /// Counts what was done inside the window.
    fn complete(&mut self, rows: u64, now: Instant) {
        let (Some(window), Some(began)) = (self.window, self.began) else {
            return;
        };
        if now < window.measure {
            return;
        }
        let ns = u64::try_from((now - began).as_nanos()).unwrap_or(u64::MAX);
        count_second(&mut self.per_second, now - window.measure);
        match self.current {
            Some(Operation::Read { .. }) => {
                self.reads.record(ns);
                self.empty_reads += u64::from(rows == 0);
            }
            Some(Operation::Write { .. }) => self.writes.record(ns),
            None => {}
        }
    }

    /// Tries again, goes on with the next one, or gives up.
    fn recover(&mut self, error: ServerError, now: Instant, out: &mut BytesMut) -> Next {
        if error.code == "40001" && self.tries < MOST_RETRIES {
            self.tries += 1;
            self.retries += 1;
            return self.put(out);
        }
        self.errors += 1;
        self.uncertain.extend(self.open_write());
        let text = format!("{} ({})", error.message, error.code);
        if self.errors >= MOST_ERRORS {
            self.current = None;
            return Next::Fail(format!("{MOST_ERRORS} errors, the last one: {text}"));
        }
        self.first_error.get_or_insert(text);
        self.begin_next(now, out)
    }
}

impl Script for Operations {
    fn begin(&mut self, window: Window) {
        self.window = Some(window);
    }

    fn next(&mut self, reply: Option<Reply>, now: Instant, out: &mut BytesMut) -> Next {
        let Some(reply) = reply else {
            return match self.window {
                Some(window) if now < self.first(window) => Next::Wait(self.first(window)),
                _ => self.begin_next(now, out),
            };
        };
        match reply.error {
            Some(error) => self.recover(error, now, out),
            None => {
                self.complete(reply.rows, now);
                self.begin_next(now, out)
            }
        }
    }
}

impl Operations {
    /// When this client begins: evenly over the ramp.
    fn first(&self, window: Window) -> Instant {
        let ramp = (window.measure - window.start).as_secs_f64();
        let share = self.client as f64 / self.traffic.clients as f64;
        window.start + std::time::Duration::from_secs_f64(ramp * share)
    }
}

/// Binds binary values and executes.
fn put_bound(name: &str, values: &[&[u8]], out: &mut BytesMut) -> Result<(), String> {
    let copy = |value: &&[u8], out: &mut BytesMut| {
        out.put_slice(value);
        Ok(IsNull::No)
    };
    frontend::bind("", name, [1], values, copy, [1], out)
        .map_err(|_| "a value does not fit into a message".to_owned())?;
    frontend::execute("", 0, out).map_err(|error| error.to_string())?;
    frontend::sync(out);
    Ok(())
}

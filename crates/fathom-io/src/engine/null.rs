//! Completes at once: the cost of everything but I/O.

use super::{Engine, EngineFailure, Op, Queued, Wait};

/// Operations queued since the last step, in order.
#[derive(Debug)]
pub(crate) struct Null {
    queued: Vec<(u32, u32)>,
    done: usize,
}

impl Null {
    pub(crate) fn new(depth: u32) -> Self {
        Self {
            queued: Vec::with_capacity(depth as usize),
            done: 0,
        }
    }
}

impl Engine for Null {
    #[inline(always)]
    fn queue(&mut self, op: &Op) -> Queued {
        if self.queued.len() == self.queued.capacity() {
            return Queued::Full;
        }
        self.queued.push((op.slot, op.length));
        Queued::InFlight
    }

    #[inline(always)]
    fn step(&mut self, _: Wait) -> Result<(), EngineFailure> {
        self.done = self.queued.len();
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self, done: &mut impl FnMut(u32, i64)) {
        for &(slot, length) in self.queued.iter().take(self.done) {
            done(slot, i64::from(length));
        }
        self.queued.drain(..self.done);
        self.done = 0;
    }
}

//! When operations start.

use fathom_base::{Rate, seed_for};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::source::{generator, unit_interval};
use crate::spec::{Arrivals, JobSpec, Pace};

#[cfg(test)]
mod tests;

/// How far a closed loop that fell behind catches up.
const CATCH_UP_NS: f64 = 100e6;

/// One job's schedule.
#[derive(Debug)]
pub(crate) struct Pacer {
    schedule: Option<Schedule>,
}

#[derive(Debug)]
struct Schedule {
    start_ns: u64,
    /// Due time of the next operation, since the start.
    next_ns: f64,
    gap: Gap,
    /// Exponential gaps instead of even ones.
    poisson: Option<Xoshiro256PlusPlus>,
    is_open: bool,
}

#[derive(Clone, Copy, Debug)]
enum Gap {
    PerOperation(f64),
    PerByte(f64),
}

/// What the schedule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// An operation is due since this moment.
    Since(u64),
    /// Not before this moment.
    At(u64),
}

impl Pacer {
    /// For job number `job`: its share of the rate, its place between the other jobs.
    pub(crate) fn new(spec: &JobSpec, job: u32) -> Self {
        let (rate, arrivals, is_open) = match spec.pace {
            Pace::Unpaced => return Self { schedule: None },
            Pace::Closed(rate) => (rate, Arrivals::Constant, false),
            Pace::Open { rate, arrivals } => (rate, arrivals, true),
        };
        let jobs = f64::from(spec.jobs);
        let gap = match rate {
            Rate::Operations(per_second) => Gap::PerOperation(1e9 * jobs / per_second),
            Rate::Bytes(per_second) => Gap::PerByte(1e9 * jobs / per_second as f64),
        };
        let poisson = match arrivals {
            Arrivals::Constant => None,
            Arrivals::Poisson => Some(generator(seed_for(spec.seed, &format!("arrivals {job}")))),
        };
        let mut schedule = Schedule {
            start_ns: 0,
            next_ns: 0.0,
            gap,
            poisson,
            is_open,
        };
        let block = spec.block_sizes.smallest().as_u64() as f64;
        match schedule.poisson {
            Some(_) => schedule.advance(block as u32),
            None => schedule.next_ns = gap.of(block) * f64::from(job) / jobs,
        }
        Self {
            schedule: Some(schedule),
        }
    }

    pub(crate) fn start(&mut self, now_ns: u64) {
        if let Some(schedule) = &mut self.schedule {
            schedule.start_ns = now_ns;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.schedule.as_ref().is_some_and(|s| s.is_open)
    }

    /// Whether the next operation is due at `now_ns`.
    #[inline(always)]
    pub(crate) fn due(&mut self, now_ns: u64) -> Due {
        match &mut self.schedule {
            None => Due::Since(now_ns),
            Some(schedule) => schedule.due(now_ns),
        }
    }

    /// An operation of `length` bytes took the place that was due.
    #[inline(always)]
    pub(crate) fn advance(&mut self, length: u32) {
        if let Some(schedule) = &mut self.schedule {
            schedule.advance(length);
        }
    }

    /// Operations of `length` bytes due before `end_ns` that were not taken; moves past them.
    pub(crate) fn backlog(&mut self, end_ns: u64, length: u32) -> u64 {
        let mut count = 0;
        if let Some(schedule) = self.schedule.as_mut().filter(|s| s.is_open) {
            while schedule.due_ns() < end_ns {
                schedule.advance(length);
                count += 1;
            }
        }
        count
    }
}

impl Schedule {
    fn due_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.next_ns as u64)
    }

    fn due(&mut self, now_ns: u64) -> Due {
        let due_ns = self.due_ns();
        if due_ns > now_ns {
            return Due::At(due_ns);
        }
        if !self.is_open {
            let elapsed = now_ns.saturating_sub(self.start_ns) as f64;
            self.next_ns = self.next_ns.max(elapsed - CATCH_UP_NS);
        }
        Due::Since(due_ns)
    }

    fn advance(&mut self, length: u32) {
        let mean = self.gap.of(f64::from(length));
        self.next_ns += match &mut self.poisson {
            None => mean,
            Some(random) => -mean * (1.0 - unit_interval(random)).ln(),
        };
    }
}

impl Gap {
    fn of(self, length: f64) -> f64 {
        match self {
            Self::PerOperation(ns) => ns,
            Self::PerByte(ns) => ns * length,
        }
    }
}

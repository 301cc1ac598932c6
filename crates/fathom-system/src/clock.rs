use fathom_base::{Clock, Nanos};
use fathom_model::ClockEvidence;

use crate::root::Root;

#[cfg(test)]
mod tests;

/// How many readings the cost of one is measured with: about 20 us on a fast clock.
const READINGS: u32 = 1000;

/// Compares monotonic and calendar time over a window.
#[derive(Clone, Debug)]
pub struct ClockWitness {
    source: String,
    read_ns: f64,
    backward_steps: u64,
    monotonic: Nanos,
    wall_ms: i64,
}

impl ClockWitness {
    /// Called before the measured window: measures the cost of a reading and takes both times.
    pub fn begin(root: &Root, clock: &dyn Clock) -> Self {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let source = root.line(path).unwrap_or_default();
        let first = clock.now();
        let mut last = first;
        let mut backward_steps = 0;
        for _ in 0..READINGS {
            let now = clock.now();
            backward_steps += u64::from(now < last);
            last = now;
        }
        Self {
            source,
            read_ns: last.since(first).as_u64() as f64 / f64::from(READINGS),
            backward_steps,
            monotonic: clock.now(),
            wall_ms: clock.wall().unix_ms(),
        }
    }

    /// Called after it. `stamp` says what timed the I/O: `rdtsc`, `clock_gettime`.
    pub fn end(self, clock: &dyn Clock, stamp: &str) -> ClockEvidence {
        let now = clock.now();
        let elapsed = i128::from(now.since(self.monotonic).as_u64());
        let wall = i128::from(clock.wall().unix_ms() - self.wall_ms) * 1_000_000;
        ClockEvidence {
            source: self.source,
            stamp: stamp.to_owned(),
            read_ns: self.read_ns,
            backward_steps: self.backward_steps + u64::from(now < self.monotonic),
            wall_drift_ns: i64::try_from(wall - elapsed).ok(),
        }
    }
}

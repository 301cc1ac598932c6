use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// A moment of the calendar: milliseconds since 1970-01-01 UTC.
///
/// Only for people and files; durations always come from the monotonic side of a [`Clock`], so a
/// stepped calendar cannot bend a measurement.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WallTime(i64);

impl WallTime {
    /// From milliseconds since the epoch.
    pub fn from_unix_ms(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    pub fn unix_ms(self) -> i64 {
        self.0
    }
}

/// Where time comes from; tests pass a [`FakeClock`].
pub trait Clock: Send + Sync {
    /// Monotonic time since an arbitrary origin.
    fn now(&self) -> Nanos;
    /// Calendar time.
    fn wall(&self) -> WallTime;
    /// Waits; a fake clock only moves its hands.
    fn sleep(&self, duration: Nanos);
}

/// The machine's clocks.
#[derive(Clone, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic side starts at zero now.
    pub fn new() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Nanos {
        Nanos::new(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn wall(&self) -> WallTime {
        let ms = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        WallTime(ms)
    }

    fn sleep(&self, duration: Nanos) {
        std::thread::sleep(Duration::from_nanos(duration.as_u64()));
    }
}

/// A clock that moves only when told: same input, same bytes.
#[derive(Clone, Debug, Default)]
pub struct FakeClock {
    now_ns: Arc<AtomicU64>,
    start_unix_ms: i64,
}

impl FakeClock {
    /// Starts at monotonic zero and the given calendar time.
    pub fn new(start: WallTime) -> Self {
        Self {
            now_ns: Arc::default(),
            start_unix_ms: start.unix_ms(),
        }
    }

    /// Moves both sides of the clock forward.
    pub fn advance(&self, duration: Nanos) {
        self.now_ns.fetch_add(duration.as_u64(), Ordering::SeqCst);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Nanos {
        Nanos::new(self.now_ns.load(Ordering::SeqCst))
    }

    fn wall(&self) -> WallTime {
        let elapsed_ms = self.now_ns.load(Ordering::SeqCst) / 1_000_000;
        WallTime(self.start_unix_ms + i64::try_from(elapsed_ms).unwrap_or(i64::MAX))
    }

    fn sleep(&self, duration: Nanos) {
        self.advance(duration);
    }
}

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use fathom_base::{WallTime, seed_for};

/// A name for a run that no other run has: date and time in UTC, and 32 random bits, as in
/// `20261130-184512-4f1c9a3e`.
pub fn run_id(started: WallTime, entropy: u64) -> String {
    let stamp = jiff::Timestamp::from_millisecond(started.unix_ms()).unwrap_or_default();
    let stamp = stamp.strftime("%Y%m%d-%H%M%S");
    let random = seed_for(entropy, "run id") >> 32;
    format!("{stamp}-{random:08x}")
}

/// A run id's last part, for names that must be short.
pub fn short_id(run_id: &str) -> &str {
    run_id.rsplit('-').next().unwrap_or(run_id)
}

/// Bits from the system's random source.
pub fn entropy() -> u64 {
    // The keys of a process's first `RandomState` are drawn from it, and change with every further one.
    RandomState::new().build_hasher().finish()
}

use fathom_base::{Bytes, Nanos, Rate};

use super::settings::{IoCursor, IoEngine, IoLayout, IoOpenSync, IoSettings};
use crate::contract::{Estimate, Host};
use crate::definition::Guess;
use crate::machine::TargetKind;

/// What a case takes, whatever carries it out; `layout` and `exclusive` are the implementation's
/// to say.
pub fn estimate(settings: &IoSettings, host: &Host) -> Estimate {
    let guess = Guess::of(&host.target);
    let is_directory = host.target.kind == TargetKind::Directory;
    let has_file = is_directory && settings.engine != IoEngine::Null;
    let length = settings.end();
    let nothing = Bytes::new(0);
    // Discards need a file that is written anew for each trial.
    let (laid_out, fresh) = match (has_file, settings.mode.trims(), settings.layout) {
        (true, true, _) => (nothing, length),
        (true, false, IoLayout::Written) => (length, nothing),
        _ => (nothing, nothing),
    };
    let is_fresh = fresh.as_u64() > 0;
    let conditioning = match settings.engine {
        IoEngine::Null => nothing,
        _ if is_fresh => nothing,
        _ => Bytes::new(
            settings
                .size
                .as_u64()
                .saturating_mul(u64::from(settings.precondition)),
        ),
    };
    let prepared = Bytes::new(laid_out.as_u64().saturating_add(conditioning.as_u64()));
    let load = load_time(settings, &guess);
    // Flushing, emptying the cache, extents.
    let read_back = match settings.verify {
        true => guess.time_to_write(settings.size),
        false => Nanos::new(0),
    };
    let overhead = Nanos::from_millis(20).plus(read_back);
    let written = written(settings, &guess, load).as_u64();
    Estimate {
        trial_time: load.plus(overhead).plus(guess.time_to_write(fresh)),
        prepare_time: guess.time_to_write(prepared),
        trial_bytes: Bytes::new(written.saturating_add(fresh.as_u64())),
        prepare_bytes: prepared,
        space: if has_file { length } else { nothing },
        inodes: u64::from(has_file),
        ..Estimate::default()
    }
}

/// How long the load lasts, ramp included.
fn load_time(settings: &IoSettings, guess: &Guess) -> Nanos {
    let amount = amount_limit(settings);
    let by_amount = amount.map(|bytes| match settings.any_rate() {
        Some(Rate::Bytes(rate)) => Nanos::from_secs_f64(bytes.as_u64() as f64 / rate as f64),
        _ => guess.time_to_write(bytes),
    });
    let by_time = settings.runtime.map(|runtime| runtime.plus(settings.ramp));
    match (by_time, by_amount) {
        (Some(time), Some(amount)) => time.min(amount),
        (Some(time), None) | (None, Some(time)) => time,
        (None, None) => settings.ramp,
    }
}

/// Bytes after which a trial ends at the latest.
fn amount_limit(settings: &IoSettings) -> Option<Bytes> {
    let passes = settings.passes.map(|passes| {
        let jobs = match settings.cursor {
            IoCursor::Own => u64::from(settings.jobs),
            _ => 1,
        };
        let size = settings.size.as_u64();
        Bytes::new(size.saturating_mul(u64::from(passes)).saturating_mul(jobs))
    });
    match (settings.bytes, passes) {
        (Some(bytes), Some(passes)) => Some(bytes.min(passes)),
        (bytes, passes) => bytes.or(passes),
    }
}

/// Bytes written in a load of this length at most.
fn written(settings: &IoSettings, guess: &Guess, load: Nanos) -> Bytes {
    if !settings.writes() || settings.engine == IoEngine::Null {
        return Bytes::new(0);
    }
    let share = match settings.mode.is_mixed() {
        true => 1.0 - settings.read_percent.fraction(),
        false => 1.0,
    };
    let block = settings.block_sizes().into_iter().max().unwrap_or_default();
    let depth = if settings.engine.is_synchronous() {
        1
    } else {
        settings.depth
    };
    let in_flight = u64::from(depth) * u64::from(settings.jobs);
    let is_flushed = settings.fsync_every == Some(1)
        || settings.fdatasync_every == Some(1)
        || settings.open_sync != IoOpenSync::None;
    let mut bytes = guess.written(load, block, in_flight, is_flushed).as_u64();
    if let Some(rate) = settings.any_rate() {
        let rate = match rate {
            Rate::Bytes(rate) => rate as f64,
            Rate::Operations(rate) => rate * block.as_u64() as f64,
        };
        bytes = bytes.min((rate * load.as_secs_f64()) as u64);
    }
    if let Some(limit) = amount_limit(settings) {
        bytes = bytes.min(limit.as_u64());
    }
    Bytes::new((bytes as f64 * share) as u64)
}

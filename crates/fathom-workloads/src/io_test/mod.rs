//! Test `io`: one load on one file or device, carried out by the I/O engine.
//!
//! The file is shared by all cases of a run that can use the same one ([`files`]), written before
//! it is read, and brought into a stated state before each trial: what an earlier trial wrote is
//! flushed, and the page cache is emptied and seen to be empty unless the case asks otherwise.

mod check;
mod files;
mod prepared;
mod report;
mod spec;
#[cfg(test)]
mod tests;

use fathom_base::{Bytes, Nanos};
use fathom_model::definition::io::{self as definition, IoEngine, IoLayout, IoSettings};
use fathom_model::{
    Case, Context, Estimate, Host, Metric, Prepared, TargetKind, Test, TestError, TestInfo, Unmet,
};

use self::files::{FileKey, Files};
use self::prepared::PreparedIo;
use crate::common::{Guess, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";

/// The test; see the module's description. Cases prepared by one `IoTest` share their files.
#[derive(Debug, Default)]
pub struct IoTest {
    files: Files,
}

impl IoTest {
    /// The test.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Test for IoTest {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: native(IMPLEMENTATION),
            options: definition::options(),
        }
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        // A case that cannot be read is refused by `check`.
        IoSettings::from_case(case).map_or_else(|_| Vec::new(), |io| definition::metrics(&io))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        check::unmet(host, case)
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = IoSettings::from_case(case)?;
        Ok(estimate(&settings, host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = IoSettings::from_case(case)?;
        Ok(Box::new(PreparedIo::new(&self.files, settings, case, cx)?))
    }
}

fn estimate(settings: &IoSettings, host: &Host) -> Estimate {
    let guess = Guess::of(&host.target);
    let is_file = host.target.kind == TargetKind::Directory;
    let has_file = is_file && settings.engine != IoEngine::Null;
    let length = settings.end();
    let key = FileKey::of(settings, host);
    let laid_out = match (has_file, settings.layout, settings.mode.trims()) {
        (true, IoLayout::Written, false) => length,
        _ => Bytes::new(0),
    };
    let load = load_time(settings, &guess);
    // Flushing, emptying the cache, extents.
    let overhead = Nanos::from_millis(20);
    let fresh = match has_file && settings.mode.trims() {
        true => length,
        false => Bytes::new(0),
    };
    Estimate {
        trial_time: load.plus(overhead).plus(guess.time_to_write(fresh)),
        prepare_time: guess.time_to_write(laid_out),
        trial_bytes: Bytes::new(
            written(settings, &guess, load)
                .as_u64()
                .saturating_add(fresh.as_u64()),
        ),
        prepare_bytes: laid_out,
        space: if has_file { length } else { Bytes::new(0) },
        inodes: u64::from(has_file),
        layout: key.filter(|_| has_file).map(|key| key.number()),
        ..Estimate::default()
    }
}

/// How long the load lasts, ramp included.
fn load_time(settings: &IoSettings, guess: &Guess) -> Nanos {
    let amount = amount_limit(settings);
    let by_amount = amount.map(|bytes| match settings.rate {
        Some(fathom_base::Rate::Bytes(rate)) => {
            Nanos::from_secs_f64(bytes.as_u64() as f64 / rate as f64)
        }
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
            definition::IoCursor::Own => u64::from(settings.jobs),
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
        || settings.open_sync != definition::IoOpenSync::None;
    let mut bytes = guess.written(load, block, in_flight, is_flushed).as_u64();
    if let Some(rate) = settings.rate {
        let rate = match rate {
            fathom_base::Rate::Bytes(rate) => rate as f64,
            fathom_base::Rate::Operations(rate) => rate * block.as_u64() as f64,
        };
        bytes = bytes.min((rate * load.as_secs_f64()) as u64);
    }
    if let Some(limit) = amount_limit(settings) {
        bytes = bytes.min(limit.as_u64());
    }
    Bytes::new((bytes as f64 * share) as u64)
}

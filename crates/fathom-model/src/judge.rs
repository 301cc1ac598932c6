//! From evidence to a verdict: pure rules over what a trial saw.
//!
//! The numbers every rule compares with stand in [`limits`], what it means and what to do about it
//! in [`rule_table`]. A rule that lacks its evidence is silent: absent is not the same as good, and
//! a trial without any evidence stays [`Level::Unjudged`].
//!
//! [`Level::Unjudged`]: crate::Level::Unjudged

mod account;
mod device;
mod entry;
mod facts;
mod host;
pub mod limits;
mod pace;
mod series;
mod table;
#[cfg(test)]
mod tests;

use crate::evidence::Evidence;
use crate::result::Trial;
use crate::verdict::{Level, Reason, Verdict};
use crate::{Case, TargetInfo};

pub use entry::judge_entry;
pub use facts::{Facts, Scope};
pub use table::{Rule, rule, rule_table};

/// Judges one trial.
pub fn judge_trial(case: &Case, target: Option<&TargetInfo>, trial: &Trial) -> Verdict {
    if trial.error.is_some() {
        return Verdict::default();
    }
    let mut facts = Facts::of(case, target);
    facts.latency_ns_max = longest_in_flight(trial);
    let mut verdict = judge(&facts, &trial.evidence);
    if verdict.level != Level::Unjudged {
        account::few_samples(trial, &mut verdict);
        device::flush_too_fast(trial, &mut verdict);
        series::series(trial, &mut verdict);
    }
    verdict
}

/// Judges what a trial saw.
pub fn judge(facts: &Facts, evidence: &Evidence) -> Verdict {
    if *evidence == Evidence::default() {
        return Verdict::default();
    }
    let mut verdict = Verdict::valid();
    let seen = Seen::new(facts, evidence);
    account::little(&seen, &mut verdict);
    account::counts(&seen, &mut verdict);
    account::errors(&seen, &mut verdict);
    account::corruption(&seen, &mut verdict);
    pace::pace(&seen, &mut verdict);
    if seen.is_null_engine() {
        let text = "The null engine completes every request without doing it: the figure is the \
                    cost of the tool itself.";
        verdict.object(
            Level::Invalid,
            reason("null-engine", "no I/O was done", text),
        );
        return verdict;
    }
    device::memory_backed(&seen, &mut verdict);
    device::direct(&seen, &mut verdict);
    device::page_cache(&seen, &mut verdict);
    device::device_bytes(&seen, &mut verdict);
    device::link(&seen, &mut verdict);
    device::compressible(&seen, &mut verdict);
    device::unwritten(&seen, &mut verdict);
    device::durability(&seen, &mut verdict);
    device::layout(&seen, &mut verdict);
    host::generator(&seen, &mut verdict);
    host::stolen(&seen, &mut verdict);
    host::foreign_io(&seen, &mut verdict);
    host::busy(&seen, &mut verdict);
    host::clock(&seen, &mut verdict);
    verdict
}

/// The longest time an operation was in flight: of an open loop by the histograms of service.
fn longest_in_flight(trial: &Trial) -> Option<u64> {
    let is_service = |name: &str| name.ends_with("service");
    let has_service = trial.histograms.keys().any(|name| is_service(name));
    let relevant = trial
        .histograms
        .iter()
        .filter(|(name, _)| !has_service || is_service(name) || *name == "sync");
    relevant.filter_map(|(_, histogram)| histogram.max()).max()
}

/// Builds a reason with the advice of the rule's row.
fn reason(id: &'static str, short: impl Into<String>, text: impl Into<String>) -> Reason {
    Reason {
        rule: id.to_owned(),
        short: short.into(),
        text: text.into(),
        advice: table::advice(id).to_owned(),
    }
}

/// Evidence with the sums several rules need.
struct Seen<'a> {
    facts: &'a Facts,
    evidence: &'a Evidence,
    read_bytes: u64,
    written_bytes: u64,
    /// Bytes that may be on the wrong side of the window's borders.
    slack_bytes: u64,
    /// What the leaf drives did; absent when they were not counted.
    drives: Option<DriveSum>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DriveSum {
    read_bytes: u64,
    written_bytes: u64,
}

impl<'a> Seen<'a> {
    fn new(facts: &'a Facts, evidence: &'a Evidence) -> Self {
        let io = evidence.io.as_ref();
        let devices = evidence.host.as_ref().map(|host| host.devices.as_slice());
        let drives = devices
            .filter(|devices| !devices.is_empty())
            .map(|devices| DriveSum {
                read_bytes: total(devices.iter().map(|device| device.read_bytes)),
                written_bytes: total(devices.iter().map(|device| device.written_bytes)),
            });
        Self {
            facts,
            evidence,
            read_bytes: io.map_or(0, |io| io.read_bytes),
            written_bytes: io.map_or(0, |io| io.written_bytes),
            slack_bytes: io.map_or(0, slack),
            drives,
        }
    }

    fn is_null_engine(&self) -> bool {
        let io = self.evidence.io.as_ref();
        io.is_some_and(|io| io.engine == "null")
    }

    fn memory_backed(&self) -> Option<&str> {
        self.evidence.host.as_ref()?.memory_backed.as_deref()
    }

    /// Direct I/O was asked for and nothing speaks against it.
    fn is_direct(&self) -> bool {
        let direct = self.evidence.direct.as_ref();
        direct.is_some_and(|direct| {
            direct.requested && direct.opened && direct.transfer_ok != Some(false)
        })
    }

    /// Whether the machine was watched over the same time the test counted in; a program's own
    /// window is shorter than the time we see.
    fn windows_agree(&self) -> bool {
        let (Some(io), Some(host)) = (&self.evidence.io, &self.evidence.host) else {
            return false;
        };
        let allowed = io.window_ns as f64 * limits::WINDOW_EXCESS + limits::WINDOW_EXCESS_NS as f64;
        io.window_ns > 0 && host.window_ns as f64 <= allowed
    }

    fn compressing_stack(&self) -> Option<&str> {
        self.evidence.data.as_ref()?.compressing_stack.as_deref()
    }

    fn window_s(&self) -> f64 {
        let io = self.evidence.io.as_ref().map(|io| io.window_ns);
        let host = self.evidence.host.as_ref().map(|host| host.window_ns);
        io.filter(|ns| *ns > 0).or(host).unwrap_or(0) as f64 / 1e9
    }
}

/// Requests in flight when the window begins are counted by the drive and not by us, and the other
/// way round at its end; file systems add a few blocks of their own.
fn slack(io: &crate::IoEvidence) -> u64 {
    let bytes = io.read_bytes.saturating_add(io.written_bytes);
    let mean = bytes.checked_div(io.operations).unwrap_or(0);
    let block = io.block_size_bytes.unwrap_or(mean.saturating_mul(4));
    let in_flight = io.depth_total.max(1).saturating_mul(block);
    in_flight
        .saturating_mul(2)
        .saturating_add(limits::BORDER_BYTES)
}

/// A sum that stays at the largest number instead of starting over; evidence may be from a file.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// `12.3 %`, without a sign of precision that is not there.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent.abs() {
        p if p >= 99.95 || p == 0.0 => format!("{percent:.0} %"),
        p if p >= 0.1 => format!("{percent:.1} %"),
        _ => format!("{percent:.3} %"),
    }
}

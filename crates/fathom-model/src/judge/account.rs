//! Rules about the test's own account of its work.

use crate::result::Trial;
use crate::verdict::{Level, Verdict};

use super::{Seen, limits, percent, reason};

/// Little's law: the rate times the time each request takes is the number in flight.
pub(super) fn little(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(io) = &seen.evidence.io else { return };
    let is_measured = io.in_flight_mean > 0.0 && io.latency_ns_mean > 0.0 && io.window_ns > 0;
    if !is_measured || io.operations < limits::LITTLE_OPERATIONS || io.errors > 0 {
        return;
    }
    let (operations, window) = (io.operations as f64, io.window_ns as f64);
    let expected = operations * io.latency_ns_mean / window;
    // Requests in flight at the borders are counted in full or not at all, by their latency, and
    // in part, by their number: each for at most the longest latency seen.
    let longest = seen
        .facts
        .latency_ns_max
        .map_or(io.latency_ns_mean * 2.0, |max| max as f64);
    let border = io.depth_total as f64 * longest / (window * io.in_flight_mean);
    let allowed = limits::LITTLE + border.max(2.0 * io.depth_total as f64 / operations);
    let difference = (expected - io.in_flight_mean).abs() / io.in_flight_mean;
    if difference <= allowed {
        return;
    }
    let mut text = format!(
        "Rate x mean latency gives {expected:.3} requests in flight, counted were {:.3} ({} \
         apart; allowed are {}).",
        io.in_flight_mean,
        percent(difference),
        percent(allowed)
    );
    // Requests the window left behind have no latency; a stall at its end looks like this, too.
    let left_behind = seen.evidence.counts.get(LEFT_BEHIND).copied().unwrap_or(0) as f64;
    let is_stall = io.in_flight_mean - expected <= left_behind && left_behind > 0.0;
    let (level, short) = match is_stall {
        true => {
            text.push_str(&format!(
                " {left_behind} requests were unfinished when the window ended: they may have \
                 been stalled."
            ));
            (Level::Suspect, "requests stalled at the end")
        }
        false => (Level::Invalid, "latency and rate disagree"),
    };
    verdict.object(level, reason("littles-law", short, text));
}

/// The engine's count of requests that were in flight when the window ended.
const LEFT_BEHIND: &str = "late-operations";

/// Every account of the same operations gives the same number.
pub(super) fn counts(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(io) = &seen.evidence.io else { return };
    let mut wrong = Vec::new();
    for (what, count) in [
        ("latency histograms", io.histogram_count),
        ("intervals", io.interval_count),
    ] {
        let is_counted = count > 0 || seen.facts.counts_itself;
        if is_counted && count != io.operations {
            wrong.push(format!("the {what} hold {count}"));
        }
    }
    let bytes = io
        .read_bytes
        .saturating_add(io.written_bytes)
        .saturating_add(io.trimmed_bytes);
    if let Some(block) = io.block_size_bytes.filter(|_| io.errors == 0)
        && io.operations.saturating_mul(block) != bytes
    {
        wrong.push(format!(
            "{bytes} bytes are not {} blocks of {block}",
            io.operations
        ));
    }
    if io.clipped > 0 {
        let clipped = io.clipped;
        wrong.push(format!("{clipped} latencies were beyond the histogram"));
    }
    if !wrong.is_empty() {
        let text = format!(
            "{} operations completed, but {}.",
            io.operations,
            wrong.join("; ")
        );
        verdict.object(Level::Invalid, reason("counts", "counts disagree", text));
    }
}

/// Operations that failed are not work done.
pub(super) fn errors(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(io) = &seen.evidence.io else { return };
    if io.errors > 0 {
        let text = format!(
            "{} operations failed beside the {} that completed.",
            io.errors, io.operations
        );
        let short = format!("{} I/O errors", io.errors);
        verdict.object(Level::Suspect, reason("io-errors", short, text));
    }
}

/// Data that is not what was written makes every figure of it worthless.
pub(super) fn corruption(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(verify) = &seen.evidence.verify else {
        return;
    };
    let faults = verify
        .faults
        .values()
        .fold(0_u64, |sum, count| sum.saturating_add(*count));
    if faults == 0 {
        return;
    }
    let kinds: Vec<String> = verify
        .faults
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    let mut text = format!(
        "Blocks that are not what was last written: {}.",
        kinds.join(", ")
    );
    for fault in verify.first.iter().take(limits::FAULTS_NAMED) {
        text.push_str(&format!(" What is {fault}."));
    }
    let short = match faults {
        1 => "1 corrupt block".to_owned(),
        count => format!("{count} corrupt blocks"),
    };
    verdict.object(Level::Invalid, reason("data-corrupt", short, text));
}

/// Names the percentiles that rest on too few samples.
pub(super) fn few_samples(trial: &Trial, verdict: &mut Verdict) {
    let weak: Vec<(f64, u64)> = trial
        .values
        .keys()
        .filter_map(|metric| too_few(metric, trial))
        .collect();
    if weak.is_empty() {
        return;
    }
    let parts: Vec<String> = weak
        .iter()
        .map(|(p, count)| format!("p{} has {count} of {}", short_p(*p), needed(*p)))
        .collect();
    let text = format!("Samples, of those needed: {}.", parts.join(", "));
    let note = reason("few-samples", "too few samples for a percentile", text);
    verdict.note(note);
}

/// The percentile and the samples of a metric that has too few, by its name (`latency-p99.9`,
/// `read-latency-p99.9`).
pub(super) fn too_few(metric: &str, trial: &Trial) -> Option<(f64, u64)> {
    let p = percentile_of(metric)?;
    let count = samples_of(metric, trial)?;
    (count < needed(p)).then_some((p, count))
}

/// The percentile in a metric's name, in per cent.
fn percentile_of(metric: &str) -> Option<f64> {
    let digits = metric.rsplit('-').next()?.strip_prefix('p')?;
    let p: f64 = digits.parse().ok()?;
    (0.0 < p && p < 100.0).then_some(p)
}

/// The samples behind a metric: of the histogram it is named after, else of all of them.
fn samples_of(metric: &str, trial: &Trial) -> Option<u64> {
    if trial.histograms.is_empty() {
        return trial.evidence.io.as_ref().map(|io| io.histogram_count);
    }
    let named = trial
        .histograms
        .iter()
        .find(|(name, _)| metric.starts_with(name.as_str()));
    if let Some((_, histogram)) = named {
        return Some(histogram.count());
    }
    // `latency-p99` of the only direction: its histogram is named after that. Syncs are not of it,
    // and what has a service time beside its latency is there twice.
    let is_service = |name: &str| name.ends_with("-service");
    let times = trial.histograms.iter().filter(|(name, _)| *name != "sync");
    let has_latency = times.clone().any(|(name, _)| !is_service(name));
    let counted = times.filter(|(name, _)| !has_latency || !is_service(name));
    Some(counted.map(|(_, histogram)| histogram.count()).sum())
}

/// Samples a percentile needs.
pub(super) fn needed(p: f64) -> u64 {
    // Rounded first: 100 - 99.9 is 0.0999...96.
    let tail = ((100.0 - p) * 1e9).round() / 1e11;
    (limits::TAIL_SAMPLES / tail).round() as u64
}

pub(super) fn short_p(p: f64) -> String {
    format!("{p}")
}

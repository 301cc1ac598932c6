//! Rules about operations at a rate.

use fathom_base::Nanos;

use crate::evidence::{OpenEvidence, PaceEvidence};
use crate::result::Trial;
use crate::verdict::{Level, Verdict};

use super::{Seen, limits, percent, reason};

/// The rate was reached, and how operations met an open schedule.
pub(super) fn pace(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(pace) = &seen.evidence.pace else {
        return;
    };
    match &pace.open {
        Some(open) => open_loop(seen, pace, open, verdict),
        None => limit(pace, verdict),
    }
}

/// A limit that is not reached does not hold the load back.
fn limit(pace: &PaceEvidence, verdict: &mut Verdict) {
    let Some(share) = pace.reached_share.filter(|s| *s < limits::RATE_REACHED) else {
        return;
    };
    let text = format!(
        "The rate reached is {} of the limit of {}: the limit did not hold the load back.",
        percent(share),
        pace.rate
    );
    let short = format!("{} of the rate limit", percent(share));
    verdict.note(reason("rate-missed", short, text));
}

fn open_loop(seen: &Seen<'_>, pace: &PaceEvidence, open: &OpenEvidence, verdict: &mut Verdict) {
    let due = open.due.max(1) as f64;
    let late = percent(open.late_starts as f64 / due);
    let text = format!(
        "{} operations were due at {} ({} arrivals): {} started late ({late}), by {} at most; when \
         the window closed {} were due and not started, {} started and not completed.",
        open.due,
        pace.rate,
        open.arrivals,
        open.late_starts,
        Nanos::new(open.latest_start_ns).rough(),
        open.backlog,
        open.unfinished
    );
    let missing = open.backlog.saturating_add(open.unfinished) as f64;
    let in_flight = seen
        .evidence
        .io
        .as_ref()
        .map_or(0.0, |io| io.in_flight_mean);
    let usual = limits::UNFINISHED + 2.0 * in_flight.max(0.0);
    if missing > usual && missing / due > limits::UNFINISHED_SHARE {
        let short = format!("{} of the operations missed", percent(missing / due));
        let text = format!(
            "{text} Latency has only what was completed: it would be longer with these, and grows \
             with the window if the target cannot keep up."
        );
        verdict.object(Level::Suspect, reason("rate-missed", short, text));
        return;
    }
    let short = format!("open loop, {late} started late");
    verdict.note(reason("open-loop", short, text));
}

/// A latency at a rate, of a loop in which operations wait for earlier ones before they count, is
/// not one.
pub(super) fn closed_latency(metric: &str, trials: &[&Trial], verdict: &mut Verdict) {
    if !is_latency(metric) {
        return;
    }
    let closed = trials
        .iter()
        .filter_map(|trial| trial.evidence.pace.as_ref())
        .find(|pace| pace.open.is_none());
    if let Some(pace) = closed {
        let text = format!(
            "The load was held to {} by a closed loop: while the target stalls, operations that \
             are due are not started, and what they waited is missing from the latency.",
            pace.rate
        );
        verdict.object(
            Level::Invalid,
            reason("closed-loop", "closed loop: not a latency at a rate", text),
        );
    }
}

/// `latency-p99`, `write-latency-mean`; syncs have no rate.
fn is_latency(metric: &str) -> bool {
    let words: Vec<&str> = metric.split('-').collect();
    words.contains(&"latency") && words.first() != Some(&"sync")
}

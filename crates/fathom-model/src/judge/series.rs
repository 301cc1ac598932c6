//! Rules about how a figure went on: over the window of a trial, and from trial to trial.

use fathom_base::Bytes;
use fathom_stats::Sample;
use fathom_stats::change::{Change, ChangeRule, change_points};
use fathom_stats::series::mann_kendall;
use fathom_stats::steady::{SteadyRule, last_window};

use crate::result::{Series, Trial};
use crate::verdict::{Level, Verdict};

use super::{limits, percent, reason};

/// Whether the figure is of one state of the target: bandwidth, or the rate of operations.
pub(super) fn series(trial: &Trial, verdict: &mut Verdict) {
    let Some(series) = trial
        .series
        .get("bandwidth")
        .filter(|series| is_telling(series))
    else {
        return;
    };
    let Ok(rows) = Sample::new(series.values.clone()) else {
        return;
    };
    if rows.mean() <= 0.0 {
        return;
    }
    // The plainer word comes first, and is enough.
    let is_told = two_phases(series, &rows, verdict) || slow_start(&rows, verdict);
    if !is_told {
        transient(&rows, verdict);
    }
}

/// Long enough that its rows are not noise.
fn is_telling(series: &Series) -> bool {
    let length_ns = series.step_ns.saturating_mul(series.values.len() as u64);
    series.values.len() >= limits::SERIES_ROWS
        && series.values.len() <= limits::SERIES_ROWS_MOST
        && length_ns >= limits::SERIES_NS
}

/// A level that changes once and for all: a write cache that is full, heat, a burst used up. Whether
/// that makes the mean worthless.
fn two_phases(series: &Series, rows: &Sample, verdict: &mut Verdict) -> bool {
    let rule = ChangeRule {
        min_segment: limits::PHASE_ROWS,
        min_magnitude: limits::PHASE_CHANGE,
        ..ChangeRule::STANDARD
    };
    let changes = change_points(rows, rule).unwrap_or_default();
    let largest = changes
        .into_iter()
        .max_by(|a, b| a.magnitude().abs().total_cmp(&b.magnitude().abs()));
    let Some(change) = largest else { return false };
    let seconds = series.step_ns as f64 / 1e9;
    let until_s = change.index as f64 * seconds;
    let moved: f64 = rows.values()[..change.index].iter().sum::<f64>() * seconds;
    let moved = match series.unit.as_str() {
        "MB/s" => format!(", after {}", Bytes::new((moved * 1e6) as u64).rough()),
        _ => String::new(),
    };
    let text = format!(
        "Bandwidth went from {:.1} to {:.1} {} {until_s:.1} s into the window{moved}: the figure is a \
         mean of two states.",
        change.before, change.after, series.unit
    );
    let short = format!("{} within the trial", signed(&change));
    let reason = reason("two-phases", short, text);
    let is_drop = change.magnitude() <= -limits::PHASE_DROP;
    match is_drop {
        true => verdict.object(Level::Suspect, reason),
        false => verdict.note(reason),
    }
    is_drop
}

fn signed(change: &Change) -> String {
    format!("{:+.0} %", change.magnitude() * 100.0)
}

/// The first interval is slower: discards and cleaning of what was before, or cold structures.
fn slow_start(rows: &Sample, verdict: &mut Verdict) -> bool {
    let [first, rest @ ..] = rows.values() else {
        return false;
    };
    let Ok(rest) = Sample::new(rest.to_vec()) else {
        return false;
    };
    let share = first / rest.median();
    let is_slow = share < limits::SLOW_START;
    if is_slow {
        let text = format!(
            "The first interval reached {} of the median of the later ones: the target was still \
             busy with what came before, or not warm.",
            percent(share)
        );
        verdict.note(reason("slow-start", "slow start", text));
    }
    is_slow
}

/// SNIA's two criteria over five rounds that the window is cut into.
fn transient(rows: &Sample, verdict: &mut Verdict) {
    let rule = SteadyRule::SNIA;
    let Some(rounds) = rounds_of(rows, rule.window) else {
        return;
    };
    let (Ok(window), Ok(trend)) = (last_window(&rounds, rule), mann_kendall(rows)) else {
        return;
    };
    if window.steady {
        return;
    }
    let text = format!(
        "Over five rounds of the window the figure ranged by {:.1} % (allowed {:.0} %) and its line \
         changed by {:.1} % (allowed {:.0} %).",
        window.range_percent, rule.range_percent, window.slope_percent, rule.slope_percent
    );
    let moves_on = window.slope_percent > rule.slope_percent && trend.p <= limits::TREND_P;
    let reason = reason("transient", "not in a steady state", text);
    match moves_on {
        true => verdict.object(Level::Suspect, reason),
        false => verdict.note(reason),
    }
}

/// Means of as many rounds, of equal length; rows that are over are left out at the start.
fn rounds_of(rows: &Sample, count: usize) -> Option<Sample> {
    let length = rows.len() / count;
    let kept = rows
        .values()
        .get(rows.len() - length.checked_mul(count)?..)?;
    let mean = |round: &[f64]| round.iter().sum::<f64>() / length as f64;
    let rounds: Vec<f64> = kept.chunks_exact(length.max(1)).map(mean).collect();
    Sample::new(rounds).ok()
}

/// The first trial is unlike the rest: trials do not start from the same state.
pub(super) fn first_trial(metric: &str, trials: &[&Trial], verdict: &mut Verdict) {
    let values: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial.values.get(metric))
        .map(|figure| figure.value())
        .collect();
    let [first, rest @ ..] = values.as_slice() else {
        return;
    };
    if rest.len() < limits::FIRST_TRIAL_OTHERS {
        return;
    }
    let Ok(rest) = Sample::new(rest.to_vec()) else {
        return;
    };
    let difference = first / rest.median() - 1.0;
    let spread = rest.max() - rest.min();
    let outside = (rest.min() - first).max(first - rest.max());
    if difference.abs() > limits::FIRST_TRIAL && outside > spread {
        let text = format!(
            "The first trial is {} {} the median of the {} others, and further from them than they \
             are from each other: it did not start from the same state.",
            percent(difference.abs()),
            if difference > 0.0 { "above" } else { "below" },
            rest.len()
        );
        let short = "the first trial differs";
        verdict.note(reason("first-trial", short, text));
    }
}

//! Numbers as the Phoronix Test Suite prints and sums them up, for showing its results its way.
//!
//! Nothing here is used for Fathom's own answers: these rules mix units, call 0.01 % a win and
//! know no uncertainty.

use crate::compare::Direction;
use crate::sample::Sample;

/// Significant decimal digits a 64-bit number surely holds; PHP rounds to them first.
const SAFE_DIGITS: i32 = 15;
/// Most decimals ever printed.
pub const MAX_DECIMALS: usize = 20;

/// Rounds to `decimals` places, halves away from zero, as PHP's `round` does up to 8.3.
///
/// The value is first rounded to 15 significant digits, so that 1.005 (in binary slightly less)
/// gives 1.01. Values with too few digits left for that are returned as they are.
#[must_use]
pub fn round(value: f64, decimals: usize) -> f64 {
    number_format(value, decimals).parse().unwrap_or(value)
}

/// A number with exactly `decimals` places (at most [`MAX_DECIMALS`]) and no thousands
/// separator, as PHP's `number_format($value, $decimals, '.', '')`; `-0` prints as `0`.
#[must_use]
pub fn number_format(value: f64, decimals: usize) -> String {
    let decimals = decimals.min(MAX_DECIMALS);
    if !value.is_finite() || value == 0.0 {
        return format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value });
    }
    let (digits, exponent) = significant_digits(value);
    // The digits are d[0].d[1]d[2]... times 10^exponent; so many of them are kept.
    let keep = exponent + 1 + decimals as i32;
    let (rounded, exponent) = if keep > SAFE_DIGITS {
        return format!("{value:.decimals$}");
    } else if keep == SAFE_DIGITS {
        // PHP rounds the product without looking at digits here.
        let scale = 10_f64.powi(decimals as i32);
        return format!("{:.decimals$}", (value * scale).round() / scale);
    } else if keep < 0 {
        (Vec::new(), 0)
    } else {
        round_digits(&digits, keep as usize, exponent)
    };
    let text = decimal_text(&rounded, exponent, decimals);
    let negative = value < 0.0 && rounded.iter().any(|&d| d != 0);
    if negative { format!("-{text}") } else { text }
}

/// The first 15 significant digits, rounded, and the power of ten of the first.
fn significant_digits(value: f64) -> (Vec<u8>, i32) {
    let text = format!("{:.*e}", SAFE_DIGITS as usize - 1, value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|b| b - b'0')
        .collect();
    (digits, exponent.parse().unwrap_or(0))
}

/// Keeps `keep` digits, a 5 or more behind them rounds up; the exponent grows on a carry.
fn round_digits(digits: &[u8], keep: usize, exponent: i32) -> (Vec<u8>, i32) {
    let mut kept = digits[..keep].to_vec();
    if digits[keep] < 5 {
        return (kept, exponent);
    }
    for digit in kept.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return (kept, exponent);
        }
        *digit = 0;
    }
    kept.insert(0, 1);
    (kept, exponent + 1)
}

/// Digits d[0]d[1]... with d[0] at 10^exponent, as text with `decimals` places.
fn decimal_text(digits: &[u8], exponent: i32, decimals: usize) -> String {
    let digit_at = |power: i32| {
        let place = usize::try_from(exponent - power).ok();
        char::from(b'0' + place.and_then(|i| digits.get(i)).copied().unwrap_or(0))
    };
    let mut text: String = (0..=exponent.max(0)).rev().map(digit_at).collect();
    if decimals > 0 {
        text.push('.');
        text.extend((1..=decimals as i32).map(|place| digit_at(-place)));
    }
    text
}

/// Number of decimals of a printed number.
#[must_use]
pub fn decimals_of(text: &str) -> usize {
    text.trim()
        .split_once('.')
        .map_or(0, |(_, decimals)| decimals.len())
}

/// Mean of trials as PTS prints it as the result's value.
///
/// Decimals: the most seen in the trial texts if that is 1 to 9, else 2; an integer if no trial
/// text has a point. `None` if a text is not a number.
#[must_use]
pub fn average_text(trials: &[&str]) -> Option<String> {
    let values: Option<Vec<f64>> = trials.iter().map(|t| t.trim().parse().ok()).collect();
    let mean = Sample::new(values?).ok()?.mean();
    if !trials.iter().any(|t| t.contains('.')) {
        return Some(number_format(mean, 0));
    }
    let most = trials.iter().map(|t| decimals_of(t)).max().unwrap_or(0);
    Some(number_format(
        mean,
        if (1..=9).contains(&most) { most } else { 2 },
    ))
}

/// `SE +/- 0.12, N = 3` as printed below a result; `None` for a single trial.
///
/// The error has as many decimals as the printed value, at least 2. It is `0.00` where all
/// trials are equal.
#[must_use]
pub fn standard_error_text(trials: &Sample, value_decimals: usize) -> Option<String> {
    let error = number_format(trials.standard_error()?, value_decimals.max(2));
    Some(format!("SE +/- {error}, N = {}", trials.len()))
}

/// Sample standard deviation in percent of the mean; 0 for a single trial or a mean of 0.
#[must_use]
pub fn standard_deviation_percent(trials: &Sample) -> f64 {
    let mean = trials.mean();
    let deviation = trials.standard_deviation().unwrap_or(0.0);
    if mean == 0.0 {
        0.0
    } else {
        100.0 * deviation / mean
    }
}

/// Mean without the trials more than 1.5 sample standard deviations from it (the viewer's
/// "remove outliers"); the plain mean if none or all would go.
#[must_use]
pub fn mean_without_outliers(trials: &Sample) -> f64 {
    let mean = trials.mean();
    let limit = 1.5 * trials.standard_deviation().unwrap_or(0.0);
    let near = |v: &f64| (v - mean).abs() <= limit;
    let kept: Vec<f64> = trials.values().iter().copied().filter(near).collect();
    Sample::new(kept).map_or(mean, |kept| kept.mean())
}

/// A value with the direction of its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Directed {
    /// The value.
    pub value: f64,
    /// Which way it improves.
    pub direction: Direction,
}

/// Geometric mean over results: values where lower is better count as 100/x, the product is
/// taken in chunks of 8, each raised to 1/n.
///
/// `None` below two results or if a value is 0 or the mean is not a number. PTS counts only bar
/// graphs with an identifier and a value for every system; the caller chooses.
#[must_use]
pub fn geometric_mean(results: &[Directed]) -> Option<f64> {
    if results.len() < 2 || results.iter().any(|r| r.value == 0.0) {
        return None;
    }
    let power = 1.0 / results.len() as f64;
    let term = |r: &Directed| match r.direction {
        Direction::HigherIsBetter => r.value,
        Direction::LowerIsBetter => 100.0 / r.value,
    };
    let chunk = |part: &[Directed]| part.iter().map(term).product::<f64>().powf(power);
    Some(results.chunks(8).map(chunk).product::<f64>()).filter(|mean| mean.is_finite())
}

/// Harmonic mean n / sum(1/x) over results of one rate unit; `None` below four results (PTS
/// shows none then) or if a value is 0.
#[must_use]
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    if values.len() < 4 || values.contains(&0.0) {
        return None;
    }
    Some(values.len() as f64 / values.iter().map(|v| 1.0 / v).sum::<f64>())
        .filter(|mean| mean.is_finite())
}

/// Whether a unit looks like a rate to PTS, so that its results get a harmonic mean.
#[must_use]
pub fn is_rate_unit(unit: &str) -> bool {
    ["/", " per ", "FPS", "bps", "IOPS"]
        .iter()
        .any(|part| unit.contains(part))
}

/// One result's values by system, for counting wins.
#[derive(Debug, Clone)]
pub struct Contest<'a> {
    /// Pairs of system number and value, in file order.
    pub entries: &'a [(usize, f64)],
    /// Which way the metric improves.
    pub direction: Direction,
}

/// Wins and losses by system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Results counted.
    pub counted: u32,
    /// First places of each system.
    pub wins: Vec<u32>,
    /// Last places of each system.
    pub losses: Vec<u32>,
}

impl Tally {
    /// Share of wins of a system as printed, one decimal; `None` if nothing was counted.
    #[must_use]
    pub fn win_percent_text(&self, system: usize) -> Option<String> {
        let wins = f64::from(*self.wins.get(system)?);
        (self.counted > 0).then(|| number_format(100.0 * wins / f64::from(self.counted), 1))
    }
}

/// Counts wins and losses as PTS does: best and worst value of each result with at least two
/// entries and at least half of the systems (rounded down); the first of equals takes it.
/// Entries with a system number of `systems` or more are not counted.
#[must_use]
pub fn wins(contests: &[Contest<'_>], systems: usize) -> Tally {
    let mut tally = Tally {
        counted: 0,
        wins: vec![0; systems],
        losses: vec![0; systems],
    };
    for contest in contests {
        let entries = contest.entries;
        if entries.len() < 2 || entries.len() < systems / 2 {
            continue;
        }
        let first = |better: fn(f64, f64) -> bool| {
            entries.iter().copied().reduce(
                |best, next| {
                    if better(next.1, best.1) { next } else { best }
                },
            )
        };
        let (largest, smallest) = (first(|x, y| x > y), first(|x, y| x < y));
        let (winner, loser) = match contest.direction {
            Direction::HigherIsBetter => (largest, smallest),
            Direction::LowerIsBetter => (smallest, largest),
        };
        tally.counted += 1;
        for (counts, place) in [(&mut tally.wins, winner), (&mut tally.losses, loser)] {
            if let Some(count) = place.and_then(|(system, _)| counts.get_mut(system)) {
                *count += 1;
            }
        }
    }
    tally
}

#[cfg(test)]
mod tests;

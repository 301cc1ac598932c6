//! Steady state as the SNIA Solid State Storage Performance Test Specification defines it.

use crate::error::StatsError;
use crate::sample::Sample;
use crate::series::{Line, least_squares};

/// The two criteria over a window of rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyRule {
    /// Rounds in the window, at least 3.
    pub window: usize,
    /// Largest range (max - min) in percent of the average.
    pub range_percent: f64,
    /// Largest change of the least-squares line across the window in percent of the average.
    pub slope_percent: f64,
}

impl SteadyRule {
    /// SNIA: 5 rounds, range within 20 %, slope within 10 %.
    pub const SNIA: Self = Self {
        window: 5,
        range_percent: 20.0,
        slope_percent: 10.0,
    };
}

/// Most rounds before SNIA gives up on steady state.
pub const SNIA_MAX_ROUNDS: usize = 25;

/// What one window looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyWindow {
    /// Round the window begins with, from 0.
    pub first_round: usize,
    /// Average of the window.
    pub average: f64,
    /// Largest minus smallest, in percent of the average.
    pub range_percent: f64,
    /// The least-squares line.
    pub line: Line,
    /// Change of the line from the first round to the last, without sign, in percent of the
    /// average.
    pub slope_percent: f64,
    /// Whether both criteria hold.
    pub steady: bool,
}

/// Judges the window of the last rounds of a series; both criteria must hold.
///
/// # Errors
/// [`StatsError::TooFewValues`] if there are fewer rounds than the window has,
/// [`StatsError::OutOfRange`] for a window below 3 rounds or an average that is not above 0.
pub fn last_window(rounds: &Sample, rule: SteadyRule) -> Result<SteadyWindow, StatsError> {
    check(rounds, rule)?;
    window_at(rounds, rounds.len() - rule.window, rule)
}

/// The first window in which both criteria hold, `None` if there is none.
///
/// # Errors
/// As [`last_window`].
pub fn first_steady(rounds: &Sample, rule: SteadyRule) -> Result<Option<SteadyWindow>, StatsError> {
    check(rounds, rule)?;
    for first in 0..=rounds.len() - rule.window {
        let window = window_at(rounds, first, rule)?;
        if window.steady {
            return Ok(Some(window));
        }
    }
    Ok(None)
}

fn check(rounds: &Sample, rule: SteadyRule) -> Result<(), StatsError> {
    if rule.window < 3 {
        let (what, value) = ("steady-state window", rule.window as f64);
        return Err(StatsError::OutOfRange {
            what,
            value,
            expected: "at least 3 rounds",
        });
    }
    let (needed, got) = (rule.window, rounds.len());
    if got < needed {
        return Err(StatsError::TooFewValues {
            what: "a steady-state window",
            needed,
            got,
        });
    }
    Ok(())
}

fn window_at(rounds: &Sample, first: usize, rule: SteadyRule) -> Result<SteadyWindow, StatsError> {
    let window = Sample::new(&rounds.values()[first..first + rule.window])?;
    let average = window.mean();
    if average <= 0.0 {
        let (what, expected) = ("average of a steady-state window", "above 0");
        return Err(StatsError::OutOfRange {
            what,
            value: average,
            expected,
        });
    }
    let line = least_squares(&window);
    let percent = |part: f64| 100.0 * part / average;
    let range_percent = percent(window.max() - window.min());
    let slope_percent = percent(line.slope.abs() * (rule.window as f64 - 1.0));
    let steady = range_percent <= rule.range_percent && slope_percent <= rule.slope_percent;
    Ok(SteadyWindow {
        first_round: first,
        average,
        range_percent,
        line,
        slope_percent,
        steady,
    })
}

#[cfg(test)]
mod tests;

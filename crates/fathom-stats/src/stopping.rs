//! When a case has been repeated often enough.
//!
//! Looking after every trial and stopping when the spread looks small favours lucky streaks:
//! Welch's nominal 5 % error rises to 7-13 % when trials stop on a coefficient of variation. The
//! rule here stops on the width of the interval, and looks only at numbers of trials declared
//! beforehand.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::StatsError;
use crate::interval::{Confidence, t_interval};
use crate::sample::Sample;

/// Numbers of trials after which the interval is looked at, unless others are declared.
pub const STANDARD_LOOKS: [u32; 6] = [3, 5, 8, 12, 20, 30];
/// Most trials of a case.
pub const MAX_TRIALS: u32 = 10_000;

/// What a [`StoppingRule`] is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppingOptions {
    /// Numbers of trials at which to look, rising; the last one ends the case.
    pub looks: Vec<u32>,
    /// Wanted half-width of every metric's interval in percent of its mean, above 0.
    pub goal_percent: f64,
    /// Trials made whatever they take.
    pub min_trials: u32,
    /// Time the case may take; a trial that would probably exceed it is not begun. `None`: any.
    pub budget: Option<Duration>,
    /// Confidence of the interval.
    pub confidence: Confidence,
}

impl StoppingOptions {
    /// Looks after 3, 5, 8, 12, 20 and 30 trials, 2 % either way at 95 %, at least 3 trials, no
    /// limit of time.
    #[must_use]
    pub fn standard() -> Self {
        Self {
            looks: STANDARD_LOOKS.to_vec(),
            goal_percent: 2.0,
            min_trials: 3,
            budget: None,
            confidence: Confidence::P95,
        }
    }

    /// Exactly `trials` trials, whatever they take.
    #[must_use]
    pub fn fixed(trials: u32) -> Self {
        Self {
            looks: vec![trials],
            min_trials: trials,
            ..Self::standard()
        }
    }
}

/// Decides after each trial whether another one is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "StoppingOptions", into = "StoppingOptions")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "StoppingOptions"))]
pub struct StoppingRule {
    options: StoppingOptions,
}

/// How far a case has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Trials ended, failed ones included.
    pub trials: u32,
    /// Time the case has taken.
    pub spent: Duration,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Decision {
    /// Make another trial; the interval is looked at again after `next_look` of them.
    Continue {
        /// Number of trials at the next look.
        next_look: u32,
    },
    /// The case is done.
    Stop(StopReason),
}

/// Why a case is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum StopReason {
    /// Every metric is known as well as wanted.
    GoalReached,
    /// The time is up, or another trial would exceed it.
    BudgetSpent,
    /// The last look has been made.
    LastLook,
}

impl StoppingRule {
    /// Checks and keeps the options.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] naming the option: looks that are missing, do not rise or leave
    /// 1 to [`MAX_TRIALS`]; a goal that is not above 0; a minimum above the last look.
    pub fn new(options: StoppingOptions) -> Result<Self, StatsError> {
        let out = |what, value, expected| {
            Err(StatsError::OutOfRange {
                what,
                value,
                expected,
            })
        };
        let Some(&last) = options.looks.last() else {
            return out("number of looks", 0.0, "at least 1");
        };
        let first = options.looks[0];
        if first == 0 || last > MAX_TRIALS {
            let value = if first == 0 { first } else { last };
            return out("look", value.into(), "1 to 10000 trials");
        }
        if let Some(pair) = options.looks.windows(2).find(|pair| pair[0] >= pair[1]) {
            return out("look", pair[1].into(), "more trials than the look before");
        }
        if !(options.goal_percent > 0.0 && options.goal_percent.is_finite()) {
            return out("goal in percent", options.goal_percent, "above 0");
        }
        if options.min_trials > last {
            return out(
                "minimum of trials",
                options.min_trials.into(),
                "at most the last look",
            );
        }
        Ok(Self { options })
    }

    /// The options.
    #[must_use]
    pub const fn options(&self) -> &StoppingOptions {
        &self.options
    }

    /// Decides after a trial. `metrics` holds each metric's values so far; a metric with a
    /// single value, and a list without metrics, has not reached any goal.
    #[must_use]
    pub fn decide(&self, metrics: &[&Sample], progress: Progress) -> Decision {
        let options = &self.options;
        let Some(&next_look) = options.looks.iter().find(|&&look| look > progress.trials) else {
            let reached = self.reached(metrics);
            let reason = if reached {
                StopReason::GoalReached
            } else {
                StopReason::LastLook
            };
            return Decision::Stop(reason);
        };
        if progress.trials < options.min_trials {
            return Decision::Continue { next_look };
        }
        if options.looks.contains(&progress.trials) && self.reached(metrics) {
            return Decision::Stop(StopReason::GoalReached);
        }
        if self.exceeds_budget(progress) {
            return Decision::Stop(StopReason::BudgetSpent);
        }
        Decision::Continue { next_look }
    }

    fn reached(&self, metrics: &[&Sample]) -> bool {
        let options = &self.options;
        let known = |sample: &&Sample| {
            half_width_percent_of(sample, options.confidence)
                .is_some_and(|half| half <= options.goal_percent)
        };
        !metrics.is_empty() && metrics.iter().all(known)
    }

    /// Whether the time is up, or would be after another trial of average length.
    fn exceeds_budget(&self, progress: Progress) -> bool {
        self.options.budget.is_some_and(|budget| {
            let average = progress.spent / progress.trials.max(1);
            progress.spent >= budget || progress.spent.saturating_add(average) > budget
        })
    }

    /// Confidence at which a test after `trials` trials keeps the rule's error over all the looks
    /// made so far: alpha divided by their number (Bonferroni).
    #[must_use]
    pub fn corrected_confidence(&self, trials: u32) -> Confidence {
        let made = self
            .options
            .looks
            .iter()
            .filter(|&&look| look <= trials)
            .count();
        let alpha = self.options.confidence.alpha() / made.max(1) as f64;
        Confidence::new(1.0 - alpha).unwrap_or(self.options.confidence)
    }
}

impl TryFrom<StoppingOptions> for StoppingRule {
    type Error = StatsError;
    fn try_from(options: StoppingOptions) -> Result<Self, StatsError> {
        Self::new(options)
    }
}

impl From<StoppingRule> for StoppingOptions {
    fn from(rule: StoppingRule) -> Self {
        rule.options
    }
}

/// Reached half-width of a sample's t-interval in percent of its mean; `None` for a single value
/// or a mean of 0 with any spread.
#[must_use]
pub fn half_width_percent_of(sample: &Sample, confidence: Confidence) -> Option<f64> {
    let percent = t_interval(sample, confidence).ok()?.half_width_percent();
    percent.is_finite().then_some(percent)
}

#[cfg(test)]
mod tests;

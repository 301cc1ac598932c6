use fathom_base::{Bytes, Nanos, Percent};
use fathom_model::nearest;

/// Trials of a case when nobody says otherwise: the first look at the interval comes after three.
pub const MIN_TRIALS: u32 = 3;
/// Trials of a case at most when nobody says otherwise: the last look.
pub const MAX_TRIALS: u32 = 30;
/// Half-width of the 95 % interval to reach when nobody says otherwise, per cent of the mean.
pub const GOAL_PERCENT: f64 = 2.0;
/// The most trials a case may have.
pub const TRIALS_LIMIT: u32 = 10_000;

/// A limit that can be lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap<T> {
    /// No limit, whatever a suite says.
    Lifted,
    /// This much.
    At(T),
}

impl<T: Copy> Cap<T> {
    /// The limit, when there is one.
    pub fn limit(self) -> Option<T> {
        match self {
            Self::Lifted => None,
            Self::At(limit) => Some(limit),
        }
    }
}

/// How long and how often to measure, as far as it was said: by a suite's `[run]` table, by the
/// user, or by nobody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSettings {
    /// Half-width of the 95 % interval to reach, of the mean.
    pub goal: Option<Percent>,
    /// Trials of a case at least.
    pub min_trials: Option<u32>,
    /// Trials of a case at most.
    pub max_trials: Option<u32>,
    /// Time for the trials of one case.
    pub case_budget: Option<Cap<Nanos>>,
    /// Time for the whole run.
    pub run_budget: Option<Cap<Nanos>>,
    /// Bytes the tests may write.
    pub write_limit: Option<Cap<Bytes>>,
    /// Time one trial or preparation may take.
    pub trial_limit: Option<Cap<Nanos>>,
}

/// A setting that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// There is no such setting.
    #[error("there is no setting {name}{}; expected one of {}", nearest_text(.nearest.as_deref()), KEYS.join(", "))]
    Unknown {
        /// As typed.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
    },
    /// The value does not fit.
    #[error("{name} = \"{value}\": expected {expected}")]
    Value {
        /// The setting.
        name: String,
        /// As typed.
        value: String,
        /// What is accepted.
        expected: &'static str,
    },
    /// Two settings contradict each other.
    #[error("at least {min} trials and at most {max}: raise max-trials or lower min-trials")]
    Trials {
        /// The smallest number.
        min: u32,
        /// The largest number.
        max: u32,
    },
}

fn nearest_text(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// The names of the settings in a suite's `[run]` table.
pub const KEYS: [&str; 7] = [
    "goal",
    "min-trials",
    "max-trials",
    "budget",
    "case-budget",
    "write-limit",
    "trial-limit",
];

impl RunSettings {
    /// Sets one by its name in a suite file.
    ///
    /// # Errors
    /// [`SettingError`] with what was expected.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
        let wrong = |expected| SettingError::Value {
            name: name.to_owned(),
            value: value.to_owned(),
            expected,
        };
        let trials = || {
            let number = value.parse().ok();
            number
                .filter(|number| (1..=TRIALS_LIMIT).contains(number))
                .ok_or_else(|| wrong("a whole number from 1 to 10000"))
        };
        let time = || cap(value).ok_or_else(|| wrong("a duration above zero (90s, 10m), or none"));
        match name {
            "goal" => {
                let percent = value.parse::<Percent>().ok();
                let percent = percent.filter(|percent| (0.01..=100.0).contains(&percent.value()));
                self.goal = Some(percent.ok_or_else(|| wrong("per cent from 0.01 to 100 (2%)"))?);
            }
            "min-trials" => self.min_trials = Some(trials()?),
            "max-trials" => self.max_trials = Some(trials()?),
            "budget" => self.run_budget = Some(time()?),
            "case-budget" => self.case_budget = Some(time()?),
            "trial-limit" => self.trial_limit = Some(time()?),
            "write-limit" => {
                let cap = cap(value).ok_or_else(|| wrong("a size (20GB), or none"))?;
                self.write_limit = Some(cap);
            }
            _ => {
                return Err(SettingError::Unknown {
                    name: name.to_owned(),
                    nearest: nearest(name, KEYS),
                });
            }
        }
        Ok(())
    }

    /// These settings, and those of `below` where these say nothing.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        Self {
            goal: self.goal.or(below.goal),
            min_trials: self.min_trials.or(below.min_trials),
            max_trials: self.max_trials.or(below.max_trials),
            case_budget: self.case_budget.or(below.case_budget),
            run_budget: self.run_budget.or(below.run_budget),
            write_limit: self.write_limit.or(below.write_limit),
            trial_limit: self.trial_limit.or(below.trial_limit),
        }
    }

    /// Trials at least and at most. When only one bound is said, the other one gives way.
    ///
    /// # Errors
    /// [`SettingError::Trials`] when both are said and contradict each other.
    pub fn trials(&self) -> Result<(u32, u32), SettingError> {
        match (self.min_trials, self.max_trials) {
            (Some(min), Some(max)) if min > max => Err(SettingError::Trials { min, max }),
            (Some(min), Some(max)) => Ok((min, max)),
            (Some(min), None) => Ok((min, MAX_TRIALS.max(min))),
            (None, Some(max)) => Ok((MIN_TRIALS.min(max), max)),
            (None, None) => Ok((MIN_TRIALS, MAX_TRIALS)),
        }
    }
}

/// A quantity above zero, or `none`.
fn cap<T: std::str::FromStr + Default + PartialOrd>(value: &str) -> Option<Cap<T>> {
    if value == "none" {
        return Some(Cap::Lifted);
    }
    let quantity = value.parse::<T>().ok()?;
    (quantity > T::default()).then_some(Cap::At(quantity))
}

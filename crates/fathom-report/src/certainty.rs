//! How well a number is known.

use std::sync::OnceLock;

use fathom_model::{Entry, Figure, Spread};
use fathom_stats::compare::{CompareRule, LogRatio, Summary};
use fathom_stats::{Confidence, Sample};

/// Number of trials, standard error and 95 % interval of a headline number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Certainty {
    /// Trials behind it; 0 when unknown.
    pub trials: u32,
    /// Standard error of the mean, as it is shown.
    pub standard_error: Option<f64>,
    /// Standard error with which intervals are made.
    error: Option<f64>,
    /// Half the width of the 95 % interval of the mean.
    pub half_width: Option<f64>,
}

impl Certainty {
    /// From the samples, or from what the file says of the spread. A printed standard error is
    /// widened by what rounding may hide before an interval is made of it.
    pub fn of(entry: &Entry) -> Self {
        if entry.samples.is_empty() {
            let known = entry.spread.as_deref().zip(entry.value.as_ref());
            return known.map_or_else(Self::default, |(spread, value)| {
                Self::printed(spread, value)
            });
        }
        let values: Vec<f64> = entry.samples.iter().map(Figure::value).collect();
        let trials = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let error = Sample::new(values)
            .ok()
            .and_then(|sample| sample.standard_error());
        Self::new(trials, error, error)
    }

    fn printed(spread: &Spread, value: &Figure) -> Self {
        let error = &spread.standard_error;
        let unit = |figure: &Figure| 0.1_f64.powi(figure.decimals() as i32);
        let widened = Summary::from_printed(
            value.value(),
            unit(value),
            error.value(),
            unit(error),
            spread.count,
        );
        Self::new(spread.count, Some(error.value()), widened.standard_error)
    }

    fn new(trials: u32, shown: Option<f64>, error: Option<f64>) -> Self {
        let usable = |error: &f64| error.is_finite() && *error >= 0.0 && trials >= 2;
        let error = error.filter(usable);
        Self {
            trials,
            standard_error: shown.filter(usable),
            error,
            half_width: error.map(|error| error * t_critical(trials - 1)),
        }
    }

    /// Half the width of the interval in per cent of `value`.
    pub fn half_width_percent(&self, value: f64) -> Option<f64> {
        let half = self.half_width?;
        Some(if half == 0.0 {
            0.0
        } else {
            100.0 * half / value.abs()
        })
    }

    /// The uncertainty as a share of `value`; `None` when it is not known or the value is 0.
    pub fn relative_to(&self, value: f64) -> Option<RelativeCertainty> {
        let error = self.error? / value.abs();
        error.is_finite().then_some(RelativeCertainty {
            error,
            trials: self.trials,
        })
    }

    /// The interval around `value`.
    pub fn interval(&self, value: f64) -> Option<(f64, f64)> {
        self.half_width.map(|half| (value - half, value + half))
    }
}

/// The two-sided 95 % value of Student t; kept, because large files ask for it often.
fn t_critical(degrees_of_freedom: u32) -> f64 {
    const KEPT: usize = 64;
    static VALUES: [OnceLock<f64>; KEPT] = [const { OnceLock::new() }; KEPT];
    let compute = || Confidence::P95.t_critical(f64::from(degrees_of_freedom));
    match VALUES.get(degrees_of_freedom as usize) {
        Some(value) => *value.get_or_init(compute),
        None => compute(),
    }
}

/// An uncertainty as a share of the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RelativeCertainty {
    error: f64,
    trials: u32,
}

impl RelativeCertainty {
    /// The one with the wider interval.
    pub fn larger(self, other: Self) -> Self {
        let half = |of: Self| of.error * t_critical(of.trials.saturating_sub(1).max(1));
        if half(other) > half(self) {
            other
        } else {
            self
        }
    }

    /// The same uncertainty of another mean.
    pub fn scaled_to(self, value: f64) -> Certainty {
        let error = self.error * value.abs();
        Certainty::new(self.trials, Some(error), Some(error))
    }
}

/// A positive mean with its certainty.
#[derive(Clone, Copy)]
pub(crate) struct Known<'c> {
    /// The mean.
    pub value: f64,
    /// How well it is known.
    pub certainty: &'c Certainty,
}

impl Known<'_> {
    /// The logarithm of `self / base` with its variance by the delta method; `None` unless both
    /// are above 0 and have a standard error.
    pub fn log_ratio_to(self, base: Self) -> Option<LogRatio> {
        let part = |known: Self| {
            let error = known.certainty.error.filter(|_| known.value > 0.0)?;
            let variance = (error / known.value).powi(2);
            Some((variance, f64::from(known.certainty.trials) - 1.0))
        };
        let ((a, df_a), (b, df_b)) = (part(self)?, part(base)?);
        let variance = a + b;
        // Satterthwaite 1946; without any spread all degrees of freedom.
        let degrees_of_freedom = match variance > 0.0 {
            true => variance * variance / (a * a / df_a + b * b / df_b),
            false => df_a + df_b,
        };
        let log_ratio = (self.value / base.value).ln();
        Some(LogRatio {
            log_ratio,
            variance,
            degrees_of_freedom,
        })
    }

    /// Whether the two differ by more than the standard margin with 95 % confidence; `None` when
    /// the spread of either is unknown.
    ///
    /// Welch's interval on the logarithm. The degrees of freedom are rounded down, which asks a
    /// little more than needed: the quantiles are then few enough to be kept.
    pub fn is_clearly_apart(self, other: Self) -> Option<bool> {
        let ratio = self.log_ratio_to(other)?;
        let reach = t_critical(ratio.degrees_of_freedom.floor().max(1.0) as u32);
        let margin = CompareRule::STANDARD.margin.ln_1p();
        Some(ratio.log_ratio.abs() - reach * ratio.variance.sqrt() > margin)
    }
}

#[cfg(test)]
mod tests {
    use fathom_stats::compare::{Answer, Arm, Direction, compare_arms};

    use super::*;

    fn entry(values: &[f64]) -> Entry {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Entry {
            value: Figure::new(mean),
            samples: values
                .iter()
                .filter_map(|value| Figure::new(*value))
                .collect(),
            ..Entry::default()
        }
    }

    /// Never claims a difference that the full comparison does not.
    #[test]
    fn what_is_clearly_apart_is_so_for_the_full_comparison() {
        let mut claims = 0;
        for step in 0..400 {
            let base = [100.0, 101.0, 99.5, 100.4];
            let shift = 1.0 + f64::from(step) * 2e-4;
            let other = base.map(|value| value * shift + (value * 7.0 + shift).sin());
            let (a, b) = (entry(&base), entry(&other));
            let (ca, cb) = (Certainty::of(&a), Certainty::of(&b));
            let known = |entry: &Entry| entry.value.as_ref().unwrap().value();
            let apart = Known {
                value: known(&b),
                certainty: &cb,
            }
            .is_clearly_apart(Known {
                value: known(&a),
                certainty: &ca,
            })
            .unwrap();
            let summary = |entry: &Entry, certainty: &Certainty| {
                Arm::Summary(Summary {
                    mean: known(entry),
                    standard_error: certainty.standard_error,
                    trials: certainty.trials,
                })
            };
            let full = compare_arms(
                summary(&a, &ca),
                summary(&b, &cb),
                Direction::HigherIsBetter,
                CompareRule::STANDARD,
            );
            let full_apart = matches!(full.unwrap().answer, Answer::Faster | Answer::Slower);
            assert!(!apart || full_apart, "shift {shift}");
            claims += u32::from(apart);
        }
        assert!(claims > 100, "{claims}");
    }

    #[test]
    fn rounding_of_a_printed_error_widens_the_interval() {
        let entry = Entry {
            value: Figure::parse("100"),
            spread: Some(Box::new(Spread {
                standard_error: Figure::parse("0.00").unwrap(),
                count: 3,
            })),
            ..Entry::default()
        };
        let certainty = Certainty::of(&entry);
        assert_eq!(certainty.standard_error, Some(0.0));
        assert!(certainty.half_width.unwrap() > 1.0);
    }
}

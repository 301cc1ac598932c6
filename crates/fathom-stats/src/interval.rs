//! A point with its interval, and the confidence of intervals.

use serde::{Deserialize, Serialize};

use crate::distribution::t_quantile;
use crate::error::StatsError;
use crate::sample::Sample;

/// How sure an interval is, as a fraction above 0.5 and below 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "f64")
)]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %, what every printed interval uses unless it says otherwise.
    pub const P95: Self = Self(0.95);

    /// A confidence of `fraction`.
    ///
    /// # Errors
    /// [`StatsError::OutOfRange`] unless 0.5 < `fraction` < 0.999999.
    pub fn new(fraction: f64) -> Result<Self, StatsError> {
        if fraction > 0.5 && fraction < 0.999_999 {
            return Ok(Self(fraction));
        }
        let (what, expected) = ("confidence", "a fraction above 0.5 and below 0.999999");
        Err(StatsError::OutOfRange {
            what,
            value: fraction,
            expected,
        })
    }

    /// The fraction, such as 0.95.
    #[must_use]
    pub const fn fraction(self) -> f64 {
        self.0
    }

    /// Probability of both tails together, such as 0.05.
    #[must_use]
    pub fn alpha(self) -> f64 {
        1.0 - self.0
    }

    /// The quantile that leaves half of alpha above, such as 0.975.
    pub(crate) fn upper_quantile(self) -> f64 {
        0.5 + 0.5 * self.0
    }

    /// Two-sided critical value of Student t with `df` degrees of freedom; infinite if `df` is
    /// not positive.
    #[must_use]
    pub fn t_critical(self, df: f64) -> f64 {
        if df > 0.0 {
            t_quantile(self.upper_quantile(), df)
        } else {
            f64::INFINITY
        }
    }
}

impl TryFrom<f64> for Confidence {
    type Error = StatsError;
    fn try_from(fraction: f64) -> Result<Self, StatsError> {
        Self::new(fraction)
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> Self {
        confidence.0
    }
}

/// An estimated number and the interval it lies in with the stated confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval.
    pub confidence: Confidence,
}

impl Estimate {
    /// `value` plus and minus `half_width`.
    pub(crate) fn around(value: f64, half_width: f64, confidence: Confidence) -> Self {
        Self {
            value,
            low: value - half_width,
            high: value + half_width,
            confidence,
        }
    }

    /// Half the width of the interval.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half the width in percent of the value's magnitude; infinite for a value of 0 unless the
    /// width is 0 too.
    #[must_use]
    pub fn half_width_percent(&self) -> f64 {
        let half = self.half_width();
        if half == 0.0 {
            0.0
        } else {
            100.0 * half / self.value.abs()
        }
    }

    /// Whether `number` lies in the interval, its ends included.
    #[must_use]
    pub fn contains(&self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self {
            value: f(self.value),
            low: f(self.low),
            high: f(self.high),
            ..self
        }
    }
}

/// Mean of a sample with its Student t interval: mean +- t(n-1) s / sqrt(n) (Student 1908).
///
/// Honest from about five trials on; with three the interval is wide because little is known.
///
/// # Errors
/// [`StatsError::TooFewValues`] for a single value.
pub fn t_interval(sample: &Sample, confidence: Confidence) -> Result<Estimate, StatsError> {
    let what = "an interval of the mean";
    let error = sample.standard_error().ok_or(StatsError::TooFewValues {
        what,
        needed: 2,
        got: sample.len(),
    })?;
    let half_width = confidence.t_critical(sample.len() as f64 - 1.0) * error;
    Ok(Estimate::around(sample.mean(), half_width, confidence))
}

#[cfg(test)]
mod tests;

//! Differences and ratios of two means: Welch, log-ratio, Fieller, effect size.

use serde::{Deserialize, Serialize};

use crate::distribution::t_two_sided_p;
use crate::error::StatsError;
use crate::interval::{Confidence, Estimate};
use crate::sample::Sample;

/// Result of a Student t test: an estimate, its test statistic and the chance of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TTest {
    /// What was estimated, with its interval.
    pub estimate: Estimate,
    /// Standard error of the estimate; of its logarithm if the estimate is a ratio.
    pub standard_error: f64,
    /// Test statistic against "no difference"; 0 if both samples are constant and equal,
    /// plus or minus [`f64::MAX`] if they are constant and differ.
    pub t: f64,
    /// Degrees of freedom (Welch-Satterthwaite).
    pub degrees_of_freedom: f64,
    /// Two-sided p value of "no difference".
    pub p: f64,
}

/// A mean on some scale with its squared standard error: what a t test needs of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Side {
    pub mean: f64,
    /// Squared standard error of the mean.
    pub variance: f64,
    pub degrees_of_freedom: f64,
}

impl Side {
    /// Mean and error of a sample of at least two values.
    pub fn of(sample: &Sample, what: &'static str) -> Result<Self, StatsError> {
        let got = sample.len();
        let error = sample.standard_error();
        let error = error.ok_or(StatsError::TooFewValues {
            what,
            needed: 2,
            got,
        })?;
        Ok(Self {
            mean: sample.mean(),
            variance: error * error,
            degrees_of_freedom: got as f64 - 1.0,
        })
    }
}

/// Degrees of freedom of a sum of independent variance estimates (Satterthwaite 1946):
/// (sum v)^2 / sum(v^2 / df); the sum of all df if every variance is 0.
pub(crate) fn satterthwaite(terms: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = terms.clone().map(|(v, _)| v).fold(0.0, f64::max);
    if largest == 0.0 {
        return terms.map(|(_, df)| df).sum();
    }
    // Scaled, so that squares of tiny variances do not vanish.
    let sum = terms.clone().map(|(v, _)| v / largest).sum::<f64>();
    let squares = terms.map(|(v, df)| (v / largest).powi(2) / df).sum::<f64>();
    sum * sum / squares
}

/// Student t test of `b - a` with unequal variances.
pub(crate) fn welch_of(a: Side, b: Side, confidence: Confidence) -> TTest {
    let difference = b.mean - a.mean;
    let error = (a.variance + b.variance).sqrt();
    let sides = [
        (a.variance, a.degrees_of_freedom),
        (b.variance, b.degrees_of_freedom),
    ];
    let df = satterthwaite(sides.iter().copied());
    let (t, p) = statistic(difference, error, df);
    let half_width = if error == 0.0 {
        0.0
    } else {
        confidence.t_critical(df) * error
    };
    let estimate = Estimate::around(difference, half_width, confidence);
    TTest {
        estimate,
        standard_error: error,
        t,
        degrees_of_freedom: df,
        p,
    }
}

/// exp, at most [`f64::MAX`]: files cannot hold infinities.
pub(crate) fn finite_exp(x: f64) -> f64 {
    x.exp().min(f64::MAX)
}

/// Test statistic and two-sided p value; without any spread a difference is certain.
pub(crate) fn statistic(difference: f64, error: f64, df: f64) -> (f64, f64) {
    if difference == 0.0 {
        return (0.0, 1.0);
    }
    if error == 0.0 {
        return (f64::MAX.copysign(difference), 0.0);
    }
    let t = difference / error;
    (t, t_two_sided_p(t, df))
}

/// Difference of means `b - a` without assuming equal variances (Welch 1947).
///
/// # Errors
/// [`StatsError::TooFewValues`] if a sample has a single value.
pub fn welch(a: &Sample, b: &Sample, confidence: Confidence) -> Result<TTest, StatsError> {
    let what = "a difference of means";
    Ok(welch_of(Side::of(a, what)?, Side::of(b, what)?, confidence))
}

/// Ratio `b / a` of geometric means: Welch's interval on the logarithms, taken back by exp.
///
/// Symmetric: swapping the samples gives the reciprocal ratio and interval. The estimate is the
/// ratio, `t` and `p` belong to its logarithm against 0.
///
/// # Errors
/// [`StatsError::TooFewValues`] if a sample has a single value, [`StatsError::NotPositive`] if a
/// value is not above 0.
pub fn log_ratio(a: &Sample, b: &Sample, confidence: Confidence) -> Result<TTest, StatsError> {
    let test = welch(&a.logarithms()?, &b.logarithms()?, confidence)?;
    Ok(TTest {
        estimate: test.estimate.map(finite_exp),
        ..test
    })
}

/// Ratio `b / a` of arithmetic means with Fieller's interval (Fieller 1954), degrees of freedom
/// as in [`welch`].
///
/// # Errors
/// [`StatsError::TooFewValues`] if a sample has a single value; [`StatsError::Unbounded`] if the
/// mean of `a` is not distinguishable from 0, so that no finite interval exists.
pub fn fieller(a: &Sample, b: &Sample, confidence: Confidence) -> Result<Estimate, StatsError> {
    let what = "a ratio of means";
    let (base, other) = (Side::of(a, what)?, Side::of(b, what)?);
    let sides = [
        (base.variance, base.degrees_of_freedom),
        (other.variance, other.degrees_of_freedom),
    ];
    let t = confidence.t_critical(satterthwaite(sides.iter().copied()));
    let g = t * t * base.variance / (base.mean * base.mean);
    // 0 / 0 where a constant sample is 0.
    if g.is_nan() || g >= 1.0 {
        return Err(StatsError::Unbounded {
            what,
            mean: base.mean,
        });
    }
    let ratio = other.mean / base.mean;
    let inner = other.variance * (1.0 - g) + ratio * ratio * base.variance;
    let half_width = t / (base.mean.abs() * (1.0 - g)) * inner.sqrt();
    let centre = ratio / (1.0 - g);
    let (low, high) = (centre - half_width, centre + half_width);
    Ok(Estimate {
        value: ratio,
        low,
        high,
        confidence,
    })
}

/// Standardised difference `b - a`: Cohen's d with the pooled standard deviation, times the
/// small-sample correction J = 1 - 3/(4 df - 1) (Hedges 1981).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EffectSize {
    /// Cohen's d.
    pub cohen_d: f64,
    /// The correction J.
    pub correction: f64,
    /// Hedges' g = J d.
    pub hedges_g: f64,
}

/// Effect size of `b` against `a`; infinite if both are constant and differ, 0 if they are equal.
///
/// # Errors
/// [`StatsError::TooFewValues`] if a sample has a single value.
pub fn effect_size(a: &Sample, b: &Sample) -> Result<EffectSize, StatsError> {
    let what = "an effect size";
    let variance = |s: &Sample| {
        s.variance().ok_or(StatsError::TooFewValues {
            what,
            needed: 2,
            got: s.len(),
        })
    };
    let (dfa, dfb) = (a.len() as f64 - 1.0, b.len() as f64 - 1.0);
    let df = dfa + dfb;
    let pooled = ((variance(a)? * dfa + variance(b)? * dfb) / df).sqrt();
    let difference = b.mean() - a.mean();
    let cohen_d = if difference == 0.0 {
        0.0
    } else {
        difference / pooled
    };
    let correction = 1.0 - 3.0 / (4.0 * df - 1.0);
    Ok(EffectSize {
        cohen_d,
        correction,
        hedges_g: correction * cohen_d,
    })
}

#[cfg(test)]
mod tests;

//! Is one system faster than another? Four answers, never a bare ratio.
//!
//! The ratio of means is judged on the logarithm with Welch's interval. `faster` and `slower`
//! need the whole interval beyond the margin, `same` needs it whole within the margin (the two
//! one-sided tests of Schuirmann 1987, at half the usual alpha), anything else is `cannot tell`.
//! The margin is symmetric on the logarithm, 1/(1+m) to 1+m, so that swapping the two sides
//! mirrors the answer.

use serde::{Deserialize, Serialize};

use crate::difference::{Side, TTest, finite_exp, statistic, welch_of};
use crate::distribution::{t_quantile, t_upper_p};
use crate::error::StatsError;
use crate::interval::Confidence;
use crate::multiple::{benjamini_hochberg, holm};
use crate::power::{minimum_detectable, smallest};
use crate::sample::Sample;

/// Most further trials a comparison asks for; more is "cannot tell" without a number.
pub const MAX_MORE_TRIALS: u32 = 1000;

/// Which way a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Direction {
    /// More is better: IOPS, MB/s.
    HigherIsBetter,
    /// Less is better: seconds, microseconds.
    LowerIsBetter,
}

/// What a comparison says about the contender against the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Answer {
    /// Better by more than the margin, with the confidence asked for.
    Faster,
    /// Worse by more than the margin, with the confidence asked for.
    Slower,
    /// Within the margin, with the confidence asked for.
    Same,
    /// The trials do not decide.
    CannotTell {
        /// Further trials a side after which they probably (with the power of the rule) would,
        /// if ratio and spread stay as measured; `None` if unknown or above
        /// [`MAX_MORE_TRIALS`].
        more_trials: Option<u32>,
    },
}

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareRule {
    /// Differences up to this fraction do not matter, 0 to 1; a machine's measured noise floor
    /// if that is larger than 1 %.
    pub margin: f64,
    /// Confidence of the interval.
    pub confidence: Confidence,
    /// Chance with which the smallest detectable difference is found, above 0.5 and below 1.
    pub power: f64,
}

impl CompareRule {
    /// Margin 1 %, confidence 95 %, power 80 %.
    pub const STANDARD: Self = Self {
        margin: 0.01,
        confidence: Confidence::P95,
        power: 0.8,
    };

    /// The standard rule with the larger of 1 % and the machine's noise floor (a fraction) as
    /// the margin.
    #[must_use]
    pub fn with_noise_floor(noise_floor: f64) -> Self {
        Self {
            margin: Self::STANDARD.margin.max(noise_floor),
            ..Self::STANDARD
        }
    }

    fn check(&self) -> Result<(), StatsError> {
        if !(0.0..1.0).contains(&self.margin) {
            let (what, expected) = ("margin", "a fraction from 0 to below 1");
            return Err(StatsError::OutOfRange {
                what,
                value: self.margin,
                expected,
            });
        }
        if !(self.power > 0.5 && self.power < 1.0) {
            let (what, expected) = ("power", "a fraction above 0.5 and below 1");
            return Err(StatsError::OutOfRange {
                what,
                value: self.power,
                expected,
            });
        }
        Ok(())
    }
}

/// One side of a comparison: its trials, or what is known where they are not.
#[derive(Debug, Clone, Copy)]
pub enum Arm<'a> {
    /// Every trial's value.
    Trials(&'a Sample),
    /// Mean, standard error and number, as public results give them.
    Summary(Summary),
}

/// A mean with its standard error and number of trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Arithmetic mean, above 0.
    pub mean: f64,
    /// Standard error of the mean; `None` if unknown.
    pub standard_error: Option<f64>,
    /// Number of trials.
    pub trials: u32,
}

impl Summary {
    /// A summary read from printed text: rounding widens the standard error.
    ///
    /// The true error may be half a unit of its last digit above what is printed (`0.00` is not
    /// zero), and the mean is off by up to half a unit of its own, uniformly (variance unit^2/12).
    #[must_use]
    pub fn from_printed(mean: f64, mean_unit: f64, error: f64, error_unit: f64, n: u32) -> Self {
        let widened = (error + error_unit / 2.0).powi(2) + mean_unit * mean_unit / 12.0;
        Self {
            mean,
            standard_error: Some(widened.sqrt()),
            trials: n,
        }
    }

    fn of(sample: &Sample) -> Self {
        Self {
            mean: sample.mean(),
            standard_error: sample.standard_error(),
            trials: u32::try_from(sample.len()).unwrap_or(u32::MAX),
        }
    }

    /// Logarithm of the mean by the delta method: variance (se / mean)^2.
    fn side(&self) -> Result<PartialSide, StatsError> {
        let (mean, position) = (self.mean, 0);
        if !(mean > 0.0 && mean.is_finite()) {
            return Err(StatsError::NotPositive {
                what: "a ratio",
                position,
                value: mean,
            });
        }
        let error = self.standard_error.filter(|_| self.trials >= 2);
        if let Some(value) = error.filter(|e| !(*e >= 0.0 && e.is_finite())) {
            let (what, expected) = ("standard error", "a finite number from 0");
            return Err(StatsError::OutOfRange {
                what,
                value,
                expected,
            });
        }
        Ok(PartialSide {
            mean: mean.ln(),
            variance: error.map(|e| (e / mean).powi(2)),
            trials: self.trials,
        })
    }
}

/// A mean on the log scale whose variance may be unknown.
#[derive(Clone, Copy)]
struct PartialSide {
    mean: f64,
    variance: Option<f64>,
    trials: u32,
}

impl PartialSide {
    fn of_logarithms(sample: &Sample) -> Result<Self, StatsError> {
        let logarithms = sample.logarithms()?;
        let summary = Summary::of(&logarithms);
        let variance = summary.standard_error.map(|e| e * e);
        Ok(Self {
            mean: summary.mean,
            variance,
            trials: summary.trials,
        })
    }

    fn known(self) -> Option<Side> {
        let degrees_of_freedom = f64::from(self.trials) - 1.0;
        self.variance.map(|variance| Side {
            mean: self.mean,
            variance,
            degrees_of_freedom,
        })
    }
}

/// A ratio's logarithm with its variance, for combining several tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Natural logarithm of contender / baseline.
    pub log_ratio: f64,
    /// Squared standard error of it.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub degrees_of_freedom: f64,
}

/// A judged comparison of a contender with a baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// Contender divided by baseline: of geometric means if both have trials, else of
    /// arithmetic means.
    pub ratio: f64,
    /// Interval of the ratio with its test; `None` if the spread of a side is unknown.
    pub interval: Option<TTest>,
    /// Which way the metric improves.
    pub direction: Direction,
    /// The rule applied.
    pub rule: CompareRule,
    /// The answer.
    pub answer: Answer,
    /// Two-sided p value of "the ratio lies within the margin": at most alpha exactly if the
    /// answer is faster or slower. The one to adjust over several tests.
    pub p_beyond_margin: Option<f64>,
    /// Smallest true difference (a fraction, margin included) that these trials would have
    /// called faster or slower with the power of the rule; `None` if the spread is unknown.
    pub minimum_detectable: Option<f64>,
}

/// Compares a contender's trials with a baseline's.
///
/// # Errors
/// [`StatsError::NotPositive`] for a value that is not above 0 (no ratio exists),
/// [`StatsError::OutOfRange`] for an impossible rule. A side with a single trial is no error: the
/// answer is `cannot tell`.
pub fn compare(
    baseline: &Sample,
    contender: &Sample,
    direction: Direction,
    rule: CompareRule,
) -> Result<Comparison, StatsError> {
    compare_arms(
        Arm::Trials(baseline),
        Arm::Trials(contender),
        direction,
        rule,
    )
}

/// Compares two sides of which trials or only summaries are known.
///
/// If one side is a summary both are taken as such: the ratio of arithmetic means with the
/// delta method on the logarithm.
///
/// # Errors
/// As [`compare`].
pub fn compare_arms(
    baseline: Arm<'_>,
    contender: Arm<'_>,
    direction: Direction,
    rule: CompareRule,
) -> Result<Comparison, StatsError> {
    rule.check()?;
    let (base, other) = match (baseline, contender) {
        (Arm::Trials(a), Arm::Trials(b)) => (
            PartialSide::of_logarithms(a)?,
            PartialSide::of_logarithms(b)?,
        ),
        (a, b) => (summary_of(a).side()?, summary_of(b).side()?),
    };
    Ok(judge(base, other, direction, rule))
}

fn summary_of(arm: Arm<'_>) -> Summary {
    match arm {
        Arm::Trials(sample) => Summary::of(sample),
        Arm::Summary(summary) => summary,
    }
}

fn judge(
    base: PartialSide,
    other: PartialSide,
    direction: Direction,
    rule: CompareRule,
) -> Comparison {
    let mut comparison = Comparison {
        ratio: (other.mean - base.mean).exp(),
        interval: None,
        direction,
        rule,
        answer: Answer::CannotTell { more_trials: None },
        p_beyond_margin: None,
        minimum_detectable: None,
    };
    let (Some(a), Some(b)) = (base.known(), other.known()) else {
        return comparison;
    };
    let test = welch_of(a, b, rule.confidence);
    let margin = rule.margin.ln_1p();
    let df = test.degrees_of_freedom;
    let error = test.standard_error;
    comparison.interval = Some(TTest {
        estimate: test.estimate.map(finite_exp),
        ..test
    });
    let beyond = (test.estimate.value.abs() - margin).max(0.0);
    comparison.p_beyond_margin = Some(statistic(beyond, error, df).1);
    let detectable = minimum_detectable(error, df, rule.power, rule.confidence);
    comparison.minimum_detectable = Some((margin + detectable).exp_m1());
    comparison.answer = if test.estimate.low > margin {
        better_if(direction == Direction::HigherIsBetter)
    } else if test.estimate.high < -margin {
        better_if(direction == Direction::LowerIsBetter)
    } else if test.estimate.low >= -margin && test.estimate.high <= margin {
        Answer::Same
    } else {
        let spread = [spread_of(base), spread_of(other)];
        let fewest = base.trials.min(other.trials);
        let gap = (test.estimate.value.abs() - margin).abs();
        Answer::CannotTell {
            more_trials: more_trials(spread, fewest, gap, rule),
        }
    };
    comparison
}

fn better_if(better: bool) -> Answer {
    if better {
        Answer::Faster
    } else {
        Answer::Slower
    }
}

/// Variance of one trial on the log scale.
fn spread_of(side: PartialSide) -> f64 {
    side.variance.unwrap_or(0.0) * f64::from(side.trials)
}

/// Further trials a side until the interval is expected to clear the margin by `gap`.
///
/// Smallest n with (t(1 - alpha/2) + t(power)) sqrt((va + vb)/n) <= gap, the usual central-t
/// sample size (Cohen 1988), with Welch's degrees of freedom for equal n.
fn more_trials(spread: [f64; 2], fewest: u32, gap: f64, rule: CompareRule) -> Option<u32> {
    let [va, vb] = spread;
    let df_factor = (va + vb).powi(2) / (va * va + vb * vb);
    let enough = |n: u32| {
        let n = f64::from(n);
        let df = df_factor * (n - 1.0);
        let reach = rule.confidence.t_critical(df) + t_quantile(rule.power, df);
        reach * ((va + vb) / n).sqrt() <= gap
    };
    let to = fewest.saturating_add(MAX_MORE_TRIALS);
    smallest(fewest.saturating_add(1), to, enough).map(|n| n - fewest)
}

impl Comparison {
    /// Logarithm of the ratio with its variance; `None` if the spread of a side is unknown.
    #[must_use]
    pub fn log_ratio(&self) -> Option<LogRatio> {
        let test = self.interval?;
        Some(LogRatio {
            log_ratio: self.ratio.ln(),
            variance: test.standard_error.powi(2),
            degrees_of_freedom: test.degrees_of_freedom,
        })
    }

    /// How many times better the contender is: the ratio, or its reciprocal where lower is
    /// better.
    #[must_use]
    pub fn improvement(&self) -> f64 {
        match self.direction {
            Direction::HigherIsBetter => self.ratio,
            Direction::LowerIsBetter => 1.0 / self.ratio,
        }
    }
}

/// How p values are adjusted when several tests are judged at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Adjustment {
    /// Holm: at most alpha chance of a single false faster or slower. For gates.
    Holm,
    /// Benjamini-Hochberg: at most alpha of the faster and slower are expected to be false. For
    /// reports.
    BenjaminiHochberg,
}

/// Takes back `faster` and `slower` where the p value, adjusted over all the comparisons that
/// have one, exceeds alpha; such an answer becomes `cannot tell`. Gives the adjusted p values.
///
/// `same` is left as it is: it was never a claim of a difference.
pub fn adjust(comparisons: &mut [Comparison], adjustment: Adjustment) -> Vec<Option<f64>> {
    let p: Vec<f64> = comparisons
        .iter()
        .filter_map(|c| c.p_beyond_margin)
        .collect();
    let adjusted = match adjustment {
        Adjustment::Holm => holm(&p),
        Adjustment::BenjaminiHochberg => benjamini_hochberg(&p),
    };
    let mut next = adjusted.into_iter();
    let mut all = Vec::with_capacity(comparisons.len());
    for comparison in comparisons {
        let p = comparison.p_beyond_margin.and_then(|_| next.next());
        let refuted = p.is_some_and(|p| p > comparison.rule.confidence.alpha());
        if refuted && matches!(comparison.answer, Answer::Faster | Answer::Slower) {
            comparison.answer = Answer::CannotTell { more_trials: None };
        }
        all.push(p);
    }
    all
}

/// p value of "the ratio `b / a` lies outside 1/(1+margin) to 1+margin": the larger of the two
/// one-sided tests on the logarithm (TOST; Schuirmann 1987, Lakens 2017).
///
/// # Errors
/// As [`crate::log_ratio`], and [`StatsError::OutOfRange`] for a margin not above 0.
pub fn equivalence_p(a: &Sample, b: &Sample, margin: f64) -> Result<f64, StatsError> {
    if !(margin > 0.0 && margin.is_finite()) {
        let (what, expected) = ("margin", "a fraction above 0");
        return Err(StatsError::OutOfRange {
            what,
            value: margin,
            expected,
        });
    }
    let what = "a ratio";
    let (a, b) = (
        Side::of(&a.logarithms()?, what)?,
        Side::of(&b.logarithms()?, what)?,
    );
    let error = (a.variance + b.variance).sqrt();
    let df = welch_of(a, b, Confidence::P95).degrees_of_freedom;
    let gap = margin.ln_1p() - (b.mean - a.mean).abs();
    if error == 0.0 {
        return Ok(if gap > 0.0 { 0.0 } else { 1.0 });
    }
    Ok(t_upper_p(gap / error, df))
}

#[cfg(test)]
mod tests;

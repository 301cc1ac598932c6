//! The values of one metric over the trials of a case, and their moments.

use crate::error::StatsError;

/// Largest magnitude of a value, so that squares and their sums stay finite.
pub const MAX_MAGNITUDE: f64 = 1e120;
/// Most values in a sample.
pub const MAX_VALUES: usize = 1 << 24;

/// At least one finite number, in the order measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
}

impl Sample {
    /// Checks and keeps `values`.
    ///
    /// # Errors
    /// [`StatsError::TooFewValues`] if there is none, [`StatsError::TooManyValues`] above
    /// [`MAX_VALUES`], [`StatsError::NotFinite`] for NaN, infinities and magnitudes above
    /// [`MAX_MAGNITUDE`].
    pub fn new(values: impl Into<Vec<f64>>) -> Result<Self, StatsError> {
        let values = values.into();
        let got = values.len();
        if got == 0 {
            return Err(StatsError::TooFewValues {
                what: "a sample",
                needed: 1,
                got,
            });
        }
        if got > MAX_VALUES {
            return Err(StatsError::TooManyValues {
                what: "a sample",
                limit: MAX_VALUES,
                got,
            });
        }
        let bad = values
            .iter()
            .position(|v| v.is_nan() || v.abs() > MAX_MAGNITUDE);
        match bad {
            Some(position) => Err(StatsError::NotFinite {
                position,
                value: values[position],
            }),
            None => Ok(Self { values }),
        }
    }

    /// The values in the order measured.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of values, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// The values, smallest first.
    #[must_use]
    pub fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.values.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// Smallest value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.values.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Largest value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.values
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Natural logarithms of the values.
    ///
    /// # Errors
    /// [`StatsError::NotPositive`] naming the first value that is not above 0.
    pub fn logarithms(&self) -> Result<Self, StatsError> {
        let bad = self.values.iter().position(|&v| v <= 0.0);
        if let Some(position) = bad {
            let (what, value) = ("a ratio", self.values[position]);
            return Err(StatsError::NotPositive {
                what,
                position,
                value,
            });
        }
        Ok(Self {
            values: self.values.iter().map(|v| v.ln()).collect(),
        })
    }

    /// Arithmetic mean, corrected once for rounding (Neely 1966).
    #[must_use]
    pub fn mean(&self) -> f64 {
        let n = self.values.len() as f64;
        let first = self.values.iter().sum::<f64>() / n;
        first + self.values.iter().map(|v| v - first).sum::<f64>() / n
    }

    /// Sum of squared deviations from the mean (corrected two-pass algorithm, Chan et al. 1983).
    fn squares(&self) -> f64 {
        let mean = self.mean();
        let rest = self.values.iter().map(|v| v - mean).sum::<f64>();
        let squares = self.values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        (squares - rest * rest / self.values.len() as f64).max(0.0)
    }

    /// Sample variance, divisor n - 1; `None` for a single value.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        let n = self.values.len();
        (n >= 2).then(|| self.squares() / (n as f64 - 1.0))
    }

    /// Sample standard deviation, divisor n - 1; `None` for a single value.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Population standard deviation, divisor n; 0 for a single value.
    #[must_use]
    pub fn population_standard_deviation(&self) -> f64 {
        (self.squares() / self.values.len() as f64).sqrt()
    }

    /// Standard error of the mean, s / sqrt(n); `None` for a single value.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        self.standard_deviation()
            .map(|sd| sd / (self.values.len() as f64).sqrt())
    }

    /// Coefficient of variation s / |mean| as a fraction; `None` for a single value or a mean
    /// of 0.
    #[must_use]
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        let mean = self.mean().abs();
        self.standard_deviation()
            .filter(|_| mean > 0.0)
            .map(|sd| sd / mean)
    }
}

impl TryFrom<Vec<f64>> for Sample {
    type Error = StatsError;
    fn try_from(values: Vec<f64>) -> Result<Self, StatsError> {
        Self::new(values)
    }
}

#[cfg(test)]
mod tests;

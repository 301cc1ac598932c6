//! How well a number is known.

use std::sync::OnceLock;

use fathom_model::{Entry, Figure};
use fathom_stats::{Confidence, Sample};

/// Number of trials, standard error and 95 % interval of a headline number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Certainty {
    /// Trials behind it; 0 when unknown.
    pub trials: u32,
    /// Standard error of the mean.
    pub standard_error: Option<f64>,
    /// Half the width of the 95 % interval of the mean.
    pub half_width: Option<f64>,
}

impl Certainty {
    /// From the samples, or from what the file says of the spread.
    pub fn of(entry: &Entry) -> Self {
        let (trials, standard_error) = match (&entry.spread, entry.samples.len()) {
            (Some(spread), 0) => (spread.count, Some(spread.standard_error.value())),
            (_, 0) => return Self::default(),
            (_, count) => {
                let values: Vec<f64> = entry.samples.iter().map(Figure::value).collect();
                let error = Sample::new(values)
                    .ok()
                    .and_then(|sample| sample.standard_error());
                (u32::try_from(count).unwrap_or(u32::MAX), error)
            }
        };
        let standard_error = standard_error.filter(|error| error.is_finite() && trials >= 2);
        let half_width = standard_error.map(|error| error * t_critical(trials - 1));
        Self {
            trials,
            standard_error,
            half_width,
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

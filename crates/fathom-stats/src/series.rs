//! Values in time: autocorrelation, batch means, trend.

use crate::distribution::normal_two_sided_p;
use crate::error::StatsError;
use crate::sample::Sample;

/// Most points a trend test looks at (it compares all pairs); batch longer series first.
pub const MAX_TREND_POINTS: usize = 2000;
/// Fewest batches whose means may stand for independent values (Law & Kelton 2000).
pub const MIN_BATCHES: usize = 20;

/// How much independent information a series of correlated values holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    /// Correlation of neighbours, -1 to 1; 0 for a constant series.
    pub lag_one: f64,
    /// Independent values the series is worth, n (1 - r1)/(1 + r1), kept within 1 and n.
    pub effective_count: f64,
    /// Standard error of the mean with that many values.
    pub standard_error: f64,
}

/// Lag-one autocorrelation and the effective number of values of an AR(1) series (Bayley &
/// Hammersley 1946). Negative correlation is not credited.
///
/// # Errors
/// [`StatsError::TooFewValues`] below 3 values.
pub fn autocorrelation(series: &Sample) -> Result<Autocorrelation, StatsError> {
    let n = series.len();
    let deviation = series.standard_deviation().filter(|_| n >= 3);
    let Some(deviation) = deviation else {
        return Err(StatsError::TooFewValues {
            what: "an autocorrelation",
            needed: 3,
            got: n,
        });
    };
    let mean = series.mean();
    let centred: Vec<f64> = series.values().iter().map(|v| v - mean).collect();
    let squares = centred.iter().map(|c| c * c).sum::<f64>();
    let products = centred
        .windows(2)
        .map(|pair| pair[0] * pair[1])
        .sum::<f64>();
    let lag_one = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    let n = n as f64;
    let effective_count = (n * (1.0 - lag_one) / (1.0 + lag_one)).clamp(1.0, n);
    Ok(Autocorrelation {
        lag_one,
        effective_count,
        standard_error: deviation / effective_count.sqrt(),
    })
}

/// Means of `batches` runs of equally many neighbours, the oldest values left over dropped
/// (start-up belongs there); nearly independent if batches are longer than the correlation.
///
/// # Errors
/// [`StatsError::TooFewValues`] if there are fewer than two values a batch,
/// [`StatsError::OutOfRange`] below [`MIN_BATCHES`].
pub fn batch_means(series: &Sample, batches: usize) -> Result<Sample, StatsError> {
    if batches < MIN_BATCHES {
        let (what, value) = ("number of batches", batches as f64);
        return Err(StatsError::OutOfRange {
            what,
            value,
            expected: "at least 20",
        });
    }
    let got = series.len();
    let needed = batches.saturating_mul(2);
    if got < needed {
        return Err(StatsError::TooFewValues {
            what: "batch means",
            needed,
            got,
        });
    }
    let size = got / batches;
    let kept = &series.values()[got - size * batches..];
    let mean = |batch: &[f64]| batch.iter().sum::<f64>() / size as f64;
    Sample::new(kept.chunks_exact(size).map(mean).collect::<Vec<_>>())
}

/// Result of a trend test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Rising pairs minus falling pairs.
    pub s: i64,
    /// Variance of `s` without a trend, corrected for ties.
    pub variance: f64,
    /// Normal score of `s`, corrected for continuity.
    pub z: f64,
    /// Two-sided p value of "no trend".
    pub p: f64,
    /// Sen's slope: median change from one value to the next.
    pub sen_slope: f64,
}

/// Mann-Kendall test for a monotonic trend (Mann 1945, Kendall 1975) with Sen's slope (1968).
///
/// Correlated neighbours make it too eager; use means of intervals well apart.
///
/// # Errors
/// [`StatsError::TooFewValues`] below 4 values (no trend can be seen in three),
/// [`StatsError::TooManyValues`] above [`MAX_TREND_POINTS`].
pub fn mann_kendall(series: &Sample) -> Result<Trend, StatsError> {
    let (what, got) = ("a trend test", series.len());
    if got < 4 {
        return Err(StatsError::TooFewValues {
            what,
            needed: 4,
            got,
        });
    }
    if got > MAX_TREND_POINTS {
        return Err(StatsError::TooManyValues {
            what,
            limit: MAX_TREND_POINTS,
            got,
        });
    }
    let values = series.values();
    let mut s = 0_i64;
    let mut slopes = Vec::with_capacity(got * (got - 1) / 2);
    for (i, earlier) in values.iter().enumerate() {
        for (apart, later) in values[i + 1..].iter().enumerate() {
            s += i64::from(later > earlier) - i64::from(later < earlier);
            slopes.push((later - earlier) / (apart as f64 + 1.0));
        }
    }
    let n = got as f64;
    let sorted = series.sorted();
    let groups = sorted
        .chunk_by(|x, y| x == y)
        .map(|group| group.len() as f64);
    let ties = groups.map(|t| t * (t - 1.0) * (2.0 * t + 5.0)).sum::<f64>();
    let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - ties) / 18.0;
    let z = if s == 0 {
        0.0
    } else {
        (s - s.signum()) as f64 / variance.sqrt()
    };
    let sen_slope = Sample::new(slopes)?.median();
    Ok(Trend {
        s,
        variance,
        z,
        p: normal_two_sided_p(z),
        sen_slope,
    })
}

/// Least-squares straight line through values at 0, 1, 2 ...
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Value of the line at the first point.
    pub intercept: f64,
    /// Change from one point to the next; 0 for a single point.
    pub slope: f64,
}

/// The least-squares line of a series (Legendre 1805).
#[must_use]
pub fn least_squares(series: &Sample) -> Line {
    let n = series.len() as f64;
    let (middle, mean) = ((n - 1.0) / 2.0, series.mean());
    let (mut products, mut squares) = (0.0, 0.0);
    for (i, value) in series.values().iter().enumerate() {
        let off = i as f64 - middle;
        products += off * (value - mean);
        squares += off * off;
    }
    let slope = if squares > 0.0 {
        products / squares
    } else {
        0.0
    };
    Line {
        intercept: mean - slope * middle,
        slope,
    }
}

#[cfg(test)]
mod tests;

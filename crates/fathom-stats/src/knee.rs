//! Where a latency over a rate leaves its flat part.

use crate::error::StatsError;
use crate::sample::Sample;

/// A rate and the latency at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// The rate asked for.
    pub rate: f64,
    /// The latency, in any unit; not finite where there is none.
    pub latency: f64,
    /// Whether the rate was kept: what was due was done.
    pub is_kept: bool,
}

/// What a curve of latency over rate says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Latency of the flat part: the median of the lowest third of the rates.
    pub flat_latency: f64,
    /// The highest rate up to which every latency is within the limit.
    pub rate: f64,
    /// Latency there.
    pub latency: f64,
    /// The first rate beyond: kept with a latency over the limit, or not kept. `None` when the
    /// curve stays flat.
    pub beyond: Option<f64>,
}

/// Fewest points of a curve.
const FEWEST: usize = 4;

/// Finds the last rate at which the latency is at most `factor` times that of the flat part. Points
/// may come in any order; one beyond the knee that is low by chance does not move it up.
///
/// # Errors
/// [`StatsError::TooFewValues`] below 4 points, or when the lowest third of the rates has no latency;
/// [`StatsError::OutOfRange`] for a factor that is not above 1.
pub fn knee(points: &[RatePoint], factor: f64) -> Result<Option<Knee>, StatsError> {
    let (what, got) = ("a curve of latency over rate", points.len());
    if got < FEWEST {
        return Err(StatsError::TooFewValues {
            what,
            needed: FEWEST,
            got,
        });
    }
    if !(factor.is_finite() && factor > 1.0) {
        return Err(StatsError::OutOfRange {
            what: "factor of the flat latency",
            value: factor,
            expected: "above 1",
        });
    }
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let lowest = &sorted[..got.div_ceil(3).max(2)];
    let sound = lowest.iter().filter(|p| p.is_kept && p.latency.is_finite());
    let flat: Vec<f64> = sound.map(|point| point.latency).collect();
    if flat.is_empty() {
        return Ok(None);
    }
    let flat_latency = Sample::new(flat)?.median();
    let is_within =
        |p: &RatePoint| p.is_kept && p.latency.is_finite() && p.latency <= factor * flat_latency;
    let beyond = sorted.iter().position(|point| !is_within(point));
    let last = match beyond {
        Some(0) => return Ok(None),
        Some(at) => sorted[at - 1],
        None => sorted[got - 1],
    };
    Ok(Some(Knee {
        flat_latency,
        rate: last.rate,
        latency: last.latency,
        beyond: beyond.map(|at| sorted[at].rate),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(latency: impl Fn(f64) -> f64, limit: f64) -> Vec<RatePoint> {
        (1..=20)
            .map(|step| {
                let rate = f64::from(step) * 50.0;
                RatePoint {
                    rate,
                    latency: latency(rate),
                    is_kept: rate < limit,
                }
            })
            .collect()
    }

    #[test]
    fn the_knee_of_a_queue_is_where_the_formula_says() {
        // M/M/1 with 1000 a second: p99 is ln(100) / (1000 - rate). The flat part is the median of
        // the rates 50 to 350 (200: 1/800), and twice that is reached at 1000 - 400 = 600.
        let points = curve(|rate| 100_f64.ln() / (1000.0 - rate), 1000.0);
        let found = knee(&points, 2.0).unwrap().unwrap();
        assert!((found.flat_latency - 100_f64.ln() / 800.0).abs() < 1e-12);
        assert_eq!((found.rate, found.beyond), (600.0, Some(650.0)));
        let mut shuffled = points;
        shuffled.reverse();
        assert_eq!(knee(&shuffled, 2.0).unwrap().unwrap(), found);
    }

    #[test]
    fn a_rate_that_is_not_kept_ends_the_curve() {
        let found = knee(&curve(|_| 1.0, 700.0), 2.0).unwrap().unwrap();
        assert_eq!((found.rate, found.beyond), (650.0, Some(700.0)));
        let flat = knee(&curve(|_| 1.0, 1e9), 2.0).unwrap().unwrap();
        assert_eq!((flat.rate, flat.beyond), (1000.0, None));
    }

    #[test]
    fn a_low_point_behind_the_knee_does_not_move_it() {
        let mut points = curve(|rate| if rate > 500.0 { 9.0 } else { 1.0 }, 1e9);
        points[15].latency = 1.0;
        assert_eq!(knee(&points, 2.0).unwrap().unwrap().rate, 500.0);
    }

    #[test]
    fn what_says_nothing_gives_no_knee() {
        assert_eq!(knee(&curve(|_| 1.0, 0.0), 2.0), Ok(None));
        assert_eq!(knee(&curve(|_| f64::NAN, 1e9), 2.0), Ok(None));
        assert!(knee(&curve(|_| 1.0, 1e9)[..3], 2.0).is_err());
        assert!(knee(&curve(|_| 1.0, 1e9), 1.0).is_err());
        // The flat part is the higher of two: nothing lies before it.
        let mut first = curve(|_| 1.0, 1e9);
        first[0].latency = 5.0;
        assert_eq!(knee(&first, 2.0), Ok(None));
    }
}

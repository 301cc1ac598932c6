//! Where a series changes its level: E-divisive splits, kept only if large and significant.
//!
//! The split maximises the energy statistic of Matteson & James (2014); significance comes from
//! a t test with a weak and a strict threshold instead of permutations, as in Hunter (Fleming,
//! Kołaczkowski et al. 2023, arXiv 2301.03034), so that the answer needs no random numbers. The
//! place was chosen because it looks best among many, which a plain t test would not know, so each
//! p value is multiplied by the number of places the change could have been at (Bonferroni).

use crate::difference::welch;
use crate::error::StatsError;
use crate::interval::Confidence;
use crate::sample::Sample;

/// Most points of a series; batch longer ones first (the search is quadratic).
pub const MAX_POINTS: usize = 2000;

/// A possible change and its energy statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    /// Number of points before the change: the first point after it has this index.
    pub index: usize,
    /// n m / (n + m) times the energy distance of the two parts, exponent 1.
    pub q: f64,
}

/// When a split counts as a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRule {
    /// Fewest points on each side of a change, at least 2.
    pub min_segment: usize,
    /// Smallest change of the mean that counts, as a fraction of the mean before.
    pub min_magnitude: f64,
    /// p value up to which splitting goes on; generous, because a split that looks weak may
    /// open the way to strong ones.
    pub weak_p: f64,
    /// p value a change must reach in the end.
    pub strict_p: f64,
}

impl ChangeRule {
    /// Segments of 3 points, 10 % magnitude, split on while p <= 0.05, keep at p <= 0.001.
    pub const STANDARD: Self = Self {
        min_segment: 3,
        min_magnitude: 0.1,
        weak_p: 0.05,
        strict_p: 0.001,
    };
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first point at the new level.
    pub index: usize,
    /// Mean of the segment before.
    pub before: f64,
    /// Mean of the segment after.
    pub after: f64,
    /// p value of Welch's t test between the two segments, times the number of places between
    /// their ends where the change could have been, at most 1.
    pub p: f64,
}

impl Change {
    /// Change as a fraction of the mean before; infinite if that is 0.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        (self.after - self.before) / self.before.abs()
    }
}

/// Energy statistic of every split with at least `min_segment` (at least 2) points a side.
///
/// Q = n m/(n+m) (2 mean|x-y| - mean|x-x'| - mean|y-y'|), the within means over unordered pairs
/// (U-statistics, as in Apache Otava).
///
/// # Errors
/// [`StatsError::TooManyValues`] above [`MAX_POINTS`].
pub fn split_statistics(series: &Sample, min_segment: usize) -> Result<Vec<Split>, StatsError> {
    let got = series.len();
    if got > MAX_POINTS {
        let what = "a search for changes";
        return Err(StatsError::TooManyValues {
            what,
            limit: MAX_POINTS,
            got,
        });
    }
    Ok(energy_splits(series.values(), min_segment.max(2)))
}

fn energy_splits(values: &[f64], min_segment: usize) -> Vec<Split> {
    let distance = |x: f64, others: &[f64]| others.iter().map(|y| (x - y).abs()).sum::<f64>();
    let total = values.len();
    // Sums of |x - y| over pairs: both left, one on each side, both right.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..total)
        .map(|i| distance(values[i], &values[i + 1..]))
        .sum();
    let mut splits = Vec::new();
    for index in 1..total {
        // The point before `index` moves from right to left.
        let moved = values[index - 1];
        let to_left = distance(moved, &values[..index - 1]);
        let to_right = distance(moved, &values[index..]);
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if index < min_segment || total - index < min_segment {
            continue;
        }
        let (n, m) = (index as f64, (total - index) as f64);
        let pairs = |k: f64| k * (k - 1.0) / 2.0;
        let energy = 2.0 * between / (n * m) - left / pairs(n) - right / pairs(m);
        splits.push(Split {
            index,
            q: n * m / (n + m) * energy,
        });
    }
    splits
}

/// The split with the largest statistic; the first of equals.
fn best_split(values: &[f64], min_segment: usize) -> Option<usize> {
    let splits = energy_splits(values, min_segment);
    let best = splits
        .into_iter()
        .reduce(|best, next| if next.q > best.q { next } else { best });
    best.map(|split| split.index)
}

/// Changes of level in a series, oldest first.
///
/// # Errors
/// [`StatsError::TooManyValues`] above [`MAX_POINTS`]; [`StatsError::OutOfRange`] for a rule
/// with segments below 2 points.
pub fn change_points(series: &Sample, rule: ChangeRule) -> Result<Vec<Change>, StatsError> {
    let (what, got) = ("a search for changes", series.len());
    if got > MAX_POINTS {
        return Err(StatsError::TooManyValues {
            what,
            limit: MAX_POINTS,
            got,
        });
    }
    if rule.min_segment < 2 {
        let (what, value) = ("shortest segment", rule.min_segment as f64);
        return Err(StatsError::OutOfRange {
            what,
            value,
            expected: "at least 2 points",
        });
    }
    let values = series.values();
    let mut places = weak_places(values, rule)?;
    loop {
        let changes = changes_at(values, &places, rule)?;
        let Some(worst) = worst_change(&changes, rule) else {
            return Ok(changes);
        };
        places.remove(worst);
    }
}

/// Splits as long as the parts differ weakly.
fn weak_places(values: &[f64], rule: ChangeRule) -> Result<Vec<usize>, StatsError> {
    let mut places = Vec::new();
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        let Some(offset) = best_split(&values[from..to], rule.min_segment) else {
            continue;
        };
        let place = from + offset;
        if change_between(&values[from..to], offset, from, rule)?.p <= rule.weak_p {
            places.push(place);
            open.extend([(from, place), (place, to)]);
        }
    }
    places.sort_unstable();
    Ok(places)
}

/// The changes at sorted places, each between its neighbouring segments.
fn changes_at(
    values: &[f64],
    places: &[usize],
    rule: ChangeRule,
) -> Result<Vec<Change>, StatsError> {
    let ends: Vec<usize> = places.iter().copied().chain([values.len()]).collect();
    let starts = std::iter::once(0).chain(places.iter().copied());
    starts
        .zip(ends.windows(2))
        .map(|(start, end)| change_between(&values[start..end[1]], end[0] - start, start, rule))
        .collect()
}

/// The change `offset` points into a part of the series that begins at `start`.
fn change_between(
    part: &[f64],
    offset: usize,
    start: usize,
    rule: ChangeRule,
) -> Result<Change, StatsError> {
    let (a, b) = (Sample::new(&part[..offset])?, Sample::new(&part[offset..])?);
    let places = (part.len() + 1).saturating_sub(2 * rule.min_segment).max(1);
    let p = welch(&a, &b, Confidence::P95)?.p * places as f64;
    Ok(Change {
        index: start + offset,
        before: a.mean(),
        after: b.mean(),
        p: p.min(1.0),
    })
}

/// Place of the least significant change that does not meet the rule.
fn worst_change(changes: &[Change], rule: ChangeRule) -> Option<usize> {
    let fails = |c: &Change| c.p > rule.strict_p || c.magnitude().abs() < rule.min_magnitude;
    let failing = changes.iter().enumerate().filter(|(_, c)| fails(c));
    failing
        .max_by(|(_, x), (_, y)| x.p.total_cmp(&y.p))
        .map(|(place, _)| place)
}

#[cfg(test)]
mod tests;

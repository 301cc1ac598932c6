//! Tests that use only the order of values: Mann-Whitney, Cliff, Hodges-Lehmann, permutation.

use crate::distribution::normal_two_sided_p;
use crate::error::StatsError;
use crate::sample::Sample;

/// Up to this many values in both samples together the Mann-Whitney p value is exact.
pub const EXACT_UP_TO: usize = 60;
/// Most pairs of values a rank estimate looks at.
pub const MAX_PAIRS: usize = 4_000_000;
/// Most regroupings an exact permutation test tries.
pub const MAX_PERMUTATIONS: u64 = 200_000;

/// Result of a Mann-Whitney test of `b` against `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which `b` is larger, ties counted half.
    pub u: f64,
    /// Two-sided p value, exact (ties included) for up to [`EXACT_UP_TO`] values; `None` above.
    pub p_exact: Option<f64>,
    /// Two-sided p value by the normal approximation, corrected for ties and continuity.
    pub p_asymptotic: f64,
    /// Cliff's delta, P(b > a) - P(b < a), -1 to 1 (Cliff 1993).
    pub cliffs_delta: f64,
    /// Vargha and Delaney's A, P(b > a) + P(b = a)/2 (2000).
    pub vargha_delaney_a: f64,
}

impl MannWhitney {
    /// The exact p value where there is one, else the asymptotic one.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.p_exact.unwrap_or(self.p_asymptotic)
    }
}

/// Mann-Whitney test whether `b` tends to be larger or smaller than `a` (Mann & Whitney 1947).
///
/// Three values a side can never reach 5 %: the smallest two-sided p is 0.1.
///
/// The exact p value is the share of all regroupings of the pooled midranks at least as extreme
/// on the nearer side, doubled, at most 1.
#[must_use]
pub fn mann_whitney(a: &Sample, b: &Sample) -> MannWhitney {
    let (na, nb) = (a.len(), b.len());
    let pooled: Vec<f64> = a.values().iter().chain(b.values()).copied().collect();
    let ranks = doubled_midranks(&pooled);
    let sum_b: u64 = ranks[na..].iter().sum();
    let (n, pairs) = ((na + nb) as f64, na as f64 * nb as f64);
    let u = sum_b as f64 / 2.0 - nb as f64 * (nb as f64 + 1.0) / 2.0;
    let ties = tie_term(&ranks);
    let variance = pairs / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
    let off = ((u - pairs / 2.0).abs() - 0.5).max(0.0);
    let p_asymptotic = if variance > 0.0 {
        normal_two_sided_p(off / variance.sqrt())
    } else {
        1.0
    };
    let share = u / pairs;
    MannWhitney {
        u,
        p_exact: (na + nb <= EXACT_UP_TO).then(|| exact_rank_sum_p(&ranks, nb, sum_b)),
        p_asymptotic,
        cliffs_delta: 2.0 * share - 1.0,
        vargha_delaney_a: share,
    }
}

/// Twice the average rank of each value (1 = smallest), so that ties keep integers.
fn doubled_midranks(values: &[f64]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let value = values[order[start]];
        let mut end = start + 1;
        while end < order.len() && values[order[end]] == value {
            end += 1;
        }
        // Ranks start+1 ..= end have the average (start + 1 + end) / 2.
        for &place in &order[start..end] {
            ranks[place] = (start + 1 + end) as u64;
        }
        start = end;
    }
    ranks
}

/// Sum of t^3 - t over groups of t tied values.
fn tie_term(ranks: &[u64]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let groups = sorted
        .chunk_by(|x, y| x == y)
        .map(|group| group.len() as f64);
    groups.map(|t| t * t * t - t).sum()
}

/// Share of subsets of `chosen` ranks whose sum is at least as extreme as `observed`.
fn exact_rank_sum_p(ranks: &[u64], chosen: usize, observed: u64) -> f64 {
    let total: u64 = ranks.iter().sum();
    let width = total as usize + 1;
    // ways[k][s]: subsets of k of the ranks seen so far with sum s; exact up to 2^53.
    let mut ways = vec![vec![0.0_f64; width]; chosen + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        let rank = rank as usize;
        for k in (1..=chosen.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(k);
            let (from, to) = (&fewer[k - 1], &mut more[0]);
            for (sum, &n) in from[..width - rank]
                .iter()
                .enumerate()
                .filter(|(_, n)| **n > 0.0)
            {
                to[sum + rank] += n;
            }
        }
    }
    let all: f64 = ways[chosen].iter().sum();
    let observed = observed as usize;
    let at_most: f64 = ways[chosen][..=observed].iter().sum();
    let at_least: f64 = ways[chosen][observed..].iter().sum();
    (2.0 * at_most.min(at_least) / all).min(1.0)
}

/// Hodges-Lehmann shift of `b` against `a`: the median of all differences b - a (1963).
///
/// # Errors
/// [`StatsError::TooManyValues`] above [`MAX_PAIRS`] pairs.
pub fn hodges_lehmann(a: &Sample, b: &Sample) -> Result<f64, StatsError> {
    let got = a.len().saturating_mul(b.len());
    if got > MAX_PAIRS {
        let what = "a Hodges-Lehmann shift (pairs)";
        return Err(StatsError::TooManyValues {
            what,
            limit: MAX_PAIRS,
            got,
        });
    }
    let pair = |x: &f64| a.values().iter().map(move |y| x - y).collect::<Vec<_>>();
    Ok(Sample::new(b.values().iter().flat_map(pair).collect::<Vec<_>>())?.median())
}

/// Result of an exact permutation test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// Number of regroupings, all of which were tried.
    pub permutations: u64,
    /// Share of them whose means differ at least as much as measured.
    pub p: f64,
}

/// Exact two-sided permutation test of the difference of means (Fisher 1935; Pitman 1937).
///
/// # Errors
/// [`StatsError::TooManyValues`] if there are more than [`MAX_PERMUTATIONS`] regroupings.
pub fn permutation_test(a: &Sample, b: &Sample) -> Result<Permutation, StatsError> {
    let (na, nb) = (a.len(), b.len());
    let permutations = choose(na + nb, na).filter(|&n| n <= MAX_PERMUTATIONS);
    let Some(permutations) = permutations else {
        let (what, limit) = (
            "an exact permutation test (values; 10 a side is the most)",
            20,
        );
        return Err(StatsError::TooManyValues {
            what,
            limit,
            got: na + nb,
        });
    };
    // Centred, so that the sums lose no digits.
    let pooled: Vec<f64> = a.values().iter().chain(b.values()).copied().collect();
    let centre = Sample::new(pooled.clone())?.mean();
    let values: Vec<f64> = pooled.iter().map(|v| v - centre).collect();
    let total: f64 = values.iter().sum();
    let gap = |sum_a: f64| (sum_a / na as f64 - (total - sum_a) / nb as f64).abs();
    let observed = gap(values[..na].iter().sum());
    let scale = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let least = observed - 1e-12 * scale;
    let mut extreme = 0_u64;
    for_each_sum(&values, na, &mut |sum| {
        extreme += u64::from(gap(sum) >= least)
    });
    Ok(Permutation {
        permutations,
        p: extreme as f64 / permutations as f64,
    })
}

/// Calls `each` with the sum of every subset of `chosen` values.
fn for_each_sum(values: &[f64], chosen: usize, each: &mut impl FnMut(f64)) {
    let n = values.len();
    let mut places: Vec<usize> = (0..chosen).collect();
    loop {
        each(places.iter().map(|&i| values[i]).sum());
        // The last place that can still move up.
        let Some(i) = (0..chosen).rev().find(|&i| places[i] < n - chosen + i) else {
            return;
        };
        places[i] += 1;
        for j in i + 1..chosen {
            places[j] = places[j - 1] + 1;
        }
    }
}

/// Binomial coefficient; `None` if it does not fit.
fn choose(n: usize, k: usize) -> Option<u64> {
    let k = k.min(n - k) as u64;
    let mut result = 1_u64;
    for i in 0..k {
        result = result.checked_mul(n as u64 - i)? / (i + 1);
    }
    Some(result)
}

#[cfg(test)]
mod tests;

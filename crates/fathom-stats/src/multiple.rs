//! p values of several tests judged at once.

/// Adjusted p values after Holm (1979): family-wise error, in the order given.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut adjusted = vec![0.0; m];
    let mut largest = 0.0_f64;
    for (position, &place) in ascending(p).iter().enumerate() {
        largest = largest.max((m - position) as f64 * p[place]).min(1.0);
        adjusted[place] = largest;
    }
    adjusted
}

/// Adjusted p values after Benjamini & Hochberg (1995): false discovery rate, in the order given.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let m = p.len();
    let mut adjusted = vec![0.0; m];
    let mut smallest = 1.0_f64;
    for (position, &place) in ascending(p).iter().enumerate().rev() {
        smallest = smallest.min(m as f64 / (position as f64 + 1.0) * p[place]);
        adjusted[place] = smallest;
    }
    adjusted
}

/// Adjusted p values after Bonferroni (Dunn 1961), in the order given.
#[must_use]
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    let m = p.len() as f64;
    p.iter().map(|p| (p * m).min(1.0)).collect()
}

/// Places of `p` by rising value.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..p.len()).collect();
    places.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    places
}

#[cfg(test)]
mod tests;

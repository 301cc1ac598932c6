//! Tests of modality.

use super::*;
use crate::distribution::normal_quantile;
use crate::random::Xoshiro256;
use crate::testing::{near, sample};

/// Share of 1000 simulated samples that are called bimodal.
fn share(n: usize, seed: u64, draw: impl Fn(usize, f64) -> f64) -> f64 {
    let mut random = Xoshiro256::new(seed);
    let found = (0..1000).filter(|_| {
        let values: Vec<f64> = (0..n)
            .map(|i| draw(i, random.fraction().max(1e-12)))
            .collect();
        two_modes(&sample(&values), 0.0).is_some()
    });
    found.count() as f64 / 1000.0
}

#[test]
fn false_alarms_are_rare() {
    for n in [8, 10, 20, 50] {
        let normal = share(n, 1, |_, u| 100.0 + normal_quantile(u));
        assert!(normal <= 0.02, "normal {n}: {normal}");
        let uniform = share(n, 2, |_, u| u);
        assert!(uniform <= 0.07, "uniform {n}: {uniform}");
        let exponential = share(n, 3, |_, u| -u.ln());
        assert!(exponential <= 0.07, "exponential {n}: {exponential}");
    }
}

#[test]
fn two_groups_are_found() {
    let apart = |by: f64| move |i, u| normal_quantile(u) + if i % 2 == 0 { 0.0 } else { by };
    for (n, by, least) in [(10, 8.0, 0.9), (20, 6.0, 0.85), (50, 6.0, 0.95)] {
        let found = share(n, 4, apart(by));
        assert!(found >= least, "{n} values {by} apart: {found}");
    }
}

#[test]
fn groups_are_described() {
    let values = sample(&[10.1, 20.2, 9.9, 10.0, 19.8, 20.0, 10.0, 10.2, 9.8]);
    let modes = two_modes(&values, 0.02).unwrap();
    assert_eq!((modes.low_count, modes.high_count), (6, 3));
    near(modes.low_mean, 10.0);
    near(modes.high_mean, 20.0);
    assert!(modes.separation > 50.0);
}

#[test]
fn rounding_and_outliers_are_not_groups() {
    let rounded = sample(&[100.0, 101.0, 100.0, 101.0, 100.0, 101.0, 101.0, 100.0]);
    assert!(two_modes(&rounded, 0.02).is_none());
    assert_eq!(two_modes(&rounded, 0.0).unwrap().separation, f64::MAX);
    let outlier = sample(&[10.0, 10.1, 9.9, 10.0, 10.2, 9.8, 10.0, 30.0]);
    assert!(two_modes(&outlier, 0.02).is_none());
    assert!(two_modes(&sample(&[5.0; 10]), 0.0).is_none());
    assert!(two_modes(&sample(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0]), 0.0).is_none());
}

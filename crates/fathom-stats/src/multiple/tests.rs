//! Tests of adjusted p values.

use proptest::prelude::*;

use super::*;
use crate::testing::near;

/// stat_refs `multiple.p`.
const P: [f64; 10] = [
    0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216,
];

#[track_caller]
fn check(adjusted: &[f64], expected: &[f64]) {
    assert_eq!(adjusted.len(), expected.len());
    for (&found, &expected) in adjusted.iter().zip(expected) {
        near(found, expected);
    }
}

#[test]
fn adjustments_match_the_reference() {
    check(
        &holm(&P),
        &[
            0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615,
        ],
    );
    let fifth = 0.1057142857142857;
    let bh = [
        0.01, 0.04, 0.084, 0.084, 0.084, 0.1, fifth, 0.216, 0.216, 0.216,
    ];
    check(&benjamini_hochberg(&P), &bh);
    check(
        &bonferroni(&P),
        &[0.01, 0.08, 0.39, 0.41, 0.42, 0.6, 0.74, 1.0, 1.0, 1.0],
    );
    check(&holm(&[]), &[]);
    check(&benjamini_hochberg(&[0.04]), &[0.04]);
}

#[test]
fn the_order_given_is_kept() {
    check(&holm(&[0.04, 0.001, 0.03]), &[0.06, 0.003, 0.06]);
    check(
        &benjamini_hochberg(&[0.04, 0.001, 0.03]),
        &[0.04, 0.003, 0.04],
    );
}

proptest! {
    #[test]
    fn adjusting_only_raises_and_keeps_order(p in prop::collection::vec(0.0..=1.0_f64, 1..30)) {
        let (by_holm, by_bh) = (holm(&p), benjamini_hochberg(&p));
        for i in 0..p.len() {
            prop_assert!(p[i] <= by_bh[i] + 1e-15 && by_bh[i] <= by_holm[i] + 1e-15);
            prop_assert!(by_holm[i] <= bonferroni(&p)[i] + 1e-15);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || by_holm[i] <= by_holm[j]);
                prop_assert!(p[i] > p[j] || by_bh[i] <= by_bh[j]);
            }
        }
    }
}

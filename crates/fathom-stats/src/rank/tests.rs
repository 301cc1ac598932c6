//! Tests of the rank tests.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, B, C, D, near, sample};

#[test]
fn mann_whitney_matches_the_reference() {
    // stat_refs `mannwhitney_B_vs_A`, `mannwhitney_D_vs_C`.
    for (a, b, u, exact, asymptotic, delta, vargha) in [
        (
            &A[..],
            &B[..],
            25.0,
            0.007936507937,
            0.01218578036,
            1.0,
            1.0,
        ),
        (
            &C[..],
            &D[..],
            6.0,
            0.7,
            0.6625205835,
            0.3333333333333,
            0.6666666666667,
        ),
    ] {
        let test = mann_whitney(&sample(a), &sample(b));
        assert_eq!(test.u, u);
        near(test.p_exact.unwrap(), exact);
        near(test.p_asymptotic, asymptotic);
        near(test.cliffs_delta, delta);
        near(test.vargha_delaney_a, vargha);
        near(test.p(), exact);
    }
    near(hodges_lehmann(&sample(&A), &sample(&B)).unwrap(), 4.5);
    near(hodges_lehmann(&sample(&C), &sample(&D)).unwrap(), 1.5);
}

#[test]
fn ties_are_exact_too() {
    // All 1716 regroupings of the midranks counted in Python; asymptotic from scipy.
    let a = sample(&[1.0, 2.0, 2.0, 3.0, 5.0, 5.0]);
    let b = sample(&[2.0, 4.0, 5.0, 6.0, 6.0, 7.0, 8.0]);
    let test = mann_whitney(&a, &b);
    assert_eq!(test.u, 35.0);
    near(test.p_exact.unwrap(), 0.04428904428904429);
    near(test.p_asymptotic, 0.050835582280956304);
}

#[test]
fn smallest_p_values_are_the_published_ones() {
    // stat_refs `min_two_sided_exact_MW_p`: three trials a side can never reach 5 %.
    for (n, expected) in [
        (3, 0.1),
        (4, 0.02857142857),
        (5, 0.007936507937),
        (6, 0.002164502165),
        (7, 0.0005827505828),
        (8, 0.0001554001554),
    ] {
        let low: Vec<f64> = (0..n).map(f64::from).collect();
        let high: Vec<f64> = low.iter().map(|v| v + 100.0).collect();
        near(
            mann_whitney(&sample(&low), &sample(&high)).p_exact.unwrap(),
            expected,
        );
    }
}

#[test]
fn equal_values_are_no_evidence() {
    let test = mann_whitney(&sample(&[2.0; 4]), &sample(&[2.0; 5]));
    assert_eq!(
        (test.p_exact, test.p_asymptotic, test.cliffs_delta),
        (Some(1.0), 1.0, 0.0)
    );
}

#[test]
fn large_samples_are_asymptotic() {
    let low: Vec<f64> = (0..40).map(f64::from).collect();
    let test = mann_whitney(&sample(&low), &sample(&low));
    assert_eq!(test.p_exact, None);
    assert_eq!(test.p(), 1.0);
}

#[test]
fn permutations_match_the_reference() {
    // stat_refs `permutation_exact_*`; the third: 36 of 126 regroupings, counted in Python.
    for (a, b, permutations, p) in [
        (&A[..], &B[..], 252, 0.007936507937),
        (&C[..], &D[..], 20, 0.7),
        (
            &[100.0, 103.0, 97.0, 104.5][..],
            &[101.5, 104.0, 98.5, 108.0, 110.0][..],
            126,
            36.0 / 126.0,
        ),
    ] {
        let test = permutation_test(&sample(a), &sample(b)).unwrap();
        assert_eq!(test.permutations, permutations);
        near(test.p, p);
    }
}

#[test]
fn too_many_regroupings_are_refused() {
    let many: Vec<f64> = (0..11).map(f64::from).collect();
    assert!(permutation_test(&sample(&many), &sample(&many)).is_err());
    assert!(permutation_test(&sample(&many[..10]), &sample(&many[..10])).is_ok());
    let wide = sample(&vec![1.0; 2001]);
    assert!(hodges_lehmann(&wide, &wide).is_err());
}

proptest! {
    #[test]
    fn ranks_see_only_order(
        a in prop::collection::vec(1.0..1e3_f64, 1..15),
        b in prop::collection::vec(1.0..1e3_f64, 1..15),
    ) {
        let plain = mann_whitney(&sample(&a), &sample(&b));
        let cube = |v: &[f64]| sample(&v.iter().map(|x| x.powi(3)).collect::<Vec<_>>());
        prop_assert_eq!(mann_whitney(&cube(&a), &cube(&b)), plain);
        let mirrored = mann_whitney(&sample(&b), &sample(&a));
        prop_assert!((mirrored.cliffs_delta + plain.cliffs_delta).abs() < 1e-12);
        prop_assert!((mirrored.p() - plain.p()).abs() < 1e-12);
        prop_assert!(plain.p() > 0.0 && plain.p() <= 1.0);
    }

    #[test]
    fn hodges_lehmann_finds_a_shift(
        a in prop::collection::vec(1.0..1e3_f64, 1..15),
        shift in -100.0..100.0_f64,
    ) {
        let b: Vec<f64> = a.iter().map(|v| v + shift).collect();
        let found = hodges_lehmann(&sample(&a), &sample(&b)).unwrap();
        prop_assert!((found - shift).abs() < 1e-9);
    }
}

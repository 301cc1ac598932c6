//! Tests of medians, quantiles, outliers and rank intervals.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, B, C, D, near, sample, within};

#[test]
fn quartiles_and_deviations_match_the_reference() {
    // stat_refs `summary`.
    for (values, median, mad, q1, q3) in [
        (&A[..], 100.5, 0.7, 99.8, 101.2),
        (&B[..], 105.0, 0.6, 104.4, 105.6),
        (&C[..], 100.0, 3.0, 98.5, 101.5),
        (&D[..], 101.5, 2.5, 100.0, 102.75),
    ] {
        let sample = sample(values);
        near(sample.median(), median);
        near(sample.median_absolute_deviation(), mad);
        near(sample.quantile(0.25), q1);
        near(sample.quantile(0.75), q3);
    }
    // The Phoronix Test Suite answers 3 here.
    assert_eq!(sample(&[1.0, 2.0, 3.0, 4.0]).median(), 2.5);
}

#[test]
fn outliers_are_flagged_with_their_place() {
    // stat_refs `modified_z`.
    let values = sample(&[100.0, 101.0, 99.0, 100.5, 140.0]);
    for (z, expected) in values
        .modified_z_scores()
        .into_iter()
        .zip([-0.6745, 0.6745, -2.0235, 0.0, 53.2855])
    {
        near(z, expected);
    }
    let [outlier] = values.outliers()[..] else {
        panic!("one outlier was expected")
    };
    assert_eq!((outlier.position, outlier.value), (4, 140.0));
}

#[test]
fn outliers_are_found_among_equal_values() {
    let mostly_equal = sample(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0]);
    assert_eq!(mostly_equal.median_absolute_deviation(), 0.0);
    assert_eq!(mostly_equal.outliers().len(), 1);
    assert!(sample(&[5.0; 6]).outliers().is_empty());
    assert!(sample(&[5.0]).outliers().is_empty());
}

#[test]
fn median_ranks_match_the_reference() {
    // stat_refs `median_order_stat_ci95_ranks_1based`.
    let ranks = |n| rank_interval(n, 0.5, Confidence::P95).unwrap();
    assert_eq!(ranks(5), None);
    for (n, low, high, coverage) in [
        (6, 1, 6, 0.96875),
        (7, 1, 7, 0.984375),
        (8, 1, 7, 0.9609375),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (15, 4, 12, 0.96484375),
        (20, 6, 15, 0.9586105347),
        (30, 10, 21, 0.9572260547),
        (1000, 469, 531, 0.9500154764972458), // scipy binom
    ] {
        let found = ranks(n).unwrap();
        assert_eq!((found.low, found.high), (low, high), "n {n}");
        near(found.coverage, coverage);
    }
}

#[test]
fn other_quantiles_match_the_binomial() {
    // scipy binom: the pair with the fewest ranks between.
    for (n, fraction, low, high, coverage) in [
        (100, 0.9, 84, 96, 0.955690107191223),
        (50, 0.75, 32, 44, 0.9518759680040764),
        (500, 0.99, 491, 500, 0.9623274103090973),
    ] {
        let found = rank_interval(n, fraction, Confidence::P95)
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.low, found.high),
            (low, high),
            "n {n} quantile {fraction}"
        );
        near(found.coverage, coverage);
    }
}

#[test]
fn many_values_get_equal_tails() {
    // scipy binom, exact equal tails; the approximations may be a rank wider or narrower.
    for (n, fraction, low, high) in [
        (10_000, 0.999, 9983, 9997),
        (100_000, 0.5, 49_690, 50_311),
        (1_000_000, 0.99, 989_805, 990_196),
        (20_000, 0.99, 19_772, 19_828),
    ] {
        let found = rank_interval(n, fraction, Confidence::P95)
            .unwrap()
            .unwrap();
        assert!(
            found.low.abs_diff(low) <= 1,
            "n {n} quantile {fraction}: {found:?}"
        );
        assert!(
            found.high.abs_diff(high) <= 1,
            "n {n} quantile {fraction}: {found:?}"
        );
    }
    // Too few beyond the quantile for an upper end.
    assert_eq!(rank_interval(5000, 0.9999, Confidence::P95).unwrap(), None);
    let mirrored = rank_interval(10_000, 0.001, Confidence::P95)
        .unwrap()
        .unwrap();
    let plain = rank_interval(10_000, 0.999, Confidence::P95)
        .unwrap()
        .unwrap();
    assert_eq!(
        (mirrored.low, mirrored.high),
        (10_001 - plain.high, 10_001 - plain.low)
    );
}

#[test]
fn a_median_interval_says_how_many_values_it_needs() {
    let error = sample(&A)
        .quantile_interval(0.5, Confidence::P95)
        .unwrap_err();
    let expected = "a distribution-free interval of a quantile needs at least 6 values, got 5";
    assert_eq!(error.to_string(), expected);
    let six = sample(&[4.0, 1.0, 6.0, 2.0, 5.0, 3.0]);
    let estimate = six.quantile_interval(0.5, Confidence::P95).unwrap();
    assert_eq!(
        (estimate.low, estimate.value, estimate.high),
        (1.0, 3.5, 6.0)
    );
    assert!(six.quantile_interval(1.0, Confidence::P95).is_err());
}

#[test]
fn percentiles_need_ten_values_beyond() {
    for (percent, needed) in [
        (0.0, 10),
        (50.0, 20),
        (90.0, 100),
        (99.0, 1000),
        (99.9, 10_000),
        (99.99, 100_000),
        (99.999, 1_000_000),
        (99.9999, 10_000_000),
    ] {
        assert_eq!(percentile_needs_samples(percent), Some(needed), "{percent}");
    }
    for bad in [-0.1, 100.0, f64::NAN] {
        assert_eq!(percentile_needs_samples(bad), None);
    }
}

#[test]
fn upper_bounds_need_the_published_numbers() {
    // stat_refs `p99_needs_n`.
    for (percent, needed) in [
        (99.0, 299),
        (99.9, 2995),
        (99.99, 29_956),
        (99.999, 299_572),
    ] {
        let found = percentile_bound_needs_samples(percent, Confidence::P95);
        assert_eq!(found, Some(needed), "{percent}");
    }
    assert_eq!(percentile_bound_needs_samples(100.0, Confidence::P95), None);
}

proptest! {
    #[test]
    fn quantiles_rise_and_stay_inside(
        values in prop::collection::vec(-1e6..1e6_f64, 1..60),
        p in 0.0..1.0_f64,
        q in 0.0..1.0_f64,
    ) {
        let sample = sample(&values);
        let (low, high) = (sample.quantile(p.min(q)), sample.quantile(p.max(q)));
        prop_assert!(sample.min() <= low && low <= high && high <= sample.max());
    }

    #[test]
    fn modified_z_ignores_shift_and_scale(
        values in prop::collection::vec(-1e3..1e3_f64, 3..30),
        shift in -1e3..1e3_f64,
        scale in 0.1..10.0_f64,
    ) {
        let moved: Vec<f64> = values.iter().map(|v| v * scale + shift).collect();
        let spread = sample(&values).median_absolute_deviation();
        prop_assume!(spread > 1e-3);
        let plain = sample(&values).modified_z_scores();
        for (x, y) in plain.iter().zip(sample(&moved).modified_z_scores()) {
            within(y, *x, 1e-6 * (1.0 + x.abs()));
        }
    }

    #[test]
    fn rank_intervals_reach_their_confidence(n in 1_u64..1000, fraction in 0.01..0.99_f64) {
        if let Some(ranks) = rank_interval(n, fraction, Confidence::P95).unwrap() {
            prop_assert!(ranks.coverage >= 0.95);
            prop_assert!(1 <= ranks.low && ranks.low <= ranks.high && ranks.high <= n);
        } else {
            let n = n as f64;
            let missed = fraction.powf(n) + (1.0 - fraction).powf(n);
            prop_assert!(missed > 0.05 - 1e-9, "ranks exist but were not found");
        }
    }
}

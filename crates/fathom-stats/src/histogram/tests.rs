//! Tests of the histogram.

use super::*;

#[test]
fn index_with_6_bits_is_fios() {
    // stat_refs.json `loglinear_hist_bits6_index`, from fio's plat_val_to_idx.
    for (ns, index) in [
        (0, 0),
        (1, 1),
        (63, 63),
        (64, 64),
        (127, 127),
        (128, 128),
        (129, 128),
        (255, 191),
        (256, 192),
        (1000, 317),
        (4096, 448),
        (10_000, 526),
        (123_456, 760),
        (1_000_000, 954),
        (1_000_000_000, 1591),
    ] {
        assert_eq!(bucket_index(FIO_SUB_BUCKET_BITS, ns), index, "{ns} ns");
    }
}

#[test]
fn bounds_are_the_inverse_of_the_index_without_gaps() {
    for bits in MIN_BITS..=10 {
        let mut next = 0_u64;
        for index in 0..=last_index(bits) {
            let (low, high) = bucket_bounds(bits, index);
            assert_eq!(low, next, "bits {bits} index {index}");
            assert_eq!(bucket_index(bits, low), index);
            assert_eq!(bucket_index(bits, high), index);
            next = high.wrapping_add(1);
        }
        assert_eq!(next, 0, "the last bucket ends at u64::MAX");
    }
}

#[test]
fn a_value_comes_back_within_four_tenths_of_a_percent() {
    let mut ns = 1_u64;
    while ns < MAX_TRACKABLE_NS / 2 {
        let mut histogram = Histogram::new();
        histogram.extend([0, ns, MAX_TRACKABLE_NS]);
        let found = histogram.percentile(50.0).unwrap();
        let error = (found as f64 - ns as f64).abs() / ns as f64;
        assert!(error <= 0.004, "{ns} came back as {found}");
        ns = ns + ns / 37 + 1;
    }
}

#[test]
fn extremes_mean_and_clipping_are_exact() {
    let mut histogram = Histogram::new();
    histogram.extend([3, 1_000_001, MAX_TRACKABLE_NS, MAX_TRACKABLE_NS + 7]);
    assert_eq!(histogram.min(), Some(3));
    assert_eq!(histogram.max(), Some(MAX_TRACKABLE_NS + 7));
    assert_eq!(histogram.percentile(100.0), Some(MAX_TRACKABLE_NS + 7));
    assert_eq!(histogram.clipped(), 1);
    assert_eq!(histogram.sum(), 3 + 1_000_001 + 2 * MAX_TRACKABLE_NS + 7);
}

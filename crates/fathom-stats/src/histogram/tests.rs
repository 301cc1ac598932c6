//! Tests of the histogram.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::interval::Confidence;
use crate::testing::within;

fn of(durations: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    histogram.extend(durations.iter().copied());
    histogram
}

#[test]
fn index_with_6_bits_is_fios() {
    // stat_refs `loglinear_hist_bits6_index`, from fio's plat_val_to_idx.
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
    assert_eq!(BUCKETS, 4864);
}

#[test]
fn a_value_comes_back_within_four_tenths_of_a_percent() {
    let mut ns = 1_u64;
    while ns < MAX_TRACKABLE_NS / 2 {
        let found = of(&[0, ns, MAX_TRACKABLE_NS]).percentile(50.0).unwrap();
        let error = (found as f64 - ns as f64).abs() / ns as f64;
        assert!(error <= 0.004, "{ns} came back as {found}");
        assert!(ns >= 256 || found == ns, "{ns} came back as {found}");
        ns = ns + ns / 37 + 1;
    }
}

#[test]
fn extremes_mean_and_clipping_are_exact() {
    let histogram = of(&[3, 1_000_001, MAX_TRACKABLE_NS, MAX_TRACKABLE_NS + 7]);
    assert_eq!(histogram.min(), Some(3));
    assert_eq!(histogram.max(), Some(MAX_TRACKABLE_NS + 7));
    assert_eq!(histogram.percentile(100.0), Some(MAX_TRACKABLE_NS + 7));
    assert_eq!(histogram.clipped(), 1);
    assert_eq!(histogram.sum(), 3 + 1_000_001 + 2 * MAX_TRACKABLE_NS + 7);
    assert_eq!(histogram.mean(), Some(histogram.sum() as f64 / 4.0));
}

#[test]
fn an_empty_histogram_has_no_numbers() {
    let empty = Histogram::new();
    assert!(empty.is_empty());
    assert_eq!((empty.min(), empty.max(), empty.mean()), (None, None, None));
    assert_eq!(
        (empty.percentile(50.0), empty.standard_deviation()),
        (None, None)
    );
    assert!(empty.cdf_points(10).is_empty() && empty.percentile_curve(5).is_empty());
    assert_eq!(empty.count_at_most(u64::MAX), 0);
    assert!(empty.percentile_interval(50.0, Confidence::P95).is_err());
    assert_eq!(Histogram::empty(), empty);
}

#[test]
fn percentiles_are_nearest_ranks() {
    let histogram = of(&(1..=100).collect::<Vec<u64>>());
    for (percent, expected) in [
        (0.0, 1),
        (0.5, 1),
        (1.0, 1),
        (1.1, 2),
        (50.0, 50),
        (99.0, 99),
        (99.9, 100),
        (100.0, 100),
    ] {
        assert_eq!(histogram.percentile(percent), Some(expected), "{percent}");
    }
    for bad in [-1.0, 100.1, f64::NAN] {
        assert_eq!(histogram.percentile(bad), None);
    }
    // 99.9 % of 1000 is rank 999 although 99.9 is not a binary fraction.
    let thousand = of(&[vec![10; 998], vec![20, 30]].concat());
    assert_eq!(thousand.percentile(99.9), Some(20));
}

#[test]
fn a_frozen_disk_shows_in_open_loop_percentiles() {
    // stat_refs `open_loop_freeze`: 1000 requests a second for 6 s, frozen from 2.5 s to 4.5 s.
    let latency = |i: u64| {
        if (2500..4500).contains(&i) {
            (4500 - i) * 1_000_000
        } else {
            0
        }
    };
    let histogram = of(&(0..6000).map(latency).collect::<Vec<_>>());
    within(histogram.mean().unwrap() / 1e6, 333.5, 0.01);
    assert_eq!(histogram.percentile(50.0), Some(0));
    for (percent, ms) in [
        (90.0, 1400.1),
        (99.0, 1940.01),
        (99.9, 1994.001),
        (100.0, 2000.0),
    ] {
        within(
            histogram.percentile(percent).unwrap() as f64 / 1e6,
            ms,
            0.004 * ms,
        );
    }
    within(
        1.0 - histogram.count_at_most(1_000_000) as f64 / 6000.0,
        0.333,
        1e-3,
    );
}

#[test]
fn recording_many_at_once_is_recording_each() {
    let mut many = Histogram::empty();
    many.record_n(5_000, 3);
    many.record_n(7, 0);
    many.record_n(MAX_TRACKABLE_NS + 1, 2);
    assert_eq!(
        many,
        of(&[
            5_000,
            5_000,
            5_000,
            MAX_TRACKABLE_NS + 1,
            MAX_TRACKABLE_NS + 1
        ])
    );
}

#[test]
fn memory_follows_use_where_asked() {
    let mut small = Histogram::empty();
    small.record(1000);
    let mut full = Histogram::new();
    full.record(1000);
    assert_eq!(small, full);
    assert!(small.counts.len() < 600 && full.counts.len() == BUCKETS);
    full.shrink();
    assert_eq!(full.counts.len(), small.counts.len());
    full.record(1_000_000_000);
    assert_eq!(full, of(&[1000, 1_000_000_000]));
    full.reset();
    assert_eq!(full, Histogram::empty());
}

#[test]
fn the_difference_of_two_states_is_what_came_between() {
    let early = of(&[100, 5_000_000]);
    let mut later = early.clone();
    later.extend([2_000, 3_000]);
    let delta = later.subtract(&early).unwrap();
    assert_eq!((delta.count(), delta.sum()), (2, 5_000));
    // Minimum and maximum are known to the bucket.
    within(delta.min().unwrap() as f64, 2_000.0, 16.0);
    within(delta.max().unwrap() as f64, 3_000.0, 16.0);
    // A single sample is known by the sum.
    let mut one_more = later.clone();
    one_more.record(77_777);
    let one = one_more.subtract(&later).unwrap();
    assert_eq!((one.min(), one.max()), (Some(77_777), Some(77_777)));
    assert_eq!(later.subtract(&later).unwrap(), Histogram::empty());
    let error = early.subtract(&later).unwrap_err();
    assert!(matches!(
        error,
        StatsError::HistogramNotEarlier {
            earlier: 1,
            later: 0,
            ..
        }
    ));
    assert!(Histogram::empty().subtract(&early).is_err());
}

#[test]
fn the_deviation_is_that_of_the_samples() {
    let durations: Vec<u64> = (0..1000).map(|i| 50_000 + 100 * i).collect();
    let exact = 100.0 * (999_999.0_f64 / 12.0).sqrt();
    within(
        of(&durations).standard_deviation().unwrap(),
        exact,
        0.004 * exact,
    );
    assert_eq!(of(&[200; 5]).standard_deviation(), Some(0.0));
}

#[test]
fn the_cdf_is_thinned_but_keeps_its_ends() {
    let histogram = of(&(0..10_000).map(|i| i * 997).collect::<Vec<_>>());
    let all = histogram.cdf_points(usize::MAX);
    let few = histogram.cdf_points(50);
    assert_eq!(few.len(), 50);
    assert_eq!((few[0], few[49]), (all[0], all[all.len() - 1]));
    assert_eq!(
        few[49],
        CdfPoint {
            ns: 9999 * 997,
            fraction: 1.0
        }
    );
    assert_eq!(histogram.cdf_points(0).len(), 2);
}

#[test]
fn the_percentile_curve_stops_where_samples_run_out() {
    let curve = of(&(1..=1000).collect::<Vec<_>>()).percentile_curve(1);
    let percents: Vec<f64> = curve.iter().map(|p| p.percent).collect();
    assert_eq!(percents, [0.0, 90.0, 99.0, 100.0]);
    let few = of(&[5, 6]).percentile_curve(10);
    assert_eq!(few.iter().map(|p| p.ns).collect::<Vec<_>>(), [5, 6]);
}

#[test]
fn percentiles_have_intervals() {
    let histogram = of(&(0..10_000).collect::<Vec<_>>());
    let found = histogram
        .percentile_interval(99.9, Confidence::P95)
        .unwrap();
    // Ranks 9983 and 9997 (scipy binom), buckets of 64.
    within(found.low, 9983.0, 64.0);
    within(found.high, 9997.0, 64.0);
    assert!(found.contains(found.value));
    let error = histogram
        .percentile_interval(99.99, Confidence::P95)
        .unwrap_err();
    assert!(
        matches!(error, StatsError::TooFewValues { got: 10_000, .. }),
        "{error}"
    );
    assert!(
        histogram
            .percentile_interval(100.0, Confidence::P95)
            .is_err()
    );
}

#[test]
fn the_stored_form_is_sparse_and_stable() {
    let text = serde_json::to_string(&of(&[90, 90, 400, 1_000_000])).unwrap();
    let buckets = "[[90,2],[328,1],[1780,1]]";
    let expected = format!(
        "{{\"unit\":\"ns\",\"sub_bucket_bits\":7,\"count\":4,\"min\":90,\"max\":1000000,\
         \"sum\":1000580,\"clipped\":0,\"buckets\":{buckets}}}"
    );
    assert_eq!(text, expected);
    let empty = serde_json::to_string(&Histogram::new()).unwrap();
    assert_eq!(
        serde_json::from_str::<Histogram>(&empty).unwrap(),
        Histogram::empty()
    );
}

/// Reads a histogram whose fields are those of one sample of 5 ns, but for the ones given.
#[track_caller]
fn check_refused(fields: &str, expected: Expect) {
    let mut value: serde_json::Value = serde_json::from_str(
        r#"{"unit":"ns","sub_bucket_bits":7,"count":1,"min":5,"max":5,"sum":5,"buckets":[[5,1]]}"#,
    )
    .unwrap();
    assert!(serde_json::from_value::<Histogram>(value.clone()).is_ok());
    let changes: serde_json::Value = serde_json::from_str(fields).unwrap();
    for (field, new) in changes.as_object().unwrap() {
        value[field] = new.clone();
    }
    let error = serde_json::from_value::<Histogram>(value).unwrap_err();
    expected.assert_eq(&error.to_string());
}

#[test]
fn impossible_files_are_refused_by_name() {
    check_refused(
        r#"{"unit":"us"}"#,
        expect![[r#"histogram field `unit` is "us", expected "ns""#]],
    );
    check_refused(
        r#"{"sub_bucket_bits":99}"#,
        expect!["histogram field `sub_bucket_bits` is 99, expected 1 to 16"],
    );
    check_refused(
        r#"{"buckets":[[7424,1]]}"#,
        expect!["histogram bucket 0 has index 7424, the largest possible is 7423"],
    );
    check_refused(
        r#"{"buckets":[[5,1],[5,1]]}"#,
        expect!["histogram bucket 1 has index 5 after 5, expected rising indices"],
    );
    check_refused(
        r#"{"count":2}"#,
        expect!["histogram field `count` is 2, but its buckets hold 1"],
    );
    check_refused(
        r#"{"buckets":[[5,18446744073709551615],[6,2]]}"#,
        expect!["histogram field `count` is 18446744073709551617, the limit is 9007199254740992"],
    );
    check_refused(
        r#"{"min":6}"#,
        expect!["histogram field `min` is 6, its buckets allow 5 to 5"],
    );
    check_refused(
        r#"{"max":1000}"#,
        expect!["histogram field `max` is 1000, its buckets allow 5 to 5"],
    );
    check_refused(
        r#"{"sum":4}"#,
        expect!["histogram field `sum` is 4, its buckets allow 5 to 5"],
    );
    check_refused(
        r#"{"clipped":2}"#,
        expect!["histogram field `clipped` is 2, its buckets allow 0 to 1"],
    );
    check_refused(
        r#"{"count":0,"buckets":[]}"#,
        expect!["histogram field `min` is 5, its buckets allow 0 to 0"],
    );
    check_refused(
        r#"{"buckets":[[5,-1]]}"#,
        expect!["invalid value: integer `-1`, expected u64"],
    );
    check_refused(
        r#"{"buckets":"many"}"#,
        expect![[
            r#"invalid type: string "many", expected a list of at most 65536 pairs [bucket index, count]"#
        ]],
    );
}

#[test]
fn a_list_too_long_is_refused_while_it_is_read() {
    let pairs = vec!["[0,1]"; 70_000].join(",");
    let text = format!(
        r#"{{"unit":"ns","sub_bucket_bits":7,"count":1,"min":0,"max":0,"sum":0,"buckets":[{pairs}]}}"#
    );
    let error = serde_json::from_str::<Histogram>(&text).unwrap_err();
    assert!(error.to_string().contains("at most 65536 pairs"), "{error}");
}

#[test]
fn other_resolutions_fold_into_ours() {
    // 8 bits, buckets 12 and 13 of the octave from 512: ours is the one from 536.
    let text = r#"{"unit":"ns","sub_bucket_bits":8,"count":3,"min":537,"max":539,"sum":1614,
        "buckets":[[524,1],[525,2]],"made_by":"a later version"}"#;
    let histogram: Histogram = serde_json::from_str(text).unwrap();
    let buckets: Vec<Bucket> = histogram.iter_buckets().collect();
    assert_eq!(
        buckets,
        [Bucket {
            low_ns: 536,
            high_ns: 539,
            count: 3
        }]
    );
    assert_eq!(
        (histogram.min(), histogram.max(), histogram.sum()),
        (Some(537), Some(539), 1614)
    );
}

#[test]
fn foreign_bins_keep_their_percentiles() {
    let bins = |counts: &'static [(u64, u64)]| Bins {
        sub_bucket_bits: FIO_SUB_BUCKET_BITS,
        counts,
        min_ns: Some(1001),
        max_ns: Some(2_000_300),
        mean_ns: Some(500_000.0),
    };
    let histogram = Histogram::from_bins(bins(&[(2_007_040, 1), (1000, 1), (1000, 2)])).unwrap();
    assert_eq!((histogram.count(), histogram.sum()), (4, 2_000_000));
    assert_eq!(histogram.percentile(100.0), Some(2_000_300));
    assert!(histogram.percentile(50.0).unwrap().abs_diff(1000) < 8);
    let error = Histogram::from_bins(Bins {
        mean_ns: Some(f64::NAN),
        ..bins(&[(1000, 3)])
    });
    assert!(error.is_err());
    let error = Histogram::from_bins(bins(&[(1000, u64::MAX)])).unwrap_err();
    assert!(matches!(error, StatsError::HistogramLimit { .. }));
    assert!(
        Histogram::from_bins(Bins {
            sub_bucket_bits: 0,
            ..bins(&[])
        })
        .is_err()
    );
    assert!(Histogram::from_bins(bins(&[])).unwrap().is_empty());
}

#[test]
fn operations_beyond_fios_range_are_clipped() {
    let histogram = Histogram::from_bins(Bins {
        sub_bucket_bits: FIO_SUB_BUCKET_BITS,
        counts: &[(1000, 9), (17_112_760_320, 1)],
        min_ns: None,
        max_ns: Some(60_000_000_000),
        mean_ns: None,
    })
    .unwrap();
    assert_eq!(
        (histogram.clipped(), histogram.max()),
        (1, Some(60_000_000_000))
    );
    check_round_trip(&histogram);
}

#[track_caller]
fn check_round_trip(histogram: &Histogram) {
    let text = serde_json::to_string(histogram).unwrap();
    let back: Histogram = serde_json::from_str(&text).unwrap();
    assert_eq!(&back, histogram);
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

prop_compose! {
    /// Durations of every magnitude, some beyond the range.
    fn durations()(
        list in prop::collection::vec((0_u32..46, any::<u64>()), 0..40),
    ) -> Vec<u64> {
        list.into_iter().map(|(bits, random)| random & ((1 << bits) - 1)).collect()
    }
}

proptest! {
    #[test]
    fn merging_is_recording_together(a in durations(), b in durations(), c in durations()) {
        let merged = |parts: &[&[u64]]| {
            let mut all = Histogram::empty();
            parts.iter().for_each(|part| all.merge(&of(part)));
            all
        };
        let all = merged(&[&a, &b, &c]);
        prop_assert_eq!(&all, &of(&[a.clone(), b.clone(), c.clone()].concat()));
        prop_assert_eq!(&all, &merged(&[&c, &a, &b]));
        let mut right = of(&b);
        right.merge(&of(&c));
        let mut left = of(&a);
        left.merge(&right);
        prop_assert_eq!(&all, &left);
    }

    #[test]
    fn percentiles_rise_within_the_extremes(
        values in durations(),
        p in 0.0..=100.0_f64,
        q in 0.0..=100.0_f64,
    ) {
        prop_assume!(!values.is_empty());
        let histogram = of(&values);
        let low = histogram.percentile(p.min(q)).unwrap();
        let high = histogram.percentile(p.max(q)).unwrap();
        prop_assert!(histogram.min().unwrap() <= low && low <= high);
        prop_assert!(high <= histogram.max().unwrap());
    }

    #[test]
    fn percentiles_are_close_to_the_sorted_values(
        values in durations(),
        percent in 0.0..=100.0_f64,
    ) {
        let mut sorted: Vec<u64> =
            values.into_iter().filter(|&v| v <= MAX_TRACKABLE_NS).collect();
        prop_assume!(!sorted.is_empty());
        sorted.sort_unstable();
        let rank = (percent / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
        let exact = sorted[rank - 1] as f64;
        let found = of(&sorted).percentile(percent).unwrap() as f64;
        prop_assert!((found - exact).abs() <= 0.004 * exact, "{} for {}", found, exact);
    }

    #[test]
    fn files_keep_everything(values in durations()) {
        check_round_trip(&of(&values));
    }

    #[test]
    fn differences_undo_merges(a in durations(), b in durations()) {
        let mut both = of(&a);
        both.merge(&of(&b));
        let delta = both.subtract(&of(&a)).unwrap();
        let counts = |h: &Histogram| h.iter_buckets().collect::<Vec<_>>();
        prop_assert_eq!(counts(&delta), counts(&of(&b)));
        prop_assert_eq!((delta.sum(), delta.clipped()), (of(&b).sum(), of(&b).clipped()));
        check_round_trip(&delta);
    }

    #[test]
    fn hostile_numbers_never_panic(
        bits in 0_u32..20,
        numbers in prop::collection::vec(any::<u64>(), 5),
        buckets in prop::collection::btree_map(0_u64..9000, any::<u64>(), 0..8),
        counted in any::<bool>(),
    ) {
        let total = buckets.values().fold(0_u64, |sum, n| sum.wrapping_add(*n));
        let count = if counted { total } else { numbers[0] };
        let text = serde_json::json!({
            "unit": "ns", "sub_bucket_bits": bits, "count": count, "min": numbers[1],
            "max": numbers[2], "sum": numbers[3], "clipped": numbers[4],
            "buckets": buckets.into_iter().collect::<Vec<_>>(),
        });
        if let Ok(mut histogram) = serde_json::from_value::<Histogram>(text) {
            check_round_trip(&histogram);
            histogram.merge(&histogram.clone());
            histogram.record(1);
            prop_assert!(histogram.percentile_curve(10).len() >= 2 || total == 0);
        }
    }

    #[test]
    fn foreign_bins_always_survive_a_file(
        bits in MIN_BITS..=MAX_BITS,
        values in durations(),
    ) {
        let counts: Vec<(u64, u64)> = values.iter().map(|&ns| (ns, 1)).collect();
        let histogram = Histogram::from_bins(Bins {
            sub_bucket_bits: bits,
            counts: &counts,
            min_ns: values.iter().min().copied(),
            max_ns: values.iter().max().copied(),
            mean_ns: None,
        }).unwrap();
        prop_assert_eq!(histogram.count(), values.len() as u64);
        check_round_trip(&histogram);
    }
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_describes_what_is_written() {
    let schema = serde_json::to_value(schemars::schema_for!(Histogram)).unwrap();
    let written = serde_json::to_value(of(&[5])).unwrap();
    for (field, value) in written.as_object().unwrap() {
        let kind = match value {
            serde_json::Value::String(_) => "string",
            serde_json::Value::Array(_) => "array",
            _ => "integer",
        };
        assert_eq!(
            schema["properties"][field]["type"], kind,
            "{field}: {schema:#}"
        );
    }
}

use super::*;

#[track_caller]
fn check(max: f64, first: &str, last: &str) {
    let labels = pts_axis(max).labels();
    assert_eq!(
        (labels[0].as_str(), labels[4].as_str()),
        (first, last),
        "max {max}"
    );
}

/// The axes printed in two public results (seeds 001 and 004).
#[test]
fn axes_are_those_of_the_phoronix_test_suite() {
    check(2681.53, "600", "3000");
    check(1157.15, "200", "1000");
    check(296_256.0, "60K", "300K");
    check(305_296.0, "70K", "350K");
    check(599.00, "130", "650");
    check(705.94, "150", "750");
    check(116.46, "30", "150");
    check(41_407.90, "9K", "45K");
    check(537.72, "120", "600");
    check(35.77, "8", "40");
    check(1554.0, "300", "1500");
    check(3131.0, "700", "3500");
    check(423.67, "90", "450");
    check(899.07, "200", "1000");
    check(2502.58, "500", "2500");
    check(741.45, "160", "800");
    check(588.15, "130", "650");
    check(35_389.12, "8K", "40K");
    check(40.67, "9", "45");
    let labels = pts_box_axis(80.0).labels();
    assert_eq!((labels[0].as_str(), labels[4].as_str()), ("15", "75"));
}

#[test]
fn axes_hold_their_values_whatever_they_are() {
    for exponent in -300..300 {
        for mantissa in [1.0, 1.7, 5.99, 9.999] {
            let max = mantissa * 10_f64.powi(exponent);
            let axis = pts_axis(max);
            assert!(axis.end >= max && axis.end < 2.7 * max, "{max}: {axis:?}");
            for label in axis.labels() {
                assert!(!label.is_empty() && label.len() < 14, "{max}: {label}");
            }
        }
    }
    for max in [0.0, -5.0, f64::NAN, f64::INFINITY] {
        assert_eq!(pts_axis(max).end, 6.0);
    }
}

#[test]
fn wide_ranges_are_logarithmic() {
    let scale = Scale::for_bars(62.64, 41_407.9);
    assert_eq!(scale.kind, ScaleKind::Logarithmic);
    let texts: Vec<&str> = scale.marks.iter().map(|mark| mark.text.as_str()).collect();
    assert_eq!(texts, ["100", "1K", "10K", "100K"]);
    assert_eq!(
        (
            scale.place(10.0),
            scale.place(100_000.0),
            scale.place(1000.0)
        ),
        (0.0, 1.0, 0.5)
    );
    assert_eq!(scale.place(0.0), 0.0);
    assert_eq!(Scale::for_bars(1.0, 100.0).kind, ScaleKind::Linear);
    assert_eq!(Scale::for_bars(0.0, 1e9).kind, ScaleKind::Linear);
    assert_eq!(Scale::for_bars(-3.0, 1e9).kind, ScaleKind::Linear);
    assert!(Scale::logarithmic(1e-300, 1e300).marks.len() <= 8);
}

#[test]
fn scales_between_two_values_read_well() {
    for (low, high, expected) in [
        (31.0, 80.0, vec!["20", "40", "60", "80"]),
        (0.0, 0.0, vec!["0"]),
        (3300.0, 3500.0, vec!["3300", "3350", "3400", "3450", "3500"]),
        (-20.0, 45.0, vec!["-20", "0", "20", "40", "60"]),
    ] {
        let scale = Scale::linear_between(low, high);
        let texts: Vec<&str> = scale.marks.iter().map(|mark| mark.text.as_str()).collect();
        assert_eq!(
            texts[..expected.len().min(texts.len())],
            expected[..],
            "{low} to {high}"
        );
        assert!((0.0..=1.0).contains(&scale.place(low)) && scale.place(high) <= 1.0);
    }
}

use super::*;

#[test]
fn rounding_is_phps() {
    for (value, decimals, text) in [
        (1.005, 2, "1.01"),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (0.0, 2, "0.00"),
        (-0.001, 2, "0.00"),
        (9.995, 2, "10.00"),
        (999.999, 2, "1000.00"),
        (5.055, 2, "5.06"),
        (1.955, 2, "1.96"),
        (0.285, 2, "0.29"),
        (1234.0, 3, "1234.000"),
        (55.125, 2, "55.13"),
        (0.000_04, 2, "0.00"),
        (0.000_04, 4, "0.0000"),
        (0.000_06, 4, "0.0001"),
        (1e20, 0, "100000000000000000000"),
        (1.5e-300, 3, "0.000"),
        (f64::NAN, 1, "n/a"),
        (0.05, 1, "0.1"),
        (0.5, 0, "1"),
        (0.49, 0, "0"),
    ] {
        assert_eq!(rounded(value, decimals), text, "{value} to {decimals}");
    }
}

#[test]
fn rounding_to_tens_and_hundreds() {
    assert_eq!(php_round(447.0, -1), 450.0);
    assert_eq!(php_round(575.0, -2), 600.0);
    assert_eq!(php_round(1.285, 2), 1.29);
}

#[test]
fn people_see_the_digits_that_matter() {
    for (value, digits, text) in [
        (3431.4, 3, "3431"),
        (54.23, 3, "54.2"),
        (0.3124, 3, "0.312"),
        (9.996, 3, "10.0"),
        (99.96, 3, "100"),
        (0.0, 3, "0"),
        (1e-12, 3, "0.000000000"),
        (123_456.7, 4, "123457"),
        (-54.23, 3, "-54.2"),
    ] {
        assert_eq!(significant(value, digits), text, "{value}");
    }
    for (number, text) in [
        (0, "0"),
        (9_999, "9999"),
        (12_400, "12.4 k"),
        (999_960, "1.00 M"),
        (3_100_000, "3.10 M"),
        (5_000_000_000, "5.00 G"),
    ] {
        assert_eq!(count(number), text);
    }
}

#[test]
fn half_widths_keep_one_useful_digit() {
    for (percent, text) in [
        (0.42, "0.4"),
        (6.21, "6.2"),
        (12.4, "12"),
        (0.013, "0.01"),
        (0.001, "<0.01"),
        (0.0, "0.0"),
        (f64::INFINITY, ">999"),
        (f64::NAN, ">999"),
    ] {
        let mut out = String::new();
        push_percent(&mut out, percent);
        assert_eq!(out, text);
    }
}

#[test]
fn coordinates_and_shares_are_short() {
    for (value, text) in [(0.0, "0"), (12.34, "12.3"), (-0.26, "-0.3"), (7.0, "7")] {
        let mut out = String::new();
        push_coordinate(&mut out, value);
        assert_eq!(out, text);
    }
    for (share, text) in [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.123_45, "12.35%"),
        (0.5, "50%"),
        (0.123, "12.3%"),
    ] {
        let mut out = String::new();
        push_share(&mut out, share);
        assert_eq!(out, text);
    }
}

proptest::proptest! {
    #[test]
    fn the_quick_way_rounds_as_the_slow_one(thousandths in -20_000_000_i64..20_000_000, decimals in 0_usize..7) {
        let value = thousandths as f64 / 1000.0;
        proptest::prop_assert_eq!(rounded(value, decimals), pts::number_format(value, decimals));
    }
}

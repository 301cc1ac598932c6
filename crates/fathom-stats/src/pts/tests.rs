//! Tests of the Phoronix Test Suite's arithmetic.

use proptest::prelude::*;

use super::*;
use crate::testing::{A, C, near, sample};

const HIGHER: Direction = Direction::HigherIsBetter;
const LOWER: Direction = Direction::LowerIsBetter;

#[test]
fn numbers_round_half_away_after_pre_rounding() {
    for (value, decimals, expected) in [
        (1.005, 2, "1.01"),
        (-1.005, 2, "-1.01"),
        (1.955, 2, "1.96"),
        (5.055, 2, "5.06"),
        (5.045, 2, "5.05"),
        (1.45, 1, "1.5"),
        (2.5, 0, "3"),
        (-2.5, 0, "-3"),
        (0.5, 0, "1"),
        (0.49999, 0, "0"),
        (0.05, 1, "0.1"),
        (0.004, 2, "0.00"),
        (-0.004, 2, "0.00"),
        (0.005, 2, "0.01"),
        (0.0, 2, "0.00"),
        (-0.0, 1, "0.0"),
        (9.995, 2, "10.00"),
        (99.9999, 2, "100.00"),
        (999.5, 0, "1000"),
        (1234.5678, 2, "1234.57"),
        (1234567.0, 0, "1234567"),
        (12.0, 3, "12.000"),
        (0.0001234, 6, "0.000123"),
        (1e-9, 2, "0.00"),
        (123456789012345.5, 0, "123456789012346"),
        (1e20, 1, "100000000000000000000.0"),
    ] {
        assert_eq!(
            number_format(value, decimals),
            expected,
            "{value} to {decimals}"
        );
        assert_eq!(round(value, decimals), expected.parse::<f64>().unwrap());
    }
    assert_eq!(number_format(f64::NAN, 2), "NaN");
}

#[test]
fn averages_print_as_many_decimals_as_trials() {
    for (trials, expected) in [
        (&["100", "101", "103"][..], "101"),
        (&["100.1", "101.25", "103"][..], "101.45"),
        (&["1.5", "2.5"][..], "2.0"),
        (&["0.1234567890", "0.2"][..], "0.16"),
        (&["7."][..], "7.00"),
    ] {
        assert_eq!(
            average_text(trials).as_deref(),
            Some(expected),
            "{trials:?}"
        );
    }
    assert_eq!(average_text(&["fast"]), None);
    assert_eq!(average_text(&[]), None);
}

#[test]
fn errors_print_with_at_least_two_decimals() {
    let text = |values: &[f64], decimals| standard_error_text(&sample(values), decimals);
    assert_eq!(text(&A, 0).as_deref(), Some("SE +/- 0.55, N = 5"));
    assert_eq!(text(&A, 3).as_deref(), Some("SE +/- 0.552, N = 5"));
    assert_eq!(text(&[3.0, 3.0], 1).as_deref(), Some("SE +/- 0.00, N = 2"));
    assert_eq!(text(&[3.0], 1), None);
    near(standard_deviation_percent(&sample(&C)), 3.0);
    assert_eq!(standard_deviation_percent(&sample(&[4.0])), 0.0);
}

#[test]
fn outliers_of_the_viewer_are_left_out() {
    let values = sample(&[10.0, 10.0, 10.0, 10.0, 10.0, 16.0]);
    near(mean_without_outliers(&values), 10.0);
    near(mean_without_outliers(&sample(&[1.0, 2.0, 3.0])), 2.0);
    near(mean_without_outliers(&sample(&[4.0])), 4.0);
}

#[test]
fn geometric_means_invert_where_lower_is_better() {
    let directed = |value, direction| Directed { value, direction };
    let mean = geometric_mean(&[directed(4.0, HIGHER), directed(25.0, LOWER)]);
    near(mean.unwrap(), 4.0);
    // Ten values: two chunks.
    let ten: Vec<Directed> = (1..=10).map(|v| directed(f64::from(v), HIGHER)).collect();
    near(geometric_mean(&ten).unwrap(), 4.528728688116765); // scipy `stats.gmean`
    assert_eq!(geometric_mean(&ten[..1]), None);
    assert_eq!(
        geometric_mean(&[directed(0.0, LOWER), directed(1.0, LOWER)]),
        None
    );
}

#[test]
fn harmonic_means_need_four_rates() {
    near(harmonic_mean(&[1.0, 2.0, 4.0, 4.0]).unwrap(), 2.0);
    assert_eq!(harmonic_mean(&[1.0, 2.0, 4.0]), None);
    assert_eq!(harmonic_mean(&[1.0, 2.0, 4.0, 0.0]), None);
    for (unit, rate) in [
        ("MB/s", true),
        ("Frames Per Second", false),
        ("IOPS", true),
        ("Seconds", false),
    ] {
        assert_eq!(is_rate_unit(unit), rate, "{unit}");
    }
}

#[test]
fn wins_and_losses_are_counted_without_uncertainty() {
    let contest = |entries: &'static [(usize, f64)], direction| Contest { entries, direction };
    let tally = wins(
        &[
            contest(&[(0, 10.0), (1, 10.001), (2, 9.0)], HIGHER),
            contest(&[(0, 10.0), (1, 20.0), (2, 10.0)], LOWER),
            contest(&[(1, 5.0)], HIGHER),
            contest(&[(0, 3.0), (9, 4.0)], HIGHER),
        ],
        3,
    );
    assert_eq!(tally.counted, 3);
    // The first of equals wins the second; system 9 does not exist.
    assert_eq!(tally.wins, [1, 1, 0]);
    assert_eq!(tally.losses, [1, 1, 1]);
    assert_eq!(tally.win_percent_text(0).as_deref(), Some("33.3"));
    assert_eq!(tally.win_percent_text(7), None);
    assert_eq!(wins(&[], 2).win_percent_text(0), None);
    // Six systems: two entries are fewer than half.
    assert_eq!(
        wins(&[contest(&[(0, 1.0), (1, 2.0)], HIGHER)], 6).counted,
        0
    );
}

proptest! {
    #[test]
    fn numbers_keep_their_value(value in -1e6..1e6_f64, decimals in 0_usize..6) {
        let text = number_format(value, decimals);
        let half = 0.5 * 10_f64.powi(-(decimals as i32));
        // Rounding to 15 digits first may move a value across the half.
        let slack = 5e-15 * value.abs();
        prop_assert!((text.parse::<f64>().unwrap() - value).abs() <= half + slack);
        prop_assert_eq!(decimals_of(&text), decimals);
    }

    #[test]
    fn printed_decimals_come_back(whole in 0_u64..1_000_000_000, decimals in 0_usize..4) {
        let value = whole as f64 / 10_f64.powi(decimals as i32);
        prop_assert_eq!(number_format(value, decimals).replace('.', "").parse(), Ok(whole));
    }

    #[test]
    fn nothing_panics(bits in any::<u64>(), decimals in 0_usize..400) {
        let text = number_format(f64::from_bits(bits), decimals);
        prop_assert!(!text.is_empty());
    }
}

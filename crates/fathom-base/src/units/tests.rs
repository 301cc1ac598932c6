use proptest::prelude::*;

use super::*;

#[track_caller]
fn check_bytes(text: &str, expected: u64, printed: &str) {
    let bytes: Bytes = text.parse().unwrap();
    assert_eq!(
        (bytes.as_u64(), bytes.to_string().as_str()),
        (expected, printed),
        "{text}"
    );
}

#[test]
fn sizes_are_read_and_printed_exactly() {
    check_bytes("4KiB", 4096, "4KiB");
    check_bytes("4k", 4096, "4KiB");
    check_bytes("1M", 1 << 20, "1MiB");
    check_bytes("1MB", 1_000_000, "1MB");
    check_bytes("1.5GiB", 3 << 29, "1536MiB");
    check_bytes("0", 0, "0B");
    check_bytes("513", 513, "513B");
    check_bytes(" 2 TiB ", 2 << 40, "2TiB");
}

#[test]
fn what_is_no_size_says_so() {
    for text in [
        "4kb",
        "KiB",
        "",
        "-1",
        "1e3",
        "4 4KiB",
        "99999999999TiB",
        "0.3B",
        "4kib",
    ] {
        let error = text.parse::<Bytes>().unwrap_err();
        assert!(
            error.to_string().contains("is not a size; expected"),
            "{text}: {error}"
        );
    }
}

#[test]
fn durations_are_read_and_printed_exactly() {
    for (text, ns, printed) in [
        ("30s", 30_000_000_000, "30s"),
        ("1.5s", 1_500_000_000, "1500ms"),
        ("2m", 120_000_000_000, "2m"),
        ("5", 5_000_000_000, "5s"),
        ("250us", 250_000, "250us"),
        ("0", 0, "0s"),
    ] {
        let duration: Nanos = text.parse().unwrap();
        assert_eq!(
            (duration.as_u64(), duration.to_string().as_str()),
            (ns, printed)
        );
    }
    assert!("5 parsecs".parse::<Nanos>().is_err());
}

#[test]
fn rates_tell_operations_from_bytes() {
    assert_eq!("1000/s".parse(), Ok(Rate::Operations(1000.0)));
    assert_eq!("1.5iops".parse(), Ok(Rate::Operations(1.5)));
    assert_eq!("50MB/s".parse(), Ok(Rate::Bytes(50_000_000)));
    assert_eq!("4KiB/s".parse(), Ok(Rate::Bytes(4096)));
    for text in ["0/s", "-1/s", "fast", "50MB", "nan/s", "inf/s"] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
}

#[test]
fn people_see_three_digits() {
    for (ns, text) in [
        (71_234, "71.2 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (1_210_000, "1.21 ms"),
        (4_000_000_000, "4.00 s"),
        (125_000_000_000, "2 min 5 s"),
        (5_400_000_000_000, "1 h 30 min"),
    ] {
        assert_eq!(Nanos::new(ns).rough(), text);
    }
    assert_eq!(format_rate_bytes(3_431_000_000.0), "3431 MB/s");
    assert_eq!(format_rate_bytes(54_200_000.0), "54.2 MB/s");
    assert_eq!(format_rate_bytes(12_440_000_000.0), "12.4 GB/s");
    assert_eq!(Bytes::new(9_500_000_000).rough(), "9500 MB");
}

proptest! {
    #[test]
    fn printed_sizes_read_back(bytes in any::<u64>()) {
        let bytes = Bytes::new(bytes);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
    }

    #[test]
    fn printed_durations_read_back(ns in any::<u64>()) {
        let duration = Nanos::new(ns);
        prop_assert_eq!(duration.to_string().parse(), Ok(duration));
    }

    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Nanos>();
        let _ = text.parse::<Rate>();
        let _ = text.parse::<Percent>();
    }
}

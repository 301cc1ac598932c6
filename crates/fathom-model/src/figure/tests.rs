use super::*;
use proptest::prelude::*;

#[test]
fn printed_text_is_kept_only_when_it_says_more_than_the_number() {
    for (text, kept) in [
        ("309.40", true),
        ("309.4", false),
        ("77347", false),
        ("0077", true),
        ("0", false),
        ("0.0", true),
        ("-5", false),
        ("+5", true),
        ("1e3", true),
        (".5", true),
        ("5.", true),
        ("123456789012345678", true),
        ("0.1234567890123456789", true),
    ] {
        let figure = Figure::parse(text).unwrap();
        assert_eq!(figure.text.is_some(), kept, "{text}");
        assert_eq!(figure.to_string(), text);
    }
}

#[test]
fn what_is_no_finite_number_is_refused() {
    for text in [
        "", " ", "inf", "NaN", "1e999", "-", "1,5", "0x10", "1 2", "PASS", "--1",
    ] {
        assert!(Figure::parse(text).is_none(), "{text:?}");
    }
    assert!(Figure::parse(&"1".repeat(401)).is_none());
}

#[test]
fn json_holds_a_number_or_its_text() {
    let back = |json: &str| serde_json::from_str::<Figure>(json);
    assert_eq!(back("12").unwrap(), Figure::parse("12").unwrap());
    assert_eq!(back("-3").unwrap(), Figure::parse("-3").unwrap());
    assert_eq!(back("\"1.50\"").unwrap(), Figure::parse("1.50").unwrap());
    let error = back("true").unwrap_err().to_string();
    assert!(
        error.contains("expected a finite number or its printed text"),
        "{error}"
    );
    assert!(back("\"fast\"").is_err());
}

proptest! {
    #[test]
    fn any_printed_number_survives(whole in 0u64..1_000_000_000_000, decimals in "[0-9]{0,9}") {
        let text = match decimals.as_str() {
            "" => whole.to_string(),
            decimals => format!("{whole}.{decimals}"),
        };
        let figure = Figure::parse(&text).unwrap();
        prop_assert_eq!(figure.to_string(), text);
        let json = serde_json::to_string(&figure).unwrap();
        prop_assert_eq!(serde_json::from_str::<Figure>(&json).unwrap(), figure);
    }

    #[test]
    fn the_short_way_gives_the_same_number_as_the_long_one(text in "[0-9]{1,8}(\\.[0-9]{1,9})?") {
        let figure = Figure::parse(&text).unwrap();
        prop_assert_eq!(figure.value().to_bits(), text.parse::<f64>().unwrap().to_bits());
        prop_assert_eq!(figure.text.is_some(), figure.value().to_string() != text);
    }

    #[test]
    fn any_measured_number_survives(value in proptest::num::f64::NORMAL) {
        let figure = Figure::new(value).unwrap();
        let json = serde_json::to_string(&figure).unwrap();
        prop_assert_eq!(serde_json::from_str::<Figure>(&json).unwrap(), figure);
    }
}

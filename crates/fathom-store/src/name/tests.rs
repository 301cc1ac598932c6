use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[test]
fn names_are_letters_digits_dashes_underscores_and_dots() {
    for name in ["a", "2026-11-30-quick", "A_b.c-9", "x".repeat(126).as_str()] {
        assert_eq!(ResultName::new(name).unwrap().as_str(), name);
    }
    let check = |name: &str, expect: Expect| {
        expect.assert_eq(&ResultName::new(name).unwrap_err().to_string());
    };
    check(
        "",
        expect!["the name is empty; expected letters, digits, dashes, underscores and dots"],
    );
    check(
        "../x",
        expect![[
            r#"the name "../x" holds '.'; expected letters, digits, dashes, underscores and dots, a letter or digit first; x would do"#
        ]],
    );
    check(
        "-x",
        expect![[
            r#"the name "-x" holds '-'; expected letters, digits, dashes, underscores and dots, a letter or digit first; x would do"#
        ]],
    );
    check(
        "my disk!",
        expect![[
            r#"the name "my disk!" holds ' '; expected letters, digits, dashes, underscores and dots, a letter or digit first; my-disk would do"#
        ]],
    );
    check(
        "ü",
        expect![[
            r#"the name "ü" holds 'ü'; expected letters, digits, dashes, underscores and dots, a letter or digit first"#
        ]],
    );
    check(
        "latest",
        expect![[r#"the name "latest" has a meaning of its own; choose another one"#]],
    );
    check(
        &"x".repeat(127),
        expect![[
            r#"the name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." has 127 characters; the limit is 126"#
        ]],
    );
}

#[test]
fn words_become_names() {
    let check = |text: &str, name: Option<&str>| {
        let made = ResultName::from_words(text);
        assert_eq!(made.as_ref().map(ResultName::as_str), name, "{text}");
    };
    check("My  new -- disk", Some("My-new-disk"));
    check("  /dev/sda (1)", Some("dev-sda-1"));
    check("..hidden", Some("hidden"));
    check("latest", None);
    check("- / -", None);
    check(
        &format!("{}-", "x".repeat(126)),
        Some("x".repeat(126).as_str()),
    );
}

#[test]
fn a_number_is_put_behind_and_the_name_gives_way() {
    let name = ResultName::new("quick").unwrap();
    assert_eq!(name.numbered(2).as_str(), "quick-2");
    let long = ResultName::new(&"x".repeat(126)).unwrap();
    assert_eq!(long.numbered(10).as_str().len(), 126);
    assert!(long.numbered(10).as_str().ends_with("x-10"));
}

#[test]
fn the_default_name_is_the_day_there_and_the_suite() {
    // 2026-11-30 23:30 UTC.
    let at = WallTime::from_unix_ms(1_796_081_400_000);
    let name = |zone: TimeZone, what: &str| default_name(at, &zone, what).to_string();
    assert_eq!(name(TimeZone::UTC, "quick"), "2026-11-30-quick");
    let east = TimeZone::fixed(jiff::tz::offset(2));
    assert_eq!(name(east, "seed nvme"), "2026-12-01-seed-nvme");
    assert_eq!(name(TimeZone::UTC, "ü"), "2026-11-30");
}

proptest! {
    #[test]
    fn what_is_made_of_words_is_a_name_and_stays_one(text in "\\PC{0,200}") {
        if let Some(name) = ResultName::from_words(&text) {
            prop_assert_eq!(ResultName::new(name.as_str()), Ok(name.clone()));
            prop_assert_eq!(ResultName::from_words(name.as_str()), Some(name.clone()));
            prop_assert!(ResultName::new(name.numbered(99_999).as_str()).is_ok());
        }
    }
}

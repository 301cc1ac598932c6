use proptest::prelude::*;

use super::*;

fn size() -> OptionInfo {
    OptionInfo::new(
        "block-size",
        OptionKind::Size(Bytes::new(512), Bytes::new(1 << 30)),
        "4KiB",
        "Size of one operation.",
    )
}

fn engine() -> OptionInfo {
    OptionInfo::new(
        "engine",
        OptionKind::Choice,
        "auto",
        "How I/O is submitted.",
    )
    .menu(&["auto", "io_uring", "libaio", "psync"])
}

#[track_caller]
fn accepts(option: &OptionInfo, typed: &str, canonical: &str) {
    assert_eq!(option.canonical("io", typed).as_deref(), Ok(canonical));
}

#[track_caller]
fn refuses(option: &OptionInfo, typed: &str, text: &str) {
    assert_eq!(option.canonical("io", typed).unwrap_err().to_string(), text);
}

#[test]
fn values_become_canonical() {
    accepts(&size(), "4k", "4KiB");
    accepts(&size(), " 1M ", "1MiB");
    accepts(&engine(), "libaio", "libaio");
    let flag = OptionInfo::new("direct", OptionKind::Flag, "yes", "");
    accepts(&flag, "1", "yes");
    accepts(&flag, "off", "no");
    let rate = OptionInfo::new("rate", OptionKind::Rate, "none", "").or_none();
    accepts(&rate, "none", "none");
    accepts(&rate, "1000iops", "1000/s");
    let percent = OptionInfo::new("read-percent", OptionKind::Percent, "70", "");
    accepts(&percent, "70", "70%");
    let number = OptionInfo::new("theta", OptionKind::Number(0.0, 5.0), "1.2", "");
    accepts(&number, "1.20", "1.2");
}

#[test]
fn refusals_say_what_was_expected_and_what_is_near() {
    refuses(
        &engine(),
        "iouring",
        "option engine of test io: \"iouring\" is not accepted; expected one of auto, io_uring, \
         libaio, psync; did you mean io_uring?",
    );
    refuses(
        &size(),
        "4kb",
        "option block-size of test io: \"4kb\" is not accepted; expected a number with B, KiB, \
         MiB, GiB, KB, MB, GB (4KiB; 4k also means 4KiB)",
    );
    refuses(
        &size(),
        "100",
        "option block-size of test io: \"100\" is not accepted; expected a value from 512B to 1GiB",
    );
    let depth = OptionInfo::new("depth", OptionKind::Integer(1, 4096), "1", "").or_none();
    refuses(
        &depth,
        "deep",
        "option depth of test io: \"deep\" is not accepted; expected a whole number, or none",
    );
    let percent = OptionInfo::new("read-percent", OptionKind::Percent, "70", "");
    refuses(
        &percent,
        "101",
        "option read-percent of test io: \"101\" is not accepted; expected a value from 0% to 100%",
    );
}

#[test]
fn only_near_names_are_proposed() {
    let names = ["block-size", "depth", "engine"];
    assert_eq!(nearest("blocksize", names).as_deref(), Some("block-size"));
    assert_eq!(nearest("dep", names).as_deref(), Some("depth"));
    assert_eq!(nearest("zzzzzz", names), None);
}

fn distribution() -> OptionInfo {
    const WORDS: &[Word] = &[
        Word::plain("once"),
        Word::with_number("zipf", 0.01, 5.0, 1.2),
    ];
    OptionInfo::new("distribution", OptionKind::Word(WORDS), "once", "")
}

fn split() -> OptionInfo {
    let kind = OptionKind::SizeShares(Bytes::new(512), Bytes::new(1 << 30));
    OptionInfo::new("block-split", kind, "none", "").or_none()
}

#[test]
fn words_take_the_number_they_declare() {
    accepts(&distribution(), "once", "once");
    accepts(&distribution(), "zipf", "zipf:1.2");
    accepts(&distribution(), "zipf:0.90", "zipf:0.9");
    for bad in ["once:1", "zipf:", "zipf:7", "zipf:nan", "zip"] {
        let error = distribution().canonical("io", bad).unwrap_err().to_string();
        let expected = "expected one of once, zipf:NUMBER (0.01 to 5)";
        assert!(error.contains(expected), "{error}");
    }
    let parsed: Worded = "zipf:0.9".parse().unwrap();
    assert_eq!((parsed.word.as_str(), parsed.number), ("zipf", Some(0.9)));
}

#[test]
fn splits_add_up_to_a_hundred() {
    accepts(&split(), "4k/60:64k/40%", "4KiB/60:64KiB/40");
    accepts(&split(), "none", "none");
    for bad in ["4k", "4k/60", "4k/60:8k/50", "4k/0:8k/100", "", "4k/60:"] {
        assert!(split().canonical("io", bad).is_err(), "{bad}");
    }
    refuses(
        &split(),
        "100/50:4k/50",
        "option block-split of test io: \"100/50:4k/50\" is not accepted; expected sizes from 512B \
         to 1GiB, or none",
    );
}

proptest! {
    #[test]
    fn no_value_panics_and_canonical_is_stable(typed in "\\PC{0,40}") {
        for option in [size(), engine(), distribution(), split(), OptionInfo::new("t", OptionKind::Text, "", "")] {
            if let Ok(once) = option.canonical("io", &typed) {
                prop_assert_eq!(option.canonical("io", &once), Ok(once.clone()));
            }
        }
    }
}

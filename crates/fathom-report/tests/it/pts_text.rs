use fathom_report::text;

use crate::corpus::{oracle, oracle_input, seed};
use crate::golden::assert_same;

#[test]
fn bars_equal_the_oracle_to_the_byte() {
    for name in ["edge", "seed000", "seed002"] {
        for width in [79, 80, 120] {
            let Some(expected) = oracle(&format!("{name}.text.w{width}.txt")) else {
                return;
            };
            let Some(file) = oracle_input(name) else {
                return;
            };
            assert_same(
                &text::pts(&file, width),
                &expected,
                &format!("{name} at {width}"),
            );
        }
    }
}

#[test]
fn summaries_equal_the_oracle_to_the_byte() {
    for name in ["edge", "seed000", "seed002"] {
        let Some(file) = oracle_input(name) else {
            return;
        };
        let stats = text::pts_stats(&file, 79);
        let wins = text::pts_wins_and_losses(&file);
        for (got, what) in [(stats, "result-file-stats"), (wins, "wins-and-losses")] {
            let Some(expected) = oracle(&format!("{name}.{what}.w79.txt")) else {
                return;
            };
            assert_same(&got, &expected, &format!("{name} {what}"));
        }
    }
    for name in ["edge", "seed000"] {
        let Some(file) = oracle_input(name) else {
            return;
        };
        let Some(expected) = oracle(&format!("{name}.executive-summary.w79.txt")) else {
            return;
        };
        assert_same(&text::pts_executive_summary(&file), &expected, name);
    }
}

#[test]
fn summaries_of_too_little_say_nothing_and_do_not_fail() {
    let nothing = fathom_model::ResultFile::default();
    assert_eq!(text::pts_executive_summary(&nothing), "");
    assert!(text::pts_stats(&nothing, 79).contains("TESTS COUNTED: 0"));
}

/// The public exports 000 and 002 are of 79 columns; their white space is collapsed, in 000 with the
/// line ends.
#[test]
fn public_exports_are_drawn_again_as_they_were() {
    let collapsed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (path, begins_with) in [
        ("000_73503f6dd28b12bd.txt", "AMD EPYC Linux SSD"),
        ("002_f4b38a536cee9ad0.txt", "SSD Storage Benchmarks"),
    ] {
        let Some(bytes) = seed(path) else { return };
        let file = fathom_formats::import(&bytes, path).unwrap();
        let shown = collapsed(&text::pts(&file, 79));
        let original = collapsed(std::str::from_utf8(&bytes).unwrap());
        // OpenBenchmarking.org puts a description and a command before the title.
        let start = original.find(begins_with).unwrap();
        assert_same(&shown, &original[start..], path);
    }
}

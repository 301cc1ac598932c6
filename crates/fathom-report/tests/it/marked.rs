use fathom_model::ResultFile;
use fathom_report::markdown;

use crate::corpus::oracle_input;
use crate::golden::assert_golden;
use crate::synthetic::{measured, measured_with_unavailable};

/// Every line of a table has as many cells as its head.
fn assert_tables(text: &str) {
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut head = 0;
    for line in text.lines() {
        if !line.starts_with('|') {
            head = 0;
        } else if head == 0 {
            head = cells(line);
        } else {
            assert_eq!(cells(line), head, "{line}");
        }
    }
}

#[test]
fn a_run_as_golden() {
    let text = markdown(&measured_with_unavailable(&["made-up"]));
    assert_tables(&text);
    assert_golden("markdown/run.md", &text);
}

#[test]
fn several_systems_failures_and_hostile_names() {
    for names in [["A", "B"], ["a|b", "<script>x</script>"], ["", "#"]] {
        let text = markdown(&measured(&names));
        assert_tables(&text);
        assert!(!text.contains("<script>"));
        assert!(text.contains("no space left on device"));
    }
    if let Some(file) = oracle_input("edge") {
        let text = markdown(&file);
        assert_tables(&text);
        for needed in [
            "No space left on device",
            "FAIL",
            "min 30.0",
            "| Disk A | 23.441 |",
        ] {
            assert!(text.contains(needed), "no {needed:?} in {text}");
        }
    }
    assert!(markdown(&ResultFile::default()).contains("no results"));
}

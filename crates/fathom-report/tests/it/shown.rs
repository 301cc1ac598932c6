use fathom_model::{Entry, Figure, Level, Reason, ResultFile, ResultRecord, System, Verdict};
use fathom_report::explain;
use fathom_report::text::{self, ShowOptions};
use unicode_width::UnicodeWidthStr;

use crate::corpus::oracle_input;
use crate::golden::assert_golden;
use crate::synthetic::{measured, measured_with_unavailable};

const NAMES: [&str; 3] = ["Samsung 970 EVO", "Optane 900P", "WD Blue 2TB"];

fn at(width: usize) -> ShowOptions {
    ShowOptions {
        width,
        color: false,
    }
}

#[test]
fn a_run_of_one_system_at_80_columns() {
    let file = measured_with_unavailable(&["made-up"]);
    assert_golden("text/one.show.txt", &text::show(&file, at(80)));
    assert_golden("text/one.summary.txt", &text::summary(&file, at(80)));
    assert_golden("text/one.summary.w120.txt", &text::summary(&file, at(120)));
    assert_golden("text/one.explain.txt", &explain(&file));
}

#[test]
fn several_systems_at_80_columns() {
    assert_golden(
        "text/three.show.txt",
        &text::show(&measured(&NAMES), at(80)),
    );
}

#[test]
fn colour_only_adds_escape_sequences() {
    let file = measured_with_unavailable(&["made-up"]);
    let plain = text::show(&file, at(80));
    let coloured = text::show(
        &file,
        ShowOptions {
            width: 80,
            color: true,
        },
    );
    assert!(!plain.contains('\u{1b}'));
    assert_golden("text/one.show.colour.txt", &coloured);
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    let blanks_trimmed: Vec<&str> = stripped.lines().map(str::trim_end).collect();
    assert_eq!(blanks_trimmed, plain.lines().collect::<Vec<_>>());
}

#[test]
fn an_imported_file_shows_failures_and_gaps() {
    let Some(file) = oracle_input("edge") else {
        return;
    };
    let shown = text::show(&file, at(80));
    for needed in [
        "Disk B long name . failed: The test quit with a non-zero exit status.",
        "not measured: Disk A, Disk B long name",
        "Disk A ........... 0.0 |",
        "min 30.0 avg 55.2 max 70.0 (40 points)",
        "Disk B long name . FAIL",
    ] {
        assert!(shown.contains(needed), "no {needed:?} in:\n{shown}");
    }
    assert!(explain(&file).contains("Disk B long name: failed"));
}

fn entry(system: &str, value: &str) -> Entry {
    Entry {
        system: system.to_owned(),
        value: Figure::parse(value),
        ..Entry::default()
    }
}

fn file_of(entries: Vec<Entry>) -> ResultFile {
    ResultFile {
        title: "T".to_owned(),
        results: vec![ResultRecord {
            title: "io".to_owned(),
            entries,
            ..ResultRecord::default()
        }],
        ..ResultFile::default()
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let long = "x".repeat(2000);
    let wide = "測定".repeat(300);
    let mut files = vec![
        measured(&NAMES),
        measured_with_unavailable(&["one"]),
        measured(&[&long, &wide, ""]),
        file_of(vec![
            entry(&long, "1"),
            entry(&wide, "1e300"),
            entry("", "-5"),
        ]),
        ResultFile::default(),
    ];
    files.extend(
        ["edge", "seed000", "seed002"]
            .iter()
            .filter_map(|name| oracle_input(name)),
    );
    for file in &files {
        for width in [60, 79, 80, 120, 400] {
            for text in [text::show(file, at(width)), text::summary(file, at(width))] {
                for line in text.lines() {
                    assert!(
                        line.width() <= width,
                        "{width}: {} in {line:?}",
                        line.width()
                    );
                    assert_eq!(line, line.trim_end());
                }
            }
        }
    }
}

#[test]
fn degenerate_files_are_shown_and_say_so() {
    let nothing = ResultFile::default();
    assert!(text::show(&nothing, at(80)).ends_with("no results\n"));
    assert!(text::pts(&nothing, 80).is_ascii());
    assert_eq!(explain(&nothing), "no results\n");

    let no_entries = file_of(Vec::new());
    assert!(text::show(&no_entries, at(80)).contains("io\n"));

    let mut failed = file_of(vec![Entry {
        system: "A".to_owned(),
        ..Entry::default()
    }]);
    failed.systems = vec![System {
        identifier: "A".to_owned(),
        ..System::default()
    }];
    assert!(text::show(&failed, at(80)).contains("failed: failed; no reason was recorded"));

    for values in [
        ["0", "0"],
        ["-1", "-2"],
        ["1e-300", "1e300"],
        ["0.0000001", "5"],
    ] {
        let file = file_of(vec![entry("A", values[0]), entry("B", values[1])]);
        let shown = text::show(&file, at(80));
        assert!(shown.contains("A . ") && shown.contains("B . "), "{shown}");
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
        text::pts(&file, 80);
    }
}

#[test]
fn two_hundred_systems_and_repeated_ones_keep_apart() {
    let names: Vec<String> = (0..200).map(|number| format!("System {number}")).collect();
    let entries = names
        .iter()
        .chain(&names[..1])
        .map(|name| entry(name, "5"))
        .collect();
    let shown = text::show(&file_of(entries), at(80));
    assert!(shown.contains("System 199 "));
    assert!(shown.contains("System 0 #2 "));
}

#[test]
fn hostile_names_cannot_steer_the_terminal() {
    let mut hostile = entry("A\u{1b}]0;owned\u{7}", "1");
    hostile.verdict = Verdict::valid();
    hostile.verdict.object(
        Level::Invalid,
        Reason {
            rule: "r".to_owned(),
            short: "s\u{1b}[2J".to_owned(),
            text: "t\r\n\u{9b}1m".to_owned(),
            advice: String::new(),
        },
    );
    let file = file_of(vec![hostile]);
    for text in [
        text::show(&file, at(80)),
        text::summary(&file, at(80)),
        text::pts(&file, 80),
        explain(&file),
    ] {
        assert!(
            !text.contains(['\u{1b}', '\u{7}', '\u{9b}', '\r']),
            "{text:?}"
        );
    }
}

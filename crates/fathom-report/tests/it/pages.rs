use fathom_model::{Entry, Figure, ResultFile, ResultRecord, System};
use fathom_report::html;

use crate::corpus::oracle_input;
use crate::golden::assert_golden;
use crate::markup::assert_sound;
use crate::synthetic::{measured, measured_with_unavailable};

const NAMES: [&str; 3] = ["Samsung 970 EVO", "Optane 900P", "WD Blue 2TB"];

#[test]
fn pages_are_sound() {
    let mut files = vec![
        measured(&NAMES),
        measured_with_unavailable(&["one"]),
        measured(&[
            "<script>alert(1)</script>",
            "a & b \"c\" 'd'",
            "\u{1b}[31m\u{0}",
        ]),
        ResultFile::default(),
    ];
    files.extend(
        ["edge", "seed000", "seed002"]
            .iter()
            .filter_map(|name| oracle_input(name)),
    );
    for file in &files {
        let page = html(file);
        let sound = assert_sound(&page);
        let charts = sound.elements.iter().filter(|(name, attributes)| {
            let hidden = attributes.iter().any(|(key, _)| key == "aria-hidden");
            let nested = attributes
                .iter()
                .any(|(key, _)| key == "preserveAspectRatio");
            name == "svg" && !hidden && !nested
        });
        assert_eq!(
            charts.count(),
            sound.count("svg", "role", "img"),
            "every chart has a role"
        );
        assert!(!page.contains("<script>alert"));
        assert_eq!(html(file), page, "the same bytes every time");
    }
}

#[test]
fn every_chart_has_its_table() {
    let file = measured(&NAMES);
    let page = assert_sound(&html(&file));
    let figures = page
        .elements
        .iter()
        .filter(|(name, _)| name == "figure")
        .count();
    assert_eq!(figures, file.results.len());
    assert_eq!(
        page.count("div", "aria-label", "Numbers of this chart"),
        figures
    );
    for needed in [
        "3431.70",
        "Fewer Is Better",
        "SE +/- 2.68, N = 5",
        "p99.9",
        "Flushes took either",
        "no space left on device",
        "Conditions that differ",
        "mq-deadline",
        "read latency by percentile",
        "bandwidth over time",
    ] {
        assert!(page.text.contains(needed), "no {needed:?}");
    }
}

#[test]
fn a_single_run_shows_what_could_not_be_measured() {
    let page = assert_sound(&html(&measured_with_unavailable(&["one"])));
    assert!(page.text.contains("Not measured"));
    assert!(page.text.contains("apt-get install postgresql"));
    assert!(page.text.contains("suspect"));
    assert!(!page.ids.contains("base"), "nothing to be relative to");
}

#[test]
fn an_imported_file_keeps_failures_words_and_sensors() {
    let Some(file) = oracle_input("edge") else {
        return;
    };
    let page = assert_sound(&html(&file));
    for needed in [
        "No space left on device",
        "Disk A, Disk B long name: not measured",
        "30 / 55.24 / 69.98",
        "FAIL",
        "noatime,rw",
        "Transparent Huge Pages: madvise",
        "note A",
    ] {
        assert!(page.text.contains(needed), "no {needed:?} in {}", page.text);
    }
}

#[test]
fn the_page_of_a_run_as_golden() {
    let mut file = measured_with_unavailable(&["one"]);
    // Two cases are enough to see every part.
    let kept: Vec<_> = [2, 4]
        .iter()
        .map(|place| file.cases[*place].id.clone())
        .collect();
    file.results.retain(|result| kept.contains(&result.case));
    file.runs
        .retain(|run| kept.contains(&run.case) || run.unavailable.is_some());
    assert_golden("html/run.html", &html(&file));
}

fn entry(system: &str, value: &str) -> Entry {
    Entry {
        system: system.to_owned(),
        value: Figure::parse(value),
        ..Entry::default()
    }
}

#[test]
fn degenerate_files_give_sound_pages() {
    let long = "x".repeat(2000);
    let many: Vec<String> = (0..200).map(|number| format!("System {number}")).collect();
    let of = |entries: Vec<Entry>| ResultFile {
        title: long.clone(),
        systems: vec![System {
            identifier: "A".to_owned(),
            ..System::default()
        }],
        results: vec![ResultRecord {
            entries,
            ..ResultRecord::default()
        }],
        ..ResultFile::default()
    };
    for file in [
        of(Vec::new()),
        of(vec![Entry {
            system: "A".to_owned(),
            ..Entry::default()
        }]),
        of(vec![entry("A", "0"), entry("B", "0")]),
        of(vec![
            entry("A", "1e-300"),
            entry("B", "1e300"),
            entry("B", "-4"),
        ]),
        of(many.iter().map(|name| entry(name, "5")).collect()),
        of(vec![entry(&long, "7"), entry("", "8")]),
    ] {
        let page = assert_sound(&html(&file));
        assert!(
            !page.text.contains("NaN") && !page.text.contains(" inf"),
            "{}",
            page.text
        );
    }
}

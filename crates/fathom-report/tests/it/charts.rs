use fathom_model::{Entry, Figure, ResultFile, ResultRecord};
use fathom_report::svg::{self, Look};

use crate::corpus::oracle_input;
use crate::golden::assert_golden;
use crate::synthetic::{measured, measured_with_unavailable};
use crate::xml::assert_well_formed;

const NAMES: [&str; 3] = ["Samsung 970 EVO", "Optane 900P", "WD Blue 2TB"];

#[track_caller]
fn assert_chart(svg: &str) -> String {
    let texts = assert_well_formed(svg);
    for needed in [
        "role=\"img\"",
        "aria-labelledby=",
        "<title id=",
        "<desc id=",
    ] {
        assert!(svg.contains(needed), "no {needed}");
    }
    let addresses = svg.matches("http").count();
    assert_eq!(
        addresses,
        svg.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    texts
}

#[test]
fn every_chart_is_well_formed_and_says_what_it_is() {
    let mut files = vec![
        measured(&NAMES),
        measured_with_unavailable(&["one"]),
        measured(&["<script>alert(1)</script>", "a & b", "\u{1b}[31m\u{0}"]),
    ];
    files.extend(
        ["edge", "seed000", "seed002"]
            .iter()
            .filter_map(|name| oracle_input(name)),
    );
    for file in &files {
        for look in [Look::Screen, Look::Print] {
            let charts = svg::charts(file, look);
            assert!(charts.len() >= file.results.len());
            let mut ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
            for chart in &charts {
                assert_chart(&chart.svg);
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
                assert!(chart.id.chars().all(is_plain), "{}", chart.id);
                assert_eq!(
                    chart.svg.contains("prefers-color-scheme"),
                    look == Look::Screen
                );
            }
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), charts.len());
        }
    }
}

#[test]
fn charts_are_the_same_every_time() {
    let file = measured(&NAMES);
    assert_eq!(
        svg::charts(&file, Look::Screen),
        svg::charts(&file, Look::Screen)
    );
}

#[test]
fn bars_and_curves_as_goldens() {
    let charts = svg::charts(&measured(&NAMES), Look::Print);
    let of = |end: &str| charts.iter().find(|chart| chart.id.ends_with(end)).unwrap();
    assert_golden("svg/overview.svg", &of("overview").svg);
    assert_golden("svg/bars.svg", &of("main-bars").svg);
    assert_golden("svg/trials.svg", &of("main-trials").svg);
    assert_golden("svg/latency.svg", &of("main-curve0").svg);
    assert_golden("svg/series.svg", &of("main-curve1").svg);
}

#[test]
fn seeds_keep_their_words_and_axes() {
    let Some(file) = oracle_input("seed000") else {
        return;
    };
    let charts = svg::charts(&file, Look::Print);
    let all: String = charts
        .iter()
        .map(|chart| assert_chart(&chart.svg))
        .collect();
    for needed in [
        "MB/s, More Is Better",
        "Seconds, Fewer Is Better",
        "SE +/- 0.39, N = 3",
        "Dbench 4.0",
        "2 x 120GB Force MP500 Btrfs RAID1",
    ] {
        assert!(all.contains(needed), "no {needed:?}");
    }
    // The largest of the random reads is 1018.00 MB/s.
    let reads = charts
        .iter()
        .find(|chart| chart.svg.contains("1018.00"))
        .unwrap();
    assert!(reads.svg.contains(">200</text>") && reads.svg.contains(">1000</text>"));
}

fn entry(system: &str, value: &str) -> Entry {
    Entry {
        system: system.to_owned(),
        value: Figure::parse(value),
        ..Entry::default()
    }
}

#[test]
fn degenerate_values_give_charts_without_nonsense() {
    let long = "x".repeat(2000);
    for values in [
        vec![],
        vec![("A", "0")],
        vec![("A", "0"), ("B", "0")],
        vec![("A", "-1"), ("B", "-2")],
        vec![("A", "1e-300"), ("B", "1e300")],
        vec![("A", "5"), ("A", "6"), ("A", "7")],
        vec![(long.as_str(), "5"), ("測定", "6")],
        vec![("A", "not a number"), ("B", "")],
    ] {
        let file = ResultFile {
            results: vec![ResultRecord {
                entries: values
                    .iter()
                    .map(|(name, value)| entry(name, value))
                    .collect(),
                description: long.clone(),
                ..ResultRecord::default()
            }],
            ..ResultFile::default()
        };
        for chart in svg::charts(&file, Look::Screen) {
            let texts = assert_chart(&chart.svg);
            assert!(!texts.contains("inf") && !texts.contains("NaN"), "{texts}");
        }
    }
}

#[test]
fn invalid_numbers_are_hollow_and_lead_nothing() {
    let mut file = measured(&NAMES);
    for result in &mut file.results {
        result.entries[0].verdict.level = fathom_model::Level::Invalid;
    }
    let charts = svg::charts(&file, Look::Print);
    let bars = charts
        .iter()
        .find(|chart| chart.id.ends_with("main-bars"))
        .unwrap();
    assert!(bars.svg.contains("class=\"b c0 v3\""));
    assert!(
        bars.svg
            .contains(">Optane 900P is best, outside the uncertainty"),
        "{}",
        bars.svg
    );
    let overview = &charts[0].svg;
    assert!(overview.contains(">1.00<") && !overview.contains(">1.09<"));
}

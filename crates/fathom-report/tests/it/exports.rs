//! PNG and PDF, with the feature `export`.

use fathom_model::{Entry, Figure, ResultFile, ResultRecord};
use fathom_report::export::{ExportError, pdf, png};
use fathom_report::svg::{self, Look};

use crate::corpus::oracle_input;
use crate::synthetic::measured;

fn entry(system: &str, value: &str) -> Entry {
    Entry {
        system: system.to_owned(),
        value: Figure::parse(value),
        ..Entry::default()
    }
}

fn file_of(entries: Vec<Entry>) -> ResultFile {
    ResultFile {
        title: "Ein Größenvergleich".to_owned(),
        results: vec![ResultRecord {
            title: "io".to_owned(),
            entries,
            ..ResultRecord::default()
        }],
        ..ResultFile::default()
    }
}

/// The text of a document, when `pdftotext` is here.
fn text_of(pdf: &[u8]) -> Option<String> {
    let tool = fathom_testkit::tool("pdftotext")?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.pdf");
    std::fs::write(&path, pdf).unwrap();
    let output = std::process::Command::new(tool)
        .arg("-layout")
        .arg(&path)
        .arg("-")
        .output();
    Some(String::from_utf8(output.unwrap().stdout).unwrap())
}

fn size_of(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn a_chart_becomes_a_bitmap_of_its_scale() {
    let file = file_of(vec![entry("A", "5"), entry("B", "7")]);
    let charts = svg::charts(&file, Look::Print);
    let bars = charts
        .iter()
        .find(|chart| chart.id.ends_with("bars"))
        .unwrap();
    let (width, height) = size_of(&png(bars, 1.0).unwrap());
    assert_eq!(size_of(&png(bars, 2.0).unwrap()), (2 * width, 2 * height));
    assert_eq!(png(bars, 1.0).unwrap(), png(bars, 1.0).unwrap());
    for scale in [0.0, -1.0, f32::NAN] {
        assert!(matches!(png(bars, scale), Err(ExportError::Scale { .. })));
    }
    let error = png(bars, 1000.0).unwrap_err();
    assert!(
        error.to_string().contains("choose a scale below 22"),
        "{error}"
    );
}

#[test]
fn the_document_holds_real_text_and_the_summary_first() {
    let Some(file) = oracle_input("seed002") else {
        return;
    };
    let document = pdf(&file).unwrap();
    assert_eq!(pdf(&file).unwrap(), document, "the same bytes every time");
    let Some(text) = text_of(&document) else {
        return;
    };
    let place = |needed: &str| {
        text.find(needed)
            .unwrap_or_else(|| panic!("no {needed:?} in {text:.3000}"))
    };
    assert!(place("Summary") < place("Systems"));
    assert!(place("Systems") < place("Flexible IO Tester 3.36"));
    for needed in [
        "Micron 7450 Max 3.2TB",
        "135.499",
        "SE +/-",
        "MB/s, More Is Better",
    ] {
        place(needed);
    }
    assert!(
        text.replace(' ', "").contains("SSDStorage1/"),
        "pages are numbered"
    );
}

#[test]
fn a_measured_file_brings_latency_verdicts_and_failures() {
    let document = pdf(&measured(&["A drive", "B drive"])).unwrap();
    let Some(text) = text_of(&document) else {
        return;
    };
    for needed in [
        "p99.9",
        "Flushes took either",
        "no space left on device",
        "suspect",
        "percentile",
    ] {
        assert!(text.contains(needed), "no {needed:?}");
    }
}

#[test]
fn degenerate_files_become_documents() {
    let long = "x".repeat(2000);
    let many: Vec<Entry> = (0..120)
        .map(|number| entry(&format!("S{number}"), "5"))
        .collect();
    for file in [
        ResultFile::default(),
        file_of(Vec::new()),
        file_of(vec![
            entry(&long, "1e300"),
            entry("測定", "-4"),
            entry("", "0"),
        ]),
        file_of(many),
    ] {
        assert!(pdf(&file).unwrap().starts_with(b"%PDF-"));
    }
}

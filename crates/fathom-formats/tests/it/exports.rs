//! Exports are read against the result file they were made of.

use fathom_formats::{import, pts};
use fathom_model::{Display, Entry, ResultFile};

use crate::support::corpus_file;

/// What a text export can say of a file: failed runs and, in the sum, the printed decimals are
/// missing.
fn said(file: &ResultFile) -> Vec<String> {
    let mut lines = vec![format!("{} | {}", file.title, file.description)];
    for system in &file.systems {
        let fields = system.hardware.iter().chain(&system.software);
        let fields: Vec<String> = fields.map(|f| format!("{}: {}", f.name, f.text)).collect();
        lines.push(format!("[{}] {}", system.identifier, fields.join(", ")));
    }
    for record in &file.results {
        let shown: Vec<&Entry> = record
            .entries
            .iter()
            .filter(|e| e.error.is_none())
            .collect();
        let heading = format!("{} {}", record.title, record.version);
        lines.push(format!(
            "{} | {} | {} | {:?} | {:?}",
            heading.trim(),
            record.description.trim(),
            record.metric.unit,
            record.metric.direction,
            record.display,
        ));
        lines.extend(
            shown
                .iter()
                .map(|entry| format!(" {} {}", entry.system, number(record.display, entry))),
        );
    }
    lines
}

fn number(display: Display, entry: &Entry) -> String {
    let text = entry
        .details
        .as_ref()
        .and_then(|details| details.text.clone());
    match (text, &entry.value) {
        (Some(text), _) => text,
        // The mean of a line is printed with one decimal.
        (None, Some(value)) if display == Display::Line => format!("{:.0}", value.value()),
        (None, Some(value)) => value.value().to_string(),
        (None, None) => String::new(),
    }
}

#[track_caller]
fn check_text(export: &str, xml: &str) {
    let (Some(text), Some(xml)) = (corpus_file(export), corpus_file(&format!("corpus/{xml}")))
    else {
        return;
    };
    let (ours, theirs) = (import(&text, export).unwrap(), pts::read_xml(&xml).unwrap());
    let (ours_said, theirs_said) = (said(&ours), said(&theirs));
    for (a, b) in ours_said.iter().zip(&theirs_said) {
        assert_eq!(a, b, "{export}");
    }
    assert_eq!(ours_said.len(), theirs_said.len(), "{export}");
    let warnings = &ours.origin.unwrap().warnings;
    let expected = [
        "leaves out runs that failed",
        "title and description stand without",
    ];
    for warning in warnings {
        let is_expected = expected.iter().any(|text| warning.text.contains(text));
        assert!(is_expected, "{warning:?}");
    }
}

#[test]
fn text_exports_of_every_width_say_what_their_result_file_says() {
    for name in ["edge", "seed000", "seed002"] {
        for width in [79, 80, 120] {
            let export = format!("corpus/oracle/{name}.text.w{width}.txt");
            check_text(&export, &format!("oracle/{name}.composite.input.xml"));
        }
    }
    let monitor = "pts/generated-here/monitor";
    check_text(
        &format!("corpus/{monitor}-export.txt"),
        &format!("{monitor}-line-graphs-nonascii-10.8.6.xml"),
    );
}

#[test]
fn the_public_text_exports_say_what_their_result_file_says() {
    check_text(
        "seeds/000_73503f6dd28b12bd.txt",
        "oracle/seed000.composite.input.xml",
    );
    check_text(
        "seeds/002_f4b38a536cee9ad0.txt",
        "oracle/seed002.composite.input.xml",
    );
}

#[test]
fn collapsing_white_space_loses_nothing() {
    for name in [
        "seeds/002_f4b38a536cee9ad0.txt",
        "corpus/oracle/seed000.text.w79.txt",
        "corpus/oracle/seed002.text.w80.txt",
    ] {
        let Some(bytes) = corpus_file(name) else {
            return;
        };
        let text = String::from_utf8(bytes.clone()).unwrap();
        let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (lines, collapsed) = (
            import(&bytes, name).unwrap(),
            import(collapsed.as_bytes(), name).unwrap(),
        );
        let (a, b) = (said(&collapsed), said(&lines));
        // Only a title that OpenBenchmarking.org has put between two descriptions is certain.
        let heading = |said: &[String]| said[0].replace(" | ", " ");
        assert_eq!(heading(&a), heading(&b), "{name}");
        assert_eq!(a[1..], b[1..], "{name}");
        assert_eq!(collapsed.results, lines.results, "{name}");
    }
}

fn both(export: &str, xml: &str) -> Option<(ResultFile, ResultFile)> {
    let (text, xml) = (corpus_file(export)?, corpus_file(&format!("corpus/{xml}"))?);
    Some((import(&text, export).unwrap(), pts::read_xml(&xml).unwrap()))
}

const PAIRS: [(&str, &str); 4] = [
    ("oracle/edge", "oracle/edge.composite.input.xml"),
    ("oracle/seed000", "oracle/seed000.composite.input.xml"),
    ("oracle/seed002", "oracle/seed002.composite.input.xml"),
    (
        "pts/generated-here/monitor-export",
        "pts/generated-here/monitor-line-graphs-nonascii-10.8.6.xml",
    ),
];

/// Where PTS turned texts into numbers, the numbers are equal.
fn same_numbers(a: &Entry, b: &Entry) -> bool {
    let value = |entry: &Entry| entry.value.as_ref().map(fathom_model::Figure::value);
    value(a) == value(b) && a.sample_values() == b.sample_values() && a.system == b.system
}

#[test]
fn json_exports_say_what_their_result_file_says() {
    for (export, xml) in PAIRS {
        let Some((ours, theirs)) = both(&format!("corpus/{export}.json"), xml) else {
            return;
        };
        assert_eq!(
            (&ours.title, &ours.description),
            (&theirs.title, &theirs.description)
        );
        for (a, b) in ours.systems.iter().zip(&theirs.systems) {
            assert_eq!(a, b, "{export}");
        }
        assert_eq!(ours.results.len(), theirs.results.len(), "{export}");
        for (a, b) in ours.results.iter().zip(&theirs.results) {
            assert_eq!(
                (&a.title, &a.version, &a.description),
                (&b.title, &b.version, &b.description)
            );
            assert_eq!(
                (a.display, a.metric.direction),
                (b.display, b.metric.direction),
                "{}",
                a.title
            );
            for (a, b) in a.entries.iter().zip(&b.entries) {
                // A trial equal to the value is no trial in the export.
                let single = b.samples.len() == 1 && a.samples.is_empty();
                assert!(single || same_numbers(a, b), "{export} {a:?} {b:?}");
                assert_eq!(a.error, b.error);
                let (a, b) = (a.details.as_deref(), b.details.as_deref());
                assert_eq!(a.map(|d| &d.text), b.map(|d| &d.text));
                assert_eq!(a.map(|d| &d.line), b.map(|d| &d.line));
            }
            assert_eq!(a.entries.len(), b.entries.len());
        }
    }
}

#[test]
fn csv_exports_say_what_their_result_file_says() {
    for (export, xml) in PAIRS {
        let Some((ours, theirs)) = both(&format!("corpus/{export}.csv"), xml) else {
            return;
        };
        assert_eq!(ours.title, theirs.title);
        for (a, b) in ours.systems.iter().zip(&theirs.systems) {
            assert_eq!(
                (&a.identifier, &a.hardware, &a.software),
                (&b.identifier, &b.hardware, &b.software)
            );
        }
        assert_eq!(ours.results.len(), theirs.results.len(), "{export}");
        for (a, b) in ours.results.iter().zip(&theirs.results) {
            assert_eq!(
                (&a.title, a.description.as_str()),
                (&b.title, b.description.trim())
            );
            assert_eq!(
                (a.display, a.metric.direction),
                (b.display, b.metric.direction),
                "{}",
                a.title
            );
            let good: Vec<&Entry> = b
                .entries
                .iter()
                .filter(|entry| entry.error.is_none())
                .collect();
            let numbers = |display: Display, entry: &Entry| number(display, entry);
            let a: Vec<String> = a.entries.iter().map(|e| numbers(a.display, e)).collect();
            let b: Vec<String> = good.iter().map(|e| numbers(b.display, e)).collect();
            assert_eq!(a, b, "{export}");
        }
    }
}

#[test]
fn raw_csv_exports_give_the_trials() {
    for (export, xml) in PAIRS {
        if export.contains("seed002") {
            continue;
        }
        let file = match export.contains("monitor") {
            true => format!("corpus/{export}-raw.csv"),
            false => format!("corpus/{export}.raw.csv"),
        };
        let Some((ours, theirs)) = both(&file, xml) else {
            return;
        };
        assert_eq!(
            (&ours.title, ours.results.len()),
            (&theirs.title, theirs.results.len())
        );
        for (a, b) in ours.results.iter().zip(&theirs.results) {
            assert_eq!((&a.title, &a.version), (&b.title, &b.version));
            for (a, b) in a.entries.iter().zip(&b.entries) {
                let expected = match b.samples.len() {
                    1 => Vec::new(),
                    _ => b.sample_values(),
                };
                assert_eq!(a.sample_values(), expected, "{export}");
                assert_eq!(a.value.is_none(), expected.is_empty());
            }
        }
    }
}

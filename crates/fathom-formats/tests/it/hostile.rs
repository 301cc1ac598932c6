//! No input makes a reader panic, and what was read can be written and read again.

use std::sync::OnceLock;

use fathom_formats::csv::{Rows, write as write_csv};
use fathom_formats::{import, native, pts, references};
use proptest::prelude::*;

use crate::support::corpus;

/// Small real files of every format; without the corpus only those that ship.
fn samples() -> &'static [(String, Vec<u8>)] {
    static SAMPLES: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let shipped = references()
            .iter()
            .map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
        let folders = [
            "corpus/pts",
            "corpus/fio",
            "corpus/bugs",
            "corpus/oracle",
            "corpus/logs",
            "seeds",
        ];
        let others = folders.into_iter().filter_map(corpus).flatten();
        shipped
            .chain(others)
            .filter(|(_, bytes)| bytes.len() < 70_000)
            .collect()
    })
}

/// A change to a file: where (in ten-thousandths of its length) and what.
#[derive(Clone, Debug)]
enum Change {
    Cut(u16),
    Delete(u16, u16),
    Repeat(u16, u16),
    Byte(u16, u8),
    Insert(u16, &'static str),
    Splice(u16, usize, u16),
}

const TOKENS: [&str; 24] = [
    "<",
    ">",
    "</Result>",
    "<Entry>",
    "&",
    "&#0;",
    "&#x1F600;",
    "]]>",
    "<!DOCTYPE x [",
    "\u{0}",
    "{",
    "}",
    "[",
    "\"",
    ":",
    ",",
    ";",
    " - ",
    " Is Better",
    "OpenBenchmarking.org",
    "SE +/- 1, N = 3",
    "9e999",
    "\u{feff}",
    "99999999999999999999",
];

fn change() -> impl Strategy<Value = Change> {
    let at = || 0u16..10_000;
    prop_oneof![
        at().prop_map(Change::Cut),
        (at(), 1u16..400).prop_map(|(at, length)| Change::Delete(at, length)),
        (at(), 1u16..400).prop_map(|(at, length)| Change::Repeat(at, length)),
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (at(), 0..TOKENS.len()).prop_map(|(at, token)| Change::Insert(at, TOKENS[token])),
        (at(), any::<usize>(), 1u16..2000).prop_map(|(at, other, n)| Change::Splice(at, other, n)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let place = |at: u16| usize::from(at) * bytes.len() / 10_000;
    match *change {
        Change::Cut(at) => bytes.truncate(place(at)),
        Change::Delete(at, length) => {
            let from = place(at);
            let to = (from + usize::from(length)).min(bytes.len());
            bytes.drain(from..to);
        }
        Change::Repeat(at, length) => {
            let from = place(at);
            let to = (from + usize::from(length)).min(bytes.len());
            let part = bytes[from..to].to_vec();
            bytes.splice(from..from, part);
        }
        Change::Byte(at, byte) => {
            let at = place(at);
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        Change::Insert(at, token) => {
            let at = place(at);
            bytes.splice(at..at, token.bytes());
        }
        Change::Splice(at, other, length) => {
            let at = place(at);
            let (_, other) = &samples()[other % samples().len()];
            let part = other[..usize::from(length).min(other.len())].to_vec();
            bytes.splice(at..at, part);
        }
    }
}

/// What must hold of any bytes.
fn check(bytes: &[u8], name: &str) {
    let Ok(file) = import(bytes, name) else {
        return;
    };
    let written = native::write(&file);
    let again = native::read(&written).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(again == file, "{name}: it reads back differently");
    for rows in [Rows::Trials, Rows::Entries] {
        let table = write_csv(&file, rows);
        assert!(std::str::from_utf8(&table).is_ok());
    }
    let xml = pts::write_xml(&file);
    if !file.results.is_empty() {
        let back = pts::read_xml(&xml).unwrap_or_else(|error| panic!("{name}: {error}"));
        let count = |file: &fathom_model::ResultFile| {
            file.results
                .iter()
                .map(|record| record.entries.len())
                .sum::<usize>()
        };
        assert!(count(&back) <= count(&file), "{name}");
    }
}

proptest! {
    #[test]
    fn changed_files_do_no_harm(
        which in any::<usize>(),
        changes in proptest::collection::vec(change(), 1..6),
    ) {
        let (name, original) = &samples()[which % samples().len()];
        let mut bytes = original.clone();
        for change in &changes {
            apply(&mut bytes, change);
        }
        check(&bytes, name);
    }

    #[test]
    fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        check(&bytes, "bytes");
    }

    #[test]
    fn any_text_in_the_clothes_of_a_format_does_no_harm(
        text in "[ -~\\n]{0,400}",
        dress in 0usize..8,
    ) {
        let content = match dress {
            0 => format!("<PhoronixTestSuite><Result>{text}"),
            1 => format!("T\n\nA 1.0\nMB/s > Higher Is Better\nx .. 5 |==\n{text}"),
            2 => format!("{{\"fio version\":\"fio-3.1\",\"jobs\":[{text}"),
            3 => format!(",T,\n\n ,,\"A\"\n{text}"),
            4 => format!("{{\"fathom_result\":1,{text}"),
            5 => format!("ProcessorMemory{text}OpenBenchmarking.org Is Better OSKernel{text}"),
            6 => format!("  read: IOPS=1k, BW=1MiB/s (1MB/s)(1MiB/1msec)\n{text}"),
            _ => format!("3;fio-3.1;a;0;0;{}{text}", "1;".repeat(130)),
        };
        check(content.as_bytes(), "x_bw.log");
    }
}

/// Inputs whose size promises far more than they hold.
#[test]
fn absurd_shapes_are_refused_or_read_at_once() {
    let many = 200_000;
    for content in [
        "<PhoronixTestSuite>".to_owned() + &"<a>".repeat(many),
        "<PhoronixTestSuite><Result>".to_owned() + &"<Entry/>".repeat(many),
        "<PhoronixTestSuite>".to_owned() + &"<Result><Title>a</Title></Result>".repeat(many),
        "<PhoronixTestSuite><System><JSON>".to_owned() + &"[".repeat(many),
        "<PhoronixTestSuite><Generated><Title>".to_owned() + &"&amp;".repeat(many),
        "{\"fio version\":1,\"jobs\":[".to_owned() + &"{".repeat(many),
        "{\"fio version\":1,\"jobs\":[".to_owned() + &"{},".repeat(many) + "{}]}",
        "{\"title\":1,\"results\":".to_owned() + &"[".repeat(many),
        "T\nMB/s > Higher Is Better\n".to_owned() + &"a . 1 |\n".repeat(many),
        "T MB/s > Higher Is Better ".to_owned() + &"a . 1 | ".repeat(many / 10),
        ",T,\n\n ,,\"".to_owned() + &"a\",\"".repeat(many) + "\"\n",
        "ProcessorMemory OpenBenchmarking.org Is Better".to_owned() + &"OSKernel".repeat(many / 10),
    ] {
        check(content.as_bytes(), "absurd");
    }
}

/// What would take a hundred times its size in memory is refused before it does.
#[test]
fn dense_files_are_refused_by_their_counts() {
    let many = 200_000;
    for (content, what) in [
        (
            "{\"fio version\":\"fio-3.1\",\"jobs\":[".to_owned() + &"{},".repeat(many) + "{}]}",
            "number of JSON objects",
        ),
        (
            "{\"fathom_result\":1,\"results\":[{\"entries\":[".to_owned()
                + &"{\"value\":1},".repeat(many)
                + "{}]}]}",
            "number of JSON objects",
        ),
        (
            ",T,\n\n ,,\"".to_owned() + &"a\",\"".repeat(many) + "\"\n",
            "systems of a table",
        ),
    ] {
        let error = import(content.as_bytes(), "dense").unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

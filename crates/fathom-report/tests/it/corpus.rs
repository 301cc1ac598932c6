//! The shared corpus, where it is present.

use std::path::{Path, PathBuf};

use fathom_model::{
    Direction, Display, Entry, EntryDetails, Field, Figure, Generator, Metric, PtsFacts,
    ResultFile, ResultRecord, System,
};

/// A file of the shared corpus; `None`, said loudly, when the corpus is not here.
pub fn shared(path: &str) -> Option<String> {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    match std::fs::read_to_string(root.join(path)) {
        Ok(text) => Some(text),
        Err(error) => {
            println!("SKIPPED: no shared/{path}: {error}");
            None
        }
    }
}

/// An oracle output without the lines about the internet that precede it.
pub fn oracle(name: &str) -> Option<String> {
    let text = shared(&format!("corpus/oracle/{name}"))?;
    let (_, rest) = text
        .split_once("User Configuration.\n\n")
        .expect("a notice line");
    Some(rest.to_owned())
}

/// Reads the plain, machine-written XML of the oracle inputs; no XML reader for anything else.
pub fn oracle_input(name: &str) -> Option<ResultFile> {
    let text = shared(&format!("corpus/oracle/{name}.composite.input.xml"))?;
    let mut file = ResultFile::new(
        tag(&text, "Title"),
        Generator {
            name: "Phoronix Test Suite".to_owned(),
            version: "10.8.6".to_owned(),
        },
    );
    file.description = tag(&text, "Description");
    file.systems = blocks(&text, "System").map(system).collect();
    file.results = blocks(&text, "Result").map(result).collect();
    Some(file)
}

fn system(text: &str) -> System {
    System {
        identifier: tag(text, "Identifier"),
        hardware: fields(&tag(text, "Hardware")),
        software: fields(&tag(text, "Software")),
        ..System::default()
    }
}

fn fields(text: &str) -> Vec<Field> {
    let parts = text.split(", ").filter_map(|part| part.split_once(": "));
    parts.map(|(name, text)| Field::new(name, text)).collect()
}

fn result(text: &str) -> ResultRecord {
    let (head, data) = text.split_once("<Data>").expect("a result has data");
    let display = match tag(head, "DisplayFormat").as_str() {
        "LINE_GRAPH" => Display::Line,
        "PASS_FAIL" => Display::PassFail,
        _ => Display::Bar,
    };
    let direction = match tag(head, "Proportion").as_str() {
        "HIB" => Direction::HigherIsBetter,
        "LIB" => Direction::LowerIsBetter,
        _ => Direction::Neutral,
    };
    ResultRecord {
        case: fathom_model::CaseId(tag(head, "Arguments")),
        metric: Metric {
            unit: tag(head, "Scale"),
            direction,
            ..Metric::default()
        },
        title: tag(head, "Title"),
        version: tag(head, "AppVersion"),
        description: tag(head, "Description"),
        display,
        pts: Some(Box::new(PtsFacts {
            identifier: tag(head, "Identifier"),
            arguments: tag(head, "Arguments"),
            ..PtsFacts::default()
        })),
        entries: blocks(data, "Entry")
            .map(|text| entry(text, display))
            .collect(),
        ..ResultRecord::default()
    }
}

fn entry(text: &str, display: Display) -> Entry {
    let value = tag(text, "Value");
    let raw = tag(text, "RawString");
    let mut entry = Entry {
        system: tag(text, "Identifier"),
        ..Entry::default()
    };
    match display {
        Display::Line => {
            let line = value.split(',').filter_map(Figure::parse).collect();
            entry.details = Some(Box::new(EntryDetails {
                line,
                ..EntryDetails::default()
            }));
        }
        Display::PassFail => {
            let text = Some(value);
            entry.details = Some(Box::new(EntryDetails {
                text,
                ..EntryDetails::default()
            }));
        }
        _ => {
            entry.value = Figure::parse(&value);
            if raw != value {
                entry.samples = raw.split(':').filter_map(Figure::parse).collect();
            }
        }
    }
    if let Some((_, error)) = text.split_once("\"error\": \"") {
        entry.error = error.split_once('"').map(|(error, _)| error.into());
    }
    entry
}

fn blocks<'a>(text: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&*open.leak())
        .skip(1)
        .filter_map(move |part| part.split_once(&*close).map(|(block, _)| block))
}

fn tag(text: &str, name: &str) -> String {
    let Some((_, rest)) = text.split_once(&format!("<{name}>")) else {
        return String::new();
    };
    let inner = rest
        .split_once(&format!("</{name}>"))
        .map_or("", |(inner, _)| inner);
    inner
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

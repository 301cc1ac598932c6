//! The JSON export (`result-file-to-json`).

use std::borrow::Cow;

use fathom_model::{Display, Field, Generator, Origin, ResultFile, System};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::draft::{Draft, DraftResult, display_of, finish};
use super::entry::RawEntry;
use super::notes;
use crate::json::{Ordered, syntax};
use crate::text::clean;
use crate::warnings::Warnings;
use crate::{Format, FormatError};

/// Reads a JSON export.
///
/// The export leaves out every empty or zero text: an entry without a value but with trials gets
/// their mean back (they can only be zeros), one without both is an error that says so.
///
/// # Errors
/// [`FormatError::Syntax`] with line, column and path; [`FormatError::Limit`] over 256 MiB.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let bytes = crate::text::without_bom(bytes);
    let export: Export =
        serde_json::from_slice(bytes).map_err(|error| syntax(Format::PtsJson, bytes, &error))?;
    let mut warnings = Warnings::default();
    for name in export.rest.keys() {
        warnings.add(
            "top level",
            format!("key \"{name}\" is not known and was left out"),
        );
    }
    let systems = export
        .systems
        .0
        .into_iter()
        .map(|(name, s)| system(name, s))
        .collect();
    let mut results = Vec::with_capacity(export.results.0.len());
    for (hash, exported) in export.results.0 {
        results.push(result(&hash, exported, results.len(), &mut warnings));
    }
    let mut facts = Map::new();
    for (key, text) in [
        ("last_modified", export.last_modified),
        ("notes", export.notes),
        ("internal_tags", export.internal_tags),
        (
            "preset_environment_variables",
            export.preset_environment_variables,
        ),
    ] {
        if !text.is_empty() {
            facts.insert(key.to_owned(), text.into());
        }
    }
    let address = match export.reference_id.as_str() {
        "" => None,
        id => Some(format!("https://openbenchmarking.org/result/{id}")),
    };
    Ok(finish(Draft {
        title: clean(export.title.into()).into_owned(),
        description: clean(export.description.into()).into_owned(),
        generator: Generator {
            name: "Phoronix Test Suite".to_owned(),
            version: String::new(),
        },
        systems,
        results,
        origin: Origin {
            format: Format::PtsJson.name().to_owned(),
            facts,
            address,
            ..Origin::default()
        },
        warnings,
        ..Draft::default()
    }))
}

#[derive(Deserialize)]
struct Export {
    #[serde(default)]
    title: String,
    #[serde(default)]
    last_modified: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    notes: String,
    #[serde(default)]
    internal_tags: String,
    #[serde(default)]
    reference_id: String,
    #[serde(default)]
    preset_environment_variables: String,
    #[serde(default)]
    systems: Ordered<ExportedSystem>,
    results: Ordered<ExportedResult>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExportedSystem {
    hardware: Ordered<Value>,
    software: Ordered<Value>,
    user: String,
    timestamp: String,
    client_version: String,
    notes: String,
    data: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExportedResult {
    identifier: String,
    title: String,
    app_version: String,
    arguments: String,
    description: String,
    scale: String,
    proportion: String,
    display_format: String,
    annotation: String,
    parent: String,
    results: Ordered<ExportedEntry>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExportedEntry {
    value: Value,
    raw_values: Vec<Value>,
    test_run_times: Vec<Value>,
    min_result: Vec<Value>,
    max_result: Vec<Value>,
    details: Value,
}

/// A text or number as text; nothing for the rest.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => clean(text.as_str().into()).into_owned(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn joined(values: &[Value]) -> String {
    values.iter().map(text_of).collect::<Vec<_>>().join(":")
}

fn system(name: String, exported: ExportedSystem) -> System {
    let fields = |object: Ordered<Value>| -> Vec<Field> {
        object
            .0
            .into_iter()
            .map(|(key, value)| Field::new(key, text_of(&value)))
            .collect()
    };
    let pts_json = match exported.data {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    let mut system = System {
        identifier: name,
        hardware: fields(exported.hardware),
        software: fields(exported.software),
        notes: notes::from_json(&pts_json, &exported.notes),
        user: exported.user,
        time_text: exported.timestamp,
        client: super::client(&exported.client_version),
        pts_json,
        ..System::default()
    };
    if !exported.notes.is_empty() {
        system
            .extra
            .insert("pts_notes".to_owned(), exported.notes.into());
    }
    system
}

fn result(
    hash: &str,
    exported: ExportedResult,
    index: usize,
    warnings: &mut Warnings,
) -> DraftResult {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let mut result = DraftResult {
        place: format!("result {}", index + 1),
        identifier: exported.identifier,
        title: exported.title,
        app_version: exported.app_version,
        arguments: exported.arguments,
        description: exported.description,
        scale: exported.scale,
        proportion: exported.proportion,
        display_format: exported.display_format,
        annotation: some(exported.annotation),
        parent: some(exported.parent),
        ..DraftResult::default()
    };
    if result.hash() != hash {
        let text = "its key is not the comparison hash of its texts; the texts count";
        warnings.add(result.place.clone(), text);
    }
    let display = display_of(&result.display_format).unwrap_or(Display::Bar);
    for (system, exported) in exported.results.0 {
        result
            .entries
            .push(entry(system, exported, display, &result.place, warnings));
    }
    result
}

fn entry(
    system: String,
    exported: ExportedEntry,
    display: Display,
    place: &str,
    warnings: &mut Warnings,
) -> fathom_model::Entry {
    let mut json = match exported.details {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    for (key, values) in [
        ("test-run-times", &exported.test_run_times),
        ("min-result", &exported.min_result),
        ("max-result", &exported.max_result),
    ] {
        if !values.is_empty() {
            json.insert(key.to_owned(), joined(values).into());
        }
    }
    let value = match &exported.value {
        Value::Null if all_zero(&exported.raw_values) => "0".to_owned(),
        value => text_of(value),
    };
    let has_reason = json.contains_key("error");
    let raw = RawEntry {
        system: system.into(),
        value: value.into(),
        raw: joined(&exported.raw_values).into(),
        json: match json.is_empty() {
            true => Cow::Borrowed(""),
            false => Value::Object(json).to_string().into(),
        },
    };
    let mut entry = raw.finish(display, place, warnings);
    if entry.error.is_some() && !has_reason {
        entry.error =
            Some("no value in the JSON export, which leaves out failures and zeros alike".into());
    }
    entry
}

fn all_zero(trials: &[Value]) -> bool {
    !trials.is_empty() && trials.iter().all(|trial| trial.as_f64() == Some(0.0))
}

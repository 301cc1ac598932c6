use std::borrow::Cow;

use fathom_base::WallTime;
use fathom_model::{
    Direction, Display, Entry, EntryDetails, Figure, Level, PtsIdentity, ResultFile, ResultRecord,
    System, pts_comparison_hash,
};
use serde_json::{Map, Value};

use crate::pts::entry::NO_VALUE;
use crate::pts::{fields, notes};
use crate::text::cut;

/// Longest title and description the schema of PTS allows, in characters.
const MAX_TITLE: usize = 126;
const MAX_DESCRIPTION: usize = 2048;

/// Writes a `composite.xml` the Phoronix Test Suite reads.
///
/// Imported results keep every text their comparison hash is made of. A native result gets no
/// identifier (PTS would look for a profile of that name, and hash the title where it has none),
/// and its arguments are the identities of case and metric, so that no two results share a hash;
/// the metrics beside a case's first become its children.
/// What the format has no place for (standard errors without trials, doubts of an importer) goes
/// into the entry's JSON object under keys that begin with `fathom-`.
pub fn write(file: &ResultFile) -> Vec<u8> {
    let client = match fact(file, "test_client") {
        "" if file.generator.name.is_empty() => "Fathom".to_owned(),
        "" => format!("{} v{}", file.generator.name, file.generator.version),
        client => client.to_owned(),
    };
    let mut out = Writer::default();
    out.text.push_str("<?xml version=\"1.0\"?>\n<!--");
    out.text.push_str(&escape(&client).replace("--", "-"));
    out.text.push_str("-->\n");
    out.open("PhoronixTestSuite");
    write_generated(&mut out, file, &client);
    for system in &file.systems {
        write_system(&mut out, system);
    }
    for record in &file.results {
        write_result(&mut out, file, record);
    }
    out.close("PhoronixTestSuite");
    out.text.into_bytes()
}

#[derive(Default)]
struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }

    fn open(&mut self, name: &str) {
        self.indent();
        self.depth += 1;
        for part in ["<", name, ">\n"] {
            self.text.push_str(part);
        }
    }

    fn close(&mut self, name: &str) {
        self.depth -= 1;
        self.indent();
        for part in ["</", name, ">\n"] {
            self.text.push_str(part);
        }
    }

    fn leaf(&mut self, name: &str, text: &str) {
        self.indent();
        for part in ["<", name, ">", &escape(text), "</", name, ">\n"] {
            self.text.push_str(part);
        }
    }

    fn leaf_if_any(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.leaf(name, text);
        }
    }
}

/// As PTS writes text: markup escaped, everything beyond ASCII as references, control characters
/// left out (XML has no way to write them).
fn escape(text: &str) -> Cow<'_, str> {
    let is_plain = |b: u8| matches!(b, b' '..=b'~') && !matches!(b, b'&' | b'<' | b'>');
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            ' '..='~' | '\n' | '\t' => escaped.push(c),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => escaped.push_str(&format!("&#x{:X};", u32::from(c))),
        }
    }
    Cow::Owned(escaped)
}

fn fact<'a>(file: &'a ResultFile, key: &str) -> &'a str {
    let facts = file.origin.as_ref().map(|origin| &origin.facts);
    facts
        .and_then(|facts| facts.get(key))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn write_generated(out: &mut Writer, file: &ResultFile, client: &str) {
    let modified = match (fact(file, "last_modified"), file.modified) {
        (_, Some(modified)) => local_text(modified),
        ("", None) => file
            .systems
            .iter()
            .map(system_time)
            .max()
            .unwrap_or_default(),
        (text, None) => text.to_owned(),
    };
    let title = match file.title.trim() {
        "" => "Fathom result",
        title => title,
    };
    out.open("Generated");
    out.leaf("Title", &first_chars(title, MAX_TITLE));
    out.leaf("LastModified", &modified);
    out.leaf("TestClient", client);
    out.leaf(
        "Description",
        &first_chars(&file.description, MAX_DESCRIPTION),
    );
    out.leaf_if_any("Notes", fact(file, "notes"));
    out.leaf_if_any("InternalTags", fact(file, "internal_tags"));
    out.leaf_if_any("ReferenceID", fact(file, "reference_id"));
    let preset = fact(file, "preset_environment_variables");
    out.leaf_if_any("PreSetEnvironmentVariables", preset);
    out.close("Generated");
}

fn first_chars(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// PTS writes local time without a zone; a time of ours is written as UTC.
fn local_text(time: WallTime) -> String {
    jiff::Timestamp::from_millisecond(time.unix_ms())
        .map(|time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
        .unwrap_or_default()
}

fn system_time(system: &System) -> String {
    match (system.time_text.as_str(), system.time) {
        ("", Some(time)) => local_text(time),
        (text, _) => text.to_owned(),
    }
}

fn write_system(out: &mut Writer, system: &System) {
    let is_ours = system.machine.is_some();
    let flat = |fields: &[fathom_model::Field]| match is_ours {
        // PTS takes every comma for the end of a value.
        true => fields::join(
            &fields
                .iter()
                .map(|f| fathom_model::Field::new(&f.name, f.text.replace(", ", "; ")))
                .collect::<Vec<_>>(),
        ),
        false => fields::join(fields),
    };
    let (mut json, mut free) = (system.pts_json.clone(), String::new());
    if let Some(text) = system.extra.get("pts_notes").and_then(Value::as_str) {
        text.clone_into(&mut free);
    } else if json.is_empty() {
        (json, free) = notes::to_json(&system.notes);
    }
    out.open("System");
    out.leaf("Identifier", &system.identifier);
    out.leaf("Hardware", &flat(&system.hardware));
    out.leaf("Software", &flat(&system.software));
    out.leaf("User", &system.user);
    out.leaf("TimeStamp", &system_time(system));
    let client = system
        .client
        .strip_prefix("Phoronix Test Suite v")
        .unwrap_or(&system.client);
    out.leaf("TestClientVersion", client);
    out.leaf("Notes", &free);
    match system.extra.get("pts_json_text").and_then(Value::as_str) {
        Some(text) => out.leaf("JSON", text),
        None if json.is_empty() => {}
        None => out.leaf("JSON", &Value::Object(json).to_string()),
    }
    let cost = system
        .extra
        .get("pts_cost")
        .and_then(Value::as_str)
        .unwrap_or_default();
    out.leaf_if_any("CostValueForComparison", cost);
    out.close("System");
}

/// The texts of a result that PTS identifies it by.
struct Identity {
    identifier: String,
    arguments: String,
    proportion: String,
    display_format: String,
    parent: Option<String>,
}

fn identity(file: &ResultFile, record: &ResultRecord) -> Identity {
    if let Some(pts) = &record.pts {
        return Identity {
            identifier: pts.identifier.clone(),
            arguments: pts.arguments.clone(),
            proportion: pts.proportion.clone(),
            display_format: pts.display_format.clone(),
            parent: pts.parent.clone(),
        };
    }
    let lead = file
        .results
        .iter()
        .find(|other| other.case == record.case && other.metric.is_primary)
        .filter(|lead| lead.metric.id != record.metric.id);
    Identity {
        identifier: String::new(),
        arguments: native_arguments(record),
        proportion: match record.metric.direction {
            Direction::HigherIsBetter => "HIB",
            Direction::LowerIsBetter => "LIB",
            Direction::Neutral => "",
        }
        .to_owned(),
        display_format: match record.display {
            Display::Bar => "BAR_GRAPH",
            Display::Line => "LINE_GRAPH",
            Display::PassFail => "PASS_FAIL",
            Display::MultiPassFail => "MULTI_PASS_FAIL",
            Display::Image => "IMAGE_COMPARISON",
            Display::Scatter => "SCATTER_PLOT",
            Display::NoResult => "NO_RESULT",
        }
        .to_owned(),
        parent: lead.map(native_hash),
    }
}

fn description(record: &ResultRecord) -> String {
    match (record.pts.is_some(), record.metric.title.as_str()) {
        (true, _) | (false, "") => record.description.clone(),
        (false, metric) if record.description.is_empty() => metric.to_owned(),
        (false, metric) => format!("{} - {metric}", record.description),
    }
}

/// The hash PTS will compute for a native result.
fn native_hash(record: &ResultRecord) -> String {
    pts_comparison_hash(PtsIdentity {
        identifier: "",
        title: &record.title,
        arguments: &native_arguments(record),
        description: &description(record),
        app_version: &record.version,
        scale: &record.metric.unit,
    })
}

fn native_arguments(record: &ResultRecord) -> String {
    format!("{} {}", record.case, record.metric.id)
}

fn write_result(out: &mut Writer, file: &ResultFile, record: &ResultRecord) {
    let identity = identity(file, record);
    out.open("Result");
    out.leaf("Identifier", &identity.identifier);
    out.leaf("Title", &record.title);
    out.leaf("AppVersion", &record.version);
    out.leaf("Arguments", &identity.arguments);
    out.leaf("Description", &description(record));
    out.leaf("Scale", &record.metric.unit);
    out.leaf("Proportion", &identity.proportion);
    out.leaf("DisplayFormat", &identity.display_format);
    let annotation = record
        .pts
        .as_ref()
        .and_then(|pts| pts.annotation.as_deref());
    out.leaf_if_any("Annotation", annotation.unwrap_or_default());
    out.leaf_if_any("Parent", identity.parent.as_deref().unwrap_or_default());
    out.open("Data");
    for entry in &record.entries {
        write_entry(out, record, entry);
    }
    out.close("Data");
    out.close("Result");
}

fn write_entry(out: &mut Writer, record: &ResultRecord, entry: &Entry) {
    let none = EntryDetails::default();
    let details = entry.details.as_deref().unwrap_or(&none);
    let printed = |figure: &Figure| match record.pts {
        Some(_) => figure.to_string(),
        None => measured_text(figure),
    };
    let joined = |figures: &[Figure], separator: &str| {
        figures
            .iter()
            .map(printed)
            .collect::<Vec<_>>()
            .join(separator)
    };
    let value = match (&details.text, &entry.value) {
        (Some(text), _) => text.clone(),
        _ if !details.line.is_empty() => joined(&details.line, ","),
        (None, Some(value)) => printed(value),
        (None, None) => String::new(),
    };
    let raw = match &details.raw_text {
        Some(raw) => raw.clone(),
        None => joined(&entry.samples, ":"),
    };
    out.open("Entry");
    out.leaf("Identifier", &entry.system);
    out.leaf("Value", &value);
    out.leaf("RawString", &raw);
    if let Some(text) = details.extra.get("pts_json_text").and_then(Value::as_str) {
        out.leaf("JSON", text);
    } else {
        out.leaf_if_any("JSON", &entry_json(entry, details));
    }
    out.close("Entry");
}

/// A measured number carries more digits than anybody reads; PTS shows what the text has.
fn measured_text(figure: &Figure) -> String {
    let value = figure.value();
    let decimals = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        size if size >= 10.0 => 2,
        size if size >= 1.0 => 3,
        _ => 6,
    };
    match figure.to_string() {
        text if figure.decimals() <= decimals => text,
        _ => format!("{value:.decimals$}"),
    }
}

/// The JSON object as it was, with what the format has no element for.
fn entry_json(entry: &Entry, details: &EntryDetails) -> String {
    let mut ours = Map::new();
    if let Some(spread) = &entry.spread {
        ours.insert(
            "fathom-standard-error".into(),
            spread.standard_error.to_string().into(),
        );
        ours.insert("fathom-count".into(), spread.count.into());
    }
    if let Some(uncertain) = &details.uncertain {
        ours.insert("fathom-uncertain".into(), uncertain.as_str().into());
    }
    if let Some(error) = &entry.error
        && details.pts_json.text_of("error").as_deref() != Some(error)
        && &**error != NO_VALUE
    {
        ours.insert("error".into(), (**error).into());
    }
    if matches!(entry.verdict.level, Level::Suspect | Level::Invalid)
        && !details.pts_json.text().contains("install-footnote")
    {
        let reasons: Vec<&str> = entry
            .verdict
            .reasons
            .iter()
            .map(|r| r.short.as_str())
            .collect();
        let footnote = format!("{}: {}", entry.verdict.level.name(), reasons.join("; "));
        ours.insert("install-footnote".into(), cut(footnote, 400).into());
    }
    if ours.is_empty() {
        return details.pts_json.text().to_owned();
    }
    let mut json = details.pts_json.map();
    json.append(&mut ours);
    Value::Object(json).to_string()
}

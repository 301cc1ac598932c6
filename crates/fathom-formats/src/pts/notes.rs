//! Notes of a system: the keys of its JSON object and the sections they are shown in.

use fathom_model::Field;
use serde_json::{Map, Value};

use crate::text::clean;

/// Sections with the keys whose texts they join, and how.
const SECTIONS: [Section; 9] = [
    Section::new("Compiler Details", " ", &[("compiler-configuration", "")]),
    Section::new(
        "Disk Details",
        " / ",
        &[
            ("disk-scheduler", ""),
            ("disk-mount-options", ""),
            ("disk-details", ""),
        ],
    ),
    Section::new(
        "Processor Details",
        " - ",
        &[
            ("cpu-scaling-governor", "Scaling Governor: "),
            ("platform-profile", "Platform Profile: "),
            ("cpu-microcode", "CPU Microcode: "),
            ("cpu-thermald", "Thermald "),
            ("cpu-smt", "SMT: "),
            ("cpu-pm", "ACPI Profile: "),
        ],
    ),
    Section::new(
        "Graphics Details",
        " - ",
        &[
            ("graphics-2d-acceleration", "2D Acceleration: "),
            ("graphics-aa", ""),
            ("graphics-af", ""),
            ("bar1-visible-vram", "BAR1 / Visible vRAM Size: "),
            ("vbios-version", "vBIOS Version: "),
            ("graphics-compute-cores", "GPU Compute Cores: "),
        ],
    ),
    Section::new(
        "Kernel Details",
        " - ",
        &[("kernel-parameters", ""), ("kernel-extra-details", "")],
    ),
    Section::new("Environment Details", " ", &[("environment-variables", "")]),
    Section::new("Java Details", " ", &[("java", "")]),
    Section::new("Python Details", " ", &[("python", "")]),
    Section::new("Security Details", " ", &[("security", "")]),
];

/// The section of the free `Notes` text of old clients.
const FREE: &str = "System Details";

struct Section {
    name: &'static str,
    separator: &'static str,
    keys: &'static [(&'static str, &'static str)],
}

impl Section {
    const fn new(
        name: &'static str,
        separator: &'static str,
        keys: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self {
            name,
            separator,
            keys,
        }
    }
}

/// The notes of a system from its JSON object and its free text.
pub(super) fn from_json(json: &Map<String, Value>, free: &str) -> Vec<Field> {
    let mut notes = Vec::new();
    let text = |key: &str| {
        json.get(key)
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    for section in &SECTIONS {
        let parts: Vec<String> = section
            .keys
            .iter()
            .filter_map(|(key, label)| Some(format!("{label}{}", text(key)?)))
            .collect();
        if !parts.is_empty() {
            let text = clean(parts.join(section.separator).into());
            notes.push(Field::new(section.name, text));
        }
    }
    let known = |key: &str| {
        SECTIONS
            .iter()
            .any(|s| s.keys.iter().any(|(k, _)| *k == key))
    };
    for (key, value) in json.iter().filter(|(key, _)| !known(key)) {
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        if !text.is_empty() {
            notes.push(Field::new(clean(key.into()), clean(text.into())));
        }
    }
    if !free.trim().is_empty() {
        notes.push(Field::new(FREE, free.trim()));
    }
    notes
}

/// The JSON object and free text that show the same notes: for systems that did not come from a
/// PTS file.
pub(super) fn to_json(notes: &[Field]) -> (Map<String, Value>, String) {
    let mut json = Map::new();
    let mut free = Vec::new();
    for note in notes {
        match SECTIONS.iter().find(|section| section.name == note.name) {
            Some(section) => split_section(section, &note.text, &mut json),
            None if note.name == FREE => free.push(note.text.clone()),
            None => free.push(format!("{}: {}", note.name, note.text)),
        }
    }
    (json, free.join(" - "))
}

fn split_section(section: &Section, text: &str, json: &mut Map<String, Value>) {
    let mut put = |key: &str, part: &str| {
        json.insert(key.to_owned(), Value::String(part.to_owned()));
    };
    let parts: Vec<&str> = text.split(section.separator).collect();
    let all_labelled = section.keys.iter().all(|(_, label)| !label.is_empty());
    match section.keys {
        [(key, _)] => put(key, text),
        // Scheduler, mount options, details: told apart by their position.
        keys if section.name == "Disk Details" && parts.len() <= keys.len() => {
            let skip = usize::from(parts.len() == 1 && text.contains(','));
            for ((key, _), part) in keys.iter().skip(skip).zip(parts) {
                put(key, part);
            }
        }
        keys if all_labelled => {
            let mut last: Option<&str> = None;
            for part in parts {
                let labelled = keys
                    .iter()
                    .find_map(|(key, label)| Some((*key, part.strip_prefix(label)?)));
                match (labelled, last) {
                    (Some((key, value)), _) => {
                        put(key, value);
                        last = Some(key);
                    }
                    (None, _) => put(last.unwrap_or(keys[0].0), part),
                }
            }
        }
        keys => put(keys[0].0, text),
    }
}

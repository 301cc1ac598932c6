//! Joining result files.
//!
//! Joining is commutative, associative and idempotent. Where files say different things of one
//! object (a label, a note), the text that sorts first is taken, which depends on no order; where
//! taking either would be a lie (a direction, a unit, two machines of one name), it is an error.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::systems::system_difference;
use crate::case::{Case, CaseId};
use crate::error::ModelError;
use crate::figure::Figure;
use crate::result::{Entry, Metric, Origin, ResultFile, ResultRecord, Run, Trial};
use crate::system::{Field, System};

/// Joins files: the union of their systems, cases, results, trials and logs.
///
/// Trials are pooled by their id, entries without trials are united, and nothing is dropped.
/// Systems and results come in the order of the files where those agree; otherwise by their
/// smallest place in any of them, results of one title staying together. The order of the
/// arguments does not matter. One file is given back as it is, none as an empty file.
///
/// # Errors
/// [`ModelError::Conflict`] when a result has two directions or units or a trial two contents,
/// [`ModelError::DifferentMachines`] when a system name means two machines or configurations.
pub fn merge(files: &[&ResultFile]) -> Result<ResultFile, ModelError> {
    let Some((first, rest)) = files.split_first() else {
        return Ok(ResultFile::default());
    };
    let mut merged = (*first).clone();
    for file in rest {
        if merged != **file {
            merged = join(&merged, file)?;
        }
    }
    Ok(merged)
}

fn join(a: &ResultFile, b: &ResultFile) -> Result<ResultFile, ModelError> {
    let systems = join_systems(a, b)?;
    let mut file = ResultFile {
        fathom_result: a.fathom_result.max(b.fathom_result),
        title: join_texts(&a.title, &b.title, "; "),
        description: join_texts(&a.description, &b.description, "\n\n"),
        modified: a.modified.max(b.modified),
        generator: least(&a.generator, &b.generator),
        status: least(&a.status, &b.status),
        origin: join_options(a.origin.as_deref(), b.origin.as_deref(), join_origins).map(Box::new),
        cases: join_cases(a, b),
        runs: join_runs(a, b)?,
        results: join_results(a, b)?,
        logs: join_logs(&a.logs, &b.logs),
        extra: join_maps(&a.extra, &b.extra),
        systems,
    };
    let places: HashMap<&str, usize> = file
        .systems
        .iter()
        .enumerate()
        .map(|(place, system)| (system.identifier.as_str(), place))
        .collect();
    for record in &mut file.results {
        sort_entries(&mut record.entries, &places);
    }
    one_entry_a_run(&mut file);
    file.rebuild();
    Ok(file)
}

/// By the place of the system, those without a number last, then by the number.
fn sort_entries(entries: &mut Vec<Entry>, places: &HashMap<&str, usize>) {
    let place = |entry: &Entry| {
        let place = places.get(entry.system.as_str()).copied();
        place.unwrap_or(usize::MAX)
    };
    let mut placed: Vec<(usize, Entry)> = entries
        .drain(..)
        .map(|entry| (place(&entry), entry))
        .collect();
    placed.sort_by(|(x_place, x), (y_place, y)| {
        let number = |entry: &Entry| entry.value.as_ref().map_or(0.0, Figure::value);
        x_place
            .cmp(y_place)
            .then_with(|| x.system.cmp(&y.system))
            .then_with(|| x.value.is_none().cmp(&y.value.is_none()))
            .then_with(|| number(x).total_cmp(&number(y)))
            // Rarely needed, and takes long.
            .then_with(|| sort_text(x).cmp(&sort_text(y)))
    });
    entries.extend(placed.into_iter().map(|(_, entry)| entry));
}

/// Entries made of trials are made anew by [`ResultFile::rebuild`], one for each case and system;
/// joining leaves several.
pub(super) fn one_entry_a_run(file: &mut ResultFile) {
    let measured: BTreeSet<(&CaseId, &str)> = file
        .runs
        .iter()
        .map(|run| (&run.case, run.system.as_str()))
        .collect();
    for record in &mut file.results {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let case = &record.case;
        record.entries.retain(|entry| {
            let is_from_run = measured.contains(&(case, entry.system.as_str()));
            !is_from_run || seen.insert(entry.system.clone())
        });
    }
}

/// A text that is the same for equal values and orders different ones.
fn sort_text<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Of two values the one whose JSON sorts first.
fn least<T: Serialize + Clone + PartialEq>(a: &T, b: &T) -> T {
    if a == b || sort_text(a) <= sort_text(b) {
        a.clone()
    } else {
        b.clone()
    }
}

fn join_options<T: Clone>(
    a: Option<&T>,
    b: Option<&T>,
    join: impl FnOnce(&T, &T) -> T,
) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (Some(one), None) | (None, Some(one)) => Some(one.clone()),
        (None, None) => None,
    }
}

fn least_option<T: Serialize + Clone + PartialEq>(a: &Option<T>, b: &Option<T>) -> Option<T> {
    join_options(a.as_ref(), b.as_ref(), least)
}

/// The different parts of both texts, sorted.
fn join_texts(a: &str, b: &str, separator: &str) -> String {
    if a == b {
        return a.to_owned();
    }
    let parts = a.split(separator).chain(b.split(separator));
    let parts: BTreeSet<&str> = parts.filter(|part| !part.is_empty()).collect();
    parts.into_iter().collect::<Vec<_>>().join(separator)
}

type Map = serde_json::Map<String, serde_json::Value>;

fn join_maps(a: &Map, b: &Map) -> Map {
    let mut joined = a.clone();
    for (key, value) in b {
        let value = match joined.get(key) {
            Some(known) => least(known, value),
            None => value.clone(),
        };
        joined.insert(key.clone(), value);
    }
    joined
}

fn join_origins(a: &Origin, b: &Origin) -> Origin {
    if a == b {
        return a.clone();
    }
    let mut warnings = a.warnings.clone();
    warnings.extend(
        b.warnings
            .iter()
            .filter(|w| !a.warnings.contains(w))
            .cloned(),
    );
    warnings.sort_by_cached_key(sort_text);
    Origin {
        format: join_texts(&a.format, &b.format, "; "),
        name: join_texts(&a.name, &b.name, "; "),
        address: least_option(&a.address, &b.address),
        warnings,
        facts: join_maps(&a.facts, &b.facts),
    }
}

/// Logs of one name and different texts are all kept, each under `name#` and the first eight
/// hexadecimal digits of its SHA-256.
fn join_logs(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    if a == b {
        return a.clone();
    }
    let digest = |text: &str| -> String {
        Sha256::digest(text.as_bytes())[..4]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let mut by_name: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, text) in a.iter().chain(b) {
        let base = match name.rsplit_once('#') {
            Some((base, hash)) if hash == digest(text) => base,
            _ => name,
        };
        by_name.entry(base).or_default().insert(text);
    }
    let mut joined = BTreeMap::new();
    for (name, texts) in by_name {
        let is_alone = texts.len() == 1;
        for text in texts {
            let key = if is_alone {
                name.to_owned()
            } else {
                format!("{name}#{}", digest(text))
            };
            joined.insert(key, text.to_owned());
        }
    }
    joined
}

/// The place of the item at `index`: the one it was given by an earlier merge, else its index.
fn place(known: Option<u32>, index: usize) -> u32 {
    known.unwrap_or_else(|| u32::try_from(index).unwrap_or(u32::MAX))
}

fn join_systems(a: &ResultFile, b: &ResultFile) -> Result<Vec<System>, ModelError> {
    let mut systems: Vec<System> = Vec::new();
    for file in [a, b] {
        for (index, system) in file.systems.iter().enumerate() {
            let position = place(system.position, index);
            let known = systems
                .iter_mut()
                .find(|known| known.identifier == system.identifier);
            match known {
                Some(known) => {
                    if let Some(difference) = system_difference(known, system) {
                        let system = system.identifier.clone();
                        return Err(ModelError::DifferentMachines { system, difference });
                    }
                    let position = known.position.map_or(position, |p| p.min(position));
                    *known = System {
                        position: Some(position),
                        ..join_system(known, system)
                    };
                }
                None => systems.push(System {
                    position: Some(position),
                    ..system.clone()
                }),
            }
        }
    }
    systems.sort_by_key(|system| (system.position, system.time, system.identifier.clone()));
    Ok(systems)
}

fn join_system(a: &System, b: &System) -> System {
    if a == b {
        return a.clone();
    }
    let mut labels = a.labels.clone();
    for (key, value) in &b.labels {
        let least = labels
            .get(key)
            .map_or(value, |known| known.min(value))
            .clone();
        labels.insert(key.clone(), least);
    }
    System {
        identifier: a.identifier.clone(),
        hardware: join_fields(&a.hardware, &b.hardware),
        software: join_fields(&a.software, &b.software),
        notes: join_fields(&a.notes, &b.notes),
        remark: join_texts(&a.remark, &b.remark, "\n"),
        user: join_texts(&a.user, &b.user, "; "),
        time_text: least_text(&a.time_text, &b.time_text),
        time: join_options(a.time.as_ref(), b.time.as_ref(), |a, b| *a.min(b)),
        client: join_texts(&a.client, &b.client, "; "),
        machine: least_option(&a.machine, &b.machine),
        target: least_option(&a.target, &b.target),
        labels,
        pts_json: least(&a.pts_json, &b.pts_json),
        position: None,
        extra: join_maps(&a.extra, &b.extra),
    }
}

/// The text that sorts first, an empty one counting last.
fn least_text(a: &str, b: &str) -> String {
    match (a, b) {
        ("", one) | (one, "") => one.to_owned(),
        (a, b) => a.min(b).to_owned(),
    }
}

/// The union by name; the order people know from the Phoronix Test Suite, then by name.
fn join_fields(a: &[Field], b: &[Field]) -> Vec<Field> {
    const ORDER: [&str; 22] = [
        "Processor",
        "Motherboard",
        "Chipset",
        "Memory",
        "Disk",
        "Graphics",
        "Audio",
        "Monitor",
        "Network",
        "OS",
        "Kernel",
        "Desktop",
        "Display Server",
        "Display Driver",
        "OpenGL",
        "OpenCL",
        "Vulkan",
        "Compiler",
        "File-System",
        "Mount Options",
        "Screen Resolution",
        "System Layer",
    ];
    if a == b {
        return a.to_vec();
    }
    let mut by_name: BTreeMap<&str, &str> = BTreeMap::new();
    for field in a.iter().chain(b) {
        let text = by_name.entry(&field.name).or_insert(&field.text);
        *text = (*text).min(&field.text);
    }
    let mut fields: Vec<Field> = by_name
        .into_iter()
        .map(|(name, text)| Field::new(name, text))
        .collect();
    let rank = |name: &str| {
        ORDER
            .iter()
            .position(|known| *known == name)
            .unwrap_or(ORDER.len())
    };
    fields.sort_by_key(|field| rank(&field.name));
    fields
}

fn join_cases(a: &ResultFile, b: &ResultFile) -> Vec<Case> {
    let mut by_id: BTreeMap<&CaseId, Case> = BTreeMap::new();
    for case in a.cases.iter().chain(&b.cases) {
        match by_id.get_mut(&case.id) {
            Some(known) => *known = least(known, case),
            None => {
                by_id.insert(&case.id, case.clone());
            }
        }
    }
    by_id.into_values().collect()
}

fn join_runs(a: &ResultFile, b: &ResultFile) -> Result<Vec<Run>, ModelError> {
    let mut by_key: BTreeMap<(&CaseId, &str), Run> = BTreeMap::new();
    for run in a.runs.iter().chain(&b.runs) {
        match by_key.get_mut(&(&run.case, run.system.as_str())) {
            Some(known) => *known = join_run(known, run)?,
            None => {
                by_key.insert((&run.case, &run.system), run.clone());
            }
        }
    }
    Ok(by_key.into_values().collect())
}

fn join_run(a: &Run, b: &Run) -> Result<Run, ModelError> {
    if a == b {
        return Ok(a.clone());
    }
    let mut trials: Vec<Trial> = a.trials.clone();
    for trial in &b.trials {
        match trials.iter_mut().find(|known| known.id == trial.id) {
            Some(known) if known.values == trial.values && known.error == trial.error => {
                *known = least(known, trial);
            }
            Some(known) => {
                return Err(ModelError::Conflict {
                    result: format!("trial {}", trial.id),
                    what: "its content",
                    left: contents(known),
                    right: contents(trial),
                });
            }
            None => trials.push(trial.clone()),
        }
    }
    trials.sort_by(in_order);
    Ok(Run {
        case: a.case.clone(),
        system: a.system.clone(),
        trials,
        stop: least_option(&a.stop, &b.stop),
        reached_percent: BTreeMap::new(),
        unavailable: least_option(&a.unavailable, &b.unavailable),
        extra: join_maps(&a.extra, &b.extra),
    })
}

/// The order in which trials ran, the same for any order of merging.
pub(super) fn in_order(x: &Trial, y: &Trial) -> std::cmp::Ordering {
    (x.started, x.number, &x.id).cmp(&(y.started, y.number, &y.id))
}

fn contents(trial: &Trial) -> String {
    match &trial.error {
        Some(error) => error.clone(),
        None => sort_text(&trial.values),
    }
}

/// What makes two results the same, and what must then agree.
type RecordKey<'a> = (&'a CaseId, &'a str);

fn join_results(a: &ResultFile, b: &ResultFile) -> Result<Vec<ResultRecord>, ModelError> {
    let mut at: HashMap<RecordKey<'_>, usize> = HashMap::new();
    let mut joined: Vec<ResultRecord> = Vec::new();
    for file in [a, b] {
        for (index, record) in file.results.iter().enumerate() {
            let position = place(record.position, index);
            let key = (&record.case, record.metric.id.as_str());
            match at.get(&key) {
                Some(&known) => {
                    let known = &mut joined[known];
                    let position = known.position.map_or(position, |p| p.min(position));
                    let both = join_record(known, record)?;
                    *known = ResultRecord {
                        position: Some(position),
                        ..both
                    };
                }
                None => {
                    at.insert(key, joined.len());
                    joined.push(ResultRecord {
                        position: Some(position),
                        ..record.clone()
                    });
                }
            }
        }
    }
    drop_extra_primaries(&mut joined);
    sort_results(&mut joined);
    Ok(joined)
}

fn join_record(a: &ResultRecord, b: &ResultRecord) -> Result<ResultRecord, ModelError> {
    let conflict = |what, left: String, right: String| ModelError::Conflict {
        result: format!("{} {}", a.title, a.description).trim().to_owned(),
        what,
        left,
        right,
    };
    if a.metric.unit != b.metric.unit {
        return Err(conflict(
            "its unit",
            a.metric.unit.clone(),
            b.metric.unit.clone(),
        ));
    }
    if a.metric.direction != b.metric.direction {
        let name = |record: &ResultRecord| format!("{:?}", record.metric.direction);
        return Err(conflict("its direction", name(a), name(b)));
    }
    Ok(ResultRecord {
        case: a.case.clone(),
        metric: Metric {
            is_primary: a.metric.is_primary || b.metric.is_primary,
            steers: a.metric.steers || b.metric.steers,
            title: least_text(&a.metric.title, &b.metric.title),
            ..a.metric.clone()
        },
        title: least_text(&a.title, &b.title),
        version: least_text(&a.version, &b.version),
        description: least_text(&a.description, &b.description),
        display: least(&a.display, &b.display),
        pts: least_option(&a.pts, &b.pts),
        entries: join_entries(&a.entries, &b.entries),
        position: None,
        extra: join_maps(&a.extra, &b.extra),
    })
}

/// The union: an entry equal to one that is there is not taken twice. Entries made of trials are
/// made anew afterwards, from the pooled trials.
fn join_entries(a: &[Entry], b: &[Entry]) -> Vec<Entry> {
    let mut entries = a.to_vec();
    entries.extend(b.iter().filter(|entry| !a.contains(entry)).cloned());
    entries
}

/// One metric stands for its case: a rate of bytes before others, operations last.
fn drop_extra_primaries(records: &mut [ResultRecord]) {
    let rank = |record: &ResultRecord| match record.metric.unit.as_str() {
        unit if unit.ends_with("B/s") => 0,
        "IOPS" => 2,
        _ => 1,
    };
    let mut best: HashMap<CaseId, (u8, String)> = HashMap::new();
    for record in records.iter().filter(|record| record.metric.is_primary) {
        let candidate = (rank(record), record.metric.id.clone());
        let known = best
            .entry(record.case.clone())
            .or_insert_with(|| candidate.clone());
        if candidate < *known {
            *known = candidate;
        }
    }
    for record in records {
        let is_best = best
            .get(&record.case)
            .is_some_and(|(_, id)| *id == record.metric.id);
        record.metric.is_primary &= is_best;
    }
}

/// By the smallest place of the title's results, then title, then place, then what tells results
/// apart.
fn sort_results(records: &mut [ResultRecord]) {
    let mut first: HashMap<String, Option<u32>> = HashMap::new();
    for record in records.iter() {
        let known = first.entry(record.title.clone()).or_insert(record.position);
        *known = (*known).min(record.position);
    }
    records.sort_by(|x, y| {
        let key = |r: &ResultRecord| (first.get(&r.title).copied().flatten(), r.title.clone());
        key(x).cmp(&key(y)).then_with(|| {
            let rest = |r: &ResultRecord| {
                (
                    r.position,
                    r.description.clone(),
                    r.metric.id.clone(),
                    r.case.clone(),
                )
            };
            rest(x).cmp(&rest(y))
        })
    });
}

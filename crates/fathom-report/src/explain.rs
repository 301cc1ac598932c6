//! Sentences about what the numbers do not say.

use std::collections::HashMap;
use std::fmt::Write;

use fathom_model::{Level, Reason, ResultFile};

use crate::number::significant;
use crate::text::{push_paragraph, push_title};
use crate::view::{Block, Row, View};

/// Columns of the sentences.
const COLUMNS: usize = 80;

/// Every objection, note and failure of a file in sentences, with what to do about it; in the
/// order of the results, each reason once a case and system. Says so when there is nothing.
pub fn explain(file: &ResultFile) -> String {
    let view = View::of(file);
    let mut out = String::with_capacity(1024);
    let mut judged = Counts::default();
    let mut groups = Groups::default();
    for block in &view.blocks {
        for row in &block.rows {
            judged.count(row);
            groups.add(&view, block, row);
        }
    }
    for group in &groups.list {
        group.push(&mut out);
    }
    for absent in &view.absent {
        push_title(
            &mut out,
            &format!("{} on {}: not measured", absent.label, absent.system),
        );
        push_paragraph(&mut out, absent.reason, COLUMNS);
        out.push('\n');
    }
    push_warnings(&mut out, file);
    judged.push(&mut out);
    out
}

/// What is said of one case on one system; its metrics share their trials and so their reasons.
struct Group<'a> {
    label: String,
    system: &'a str,
    level: Level,
    headline: String,
    sentences: Vec<String>,
}

/// Groups in the order of their first sentence.
#[derive(Default)]
struct Groups<'a> {
    list: Vec<Group<'a>>,
    places: HashMap<(String, &'a str), usize>,
}

impl<'a> Groups<'a> {
    fn add(&mut self, view: &View<'a>, block: &Block<'a>, row: &Row<'a>) {
        let sentences = sentences_of(row);
        if sentences.is_empty() {
            return;
        }
        let label = match block.label() {
            Some(label) => label.to_owned(),
            None => format!("{} {}", block.title(), block.record.description)
                .trim()
                .to_owned(),
        };
        let system = view.systems[row.system as usize].name;
        let level = row.entry.verdict.level;
        let next = self.list.len();
        let place = *self.places.entry((label.clone(), system)).or_insert(next);
        if place == next {
            let headline = headline(block, row);
            self.list.push(Group {
                label,
                system,
                level,
                headline,
                sentences,
            });
            return;
        }
        let group = &mut self.list[place];
        if level > group.level {
            group.headline = headline(block, row);
            group.level = level;
        }
        for sentence in sentences {
            if !group.sentences.contains(&sentence) {
                group.sentences.push(sentence);
            }
        }
    }
}

fn headline(block: &Block<'_>, row: &Row<'_>) -> String {
    let unit = &block.record.metric.unit;
    match (row.value, row.entry.verdict.level) {
        (None, _) if row.failure().is_some() => "failed".to_owned(),
        (None, level) => level.name().to_owned(),
        (Some(value), Level::Unjudged) => format!("{} {unit}", significant(value, 4)),
        (Some(value), level) => format!("{} {unit}, {}", significant(value, 4), level.name()),
    }
}

fn sentences_of(row: &Row<'_>) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(failure) = row.failure() {
        sentences.push(failure.to_owned());
    }
    if let Some((failed, all)) = row.failed_trials() {
        let trials = row.run.map_or(&[][..], |run| run.trials.as_slice());
        let why = trials
            .iter()
            .find_map(|trial| trial.error.as_deref())
            .unwrap_or("no reason");
        sentences.push(format!(
            "{failed} of {all} trials failed, first with: {why}"
        ));
    }
    if let Some(error) = row.entry.error.as_deref().filter(|_| row.value.is_some()) {
        sentences.push(error.to_owned());
    }
    if let Some(why) = row
        .entry
        .details
        .as_ref()
        .and_then(|details| details.uncertain.as_ref())
    {
        sentences.push(format!("The importer is not certain of this value: {why}"));
    }
    let verdict = &row.entry.verdict;
    sentences.extend(verdict.reasons.iter().map(sentence_of));
    sentences.extend(
        verdict
            .notes
            .iter()
            .map(|note| format!("Note: {}", sentence_of(note))),
    );
    sentences
}

fn sentence_of(reason: &Reason) -> String {
    let text = if reason.text.is_empty() {
        &reason.short
    } else {
        &reason.text
    };
    match reason.advice.as_str() {
        "" => text.clone(),
        advice => format!("{text}\nDo: {advice}"),
    }
}

impl Group<'_> {
    fn push(&self, out: &mut String) {
        push_title(
            out,
            &format!("{} on {}: {}", self.label, self.system, self.headline),
        );
        for sentence in &self.sentences {
            for paragraph in sentence.split('\n') {
                push_paragraph(out, paragraph, COLUMNS);
            }
        }
        out.push('\n');
    }
}

fn push_warnings(out: &mut String, file: &ResultFile) {
    let Some(origin) = file
        .origin
        .as_deref()
        .filter(|origin| !origin.warnings.is_empty())
    else {
        return;
    };
    push_title(out, &format!("Reading {}", origin.name));
    for warning in &origin.warnings {
        let place = if warning.place.is_empty() { "" } else { ": " };
        push_paragraph(
            out,
            &format!("{}{place}{}", warning.place, warning.text),
            COLUMNS,
        );
    }
    out.push('\n');
}

/// How many entries got which verdict.
#[derive(Default)]
struct Counts {
    levels: [usize; 4],
    failed: usize,
}

impl Counts {
    fn count(&mut self, row: &Row<'_>) {
        match row.failure() {
            Some(_) => self.failed += 1,
            None => self.levels[row.entry.verdict.level as usize] += 1,
        }
    }

    fn push(&self, out: &mut String) {
        let [unjudged, valid, suspect, invalid] = self.levels;
        let named = [
            (valid, "valid"),
            (suspect, "suspect"),
            (invalid, "invalid"),
            (self.failed, "failed"),
            (unjudged, "unjudged (imported without evidence)"),
        ];
        let parts: Vec<String> = named
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        // Writing to a String cannot fail.
        let _ = match parts.as_slice() {
            [] => writeln!(out, "no results"),
            parts => writeln!(out, "values: {}", parts.join(", ")),
        };
    }
}

//! Names, hardware, software and notes of the systems.

use fathom_model::{Field, System};

use super::head::Page;
use crate::pts::fields;
use crate::warnings::Warnings;
use crate::{Format, FormatError};

/// The names of the systems in the order of the tables.
pub(super) fn names<'a>(page: &Page<'a>) -> Result<Vec<&'a str>, FormatError> {
    let noted = noted_names(page.notes);
    if let Some(names) = names_from_notes(page.systems, &noted) {
        return Ok(names);
    }
    if let Some(names) = names_by_letters(page) {
        return Ok(names);
    }
    Err(FormatError::Unsupported {
        format: Format::PtsPage,
        reason: "the names of its systems stand together without a mark, and no note names them \
                 one by one; export the result as text or XML instead"
            .to_owned(),
    })
}

/// Names in notes of the form `- NAME: text`, in order; lists `A, B: text` are taken apart later.
fn noted_names(notes: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for part in notes.split("- ").skip(1) {
        if let Some((name, _)) = part.split_once(": ") {
            names.push(name.trim());
        }
    }
    names
}

/// Takes the names off the front of the table one after the other.
fn names_from_notes<'a>(table: &'a str, noted: &[&str]) -> Option<Vec<&'a str>> {
    let mut names: Vec<&str> = Vec::new();
    let mut rest = table;
    while let Some(name) = noted
        .iter()
        .filter(|name| !name.is_empty() && rest.starts_with(**name))
        .max_by_key(|name| name.len())
    {
        let (found, after) = rest.split_at(name.len());
        if names.contains(&found) {
            break;
        }
        names.push(found);
        rest = after;
    }
    (!names.is_empty()).then_some(names)
}

/// Without notes: a name ends where a small letter or digit meets a capital. Accepted only when it
/// gives as many names as the overview has columns: the same text heads both tables.
fn names_by_letters<'a>(page: &Page<'a>) -> Option<Vec<&'a str>> {
    let overview = page.overview;
    if overview.len() > super::overview::MAX_TABLE {
        return None;
    }
    // The text both tables share begins the one and stands in the other before the numbers.
    let shared = (1..=page.systems.len().min(4000))
        .filter(|&end| page.systems.is_char_boundary(end))
        .map(|end| &page.systems[..end])
        .take_while(|text| overview.contains(text))
        .last()?;
    let end = shared.rfind(|c: char| !c.is_ascii_digit() && c != '.')? + 1;
    let all = &shared[..end.max(1)];
    let mut names = Vec::new();
    let mut start = 0;
    let bytes = all.as_bytes();
    for at in 1..bytes.len() {
        let ends = bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit();
        if ends && bytes[at].is_ascii_uppercase() {
            names.push(&all[start..at]);
            start = at;
        }
    }
    names.push(&all[start..]);
    let decimals = overview.rsplit(all).next()?.matches('.').count();
    // Each row of decimals gives one point a system.
    (decimals > 0 && decimals % names.len() == 0).then_some(names)
}

/// Fills hardware, software and notes.
pub(super) fn read(page: &Page<'_>, systems: &mut [System], warnings: &mut Warnings) {
    let names_length: usize = systems.iter().map(|system| system.identifier.len()).sum();
    let values = &page.systems[names_length..];
    let cells = super::table_cells::split(&page.keys, values);
    match cells {
        Some(cells) => assign_cells(&page.keys, &cells, systems, warnings),
        None => warnings.add(
            "table of systems",
            format!("its values cannot be told apart and were left out: {values}"),
        ),
    }
    read_notes(page.notes, systems);
}

/// The first column is complete; further columns hold only what changed, so that a key with one
/// value a column is certain and any other is not.
fn assign_cells(
    keys: &[&'static str],
    cells: &[(usize, &str)],
    systems: &mut [System],
    warnings: &mut Warnings,
) {
    for (index, key) in keys.iter().enumerate() {
        let values: Vec<&str> = cells
            .iter()
            .filter(|(at, _)| *at == index)
            .map(|(_, value)| *value)
            .collect();
        let certain = values.len() == 1 || values.len() == systems.len();
        if !certain {
            warnings.add(
                "table of systems",
                format!(
                    "{key} has {} values for {} systems and nothing tells which is whose: {}",
                    values.len(),
                    systems.len(),
                    values.join(" | ")
                ),
            );
        }
        for (column, system) in systems.iter_mut().enumerate() {
            let value = match (certain, values.len()) {
                (true, 1) => values[0],
                (true, _) => values[column],
                (false, _) if column == 0 => values.first().copied().unwrap_or_default(),
                (false, _) => continue,
            };
            let field = Field::new(*key, value);
            match fields::SOFTWARE.contains(key) {
                true => system.software.push(field),
                false => system.hardware.push(field),
            }
        }
    }
}

/// `Disk Details- A: text- B: textProcessor Details- text`.
fn read_notes(notes: &str, systems: &mut [System]) {
    for (section, body) in sections(notes) {
        let items = items(body, systems);
        for (system_names, text) in items {
            for system in systems.iter_mut() {
                let is_meant = system_names.is_empty() || system_names.contains(&system.identifier);
                if is_meant {
                    system.notes.push(Field::new(section, text.trim()));
                }
            }
        }
    }
}

/// Sections and their texts.
fn sections(notes: &str) -> Vec<(&str, &str)> {
    const MARK: &str = " Details- ";
    let mut starts: Vec<(usize, usize)> = Vec::new();
    for (at, _) in notes.match_indices(MARK) {
        let word = notes[..at]
            .rfind(|c: char| !c.is_ascii_alphabetic())
            .map_or(0, |before| before + 1);
        // `rwProcessor Details`: the section begins with its capital.
        let capital = notes[word..at]
            .rfind(|c: char| c.is_ascii_uppercase())
            .unwrap_or(0);
        starts.push((word + capital, at + MARK.len()));
    }
    starts
        .iter()
        .enumerate()
        .map(|(index, &(start, body))| {
            let end = starts.get(index + 1).map_or(notes.len(), |next| next.0);
            (&notes[start..body - 2], &notes[body..end.max(body)])
        })
        .collect()
}

/// The texts of a section with the systems they are about; no names mean all.
fn items<'a>(body: &'a str, systems: &[System]) -> Vec<(Vec<String>, &'a str)> {
    let mut starts: Vec<(usize, Vec<String>, usize)> = Vec::new();
    let begins =
        std::iter::once(0).chain(body.match_indices("- ").map(|(at, mark)| at + mark.len()));
    for at in begins {
        if let Some((names, text_at)) = names_at(&body[at..], systems) {
            starts.push((at, names, at + text_at));
        }
    }
    if starts.is_empty() {
        return vec![(Vec::new(), body)];
    }
    let mut items = Vec::new();
    for (index, (_, names, text_at)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(body.len(), |next| next.0 - 2);
        items.push((names.clone(), &body[*text_at..end.max(*text_at)]));
    }
    items
}

/// `A: ` or `A, B, C: ` at the start of a text, with the length.
fn names_at(text: &str, systems: &[System]) -> Option<(Vec<String>, usize)> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let name = systems
            .iter()
            .map(|system| system.identifier.as_str())
            .filter(|name| rest.starts_with(name))
            .max_by_key(|name| name.len())?;
        names.push(name.to_owned());
        rest = &rest[name.len()..];
        if let Some(after) = rest.strip_prefix(": ") {
            return Some((names, text.len() - after.len()));
        }
        rest = rest.strip_prefix(", ")?;
    }
}

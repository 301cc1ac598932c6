//! Cuts a page into its tables and charts.

use super::{MARK, syntax};
use crate::FormatError;
use crate::pts::fields;

/// The parts of a page; white space is collapsed.
pub(super) struct Page<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub address: Option<&'a str>,
    /// The client named at the end.
    pub client_version: &'a str,
    /// Keys of the table of systems.
    pub keys: Vec<&'static str>,
    /// What follows the keys: names and values.
    pub systems: &'a str,
    /// `Compiler Details- ...`.
    pub notes: &'a str,
    /// The overview table without its title.
    pub overview: &'a str,
    /// Each chart with the heading of the next one behind it; the first is only a heading.
    pub charts: Vec<&'a str>,
}

pub(super) fn split(text: &str) -> Result<Page<'_>, FormatError> {
    const EXPORTED: &str = "HTML result view exported from: ";
    let (text, client_version) = strip_client(text);
    let mut parts = text.split(MARK);
    let head = parts.next().unwrap_or_default();
    let (keys_at, keys, systems) = find_keys(head)
        .ok_or_else(|| syntax("no table of systems (ProcessorMotherboard...) found"))?;
    let before_keys = &head[..keys_at];
    let (front, address, title) = match before_keys.split_once(EXPORTED) {
        Some((front, rest)) => {
            let (address, title) = rest.split_once(' ').unwrap_or((rest, ""));
            (
                front.trim(),
                Some(address.trim_end_matches('.')),
                title.trim(),
            )
        }
        None => (before_keys.trim(), None, ""),
    };
    let (title, description) = split_title(front, title);
    let second = parts
        .next()
        .ok_or_else(|| syntax("the table of systems has no end"))?;
    let (notes, overview) = match (title, second.rfind(title)) {
        (title, Some(at)) if !title.is_empty() => (&second[..at], &second[at + title.len()..]),
        _ => (second, ""),
    };
    Ok(Page {
        title,
        description,
        address,
        client_version,
        keys,
        systems,
        notes: notes.trim(),
        overview,
        charts: parts.collect(),
    })
}

/// The page ends with the client that made it.
fn strip_client(text: &str) -> (&str, &str) {
    match text.trim_end().rsplit_once(" Phoronix Test Suite v") {
        Some((before, version)) if !version.contains(' ') => (before, version),
        _ => (text, ""),
    }
}

/// Title and description of the page: the title stands once more above the table.
fn split_title<'a>(front: &'a str, repeated: &'a str) -> (&'a str, &'a str) {
    match front.strip_prefix(repeated) {
        Some(description) if !repeated.is_empty() => (repeated, description.trim()),
        _ => (front, ""),
    }
}

/// The first place where two or more keys follow each other without a blank.
fn find_keys(text: &str) -> Option<(usize, Vec<&'static str>, &str)> {
    let all: Vec<&'static str> = fields::HARDWARE
        .iter()
        .chain(&fields::SOFTWARE)
        .copied()
        .collect();
    let starts = text
        .match_indices(|c: char| c.is_ascii_uppercase())
        .map(|(at, _)| at);
    for at in starts {
        let mut keys = Vec::new();
        let mut rest = &text[at..];
        while let Some(key) = all
            .iter()
            .filter(|key| rest.starts_with(**key) && !keys.contains(*key))
            .max_by_key(|key| key.len())
        {
            keys.push(*key);
            rest = &rest[key.len()..];
        }
        if keys.len() >= 2 {
            return Some((at, keys, rest));
        }
    }
    None
}

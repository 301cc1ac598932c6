//! Exports whose lines were lost: everything stands on one line, single blanks between words.
//!
//! What is certain comes first: a row ends with its bar, so that the text between two bars is a
//! name, or a heading that ends with `Is Better` and a name. The names found so tell where the
//! systems are described; only where a title ends and a description begins needs known titles,
//! versions and units.

use super::row::{Row, next_dots};
use super::{Block, Export, first_key, system, unit_and_direction};
use crate::pts::fields;
use crate::pts::known::{is_version, scale_at_end, title_at_start};

pub(super) fn parse(text: &str) -> Export {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut export = Export::default();
    let pieces = split_rows(&text);
    let names = known_names(&pieces);
    let Some(first) = pieces.first() else {
        return export;
    };
    let (head, _) = split_name(first.before, &names);
    let systems_end = read_systems(&mut export, head, &names);
    let mut before = &first.before[systems_end..];
    let mut block: Option<Block> = None;
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 {
            before = piece.before;
        }
        let (head, name) = split_name(before, &names);
        if !head.is_empty() || block.is_none() {
            export.blocks.extend(block.take());
            block = Some(read_head(head, &mut export));
        }
        if let Some(block) = &mut block {
            let mut row = piece.row;
            name.clone_into(&mut row.system);
            block.rows.push(row);
        }
    }
    export.blocks.extend(block);
    export
}

/// A row with the text between it and the row before.
struct Piece<'a> {
    before: &'a str,
    row: Row,
}

fn split_rows(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut row_start = 0;
    let mut from = 0;
    while let Some((before_dots, after, end)) = next_dots(&text[from..]) {
        let dots_at = from + before_dots.len();
        match Row::after_dots(after) {
            Some((row, length)) => {
                pieces.push(Piece {
                    before: text[row_start..dots_at].trim(),
                    row,
                });
                row_start = from + end + length;
                from = row_start;
            }
            None => from += end,
        }
    }
    pieces
}

/// Names that stand alone between two bars or directly behind `Is Better`.
fn known_names<'a>(pieces: &[Piece<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let name = match piece.before.rsplit_once(" Is Better ") {
            Some((_, name)) => name,
            None if index > 0 => piece.before,
            None => continue,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A text without direction before its rows ends with a name known from elsewhere.
    let all = names.clone();
    let is_heading = |long: &str| {
        all.iter().any(|short| {
            long.strip_suffix(short)
                .is_some_and(|head| head.ends_with(' '))
        }) && long.contains(": ")
    };
    names.retain(|name| !is_heading(name));
    names
}

/// Splits a text before a row into heading (empty within a block) and name.
fn split_name<'a>(before: &'a str, names: &[&str]) -> (&'a str, &'a str) {
    const END: &str = " Is Better ";
    if let Some(at) = before.rfind(END) {
        let name_at = at + END.len();
        return (before[..name_at].trim(), &before[name_at..]);
    }
    if names.contains(&before) {
        return ("", before);
    }
    let longest = names
        .iter()
        .filter(|name| {
            before
                .strip_suffix(**name)
                .is_some_and(|head| head.ends_with(' '))
        })
        .max_by_key(|name| name.len());
    match longest {
        Some(name) => {
            let (head, name) = before.split_at(before.len() - name.len());
            (head.trim(), name)
        }
        None => ("", before),
    }
}

/// Title, version, description and unit of a block.
fn read_head(head: &str, export: &mut Export) -> Block {
    let (rest, scale, proportion) = match unit_line(head) {
        Some((rest, scale, proportion)) => (rest, scale, proportion),
        None => (head, "", ""),
    };
    let (title, version, description) = split_title(rest, export);
    Block {
        title: title.to_owned(),
        version: version.to_owned(),
        description: description.to_owned(),
        scale: scale.to_owned(),
        proportion,
        ..Block::default()
    }
}

fn unit_line(head: &str) -> Option<(&str, &str, &'static str)> {
    let (before_arrow, proportion) = unit_and_direction(head)?;
    let scale = scale_at_end(before_arrow);
    Some((
        before_arrow[..before_arrow.len() - scale.len()].trim(),
        scale,
        proportion,
    ))
}

fn split_title<'a>(text: &'a str, export: &mut Export) -> (&'a str, &'a str, &'a str) {
    if let Some(title) = title_at_start(text) {
        let rest = text[title.len()..].trim();
        let version = rest
            .split(' ')
            .next()
            .filter(|word| is_version(word))
            .unwrap_or("");
        return (&text[..title.len()], version, rest[version.len()..].trim());
    }
    let words: Vec<&str> = text.split(' ').collect();
    let is_dotted = |word: &&str| is_version(word) && word.contains('.');
    let at = words.iter().skip(1).position(is_dotted);
    let at = at.or_else(|| words.iter().skip(1).position(|word| is_version(word)));
    if let Some(at) = at {
        let title = words[..=at].join(" ").len();
        let version = words[at + 1].len();
        let rest = text[title + 1..][version..].trim();
        return (&text[..title], &text[title + 1..][..version], rest);
    }
    export.warnings.add(
        format!("result {}", export.blocks.len() + 1),
        format!("title and options cannot be told apart: {text}"),
    );
    (text, "", "")
}

/// Reads title, description and systems; gives the offset at which the first block begins.
fn read_systems(export: &mut Export, text: &str, names: &[&str]) -> usize {
    let starts = system_starts(text, names);
    let Some(&(first, ..)) = starts.first() else {
        read_title(export, "", "");
        return 0;
    };
    let preamble = text[..first].trim();
    let mut end_of_last = text.len();
    for (index, &(_, name, body_at)) in starts.iter().enumerate() {
        let body_end = starts.get(index + 1).map_or(text.len(), |next| next.0);
        let body = text[body_at..body_end].trim_end();
        let (hardware, software, used) = match index + 1 == starts.len() {
            true => split_last_body(body),
            false => {
                let (hardware, software) = split_body(body);
                (hardware, software, body.len())
            }
        };
        end_of_last = body_at + used;
        export.systems.push(system(name, hardware, software));
    }
    let processor = export.systems[0]
        .hardware
        .iter()
        .find(|field| field.name == "Processor")
        .map(|field| field.text.clone());
    read_title(export, preamble, &processor.unwrap_or_default());
    end_of_last
}

/// Where systems are described: start of the name, the name, start of its hardware.
fn system_starts<'a>(text: &'a str, names: &[&str]) -> Vec<(usize, &'a str, usize)> {
    let mut starts = Vec::new();
    let mut from = 0;
    while let Some(found) = text[from..].find(": ") {
        let colon = from + found;
        from = colon + 2;
        let before = &text[..colon];
        if first_key(&text[from..]).is_none() || names.is_empty() {
            continue;
        }
        let ends_here = |name: &&&str| {
            before
                .strip_suffix(**name)
                .is_some_and(|h| h.is_empty() || h.ends_with(' '))
        };
        if let Some(name) = names.iter().filter(ends_here).max_by_key(|name| name.len()) {
            let start = colon - name.len();
            starts.push((start, &text[start..colon], from));
        }
    }
    starts
}

/// Hardware and software are two strings with nothing but a blank between them.
fn split_body(body: &str) -> (&str, &str) {
    let first_software = fields::SOFTWARE
        .iter()
        .filter_map(|key| body.find(&format!(" {key}: ")))
        .filter(|&at| !body[..at].ends_with(','))
        .min();
    match first_software {
        _ if first_key(body).is_some_and(|key| fields::SOFTWARE.contains(&key)) => ("", body),
        Some(at) => (&body[..at], body[at..].trim_start()),
        None => (body, ""),
    }
}

/// The last system is followed by the first heading: its last value ends where a known title
/// begins, else after one word.
fn split_last_body(body: &str) -> (&str, &str, usize) {
    let (hardware, rest) = split_body(body);
    let rest_at = body.len() - rest.len();
    let last_value = rest.rfind(", ").map_or(0, |at| at + 2);
    let value_at = rest[last_value..]
        .find(": ")
        .map_or(last_value, |at| last_value + at + 2);
    let mut end = rest.len();
    for (count, (at, _)) in rest[value_at..].match_indices(' ').enumerate() {
        let word_end = value_at + at;
        if count == 0 {
            end = word_end;
        }
        if title_at_start(&rest[word_end + 1..]).is_some() {
            end = word_end;
            break;
        }
        if count > 8 {
            break;
        }
    }
    (hardware, rest[..end].trim_end(), rest_at + end)
}

/// Title and description have no mark between them. OpenBenchmarking.org puts the description in
/// front once more; one that PTS makes begins with the processor.
fn read_title(export: &mut Export, preamble: &str, processor: &str) {
    const COMMAND: &str = "phoronix-test-suite benchmark ";
    let mut text = preamble;
    let mut description = "";
    if let Some(at) = preamble.find(COMMAND) {
        let after = &preamble[at + COMMAND.len()..];
        let id = after.split(' ').next().unwrap_or_default();
        export.public_id = Some(id.to_owned());
        text = after[id.len()..].trim();
        let front = preamble[..at]
            .split(" Compare your own system(s)")
            .next()
            .unwrap_or("");
        if !front.is_empty() && text.ends_with(front) {
            description = &text[text.len() - front.len()..];
        }
    }
    let processor = processor
        .split([' ', '@', '('])
        .take(2)
        .collect::<Vec<_>>()
        .join(" ");
    if description.is_empty()
        && let Some(testing) = text.find(" testing with ")
        && let Some(at) = text[..testing].rfind(&processor)
        && !processor.is_empty()
    {
        description = &text[at..];
        let note = "title and description stand without a mark between them; taken apart before \
                    the name of the processor";
        export.warnings.add("beginning of the file", note);
    }
    export.title = text[..text.len() - description.len()].trim().to_owned();
    description.clone_into(&mut export.description);
    if description.is_empty() && export.title.len() > 126 {
        let note = "title and description cannot be told apart; both are in the title";
        export.warnings.add("beginning of the file", note);
    }
}

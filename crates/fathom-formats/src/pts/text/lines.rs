//! Exports that kept their lines.

use super::row::Row;
use super::{Block, Export, first_key, system, unit_and_direction};
use crate::pts::known::split_heading;

/// Lines that PTS prints before or between the data.
const NOTICES: [&str; 3] = ["[NOTICE]", "[PROBLEM]", "[WARNING]"];

pub(super) fn parse(text: &str) -> Export {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !NOTICES.iter().any(|notice| line.starts_with(notice)))
        .collect();
    let mut export = Export::default();
    let first_system = (0..lines.len()).find(|&at| is_system(&lines, at));
    let preamble_end = first_system.unwrap_or_else(|| first_block(&lines));
    read_preamble(&mut export, &lines[..preamble_end]);
    let mut at = preamble_end;
    while let Some(next) = read_system(&mut export, &lines, at) {
        at = next;
    }
    read_blocks(&mut export, &lines[at..], at);
    export
}

/// Without systems, the first block begins at most two lines above the first unit line or row.
fn first_block(lines: &[&str]) -> usize {
    let is_data = |line: &&str| unit_and_direction(line).is_some() || Row::of_line(line).is_some();
    let data = lines.iter().position(is_data).unwrap_or(lines.len());
    let head = lines[..data]
        .iter()
        .rev()
        .take_while(|line| !line.is_empty())
        .count();
    data - head.min(2)
}

/// The next line that is not empty, from `at` on.
fn next_line(lines: &[&str], at: usize) -> Option<usize> {
    (at..lines.len()).find(|&at| !lines[at].is_empty())
}

/// A name with a colon, and below it a line of hardware or software.
fn is_system(lines: &[&str], at: usize) -> bool {
    lines[at].ends_with(':')
        && next_line(lines, at + 1).is_some_and(|below| first_key(lines[below]).is_some())
}

fn read_preamble(export: &mut Export, lines: &[&str]) {
    let mut lines: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.is_empty())
        .collect();
    let command = lines
        .iter()
        .position(|line| line.starts_with("phoronix-test-suite benchmark "));
    if let Some(at) = command {
        export.public_id = lines[at].split_whitespace().nth(2).map(str::to_owned);
        lines.drain(..=at);
    }
    if let Some((title, description)) = lines.split_first() {
        export.title = (*title).to_owned();
        export.description = description.join(" ");
    }
}

/// Reads the system at or below `at` and gives the line after it.
fn read_system(export: &mut Export, lines: &[&str], at: usize) -> Option<usize> {
    let at = next_line(lines, at).filter(|&at| is_system(lines, at))?;
    let name = lines[at].trim_end_matches(':').trim();
    let mut after = at + 1;
    let mut flat = ["", ""];
    while let Some(below) = next_line(lines, after) {
        let Some(key) = first_key(lines[below]) else {
            break;
        };
        let is_software = crate::pts::fields::SOFTWARE.contains(&key);
        flat[usize::from(is_software)] = lines[below];
        after = below + 1;
    }
    export.systems.push(system(name, flat[0], flat[1]));
    Some(after)
}

fn read_blocks(export: &mut Export, lines: &[&str], line_offset: usize) {
    let mut head: Vec<&str> = Vec::new();
    let mut block: Option<Block> = None;
    for (at, line) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        if let Some(row) = Row::of_line(line) {
            if !head.is_empty() {
                close(export, &mut block);
                block = Some(open(&head, ""));
                head.clear();
            }
            match &mut block {
                Some(block) => block.rows.push(row),
                None => export.warnings.add(
                    format!("line {}", line_offset + at + 1),
                    format!("a row without a heading was left out: {line}"),
                ),
            }
        } else if let Some((unit, proportion)) = unit_and_direction(line) {
            close(export, &mut block);
            let mut opened = open(&head, unit);
            opened.proportion = proportion;
            block = Some(opened);
            head.clear();
        } else {
            head.push(line);
        }
    }
    close(export, &mut block);
    if !head.is_empty() && !head[0].starts_with("Phoronix Test Suite v") {
        let text = format!(
            "text after the last result was left out: {}",
            head.join(" / ")
        );
        export.warnings.add("end of the file", text);
    }
}

fn close(export: &mut Export, block: &mut Option<Block>) {
    export.blocks.extend(block.take());
}

/// A block from its lines above the unit; without a direction the unit may be the third line.
fn open(head: &[&str], unit: &str) -> Block {
    let (title, version) = split_heading(head.first().copied().unwrap_or_default());
    let (description, scale) = match head.get(1..).unwrap_or_default() {
        [description, scale] if unit.is_empty() => ((*description).to_owned(), *scale),
        rest => (rest.join(" "), unit),
    };
    Block {
        title: title.to_owned(),
        version: version.to_owned(),
        description,
        scale: scale.to_owned(),
        ..Block::default()
    }
}

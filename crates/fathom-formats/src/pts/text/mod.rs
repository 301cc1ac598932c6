//! The text export: of `result-file-to-text` in any width, and of OpenBenchmarking.org, with its
//! lines or with all white space collapsed into one.

mod collapsed;
mod lines;
mod row;
#[cfg(test)]
mod tests;

use fathom_model::{Generator, Origin, ResultFile, System};

use super::draft::{Draft, DraftResult, attach_sensors, finish};
use super::fields;
use crate::warnings::Warnings;
use crate::{Format, FormatError, Place};

/// PTS prints it before everything else when it may not use the network.
const NOTICE: &str = "Internet Communication Is Disabled Per Your User Configuration.";

/// Reads a text export.
///
/// # Errors
/// [`FormatError::Syntax`] when there is no result in it, [`FormatError::Limit`] over 256 MiB.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    crate::check_size(bytes)?;
    let (text, encoding_warning) = crate::text::decode(bytes);
    let text = crate::text::without_ansi(&text);
    let text = text.trim_start();
    let text = text.strip_prefix(NOTICE).unwrap_or(text);
    let mut export = match is_collapsed(text) {
        true => collapsed::parse(text),
        false => lines::parse(text),
    };
    if let Some(warning) = encoding_warning {
        export.warnings.add("whole file", warning);
    }
    if export.blocks.is_empty() {
        return Err(FormatError::Syntax {
            format: Format::PtsText,
            place: Place::line(1),
            what: "no result found; expected blocks of \"TITLE VERSION\", options, \
                   \"UNIT > Higher Is Better\" and rows \"SYSTEM .... VALUE |====\""
                .to_owned(),
        });
    }
    Ok(export.finish())
}

/// Whether lines were lost: more than one row stands on a line.
fn is_collapsed(text: &str) -> bool {
    text.lines().any(|line| row::bars(line) > 1)
}

/// What a text export says.
#[derive(Default)]
struct Export {
    title: String,
    description: String,
    /// `2403268-NE-SSDSTORAG25`.
    public_id: Option<String>,
    systems: Vec<System>,
    blocks: Vec<Block>,
    warnings: Warnings,
}

/// One result.
#[derive(Default)]
struct Block {
    title: String,
    version: String,
    description: String,
    scale: String,
    proportion: &'static str,
    rows: Vec<row::Row>,
}

impl Export {
    fn finish(mut self) -> ResultFile {
        let mut results = Vec::with_capacity(self.blocks.len());
        for (index, block) in std::mem::take(&mut self.blocks).into_iter().enumerate() {
            let is_line = block.rows.iter().any(row::Row::is_line);
            let is_check = block.rows.iter().any(row::Row::is_check);
            let mut result = DraftResult {
                place: format!("result {}", index + 1),
                title: block.title,
                app_version: block.version,
                description: block.description,
                scale: block.scale,
                proportion: block.proportion.to_owned(),
                display_format: match (is_line, is_check) {
                    (true, _) => "LINE_GRAPH",
                    (_, true) => "PASS_FAIL",
                    _ => "BAR_GRAPH",
                }
                .to_owned(),
                ..DraftResult::default()
            };
            result.entries = block.rows.into_iter().map(row::Row::entry).collect();
            if result.entries.is_empty() {
                let text = "no system has a value (PTS leaves out runs that failed)";
                self.warnings
                    .add(result.place.clone(), format!("{}: {text}", result.name()));
            }
            results.push(result);
        }
        attach_sensors(&mut results);
        let address = self
            .public_id
            .map(|id| format!("https://openbenchmarking.org/result/{id}"));
        finish(Draft {
            title: self.title,
            description: self.description,
            generator: Generator {
                name: "Phoronix Test Suite".to_owned(),
                version: String::new(),
            },
            systems: self.systems,
            results,
            origin: Origin {
                format: Format::PtsText.name().to_owned(),
                address,
                ..Origin::default()
            },
            warnings: self.warnings,
            ..Draft::default()
        })
    }
}

/// A system from its flat hardware and software strings.
fn system(name: &str, hardware: &str, software: &str) -> System {
    System {
        identifier: name.to_owned(),
        hardware: fields::split(hardware),
        software: fields::split(software),
        ..System::default()
    }
}

/// The first key of a flat string, when it is one PTS writes.
fn first_key(flat: &str) -> Option<&'static str> {
    let key = flat.split(':').next()?;
    let known = fields::HARDWARE.iter().chain(&fields::SOFTWARE);
    known.copied().find(|known| *known == key)
}

/// Splits `MB/s > Higher Is Better` into unit and direction.
fn unit_and_direction(line: &str) -> Option<(&str, &'static str)> {
    let line = line.trim();
    let higher = line
        .strip_suffix("Higher Is Better")
        .map(|rest| (rest, '>', "HIB"));
    let lower = line
        .strip_suffix("Lower Is Better")
        .map(|rest| (rest, '<', "LIB"));
    let (rest, arrow, proportion) = higher.or(lower)?;
    Some((rest.trim_end().strip_suffix(arrow)?.trim(), proportion))
}

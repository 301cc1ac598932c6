//! The two CSV exports (`result-file-to-csv`, `result-file-raw-to-csv`). Neither follows RFC 4180:
//! quotes inside a quoted name are not doubled, so names are found by what stands around them.

use fathom_model::{Entry, EntryDetails, Field, Figure, Generator, Origin, ResultFile, System};

use super::draft::{Draft, DraftResult, attach_sensors, finish};
use super::{fields, known};
use crate::warnings::Warnings;
use crate::{Format, FormatError, Place};

/// Most columns of a table.
const MAX_SYSTEMS: usize = 10_000;

/// Reads the CSV export: one line a result, one column a system.
///
/// # Errors
/// [`FormatError::Syntax`] with the line; [`FormatError::Limit`] over 256 MiB.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    let mut reader = Reader::new(bytes, Format::PtsCsv)?;
    let names = reader.header()?;
    let mut systems: Vec<System> = names.iter().map(|name| named(name)).collect();
    let mut results = Vec::new();
    while let Some((number, line)) = reader.next_line() {
        if parse_header(&line).is_some() {
            continue;
        }
        match parse_result(&line) {
            Some(parsed) => {
                let cells: Vec<&str> = parsed.cells.split(',').collect();
                if cells.len() != names.len() {
                    let what = format!("{} values for {} systems", cells.len(), names.len());
                    return Err(reader.error(number, what));
                }
                results.push(csv_result(&parsed, &names, &cells, number));
            }
            None => reader.system_line(number, &line, &mut systems),
        }
    }
    reader.finish(systems, results)
}

/// Reads the raw CSV export: one block a result, one line a system with its trials. It has no
/// units, and no trials of results with a single one.
///
/// # Errors
/// As [`read`].
pub fn read_raw(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    let mut reader = Reader::new(bytes, Format::PtsRawCsv)?;
    let mut results: Vec<DraftResult> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut is_heading_next = true;
    while let Some(paragraph) = reader.next_paragraph() {
        let direction = paragraph.get(1).and_then(|(_, line)| direction(line));
        let (number, first) = &paragraph[0];
        if direction.is_some() || is_heading_next {
            let Some((heading, _)) = quoted(first) else {
                return Err(reader.error(*number, "expected \"RESULT - OPTIONS\",".to_owned()));
            };
            let mut result = raw_result(heading, *number);
            direction
                .unwrap_or_default()
                .clone_into(&mut result.proportion);
            results.push(result);
            is_heading_next = false;
            continue;
        }
        for (number, line) in &paragraph {
            let Some((name, trials)) = quoted(line) else {
                return Err(reader.error(*number, "expected \"SYSTEM\",trial,...".to_owned()));
            };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
            if let Some(result) = results.last_mut() {
                result.entries.push(raw_entry(name, trials));
            }
        }
        is_heading_next = true;
    }
    let systems = names.iter().map(|name| named(name)).collect();
    reader.finish(systems, results)
}

fn direction(line: &str) -> Option<&'static str> {
    match line {
        "Higher Results Are Better" => Some("HIB"),
        "Lower Results Are Better" => Some("LIB"),
        _ => None,
    }
}

struct Reader {
    format: Format,
    lines: Vec<String>,
    at: usize,
    title: String,
    warnings: Warnings,
}

impl Reader {
    fn new(bytes: &[u8], format: Format) -> Result<Self, FormatError> {
        crate::check_size(bytes)?;
        let (text, encoding_warning) = crate::text::decode(bytes);
        let text = crate::text::without_ansi(&text);
        let lines: Vec<String> = text.lines().map(|line| line.trim().to_owned()).collect();
        let mut reader = Self {
            format,
            lines,
            at: 0,
            title: String::new(),
            warnings: Warnings::default(),
        };
        if let Some(warning) = encoding_warning {
            reader.warnings.add("whole file", warning);
        }
        if let Some((_, line)) = reader.next_line() {
            line.trim_matches(',').clone_into(&mut reader.title);
        }
        Ok(reader)
    }

    /// The next line that is not empty, with its number.
    fn next_line(&mut self) -> Option<(usize, String)> {
        let found = (self.at..self.lines.len()).find(|&at| !self.lines[at].is_empty())?;
        self.at = found + 1;
        Some((self.at, std::mem::take(&mut self.lines[found])))
    }

    /// The next lines up to an empty one.
    fn next_paragraph(&mut self) -> Option<Vec<(usize, String)>> {
        let mut lines = vec![self.next_line()?];
        while self.lines.get(self.at).is_some_and(|line| !line.is_empty()) {
            lines.extend(self.next_line());
        }
        Some(lines)
    }

    fn header(&mut self) -> Result<Vec<String>, FormatError> {
        let Some((number, line)) = self.next_line() else {
            return Err(self.error(1, "no line of systems".to_owned()));
        };
        let systems = 1 + line.matches("\",\"").count();
        if systems > MAX_SYSTEMS {
            return Err(FormatError::Limit {
                what: "systems of a table",
                found: systems as u64,
                limit: MAX_SYSTEMS as u64,
            });
        }
        parse_header(&line)
            .ok_or_else(|| self.error(number, "expected ,,\"SYSTEM\",...".to_owned()))
    }

    fn error(&self, line: usize, what: String) -> FormatError {
        FormatError::Syntax {
            format: self.format,
            place: Place::line(line),
            what,
        }
    }

    /// `Processor,,value,value`: values may hold commas, and then nothing tells where one ends
    /// unless all systems have as many.
    fn system_line(&mut self, number: usize, line: &str, systems: &mut [System]) {
        let (key, values) = line.split_once(",,").unwrap_or((line, ""));
        let values: Vec<&str> = values.split(',').collect();
        let group = values.len() / systems.len().max(1);
        if systems.is_empty() || !values.len().is_multiple_of(systems.len()) {
            self.warnings.add(
                format!("line {number}"),
                format!(
                    "{} values for {} systems were left out: {line}",
                    values.len(),
                    systems.len()
                ),
            );
            return;
        }
        for (system, values) in systems.iter_mut().zip(values.chunks(group)) {
            let text = values.join(",");
            if text.is_empty() {
                continue;
            }
            let field = Field::new(key, text);
            match fields::SOFTWARE.contains(&key) {
                true => system.software.push(field),
                false => system.hardware.push(field),
            }
        }
    }

    fn finish(
        mut self,
        systems: Vec<System>,
        mut results: Vec<DraftResult>,
    ) -> Result<ResultFile, FormatError> {
        if results.is_empty() {
            return Err(self.error(self.lines.len(), "no result found".to_owned()));
        }
        attach_sensors(&mut results);
        let is_raw = self.format == Format::PtsRawCsv;
        if is_raw {
            let text = "the raw export has no units; results of equal name (MB/s and IOPS of one \
                        run, say) are told apart by their order";
            self.warnings.add("whole file", text);
        }
        Ok(finish(Draft {
            keeps_equal_results: is_raw,
            title: self.title,
            generator: Generator {
                name: "Phoronix Test Suite".to_owned(),
                version: String::new(),
            },
            systems,
            results,
            origin: Origin {
                format: self.format.name().to_owned(),
                ..Origin::default()
            },
            warnings: self.warnings,
            ..Draft::default()
        }))
    }
}

fn named(name: &str) -> System {
    System {
        identifier: name.to_owned(),
        ..System::default()
    }
}

/// `,,"A","B"`.
fn parse_header(line: &str) -> Option<Vec<String>> {
    let names = line.strip_prefix(",,\"")?.strip_suffix('"')?;
    Some(names.split("\",\"").map(str::to_owned).collect())
}

struct ParsedResult<'a> {
    name: &'a str,
    proportion: &'static str,
    cells: &'a str,
}

/// `"Title - Description (unit)",HIB,1,2`.
fn parse_result(line: &str) -> Option<ParsedResult<'_>> {
    let inner = line.strip_prefix('"')?;
    [("\",HIB,", "HIB"), ("\",LIB,", "LIB"), ("\",,", "")]
        .into_iter()
        .find_map(|(mark, proportion)| {
            let (name, cells) = inner.rsplit_once(mark)?;
            Some(ParsedResult {
                name,
                proportion,
                cells,
            })
        })
}

fn csv_result(
    parsed: &ParsedResult<'_>,
    names: &[String],
    cells: &[&str],
    line: usize,
) -> DraftResult {
    let (name, unit) = split_unit(parsed.name);
    let (title, description) = name.split_once(" - ").unwrap_or((name, ""));
    let entries: Vec<Entry> = names
        .iter()
        .zip(cells)
        .filter_map(|(name, cell)| csv_entry(name, cell))
        .collect();
    let is_check = entries
        .iter()
        .any(|e| e.details.as_ref().is_some_and(|d| d.text.is_some()));
    let is_sensor = description.ends_with(" Monitor");
    DraftResult {
        place: format!("line {line}"),
        title: title.to_owned(),
        description: description.to_owned(),
        scale: unit.to_owned(),
        proportion: parsed.proportion.to_owned(),
        display_format: match (is_check, is_sensor) {
            (true, _) => "PASS_FAIL",
            (_, true) => "LINE_GRAPH",
            _ => "BAR_GRAPH",
        }
        .to_owned(),
        entries,
        ..DraftResult::default()
    }
}

/// An empty cell is a system that was not measured or failed; the export does not tell which.
fn csv_entry(name: &str, cell: &str) -> Option<Entry> {
    let mut entry = Entry {
        system: name.to_owned(),
        ..Entry::default()
    };
    match Figure::parse(cell) {
        _ if cell.is_empty() => return None,
        Some(value) => entry.value = Some(value),
        None => {
            entry.details = Some(Box::new(EntryDetails {
                text: Some(cell.to_owned()),
                ..EntryDetails::default()
            }));
        }
    }
    Some(entry)
}

/// The unit is the last parenthesis of the name.
fn split_unit(name: &str) -> (&str, &str) {
    let Some(inner) = name.strip_suffix(')') else {
        return (name, "");
    };
    let mut depth = 1;
    for (at, byte) in inner.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (inner[..at].trim_end(), &inner[at + 1..]);
        }
    }
    (name, "")
}

/// A quoted text at the start of a line, and what follows its comma.
fn quoted(line: &str) -> Option<(&str, &str)> {
    let inner = line.strip_prefix('"')?;
    let end = inner.rfind("\",")?;
    Some((&inner[..end], &inner[end + 2..]))
}

fn raw_result(heading: &str, line: usize) -> DraftResult {
    let (heading, description) = heading.split_once(" - ").unwrap_or((heading, ""));
    let (title, version) = known::split_heading(heading);
    DraftResult {
        place: format!("line {line}"),
        title: title.to_owned(),
        app_version: version.to_owned(),
        description: description.trim().to_owned(),
        display_format: "BAR_GRAPH".to_owned(),
        ..DraftResult::default()
    }
}

fn raw_entry(name: &str, trials: &str) -> Entry {
    let samples: Vec<Figure> = trials.split(',').filter_map(Figure::parse).collect();
    let sum: f64 = samples.iter().map(Figure::value).sum();
    let mut entry = Entry {
        system: name.to_owned(),
        ..Entry::default()
    };
    match samples.is_empty() {
        true => entry.error = Some("the raw export has no trials of it".into()),
        false => {
            entry.value = Figure::new(sum / samples.len() as f64);
            entry.samples = samples;
        }
    }
    entry
}

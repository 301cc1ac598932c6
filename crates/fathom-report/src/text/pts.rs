//! The text view of the Phoronix Test Suite, to the byte.

use std::fmt::Write;

use fathom_model::{Direction, Display, Entry, Field, ResultFile, ResultRecord};

use crate::clean;
use crate::number::{php_round, push_rounded};

/// Most decimals a value keeps; more are the digits of a computed mean, not of a print.
const MOST_DECIMALS: usize = 9;

/// A result file as `phoronix-test-suite result-file-to-text` prints it on a terminal of `width`
/// columns.
///
/// Lines are indented by four columns on terminals wider than 80, as the original does. Names,
/// titles and values are taken as they are, except that control characters are replaced. Failed
/// entries are left out, as in the original; [`super::show`] shows them.
pub fn pts(file: &ResultFile, width: usize) -> String {
    let entries: usize = file.results.iter().map(|result| result.entries.len()).sum();
    let mut out = String::with_capacity(1024 + entries * (width.min(400) + 8));
    clean::push_text(&mut out, &file.title);
    out.push('\n');
    clean::push_text(&mut out, &file.description);
    out.push_str("\n\n\n");
    for system in &file.systems {
        clean::push_text(&mut out, &system.identifier);
        out.push_str(": \n\n\t");
        push_fields(&mut out, &system.hardware);
        out.push_str("\n\n\t");
        push_fields(&mut out, &system.software);
        out.push_str("\n\n");
    }
    let indent = if width > 80 { 4 } else { 0 };
    let mut block = Block {
        width,
        indent,
        scratch: String::new(),
    };
    for result in &file.results {
        out.push('\n');
        block.push(&mut out, result);
        out.push('\n');
    }
    out.push('\n');
    out
}

fn push_fields(out: &mut String, fields: &[Field]) {
    for (position, field) in fields.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        clean::push_text(out, &field.name);
        out.push_str(": ");
        clean::push_text(out, &field.text);
    }
}

/// Writes the block of one result.
pub(super) struct Block {
    pub width: usize,
    pub indent: usize,
    pub scratch: String,
}

impl Block {
    /// Title, description, unit line and one line an entry.
    pub fn push(&mut self, out: &mut String, result: &ResultRecord) {
        let title = self.joined(&[&result.title, &result.version]);
        self.push_line(out, &title);
        if !result.description.trim().is_empty() {
            self.push_line(out, result.description.trim());
        }
        if !result.metric.unit.is_empty() {
            let arrow = match result.metric.direction {
                Direction::HigherIsBetter => " > Higher Is Better",
                Direction::LowerIsBetter => " < Lower Is Better",
                Direction::Neutral => "",
            };
            let unit = self.joined(&[&result.metric.unit]);
            self.push_line(out, &format!("{unit}{arrow}"));
        }
        match result.display {
            Display::Line => self.push_line_rows(out, result),
            _ => self.push_bar_rows(out, result),
        }
    }

    fn joined(&self, parts: &[&str]) -> String {
        parts.join(" ").trim().to_owned()
    }

    fn push_line(&self, out: &mut String, text: &str) {
        for line in text.split('\n') {
            self.push_indent(out);
            clean::push_line(out, line);
            out.push('\n');
        }
    }

    fn push_indent(&self, out: &mut String) {
        out.extend(std::iter::repeat_n(' ', self.indent));
    }

    /// `Disk A ........... `: the name filled with dots to the longest one.
    fn push_name(&self, out: &mut String, name: &str, longest: usize) {
        self.push_indent(out);
        clean::push_line(out, name);
        out.push(' ');
        out.extend(std::iter::repeat_n(
            '.',
            (longest + 1).saturating_sub(name.len()),
        ));
        out.push(' ');
    }

    fn push_bar_rows(&mut self, out: &mut String, result: &ResultRecord) {
        let longest = longest_name(result);
        let decimals = self.decimals(result);
        let values = || {
            result
                .entries
                .iter()
                .filter_map(|entry| entry.value.as_ref())
        };
        let largest = values().map(|figure| figure.value()).fold(0.0, f64::max);
        let mut longest_text = 0;
        for figure in values() {
            self.scratch.clear();
            push_rounded(&mut self.scratch, figure.value(), decimals);
            longest_text = longest_text.max(self.scratch.len());
        }
        for entry in &result.entries {
            let Some(figure) = &entry.value else {
                self.push_word(out, entry, longest);
                continue;
            };
            self.scratch.clear();
            push_rounded(&mut self.scratch, figure.value(), decimals);
            if self.scratch == "0" {
                continue;
            }
            let start = out.len();
            self.push_name(out, &entry.system, longest);
            out.push_str(&self.scratch);
            out.extend(std::iter::repeat_n(
                ' ',
                longest_text + 1 - self.scratch.len(),
            ));
            out.push('|');
            let room = self.width.saturating_sub(out.len() - start);
            out.extend(std::iter::repeat_n(
                '=',
                bar_length(figure.value(), largest, room),
            ));
            out.push('\n');
        }
    }

    /// A value that is no number: `PASS`.
    fn push_word(&self, out: &mut String, entry: &Entry, longest: usize) {
        let text = entry
            .details
            .as_ref()
            .and_then(|details| details.text.as_deref());
        if let Some(text) = text.filter(|text| !text.is_empty() && *text != "0") {
            self.push_name(out, &entry.system, longest);
            clean::push_line(out, text);
            out.push('\n');
        }
    }

    fn push_line_rows(&mut self, out: &mut String, result: &ResultRecord) {
        let longest = longest_name(result);
        let lines = result.entries.iter().filter_map(line_extent);
        let (lowest, highest) = lines
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), line| {
                (low.min(line.low), high.max(line.high))
            });
        // The original looks at 1.03 times the largest value here.
        let highest = highest * 1.03;
        let is_coarse = highest > 100.0 || (lowest > 29.0 && highest > 79.0);
        let decimals = usize::from(!is_coarse);
        let rows: Vec<(&str, [String; 3])> = result
            .entries
            .iter()
            .filter_map(|entry| {
                let line = line_extent(entry)?;
                let texts = [line.low, line.mean, line.high].map(|value| {
                    let mut text = String::new();
                    push_rounded(&mut text, value, decimals);
                    text
                });
                Some((entry.system.as_str(), texts))
            })
            .collect();
        let widths: [usize; 3] = std::array::from_fn(|i| {
            rows.iter()
                .map(|(_, texts)| texts[i].len())
                .max()
                .unwrap_or(0)
        });
        for (name, [low, mean, high]) in &rows {
            self.push_name(out, name, longest);
            let [low_width, mean_width, high_width] = widths;
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "MIN: {low:<low_width$}  AVG: {mean:<mean_width$}  MAX: {high:<high_width$} "
            );
        }
    }

    /// The most decimals any value was printed with; at most 2 when every value is 10 or more.
    fn decimals(&mut self, result: &ResultRecord) -> usize {
        let mut most = 0;
        let mut smallest = f64::INFINITY;
        for figure in result
            .entries
            .iter()
            .filter_map(|entry| entry.value.as_ref())
        {
            self.scratch.clear();
            let _ = write!(self.scratch, "{figure}");
            most = most.max(printed_decimals(&self.scratch));
            smallest = smallest.min(figure.value());
        }
        if most > MOST_DECIMALS || smallest >= 10.0 {
            most.min(2)
        } else {
            most
        }
    }
}

fn longest_name(result: &ResultRecord) -> usize {
    result
        .entries
        .iter()
        .map(|entry| entry.system.len())
        .max()
        .unwrap_or(0)
}

/// Digits after the decimal point of a printed number.
fn printed_decimals(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, decimals)| {
        decimals.bytes().take_while(u8::is_ascii_digit).count()
    })
}

/// How many of `room` columns a bar fills.
pub(super) fn bar_length(value: f64, largest: f64, room: usize) -> usize {
    if !(largest > 0.0 && value > 0.0) {
        return 0;
    }
    let length = php_round(value / largest * room as f64, 0);
    (length as usize).min(room)
}

struct Extent {
    low: f64,
    mean: f64,
    high: f64,
}

fn line_extent(entry: &Entry) -> Option<Extent> {
    let points = entry
        .details
        .as_ref()
        .map(|details| details.line.as_slice())
        .unwrap_or_default();
    let numbers = || points.iter().map(|figure| figure.value());
    let single = entry.value.as_ref().map(|figure| figure.value());
    if points.is_empty() {
        return single.map(|value| Extent {
            low: value,
            mean: value,
            high: value,
        });
    }
    Some(Extent {
        low: numbers().fold(f64::INFINITY, f64::min),
        mean: numbers().sum::<f64>() / points.len() as f64,
        high: numbers().fold(f64::NEG_INFINITY, f64::max),
    })
}

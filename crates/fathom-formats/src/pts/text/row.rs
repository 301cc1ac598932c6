use fathom_model::{Entry, EntryDetails, Figure, PtsJson};
use serde_json::{Map, Value};

/// `SYSTEM .... VALUE |=====`.
pub(super) struct Row {
    pub system: String,
    value: Printed,
}

enum Printed {
    Number(Figure),
    /// Lowest, mean and highest of a line graph.
    Line {
        min: Figure,
        avg: Figure,
        max: Figure,
    },
    /// `PASS`, `FAIL`.
    Word(String),
}

impl Row {
    pub(super) fn is_line(&self) -> bool {
        matches!(self.value, Printed::Line { .. })
    }

    pub(super) fn is_check(&self) -> bool {
        matches!(self.value, Printed::Word(_))
    }

    pub(super) fn entry(self) -> Entry {
        let mut entry = Entry {
            system: self.system,
            ..Entry::default()
        };
        match self.value {
            Printed::Number(value) => entry.value = Some(value),
            Printed::Line { min, avg, max } => {
                entry.value = Some(avg);
                entry.details = Some(Box::new(EntryDetails {
                    pts_json: min_and_max(&min, &max),
                    ..EntryDetails::default()
                }));
            }
            Printed::Word(word) => {
                entry.details = Some(Box::new(EntryDetails {
                    text: Some(word),
                    ..EntryDetails::default()
                }));
            }
        }
        entry
    }

    /// A row that fills its line.
    pub(super) fn of_line(line: &str) -> Option<Self> {
        let line = line.trim();
        let mut rest = line;
        // The last run of dots that makes sense: a name may hold one as well.
        while let Some((before, after)) = rsplit_dots(rest) {
            if let Some((value, length)) = Printed::at_start(after)
                && after[length..].trim().is_empty()
            {
                return Some(Self {
                    system: before.trim().to_owned(),
                    value,
                });
            }
            rest = &rest[..before.len()];
        }
        None
    }

    /// The row whose dots end at `text`'s start, without its name, with the bytes it takes.
    pub(super) fn after_dots(text: &str) -> Option<(Self, usize)> {
        let (value, length) = Printed::at_start(text)?;
        let row = Self {
            system: String::new(),
            value,
        };
        Some((row, length))
    }
}

/// The keys PTS itself uses for the extremes of a result.
pub(super) fn min_and_max(min: &Figure, max: &Figure) -> PtsJson {
    let mut map = Map::new();
    map.insert("min-result".to_owned(), Value::String(min.to_string()));
    map.insert("max-result".to_owned(), Value::String(max.to_string()));
    PtsJson::from_map(&map)
}

impl Printed {
    /// Reads a value, and how many bytes it takes with its bar.
    fn at_start(text: &str) -> Option<(Self, usize)> {
        if let Some(found) = Self::line_at_start(text) {
            return Some(found);
        }
        let start = text.len() - text.trim_start().len();
        let word = text[start..].split_whitespace().next()?;
        let after = start + word.len();
        if let Some(figure) = Figure::parse(word) {
            let bar = bar_length(&text[after..])?;
            return Some((Self::Number(figure), after + bar));
        }
        matches!(word, "PASS" | "FAIL" | "Pass" | "Fail")
            .then(|| (Self::Word(word.to_owned()), after))
    }

    /// `MIN: a  AVG: b  MAX: c`, with an optional box plot behind it.
    fn line_at_start(text: &str) -> Option<(Self, usize)> {
        let mut rest = text;
        let mut figures = [None, None, None];
        for (name, figure) in ["MIN:", "AVG:", "MAX:"].iter().zip(&mut figures) {
            rest = rest.trim_start().strip_prefix(name)?.trim_start();
            let word = rest.split_whitespace().next()?;
            *figure = Some(Figure::parse(word)?);
            rest = &rest[word.len()..];
        }
        let [Some(min), Some(avg), Some(max)] = figures else {
            return None;
        };
        let plot = rest.trim_start();
        let plot_length = plot.bytes().take_while(|b| b"|-#X. ".contains(b)).count();
        let has_plot = plot.starts_with(['|', '.', '-']) && plot[..plot_length].contains('#');
        let end = match has_plot {
            true => text.len() - plot.len() + plot[..plot_length].trim_end().len(),
            false => text.len() - rest.len(),
        };
        Some((Self::Line { min, avg, max }, end))
    }
}

/// The bytes of `  |=====` at the start of a text; `None` without the bar's foot.
fn bar_length(text: &str) -> Option<usize> {
    let bar = text.trim_start().strip_prefix('|')?;
    let length = bar.bytes().take_while(|&b| b == b'=').count();
    Some(text.len() - bar.len() + length)
}

/// Splits at the last word made of dots.
fn rsplit_dots(text: &str) -> Option<(&str, &str)> {
    let mut end = text.len();
    while let Some(at) = text[..end].rfind('.') {
        let start = text[..at].trim_end_matches('.').len();
        let before = &text[..start];
        let after = &text[at + 1..];
        if before.ends_with(' ') && after.starts_with(' ') && !before.trim().is_empty() {
            return Some((before, after));
        }
        end = start;
    }
    None
}

/// How many bars stand in a text.
pub(super) fn bars(text: &str) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some((_, after, at)) = next_dots(rest) {
        match Printed::at_start(after) {
            Some((_, length)) => {
                count += 1;
                rest = &after[length..];
            }
            None => rest = &rest[at..],
        }
    }
    count
}

/// Splits at the first word made of dots; also gives the offset behind it.
pub(super) fn next_dots(text: &str) -> Option<(&str, &str, usize)> {
    let mut from = 0;
    while let Some(found) = text[from..].find(" .") {
        let start = from + found + 1;
        let dots = text[start..].bytes().take_while(|&b| b == b'.').count();
        let end = start + dots;
        if text[end..].starts_with(' ') {
            return Some((&text[..start - 1], &text[end..], end));
        }
        from = end;
    }
    None
}

//! A chart: unit, title, options, names, axis, standard errors, numbers, footnotes.

use fathom_model::{Entry, EntryDetails, Figure, PtsJson, Spread};
use serde_json::{Map, Value};

use super::axis::Kind;
use super::head::Page;
use crate::pts::draft::DraftResult;
use crate::warnings::Warnings;

/// Longest unit in bytes.
const LONGEST_UNIT: usize = 80;
/// Longest title and options of a chart together.
const MAX_HEADING: usize = 1000;
/// Longest chart; one of a hundred systems has about ten kilobytes.
const MAX_CHART: usize = 64 << 10;

/// A chart with its numbers not yet told apart.
pub(super) struct Chart {
    pub title: String,
    pub version: String,
    pub description: String,
    pub unit: String,
    pub proportion: &'static str,
    /// The systems in the order of the chart.
    pub systems: Vec<usize>,
    /// What stands between the last label and the footnotes, up to the digits of the last `N = `.
    pub axis: String,
    pub kind: Kind,
    /// Standard errors; the count of the last one is still part of `numbers`.
    pub errors: Vec<(String, String)>,
    /// The last count and the values, strung together; for box plots empty.
    pub numbers: String,
    /// Lowest, mean and highest of box plots.
    pub boxes: Vec<[String; 3]>,
    pub footnote: String,
    /// The values in the order of the chart, with the doubt on each.
    pub values: Vec<(String, Option<String>)>,
    /// Standard errors by place in the chart; empty when it is not known whose they are.
    pub spreads: Vec<Option<(String, String)>>,
}

pub(super) fn read(page: &Page<'_>, names: &[&str], warnings: &mut Warnings) -> Vec<Chart> {
    let mut charts = Vec::new();
    let mut heading = page.charts.first().copied().unwrap_or_default();
    for (index, part) in page.charts.iter().enumerate().skip(1) {
        let next = page.charts.get(index + 1).copied();
        let own_end = next.map_or(part.len(), |next| own_length(part, next, names));
        let own = part[..own_end].trim_end();
        let understood = (own.len() <= MAX_CHART).then(|| chart(own, heading, names));
        match understood.flatten() {
            Some(chart) => charts.push(chart),
            None => warnings.add(
                format!("chart {index}"),
                format!("not understood and left out: {own}"),
            ),
        }
        heading = &part[own_end..];
    }
    charts
}

/// How much of a part belongs to its own chart: the rest is the heading of the next.
fn own_length(part: &str, next: &str, names: &[&str]) -> usize {
    let body = body_of(next).1;
    let starts = std::iter::once(0).chain(part.match_indices(' ').map(|(at, _)| at + 1));
    let window = first_bytes(body, MAX_HEADING * 3);
    let heading = starts
        .filter(|&at| part.len() - at <= MAX_HEADING)
        .find(|&at| {
            let heading = part[at..].trim();
            let word = heading.split(' ').next().unwrap_or_default();
            !word.is_empty()
                && first_bytes(window, LONGEST_UNIT + word.len()).contains(word)
                && split_heading(heading, window, names).is_some()
        });
    heading.unwrap_or(part.len())
}

/// At most so many bytes of a text, cut at a character.
fn first_bytes(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len()))
        .rev()
        .find(|&at| text.is_char_boundary(at));
    &text[..end.unwrap_or(0)]
}

/// Unit, text behind it, and direction.
fn body_of(chart: &str) -> (&str, &str, &'static str) {
    for (mark, proportion) in [(", More Is Better", "HIB"), (", Fewer Is Better", "LIB")] {
        let front = first_bytes(chart, LONGEST_UNIT + mark.len());
        if let Some(at) = front.find(mark) {
            return (&chart[..at], &chart[at + mark.len()..], proportion);
        }
    }
    ("", chart, "")
}

/// Title, version, options, and where the names begin.
struct Heading<'a> {
    unit: &'a str,
    title: &'a str,
    version: &'a str,
    description: &'a str,
    names_at: usize,
}

/// Divides a heading (`Dbench Client Count: 6`) so that the chart (`Dbench 4.0Client Count: 6...`)
/// repeats it and a name follows.
fn split_heading<'a>(heading: &'a str, body: &'a str, names: &[&str]) -> Option<Heading<'a>> {
    let splits = heading
        .match_indices(' ')
        .map(|(at, _)| at)
        .chain([heading.len()]);
    splits.rev().find_map(|at| {
        let (title, description) = (&heading[..at], heading[at..].trim());
        // Without a direction the unit stands before the title unmarked.
        let unit_length = first_bytes(body, LONGEST_UNIT + title.len()).find(title)?;
        let after_title = &body[unit_length + title.len()..];
        let description_at = match description {
            "" => names
                .iter()
                .filter_map(|name| after_title.find(name))
                .min()?,
            description => after_title.find(description)?,
        };
        let version = after_title[..description_at].trim();
        let names_at = unit_length + title.len() + description_at + description.len();
        let begins_with_name = names.iter().any(|name| body[names_at..].starts_with(name));
        let is_version = version.len() <= 40 && !version.contains(' ') || version.is_empty();
        (begins_with_name && is_version).then_some(Heading {
            unit: &body[..unit_length],
            title,
            version,
            description,
            names_at,
        })
    })
}

fn chart(own: &str, heading: &str, names: &[&str]) -> Option<Chart> {
    let (unit, body, proportion) = body_of(own);
    let heading = split_heading(heading.trim(), first_bytes(body, MAX_HEADING * 3), names)?;
    let mut rest = &body[heading.names_at..];
    let mut systems: Vec<usize> = Vec::new();
    while let Some((index, name)) = names
        .iter()
        .enumerate()
        .filter(|(index, name)| !systems.contains(index) && rest.starts_with(**name))
        .max_by_key(|(_, name)| name.len())
    {
        systems.push(index);
        rest = &rest[name.len()..];
    }
    let mut chart = Chart {
        title: heading.title.to_owned(),
        version: heading.version.to_owned(),
        description: heading.description.to_owned(),
        unit: if unit.is_empty() { heading.unit } else { unit }.to_owned(),
        proportion,
        systems,
        axis: String::new(),
        kind: Kind::Bars,
        errors: Vec::new(),
        numbers: String::new(),
        boxes: Vec::new(),
        footnote: String::new(),
        values: Vec::new(),
        spreads: Vec::new(),
    };
    match rest.contains("Min: ") && rest.contains(" / Avg: ") {
        true => chart.read_boxes(rest)?,
        false => chart.read_bars(rest),
    }
    Some(chart)
}

impl Chart {
    /// `1530456075Min: 52 / Avg: 62.51 / Max: 80Min: ...`.
    fn read_boxes(&mut self, text: &str) -> Option<()> {
        self.kind = Kind::Boxes;
        let mut parts = text.split("Min: ");
        parts.next()?.trim().clone_into(&mut self.axis);
        for part in parts {
            let (min, rest) = part.split_once(" / Avg: ")?;
            let (avg, max) = rest.split_once(" / Max: ")?;
            let max = max.split(' ').next()?;
            self.boxes
                .push([min, avg, max].map(|text| text.trim().to_owned()));
        }
        (self.boxes.len() == self.systems.len()).then_some(())
    }

    /// `60K120K180KSE +/- 0.94, N = 3SE +/- 5.24, N = 3724.29532.011. (CC) gcc options: -O2`.
    fn read_bars(&mut self, text: &str) {
        let numbers = match text.find("SE +/- ") {
            None => text,
            Some(at) => {
                text[..at].trim().clone_into(&mut self.axis);
                self.read_errors(&text[at..])
            }
        };
        // Numbers hold no blank; a footnote is `1. (CC) ...`.
        let end = numbers.find(' ').unwrap_or(numbers.len());
        let (mut digits, mut footnote) = numbers.split_at(end);
        if let Some(index) = digits.strip_suffix('.').filter(|_| !footnote.is_empty()) {
            let note_at = index.len().saturating_sub(1);
            (digits, footnote) = (&numbers[..note_at], &numbers[note_at..]);
        }
        digits.clone_into(&mut self.numbers);
        footnote.trim().clone_into(&mut self.footnote);
    }

    /// Reads standard errors and gives what follows the last `N = `.
    fn read_errors<'t>(&mut self, text: &'t str) -> &'t str {
        let mut rest = text;
        while let Some(after) = rest.strip_prefix("SE +/- ") {
            let Some((error, count)) = after.split_once(", N = ") else {
                break;
            };
            let digits = count.bytes().take_while(u8::is_ascii_digit).count();
            let is_last = !count[digits..].starts_with("SE +/- ");
            let own = if is_last { "" } else { &count[..digits] };
            self.errors.push((error.to_owned(), own.to_owned()));
            rest = if is_last { count } else { &count[digits..] };
            if is_last {
                break;
            }
        }
        rest
    }

    /// Whether this and another chart are metrics of one run.
    pub(super) fn is_sibling(&self, other: &Self) -> bool {
        self.title == other.title
            && self.version == other.version
            && self.description == other.description
            && self.unit != other.unit
    }

    pub(super) fn result(self, names: &[&str]) -> DraftResult {
        let place = format!("{} {}", self.title, self.description);
        let mut entries: Vec<Entry> = match self.kind {
            Kind::Boxes => self.boxes.iter().map(box_entry).collect(),
            Kind::Bars => self.values.iter().map(value_entry).collect(),
        };
        let options = compiler_options(&self.footnote);
        for (at, entry) in entries.iter_mut().enumerate() {
            names[self.systems[at]].clone_into(&mut entry.system);
            entry.spread = self
                .spreads
                .get(at)
                .and_then(Option::as_ref)
                .and_then(spread);
            if let Some(options) = &options {
                let details = entry.details.get_or_insert_default();
                details.pts_json = options.clone();
            }
        }
        let mut extra = Map::new();
        if self.spreads.is_empty() && !self.errors.is_empty() {
            let errors = self.errors.iter();
            let listed = errors.map(|(error, count)| format!("{error}, N = {count}").into());
            extra.insert(
                "standard_errors_unassigned".to_owned(),
                Value::Array(listed.collect()),
            );
        }
        DraftResult {
            place,
            extra,
            title: self.title,
            app_version: self.version,
            description: self.description,
            scale: self.unit,
            proportion: self.proportion.to_owned(),
            display_format: match self.kind {
                Kind::Boxes => "LINE_GRAPH",
                Kind::Bars => "BAR_GRAPH",
            }
            .to_owned(),
            annotation: Some(self.footnote).filter(|note| !note.is_empty() && options.is_none()),
            entries,
            ..DraftResult::default()
        }
    }
}

fn box_entry([min, avg, max]: &[String; 3]) -> Entry {
    let mut map = Map::new();
    map.insert("min-result".to_owned(), Value::String(min.clone()));
    map.insert("max-result".to_owned(), Value::String(max.clone()));
    Entry {
        value: Figure::parse(avg),
        details: Some(Box::new(EntryDetails {
            pts_json: PtsJson::from_map(&map),
            ..EntryDetails::default()
        })),
        ..Entry::default()
    }
}

fn value_entry((value, doubt): &(String, Option<String>)) -> Entry {
    let mut entry = Entry {
        value: Figure::parse(value),
        ..Entry::default()
    };
    if let Some(doubt) = doubt {
        entry.details = Some(Box::new(EntryDetails {
            uncertain: Some(doubt.clone()),
            ..EntryDetails::default()
        }));
    }
    entry
}

fn spread((error, count): &(String, String)) -> Option<Box<Spread>> {
    Some(Box::new(Spread {
        standard_error: Figure::parse(error)?,
        count: count.parse().ok()?,
    }))
}

/// `1. (CC) gcc options: -lpopt -O2`, as the entries of a result file have it; it applies to all of
/// them when it is the only footnote.
fn compiler_options(footnote: &str) -> Option<PtsJson> {
    let rest = footnote.strip_prefix("1. (")?;
    let (kind, rest) = rest.split_once(") ")?;
    let (compiler, options) = rest.split_once(" options: ")?;
    if options.contains(" 2. ") {
        return None;
    }
    let mut inner = Map::new();
    inner.insert("compiler-type".to_owned(), kind.into());
    inner.insert("compiler".to_owned(), compiler.into());
    inner.insert("compiler-options".to_owned(), options.trim().into());
    let mut outer = Map::new();
    outer.insert("compiler-options".to_owned(), Value::Object(inner));
    Some(PtsJson::from_map(&outer))
}

//! Metrics, counts and failures of a profile file.

use std::collections::BTreeMap;

use fathom_model::{Direction, Metric};
use regex_lite::Regex;
use toml::Spanned;

use super::extract::{Csv, Numbers, Pattern, Pick, ProcessFigure, Stream};
use super::parse::{Reader, Result};
use super::raw::{RawCount, RawFailure, RawMetric, Text};
use super::{CountExtraction, CountSpec, Expression, Extraction, FailureSpec, MetricSpec};

const METRICS_LIMIT: usize = 100;
const PICKS: [(&str, Pick); 6] = [
    ("last", Pick::Last),
    ("first", Pick::First),
    ("sum", Pick::Sum),
    ("mean", Pick::Mean),
    ("min", Pick::Min),
    ("max", Pick::Max),
];
const NUMBERS: [(&str, Numbers); 3] = [
    ("plain", Numbers::Plain),
    ("grouped", Numbers::Grouped),
    ("comma", Numbers::Comma),
];
const DIRECTIONS: [(&str, Direction); 3] = [
    ("higher", Direction::HigherIsBetter),
    ("lower", Direction::LowerIsBetter),
    ("neither", Direction::Neutral),
];

/// All metrics: at least one, the first one primary when none says so.
pub(super) fn metrics(reader: &Reader<'_>, raw: &[Spanned<RawMetric>]) -> Result<Vec<MetricSpec>> {
    if let Some(extra) = raw.get(METRICS_LIMIT) {
        return Err(reader.wrong(
            extra,
            format!("a profile has at most {METRICS_LIMIT} metrics"),
        ));
    }
    let mut all: Vec<MetricSpec> = Vec::new();
    for one in raw {
        let spec = metric(reader, one)?;
        let mut same = all.iter().filter(|known| known.metric.id == spec.metric.id);
        // The same metric may be found differently under other conditions, and by a driver.
        let is_driver = |spec: &MetricSpec| matches!(spec.extraction, Extraction::Driver(_));
        let is_same =
            |known: &MetricSpec| known.when == spec.when && is_driver(known) == is_driver(&spec);
        if same.any(is_same) {
            let what = format!("there are two metrics {}", spec.metric.id);
            return Err(reader.wrong(&one.get_ref().id, what));
        }
        all.push(spec);
    }
    let primaries = raw.iter().filter(|one| one.get_ref().primary);
    if primaries.clone().count() == 0
        && let Some(first) = all.first_mut()
    {
        first.metric.is_primary = true;
        first.metric.steers = raw
            .first()
            .is_none_or(|one| one.get_ref().steers != Some(false));
    }
    check_primary(reader, raw, &all)?;
    Ok(all)
}

fn check_primary(
    reader: &Reader<'_>,
    raw: &[Spanned<RawMetric>],
    all: &[MetricSpec],
) -> Result<()> {
    let primary = all
        .iter()
        .zip(raw)
        .filter(|(spec, _)| spec.metric.is_primary);
    let ids = primary.clone().filter(|(spec, _)| spec.when.is_empty());
    let mut ids: Vec<&str> = ids.map(|(spec, _)| spec.metric.id.as_str()).collect();
    ids.dedup();
    if ids.len() > 1
        && let Some((_, extra)) = primary.last()
    {
        let what = "a second metric is primary; one stands for the case".to_owned();
        return Err(reader.wrong(&extra.get_ref().id, what));
    }
    if !all.iter().any(|spec| spec.metric.steers)
        && let Some(first) = raw.first()
    {
        let what = "no metric steers the repetition; leave steers out of one".to_owned();
        return Err(reader.wrong(&first.get_ref().id, what));
    }
    Ok(())
}

fn metric(reader: &Reader<'_>, spanned: &Spanned<RawMetric>) -> Result<MetricSpec> {
    let raw = spanned.get_ref();
    reader.check_name(&raw.id)?;
    let direction = reader.one_of(&raw.better, &DIRECTIONS)?;
    Ok(MetricSpec {
        metric: Metric {
            id: raw.id.get_ref().clone(),
            title: raw.title.clone(),
            unit: raw.unit.clone(),
            direction,
            is_primary: raw.primary,
            steers: raw.steers.unwrap_or(raw.primary),
            ..Metric::default()
        },
        extraction: extraction(reader, spanned)?,
        is_optional: raw.optional,
        when: reader.conditions(&raw.when)?,
    })
}

fn extraction(reader: &Reader<'_>, spanned: &Spanned<RawMetric>) -> Result<Extraction> {
    let raw = spanned.get_ref();
    let csv_text = raw
        .csv
        .as_ref()
        .map(|csv| Spanned::new(csv.span(), csv.get_ref().0.clone()));
    let sources: Vec<(&str, &Text)> = [
        ("regex", raw.regex.as_ref()),
        ("json", raw.json.as_ref()),
        ("csv", csv_text.as_ref()),
        ("process", raw.process.as_ref()),
        ("driver", raw.driver.as_ref()),
        ("compute", raw.compute.as_ref()),
    ]
    .into_iter()
    .filter_map(|(name, text)| Some((name, text?)))
    .collect();
    let [(source, text)] = sources[..] else {
        let what = format!(
            "metric {} has {} sources; expected one of regex, json, csv, process, driver, compute",
            raw.id.get_ref(),
            sources.len()
        );
        return Err(reader.wrong(sources.get(1).map_or(&raw.id, |(_, text)| text), what));
    };
    let multiply = raw.multiply.unwrap_or(1.0);
    if !multiply.is_finite() {
        return Err(reader.wrong(&raw.id, "multiply is no finite number".to_owned()));
    }
    let stream = stream(reader, raw.from.as_ref())?;
    let pick = reader.one_of_or(raw.pick.as_ref(), &PICKS, Pick::Last)?;
    let numbers = reader.one_of_or(raw.numbers.as_ref(), &NUMBERS, Numbers::Plain)?;
    Ok(match source {
        "regex" => {
            let regex = value_regex(reader, text, &raw.units)?;
            Extraction::Pattern(Pattern {
                stream,
                regex,
                pick,
                units: raw.units.clone(),
                multiply,
                numbers,
            })
        }
        "json" => json(reader, text, stream, multiply)?,
        "csv" => {
            let rows_with = raw.rows_with.as_ref();
            Extraction::Csv(Csv {
                stream,
                column: text.get_ref().clone(),
                rows_with: rows_with.map(|regex| reader.regex(regex)).transpose()?,
                separator: separator(reader, raw.separator.as_ref())?,
                pick,
                multiply,
                numbers,
            })
        }
        "process" => {
            let figure = ProcessFigure::named(text.get_ref());
            let what = format!(
                "\"{}\" is not known of a process; expected one of wall, user, system, cpu, \
                 max-resident",
                text.get_ref()
            );
            Extraction::Process(figure.ok_or_else(|| reader.wrong(text, what))?)
        }
        "driver" => Extraction::Driver(text.get_ref().clone()),
        _ => Extraction::Compute(reader.expression_of_metrics(text)?),
    })
}

fn json(reader: &Reader<'_>, text: &Text, stream: Stream, multiply: f64) -> Result<Extraction> {
    let pointer = text.get_ref().clone();
    match pointer.starts_with('/') {
        true => Ok(Extraction::Json {
            stream,
            pointer,
            multiply,
        }),
        false => {
            let what = format!("\"{pointer}\" is no JSON pointer; expected /name/0/name");
            Err(reader.wrong(text, what))
        }
    }
}

/// A pattern with a group named `value`, or with one group.
fn value_regex(reader: &Reader<'_>, text: &Text, units: &BTreeMap<String, f64>) -> Result<Regex> {
    let regex = reader.regex(text)?;
    let names: Vec<&str> = regex.capture_names().flatten().collect();
    let has_value = names.contains(&"value");
    if !has_value && (regex.captures_len() != 2 || !names.is_empty()) {
        let what = "the pattern must have one group around the number, or one named value: \
                    (?<value>[0-9.]+)"
            .to_owned();
        return Err(reader.wrong(text, what));
    }
    if names.contains(&"unit") == units.is_empty() {
        let what = "a group named unit and the table units belong together".to_owned();
        return Err(reader.wrong(text, what));
    }
    Ok(regex)
}

fn separator(reader: &Reader<'_>, text: Option<&Text>) -> Result<char> {
    let Some(text) = text else { return Ok(',') };
    let mut characters = text.get_ref().chars();
    match (characters.next(), characters.next()) {
        (Some(one), None) if one.is_ascii() => Ok(one),
        _ => Err(reader.wrong(text, "the separator must be one ASCII character".to_owned())),
    }
}

fn stream(reader: &Reader<'_>, text: Option<&Text>) -> Result<Stream> {
    let Some(text) = text else {
        return Ok(Stream::Output);
    };
    Ok(match text.get_ref().as_str() {
        "output" => Stream::Output,
        "stdout" => Stream::Stdout,
        "stderr" => Stream::Stderr,
        other => match other.strip_prefix("file:") {
            Some(name) if is_plain_file(name) => Stream::File(name.to_owned()),
            _ => {
                let what = format!(
                    "\"{other}\" is no output; expected output, stdout, stderr or file:NAME (in \
                     the case's directory)"
                );
                return Err(reader.wrong(text, what));
            }
        },
    })
}

/// A name inside of the case's directory.
pub(super) fn is_plain_file(name: &str) -> bool {
    let path = std::path::Path::new(name);
    let mut parts = path.components();
    !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// All counts.
pub(super) fn counts(reader: &Reader<'_>, raw: &[RawCount]) -> Result<Vec<CountSpec>> {
    let one = |raw: &RawCount| {
        reader.check_name(&raw.id)?;
        let stream = stream(reader, raw.from.as_ref())?;
        let extraction = match (&raw.regex, &raw.matches) {
            (Some(text), None) => CountExtraction::Number(Extraction::Pattern(Pattern {
                stream,
                regex: value_regex(reader, text, &BTreeMap::new())?,
                pick: Pick::Last,
                units: BTreeMap::new(),
                multiply: 1.0,
                numbers: Numbers::Plain,
            })),
            (None, Some(text)) => CountExtraction::Matches(stream, reader.regex(text)?),
            _ => {
                let what = "a count has regex, for a number, or matches, for how often".to_owned();
                return Err(reader.wrong(&raw.id, what));
            }
        };
        Ok(CountSpec {
            id: raw.id.get_ref().clone(),
            extraction,
        })
    };
    raw.iter().map(one).collect()
}

/// All failures.
pub(super) fn failures(reader: &Reader<'_>, raw: &[RawFailure]) -> Result<Vec<FailureSpec>> {
    let one = |raw: &RawFailure| {
        Ok(FailureSpec {
            regex: reader.regex(&raw.regex)?,
            says: raw.says.clone(),
            hint: raw.hint.clone(),
        })
    };
    raw.iter().map(one).collect()
}

impl Reader<'_> {
    fn expression_of_metrics(&self, text: &Text) -> Result<Expression> {
        self.parsed(text)
    }
}

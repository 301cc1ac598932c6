use std::borrow::Cow;

use fathom_model::{Display, Entry, EntryDetails, Figure, PtsJson, Spread};
use serde_json::Value;

use crate::text::clean;
use crate::warnings::Warnings;

/// Said of an entry without value and without reason.
pub(super) const NO_VALUE: &str = "the file has no value and no reason for it";

/// An entry as it stands in the file.
#[derive(Default)]
pub(super) struct RawEntry<'a> {
    pub system: Cow<'a, str>,
    pub value: Cow<'a, str>,
    pub raw: Cow<'a, str>,
    pub json: Cow<'a, str>,
}

impl RawEntry<'_> {
    /// Turns texts into figures; what is no number stays a text.
    pub(super) fn finish(self, display: Display, place: &str, warnings: &mut Warnings) -> Entry {
        let mut entry = Entry {
            system: self.system.trim().to_owned(),
            ..Entry::default()
        };
        let mut details = EntryDetails::default();
        let value = self.value.trim();
        match display {
            Display::Line => read_line(value, &mut entry, &mut details),
            Display::PassFail | Display::MultiPassFail | Display::Image if !value.is_empty() => {
                details.text = Some(value.to_owned());
            }
            _ => match Figure::parse(value) {
                Some(figure) => entry.value = Some(figure),
                None if value.is_empty() => {}
                None => details.text = Some(value.to_owned()),
            },
        }
        self.read_raw(display, &mut entry, &mut details);
        self.read_json(&mut entry, &mut details, place, warnings);
        let is_empty = entry.value.is_none() && details.text.is_none() && details.line.is_empty();
        if is_empty && entry.error.is_none() {
            entry.error = Some(NO_VALUE.into());
        }
        if details != EntryDetails::default() {
            entry.details = Some(Box::new(details));
        }
        entry
    }

    /// The trials. For a line the list is the value once more.
    fn read_raw(&self, display: Display, entry: &mut Entry, details: &mut EntryDetails) {
        let raw = self.raw.trim();
        if raw.is_empty() || display == Display::Line && raw == self.value.trim() {
            return;
        }
        let count = raw.bytes().filter(|&b| b == b':').count() + 1;
        let mut samples = Vec::with_capacity(count);
        for trial in raw.split(':') {
            samples.extend(Figure::parse(trial));
        }
        if samples.len() != count {
            details.raw_text = Some(raw.to_owned());
        }
        if display != Display::Line && details.text.is_none() {
            entry.samples = samples;
        } else {
            details.raw_text = Some(raw.to_owned());
        }
    }

    fn read_json(
        &self,
        entry: &mut Entry,
        details: &mut EntryDetails,
        place: &str,
        warnings: &mut Warnings,
    ) {
        let json = self.json.trim();
        match PtsJson::parse(json) {
            _ if json.is_empty() => {}
            Some(parsed) => {
                entry.error = parsed
                    .text_of("error")
                    .map(|text| clean(text.into()).into());
                details.pts_json = match parsed.text().contains("\"fathom-") {
                    true => take_our_own(&parsed, entry, details),
                    false => parsed,
                };
            }
            None => {
                let text = format!("the JSON of system {} cannot be read: {json}", entry.system);
                warnings.add(place, text);
                details
                    .extra
                    .insert("pts_json_text".to_owned(), json.into());
            }
        }
    }
}

fn read_line(value: &str, entry: &mut Entry, details: &mut EntryDetails) {
    let points: Option<Vec<Figure>> = value.split(',').map(Figure::parse).collect();
    match points {
        Some(points) => {
            let sum: f64 = points.iter().map(Figure::value).sum();
            entry.value = Figure::new(sum / points.len() as f64);
            details.line = points;
        }
        None if value.is_empty() => {}
        None => details.text = Some(value.to_owned()),
    }
}

/// What our own writer put into the object goes back to where it was.
fn take_our_own(json: &PtsJson, entry: &mut Entry, details: &mut EntryDetails) -> PtsJson {
    let mut map = json.map();
    let error = map.remove("fathom-standard-error");
    let count = map.remove("fathom-count");
    if let (Some(Value::String(error)), Some(count)) = (error, count) {
        entry.spread = Figure::parse(&error)
            .zip(count.as_u64().and_then(|count| u32::try_from(count).ok()))
            .map(|(standard_error, count)| {
                Box::new(Spread {
                    standard_error,
                    count,
                })
            });
    }
    if let Some(Value::String(doubt)) = map.remove("fathom-uncertain") {
        details.uncertain = Some(doubt);
    }
    PtsJson::from_map(&map)
}

use std::collections::BTreeMap;
use std::fmt;

use fathom_model::ImplementationKind;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::{Place, SUITE_FORMAT, Suite, SuiteCase, SuiteError, SuiteOption};
use crate::settings::RunSettings;

/// The most cases a suite may list.
const CASES_LIMIT: usize = 10_000;
/// The most values an option may have in one row.
const VALUES_LIMIT: usize = 1000;
const NAME_LIMIT: usize = 64;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSuite {
    format: Spanned<i64>,
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    run: BTreeMap<Spanned<String>, Spanned<Text>>,
    #[serde(default, rename = "case")]
    cases: Vec<Spanned<RawCase>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    test: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    implementation: Option<Spanned<String>>,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, Spanned<Values>>,
    #[serde(default)]
    reason: String,
}

/// A text, or a number or truth value written as such.
struct Text(String);

/// One text or a list of them.
struct Values(Vec<String>);

pub(super) fn suite(file: &str, text: &str) -> Result<Suite, SuiteError> {
    let raw: RawSuite = toml::from_str(text).map_err(|error| SuiteError::Syntax {
        file: file.to_owned(),
        place: Place::of(text, error.span().map_or(0, |span| span.start)),
        what: error.message().trim().replace('\n', ", "),
    })?;
    let reader = Reader { file, text };
    reader.check_head(&raw)?;
    let run = reader.settings(&raw.run)?;
    let rows = raw.cases.iter();
    let cases = rows
        .map(|row| reader.case(row))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Suite {
        name: raw.name.into_inner(),
        title: raw.title,
        description: raw.description.trim().to_owned(),
        run,
        cases,
        file: file.to_owned(),
    })
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn place<T>(&self, of: &Spanned<T>) -> Place {
        Place::of(self.text, of.span().start)
    }

    fn wrong<T>(&self, at: &Spanned<T>, what: String) -> SuiteError {
        SuiteError::Syntax {
            file: self.file.to_owned(),
            place: self.place(at),
            what,
        }
    }

    fn check_head(&self, raw: &RawSuite) -> Result<(), SuiteError> {
        let format = *raw.format.get_ref();
        if format != SUITE_FORMAT {
            let what = match format > SUITE_FORMAT {
                true => "written for a newer version of Fathom; this one reads",
                false => "is not a suite format; expected",
            };
            let what = format!("format {format} {what} format {SUITE_FORMAT}");
            return Err(self.wrong(&raw.format, what));
        }
        let name = raw.name.get_ref();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !starts_well || name.len() > NAME_LIMIT || !name.bytes().all(is_plain) {
            let what = format!(
                "name \"{name}\" is not accepted; expected letters, digits, dashes, underscores \
                 and dots, a letter or digit first, at most {NAME_LIMIT} characters"
            );
            return Err(self.wrong(&raw.name, what));
        }
        if let Some(extra) = raw.cases.get(CASES_LIMIT) {
            let what = format!("a suite has at most {CASES_LIMIT} cases");
            return Err(self.wrong(extra, what));
        }
        Ok(())
    }

    fn settings(
        &self,
        raw: &BTreeMap<Spanned<String>, Spanned<Text>>,
    ) -> Result<RunSettings, SuiteError> {
        let mut settings = RunSettings::default();
        let setting = |place, source| SuiteError::Setting {
            file: self.file.to_owned(),
            place,
            source,
        };
        for (name, value) in raw {
            settings
                .set(name.get_ref(), &value.get_ref().0)
                .map_err(|source| match source {
                    crate::settings::SettingError::Unknown { .. } => {
                        setting(self.place(name), source)
                    }
                    source => setting(self.place(value), source),
                })?;
        }
        let place = raw.values().next().map(|value| self.place(value));
        settings
            .trials()
            .map_err(|source| setting(place.unwrap_or_default(), source))?;
        Ok(settings)
    }

    fn case(&self, raw: &Spanned<RawCase>) -> Result<SuiteCase, SuiteError> {
        let row = raw.get_ref();
        if row.test.is_empty() {
            return Err(self.wrong(raw, "test is empty; expected the name of a test".to_owned()));
        }
        let implementation = match &row.implementation {
            None => None,
            Some(name) => Some(self.implementation(name)?),
        };
        // The parser sorts keys; people expect the order they wrote.
        let mut options: Vec<_> = row.options.iter().collect();
        options.sort_by_key(|(name, _)| name.span().start);
        let options = options
            .into_iter()
            .map(|(name, values)| self.option(name, values))
            .collect::<Result<_, _>>()?;
        Ok(SuiteCase {
            test: row.test.clone(),
            label: row.label.clone(),
            implementation,
            options,
            reason: row.reason.trim().to_owned(),
            place: self.place(raw),
        })
    }

    fn option(
        &self,
        name: &Spanned<String>,
        values: &Spanned<Values>,
    ) -> Result<SuiteOption, SuiteError> {
        let list = &values.get_ref().0;
        if list.is_empty() || list.len() > VALUES_LIMIT {
            let what = format!(
                "option {} has {} values; expected from 1 to {VALUES_LIMIT}",
                name.get_ref(),
                list.len()
            );
            return Err(self.wrong(values, what));
        }
        Ok(SuiteOption {
            name: name.get_ref().clone(),
            values: list.clone(),
            place: self.place(values),
        })
    }

    fn implementation(&self, name: &Spanned<String>) -> Result<ImplementationKind, SuiteError> {
        match name.get_ref().as_str() {
            "native" => Ok(ImplementationKind::Native),
            "program" => Ok(ImplementationKind::Program),
            other => {
                let what = format!("implementation \"{other}\"; expected native or program");
                Err(self.wrong(name, what))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, or true or false")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<String, E> {
        Ok(number.to_string())
    }

    fn visit_bool<E: de::Error>(self, yes: bool) -> Result<String, E> {
        Ok(if yes { "yes" } else { "no" }.to_owned())
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListOrOne;
        impl<'de> Visitor<'de> for ListOrOne {
            type Value = Vec<String>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value (text, number, true or false) or a list of values")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<String>, E> {
                TextVisitor.visit_str(text).map(|text| vec![text])
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Vec<String>, E> {
                TextVisitor.visit_i64(number).map(|text| vec![text])
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Vec<String>, E> {
                TextVisitor.visit_u64(number).map(|text| vec![text])
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Vec<String>, E> {
                TextVisitor.visit_f64(number).map(|text| vec![text])
            }

            fn visit_bool<E: de::Error>(self, yes: bool) -> Result<Vec<String>, E> {
                TextVisitor.visit_bool(yes).map(|text| vec![text])
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
                let mut values = Vec::new();
                while let Some(Text(value)) = list.next_element()? {
                    values.push(value);
                }
                Ok(values)
            }
        }
        deserializer.deserialize_any(ListOrOne).map(Values)
    }
}

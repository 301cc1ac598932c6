use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use fathom_base::Nanos;

use super::DriverError;

/// Options of a driver, as typed: `scale` = `10`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(BTreeMap<String, String>);

/// An option that a driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it is when nothing is said.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }
}

impl Options {
    /// Sets one.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }
}

/// Reads a driver's options, its defaults behind them.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    driver: &'static str,
    settings: &'static [Setting],
    options: &'a Options,
}

impl<'a> Reader<'a> {
    /// Refuses options that the driver does not know.
    pub(crate) fn new(
        driver: &'static str,
        settings: &'static [Setting],
        options: &'a Options,
    ) -> Result<Self, DriverError> {
        let reader = Self {
            driver,
            settings,
            options,
        };
        let is_known = |name: &str| settings.iter().any(|setting| setting.name == name);
        match options.0.iter().find(|(name, _)| !is_known(name)) {
            None => Ok(reader),
            Some((name, value)) => {
                let names: Vec<&str> = settings.iter().map(|setting| setting.name).collect();
                Err(reader.wrong(
                    name,
                    value,
                    &format!("one of the options {}", names.join(", ")),
                ))
            }
        }
    }

    fn wrong(&self, option: &str, value: &str, expected: &str) -> DriverError {
        DriverError::Option {
            driver: self.driver,
            option: option.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// The text of an option, or its default.
    pub(crate) fn text(&self, name: &str) -> &'a str {
        let default = || {
            let setting = self.settings.iter().find(|setting| setting.name == name);
            setting.map_or("", |setting| setting.default)
        };
        self.options
            .0
            .get(name)
            .map_or_else(default, String::as_str)
    }

    /// A whole number.
    pub(crate) fn number(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<u64, DriverError> {
        let text = self.text(name);
        let number = text.trim().parse().ok();
        number.filter(|n| range.contains(n)).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            self.wrong(name, text, &format!("a whole number from {low} to {high}"))
        })
    }

    /// A number of things held in memory.
    pub(crate) fn count(
        &self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<usize, DriverError> {
        Ok(usize::try_from(self.number(name, range)?).unwrap_or(usize::MAX))
    }

    /// A duration from a millisecond to a week.
    pub(crate) fn duration(&self, name: &str) -> Result<Duration, DriverError> {
        const LIMITS: RangeInclusive<Duration> =
            Duration::from_millis(1)..=Duration::from_secs(7 * 24 * 3600);
        let text = self.text(name);
        let read = text.parse::<Nanos>().ok().map(Nanos::as_duration);
        read.filter(|duration| LIMITS.contains(duration))
            .ok_or_else(|| self.wrong(name, text, "a duration from 1ms to a week (60s)"))
    }

    /// A duration that may be nothing.
    pub(crate) fn duration_or_zero(&self, name: &str) -> Result<Duration, DriverError> {
        match self.text(name).trim() {
            "0" | "0s" => Ok(Duration::ZERO),
            _ => self.duration(name),
        }
    }

    /// A plain word that may stand in a statement as it is.
    pub(crate) fn word(&self, name: &str) -> Result<&'a str, DriverError> {
        let text = self.text(name);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
            true => Ok(text),
            false => Err(self.wrong(name, text, "a word of letters, digits and _")),
        }
    }

    /// One of a menu.
    pub(crate) fn choice<T: Copy>(
        &self,
        name: &str,
        menu: &[(&'static str, T)],
    ) -> Result<T, DriverError> {
        let text = self.text(name);
        let found = menu.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<&str> = menu.iter().map(|(word, _)| *word).collect();
            self.wrong(name, text, &format!("one of {}", words.join(", ")))
        })
    }
}

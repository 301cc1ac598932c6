use fathom_base::{Bytes, Nanos, Percent, Rate};
use serde::Serialize;

use crate::error::OptionError;

#[cfg(test)]
mod tests;
mod value;

pub use value::{SizeShares, Word, WordNumber, Worded};

/// One row of a test's option table; parser, help, reference page and web form come from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionInfo {
    /// What a user types: `block-size`.
    pub name: &'static str,
    /// What kind of value it takes.
    pub kind: OptionKind,
    /// The value when nothing is said, in the text a user would type.
    pub default: String,
    /// Proposed values, or the only ones for [`OptionKind::Choice`].
    pub menu: Vec<Choice>,
    /// Whether `none` is a value.
    pub none_allowed: bool,
    /// One sentence.
    pub help: &'static str,
}

/// A value of a menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The value as typed.
    pub value: &'static str,
    /// What it means, may be empty.
    pub help: &'static str,
}

/// The kind of value an option takes, with its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// One value of the menu.
    Choice,
    /// A size between the two, inclusive.
    Size(Bytes, Bytes),
    /// A whole number between the two, inclusive.
    Integer(u64, u64),
    /// A finite number between the two, inclusive.
    Number(f64, f64),
    /// A duration between the two, inclusive.
    Duration(Nanos, Nanos),
    /// A percentage between 0 and 100.
    Percent,
    /// A rate of operations or bytes.
    Rate,
    /// `yes` or `no`.
    Flag,
    /// Any text on one line, at most 4096 bytes.
    Text,
    /// One of these words, some with a number: `uniform`, `zipf:1.2` (see [`Worded`]).
    Word(&'static [Word]),
    /// Sizes between the two with their shares: `4KiB/60:64KiB/40` (see [`SizeShares`]).
    SizeShares(Bytes, Bytes),
}

const TEXT_LIMIT: usize = 4096;

impl OptionInfo {
    /// An option with an empty menu that does not accept `none`.
    pub fn new(
        name: &'static str,
        kind: OptionKind,
        default: impl Into<String>,
        help: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            default: default.into(),
            menu: Vec::new(),
            none_allowed: false,
            help,
        }
    }

    /// Adds the menu, values without help.
    #[must_use]
    pub fn menu(mut self, values: &[&'static str]) -> Self {
        self.menu
            .extend(values.iter().map(|value| Choice { value, help: "" }));
        self
    }

    /// Adds one value with its help to the menu.
    #[must_use]
    pub fn choice(mut self, value: &'static str, help: &'static str) -> Self {
        self.menu.push(Choice { value, help });
        self
    }

    /// Lets the option be `none`.
    #[must_use]
    pub fn or_none(mut self) -> Self {
        self.none_allowed = true;
        self
    }

    /// Checks a typed value and gives its canonical text (`4k` becomes `4KiB`).
    ///
    /// # Errors
    /// [`OptionError::Value`] with what was expected and, for a menu, the nearest value.
    pub fn canonical(&self, test: &str, value: &str) -> Result<String, OptionError> {
        let value = value.trim();
        if self.none_allowed && value == "none" {
            return Ok(value.to_owned());
        }
        self.canonical_of_kind(value)
            .map_err(|expected| OptionError::Value {
                test: test.to_owned(),
                option: self.name.to_owned(),
                value: value.to_owned(),
                nearest: nearest(value, self.menu.iter().map(|choice| choice.value)),
                expected: if self.none_allowed {
                    format!("{expected}, or none")
                } else {
                    expected
                },
            })
    }

    fn canonical_of_kind(&self, value: &str) -> Result<String, String> {
        match self.kind {
            OptionKind::Choice => {
                let values: Vec<&str> = self.menu.iter().map(|choice| choice.value).collect();
                match values.contains(&value) {
                    true => Ok(value.to_owned()),
                    false => Err(format!("one of {}", values.join(", "))),
                }
            }
            OptionKind::Size(low, high) => within(value.parse::<Bytes>(), low, high),
            OptionKind::Duration(low, high) => within(value.parse::<Nanos>(), low, high),
            OptionKind::Integer(low, high) => {
                let number = value.parse::<u64>().map_err(|_| "a whole number");
                within(number, low, high)
            }
            OptionKind::Number(low, high) => {
                let number = value
                    .parse::<f64>()
                    .ok()
                    .filter(|number| number.is_finite());
                within(number.ok_or("a number"), low, high)
            }
            OptionKind::Percent => {
                let low = Percent::default();
                let high = Percent::new(100.0).unwrap_or_default();
                within(value.parse::<Percent>(), low, high)
            }
            OptionKind::Rate => match value.parse::<Rate>() {
                Ok(rate) => Ok(rate.to_string()),
                Err(error) => Err(error.expected.to_owned()),
            },
            OptionKind::Flag => match value {
                "yes" | "true" | "on" | "1" => Ok("yes".to_owned()),
                "no" | "false" | "off" | "0" => Ok("no".to_owned()),
                _ => Err("yes or no".to_owned()),
            },
            OptionKind::Text => match value.len() <= TEXT_LIMIT && !value.contains('\n') {
                true => Ok(value.to_owned()),
                false => Err(format!("one line of at most {TEXT_LIMIT} bytes")),
            },
            OptionKind::Word(words) => value::canonical_word(words, value),
            OptionKind::SizeShares(low, high) => match value.parse::<SizeShares>() {
                Ok(shares) if shares.are_within(low, high) => Ok(shares.to_string()),
                Ok(_) => Err(format!("sizes from {low} to {high}")),
                Err(error) => Err(error.expected.to_owned()),
            },
        }
    }
}

/// What a parser says it expected.
trait Expected {
    fn expected(&self) -> String;
}

impl Expected for fathom_base::UnitError {
    fn expected(&self) -> String {
        self.expected.to_owned()
    }
}

impl Expected for &str {
    fn expected(&self) -> String {
        (*self).to_owned()
    }
}

fn within<T, E>(parsed: Result<T, E>, low: T, high: T) -> Result<String, String>
where
    T: PartialOrd + std::fmt::Display,
    E: Expected,
{
    match parsed {
        Ok(value) if value >= low && value <= high => Ok(value.to_string()),
        Ok(_) => Err(format!("a value from {low} to {high}")),
        Err(error) => Err(error.expected()),
    }
}

/// The candidate nearest to `typed` by edit distance, when it is near enough to be meant.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let limit = (typed.chars().count() / 2).max(1);
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(typed, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit || candidate.starts_with(typed))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate.to_owned())
}

/// Levenshtein distance over characters; both texts are cut at 64 characters.
fn edit_distance(a: &str, b: &str) -> usize {
    const LIMIT: usize = 64;
    let b: Vec<char> = b.chars().take(LIMIT).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().take(LIMIT).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

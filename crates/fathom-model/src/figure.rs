use std::fmt;

use serde::{Deserialize, Serialize};

/// A number and, when it was read from print, the text it was printed with.
///
/// The text is kept because its decimals say how precise the print was; formulas use the `f64`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "FigureShape"))]
pub struct Figure {
    value: f64,
    text: Option<Box<str>>,
}

impl Figure {
    /// A measured number; `None` when it is not finite.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self { value, text: None })
    }

    /// A printed number, its text kept; `None` when the trimmed text is no finite number.
    ///
    /// ```
    /// let figure = fathom_model::Figure::parse("309.40").unwrap();
    /// assert_eq!((figure.value(), figure.decimals()), (309.4, 2));
    /// assert!(fathom_model::Figure::parse("inf").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > MAX_TEXT || !text.bytes().all(is_number_byte) {
            return None;
        }
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
        let text_says_more = !is_shortest(text) && value.to_string() != text;
        Some(Self {
            value,
            text: text_says_more.then(|| text.into()),
        })
    }

    /// The number.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// How many decimals the text shows.
    pub fn decimals(&self) -> usize {
        let text = self.to_string();
        text.split_once('.').map_or(0, |(_, decimals)| {
            decimals.bytes().take_while(u8::is_ascii_digit).count()
        })
    }
}

impl fmt::Display for Figure {
    /// The text it was printed with, else the shortest text that reads back as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => f.pad(text),
            None => f.pad(&self.value.to_string()),
        }
    }
}

/// Longest text taken for a number.
const MAX_TEXT: usize = 400;

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(&byte)
}

/// Whether a number's own shortest text certainly is this text: at most 15 digits, which a `f64`
/// holds exactly, and no zero that could be left out. Spares formatting nearly every number of a
/// large file.
fn is_shortest(text: &str) -> bool {
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.len() <= 16
        && all_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && decimals.is_none_or(|part| all_digits(part) && !part.ends_with('0'))
        && text.len() - usize::from(decimals.is_some()) <= 15
}

/// On disk: a bare number, or a string when the print has more to it than the number.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum FigureShape {
    Number(f64),
    Text(String),
}

impl Serialize for Figure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.text {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_f64(self.value),
        }
    }
}

impl<'de> Deserialize<'de> for Figure {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FigureVisitor)
    }
}

struct FigureVisitor;

impl serde::de::Visitor<'_> for FigureVisitor {
    type Value = Figure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a finite number or its printed text")
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Figure, E> {
        Figure::new(value)
            .ok_or_else(|| E::invalid_value(serde::de::Unexpected::Float(value), &self))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Figure, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Figure, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Figure, E> {
        Figure::parse(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests;

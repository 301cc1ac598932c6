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
        if let Some((value, says_more)) = parse_plain(text.as_bytes()) {
            return Some(Self {
                value,
                text: says_more.then(|| text.into()),
            });
        }
        if text.len() > MAX_TEXT || !text.bytes().all(is_number_byte) {
            return None;
        }
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite())?;
        Some(Self {
            value,
            text: (value.to_string() != text).then(|| text.into()),
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

/// Reads digits with at most one point, at most 15 digits in all: such a number and the power of
/// ten it is divided by are exact in an `f64`, so that the quotient is the nearest one. Nearly
/// every number of a large file is of this kind. Also tells whether the text says more than the
/// number: zeros that could be left out.
fn parse_plain(text: &[u8]) -> Option<(f64, bool)> {
    const POWERS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    let mut digits: u64 = 0;
    let mut point = None;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => digits = digits * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(at),
            _ => return None,
        }
    }
    let whole = point.unwrap_or(text.len());
    let decimals = text.len() - whole - usize::from(point.is_some());
    if whole == 0 || whole + decimals > 15 || point.is_some() && decimals == 0 {
        return None;
    }
    let leading_zero = whole > 1 && text[0] == b'0';
    let trailing_zero = decimals > 0 && text[text.len() - 1] == b'0';
    Some((
        digits as f64 / POWERS[decimals],
        leading_zero || trailing_zero,
    ))
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

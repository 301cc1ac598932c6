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
        let is_number = text
            .bytes()
            .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        let value = text
            .parse::<f64>()
            .ok()
            .filter(|value| is_number && value.is_finite())?;
        let has_own_text = value.to_string() != text;
        Some(Self {
            value,
            text: has_own_text.then(|| text.into()),
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

/// On disk: a bare number, or a string when the print has more to it than the number.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
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
        let error = || serde::de::Error::custom("expected a finite number or its printed text");
        match FigureShape::deserialize(deserializer)? {
            FigureShape::Number(value) => Self::new(value).ok_or_else(error),
            FigureShape::Text(text) => Self::parse(&text).ok_or_else(error),
        }
    }
}

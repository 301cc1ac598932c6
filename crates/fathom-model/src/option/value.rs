//! Values with more than one part.

use std::fmt;
use std::str::FromStr;

use fathom_base::{Bytes, Percent, UnitError};
use serde::Serialize;

/// A word of an option of kind [`crate::OptionKind::Word`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Word {
    /// The word: `zipf`.
    pub word: &'static str,
    /// The number behind it, `zipf:1.2`; `None` for a word that takes none.
    pub number: Option<WordNumber>,
}

/// The number of a [`Word`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WordNumber {
    /// Smallest, inclusive.
    pub low: f64,
    /// Largest, inclusive.
    pub high: f64,
    /// When only the word is typed.
    pub default: f64,
}

impl Word {
    /// A word that stands alone.
    pub const fn plain(word: &'static str) -> Self {
        Self { word, number: None }
    }

    /// A word with a number between `low` and `high`, inclusive.
    pub const fn with_number(word: &'static str, low: f64, high: f64, default: f64) -> Self {
        Self {
            word,
            number: Some(WordNumber { low, high, default }),
        }
    }

    fn form(&self) -> String {
        match self.number {
            None => self.word.to_owned(),
            Some(number) => format!("{}:NUMBER ({} to {})", self.word, number.low, number.high),
        }
    }
}

/// Canonical text of a value of kind [`crate::OptionKind::Word`], else what was expected.
pub(super) fn canonical_word(words: &[Word], value: &str) -> Result<String, String> {
    let expected = || {
        let forms: Vec<String> = words.iter().map(Word::form).collect();
        format!("one of {}", forms.join(", "))
    };
    let (word, number) = match value.split_once(':') {
        Some((word, number)) => (word.trim_end(), Some(number.trim_start())),
        None => (value, None),
    };
    let known = words
        .iter()
        .find(|known| known.word == word)
        .ok_or_else(expected)?;
    match (known.number, number) {
        (None, None) => Ok(word.to_owned()),
        (None, Some(_)) => Err(expected()),
        (Some(range), None) => Ok(format!("{word}:{}", range.default)),
        (Some(range), Some(typed)) => {
            let number: f64 = typed.parse().map_err(|_| expected())?;
            match number >= range.low && number <= range.high {
                // Adding zero turns -0 into 0.
                true => Ok(format!("{word}:{}", number + 0.0)),
                false => Err(expected()),
            }
        }
    }
}

/// A parsed value of kind [`crate::OptionKind::Word`]: `zipf:1.2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Worded {
    /// The word.
    pub word: String,
    /// The number, when there is one.
    pub number: Option<f64>,
}

impl FromStr for Worded {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (word, number) = match text.split_once(':') {
            None => (text, None),
            Some((word, number)) => {
                let number = number
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite());
                let number = number.ok_or_else(|| UnitError {
                    text: text.to_owned(),
                    what: "word with a number",
                    expected: "a word, or a word and a number (zipf:1.2)",
                })?;
                (word, Some(number))
            }
        };
        Ok(Self {
            word: word.to_owned(),
            number,
        })
    }
}

/// Sizes with their shares of a hundred: `4KiB/60:64KiB/40`.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeShares(Vec<(Bytes, Percent)>);

impl SizeShares {
    /// Most sizes of a split.
    pub const LIMIT: usize = 16;

    /// The sizes and shares, as typed; at least one, shares above 0 that add up to 100.
    pub fn parts(&self) -> &[(Bytes, Percent)] {
        &self.0
    }

    pub(super) fn are_within(&self, low: Bytes, high: Bytes) -> bool {
        self.0.iter().all(|(size, _)| (low..=high).contains(size))
    }
}

impl FromStr for SizeShares {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let error = || UnitError {
            text: text.to_owned(),
            what: "split of sizes",
            expected: "1 to 16 sizes with shares that add up to 100 (4KiB/60:64KiB/40)",
        };
        let mut parts = Vec::new();
        for part in text.split(':') {
            let (size, share) = part.split_once('/').ok_or_else(error)?;
            let size = size.trim().parse::<Bytes>().map_err(|_| error())?;
            let share = share.trim().parse::<Percent>().map_err(|_| error())?;
            if size.as_u64() == 0 || share.value() <= 0.0 || parts.len() == Self::LIMIT {
                return Err(error());
            }
            parts.push((size, share));
        }
        let sum: f64 = parts.iter().map(|(_, share)| share.value()).sum();
        match (sum - 100.0).abs() < 1e-6 {
            true => Ok(Self(parts)),
            false => Err(error()),
        }
    }
}

impl fmt::Display for SizeShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self
            .0
            .iter()
            .map(|(size, share)| format!("{size}/{}", share.value()))
            .collect();
        f.pad(&parts.join(":"))
    }
}

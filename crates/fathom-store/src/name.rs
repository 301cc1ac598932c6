use std::fmt;

use fathom_base::WallTime;
use jiff::Timestamp;
use jiff::tz::TimeZone;

#[cfg(test)]
mod tests;

/// The most characters a name may have.
pub const NAME_LIMIT: usize = 126;
/// Names that mean something else on the command line.
const RESERVED: [&str; 1] = ["latest"];

/// A name a result can be saved under: letters, digits, dashes, underscores and dots, a letter or
/// digit first, at most [`NAME_LIMIT`] of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultName(String);

/// A text that cannot be a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// It is empty.
    #[error("the name is empty; expected letters, digits, dashes, underscores and dots")]
    Empty,
    /// It is too long.
    #[error("the name \"{start}...\" has {length} characters; the limit is {NAME_LIMIT}")]
    TooLong {
        /// How it begins.
        start: String,
        /// How long it is.
        length: usize,
    },
    /// A character does not fit.
    #[error(
        "the name \"{name}\" holds {found:?}; expected letters, digits, dashes, underscores and \
         dots, a letter or digit first{}", suggested(.name)
    )]
    Character {
        /// As given.
        name: String,
        /// The first character that does not fit.
        found: char,
    },
    /// The name means something else.
    #[error("the name \"{name}\" has a meaning of its own; choose another one")]
    Reserved {
        /// As given.
        name: String,
    },
}

fn suggested(name: &str) -> String {
    match ResultName::from_words(name) {
        Some(name) => format!("; {name} would do"),
        None => String::new(),
    }
}

impl ResultName {
    /// Checks a name.
    ///
    /// # Errors
    /// [`NameError`] with what is wrong and what would do.
    pub fn new(name: &str) -> Result<Self, NameError> {
        let Some(first) = name.chars().next() else {
            return Err(NameError::Empty);
        };
        let length = name.chars().count();
        if length > NAME_LIMIT {
            return Err(NameError::TooLong {
                start: name.chars().take(30).collect(),
                length,
            });
        }
        let wrong = match first.is_ascii_alphanumeric() {
            true => name.chars().find(|character| !fits(*character)),
            false => Some(first),
        };
        if let Some(found) = wrong {
            return Err(NameError::Character {
                name: name.to_owned(),
                found,
            });
        }
        if RESERVED.contains(&name) {
            return Err(NameError::Reserved {
                name: name.to_owned(),
            });
        }
        Ok(Self(name.to_owned()))
    }

    /// Makes a name of any text, as the Phoronix Test Suite does: what does not fit becomes a dash,
    /// dashes are not repeated, the end is cut. `None` when nothing is left.
    pub fn from_words(text: &str) -> Option<Self> {
        let mut name = String::new();
        for character in text.chars() {
            match fits(character) && character != '-' {
                true => name.push(character),
                false if !name.ends_with('-') => name.push('-'),
                false => {}
            }
        }
        let name = name.trim_start_matches(|first: char| !first.is_ascii_alphanumeric());
        let end = name.len().min(NAME_LIMIT);
        Self::new(name[..end].trim_end_matches('-')).ok()
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name with a number after it; the name gives way where both would be too long.
    pub(crate) fn numbered(&self, number: u32) -> Self {
        let suffix = format!("-{number}");
        let kept = self.0.len().min(NAME_LIMIT - suffix.len());
        Self(format!("{}{suffix}", &self.0[..kept]))
    }
}

impl fmt::Display for ResultName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

fn fits(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.')
}

/// The name of a result nobody named: the day in the given zone, and what was run.
pub fn default_name(at: WallTime, zone: &TimeZone, what: &str) -> ResultName {
    let time = Timestamp::from_millisecond(at.unix_ms()).unwrap_or_default();
    let day = time
        .to_zoned_datetime(zone.clone())
        .strftime("%Y-%m-%d")
        .to_string();
    let name = ResultName::from_words(&format!("{day}-{what}"));
    // A day alone is a name whatever `what` holds.
    name.unwrap_or(ResultName(day))
}

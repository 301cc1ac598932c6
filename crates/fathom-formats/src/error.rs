use std::fmt;

use crate::Format;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The error below is about this file.
    #[error("{name}: {source}")]
    File {
        /// The name as given.
        name: String,
        /// What is wrong with it.
        source: Box<FormatError>,
    },
    /// There is nothing in it.
    #[error("the file is empty; expected a result file (fathom import --help lists the kinds)")]
    Empty,
    /// It is none of the formats that are known.
    #[error("not a result file of a known kind: {found}; expected {expected}")]
    Unrecognised {
        /// What it seems to be, or how it begins.
        found: String,
        /// What would be read.
        expected: &'static str,
    },
    /// It is known, and cannot be read as a result.
    #[error("{format} holds no result that can be read: {reason}")]
    Unsupported {
        /// What it is.
        format: Format,
        /// Why not, and what to do.
        reason: String,
    },
    /// It does not follow its format.
    #[error("{format}, {place}: {what}")]
    Syntax {
        /// The format.
        format: Format,
        /// Where.
        place: Place,
        /// What was found and expected.
        what: String,
    },
    /// A limit against hostile files is exceeded.
    #[error("{what}: {found}, the limit is {limit}")]
    Limit {
        /// What is limited: `size of the file in bytes`.
        what: &'static str,
        /// How much it is.
        found: u64,
        /// How much it may be.
        limit: u64,
    },
    /// It was written by a later version.
    #[error(
        "result file of format version {found}, and this Fathom reads up to version {known}; \
         read it with a newer Fathom"
    )]
    Newer {
        /// Its version.
        found: u64,
        /// The newest version known here.
        known: u32,
    },
}

impl FormatError {
    /// The same error of a part of a text, said of the whole: the part begins at `start`.
    #[must_use]
    pub(crate) fn moved(mut self, whole: &[u8], start: usize) -> Self {
        if let Self::Syntax { place, .. } = &mut self {
            let begin = Place::at(whole, start);
            if place.line <= 1 {
                place.column += begin.column - 1;
            }
            place.line = place.line.max(1) + begin.line - 1;
        }
        self
    }

    /// The same error, said of a file.
    #[must_use]
    pub fn in_file(self, name: &str) -> Self {
        match (name, &self) {
            ("", _) | (_, Self::File { .. }) => self,
            (name, _) => Self::File {
                name: name.to_owned(),
                source: Box::new(self),
            },
        }
    }
}

/// A place in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1; 0 when it has none.
    pub line: usize,
    /// Column in bytes, from 1; 0 when it has none.
    pub column: usize,
    /// The way there: `results[3].entries[0].value`, `Result 4, Entry 2`; may be empty.
    pub path: String,
}

impl Place {
    /// A line.
    pub fn line(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// The line and column of a byte of a text.
    pub fn at(bytes: &[u8], offset: usize) -> Self {
        let before = &bytes[..offset.min(bytes.len())];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        Self {
            line: 1 + before.iter().filter(|&&b| b == b'\n').count(),
            column: before.len() - line_start + 1,
            path: String::new(),
        }
    }

    /// The same place, with the way there.
    #[must_use]
    pub fn with_path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column, self.path.as_str()) {
            (0, _, "") => f.write_str("somewhere"),
            (0, _, path) => f.write_str(path),
            (line, 0, "") => write!(f, "line {line}"),
            (line, 0, path) => write!(f, "line {line} ({path})"),
            (line, column, "") => write!(f, "line {line}, column {column}"),
            (line, column, path) => write!(f, "line {line}, column {column} ({path})"),
        }
    }
}

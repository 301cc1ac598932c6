use std::fmt;

use crate::FormatError;
use crate::text::without_bom;

/// The kinds of file that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Fathom's own.
    Native,
    /// `composite.xml` of the Phoronix Test Suite.
    PtsXml,
}

impl Format {
    /// Stable name: `pts-xml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "fathom",
            Self::PtsXml => "pts-xml",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "Fathom result file",
            Self::PtsXml => "PTS result file (XML)",
        })
    }
}

/// What would be read, for errors.
const EXPECTED: &str = "a Fathom result";

/// Tells the format of a file by its content.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let bytes = without_bom(bytes).trim_ascii_start();
    let head = &bytes[..bytes.len().min(4096)];
    if head.starts_with(b"{") && contains(head, b"\"fathom_result\"") {
        return Some(Format::Native);
    }
    if contains(head, b"<PhoronixTestSuite") {
        return Some(Format::PtsXml);
    }
    None
}

pub(crate) fn unrecognised(bytes: &[u8]) -> FormatError {
    if bytes.trim_ascii().is_empty() {
        return FormatError::Empty;
    }
    FormatError::Unrecognised {
        found: "unknown".into(),
        expected: EXPECTED,
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

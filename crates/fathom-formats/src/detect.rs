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
    /// Text export of PTS or OpenBenchmarking.org.
    PtsText,
    /// Text layer of a result page, HTML or PDF.
    PtsPage,
    /// CSV export of PTS.
    PtsCsv,
    /// CSV export of the trials by PTS.
    PtsRawCsv,
    /// JSON export of PTS.
    PtsJson,
}

impl Format {
    /// Stable name: `pts-xml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "fathom",
            Self::PtsXml => "pts-xml",
            Self::PtsText => "pts-text",
            Self::PtsPage => "pts-page",
            Self::PtsCsv => "pts-csv",
            Self::PtsRawCsv => "pts-raw-csv",
            Self::PtsJson => "pts-json",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "Fathom result file",
            Self::PtsXml => "PTS result file (XML)",
            Self::PtsText => "PTS text export",
            Self::PtsPage => "text of an OpenBenchmarking.org page",
            Self::PtsCsv => "PTS CSV export",
            Self::PtsRawCsv => "PTS raw CSV export",
            Self::PtsJson => "PTS JSON export",
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
    if bytes.starts_with(b"{") {
        return detect_json(bytes);
    }
    if let Some(format) = detect_csv(head) {
        return Some(format);
    }
    if is_page(bytes) {
        return Some(Format::PtsPage);
    }
    if is_pts_text(bytes) {
        return Some(Format::PtsText);
    }
    None
}

fn detect_json(bytes: &[u8]) -> Option<Format> {
    // The keys stand at the top or behind the description of the systems.
    let near = &bytes[..bytes.len().min(1 << 20)];
    (contains(near, b"\"results\"") && contains(near, b"\"title\"")).then_some(Format::PtsJson)
}

fn detect_csv(head: &[u8]) -> Option<Format> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next()?, lines.next()?);
    if first.starts_with(',') && second.starts_with(",,\"") {
        return Some(Format::PtsCsv);
    }
    let is_raw = first.ends_with(',') && second.starts_with('"') && second.ends_with("\",");
    let has_direction = || text.contains("Results Are Better");
    (is_raw && has_direction()).then_some(Format::PtsRawCsv)
}

/// The watermark glued to units, and a table of keys glued together.
fn is_page(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 20)];
    let has_keys = [
        &b"ProcessorM"[..],
        b"ProcessorC",
        b"MemoryDisk",
        b"OSKernel",
    ];
    contains(head, b"OpenBenchmarking.org")
        && contains(head, b" Is Better")
        && has_keys.iter().any(|keys| contains(head, keys))
}

/// A unit with its direction and a bar, or rows of dots.
fn is_pts_text(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1 << 20)];
    [&b" Is Better"[..], b" |="]
        .iter()
        .all(|mark| contains(head, mark))
        && (contains(head, b". ") || contains(head, b".. "))
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

//! Tells the format of a file by its content.

mod other;
#[cfg(test)]
mod tests;

use std::fmt;

pub use other::Other;

use crate::text::without_bom;
use crate::{FormatError, fio};

/// How much of a file is looked at.
const LOOKED_AT: usize = 1 << 20;

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
    /// JSON or JSON+ output of fio.
    FioJson,
    /// Normal output of fio.
    FioText,
    /// Terse output of fio.
    FioTerse,
    /// Bandwidth, IOPS or latency log of fio.
    FioLog,
    /// A file that is known and holds no result: a job file, a test profile, a log of another
    /// tool. [`import`](crate::import) says what it is and what to do.
    Other(Other),
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
            Self::FioJson => "fio-json",
            Self::FioText => "fio-text",
            Self::FioTerse => "fio-terse",
            Self::FioLog => "fio-log",
            Self::Other(other) => other.name(),
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
            Self::FioJson => "fio JSON output",
            Self::FioText => "fio text output",
            Self::FioTerse => "fio terse output",
            Self::FioLog => "fio log",
            Self::Other(other) => other.title(),
        })
    }
}

/// What is read, for errors.
const EXPECTED: &str = "a Fathom result file, a PTS result (composite.xml, its text, CSV or JSON \
                        export, the text of an OpenBenchmarking.org page), or fio output (JSON, \
                        text, terse)";

/// Tells the format of a file by its content; `None` when it is none that is known.
pub fn detect(bytes: &[u8]) -> Option<Format> {
    let whole = bytes;
    if matches!(bytes, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        let (text, _) = crate::text::decode(&bytes[..bytes.len().min(LOOKED_AT)]);
        return detect(text.as_bytes());
    }
    let bytes = without_bom(bytes).trim_ascii_start();
    let head = &bytes[..bytes.len().min(4096)];
    // Other tools sort keys, and then it comes after all cases.
    if head.starts_with(b"{") && contains(bytes, b"\"fathom_result\"") {
        return Some(Format::Native);
    }
    if contains(head, b"<PhoronixTestSuite") {
        return Some(match other::detect(bytes) {
            Some(Other::PtsDefinition) => Format::Other(Other::PtsDefinition),
            _ => Format::PtsXml,
        });
    }
    let near = &bytes[..bytes.len().min(LOOKED_AT)];
    if contains(near, b"\"fio version\"") || contains(near, b"\"jobname\"") {
        return Some(Format::FioJson);
    }
    let has = |key: &[u8]| contains(near, key);
    if bytes.starts_with(b"{") && has(b"\"results\"") && (has(b"\"title\"") || has(b"\"systems\""))
    {
        return Some(Format::PtsJson);
    }
    if let Some(format) = detect_csv(head) {
        return Some(format);
    }
    if is_page(near) {
        return Some(Format::PtsPage);
    }
    if is_pts_text(near) {
        return Some(Format::PtsText);
    }
    detect_lines(near).or_else(|| other::detect(whole).map(Format::Other))
}

/// Formats told by their lines.
fn detect_lines(near: &[u8]) -> Option<Format> {
    let text = String::from_utf8_lossy(near);
    if text.lines().take(200).any(fio::is_terse) {
        return Some(Format::FioTerse);
    }
    if fio::is_report(&text) {
        return Some(Format::FioText);
    }
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(5)
        .peekable();
    (lines.peek().is_some() && lines.all(is_log_line)).then_some(Format::FioLog)
}

/// `500, 1234, 0, 4096` and more columns.
fn is_log_line(line: &str) -> bool {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let is_number = |text: &&&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    columns.len() >= 4 && columns.iter().take(4).filter(is_number).count() == 4
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
    let head = bytes;
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
    let head = bytes;
    [&b" Is Better"[..], b" |="]
        .iter()
        .all(|mark| contains(head, mark))
        && (contains(head, b". ") || contains(head, b".. "))
}

pub(crate) fn unrecognised(bytes: &[u8]) -> FormatError {
    if bytes.trim_ascii().is_empty() {
        return FormatError::Empty;
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
    let is_text = !bytes[..bytes.len().min(4096)].contains(&0);
    FormatError::Unrecognised {
        found: match is_text {
            true => format!("it begins with {:?}", start.trim()),
            false => "it is binary".to_owned(),
        },
        expected: EXPECTED,
    }
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    let Some((first, rest)) = needle.split_first() else {
        return true;
    };
    let mut from = 0;
    while let Some(found) = haystack[from..].iter().position(|b| b == first) {
        let at = from + found + 1;
        if haystack[at..].starts_with(rest) {
            return true;
        }
        from = at;
    }
    false
}

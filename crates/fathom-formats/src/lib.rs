//! File syntax: bytes in, values out. Nothing here touches the file system.
//!
//! ```
//! let bytes = br#"{"fathom_result": 1, "title": "A drive"}"#;
//! assert_eq!(fathom_formats::detect(bytes), Some(fathom_formats::Format::Native));
//! let file = fathom_formats::import(bytes, "drive.json")?;
//! assert_eq!(file.title, "A drive");
//! # Ok::<(), fathom_formats::FormatError>(())
//! ```

pub mod csv;
mod detect;
mod error;
pub mod fio;
mod json;
pub mod native;
pub mod pts;
mod references;
mod text;
mod warnings;

pub use detect::{Format, Other, detect};
pub use error::{FormatError, Place};
use fathom_model::ResultFile;
pub use references::references;

/// The largest file that is read.
pub const MAX_BYTES: usize = 256 << 20;

/// Reads a result file of any known format; the format is told by the content, the name only
/// appears in texts.
///
/// # Errors
/// [`FormatError`] with the name, the place, and what was expected.
pub fn import(bytes: &[u8], name: &str) -> Result<ResultFile, FormatError> {
    let mut file = read_any(bytes, name).map_err(|error| error.in_file(name))?;
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if let Some(origin) = &mut file.origin
        && origin.name.is_empty()
    {
        base.clone_into(&mut origin.name);
    }
    fio::name_after_file(&mut file, base);
    Ok(file)
}

fn read_any(bytes: &[u8], name: &str) -> Result<ResultFile, FormatError> {
    check_size(bytes)?;
    match detect(bytes) {
        Some(Format::Native) => native::read(bytes),
        Some(Format::PtsXml) => pts::read_xml(bytes),
        Some(Format::PtsText) => pts::read_text(bytes),
        Some(Format::PtsPage) => pts::read_page(bytes),
        Some(Format::PtsCsv) => pts::read_csv(bytes),
        Some(Format::PtsRawCsv) => pts::read_raw_csv(bytes),
        Some(Format::PtsJson) => pts::read_json(bytes),
        Some(Format::FioJson) => fio::read_json(bytes),
        Some(Format::FioText) => fio::read_text(bytes),
        Some(Format::FioTerse) => fio::read_terse(bytes),
        Some(Format::FioLog) => fio::read_log(bytes, name),
        Some(format @ Format::Other(other)) => Err(FormatError::Unsupported {
            format,
            reason: other.reason().to_owned(),
        }),
        None => Err(detect::unrecognised(bytes)),
    }
}

fn check_size(bytes: &[u8]) -> Result<(), FormatError> {
    match bytes.len() > MAX_BYTES {
        true => Err(FormatError::Limit {
            what: "size of the file in bytes",
            found: bytes.len() as u64,
            limit: MAX_BYTES as u64,
        }),
        false => Ok(()),
    }
}

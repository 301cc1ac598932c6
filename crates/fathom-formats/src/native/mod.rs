//! Fathom's own result file: one JSON document, format version first.
//!
//! Reading is tolerant of fields it does not know (they survive, see `docs/schema`), strict about
//! the shape of those it knows. The same file always gives the same bytes: the outer levels of the
//! document are broken into lines, so that two versions of a result can be compared line by line,
//! and everything from an entry or trial on stands on one line.

mod layout;
#[cfg(test)]
mod tests;

use fathom_model::{FORMAT_VERSION, ResultFile};
use serde::{Deserialize, Serialize};

use crate::json;
use crate::{Format, FormatError, Place};

/// Reads a native result file.
///
/// ```
/// let file = fathom_formats::native::read(br#"{"fathom_result":1,"title":"a","later":[1]}"#)?;
/// assert_eq!(file.extra["later"], serde_json::json!([1]));
/// let error = fathom_formats::native::read(br#"{"fathom_result":9}"#).unwrap_err();
/// assert!(error.to_string().contains("newer Fathom"));
/// # Ok::<(), fathom_formats::FormatError>(())
/// ```
///
/// # Errors
/// [`FormatError::Newer`] for a later format version, [`FormatError::Syntax`] with line, column
/// and path for anything malformed, [`FormatError::Limit`] for a file over 256 MiB or of absurdly
/// many objects.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    let bytes = crate::text::without_bom(bytes);
    crate::check_size(bytes)?;
    json::check_objects(bytes)?;
    match serde_json::from_slice::<ResultFile>(bytes) {
        Ok(file) => {
            check_version(u64::from(file.fathom_result))?;
            Ok(file)
        }
        Err(error) => {
            // A later version may have another shape: say that first.
            if let Ok(probe) = serde_json::from_slice::<Probe>(bytes) {
                check_version(probe.fathom_result)?;
            }
            Err(json::syntax(Format::Native, bytes, &error))
        }
    }
}

/// Writes a native result file; the same value gives the same bytes.
pub fn write(file: &ResultFile) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer =
        serde_json::Serializer::with_formatter(&mut bytes, layout::Layout::default());
    let written = file.serialize(&mut serializer);
    // Writing to memory cannot fail, and every map of the model has text keys.
    assert!(written.is_ok(), "a result file is always representable");
    bytes.push(b'\n');
    bytes
}

#[derive(Deserialize)]
struct Probe {
    #[serde(default)]
    fathom_result: u64,
}

fn check_version(found: u64) -> Result<(), FormatError> {
    match found {
        0 => Err(FormatError::Syntax {
            format: Format::Native,
            place: Place::default().with_path("fathom_result"),
            what: format!(
                "the format version is missing; expected \"fathom_result\": {FORMAT_VERSION}"
            ),
        }),
        found if found > u64::from(FORMAT_VERSION) => Err(FormatError::Newer {
            found,
            known: FORMAT_VERSION,
        }),
        _ => Ok(()),
    }
}

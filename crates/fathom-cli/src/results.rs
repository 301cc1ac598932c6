//! What a `RESULT` on the command line means.

use std::path::Path;

use fathom_base::files::read_limited;
use fathom_model::{ResultFile, nearest};
use fathom_store::{ResultName, Store, StoreError};

use crate::exit::Exit;
use crate::failure::Failure;

/// A result, and where it came from.
#[derive(Debug)]
pub struct Loaded {
    /// The name a person would use: a saved name or a path.
    pub name: String,
    /// The name in the store, when it is saved there.
    pub saved: Option<ResultName>,
    /// Its content.
    pub file: ResultFile,
}

impl Loaded {
    /// Leaves the memory to the end of the process, which is near: giving a large result back piece
    /// by piece takes as long as reading a part of it.
    pub fn leave(self) {
        std::mem::forget(self.file);
    }
}

/// Finds and reads a result: `latest`, a saved name, the path of a file, or the name of a public
/// result that ships with Fathom.
///
/// A text with a slash is a path; else a saved name comes first.
///
/// # Errors
/// [`Failure`] with the nearest saved name, or with what is wrong with the file.
pub fn load(store: &Store, text: &str) -> Result<Loaded, Failure> {
    let path = Path::new(text);
    if text.contains('/') {
        return from_file(path);
    }
    match store.resolve(text) {
        Ok(name) => Ok(Loaded {
            file: store.load(&name)?,
            name: name.to_string(),
            saved: Some(name),
        }),
        Err(StoreError::Unknown { .. }) if path.is_file() => from_file(path),
        Err(StoreError::Unknown { name, nearest }) => match reference(&name) {
            Some(loaded) => loaded,
            None => Err(unknown(&name, nearest)),
        },
        Err(error) => Err(error.into()),
    }
}

fn unknown(name: &str, saved: Option<String>) -> Failure {
    let references = fathom_formats::references().iter().map(|(name, _)| *name);
    let closest = saved.or_else(|| nearest(name, references));
    Failure::usage(format!("there is no saved result and no file {name}"))
        .nearest(closest.as_deref())
        .detail("fathom list shows what there is")
}

/// A public result that ships with Fathom.
fn reference(name: &str) -> Option<Result<Loaded, Failure>> {
    let (_, bytes) = fathom_formats::references()
        .iter()
        .find(|(known, _)| *known == name)?;
    let file = fathom_formats::native::read(bytes).map(|file| Loaded {
        name: name.to_owned(),
        saved: None,
        file,
    });
    // It is part of the binary.
    Some(file.map_err(|error| Failure::new(Exit::Bug, format!("reference {name}: {error}"))))
}

/// Reads a file of any format Fathom knows.
///
/// # Errors
/// [`Failure`] naming the file, the place and what was expected.
pub fn from_file(path: &Path) -> Result<Loaded, Failure> {
    let name = path.display().to_string();
    let limit = fathom_formats::MAX_BYTES as u64;
    let bytes = read_limited(path, limit).map_err(|error| {
        let failure = Failure::from(error);
        match path.is_dir() {
            true => Failure::usage(format!("{name} is a directory; expected a result file")),
            false => failure,
        }
    })?;
    let file = fathom_formats::import(&bytes, &name)
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    Ok(Loaded {
        name,
        saved: None,
        file,
    })
}

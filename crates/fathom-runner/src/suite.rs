//! Suites: named lists of cases in TOML files.
//!
//! ```toml
//! format = 1
//! name = "mine"
//! title = "My two cases"
//! [run]
//! goal = "1%"
//! max-trials = 12
//! [[case]]
//! test = "io"
//! label = "RND4K"
//! options = { pattern = "randread", depth = [1, 32] }
//! ```

use std::path::{Path, PathBuf};

pub use fathom_base::Place;
use fathom_base::files::read_limited;
use fathom_base::{BaseError, IoContext};
use fathom_model::{ImplementationKind, nearest};

use crate::settings::{RunSettings, SettingError};

mod parse;
#[cfg(test)]
mod tests;

/// The version of the suite format this code reads.
pub const SUITE_FORMAT: i64 = 1;
/// The largest suite file that is read.
const FILE_LIMIT: u64 = 1 << 20;
/// The most suite files that are read from a person's directory.
const FILES_LIMIT: usize = 1000;

/// A named list of cases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// What a user types.
    pub name: String,
    /// For people.
    pub title: String,
    /// A few sentences.
    pub description: String,
    /// How long and how often.
    pub run: RunSettings,
    /// The cases, not yet resolved.
    pub cases: Vec<SuiteCase>,
    /// The file it was read from, for messages.
    pub file: String,
}

/// A row of a suite: one case, or several where an option has several values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteCase {
    /// The test.
    pub test: String,
    /// Short name for tables; empty to have one made of the options.
    pub label: String,
    /// Native or program; `None` is the preferred one.
    pub implementation: Option<ImplementationKind>,
    /// Options by name with their values, in the order of the file.
    pub options: Vec<SuiteOption>,
    /// Why it cannot run, for a test this version does not have.
    pub reason: String,
    /// Where it begins.
    pub place: Place,
}

/// An option of a row, with one value or several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuiteOption {
    /// The option.
    pub name: String,
    /// Its values as text, at least one.
    pub values: Vec<String>,
    /// Where the values begin.
    pub place: Place,
}

/// A suite that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The file could not be read.
    #[error(transparent)]
    Base(#[from] BaseError),
    /// It is no TOML, or not the TOML of a suite.
    #[error("suite {file}, {place}: {what}")]
    Syntax {
        /// The file.
        file: String,
        /// Where.
        place: Place,
        /// What was found and expected.
        what: String,
    },
    /// A setting of `[run]` is wrong.
    #[error("suite {file}, {place}: {source}")]
    Setting {
        /// The file.
        file: String,
        /// Where.
        place: Place,
        /// What was found and expected.
        source: SettingError,
    },
    /// There is no suite of this name.
    #[error("there is no suite named {name}{}", .nearest.as_deref().map_or_else(String::new, |n| format!("; did you mean {n}?")))]
    Unknown {
        /// As typed.
        name: String,
        /// The nearest one.
        nearest: Option<String>,
    },
}

impl Suite {
    /// Reads a suite; `file` is only for messages.
    ///
    /// # Errors
    /// [`SuiteError`] with file, line, column and what was expected.
    pub fn parse(file: &str, text: &str) -> Result<Self, SuiteError> {
        parse::suite(file, text)
    }
}

/// The suites at hand: embedded ones, and a person's own, which come first where names are equal.
#[derive(Debug, Default)]
pub struct Suites {
    suites: Vec<Suite>,
    broken: Vec<(String, SuiteError)>,
}

impl Suites {
    /// Reads the embedded suites (file name and text) and every `*.toml` of `directory`. A broken
    /// file of a person's own is only an error when its suite is asked for; see [`Suites::broken`].
    ///
    /// # Errors
    /// [`SuiteError`] when an embedded suite is broken or the directory cannot be read; a directory
    /// that does not exist is an empty one.
    pub fn load(embedded: &[(&str, &str)], directory: Option<&Path>) -> Result<Self, SuiteError> {
        let mut suites = Self::default();
        for (file, text) in embedded {
            suites.suites.push(Suite::parse(file, text)?);
        }
        for path in directory.map(toml_files).transpose()?.unwrap_or_default() {
            match read(&path) {
                Ok(own) => {
                    suites.suites.retain(|suite| suite.name != own.name);
                    suites.suites.push(own);
                }
                Err(error) => {
                    let stem = path.file_stem().unwrap_or_default();
                    let stem = stem.to_string_lossy().into_owned();
                    suites.broken.push((stem, error));
                }
            }
        }
        Ok(suites)
    }

    /// All suites that can be used.
    pub fn iter(&self) -> impl Iterator<Item = &Suite> {
        self.suites.iter()
    }

    /// The files of a person's own that cannot be used: name without `.toml`, and why.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &SuiteError)> {
        self.broken
            .iter()
            .map(|(name, error)| (name.as_str(), error))
    }

    /// A suite by its name, if there is one.
    pub fn get(&self, name: &str) -> Option<&Suite> {
        self.suites.iter().find(|suite| suite.name == name)
    }

    /// Whether a name means a suite, be it a broken one.
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some() || self.broken.iter().any(|(broken, _)| broken == name)
    }

    /// Takes a suite out by its name.
    ///
    /// # Errors
    /// Why its file is broken, or that there is none, with the nearest name.
    pub fn take(mut self, name: &str) -> Result<Suite, SuiteError> {
        if let Some(at) = self.suites.iter().position(|suite| suite.name == name) {
            return Ok(self.suites.swap_remove(at));
        }
        if let Some(at) = self.broken.iter().position(|(broken, _)| broken == name) {
            return Err(self.broken.swap_remove(at).1);
        }
        Err(SuiteError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.suites.iter().map(|suite| suite.name.as_str())),
        })
    }
}

fn read(path: &Path) -> Result<Suite, SuiteError> {
    let file = path.display().to_string();
    let bytes = read_limited(path, FILE_LIMIT)?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => Suite::parse(&file, text),
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            Err(SuiteError::Syntax {
                file,
                place: Place::of(&valid, valid.len()),
                what: "this is not UTF-8; expected a TOML text".to_owned(),
            })
        }
    }
}

/// The files of a directory that end in `.toml`, sorted by name.
fn toml_files(directory: &Path) -> Result<Vec<PathBuf>, BaseError> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.at("list", directory)?,
    };
    let mut files = Vec::new();
    for entry in entries.take(FILES_LIMIT) {
        let path = entry.at("list", directory)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

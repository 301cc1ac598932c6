//! The journal of a matrix: one line an event, on disk before the event happens.

use std::collections::BTreeMap;
use std::path::Path;

use fathom_base::WallTime;
use fathom_base::files::{AppendLog, read_limited};
use serde::{Deserialize, Serialize};

use crate::error::MatrixError;
use crate::thing::Thing;

#[cfg(test)]
mod tests;

const JOURNAL_LIMIT: u64 = 256 << 20;

/// How a matrix was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    /// Its name.
    pub name: String,
    /// The text of its file.
    pub text: String,
    /// Where the order comes from.
    pub seed: u64,
    /// When.
    pub started: WallTime,
    /// Version of Fathom.
    pub version: String,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub(crate) enum Entry {
    Begun(Box<Begun>),
    /// Something is about to be made.
    Making {
        number: u64,
        thing: Thing,
    },
    /// It is gone.
    Gone {
        number: u64,
    },
    /// The result is about to be saved under this name.
    Saving {
        name: String,
    },
}

/// What a journal says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub begun: Option<Begun>,
    /// What was made and is not gone, in the order it was made.
    pub outstanding: BTreeMap<u64, Thing>,
    /// The name the result was about to be saved under.
    pub saving: Option<String>,
    last: u64,
}

impl State {
    fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Begun(begun) => self.begun = Some(*begun),
            Entry::Making { number, thing } => {
                self.last = self.last.max(number);
                self.outstanding.insert(number, thing);
            }
            Entry::Gone { number } => {
                self.outstanding.remove(&number);
            }
            Entry::Saving { name } => self.saving = Some(name),
        }
    }
}

/// The journal, open for writing.
#[derive(Debug)]
pub(crate) struct Journal {
    log: AppendLog,
    pub state: State,
}

impl Journal {
    /// Opens or starts it. A torn last line was not acted upon, and is cut off.
    ///
    /// # Errors
    /// [`MatrixError::Journal`] when another line cannot be understood.
    pub fn open(path: &Path) -> Result<Self, MatrixError> {
        let log = AppendLog::open(path)?;
        Ok(Self {
            log,
            state: read(path)?,
        })
    }

    pub fn begin(&mut self, begun: Begun) -> Result<(), MatrixError> {
        self.write(Entry::Begun(Box::new(begun)))
    }

    /// Says that a thing is about to be made, and gives it a number.
    pub fn making(&mut self, thing: Thing) -> Result<u64, MatrixError> {
        let number = self.state.last + 1;
        self.write(Entry::Making { number, thing })?;
        Ok(number)
    }

    pub fn gone(&mut self, number: u64) -> Result<(), MatrixError> {
        self.write(Entry::Gone { number })
    }

    pub fn saving(&mut self, name: &str) -> Result<(), MatrixError> {
        let name = name.to_owned();
        self.write(Entry::Saving { name })
    }

    fn write(&mut self, entry: Entry) -> Result<(), MatrixError> {
        let line = serde_json::to_string(&entry).map_err(|error| MatrixError::Journal {
            path: self.log.path().to_path_buf(),
            line: 0,
            what: error.to_string(),
        })?;
        self.log.append(&line)?;
        self.state.apply(entry);
        Ok(())
    }
}

/// Reads a journal; a torn last line is ignored.
pub(crate) fn read(path: &Path) -> Result<State, MatrixError> {
    let bytes = read_limited(path, JOURNAL_LIMIT)?;
    let mut state = State::default();
    let mut rest = bytes.as_slice();
    let mut number = 0;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        number += 1;
        let entry = serde_json::from_slice(&rest[..end]).map_err(|error| MatrixError::Journal {
            path: path.to_path_buf(),
            line: number,
            what: error.to_string(),
        })?;
        state.apply(entry);
        rest = &rest[end + 1..];
    }
    Ok(state)
}

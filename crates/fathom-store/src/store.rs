use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use fathom_base::files::{read_limited, sync_directory, write_atomic};
use fathom_base::{BaseError, IoContext};
use fathom_formats::native;
use fathom_model::{ResultFile, nearest};

use crate::error::StoreError;
use crate::name::ResultName;

#[cfg(test)]
mod tests;

/// The largest result file that is written or read, in bytes.
pub const RESULT_LIMIT: u64 = 256 << 20;
const RESULTS: &str = "results";
const EXTENSION: &str = "json";
/// Numbers tried behind a name that is taken.
const SUFFIX_LIMIT: u32 = 100_000;

/// Saved results under a data directory. Nothing is made before something is saved.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store of a data directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_path_buf(),
        }
    }

    /// The data directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The names of all results, sorted.
    ///
    /// # Errors
    /// When the directory is there and cannot be read.
    pub fn names(&self) -> Result<Vec<ResultName>, StoreError> {
        let directory = self.results();
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.at("list", &directory)?,
        };
        let mut names = BTreeSet::new();
        for entry in entries {
            let path = entry.at("list", &directory)?.path();
            let is_result = path.extension().is_some_and(|e| e == EXTENSION);
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if let (true, Some(stem)) = (is_result, stem)
                && let Ok(name) = ResultName::new(stem)
            {
                names.insert(name);
            }
        }
        Ok(names.into_iter().collect())
    }

    /// Whether a result of this name is saved.
    pub fn has(&self, name: &ResultName) -> bool {
        self.path(name).exists()
    }

    /// Where a result is, or would be.
    pub fn path(&self, name: &ResultName) -> PathBuf {
        self.results().join(format!("{name}.{EXTENSION}"))
    }

    /// The name a user means: a saved one, or `latest`.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] with the nearest name, [`StoreError::Empty`] when nothing is saved.
    pub fn resolve(&self, text: &str) -> Result<ResultName, StoreError> {
        if text == "latest" {
            return self.latest();
        }
        if let Ok(name) = ResultName::new(text)
            && self.has(&name)
        {
            return Ok(name);
        }
        let names = self.names()?;
        Err(StoreError::Unknown {
            name: text.to_owned(),
            nearest: nearest(text, names.iter().map(ResultName::as_str)),
        })
    }

    /// The result that was measured (or, for an imported one, saved) last. Editing an old result
    /// does not make it the latest.
    ///
    /// # Errors
    /// [`StoreError::Empty`] when nothing is saved.
    pub fn latest(&self) -> Result<ResultName, StoreError> {
        let newest = self.list()?.into_iter().max_by_key(|summary| {
            let time = summary.measured.or(summary.modified);
            (time, summary.file_time_ns, summary.name.clone())
        });
        let name = newest.and_then(|summary| ResultName::new(&summary.name).ok());
        name.ok_or_else(|| StoreError::Empty {
            path: self.results(),
        })
    }

    /// Reads a result.
    ///
    /// # Errors
    /// [`StoreError`] naming the file: missing, too large, newer, or with line and column where it
    /// cannot be understood.
    pub fn load(&self, name: &ResultName) -> Result<ResultFile, StoreError> {
        let path = self.path(name);
        if !path.exists() {
            let names = self.names()?;
            return Err(StoreError::Unknown {
                name: name.to_string(),
                nearest: nearest(name.as_str(), names.iter().map(ResultName::as_str)),
            });
        }
        let bytes = read_limited(&path, RESULT_LIMIT)?;
        decode(&path, &bytes)
    }

    /// The name itself when it is free, else with the first number behind it that is. A name that
    /// an unfinished run will be saved under is not free.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn fresh_name(&self, name: &ResultName) -> Result<ResultName, StoreError> {
        self.free_name(name, &self.promised_names()?)
    }

    /// Saves a new result; when the name is taken, a number is put behind it. Says the name it got.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is saved then.
    pub fn save_new(&self, name: &ResultName, file: &ResultFile) -> Result<ResultName, StoreError> {
        let bytes = encode(name, file)?;
        let _lock = self.lock()?;
        let name = self.free_name(name, &BTreeSet::new())?;
        write_atomic(&self.path(&name), &bytes)?;
        Ok(name)
    }

    /// Saves a new result under exactly this name.
    ///
    /// # Errors
    /// [`StoreError::Taken`] when there is one.
    pub fn save_as(&self, name: &ResultName, file: &ResultFile) -> Result<(), StoreError> {
        let bytes = encode(name, file)?;
        let _lock = self.lock()?;
        if self.has(name) {
            return Err(StoreError::Taken {
                name: name.to_string(),
            });
        }
        Ok(write_atomic(&self.path(name), &bytes)?)
    }

    /// Gives a result another name, its history with it.
    ///
    /// # Errors
    /// [`StoreError::Taken`], [`StoreError::Unknown`].
    pub fn rename(&self, from: &ResultName, to: &ResultName) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        self.must_have(from)?;
        if self.has(to) || self.history(to).exists() {
            return Err(StoreError::Taken {
                name: to.to_string(),
            });
        }
        if self.history(from).exists() {
            fs::rename(self.history(from), self.history(to)).at("rename", self.history(from))?;
        }
        fs::rename(self.path(from), self.path(to)).at("rename", self.path(from))?;
        Ok(sync_directory(&self.results())?)
    }

    pub(crate) fn results(&self) -> PathBuf {
        self.directory.join(RESULTS)
    }

    pub(crate) fn must_have(&self, name: &ResultName) -> Result<(), StoreError> {
        match self.has(name) {
            true => Ok(()),
            false => self.resolve(name.as_str()).map(|_| ()),
        }
    }

    /// Held while names are chosen and files are put in place; every holder is done soon.
    pub(crate) fn lock(&self) -> Result<File, BaseError> {
        fs::create_dir_all(&self.directory).at("create directory", &self.directory)?;
        let path = self.directory.join("lock");
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .at("open", &path)?;
        file.lock().at("lock", &path)?;
        Ok(file)
    }

    fn free_name(
        &self,
        name: &ResultName,
        reserved: &BTreeSet<String>,
    ) -> Result<ResultName, StoreError> {
        let numbered = (2..SUFFIX_LIMIT).map(|number| name.numbered(number));
        std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| !self.has(name) && !reserved.contains(name.as_str()))
            .ok_or_else(|| StoreError::Taken {
                name: name.to_string(),
            })
    }
}

/// The one place where bytes become results.
pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<ResultFile, StoreError> {
    native::read(bytes).map_err(|source| StoreError::Format {
        path: path.to_path_buf(),
        source,
    })
}

/// The one place where results become bytes.
pub(crate) fn encode(name: &ResultName, file: &ResultFile) -> Result<Vec<u8>, StoreError> {
    let bytes = native::write(file);
    let size = bytes.len() as u64;
    match size > RESULT_LIMIT {
        true => Err(StoreError::TooLarge {
            name: name.to_string(),
            size,
            limit: RESULT_LIMIT,
        }),
        false => Ok(bytes),
    }
}

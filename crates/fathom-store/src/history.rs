//! Earlier versions of results: every edit can be undone.

use std::fs;
use std::io;
use std::path::PathBuf;

use fathom_base::files::{sync_directory, write_atomic};
use fathom_base::{BaseError, IoContext};
use fathom_model::ResultFile;

use crate::error::StoreError;
use crate::name::ResultName;
use crate::store::{Store, encode};

/// Versions kept of each result; the oldest go first.
const VERSIONS_LIMIT: usize = 20;

impl Store {
    /// Replaces a result and keeps what it was; see [`Store::undo`].
    ///
    /// # Errors
    /// [`StoreError`]; the old result is untouched then.
    pub fn save_with_history(
        &self,
        name: &ResultName,
        file: &ResultFile,
    ) -> Result<(), StoreError> {
        let bytes = encode(name, file)?;
        let _lock = self.lock()?;
        self.must_have(name)?;
        self.keep_version(name)?;
        Ok(write_atomic(&self.path(name), &bytes)?)
    }

    /// Deletes a result; [`Store::undo`] brings it back.
    ///
    /// # Errors
    /// [`StoreError`] when there is none or it cannot be moved.
    pub fn delete(&self, name: &ResultName) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        self.must_have(name)?;
        self.keep_version(name)?;
        let path = self.path(name);
        fs::remove_file(&path).at("delete", &path)?;
        Ok(sync_directory(&self.results())?)
    }

    /// Puts the version before the last change back, which takes it out of the history.
    ///
    /// # Errors
    /// [`StoreError::NoHistory`] when there is none.
    pub fn undo(&self, name: &ResultName) -> Result<(), StoreError> {
        let _lock = self.lock()?;
        let Some((_, version)) = self.versions(name)?.pop() else {
            return Err(StoreError::NoHistory {
                name: name.to_string(),
            });
        };
        // One step: the old version is there until the new one is.
        fs::rename(&version, self.path(name)).at("restore", &version)?;
        sync_directory(&self.results())?;
        Ok(sync_directory(&self.history(name))?)
    }

    /// How many changes can be undone.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn undo_count(&self, name: &ResultName) -> Result<usize, StoreError> {
        Ok(self.versions(name)?.len())
    }

    pub(crate) fn history(&self, name: &ResultName) -> PathBuf {
        self.results().join(".history").join(name.as_str())
    }

    /// Puts the current file into the history under the next number.
    fn keep_version(&self, name: &ResultName) -> Result<(), StoreError> {
        let directory = self.history(name);
        fs::create_dir_all(&directory).at("create directory", &directory)?;
        let mut versions = self.versions(name)?;
        let number = versions.last().map_or(1, |(number, _)| number + 1);
        let to = directory.join(format!("{number}.json"));
        let from = self.path(name);
        match fs::hard_link(&from, &to) {
            Ok(()) => {}
            // No links on this file system: a copy does as well.
            Err(_) => {
                let bytes = fathom_base::files::read_limited(&from, crate::RESULT_LIMIT)?;
                write_atomic(&to, &bytes)?;
            }
        }
        sync_directory(&directory)?;
        versions.push((number, to));
        let surplus = versions.len().saturating_sub(VERSIONS_LIMIT);
        for (_, old) in versions.drain(..surplus) {
            fs::remove_file(&old).at("delete", &old)?;
        }
        Ok(())
    }

    /// Numbers and paths of the earlier versions, oldest first.
    fn versions(&self, name: &ResultName) -> Result<Vec<(u64, PathBuf)>, BaseError> {
        let directory = self.history(name);
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.at("list", &directory)?,
        };
        let mut versions = Vec::new();
        for entry in entries {
            let path = entry.at("list", &directory)?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if let Some(number) = stem.and_then(|stem| stem.parse().ok()) {
                versions.push((number, path));
            }
        }
        versions.sort();
        Ok(versions)
    }
}

//! A cheap list of all results. The index only saves reading what has not changed; it is rebuilt
//! when it is missing, damaged or of another version.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fathom_base::WallTime;
use fathom_base::files::{read_limited, write_atomic};
use fathom_model::{ResultFile, Status};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::name::ResultName;
use crate::store::Store;

#[cfg(test)]
mod tests;

const INDEX: &str = "index.json";
const INDEX_LIMIT: u64 = 64 << 20;
/// Raised whenever a row changes its meaning.
const INDEX_VERSION: u32 = 1;

/// What a list shows of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResultSummary {
    /// The name it is saved under.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its systems.
    pub systems: Vec<String>,
    /// Number of cases.
    pub cases: usize,
    /// Number of results.
    pub results: usize,
    /// Number of trials, failed ones included.
    pub trials: usize,
    /// Number of trials that failed.
    pub failed: usize,
    /// Whether the runs in it came to their end.
    pub status: Status,
    /// When the last trial began; absent for imported results.
    pub measured: Option<WallTime>,
    /// Last change, as the file says it.
    pub modified: Option<WallTime>,
    /// Change time of the file, nanoseconds since 1970.
    pub file_time_ns: i128,
    /// Size of the file.
    pub size_bytes: u64,
    /// Why the file cannot be read; the rest is empty then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Index {
    fathom_index: u32,
    /// The version of Fathom: another one may read more, or less.
    written_by: String,
    rows: Vec<Row>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Row {
    key: Key,
    summary: ResultSummary,
}

/// Changes whenever a file does: results are replaced, never written in place.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    inode: u64,
    size: u64,
    mtime_ns: i128,
}

impl Key {
    fn of(meta: &Metadata) -> Self {
        Self {
            inode: meta.ino(),
            size: meta.size(),
            mtime_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
        }
    }
}

impl Store {
    /// All results, sorted by name. A file that cannot be read is a row with its error.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn list(&self) -> Result<Vec<ResultSummary>, StoreError> {
        let path = self.directory().join(INDEX);
        let known = read_index(&path);
        let mut rows = Vec::new();
        let mut is_changed = false;
        for name in self.names()? {
            // A file that has just gone is no row.
            let Ok(meta) = std::fs::metadata(self.path(&name)) else {
                continue;
            };
            let key = Key::of(&meta);
            match known.get(name.as_str()).filter(|row| row.key == key) {
                Some(row) => rows.push(row.clone()),
                None => {
                    is_changed = true;
                    let summary = self.summary(&name, key);
                    rows.push(Row { key, summary });
                }
            }
        }
        if is_changed || rows.len() != known.len() {
            write_index(&path, &rows);
        }
        Ok(rows.into_iter().map(|row| row.summary).collect())
    }

    fn summary(&self, name: &ResultName, key: Key) -> ResultSummary {
        let mut summary = match self.load(name) {
            Ok(file) => summarised(&file),
            Err(error) => ResultSummary {
                error: Some(error.to_string()),
                ..ResultSummary::default()
            },
        };
        summary.name = name.to_string();
        summary.size_bytes = key.size;
        summary.file_time_ns = key.mtime_ns;
        summary
    }
}

fn summarised(file: &ResultFile) -> ResultSummary {
    let trials = || file.runs.iter().flat_map(|run| &run.trials);
    let systems = file.systems.iter();
    ResultSummary {
        title: file.title.clone(),
        systems: systems.map(|system| system.identifier.clone()).collect(),
        cases: file.cases.len(),
        results: file.results.len(),
        trials: trials().count(),
        failed: trials().filter(|trial| trial.error.is_some()).count(),
        status: file.status,
        measured: trials().map(|trial| trial.started).max(),
        modified: file.modified,
        ..ResultSummary::default()
    }
}

/// Rows by name; none when the index cannot be used.
fn read_index(path: &Path) -> BTreeMap<String, Row> {
    let index = read_limited(path, INDEX_LIMIT)
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Index>(&bytes).ok());
    let usable = index.filter(|index| {
        index.fathom_index == INDEX_VERSION && index.written_by == env!("CARGO_PKG_VERSION")
    });
    let rows = usable.map(|index| index.rows).unwrap_or_default();
    rows.into_iter()
        .map(|row| (row.summary.name.clone(), row))
        .collect()
}

fn write_index(path: &Path, rows: &[Row]) {
    let index = Index {
        fathom_index: INDEX_VERSION,
        written_by: env!("CARGO_PKG_VERSION").to_owned(),
        rows: rows.to_vec(),
    };
    // A list that cannot be kept is made again the next time.
    if let Ok(bytes) = serde_json::to_vec(&index) {
        let _ = write_atomic(path, &bytes);
    }
}

//! Trees of files: their names and sizes, generated or from lists.

use std::path::Path;

use fathom_base::files::read_limited;
use sha2::{Digest, Sha256};

use super::generate;

/// Names of the lists in a directory of data sets, as the original has them.
pub const LISTS: [&str; 3] = [
    "dataset-unpatched",
    "dataset-unpatched-compiled",
    "dataset-patched",
];
/// Longest list in bytes.
pub const LIST_LIMIT: u64 = 256 << 20;
/// Most files of a list.
pub const MAX_FILES: usize = 2_000_000;
/// Most bytes of one file.
const MAX_FILE_BYTES: u64 = 1 << 40;

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Its name from the top of the tree: `fs/ext4/inode.c`.
    pub path: String,
    /// Its size.
    pub size: u64,
}

/// The files of a tree in its three states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSet {
    /// As unpacked.
    pub unpatched: Vec<TreeFile>,
    /// What compiling adds.
    pub compiled: Vec<TreeFile>,
    /// What a patch changes, with the new sizes.
    pub patched: Vec<TreeFile>,
}

/// Why lists of files cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataSetError {
    /// A list cannot be read.
    #[error("{0}")]
    Read(#[from] fathom_base::BaseError),
    /// A line is no good.
    #[error("{list}:{line}: {what}")]
    Line {
        /// The list.
        list: String,
        /// From 1.
        line: usize,
        /// What is wrong, and what was expected.
        what: String,
    },
    /// A list has no files, or too many.
    #[error("{list}: {what}")]
    List {
        /// The list.
        list: String,
        /// What is wrong.
        what: String,
    },
}

/// Bytes of files in all.
pub fn total_bytes(files: &[TreeFile]) -> u64 {
    files.iter().map(|file| file.size).sum()
}

/// Directories of files in all, the top of the tree among them.
pub fn directories(files: &[TreeFile]) -> u64 {
    let mut all = std::collections::BTreeSet::new();
    all.insert("");
    for file in files {
        let mut rest = file.path.as_str();
        while let Some((directory, _)) = rest.rsplit_once('/') {
            if !all.insert(directory) {
                break;
            }
            rest = directory;
        }
    }
    all.len() as u64
}

impl DataSet {
    /// The built-in one, the same on every machine.
    pub fn generated() -> Self {
        generate::generate()
    }

    /// From a directory with [`LISTS`]; gives the hash of all three too.
    ///
    /// A line is a name and a size, as in the original's lists. Files of the compiled and the
    /// patched list that the clean tree has in the same size are left out, and of the compiled one
    /// all that the clean tree has.
    ///
    /// # Errors
    /// [`DataSetError`] with the list and the line.
    pub fn read(directory: &Path) -> Result<(Self, String), DataSetError> {
        let mut hash = Sha256::new();
        let mut lists = Vec::new();
        for name in LISTS {
            let path = directory.join(name);
            let text = read_limited(&path, LIST_LIMIT)?;
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(&text);
            lists.push(parse(&path.display().to_string(), &text)?);
        }
        let digest = hash.finalize();
        let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut lists = lists.into_iter();
        let mut next = || lists.next().unwrap_or_default();
        let set = Self {
            unpatched: next(),
            compiled: next(),
            patched: next(),
        };
        Ok((set.stripped(), digest))
    }

    fn stripped(mut self) -> Self {
        let clean: std::collections::HashMap<&str, u64> = self
            .unpatched
            .iter()
            .map(|file| (file.path.as_str(), file.size))
            .collect();
        self.compiled
            .retain(|file| !clean.contains_key(file.path.as_str()));
        self.patched
            .retain(|file| clean.get(file.path.as_str()) != Some(&file.size));
        self
    }
}

/// A list: on each line a name and a size.
fn parse(list: &str, text: &[u8]) -> Result<Vec<TreeFile>, DataSetError> {
    let mut files = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let at = |what: String| DataSetError::Line {
            list: list.to_owned(),
            line: index + 1,
            what,
        };
        let line = std::str::from_utf8(line).map_err(|_| at("is not UTF-8".to_owned()))?;
        let mut words = line.split_whitespace();
        let (path, size) = match (words.next(), words.next()) {
            (None, _) => continue,
            (Some(path), Some(size)) => (path, size),
            (Some(_), None) => return Err(at("expected a name and a size".to_owned())),
        };
        check_path(path).map_err(at)?;
        let size: u64 = size
            .parse()
            .ok()
            .filter(|size| *size <= MAX_FILE_BYTES)
            .ok_or_else(|| at(format!("\"{size}\" is no size in bytes up to 1 TiB")))?;
        if !seen.insert(path) {
            return Err(at(format!("\"{path}\" comes twice")));
        }
        if files.len() == MAX_FILES {
            return Err(DataSetError::List {
                list: list.to_owned(),
                what: format!("has more than {MAX_FILES} files"),
            });
        }
        files.push(TreeFile {
            path: path.to_owned(),
            size,
        });
    }
    match files.is_empty() {
        true => Err(DataSetError::List {
            list: list.to_owned(),
            what: "has no files; expected lines of a name and a size".to_owned(),
        }),
        false => check_directories(list, files),
    }
}

/// A name stays inside its tree.
fn check_path(path: &str) -> Result<(), String> {
    let is_plain = path.len() <= 1000
        && !path.contains('\0')
        && path
            .split('/')
            .all(|part| !matches!(part, "" | "." | "..") && part.len() <= 255);
    match is_plain {
        true => Ok(()),
        false => Err(format!(
            "\"{}\" is no name relative to the tree, of parts of 255 bytes at most without . and ..",
            path.chars().take(80).collect::<String>()
        )),
    }
}

/// No file is the directory of another.
fn check_directories(list: &str, files: Vec<TreeFile>) -> Result<Vec<TreeFile>, DataSetError> {
    let names: std::collections::HashSet<&str> =
        files.iter().map(|file| file.path.as_str()).collect();
    let clash = files.iter().find_map(|file| {
        let mut rest = file.path.as_str();
        while let Some((directory, _)) = rest.rsplit_once('/') {
            if names.contains(directory) {
                return Some(directory.to_owned());
            }
            rest = directory;
        }
        None
    });
    match clash {
        Some(name) => Err(DataSetError::List {
            list: list.to_owned(),
            what: format!("\"{name}\" is a file and a directory"),
        }),
        None => Ok(files),
    }
}

//! Where things are, and golden files.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares with a committed file, or writes it when `UPDATE_GOLDEN=1`.
#[track_caller]
pub fn golden(relative: &str, actual: &[u8]) {
    let path = workspace().join(relative);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|v| v == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, actual).unwrap();
        return;
    }
    let expected = fs::read(&path).unwrap_or_else(|error| {
        panic!("{relative}: {error}; UPDATE_GOLDEN=1 writes it");
    });
    if expected != actual {
        let first = expected.iter().zip(actual).position(|(a, b)| a != b);
        let at = first.unwrap_or(expected.len().min(actual.len()));
        let line = 1 + actual[..at].iter().filter(|&&b| b == b'\n').count();
        let show = |bytes: &[u8]| {
            let from = at.saturating_sub(80);
            String::from_utf8_lossy(&bytes[from.min(bytes.len())..bytes.len().min(at + 200)])
                .into_owned()
        };
        panic!(
            "{relative} differs from line {line} on (UPDATE_GOLDEN=1 rewrites it)\n\
             expected ...{}\nactual   ...{}",
            show(&expected),
            show(actual)
        );
    }
}

/// The files of a folder of the shared corpus (with folders below it) by relative name, sorted;
/// `None`, said loudly, where the corpus is not beside the repository.
pub fn corpus(folder: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let root = workspace().join("../shared").join(folder);
    if !root.is_dir() {
        eprintln!("SKIPPED: {folder} is not beside the repository");
        return None;
    }
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path
                        .strip_prefix(&root)
                        .unwrap()
                        .to_string_lossy()
                        .into_owned();
                    files.push((name, fs::read(path).unwrap()));
                }
            }
        }
    }
    files.sort();
    Some(files)
}

/// One file of the shared corpus.
pub fn corpus_file(path: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(workspace().join("../shared").join(path)).ok();
    if bytes.is_none() {
        eprintln!("SKIPPED: {path} is not beside the repository");
    }
    bytes
}

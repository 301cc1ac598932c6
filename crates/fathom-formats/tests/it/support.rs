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

//! Golden files: `UPDATE_GOLDEN=1` writes them, otherwise they must be equal.

use std::path::Path;

/// Compares with `tests/data/<name>`.
#[track_caller]
pub fn assert_golden(name: &str, got: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, got).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{name}: {error}; UPDATE_GOLDEN=1 writes it"));
    assert_same(got, &expected, name);
}

/// Where two texts differ first, with the lines around.
#[track_caller]
pub fn assert_same(got: &str, expected: &str, what: &str) {
    if got == expected {
        return;
    }
    let mut lines = got.lines().zip(expected.lines()).enumerate();
    match lines.find(|(_, (got, expected))| got != expected) {
        Some((number, (got, expected))) => {
            panic!(
                "{what}: line {}:\n  got      {got:?}\n  expected {expected:?}",
                number + 1
            )
        }
        None => panic!(
            "{what}: one is longer: {} and {} bytes",
            got.len(),
            expected.len()
        ),
    }
}

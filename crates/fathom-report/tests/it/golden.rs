//! Goldens, and texts that must be equal.

use std::path::Path;

/// Compares with `tests/data/<name>`; `UPDATE_GOLDEN=1` writes it.
#[track_caller]
pub fn assert_golden(name: &str, got: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    fathom_testkit::golden(&folder.join(name), got);
}

/// Where two texts differ first, with what is around.
#[track_caller]
pub fn assert_same(got: &str, expected: &str, what: &str) {
    if got == expected {
        return;
    }
    let pairs = got.bytes().zip(expected.bytes());
    let place = pairs.take_while(|(a, b)| a == b).count();
    let line = got[..got.floor_char_boundary(place)].matches('\n').count() + 1;
    let around = |text: &str| {
        let from = text.floor_char_boundary(place.saturating_sub(60).min(text.len()));
        let to = text.floor_char_boundary((place + 60).min(text.len()));
        text[from..to].to_owned()
    };
    panic!(
        "{what}: line {line}, byte {place}:\n  got      {:?}\n  expected {:?}",
        around(got),
        around(expected)
    );
}

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// A text that lives as long as the program. Names of tests and options are such texts; those of a
/// profile come from a file. Each text is kept once, so that memory is bounded by the files.
pub(crate) fn interned(text: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

/// A program that is looked for when it is first needed, and only once.
#[derive(Debug)]
pub(crate) struct OnceFound<T> {
    search_path: OsString,
    found: OnceLock<Option<T>>,
}

impl<T> OnceFound<T> {
    /// Nothing is looked up yet.
    pub(crate) fn new(search_path: &OsStr) -> Self {
        Self {
            search_path: search_path.to_owned(),
            found: OnceLock::new(),
        }
    }

    /// What `find` found in the search path, now or earlier.
    pub(crate) fn get(&self, find: impl FnOnce(&OsStr) -> Option<T>) -> Option<&T> {
        self.found.get_or_init(|| find(&self.search_path)).as_ref()
    }
}

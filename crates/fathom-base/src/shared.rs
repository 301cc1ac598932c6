use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(test)]
mod tests;

/// Things that live as long as somebody holds them, found by what they must have in common: the
/// files of test cases, for example, that several cases can use.
#[derive(Debug)]
pub struct SharedByKey<K, T>(Mutex<Vec<(K, Weak<T>)>>);

impl<K, T> Default for SharedByKey<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, T> SharedByKey<K, T> {
    /// The thing of `key` that somebody holds, else a new one. Others wait while it is made.
    ///
    /// # Errors
    /// What `make` answered; nothing is kept then.
    pub fn get_or_make<E>(&self, key: K, make: impl FnOnce() -> Result<T, E>) -> Result<Arc<T>, E> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(_, thing)| thing.strong_count() > 0);
        let held = known.iter().find(|(other, _)| *other == key);
        if let Some(thing) = held.and_then(|(_, thing)| thing.upgrade()) {
            return Ok(thing);
        }
        let thing = Arc::new(make()?);
        known.push((key, Arc::downgrade(&thing)));
        Ok(thing)
    }
}

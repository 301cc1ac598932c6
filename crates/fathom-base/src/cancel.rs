use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(test)]
mod tests;

/// A shared flag that asks everything that runs to stop soon and clean up.
///
/// Cheap to clone and to ask (one relaxed load a level), so hot loops may look at it per batch.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    own: Arc<AtomicBool>,
    /// Raised together with this one.
    parent: Option<Arc<Cancel>>,
}

impl Cancel {
    /// A flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that also counts as raised when this one is, but can be raised alone: one trial is
    /// given up without ending the run.
    pub fn child(&self) -> Self {
        Self {
            own: Arc::default(),
            parent: Some(Arc::new(self.clone())),
        }
    }

    /// Raises the flag; it is never lowered again.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::SeqCst);
    }

    /// Whether the flag is raised.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.own.load(Ordering::Relaxed)
            || self
                .parent
                .as_ref()
                .is_some_and(|parent| parent.is_cancelled())
    }

    /// The flag itself, for signal handlers that store into an `AtomicBool`.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.own)
    }
}

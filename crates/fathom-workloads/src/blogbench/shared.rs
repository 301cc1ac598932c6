use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What is counted, in the order of the original's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    BlogsRead,
    BlogsWritten,
    ArticlesRead,
    ArticlesWritten,
    PicturesRead,
    PicturesWritten,
    CommentsRead,
    CommentsWritten,
}

/// Names of what is counted.
pub(super) const NAMES: [&str; 8] = [
    "blogs-read",
    "blogs-written",
    "articles-read",
    "articles-written",
    "pictures-read",
    "pictures-written",
    "comments-read",
    "comments-written",
];

/// One look at the counters.
pub(super) type Counts = [u64; NAMES.len()];

/// What all threads see.
#[derive(Debug, Default)]
pub(super) struct Shared {
    next_blog: AtomicU64,
    counts: [AtomicU64; NAMES.len()],
    stop: AtomicBool,
}

impl Shared {
    /// The number of a new blog, from 0.
    pub(super) fn new_blog(&self) -> u64 {
        self.next_blog.fetch_add(1, Ordering::SeqCst)
    }

    /// Blogs begun so far.
    pub(super) fn blogs(&self) -> u64 {
        self.next_blog.load(Ordering::SeqCst)
    }

    /// Counts one, where the original may lose some.
    #[inline]
    pub(super) fn count(&self, what: Counted) {
        self.counts[what as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All counters.
    pub(super) fn counts(&self) -> Counts {
        self.counts
            .each_ref()
            .map(|one| one.load(Ordering::Relaxed))
    }

    /// Tells the threads that the time is over; each ends what it is at.
    pub(super) fn end(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Whether the time is over.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

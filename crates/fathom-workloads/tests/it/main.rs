//! What holds for all built-in tests together.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod suites;

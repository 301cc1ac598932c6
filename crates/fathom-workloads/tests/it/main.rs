//! What holds for all built-in tests together.

mod suites;

//! Helpers for tests: golden files, redaction, fake clocks and file trees.

mod conformance;
mod fake_root;
mod skip;

pub use conformance::{Bench, conforms};
pub use fake_root::FakeRoot;
pub use skip::skipped;

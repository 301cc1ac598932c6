//! Helpers for tests: golden files, redaction, fake clocks and file trees.

mod conformance;

pub use conformance::{Bench, conforms};

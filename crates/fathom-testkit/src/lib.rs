//! Helpers for tests: golden files, redaction, scripted tests, scratch directories on a real disk,
//! file trees that stand for a machine, and probes that say what is missing.

mod conformance;
mod disk;
mod fake_root;
mod golden;
mod redact;
mod scripted;
pub mod servers;
mod skip;

pub use conformance::{Bench, conforms};
pub use disk::{disk_directory, file_system};
pub use fake_root::FakeRoot;
pub use golden::{golden, unredacted};
pub use redact::Redactor;
pub use scripted::{Act, CaseScript, Script};
pub use skip::{root, shared, skipped, tool};

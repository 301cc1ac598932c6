//! The binary as a person and a script meet it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bench;
mod compare;
mod crash;
mod documents;
mod matrix;
mod measure;
mod own;
mod results;
mod targets;
mod words;

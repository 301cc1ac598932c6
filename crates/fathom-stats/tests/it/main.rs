//! Integration tests: what the formulas promise together, and real files of other tools.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

mod fio;
mod simulation;

//! Renderings of whole files: against the oracle, as goldens, and on degenerate input.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "tests"
)]

mod charts;
mod compared;
mod corpus;
mod dump;
#[cfg(feature = "export")]
mod exports;
mod golden;
mod marked;
mod markup;
mod pages;
mod pts_text;
mod shown;
mod synthetic;
mod xml;

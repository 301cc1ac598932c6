//! Tests of the workspace as a whole, and of the helpers themselves.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod helpers;
mod layers;

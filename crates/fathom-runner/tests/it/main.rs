//! The run loop from outside: scripted tests on a clock that only they move.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod budget;
mod faults;
mod killed;
mod order;
mod resume;
mod rig;
mod together;
mod transcript;

//! The engine against real files, devices and faults.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do: with a panic that says where"
)]

mod common;
mod conformance;
mod faults;
mod layout;
mod probes;
mod reports;
mod restrictions;

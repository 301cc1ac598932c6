//! Machines written by hand, this machine, and its loop devices.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test they help"
)]

mod loops;
mod machine;
mod trees;

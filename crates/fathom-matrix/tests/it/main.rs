//! Matrices on loop devices, which only root may make.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod refusals;
mod sessions;

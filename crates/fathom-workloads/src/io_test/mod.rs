//! Test `io`.

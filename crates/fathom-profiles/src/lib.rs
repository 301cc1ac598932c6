//! Tests that run foreign programs.

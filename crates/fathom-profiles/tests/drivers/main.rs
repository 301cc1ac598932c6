//! The native drivers against real servers, and against servers that do not behave.
//!
//! A server is started by the test that needs it, in a directory of its own, and ends with it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on ends")]

mod cassandra;
mod clickhouse;
mod cql_stub;
mod harness;
mod hostile;
mod mariadb;
mod postgres;

//! Servers that tests need: found on the machine, started in a fresh directory on the target, asked
//! over their own protocol whether they are ready, stopped and removed.

mod cassandra;
mod clickhouse;
mod cockroachdb;
mod find;
mod handle;
mod mariadb;
mod postgresql;
mod running;
#[cfg(test)]
mod tests;
mod user;
mod wire;

pub use find::{Found, find};
pub use handle::{ServiceHandle, ServiceKind};
pub(crate) use running::{RunningService, StartOptions, start};

/// The option that says which server.
pub const SERVER: &str = "server";
/// The option that is filled in with what the server is.
pub const SERVER_VERSION: &str = "server-version";

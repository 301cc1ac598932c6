//! Native drivers of database protocols: the client side of well-known database tests.
//!
//! A [`Driver`] fills a database ([`Driver::prepare`]), loads it for a while ([`Driver::run`]) and
//! holds what the database then contains against what must be there ([`Driver::verify`]). It knows
//! nothing of how the server was started: it is told an [`Endpoint`].
//!
//! Clients speak over blocking or polled sockets in threads of their own, as those of the original
//! programs do; a driver whose library needs an async runtime makes it inside its call and drops
//! it there.
//!
//! Feature `sql` builds the drivers of PostgreSQL, CockroachDB and MariaDB, feature `nosql` those
//! of ClickHouse and Cassandra; [`driver`] says so when one is asked for that is not built.

#![cfg_attr(
    not(all(feature = "sql", feature = "nosql")),
    allow(dead_code, reason = "what drivers share is used by some of them only")
)]

mod call;
#[cfg(feature = "nosql")]
pub mod cassandra;
#[cfg(any(feature = "sql", feature = "nosql"))]
mod clients;
mod endpoint;
mod error;
mod figures;
#[cfg(feature = "nosql")]
pub mod hits;
#[cfg(feature = "sql")]
pub mod kv;
#[cfg(feature = "sql")]
mod mysql;
mod options;
#[cfg(feature = "sql")]
pub mod pgbench;
#[cfg(feature = "sql")]
mod postgres;
#[cfg(feature = "sql")]
pub mod slap;
#[cfg(feature = "sql")]
pub mod sysbench;

pub use call::Call;
pub use endpoint::{Address, Endpoint};
pub use error::DriverError;
pub use figures::{Counts, DriverFigures, Expected, Value};
pub use options::{Options, Setting};

/// The client side of a database test.
pub trait Driver: Send + Sync + std::fmt::Debug {
    /// The name it is asked for by: `pgbench`.
    fn id(&self) -> &'static str;

    /// The options it knows, with their defaults.
    fn settings(&self) -> &'static [Setting];

    /// Makes the tables and fills them; what an earlier call made is replaced.
    ///
    /// # Errors
    /// [`DriverError`]; the database may then be half filled.
    fn prepare(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<(), DriverError>;

    /// Loads the server and measures. The clients are connected before the measured window, unless
    /// the original counts connecting, too.
    ///
    /// # Errors
    /// [`DriverError`] when there is no figure; single clients that failed are counted in
    /// [`Counts`] instead.
    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError>;

    /// Holds the database against what `figures` says was done; returns what was found right, for
    /// the record.
    ///
    /// # Errors
    /// [`DriverError::Invariant`] when the data is not what it must be.
    fn verify(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError>;
}

/// Names of all drivers, and the feature each is built with.
pub const DRIVERS: [(&str, &str); 6] = [
    ("pgbench", "sql"),
    ("sysbench-oltp", "sql"),
    ("mariadb-slap", "sql"),
    ("cockroach-kv", "sql"),
    ("cassandra", "nosql"),
    ("clickhouse-hits", "nosql"),
];

/// The driver of that name.
///
/// # Errors
/// [`DriverError::Unknown`], or [`DriverError::NotBuilt`] with the feature that builds it.
pub fn driver(id: &str) -> Result<Box<dyn Driver>, DriverError> {
    let mut built = of_sql().into_iter().chain(of_nosql());
    let found = built.find(|driver| driver.id() == id);
    found.ok_or_else(|| absent(id))
}

#[cfg(feature = "sql")]
fn of_sql() -> Vec<Box<dyn Driver>> {
    vec![
        Box::new(pgbench::Pgbench),
        Box::new(sysbench::SysbenchOltp),
        Box::new(slap::MariadbSlap),
        Box::new(kv::Kv),
    ]
}

#[cfg(not(feature = "sql"))]
fn of_sql() -> Vec<Box<dyn Driver>> {
    Vec::new()
}

#[cfg(feature = "nosql")]
fn of_nosql() -> Vec<Box<dyn Driver>> {
    vec![
        Box::new(cassandra::Cassandra),
        Box::new(hits::ClickhouseHits),
    ]
}

#[cfg(not(feature = "nosql"))]
fn of_nosql() -> Vec<Box<dyn Driver>> {
    Vec::new()
}

fn absent(id: &str) -> DriverError {
    match DRIVERS.iter().find(|(name, _)| *name == id) {
        Some((name, feature)) => DriverError::NotBuilt {
            driver: name,
            feature,
        },
        None => DriverError::Unknown {
            driver: id.to_owned(),
            known: DRIVERS.map(|(name, _)| name).join(", "),
        },
    }
}

#[cfg(test)]
mod tests;

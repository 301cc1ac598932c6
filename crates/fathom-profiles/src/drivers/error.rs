use std::io;
use std::time::Duration;

use fathom_model::TestError;

/// Why a driver has no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriverError {
    /// There is no such driver.
    #[error("there is no driver \"{driver}\"; expected one of {known}")]
    Unknown {
        /// As asked for.
        driver: String,
        /// The ones there are.
        known: String,
    },
    /// The driver is not in this binary.
    #[error("driver {driver} is not in this binary; build it with --features {feature}")]
    NotBuilt {
        /// The driver.
        driver: &'static str,
        /// The feature that it needs.
        feature: &'static str,
    },
    /// A wrong option.
    #[error("option {option} of driver {driver}: \"{value}\" is not accepted; expected {expected}")]
    Option {
        /// The driver.
        driver: &'static str,
        /// The option.
        option: String,
        /// As given.
        value: String,
        /// What is accepted.
        expected: String,
    },
    /// The address is of a kind this driver has no use for.
    #[error("driver {driver} cannot use the server at {server}; expected {expected}")]
    Address {
        /// The driver.
        driver: &'static str,
        /// The address.
        server: String,
        /// What it can use.
        expected: &'static str,
    },
    /// No connection.
    #[error("connect to {server}: {source}; is the server running, and does it listen there?")]
    Connect {
        /// The address.
        server: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The connection broke.
    #[error("{server} closed the connection while {doing}: {source}; the server's log says why")]
    Lost {
        /// The address.
        server: String,
        /// What was under way.
        doing: String,
        /// The system's answer.
        source: io::Error,
    },
    /// The other side does not speak the protocol.
    #[error(
        "{server} answered {what} while {doing}; is it a {expected} server, and not something else \
         on that port?"
    )]
    Protocol {
        /// The address.
        server: String,
        /// What was under way.
        doing: String,
        /// What came.
        what: String,
        /// `PostgreSQL`, `MariaDB`.
        expected: &'static str,
    },
    /// The server understood and said no.
    #[error("{server} refused {doing}: {message} ({code})")]
    Refused {
        /// The address.
        server: String,
        /// What was under way.
        doing: String,
        /// SQLSTATE or the server's number.
        code: String,
        /// Its words.
        message: String,
    },
    /// Nothing came.
    #[error(
        "{server} has not answered for {waited:?} while {doing}; look at the server's log and load, \
         or allow more time"
    )]
    Stalled {
        /// The address.
        server: String,
        /// What was under way.
        doing: String,
        /// How long nothing came.
        waited: Duration,
    },
    /// All clients failed.
    #[error("none of {clients} clients of {server} came through; the first one: {first}")]
    NoClient {
        /// The address.
        server: String,
        /// How many there were.
        clients: usize,
        /// Why the first one failed.
        first: String,
    },
    /// The data is not what it must be.
    #[error("{check} failed: {found}; the figures of this trial cannot be used")]
    Invariant {
        /// What was checked.
        check: &'static str,
        /// What was found and expected.
        found: String,
    },
    /// A client thread could not be started.
    #[error("start client thread {number}: {source}; ask for fewer clients, or raise the limit")]
    Thread {
        /// Its number.
        number: usize,
        /// The system's answer.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("{doing} {path}: {source}")]
    File {
        /// `read`, `write`.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's answer.
        source: io::Error,
    },
    /// A program that carries the engine failed.
    #[error("{program} {what}")]
    Program {
        /// The program.
        program: String,
        /// What it did.
        what: String,
    },
    /// The user stopped the run.
    #[error("stopped by the user")]
    Cancelled,
    /// The call's time is over.
    #[error("time is over while {doing}; allow more, or choose a smaller size")]
    Deadline {
        /// What was under way.
        doing: &'static str,
    },
}

impl From<DriverError> for TestError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::Cancelled => Self::Cancelled,
            DriverError::Invariant { check, found } => Self::Check { check, found },
            other => Self::Workload(Box::new(other)),
        }
    }
}

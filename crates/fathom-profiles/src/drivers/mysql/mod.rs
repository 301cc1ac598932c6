//! The client side of MariaDB's and MySQL's protocol, by the crate `mysql`: blocking, one thread a
//! client, as in the original programs.

pub(crate) mod crew;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder};

use super::{Address, Call, DriverError, Endpoint};

const EXPECTED: &str = "MariaDB or MySQL";
/// Larger than any statement or row of the drivers; said here, so that no connection asks for it.
const LONGEST_PACKET: usize = 16 << 20;

/// A server, for connections and the words of its errors.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    options: OptsBuilder,
    pub(crate) name: String,
    patience: Duration,
}

impl Server {
    /// The server of an endpoint; `database` replaces the endpoint's when it is given. A single
    /// answer may take as long as `patience`.
    pub(crate) fn new(endpoint: &Endpoint, database: Option<&str>, patience: Duration) -> Self {
        let name = endpoint.address.to_string();
        let options = OptsBuilder::new()
            .user(Some(&endpoint.user))
            .pass(endpoint.password.as_ref())
            .db_name(database.filter(|name| !name.is_empty()))
            .read_timeout(Some(patience))
            .write_timeout(Some(patience))
            .tcp_connect_timeout(Some(patience))
            .max_allowed_packet(Some(LONGEST_PACKET))
            .stmt_cache_size(0)
            .prefer_socket(false);
        let options = match &endpoint.address {
            Address::Tcp { host, port } => options.ip_or_hostname(Some(host)).tcp_port(*port),
            Address::Socket(path) => options.socket(Some(path.to_string_lossy())),
        };
        Self {
            options,
            name,
            patience,
        }
    }

    /// The server for statements that keep it busy: an answer may take until the deadline. That it
    /// answers at all is found out within the call's patience.
    pub(crate) fn patient(
        endpoint: &Endpoint,
        database: Option<&str>,
        call: &Call<'_>,
    ) -> Result<Self, DriverError> {
        Self::new(endpoint, database, call.patience).connect()?;
        let left = call.deadline.saturating_duration_since(Instant::now());
        Ok(Self::new(
            endpoint,
            database,
            left.max(Duration::from_millis(1)),
        ))
    }

    /// Connects and logs in.
    pub(crate) fn connect(&self) -> Result<Conn, DriverError> {
        let options = self.options.clone();
        let connected = guarded(move || Conn::new(options));
        connected.map_err(|failure| self.explain_connecting(failure))
    }

    /// Does something with a connection; a panic in the library, which an answer that is no
    /// protocol can cause, is an error.
    pub(crate) fn ask<T>(
        &self,
        doing: &str,
        act: impl FnOnce() -> Result<T, mysql::Error>,
    ) -> Result<T, DriverError> {
        guarded(act).map_err(|failure| self.explain(doing, failure))
    }

    /// Runs a statement whose rows do not matter.
    pub(crate) fn run(&self, connection: &mut Conn, sql: &str) -> Result<(), DriverError> {
        self.ask(sql, || connection.query_drop(sql))
    }

    /// Runs a query for one value.
    pub(crate) fn value<T: mysql::prelude::FromValue>(
        &self,
        connection: &mut Conn,
        sql: &str,
    ) -> Result<T, DriverError> {
        let row = self.ask(sql, || connection.query_first::<mysql::Row, _>(sql))?;
        let value = row.and_then(|mut row| row.take_opt::<T, _>(0)?.ok());
        value.ok_or_else(|| self.nonsense(sql, "something else than one value".to_owned()))
    }

    fn explain_connecting(&self, failure: Failure) -> DriverError {
        match failure {
            Failure::Error(mysql::Error::DriverError(mysql::DriverError::CouldNotConnect(why))) => {
                let source = match why {
                    Some((_, text, kind)) => io::Error::new(kind, text),
                    None => io::ErrorKind::NotFound.into(),
                };
                DriverError::Connect {
                    server: self.name.clone(),
                    source,
                }
            }
            other => self.explain("logging in", other),
        }
    }

    /// Puts a failure into words that say what to do.
    pub(crate) fn explain(&self, doing: &str, failure: Failure) -> DriverError {
        let server = self.name.clone();
        let doing = shorten(doing);
        match failure {
            Failure::Panic => self.nonsense(&doing, "what is no answer".to_owned()),
            Failure::Error(mysql::Error::MySqlError(error)) => DriverError::Refused {
                server,
                doing,
                code: format!("{} {}", error.code, error.state),
                message: error.message,
            },
            Failure::Error(error) => match io_error(error) {
                Ok(source) if is_timeout(&source) => DriverError::Stalled {
                    server,
                    doing,
                    waited: self.patience,
                },
                Ok(source) => DriverError::Lost {
                    server,
                    doing,
                    source,
                },
                Err(error) => self.nonsense(&doing, format!("what is no answer ({error})")),
            },
        }
    }

    fn nonsense(&self, doing: &str, what: String) -> DriverError {
        DriverError::Protocol {
            server: self.name.clone(),
            doing: shorten(doing),
            what,
            expected: EXPECTED,
        }
    }
}

/// How a request went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library says so.
    Error(mysql::Error),
    /// The library came across what it takes for impossible.
    Panic,
}

impl Failure {
    /// The server's number of the error.
    pub(crate) fn code(&self) -> Option<u16> {
        match self {
            Self::Error(mysql::Error::MySqlError(error)) => Some(error.code),
            _ => None,
        }
    }
}

/// Runs something of the library that a hostile server may make panic.
pub(crate) fn guarded<T>(act: impl FnOnce() -> Result<T, mysql::Error>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(result) => result.map_err(Failure::Error),
        Err(_) => Err(Failure::Panic),
    }
}

/// The system's error inside an error of the library; the error itself when there is none.
fn io_error(error: mysql::Error) -> Result<io::Error, mysql::Error> {
    use std::error::Error as _;
    let inside = match &error {
        mysql::Error::CodecError(codec) => codec
            .source()
            .and_then(|source| source.downcast_ref::<io::Error>())
            .map(|source| io::Error::new(source.kind(), source.to_string())),
        _ => None,
    };
    match (error, inside) {
        (mysql::Error::IoError(source), _) | (_, Some(source)) => Ok(source),
        (other, None) => Err(other),
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

fn shorten(doing: &str) -> String {
    match doing.char_indices().nth(60) {
        None => doing.to_owned(),
        Some((at, _)) => format!("{}...", &doing[..at]),
    }
}

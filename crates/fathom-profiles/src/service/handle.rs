use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ServiceKind {
    /// PostgreSQL.
    Postgresql,
    /// MariaDB (or MySQL).
    Mariadb,
    /// ClickHouse over HTTP, be it its own server or the engine in Python's `chdb`.
    Clickhouse,
    /// Cassandra (or ScyllaDB) over CQL.
    Cassandra,
    /// CockroachDB, which speaks PostgreSQL's protocol.
    Cockroachdb,
}

impl ServiceKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [
        Self::Postgresql,
        Self::Mariadb,
        Self::Clickhouse,
        Self::Cassandra,
        Self::Cockroachdb,
    ];

    /// As profiles write it: `postgresql`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Postgresql => "postgresql",
            Self::Mariadb => "mariadb",
            Self::Clickhouse => "clickhouse",
            Self::Cassandra => "cassandra",
            Self::Cockroachdb => "cockroachdb",
        }
    }

    /// For people: `PostgreSQL`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Postgresql => "PostgreSQL",
            Self::Mariadb => "MariaDB",
            Self::Clickhouse => "ClickHouse",
            Self::Cassandra => "Cassandra",
            Self::Cockroachdb => "CockroachDB",
        }
    }
}

impl fmt::Display for ServiceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A server that answers, and how to reach it.
///
/// The address is given twice: as a URL for drivers, and in parts for command lines. A server that
/// Fathom started listens on a socket in its own directory or on the loopback address only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceHandle {
    /// What it is.
    pub kind: ServiceKind,
    /// For drivers, without a password:
    /// `postgresql://USER@localhost:PORT/DATABASE?host=/socket/directory`,
    /// `mysql://USER@localhost/DATABASE?socket=/path/of/socket`, `http://127.0.0.1:PORT/`,
    /// `cassandra://127.0.0.1:PORT`. The directory or path is percent-encoded.
    pub url: String,
    /// The socket: a directory for PostgreSQL, the socket itself for MariaDB; `None` where the
    /// server is reached over TCP.
    pub socket: Option<PathBuf>,
    /// The host, `localhost` for a socket.
    pub host: String,
    /// The port; for PostgreSQL on a socket it is part of the socket's name.
    pub port: u16,
    /// The user to log in as.
    pub user: String,
    /// The database to use.
    pub database: String,
    /// Name and version as the server itself says them: `15.20 (Debian 15.20-0+deb12u1)`.
    pub version: String,
    /// The settings it was started with, empty for a server that was running already.
    pub settings: BTreeMap<String, String>,
}

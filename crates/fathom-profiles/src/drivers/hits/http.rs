//! ClickHouse's HTTP interface: a statement goes out, text comes back.

use std::io;
use std::time::{Duration, Instant};

use crate::drivers::{Address, Call, DriverError, Endpoint};

/// Most that is kept of an answer.
const LONGEST_ANSWER: u64 = 256 << 20;

/// A server.
#[derive(Clone, Debug)]
pub(super) struct Http {
    agent: ureq::Agent,
    url: String,
    user: String,
    password: String,
    name: String,
}

impl Http {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, DriverError> {
        let name = endpoint.address.to_string();
        let Address::Tcp { .. } = endpoint.address else {
            return Err(DriverError::Address {
                driver: super::ID,
                server: name,
                expected: "a host and the port of its HTTP interface",
            });
        };
        let database = match endpoint.database.as_str() {
            "" => "default",
            name => name,
        };
        // A query may take all the memory it needs, as in the original.
        let url = format!("http://{name}/?database={database}&max_memory_usage=100000000000");
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Ok(Self {
            agent: agent.into(),
            url,
            user: endpoint.user.clone(),
            password: endpoint.password.clone().unwrap_or_default(),
            name,
        })
    }

    /// Runs a statement that may take until the deadline.
    pub(super) fn ask(&self, sql: &str, call: &Call<'_>) -> Result<String, DriverError> {
        let left = call.deadline.saturating_duration_since(Instant::now());
        self.send(sql, sql.as_bytes(), left, call)
    }

    /// Asks for the version, which takes no time: whether it is a ClickHouse at all.
    pub(super) fn version(&self, call: &Call<'_>) -> Result<String, DriverError> {
        let sql = "SELECT version()";
        let answer = self.send(sql, sql.as_bytes(), call.longest_wait(), call)?;
        let version = answer.trim();
        let is_version = version.starts_with(|c: char| c.is_ascii_digit())
            && version.len() < 64
            && version.contains('.');
        match is_version {
            true => Ok(version.to_owned()),
            false => Err(self.nonsense(sql, "without a version".to_owned())),
        }
    }

    /// Puts lines of tab-separated text into a table.
    pub(super) fn insert(
        &self,
        table: &str,
        lines: &[u8],
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        let sql = format!("INSERT INTO {table} FORMAT TabSeparated");
        let body = [sql.as_bytes(), b"\n", lines].concat();
        let left = call.deadline.saturating_duration_since(Instant::now());
        self.send(&sql, &body, left, call).map(|_| ())
    }

    fn send(
        &self,
        doing: &str,
        body: &[u8],
        limit: Duration,
        call: &Call<'_>,
    ) -> Result<String, DriverError> {
        call.check("asking the server")?;
        let limit = limit.max(Duration::from_millis(1));
        let request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_connect(Some(call.longest_wait()))
            .timeout_global(Some(limit))
            .build()
            .header("X-ClickHouse-User", &self.user)
            .header("X-ClickHouse-Key", &self.password);
        let mut answer = request
            .send(body)
            .map_err(|error| self.explain(doing, error, limit))?;
        let text = answer
            .body_mut()
            .with_config()
            .limit(LONGEST_ANSWER)
            .read_to_vec();
        let text = text.map_err(|error| self.explain(doing, error, limit))?;
        let text = String::from_utf8_lossy(&text).into_owned();
        match answer.status().as_u16() {
            200 => Ok(text),
            status if !text.contains("Code:") => Err(self.nonsense(
                doing,
                format!("HTTP status {status} without a reason of its own"),
            )),
            status => Err(DriverError::Refused {
                server: self.name.clone(),
                doing: shorten(doing),
                code: format!("HTTP status {status}"),
                message: first_line(&text),
            }),
        }
    }

    fn explain(&self, doing: &str, error: ureq::Error, limit: Duration) -> DriverError {
        let server = self.name.clone();
        let doing = shorten(doing);
        match error {
            ureq::Error::Io(source) if source.kind() == io::ErrorKind::ConnectionRefused => {
                DriverError::Connect { server, source }
            }
            ureq::Error::Io(source) => DriverError::Lost {
                server,
                doing,
                source,
            },
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => DriverError::Connect {
                server,
                source: io::ErrorKind::NotFound.into(),
            },
            ureq::Error::Timeout(_) => DriverError::Stalled {
                server,
                doing,
                waited: limit,
            },
            other => self.nonsense(&doing, format!("what is no answer ({other})")),
        }
    }

    fn nonsense(&self, doing: &str, what: String) -> DriverError {
        DriverError::Protocol {
            server: self.name.clone(),
            doing: shorten(doing),
            what,
            expected: "ClickHouse (HTTP)",
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or("no reason");
    line.chars().take(300).collect()
}

fn shorten(doing: &str) -> String {
    match doing.char_indices().nth(60) {
        None => doing.to_owned(),
        Some((at, _)) => format!("{}...", &doing[..at]),
    }
}

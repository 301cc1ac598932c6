//! As much of the servers' protocols as it takes to ask whether they are ready, what version they
//! are, and to make a database.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::handle::ServiceKind;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// Largest message that is read.
const MESSAGE_LIMIT: usize = 1 << 20;
/// Most messages of one answer.
const MESSAGES_LIMIT: usize = 1000;

/// The address of a server, without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    /// `postgresql`.
    pub scheme: String,
    /// The user; may be empty.
    pub user: String,
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The database; may be empty.
    pub database: String,
}

impl Url {
    /// Reads `scheme://[user@]host[:port][/database]`.
    ///
    /// # Errors
    /// In words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").ok_or("there is no ://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (user, place),
            None => ("", authority),
        };
        if user.contains(':') {
            return Err(
                "a URL with a password would be stored in the result; let the server trust this \
                 user instead"
                    .to_owned(),
            );
        }
        if path.contains(['?', '#']) {
            return Err(format!("\"{path}\" holds more than the name of a database"));
        }
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) => {
                let port = port.parse().map_err(|_| format!("\"{port}\" is no port"))?;
                (host, port)
            }
            None => (place, default_port(scheme)),
        };
        if host.is_empty() || scheme.is_empty() {
            return Err("there is no host".to_owned());
        }
        Ok(Self {
            scheme: scheme.to_owned(),
            user: user.to_owned(),
            host: host.to_owned(),
            port,
            database: path.to_owned(),
        })
    }
}

fn default_port(scheme: &str) -> u16 {
    match scheme {
        "postgresql" => 5432,
        "mysql" => 3306,
        "http" => 8123,
        "cassandra" => 9042,
        _ => 0,
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.user.is_empty() { "" } else { "@" };
        write!(
            f,
            "{}://{}{at}{}:{}/{}",
            self.scheme, self.user, self.host, self.port, self.database
        )
    }
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listening {
    /// On a socket.
    Socket(PathBuf),
    /// On TCP.
    Tcp(String, u16),
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

impl Listening {
    fn connect(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
            Self::Tcp(host, port) => {
                let addresses = (host.as_str(), *port).to_socket_addrs()?;
                let mut last = io::Error::from(io::ErrorKind::NotFound);
                for address in addresses {
                    match TcpStream::connect_timeout(&address, PATIENCE) {
                        Ok(stream) => {
                            stream.set_read_timeout(Some(PATIENCE))?;
                            stream.set_write_timeout(Some(PATIENCE))?;
                            return Ok(Box::new(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }
}

/// What a running server says it is.
pub(super) fn version(kind: ServiceKind, url: &Url) -> io::Result<String> {
    let at = Listening::Tcp(url.host.clone(), url.port);
    let title = kind.title();
    Ok(match kind {
        ServiceKind::Postgresql | ServiceKind::Cockroachdb => {
            let user = if url.user.is_empty() {
                "postgres"
            } else {
                &url.user
            };
            let database = if url.database.is_empty() {
                user
            } else {
                &url.database
            };
            format!("{title} {}", postgresql(&at, user, database, None)?)
        }
        ServiceKind::Mariadb => format!("{title} {}", mysql(&at)?),
        ServiceKind::Clickhouse => {
            let path = "/?query=SELECT%20version()";
            format!("{title} {}", http(&at, path)?.trim())
        }
        ServiceKind::Cassandra => format!("{title} {}", cql(&at)?),
    })
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Logs in without a password, runs a statement when there is one, and gives the server's version.
pub(super) fn postgresql(
    at: &Listening,
    user: &str,
    database: &str,
    statement: Option<&str>,
) -> io::Result<String> {
    const PROTOCOL: i32 = 196_608;
    let mut stream = at.connect()?;
    let mut body = PROTOCOL.to_be_bytes().to_vec();
    for text in ["user", user, "database", database] {
        body.extend_from_slice(text.as_bytes());
        body.push(0);
    }
    body.push(0);
    let length = i32::try_from(body.len() + 4).map_err(io::Error::other)?;
    stream.write_all(&length.to_be_bytes())?;
    stream.write_all(&body)?;
    let version = until_ready(&mut *stream)?;
    if let Some(statement) = statement {
        let length = i32::try_from(statement.len() + 5).map_err(io::Error::other)?;
        stream.write_all(b"Q")?;
        stream.write_all(&length.to_be_bytes())?;
        stream.write_all(statement.as_bytes())?;
        stream.write_all(&[0])?;
        until_ready(&mut *stream)?;
    }
    // Terminate; one that is gone already does not mind.
    let _ = stream.write_all(&[b'X', 0, 0, 0, 4]);
    Ok(version)
}

/// Reads messages until the server is ready for a query; gives its version when it said so.
fn until_ready(stream: &mut dyn Stream) -> io::Result<String> {
    let mut version = String::new();
    let mut refusal = None;
    for _ in 0..MESSAGES_LIMIT {
        let mut head = [0; 5];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let length = length
            .checked_sub(4)
            .filter(|length| *length <= MESSAGE_LIMIT);
        let mut body = vec![0; length.ok_or_else(|| invalid("this is not PostgreSQL's protocol"))?];
        stream.read_exact(&mut body)?;
        match head[0] {
            b'R' if body.first_chunk::<4>() != Some(&[0; 4]) => {
                return Err(invalid("the server asks for a password"));
            }
            b'S' => {
                let mut texts = body.split(|byte| *byte == 0);
                if texts.next() == Some(b"server_version") {
                    version = String::from_utf8_lossy(texts.next().unwrap_or_default()).into();
                }
            }
            b'E' => refusal = Some(postgresql_error(&body)),
            b'Z' => match refusal {
                None => return Ok(version),
                Some(what) => return Err(invalid(what)),
            },
            _ => {}
        }
        // While it starts up it refuses and closes.
        if let (b'E', Some(what)) = (head[0], &refusal)
            && what.starts_with("FATAL")
        {
            return Err(invalid(what.clone()));
        }
    }
    Err(invalid("the server does not come to an end"))
}

fn postgresql_error(body: &[u8]) -> String {
    let fields = body.split(|byte| *byte == 0);
    let of = |code: u8| {
        let mut fields = fields.clone();
        let field = fields.find(|field| field.first() == Some(&code));
        field.map_or_else(String::new, |field| {
            String::from_utf8_lossy(&field[1..]).into()
        })
    };
    // V is the severity that is never translated.
    format!("{} {}", of(b'V'), of(b'M')).trim().to_owned()
}

/// The greeting of MariaDB or MySQL holds its version.
pub(super) fn mysql(at: &Listening) -> io::Result<String> {
    let mut stream = at.connect()?;
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    if length == 0 || length > MESSAGE_LIMIT {
        return Err(invalid("this is not MySQL's protocol"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    match body.split_first() {
        Some((10, rest)) => {
            let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
            let version = String::from_utf8_lossy(&rest[..end]).into_owned();
            // MariaDB puts this before its version for old clients.
            Ok(version.trim_start_matches("5.5.5-").to_owned())
        }
        Some((255, rest)) => {
            let words = String::from_utf8_lossy(rest.get(2..).unwrap_or_default());
            Err(invalid(format!("the server refuses: {words}")))
        }
        _ => Err(invalid("this is not MySQL's protocol")),
    }
}

/// The body of an answer to a GET with status 200.
pub(super) fn http(at: &Listening, path: &str) -> io::Result<String> {
    ask(at, "GET", path)
}

/// The same of a POST without a body.
pub(super) fn http_post(at: &Listening, path: &str) -> io::Result<String> {
    ask(at, "POST", path)
}

fn ask(at: &Listening, verb: &str, path: &str) -> io::Result<String> {
    let mut stream = at.connect()?;
    let request = format!(
        "{verb} {path} HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes())?;
    let mut reader = BufReader::new(stream.take(MESSAGE_LIMIT as u64));
    let mut status = String::new();
    reader.read_line(&mut status)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let mut body = String::new();
    reader.read_to_string(&mut body)?;
    match status.split_whitespace().nth(1) {
        Some("200") => Ok(body),
        _ => Err(invalid(format!("{} {}", status.trim(), body.trim()))),
    }
}

/// Asks a CQL server for its options, which it gives without a login; its name when it has one.
pub(super) fn cql(at: &Listening) -> io::Result<String> {
    const OPTIONS: [u8; 9] = [4, 0, 0, 0, 5, 0, 0, 0, 0];
    const SUPPORTED: u8 = 6;
    let mut stream = at.connect()?;
    stream.write_all(&OPTIONS)?;
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) as usize;
    if head[4] != SUPPORTED || length > MESSAGE_LIMIT {
        return Err(invalid("the server does not speak CQL version 4"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body);
    Ok(if text.contains("SCYLLA_") {
        "(ScyllaDB)"
    } else {
        "over CQL 4"
    }
    .to_owned())
}

/// A port of the loopback address that nobody uses at the moment.
pub(super) fn free_port() -> io::Result<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
    Ok(listener.local_addr()?.port())
}

/// Whether a path fits into the address of a socket.
pub(super) fn fits_socket(path: &Path) -> bool {
    const LIMIT: usize = 107;
    path.as_os_str().len() <= LIMIT
}

/// Percent-encodes what is not plain in a URL's query.
pub(super) fn encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let one = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
            char::from(*byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    bytes.iter().map(one).collect()
}

//! A stub that speaks as much of CQL v4 as the driver needs, into a map. It is no database, and
//! its speed says nothing: it exists to check what the driver sends.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What has arrived.
#[derive(Debug, Default)]
pub struct Seen {
    pub rows: HashMap<Vec<u8>, Vec<Vec<u8>>>,
    pub writes: u64,
    pub reads: u64,
    pub statements: Vec<String>,
    /// Statements on system tables that were prepared; their place is the id.
    prepared: Vec<String>,
    /// Every so many writes one is refused as too much; 0 is never.
    pub refuse_every: u64,
    pub refused: u64,
    /// Changes what is written.
    pub forges: bool,
}

pub struct Stub {
    pub port: u16,
    pub seen: Arc<Mutex<Seen>>,
}

/// Listens for as long as the process lives.
pub fn start() -> Stub {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let shared = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = Arc::clone(&shared);
            std::thread::spawn(move || serve(stream, &seen));
        }
    });
    Stub { port, seen }
}

const OPTIONS: u8 = 5;
const QUERY: u8 = 7;
const PREPARE: u8 = 9;
const EXECUTE: u8 = 10;
const ERROR: u8 = 0;
const READY: u8 = 2;
const SUPPORTED: u8 = 6;
const RESULT: u8 = 8;

const BLOB: u16 = 3;
const UUID: u16 = 12;
const TEXT: u16 = 13;
const INET: u16 = 16;
const SET: u16 = 34;

fn serve(mut stream: TcpStream, seen: &Mutex<Seen>) {
    let _ = stream.set_nodelay(true);
    let mut header = [0; 9];
    while stream.read_exact(&mut header).is_ok() {
        assert_eq!(header[0], 4, "a request of CQL v4");
        assert_eq!(header[1] & 1, 0, "no compression was agreed on");
        let length = u32::from_be_bytes(header[5..].try_into().unwrap()) as usize;
        assert!(length < 1 << 20, "requests are short");
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).is_err() {
            return;
        }
        let (code, body) = answer(header[4], &body, &mut seen.lock().unwrap());
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        let head = [0x84, 0, header[2], header[3], code];
        if stream
            .write_all(&[&head[..], &length, &body].concat())
            .is_err()
        {
            return;
        }
    }
}

fn answer(code: u8, body: &[u8], seen: &mut Seen) -> (u8, Vec<u8>) {
    match code {
        OPTIONS => {
            let versions = [short(1), text("3.4.4")].concat();
            (
                SUPPORTED,
                [short(1), text("CQL_VERSION"), versions].concat(),
            )
        }
        QUERY => query(&long_text(body), seen),
        PREPARE => match long_text(body) {
            ours if ours.contains("keyspace1.standard1") => (RESULT, prepared(&ours)),
            other => (RESULT, prepared_of_system(other, seen)),
        },
        EXECUTE => execute(body, seen),
        // STARTUP and REGISTER.
        _ => (READY, Vec::new()),
    }
}

fn query(statement: &str, seen: &mut Seen) -> (u8, Vec<u8>) {
    seen.statements.push(statement.to_owned());
    let nodes = [
        ("host_id", vec![UUID]),
        ("rpc_address", vec![INET]),
        ("data_center", vec![TEXT]),
        ("rack", vec![TEXT]),
        ("tokens", vec![SET, TEXT]),
        ("cluster_name", vec![TEXT]),
    ];
    let token = [long(1), bytes(b"0")].concat();
    let values = [
        bytes(&[7; 16]),
        bytes(&[127, 0, 0, 1]),
        bytes(b"datacenter1"),
        bytes(b"rack1"),
        bytes(&token),
        bytes(b"stub"),
    ];
    let one = |name: &'static str, kind: u16, value: &[u8]| {
        (RESULT, rows(&[(name, vec![kind])], &[bytes(value)], 1))
    };
    match statement {
        text if text.contains("release_version") => one("release_version", TEXT, b"stub of a test"),
        text if text.contains("schema_version") => one("schema_version", UUID, &[9; 16]),
        text if text.contains("FROM system.peers") => (RESULT, rows(&nodes[..5], &[], 0)),
        text if text.contains("tokens, cluster_name FROM system.local") => {
            (RESULT, rows(&nodes, &values, 1))
        }
        text if text.contains("host_id FROM system.local") => one("host_id", UUID, &[7; 16]),
        text if text.starts_with("CREATE KEYSPACE") => {
            (RESULT, changed("CREATED", "KEYSPACE", None))
        }
        text if text.starts_with("DROP TABLE") => {
            seen.rows.clear();
            (RESULT, changed("DROPPED", "TABLE", Some("standard1")))
        }
        text if text.starts_with("CREATE TABLE") => {
            (RESULT, changed("CREATED", "TABLE", Some("standard1")))
        }
        other => (
            ERROR,
            [
                long(0x2200),
                text(&format!("the stub does not know {other}")),
            ]
            .concat(),
        ),
    }
}

/// Name and type, as CQL's numbers.
type Column<'a> = (&'a str, Vec<u16>);

const VALUES: [&str; 5] = ["C0", "C1", "C2", "C3", "C4"];

/// Ids are `w` for the write and `r` for the read.
fn prepared(statement: &str) -> Vec<u8> {
    let is_write = statement.starts_with("UPDATE keyspace1.standard1 SET");
    let values = VALUES.map(|name| (name, vec![BLOB]));
    let key = ("key", vec![BLOB]);
    let shown: &[Column<'_>] = if is_write { &[] } else { &values };
    let (id, bound, key_at): (&[u8], Vec<_>, u16) = match is_write {
        true => (b"w", values.iter().cloned().chain([key]).collect(), 5),
        false => (b"r", vec![key], 0),
    };
    let bind = [
        long(1),
        long(u32::try_from(bound.len()).unwrap()),
        long(1),
        short(key_at),
        text("keyspace1"),
        text("standard1"),
        columns(&bound),
    ];
    let result = match shown.is_empty() {
        true => [long(4), long(0)].concat(),
        false => metadata(shown),
    };
    [long(4), short(1), id.to_vec(), bind.concat(), result].concat()
}

/// Without values; what the columns are is told with each answer.
fn prepared_of_system(statement: String, seen: &mut Seen) -> Vec<u8> {
    let place = u8::try_from(seen.prepared.len()).unwrap();
    seen.prepared.push(statement);
    let nothing_bound = [long(0), long(0), long(0)].concat();
    let columns_later = [long(4), long(0)].concat();
    [
        long(4),
        short(2),
        vec![b's', place],
        nothing_bound,
        columns_later,
    ]
    .concat()
}

fn execute(body: &[u8], seen: &mut Seen) -> (u8, Vec<u8>) {
    if body[..3] == [0, 2, b's'] {
        let statement = seen.prepared[usize::from(body[3])].clone();
        return query(&statement, seen);
    }
    let id = body[2];
    assert_eq!(body[..2], [0, 1], "an id of one byte");
    let consistency = u16::from_be_bytes([body[3], body[4]]);
    assert_eq!(consistency, 10, "LOCAL_ONE");
    assert_eq!(body[5] & 1, 1, "values follow");
    let count = u16::from_be_bytes([body[6], body[7]]);
    let mut rest = &body[8..];
    let values: Vec<Vec<u8>> = (0..count)
        .map(|_| {
            let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
            let value = rest[4..4 + length].to_vec();
            rest = &rest[4 + length..];
            value
        })
        .collect();
    match id {
        b'w' => write(values, seen),
        b'r' => read(&values[0], seen),
        other => panic!("nothing was prepared with the id {other}"),
    }
}

fn write(mut values: Vec<Vec<u8>>, seen: &mut Seen) -> (u8, Vec<u8>) {
    assert_eq!(values.len(), 6);
    let key = values.pop().unwrap();
    assert!(
        key.len() == 10 && key.iter().all(u8::is_ascii_hexdigit),
        "{key:?}"
    );
    assert!(values.iter().all(|value| value.len() == 34));
    seen.writes += 1;
    if seen.refuse_every > 0 && seen.writes.is_multiple_of(seen.refuse_every) {
        seen.refused += 1;
        return (
            ERROR,
            [long(0x1001), text("the stub has too much to do")].concat(),
        );
    }
    if seen.forges {
        values[3][0] ^= 1;
    }
    seen.rows.insert(key, values);
    (RESULT, long(1))
}

fn read(key: &[u8], seen: &mut Seen) -> (u8, Vec<u8>) {
    seen.reads += 1;
    let shown = VALUES.map(|name| (name, vec![BLOB]));
    match seen.rows.get(key) {
        None => (RESULT, rows(&shown, &[], 0)),
        Some(values) => {
            let values: Vec<Vec<u8>> = values.iter().map(|value| bytes(value)).collect();
            (RESULT, rows(&shown, &values, 1))
        }
    }
}

fn rows(shown: &[Column<'_>], values: &[Vec<u8>], count: u32) -> Vec<u8> {
    [long(2), metadata(shown), long(count), values.concat()].concat()
}

fn metadata(shown: &[Column<'_>]) -> Vec<u8> {
    let count = long(u32::try_from(shown.len()).unwrap());
    [
        long(1),
        count,
        text("keyspace1"),
        text("standard1"),
        columns(shown),
    ]
    .concat()
}

fn columns(shown: &[Column<'_>]) -> Vec<u8> {
    let kinds = |kinds: &[u16]| {
        kinds
            .iter()
            .flat_map(|kind| short(*kind))
            .collect::<Vec<u8>>()
    };
    let column = |(name, kind): &Column<'_>| [text(name), kinds(kind)].concat();
    shown.iter().flat_map(column).collect()
}

fn changed(change: &str, what: &str, table: Option<&str>) -> Vec<u8> {
    let name = table.map(text).unwrap_or_default();
    [long(5), text(change), text(what), text("keyspace1"), name].concat()
}

fn long_text(body: &[u8]) -> String {
    let length = u32::from_be_bytes(body[..4].try_into().unwrap()) as usize;
    String::from_utf8(body[4..4 + length].to_vec()).unwrap()
}

fn short(number: u16) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn long(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

fn text(text: &str) -> Vec<u8> {
    [
        short(u16::try_from(text.len()).unwrap()),
        text.as_bytes().to_vec(),
    ]
    .concat()
}

fn bytes(value: &[u8]) -> Vec<u8> {
    [long(u32::try_from(value.len()).unwrap()), value.to_vec()].concat()
}

//! Servers that close, say something else, or nothing: an error that says what to do, no hang.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use fathom_base::Cancel;
use fathom_profiles::drivers::{Address, DriverError, Endpoint, driver};

use crate::harness::{options, with_call};

/// Serves every connection by `act` for as long as the process lives.
fn server(act: fn(TcpStream)) -> Endpoint {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || act(stream));
        }
    });
    Endpoint {
        address: Address::Tcp {
            host: "127.0.0.1".to_owned(),
            port,
        },
        user: "fathom".to_owned(),
        password: None,
        database: "test".to_owned(),
    }
}

fn closes(stream: TcpStream) {
    drop(stream);
}

fn stalls(stream: TcpStream) {
    std::thread::sleep(Duration::from_secs(60));
    drop(stream);
}

fn talks_http(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let _ = stream.read(&mut [0; 512]);
}

fn talks_zeros(mut stream: TcpStream) {
    let _ = stream.write_all(&[0; 4096]);
    let _ = stream.read(&mut [0; 512]);
}

fn floods(mut stream: TcpStream) {
    // One long message that never ends.
    let _ = stream.write_all(b"D\x7f\xff\xff\xff");
    while stream.write_all(&[0x44; 65_536]).is_ok() {}
}

const SQL_DRIVERS: [&str; 4] = ["pgbench", "cockroach-kv", "sysbench-oltp", "mariadb-slap"];

const ALL_DRIVERS: [&str; 6] = [
    "pgbench",
    "cockroach-kv",
    "sysbench-oltp",
    "mariadb-slap",
    "cassandra",
    "clickhouse-hits",
];

fn error_of(id: &str, endpoint: &Endpoint) -> DriverError {
    let options = options(&[]);
    with_call(Duration::from_millis(300), &Cancel::new(), |call| {
        driver(id)
            .unwrap()
            .run(endpoint, &options, call)
            .unwrap_err()
    })
}

#[test]
fn a_server_that_misbehaves_is_an_error_that_says_what_to_do() {
    type Act = fn(TcpStream);
    let acts: [(&str, Act); 5] = [
        ("closes", closes),
        ("stalls", stalls),
        ("http", talks_http),
        ("zeros", talks_zeros),
        ("floods", floods),
    ];
    let hints = [
        "the server's log",
        "is it a",
        "allow more time",
        "is the server running",
    ];
    for (name, act) in acts {
        let endpoint = server(act);
        for id in ALL_DRIVERS {
            let text = error_of(id, &endpoint).to_string();
            assert!(
                hints.iter().any(|hint| text.contains(hint)),
                "{id}, {name}: {text}"
            );
            assert!(text.contains("127.0.0.1:"), "{id}, {name}: {text}");
        }
    }
}

#[test]
fn nobody_listening_is_said() {
    let mut endpoint = server(closes);
    endpoint.address = Address::Socket("/nonexistent/.s.PGSQL.5432".into());
    for id in SQL_DRIVERS {
        let text = error_of(id, &endpoint).to_string();
        assert!(text.contains("is the server running"), "{id}: {text}");
    }
}

#[test]
fn a_server_that_falls_silent_in_the_middle_is_given_up() {
    let endpoint = server(greets_and_falls_silent);
    let error = error_of("pgbench", &endpoint);
    assert!(matches!(error, DriverError::Stalled { .. }), "{error}");
}

/// Lets anyone in and then says no more.
fn greets_and_falls_silent(mut stream: TcpStream) {
    let _ = stream.read(&mut [0; 512]);
    let _ = stream.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I");
    std::thread::sleep(Duration::from_secs(60));
}

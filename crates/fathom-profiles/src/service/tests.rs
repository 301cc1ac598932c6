use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use super::user::Unprivileged;
use super::wire::{Url, encoded};
use super::*;
use fathom_testkit::{Bench, skipped};

/// Answers the first connection with these bytes.
fn answering(bytes: &'static [u8]) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read(&mut [0; 1000]);
    });
    port
}

#[test]
fn urls_are_read_and_passwords_refused() {
    let url = Url::parse("postgresql://ann@db.example:6543/bench").unwrap();
    assert_eq!(url.to_string(), "postgresql://ann@db.example:6543/bench");
    assert_eq!(Url::parse("mysql://host").unwrap().port, 3306);
    for (text, expected) in [
        ("host:1", "there is no ://"),
        ("postgresql://ann:secret@host", "with a password"),
        ("postgresql://", "there is no host"),
        ("postgresql://host:x/", "is no port"),
        ("postgresql://host/a?b=c", "more than the name"),
    ] {
        let said = Url::parse(text).unwrap_err();
        assert!(
            said.contains(expected) && !said.contains("secret"),
            "{text}: {said}"
        );
    }
    assert_eq!(encoded(Path::new("/a b/c%d")), "/a%20b/c%25d");
}

#[test]
fn a_server_that_is_missing_says_how_to_get_it() {
    for kind in ServiceKind::ALL {
        let unmet = find(kind, None, OsStr::new("")).unwrap_err();
        assert!(unmet.what.contains(kind.title()), "{unmet:?}");
        assert!(unmet.hint.contains("-o server="), "{unmet:?}");
        let unmet = find(kind, Some("/nowhere"), OsStr::new("/bin")).unwrap_err();
        assert!(unmet.what.contains("/nowhere"), "{unmet:?}");
        let unmet = find(kind, Some("ftp://host/"), OsStr::new("/bin")).unwrap_err();
        assert!(unmet.what.contains("begins with ftp"), "{unmet:?}");
    }
}

#[test]
fn what_answers_otherwise_is_no_server() {
    let answers: [&'static [u8]; 4] = [b"", b"HTTP/1.0 404 Not Found\r\n\r\n", &[0xff; 64], b"R"];
    for bytes in answers {
        for (kind, scheme) in [
            (ServiceKind::Postgresql, "postgresql"),
            (ServiceKind::Mariadb, "mysql"),
            (ServiceKind::Clickhouse, "http"),
            (ServiceKind::Cassandra, "cassandra"),
        ] {
            let url = format!("{scheme}://127.0.0.1:{}/", answering(bytes));
            let unmet = find(kind, Some(&url), OsStr::new("/bin")).unwrap_err();
            assert!(unmet.what.contains("does not answer as"), "{unmet:?}");
        }
    }
}

#[test]
fn users_without_privileges_are_found() {
    let passwd = "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n";
    assert_eq!(Unprivileged::of(passwd).name, "nobody");
    let passwd = format!("{passwd}postgres:x:110:117::/var/lib/postgresql:/bin/bash\n");
    let user = Unprivileged::of(&passwd);
    assert_eq!(
        (user.name.as_str(), user.user, user.group),
        ("postgres", 110, 117)
    );
    // One that is root by another name is not taken.
    assert_eq!(Unprivileged::of("postgres:x:0:0::/:/bin/sh\n").user, 65_534);
    assert_eq!(Unprivileged::of("").user, 65_534);
}

/// A bench on a directory that other users reach, since a server may refuse to run as root.
fn bench() -> Bench {
    use std::os::unix::fs::PermissionsExt;
    let mut bench = Bench::new();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.directory(), open).unwrap();
    bench.host.is_root = is_root();
    bench.host.cpus = 2;
    bench
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

/// The test of a built-in profile by its program, when everything is here.
fn test_of(id: &str, bench: &Bench) -> Option<Box<dyn fathom_model::Test>> {
    let profiles = crate::Profiles::built_in().unwrap();
    let tests = profiles.tests(&bench.host.search_path);
    let mut tests = tests.into_iter().filter(|test| {
        let info = test.info();
        info.id == id && info.implementation.kind == fathom_model::ImplementationKind::Program
    });
    let test = tests.next()?;
    let case = Bench::case(&*test, &[("scale", "short")]);
    match &test.check(&bench.host, &case)[..] {
        [] => Some(test),
        [first, ..] => {
            skipped(&first.what);
            None
        }
    }
}

#[test]
fn pgbench_conforms_over_a_server_of_its_own() {
    let mut bench = bench();
    let Some(test) = test_of("pgbench", &bench) else {
        return;
    };
    let typed = [("scale", "short"), ("clients", "2")];
    let trials = fathom_testkit::conforms(&*test, &typed, &mut bench);
    for trial in &trials {
        assert!(trial.values["tps"].value() > 0.0);
        assert!(trial.evidence.counts["transactions"] > 0);
        let notes = trial.evidence.notes.join("\n");
        assert!(notes.contains("server: PostgreSQL 1"), "{notes}");
        assert!(notes.contains("shared_buffers=128MB"), "{notes}");
        assert!(notes.contains("checked: sums of accounts"), "{notes}");
    }
}

#[test]
fn mariadb_slap_conforms_over_a_server_of_its_own() {
    let mut bench = bench();
    let Some(test) = test_of("mariadb-slap", &bench) else {
        return;
    };
    let typed = [("scale", "short"), ("clients", "2"), ("iterations", "1")];
    let trials = fathom_testkit::conforms(&*test, &typed, &mut bench);
    for trial in &trials {
        let value = |id: &str| trial.values[id].value();
        let ratio = value("aggregate-rate") / value("queries-per-second");
        assert!((ratio - 2.0).abs() < 1e-9, "two clients: {ratio}");
        assert!(trial.evidence.notes.join("\n").contains("server: MariaDB"));
    }
}

#[test]
fn two_servers_at_once_do_not_meet() {
    let bench = bench();
    let Some(test) = test_of("pgbench", &bench) else {
        return;
    };
    let case = |mode| Bench::case(&*test, &[("scale", "short"), ("mode", mode)]);
    let (one, two) = (case("read-only"), case("read-write"));
    let one = test.prepare(&one, &bench.context(0)).unwrap();
    let two = test.prepare(&two, &bench.context(0)).unwrap();
    one.finish(&bench.context(0)).unwrap();
    two.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn a_server_that_does_not_start_tells_why_and_leaves_nothing() {
    let bench = bench();
    let Some(test) = test_of("pgbench", &bench) else {
        return;
    };
    let text = include_str!("../../../../profiles/pgbench.toml");
    let text = text.replace(
        "shared_buffers = \"{buffers-mib}MB\"",
        "shared_buffers = \"much\"",
    );
    let profile = crate::profile::Profile::parse("x.toml", &text).unwrap();
    drop(test);
    let tests = crate::ProfileTest::of(&std::sync::Arc::new(profile), &bench.host.search_path);
    let error = bench
        .run(&tests[0], &[("scale", "short")], 1)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("shared_buffers") && error.contains("while starting"),
        "{error}"
    );
}

#[test]
fn plain_profiles_conform() {
    let mut bench = bench();
    for id in ["ioping", "sqlite3-program", "sysbench-fileio"] {
        let Some(test) = test_of(id, &bench) else {
            continue;
        };
        let trials = fathom_testkit::conforms(&*test, &[("scale", "short")], &mut bench);
        assert!(trials[0].evidence.notes[0].starts_with("ran: "));
        bench = self::bench();
    }
}

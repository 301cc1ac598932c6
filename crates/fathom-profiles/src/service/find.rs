use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use fathom_base::process::find_program;
use fathom_model::{Host, Unmet};
use regex_lite::Regex;

use super::handle::ServiceKind;
use super::user::Unprivileged;
use super::wire::Url;
use crate::locate::{directories, version_of};
use crate::profile::{ServiceSpec, VersionSpec};

/// A server that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How it is reached or started.
    pub place: FoundPlace,
    /// What it is: `PostgreSQL 15.18`.
    pub version: String,
    /// Directories of its programs, its clients among them.
    pub programs: Vec<PathBuf>,
}

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundPlace {
    /// Its program.
    Program(PathBuf),
    /// Python's module `chdb`, run by this interpreter.
    Chdb(PathBuf),
    /// It runs already.
    Running(Url),
}

/// Where the programs of a kind of server are, and what to do when they are not.
struct Lookup {
    programs: &'static [&'static str],
    places: &'static [&'static str],
    arguments: &'static [&'static str],
    version: &'static str,
    how_to_get: &'static str,
}

fn lookup(kind: ServiceKind) -> Lookup {
    match kind {
        ServiceKind::Postgresql => Lookup {
            programs: &["postgres"],
            places: &[
                "/usr/lib/postgresql/*/bin",
                "/usr/pgsql-*/bin",
                "/usr/local/pgsql/bin",
            ],
            arguments: &["--version"],
            version: r"\(PostgreSQL\) ([0-9][0-9A-Za-z.]*)",
            how_to_get: "apt-get install postgresql, or -o server=DIRECTORY of its programs",
        },
        ServiceKind::Mariadb => Lookup {
            programs: &["mariadbd", "mysqld"],
            places: &[
                "/usr/sbin",
                "/usr/local/mysql/bin",
                "/usr/local/mariadb/bin",
            ],
            arguments: &["--no-defaults", "--version"],
            version: r"Ver ([0-9][0-9A-Za-z.]*)",
            how_to_get: "apt-get install mariadb-server-core mariadb-client, or \
                         -o server=DIRECTORY of its programs",
        },
        ServiceKind::Clickhouse => Lookup {
            programs: &["clickhouse"],
            places: &["/opt/clickhouse/bin"],
            arguments: &["local", "--version"],
            version: r"version ([0-9][0-9.]*)",
            how_to_get: "pip install chdb-core (the engine as a Python module), or ClickHouse's own \
                         program from its makers, then -o server=DIRECTORY; Debian's 18.16 is too \
                         old for the queries",
        },
        ServiceKind::Cassandra => Lookup {
            programs: &["cassandra", "scylla"],
            places: &[
                "/opt/cassandra/bin",
                "/usr/share/cassandra/bin",
                "/opt/scylladb/bin",
            ],
            arguments: &["-v"],
            version: r"^([0-9][0-9.]*)",
            how_to_get: "no Debian package: unpack apache-cassandra-4.1.3-bin.tar.gz of \
                         cassandra.apache.org (needs Java 11), then -o server=DIRECTORY/bin, or \
                         -o server=cassandra://HOST:9042 for one that runs",
        },
        ServiceKind::Cockroachdb => Lookup {
            programs: &["cockroach"],
            places: &["/opt/cockroach", "/opt/cockroachdb"],
            arguments: &["version", "--build-tag"],
            version: r"v([0-9][0-9.]*)",
            how_to_get: "no Debian package, and its licence forbids to ship it: unpack \
                         cockroach-v22.2.0.linux-amd64.tgz of cockroachlabs.com, then \
                         -o server=DIRECTORY, or -o server=postgresql://root@HOST:26257/defaultdb \
                         for one that runs",
        },
    }
}

/// The oldest ClickHouse whose dialect the queries are written in.
const OLDEST_CLICKHOUSE: u32 = 21;

/// Looks for a server: `asked` is `found`, a directory with its programs, or the URL of one that
/// runs. Starts nothing but the programs' own `--version`.
///
/// # Errors
/// What is missing and how to get it.
pub fn find(kind: ServiceKind, asked: Option<&str>, search_path: &OsStr) -> Result<Found, Unmet> {
    match asked.map(str::trim) {
        None | Some("" | "found") => found_here(kind, search_path),
        Some(url) if url.contains("://") => running(kind, url),
        Some(directory) => in_directory(kind, Path::new(directory), search_path),
    }
}

fn missing(kind: ServiceKind, what: String) -> Unmet {
    Unmet {
        what,
        hint: lookup(kind).how_to_get.to_owned(),
    }
}

fn found_here(kind: ServiceKind, search_path: &OsStr) -> Result<Found, Unmet> {
    let looked = lookup(kind);
    let absent = || {
        missing(
            kind,
            format!("the {} server is not on this machine", kind.title()),
        )
    };
    if search_path.is_empty() {
        return Err(absent());
    }
    let places = looked.places.iter().flat_map(|place| directories(place));
    let places = places.chain(std::env::split_paths(search_path));
    let program = places
        .filter_map(|directory| named(&looked, &directory))
        .next();
    match program {
        Some(program) => of_program(kind, program, search_path),
        None if kind == ServiceKind::Clickhouse => chdb(search_path).ok_or_else(absent),
        None => Err(absent()),
    }
}

fn named(looked: &Lookup, directory: &Path) -> Option<PathBuf> {
    let mut names = looked.programs.iter();
    names.find_map(|name| find_program(name, directory.as_os_str()))
}

fn in_directory(kind: ServiceKind, directory: &Path, search_path: &OsStr) -> Result<Found, Unmet> {
    // The interpreter whose `chdb` is meant.
    if kind == ServiceKind::Clickhouse && directory.join("python3").exists() {
        return chdb(directory.as_os_str()).ok_or_else(|| {
            let shown = directory.display();
            missing(kind, format!("the python3 in {shown} has no module chdb"))
        });
    }
    match named(&lookup(kind), directory) {
        Some(program) => of_program(kind, program, search_path),
        None => {
            let names = lookup(kind).programs.join(" or ");
            let what = format!("there is no {names} in server={}", directory.display());
            Err(missing(kind, what))
        }
    }
}

fn of_program(kind: ServiceKind, program: PathBuf, search_path: &OsStr) -> Result<Found, Unmet> {
    let looked = lookup(kind);
    let spec = Regex::new(looked.version).ok().map(|regex| VersionSpec {
        arguments: looked
            .arguments
            .iter()
            .map(|&word| word.to_owned())
            .collect(),
        regex,
    });
    let version = spec.map_or_else(String::new, |spec| version_of(&program, &spec));
    if kind == ServiceKind::Clickhouse && major(&version) < OLDEST_CLICKHOUSE {
        // One that is too old is no worse than none.
        return chdb(search_path).ok_or_else(|| {
            missing(
                kind,
                format!(
                    "ClickHouse {version} ({}) is too old; {OLDEST_CLICKHOUSE} or newer is needed",
                    program.display()
                ),
            )
        });
    }
    let title = match program.file_name().and_then(OsStr::to_str) {
        Some("scylla") => "ScyllaDB",
        _ => kind.title(),
    };
    let own = program.parent().map(Path::to_path_buf);
    Ok(Found {
        version: format!("{title} {version}").trim().to_owned(),
        programs: own.into_iter().collect(),
        place: FoundPlace::Program(program),
    })
}

fn major(version: &str) -> u32 {
    let first = version.split('.').next().unwrap_or_default();
    first.parse().unwrap_or(0)
}

/// Python's module `chdb`: the engine of ClickHouse without its server.
fn chdb(search_path: &OsStr) -> Option<Found> {
    let python = find_program("python3", search_path)?;
    let spec = VersionSpec {
        arguments: vec![
            "-c".to_owned(),
            "import chdb; print('engine', getattr(chdb, 'engine_version', ''), chdb.__version__)"
                .to_owned(),
        ],
        regex: Regex::new(r"^engine ([0-9][0-9.]*)").ok()?,
    };
    let version = version_of(&python, &spec);
    (!version.is_empty()).then(|| Found {
        version: format!("ClickHouse {version} (chdb)"),
        programs: Vec::new(),
        place: FoundPlace::Chdb(python),
    })
}

fn running(kind: ServiceKind, url: &str) -> Result<Found, Unmet> {
    let wrong = |what: String| Unmet {
        what,
        hint: "server=postgresql://USER@HOST:PORT/DATABASE, mysql://..., http://HOST:8123/, \
               cassandra://HOST:9042"
            .to_owned(),
    };
    let url = Url::parse(url).map_err(wrong)?;
    let expected = match kind {
        ServiceKind::Postgresql | ServiceKind::Cockroachdb => "postgresql",
        ServiceKind::Mariadb => "mysql",
        ServiceKind::Clickhouse => "http",
        ServiceKind::Cassandra => "cassandra",
    };
    if url.scheme != expected {
        return Err(wrong(format!(
            "server={url} begins with {}, a {} server's URL with {expected}",
            url.scheme,
            kind.title()
        )));
    }
    let version = super::wire::version(kind, &url).map_err(|error| {
        wrong(format!(
            "server={url} does not answer as {}: {error}",
            kind.title()
        ))
    })?;
    Ok(Found {
        version: format!("{version} at {}:{}", url.host, url.port),
        programs: Vec::new(),
        place: FoundPlace::Running(url),
    })
}

impl Found {
    /// Why it cannot be started on the target, if it cannot.
    pub(crate) fn unfit(&self, host: &Host, spec: &ServiceSpec) -> Option<Unmet> {
        let is_started = matches!(self.place, FoundPlace::Program(_));
        if !is_started || !host.is_root || spec.kind != ServiceKind::Postgresql {
            return None;
        }
        let user = Unprivileged::find();
        let closed = user.closed(Path::new(&host.target.path))?;
        Some(Unmet {
            what: format!(
                "PostgreSQL refuses to run as root, and {} is closed to user {}",
                closed.display(),
                user.name
            ),
            hint: format!(
                "chmod o+x {}, or choose a target that others can reach",
                closed.display()
            ),
        })
    }
}

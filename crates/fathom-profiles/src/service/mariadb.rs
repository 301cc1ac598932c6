use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_base::files::write_atomic;
use fathom_base::process::{StopSignal, find_program};
use fathom_model::TestError;

use super::handle::{ServiceHandle, ServiceKind};
use super::running::{Launch, Place, in_directory, port};
use super::wire::{self, Listening};

const USER: &str = "root";
const PORT: u16 = 3306;
/// Names of the program that makes the data directory.
const INSTALLERS: [&str; 2] = ["mariadb-install-db", "mysql_install_db"];
/// Where it is when it is not beside the server.
const PLACES: &str = "/usr/bin:/usr/local/bin:/usr/local/mysql/scripts";

pub(super) fn launch(place: &Place<'_>) -> Result<Launch, TestError> {
    let directory = place.directory;
    let socket = directory.join("socket");
    let listening = match wire::fits_socket(&socket) {
        true => Listening::Socket(socket),
        false => Listening::Tcp("127.0.0.1".to_owned(), port()?),
    };
    let data = directory.join("data");
    let statements = directory.join("start.sql");
    let text = format!("CREATE DATABASE IF NOT EXISTS `{}`;\n", place.database);
    write_atomic(&statements, text.as_bytes())?;
    let mut init = in_directory(installer(place.program)?, directory, None);
    init = init
        .args([
            "--no-defaults",
            "--skip-test-db",
            "--auth-root-authentication-method=normal",
        ])
        .args([format!("--datadir={}", data.display())])
        .args(place.init);
    let mut server = in_directory(place.program.to_path_buf(), directory, None);
    // Must be the first.
    server = server.args(["--no-defaults"]);
    if place.is_root {
        // It runs as root only when it is told so; the data is ours alone either way.
        init = init.args(["--user=root"]);
        server = server.args(["--user=root"]);
    }
    server = server.args([
        format!("--datadir={}", data.display()),
        format!("--init-file={}", statements.display()),
        format!("--pid-file={}", directory.join("pid").display()),
    ]);
    server = match &listening {
        Listening::Socket(path) => {
            let socket = format!("--socket={}", path.display());
            server.args([socket, "--skip-networking".to_owned()])
        }
        Listening::Tcp(host, port) => {
            let socket = directory.join("unused").display().to_string();
            let short = if wire::fits_socket(Path::new(&socket)) {
                socket
            } else {
                String::new()
            };
            server.args([
                format!("--bind-address={host}"),
                format!("--port={port}"),
                format!("--socket={short}"),
            ])
        }
    };
    for (name, value) in place.settings {
        server = server.args([format!("--{name}={value}")]);
    }
    let handle = handle(place, &listening);
    Ok(Launch {
        init: vec![init],
        server,
        signal: StopSignal::Terminate,
        handle,
        ready: Box::new(move || wire::mysql(&listening)),
    })
}

fn installer(server: &Path) -> Result<PathBuf, TestError> {
    let beside = server.parent().unwrap_or(server);
    let places = [beside.as_os_str(), PLACES.as_ref()];
    let mut all = places
        .iter()
        .flat_map(|place| INSTALLERS.iter().map(move |name| (name, place)));
    all.find_map(|(name, place)| find_program(name, place))
        .ok_or_else(|| TestError::Program {
            program: INSTALLERS[0].to_owned(),
            what: "is not installed; it belongs to the server".to_owned(),
        })
}

fn handle(place: &Place<'_>, listening: &Listening) -> ServiceHandle {
    let database = place.database;
    let (socket, host, port, url) = match listening {
        Listening::Socket(path) => {
            let encoded = wire::encoded(path);
            let url = format!("mysql://{USER}@localhost/{database}?socket={encoded}");
            (Some(path.clone()), "localhost".to_owned(), PORT, url)
        }
        Listening::Tcp(host, port) => {
            let url = format!("mysql://{USER}@{host}:{port}/{database}");
            (None, host.clone(), *port, url)
        }
    };
    ServiceHandle {
        kind: ServiceKind::Mariadb,
        url,
        socket,
        host,
        port,
        user: USER.to_owned(),
        database: database.to_owned(),
        version: String::new(),
        settings: BTreeMap::new(),
    }
}

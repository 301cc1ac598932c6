use std::collections::BTreeMap;

use fathom_base::process::StopSignal;
use fathom_model::TestError;

use super::handle::{ServiceHandle, ServiceKind};
use super::running::{Launch, Place, in_directory, port};
use super::user::Unprivileged;
use super::wire::{self, Listening};

/// The superuser of the cluster.
const USER: &str = "bench";
/// Part of the socket's name; nothing listens on TCP where the path fits a socket.
const PORT: u16 = 5432;

pub(super) fn launch(place: &Place<'_>) -> Result<Launch, TestError> {
    let directory = place.directory;
    let user = place.is_root.then(Unprivileged::find);
    if let Some(user) = &user {
        user.take_over(directory, place.scratch)?;
    }
    let ids = user.map(|user| (user.user, user.group));
    let socket = directory.join(format!(".s.PGSQL.{PORT}"));
    let (listening, port) = match wire::fits_socket(&socket) {
        true => (Listening::Socket(socket), PORT),
        false => {
            let port = port()?;
            (Listening::Tcp("127.0.0.1".to_owned(), port), port)
        }
    };
    let data = directory.join("data");
    let mut init = in_directory(place.program.with_file_name("initdb"), directory, ids);
    init = init.args(["--username", USER, "--auth", "trust", "--no-sync", "-D"]);
    init = init.args([&data]).args(place.init);
    let mut server = in_directory(place.program.to_path_buf(), directory, ids).args(["-D"]);
    server = server.args([&data]);
    for (name, value) in settings(place, &listening, port) {
        server = server.args(["-c".to_owned(), format!("{name}={value}")]);
    }
    let database = place.database.to_owned();
    let handle = handle(place, &listening, port);
    let ready = move || {
        // `postgres` is there from the start; ours is made once.
        match wire::postgresql(&listening, USER, &database, None) {
            Err(error) if error.to_string().contains("does not exist") => {
                let make = format!("CREATE DATABASE \"{database}\"");
                wire::postgresql(&listening, USER, "postgres", Some(&make))
            }
            other => other,
        }
    };
    Ok(Launch {
        init: vec![init],
        server,
        // "Fast": clients are not waited for.
        signal: StopSignal::Interrupt,
        handle,
        ready: Box::new(ready),
    })
}

fn settings(place: &Place<'_>, listening: &Listening, port: u16) -> BTreeMap<String, String> {
    let mut settings = place.settings.clone();
    let directory = place.directory.display().to_string();
    let (sockets, addresses) = match listening {
        Listening::Socket(_) => (directory, String::new()),
        Listening::Tcp(host, _) => (String::new(), host.clone()),
    };
    settings.insert("unix_socket_directories".to_owned(), sockets);
    settings.insert("listen_addresses".to_owned(), addresses);
    settings.insert("port".to_owned(), port.to_string());
    settings
}

fn handle(place: &Place<'_>, listening: &Listening, port: u16) -> ServiceHandle {
    let database = place.database;
    let (socket, host, url) = match listening {
        Listening::Socket(_) => {
            let socket = place.directory.to_path_buf();
            let encoded = wire::encoded(&socket);
            let url = format!("postgresql://{USER}@localhost:{port}/{database}?host={encoded}");
            (Some(socket), "localhost".to_owned(), url)
        }
        Listening::Tcp(host, _) => {
            let url = format!("postgresql://{USER}@{host}:{port}/{database}");
            (None, host.clone(), url)
        }
    };
    ServiceHandle {
        kind: ServiceKind::Postgresql,
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

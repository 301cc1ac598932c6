use std::collections::BTreeMap;

use fathom_base::process::StopSignal;
use fathom_model::TestError;

use super::handle::{ServiceHandle, ServiceKind};
use super::running::{Launch, Place, in_directory, port};
use super::wire::{self, Listening};

const HOST: &str = "127.0.0.1";
const USER: &str = "root";

/// One node that trusts everybody who reaches the loopback address, as the original starts it.
pub(super) fn launch(place: &Place<'_>) -> Result<Launch, TestError> {
    let (port, web) = (port()?, port()?);
    let directory = place.directory;
    let mut server = in_directory(place.program.to_path_buf(), directory, None).args([
        "start-single-node".to_owned(),
        "--insecure".to_owned(),
        format!("--store={}", directory.join("data").display()),
        format!("--listen-addr={HOST}:{port}"),
        format!("--http-addr={HOST}:{web}"),
    ]);
    for (name, value) in place.settings {
        server = server.args([format!("--{name}={value}")]);
    }
    let listening = Listening::Tcp(HOST.to_owned(), port);
    let database = place.database.to_owned();
    let make = format!("CREATE DATABASE IF NOT EXISTS \"{database}\"");
    Ok(Launch {
        init: Vec::new(),
        server,
        signal: StopSignal::Terminate,
        handle: ServiceHandle {
            kind: ServiceKind::Cockroachdb,
            url: format!("postgresql://{USER}@{HOST}:{port}/{database}"),
            socket: None,
            host: HOST.to_owned(),
            port,
            user: USER.to_owned(),
            database,
            version: String::new(),
            settings: BTreeMap::new(),
        },
        ready: Box::new(move || wire::postgresql(&listening, USER, "defaultdb", Some(&make))),
    })
}

use std::collections::BTreeMap;

use fathom_base::files::write_atomic;
use fathom_base::process::StopSignal;
use fathom_model::TestError;

use super::handle::{ServiceHandle, ServiceKind};
use super::running::{Launch, Place, in_directory, port};
use super::wire::{self, Listening};

const HOST: &str = "127.0.0.1";
/// Serves the engine in Python's `chdb` over ClickHouse's HTTP interface.
const CHDB_SERVER: &str = include_str!("chdb_server.py");

pub(super) fn launch(place: &Place<'_>) -> Result<Launch, TestError> {
    let port = port()?;
    let directory = place.directory;
    let config = directory.join("config.xml");
    write_atomic(&config, configuration(place, port).as_bytes())?;
    let server = in_directory(place.program.to_path_buf(), directory, None);
    let server = server.args([
        "server".to_owned(),
        format!("--config-file={}", config.display()),
    ]);
    Ok(launched(place, server, port))
}

pub(super) fn launch_chdb(place: &Place<'_>) -> Result<Launch, TestError> {
    let port = port()?;
    let directory = place.directory;
    let script = directory.join("chdb_server.py");
    write_atomic(&script, CHDB_SERVER.as_bytes())?;
    let server = in_directory(place.program.to_path_buf(), directory, None).args([
        script.display().to_string(),
        directory.join("data").display().to_string(),
        port.to_string(),
    ]);
    Ok(launched(place, server, port))
}

fn launched(place: &Place<'_>, server: fathom_base::process::Program, port: u16) -> Launch {
    let listening = Listening::Tcp(HOST.to_owned(), port);
    let make = format!(
        "/?query=CREATE%20DATABASE%20IF%20NOT%20EXISTS%20{}",
        place.database
    );
    let ready = move || {
        wire::http(&listening, "/ping")?;
        // A change is only accepted by POST; the engine in Python takes it either way.
        wire::http_post(&listening, &make)?;
        let version = wire::http(&listening, "/?query=SELECT%20version()")?;
        Ok(version.trim().to_owned())
    };
    Launch {
        init: Vec::new(),
        server,
        signal: StopSignal::Terminate,
        handle: ServiceHandle {
            kind: ServiceKind::Clickhouse,
            url: format!("http://{HOST}:{port}/{}", place.database),
            socket: None,
            host: HOST.to_owned(),
            port,
            user: "default".to_owned(),
            database: place.database.to_owned(),
            version: String::new(),
            settings: BTreeMap::new(),
        },
        ready: Box::new(ready),
    }
}

fn configuration(place: &Place<'_>, port: u16) -> String {
    let path = |name: &str| escaped(&place.directory.join(name).display().to_string());
    let settings: String = place
        .settings
        .iter()
        .map(|(name, value)| format!("  <{name}>{}</{name}>\n", escaped(value)))
        .collect();
    format!(
        "<clickhouse>\n  <logger><level>warning</level><console>1</console></logger>\n  \
         <http_port>{port}</http_port>\n  <listen_host>{HOST}</listen_host>\n  \
         <path>{}/</path>\n  <tmp_path>{}/</tmp_path>\n  \
         <user_files_path>{}/</user_files_path>\n  \
         <users><default><password></password><networks><ip>::/0</ip></networks>\
         <profile>default</profile><quota>default</quota></default></users>\n  \
         <profiles><default></default></profiles>\n  <quotas><default></default></quotas>\n\
         {settings}</clickhouse>\n",
        path("data"),
        path("tmp"),
        path("user_files"),
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

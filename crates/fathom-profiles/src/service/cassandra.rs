use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_base::files::{read_text_limited, write_atomic};
use fathom_base::process::StopSignal;
use fathom_model::TestError;

use super::handle::{ServiceHandle, ServiceKind};
use super::running::{Launch, Place, in_directory, port};
use super::wire::{self, Listening};

const HOST: &str = "127.0.0.1";
const CONFIG_LIMIT: u64 = 4 << 20;
const FILES_LIMIT: usize = 1000;

pub(super) fn launch(place: &Place<'_>) -> Result<Launch, TestError> {
    let port = port()?;
    let is_scylla = place.program.ends_with("scylla");
    let server = match is_scylla {
        true => scylla(place, port),
        false => cassandra(place, port)?,
    };
    let listening = Listening::Tcp(HOST.to_owned(), port);
    Ok(Launch {
        init: Vec::new(),
        server,
        signal: StopSignal::Terminate,
        handle: ServiceHandle {
            kind: ServiceKind::Cassandra,
            url: format!("cassandra://{HOST}:{port}"),
            socket: None,
            host: HOST.to_owned(),
            port,
            user: String::new(),
            database: place.database.to_owned(),
            version: String::new(),
            settings: BTreeMap::new(),
        },
        ready: Box::new(move || wire::cql(&listening)),
    })
}

fn scylla(place: &Place<'_>, port: u16) -> fathom_base::process::Program {
    let data = place.directory.join("data").display().to_string();
    let mut server = in_directory(place.program.to_path_buf(), place.directory, None).args([
        "--developer-mode=1".to_owned(),
        format!("--workdir={data}"),
        format!("--listen-address={HOST}"),
        format!("--rpc-address={HOST}"),
        format!("--native-transport-port={port}"),
    ]);
    for (name, value) in place.settings {
        server = server.args([format!("--{name}={value}")]);
    }
    server
}

/// Cassandra reads everything from a configuration directory: a copy of its own, with our
/// directories and ports in it.
fn cassandra(place: &Place<'_>, port: u16) -> Result<fathom_base::process::Program, TestError> {
    let home = place.program.parent().and_then(Path::parent);
    let sources = home.map(|home| home.join("conf")).into_iter();
    let mut sources = sources.chain([PathBuf::from("/etc/cassandra")]);
    let source = sources.find(|path| path.join("cassandra.yaml").is_file());
    let source = source.ok_or_else(|| TestError::Program {
        program: place.program.display().to_string(),
        what: "has no conf/cassandra.yaml beside it".to_owned(),
    })?;
    let copy = place.directory.join("conf");
    copy_files(&source, &copy)?;
    let yaml = copy.join("cassandra.yaml");
    let text = read_text_limited(&yaml, CONFIG_LIMIT)?;
    write_atomic(
        &yaml,
        configured(&text, place, port, self::port()?).as_bytes(),
    )?;
    let logs = place.directory.join("logs").display().to_string();
    let mut server =
        in_directory(place.program.to_path_buf(), place.directory, None).args(["-f", "-R"]);
    server.environment = vec![
        ("CASSANDRA_CONF".into(), copy.into_os_string()),
        ("CASSANDRA_LOG_DIR".into(), logs.into()),
        ("JMX_PORT".into(), self::port()?.to_string().into()),
    ];
    Ok(server)
}

fn copy_files(source: &Path, copy: &Path) -> Result<(), TestError> {
    let failed = |path: &Path, error| TestError::io("copying", path, error);
    std::fs::create_dir(copy).map_err(|error| failed(copy, error))?;
    let entries = std::fs::read_dir(source).map_err(|error| failed(source, error))?;
    for entry in entries.take(FILES_LIMIT) {
        let entry = entry.map_err(|error| failed(source, error))?;
        if entry.path().is_file() {
            let to = copy.join(entry.file_name());
            std::fs::copy(entry.path(), &to).map_err(|error| failed(&to, error))?;
        }
    }
    Ok(())
}

/// The configuration with our values in place of its own for the keys that we set.
fn configured(text: &str, place: &Place<'_>, port: u16, storage_port: u16) -> String {
    let path = |name: &str| place.directory.join(name).display().to_string();
    let mut ours: BTreeMap<String, String> = [
        ("cluster_name", "fathom".to_owned()),
        ("listen_address", HOST.to_owned()),
        ("rpc_address", HOST.to_owned()),
        ("native_transport_port", port.to_string()),
        ("storage_port", storage_port.to_string()),
        ("data_file_directories", format!("[\"{}\"]", path("data"))),
        ("commitlog_directory", format!("\"{}\"", path("commitlog"))),
        ("saved_caches_directory", format!("\"{}\"", path("caches"))),
        ("hints_directory", format!("\"{}\"", path("hints"))),
        ("cdc_raw_directory", format!("\"{}\"", path("cdc"))),
        (
            "seed_provider",
            format!(
                "[{{class_name: org.apache.cassandra.locator.SimpleSeedProvider, \
                 parameters: [{{seeds: \"{HOST}:{storage_port}\"}}]}}]"
            ),
        ),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    ours.extend(place.settings.clone());
    let mut kept = String::new();
    let mut drops = false;
    for line in text.lines() {
        // What belongs to a key is indented or a list item.
        let is_key = line.starts_with(|first: char| first.is_ascii_lowercase());
        if is_key {
            let key = line.split(':').next().unwrap_or_default();
            drops = ours.contains_key(key);
        }
        if !drops {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    for (name, value) in ours {
        kept.push_str(&format!("{name}: {value}\n"));
    }
    kept
}

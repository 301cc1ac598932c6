//! Real database servers in a scratch directory, for tests and benchmarks; stopped when dropped.

#![expect(
    clippy::expect_used,
    reason = "a test whose server does not start ends at once"
)]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{skipped, tool};

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that listens on a socket file (or a port) in a directory of its own.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Sent to end it at once.
    stop: &'static str,
    /// What clients connect to.
    pub socket: PathBuf,
    /// Port of a server that has no socket file.
    pub port: u16,
    /// Its version, as its program says.
    pub version: String,
    /// Removed after the server has ended.
    directory: TempDir,
}

impl Server {
    /// Where its data is.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Ends it like a crash.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn wait_until(&mut self, mut is_ready: impl FnMut() -> bool) {
        let since = Instant::now();
        while !is_ready() {
            let ended = self.child.try_wait().expect("ask for the server");
            let log = std::fs::read_to_string(self.directory.path().join("log"));
            let log = log.unwrap_or_default();
            assert!(ended.is_none(), "the server ended: {ended:?}\n{log}");
            assert!(since.elapsed() < PATIENCE, "the server is not ready\n{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = self.child.id().to_string();
        let _ = Command::new("kill").args([self.stop, &pid]).status();
        let since = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if since.elapsed() > Duration::from_secs(20) {
                let _ = self.child.kill();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// PostgreSQL with trust in everyone; `settings` as in its configuration: `shared_buffers=128MB`.
/// `None`, and a line that says so, when it is not installed.
pub fn postgres(under: &Path, settings: &[&str]) -> Option<Server> {
    let Some(programs) = postgres_programs() else {
        skipped("postgres is not installed");
        return None;
    };
    let directory = scratch(under);
    let data = directory.path().join("data");
    let account = account("postgres");
    if let Some((uid, gid)) = account {
        std::os::unix::fs::chown(directory.path(), Some(uid), Some(gid)).expect("chown");
    }
    let mut init = Command::new(programs.join("initdb"));
    init.args(["--encoding=SQL_ASCII", "--locale=C", "--auth=trust"])
        .args(["--username=fathom", "--no-sync", "--pgdata"])
        .arg(&data);
    run(as_account(&mut init, account));
    let mut start = Command::new(programs.join("postgres"));
    start.arg("-D").arg(&data).arg("-k").arg(directory.path());
    start.args(["-c", "listen_addresses="]);
    for setting in settings {
        start.args(["-c", setting]);
    }
    let child = spawn(as_account(&mut start, account), directory.path());
    let mut server = Server {
        child,
        stop: "-INT",
        socket: directory.path().join(".s.PGSQL.5432"),
        port: 0,
        version: version(Command::new(programs.join("postgres")).arg("--version")),
        directory,
    };
    let host = server.directory.path().to_owned();
    server.wait_until(|| {
        let mut ask = Command::new(programs.join("pg_isready"));
        succeeds(ask.arg("-q").arg("-h").arg(&host))
    });
    Some(server)
}

/// MariaDB whose root needs no password, with a schema `test`; `settings` as options of the server.
/// `None`, and a line that says so, when it is not installed.
pub fn mariadb(under: &Path, settings: &[&str]) -> Option<Server> {
    let (Some(server_program), Some(install)) =
        (system_tool("mariadbd"), tool("mariadb-install-db"))
    else {
        return None;
    };
    let directory = scratch(under);
    let data = directory.path().join("data");
    let account = account("mysql");
    if let Some((uid, gid)) = account {
        std::os::unix::fs::chown(directory.path(), Some(uid), Some(gid)).expect("chown");
    }
    let mut init = Command::new(install);
    init.args(["--no-defaults", "--auth-root-authentication-method=normal"])
        .arg(format!("--datadir={}", data.display()));
    run(as_account(&mut init, account));
    std::fs::create_dir_all(data.join("test")).expect("create the schema");
    if let Some((uid, gid)) = account {
        std::os::unix::fs::chown(data.join("test"), Some(uid), Some(gid)).expect("chown");
    }
    let socket = directory.path().join("socket");
    let mut start = Command::new(&server_program);
    start
        .args(["--no-defaults", "--skip-networking"])
        .arg(format!("--datadir={}", data.display()))
        .arg(format!("--socket={}", socket.display()))
        .arg(format!(
            "--pid-file={}",
            directory.path().join("pid").display()
        ))
        .args(settings);
    let child = spawn(as_account(&mut start, account), directory.path());
    let mut server = Server {
        child,
        stop: "-TERM",
        socket: socket.clone(),
        port: 0,
        version: version(Command::new(&server_program).arg("--version")),
        directory,
    };
    server.wait_until(|| {
        let mut ask = Command::new("mariadb-admin");
        let socket = format!("--socket={}", socket.display());
        succeeds(ask.args(["--no-defaults", "--user=root", &socket, "ping"]))
    });
    Some(server)
}

/// ClickHouse over HTTP on a free port of the loopback.
/// `None`, and a line that says so, when it is not installed.
pub fn clickhouse(under: &Path) -> Option<Server> {
    let program = tool("clickhouse-server")?;
    let directory = scratch(under);
    let path = directory.path().display();
    let (http, native) = (free_port(), free_port());
    let configuration = format!(
        "<yandex><listen_host>127.0.0.1</listen_host><http_port>{http}</http_port>\
         <tcp_port>{native}</tcp_port><path>{path}/data/</path><tmp_path>{path}/tmp/</tmp_path>\
         <logger><level>warning</level><log>{path}/log</log><errorlog>{path}/errors</errorlog>\
         </logger><mark_cache_size>67108864</mark_cache_size><users_config>users.xml</users_config>\
         <default_profile>default</default_profile><default_database>default</default_database>\
         <timezone>UTC</timezone></yandex>"
    );
    let users = "<yandex><profiles><default></default></profiles><users><default><password/>\
                 <networks><ip>127.0.0.1</ip></networks><profile>default</profile>\
                 <quota>default</quota></default></users><quotas><default></default></quotas>\
                 </yandex>";
    for name in ["data", "tmp"] {
        std::fs::create_dir(directory.path().join(name)).expect("create a directory");
    }
    std::fs::write(directory.path().join("config.xml"), configuration).expect("write");
    std::fs::write(directory.path().join("users.xml"), users).expect("write");
    let mut start = Command::new(&program);
    start
        .arg(format!("--config-file={path}/config.xml"))
        .current_dir(directory.path());
    let child = spawn(&mut start, directory.path());
    let mut server = Server {
        child,
        stop: "-TERM",
        socket: PathBuf::new(),
        port: http,
        version: "clickhouse-server".to_owned(),
        directory,
    };
    server.wait_until(|| std::net::TcpStream::connect(("127.0.0.1", http)).is_ok());
    Some(server)
}

/// Lets other accounts into a scratch directory, since a server may run as one of its own.
pub fn open_to_all(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory, mode).expect("open the directory");
}

/// Bound for a moment, so that nobody else has it.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("bind a port");
    listener.local_addr().expect("ask for the port").port()
}

fn scratch(under: &Path) -> TempDir {
    // A socket's path has at most 107 bytes, so the name is short.
    let made = tempfile::Builder::new().prefix("ft").tempdir_in(under);
    made.expect("create a directory for the server")
}

/// Debian keeps the programs of each version apart.
fn postgres_programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut found: Vec<PathBuf> = versions
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").is_file() && bin.join("postgres").is_file())
        .collect();
    found.sort();
    found.pop()
}

/// Like [`tool`], also where only root's path leads.
fn system_tool(name: &str) -> Option<PathBuf> {
    let path = Path::new("/usr/sbin").join(name);
    path.is_file().then_some(path).or_else(|| tool(name))
}

/// The account a server insists on, when we are root.
fn account(name: &str) -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if std::fs::metadata("/proc/self").ok()?.uid() != 0 {
        return None;
    }
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = accounts
        .lines()
        .find(|line| line.starts_with(&format!("{name}:")))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

fn as_account(command: &mut Command, account: Option<(u32, u32)>) -> &mut Command {
    if let Some((uid, gid)) = account {
        command.uid(uid).gid(gid).current_dir("/");
    }
    command
}

fn spawn(command: &mut Command, directory: &Path) -> Child {
    let log = std::fs::File::create(directory.join("log")).expect("create the log");
    let errors = log.try_clone().expect("share the log");
    command
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .expect("start the server")
}

fn run(command: &mut Command) {
    let output = command
        .stdin(Stdio::null())
        .output()
        .expect("start a program");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {error}");
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

fn version(command: &mut Command) -> String {
    let output = command
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_owned()
}

use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fathom_base::Nanos;
use fathom_base::process::{Daemon, Program, StopSignal, run};
use fathom_model::{Context, SCRATCH_VARIABLE, TestError};

use super::find::{Found, FoundPlace, find};
use super::handle::{ServiceHandle, ServiceKind};
use super::wire::{self, Url};
use crate::profile::ServiceSpec;
use crate::test::{CaseValues, ended, tail};

/// How long a server may take until it answers.
const START_LIMIT: Nanos = Nanos::from_secs(120);
/// How long it may take to end before it is killed.
const STOP_LIMIT: Nanos = Nanos::from_secs(60);
/// Between two questions whether it is ready.
const ASK_EVERY: Duration = Duration::from_millis(20);
/// The end of the log that an error tells.
const WORDS_LIMIT: u64 = 4 << 10;

/// How to start a server.
pub(crate) struct StartOptions<'a> {
    /// Kind and settings.
    pub spec: &'a ServiceSpec,
    /// For the settings.
    pub values: &'a CaseValues<'a>,
    /// Its own directory on the target, which does not exist yet.
    pub directory: PathBuf,
    /// Which server; see [`find`].
    pub asked: Option<&'a str>,
}

/// A server that answers. Dropping it kills it when it is ours.
#[derive(Debug)]
pub(crate) struct RunningService {
    handle: ServiceHandle,
    programs: Vec<PathBuf>,
    /// What to stop and remove; nothing for a server that ran before.
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    daemon: Daemon,
    signal: StopSignal,
    directory: PathBuf,
}

/// What a kind of server needs to be started.
pub(super) struct Launch {
    /// Programs that make the data directory, in order.
    pub init: Vec<Program>,
    /// The server.
    pub server: Program,
    /// How it is asked to end.
    pub signal: StopSignal,
    /// How it is reached.
    pub handle: ServiceHandle,
    /// Asks whether it is ready, makes the database, gives the version.
    pub ready: Box<dyn Fn() -> std::io::Result<String>>,
}

/// What starting a kind of server is told.
pub(super) struct Place<'a> {
    /// The server's program, or the interpreter.
    pub program: &'a Path,
    /// Its own directory, which exists.
    pub directory: &'a Path,
    /// The run's scratch directory.
    pub scratch: &'a Path,
    /// The database to make.
    pub database: &'a str,
    /// Settings with their values.
    pub settings: &'a BTreeMap<String, String>,
    /// More words for the program that makes the data directory.
    pub init: &'a [String],
    /// Whether we are root.
    pub is_root: bool,
}

/// Finds a server, starts it when it does not run already, and waits until it answers.
///
/// # Errors
/// [`TestError::Program`] with the server's last words; nothing runs then.
pub(crate) fn start(
    options: &StartOptions<'_>,
    cx: &Context<'_>,
) -> Result<RunningService, TestError> {
    let spec = options.spec;
    let found = find(spec.kind, options.asked, &cx.host.search_path).map_err(|unmet| {
        TestError::Program {
            program: spec.kind.title().to_owned(),
            what: format!("cannot be used: {}; {}", unmet.what, unmet.hint),
        }
    })?;
    match &found.place {
        FoundPlace::Running(url) => Ok(running(spec.kind, &found, url)),
        FoundPlace::Program(program) => launched(options, cx, &found, program),
        FoundPlace::Chdb(python) => launched(options, cx, &found, python),
    }
}

fn running(kind: ServiceKind, found: &Found, url: &Url) -> RunningService {
    RunningService {
        handle: ServiceHandle {
            kind,
            url: url.to_string(),
            socket: None,
            host: url.host.clone(),
            port: url.port,
            user: url.user.clone(),
            database: url.database.clone(),
            version: found.version.clone(),
            settings: BTreeMap::new(),
        },
        programs: Vec::new(),
        own: None,
    }
}

fn launched(
    options: &StartOptions<'_>,
    cx: &Context<'_>,
    found: &Found,
    program: &Path,
) -> Result<RunningService, TestError> {
    let directory = &options.directory;
    std::fs::create_dir(directory).map_err(|error| TestError::io("creating", directory, error))?;
    let result = launch(options, cx, found, program);
    if result.is_err() {
        // The first error is the one to report; what stays is removed with the scratch directory.
        let _ = std::fs::remove_dir_all(directory);
    }
    result
}

fn launch(
    options: &StartOptions<'_>,
    cx: &Context<'_>,
    found: &Found,
    program: &Path,
) -> Result<RunningService, TestError> {
    let spec = options.spec;
    let settings = settings(options)?;
    let place = Place {
        program,
        directory: &options.directory,
        scratch: cx.scratch,
        database: &spec.database,
        settings: &settings,
        init: &spec.init,
        is_root: cx.host.is_root,
    };
    let launch = match (spec.kind, &found.place) {
        (ServiceKind::Postgresql, _) => super::postgresql::launch(&place)?,
        (ServiceKind::Mariadb, _) => super::mariadb::launch(&place)?,
        (ServiceKind::Clickhouse, FoundPlace::Chdb(_)) => super::clickhouse::launch_chdb(&place)?,
        (ServiceKind::Clickhouse, _) => super::clickhouse::launch(&place)?,
        (ServiceKind::Cassandra, _) => super::cassandra::launch(&place)?,
        (ServiceKind::Cockroachdb, _) => super::cockroachdb::launch(&place)?,
    };
    for mut program in launch.init {
        mark(&mut program, cx);
        program.timeout = cx.deadline.since(cx.clock.now());
        let finished = run(&program, cx.cancel)?;
        if finished.end == fathom_base::process::End::Cancelled {
            return Err(TestError::Cancelled);
        }
        if !finished.is_success() {
            let said = format!("{}\n{}", finished.stdout_text(), finished.stderr_text());
            return Err(TestError::Program {
                program: program.command_line(),
                what: format!("{}: {}", ended(finished.end), tail(&said)),
            });
        }
    }
    let mut server = launch.server;
    mark(&mut server, cx);
    let log = options.directory.join("server.log");
    let daemon = Daemon::start(&server, &log)?;
    let mut service = RunningService {
        handle: launch.handle,
        programs: found.programs.clone(),
        own: Some(Own {
            daemon,
            signal: launch.signal,
            directory: options.directory.clone(),
        }),
    };
    service.handle.settings = settings;
    service.handle.version = service.wait(&*launch.ready, cx)?;
    Ok(service)
}

/// So that it can be told after a crash whose it is.
fn mark(program: &mut Program, cx: &Context<'_>) {
    let scratch = cx.scratch.as_os_str().to_owned();
    program.environment.push((SCRATCH_VARIABLE.into(), scratch));
    program.environment.push(("LC_ALL".into(), "C".into()));
}

fn settings(options: &StartOptions<'_>) -> Result<BTreeMap<String, String>, TestError> {
    let mut settings = BTreeMap::new();
    for (name, template) in &options.spec.settings {
        let value = template.filled(&|name| options.values.value(name));
        let value = value.map_err(|what| TestError::Program {
            program: options.spec.kind.title().to_owned(),
            what: format!("cannot be started: setting {name}: {what}"),
        })?;
        settings.insert(name.clone(), value);
    }
    Ok(settings)
}

impl RunningService {
    /// How to reach it.
    pub(crate) fn handle(&self) -> &ServiceHandle {
        &self.handle
    }

    /// Directories of its programs.
    pub(crate) fn programs(&self) -> &[PathBuf] {
        &self.programs
    }

    /// Asks until it is ready, its end, or the end of our patience.
    fn wait(
        &mut self,
        ready: &dyn Fn() -> std::io::Result<String>,
        cx: &Context<'_>,
    ) -> Result<String, TestError> {
        let limit = cx.deadline.min(cx.clock.now().plus(START_LIMIT));
        let title = self.handle.kind.title();
        loop {
            let error = match ready() {
                Ok(version) => return Ok(format!("{title} {version}")),
                Err(error) => error,
            };
            if cx.cancel.is_cancelled() {
                return Err(TestError::Cancelled);
            }
            if let Some(own) = &mut self.own
                && let Some(end) = own.daemon.ended()?
            {
                return Err(TestError::Program {
                    program: title.to_owned(),
                    what: format!("{} while starting: {}", ended(end), tail(&self.words())),
                });
            }
            if cx.clock.now() >= limit {
                return Err(TestError::Program {
                    program: title.to_owned(),
                    what: format!(
                        "does not answer ({error}); it said: {}",
                        tail(&self.words())
                    ),
                });
            }
            std::thread::sleep(ASK_EVERY);
        }
    }

    /// The end of its log; empty for one that is not ours.
    pub(crate) fn words(&self) -> String {
        self.log_from(self.log_length().saturating_sub(WORDS_LIMIT), usize::MAX)
    }

    /// Bytes of its log.
    pub(crate) fn log_length(&self) -> u64 {
        let own = self.own.as_ref();
        own.and_then(|own| own.daemon.log().metadata().ok())
            .map_or(0, |meta| meta.len())
    }

    /// Its log from a byte on, at most the last `limit` bytes of it.
    pub(crate) fn log_from(&self, from: u64, limit: usize) -> String {
        let Some(own) = &self.own else {
            return String::new();
        };
        let least = self.log_length().saturating_sub(limit as u64);
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(own.daemon.log())?;
            file.seek(SeekFrom::Start(from.max(least)))?;
            let mut bytes = Vec::new();
            file.take(1 << 20).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    /// What a result says of it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let handle = &self.handle;
        let mut notes = vec![match &self.own {
            Some(own) => format!(
                "server: {}, started for this case, data in {}",
                handle.version,
                own.directory.display()
            ),
            None => format!(
                "server: {}; it ran before, its data need not be on the target",
                handle.version
            ),
        }];
        if !handle.settings.is_empty() {
            let settings: Vec<String> = handle
                .settings
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            notes.push(format!("server settings: {}", settings.join(" ")));
        }
        notes
    }

    /// Ends it and removes its directory.
    ///
    /// # Errors
    /// When its directory cannot be removed.
    pub(crate) fn stop(mut self) -> Result<(), TestError> {
        let Some(mut own) = self.own.take() else {
            return Ok(());
        };
        let stopped = own.daemon.stop(own.signal, STOP_LIMIT);
        let removed = std::fs::remove_dir_all(&own.directory);
        stopped?;
        removed.map_err(|error| TestError::io("removing", &own.directory, error))
    }
}

/// A `Program` that is run in the server's directory, as its user.
pub(super) fn in_directory(
    program: PathBuf,
    directory: &Path,
    user: Option<(u32, u32)>,
) -> Program {
    let mut program = Program::new(program);
    program.directory = Some(directory.to_path_buf());
    program.user = user;
    program
}

/// The port of the loopback address for a server that is not reached by a socket.
pub(super) fn port() -> Result<u16, TestError> {
    wire::free_port()
        .map_err(|error| TestError::io("looking for a free port on", "127.0.0.1", error))
}

//! Test `sqlite` carried out by the installed `sqlite3` program, as the original does it: one
//! program creates the table, then one a connection reads the statements.

mod copy;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use fathom_base::process::{Program, find_program, run};
use fathom_base::{Cancel, IoContext, Nanos};
use fathom_model::definition::sqlite::{self as definition, SqliteSettings};
use fathom_model::{
    Case, Context, DataEvidence, DurabilityEvidence, Estimate, Evidence, FileEvidence, Host,
    HostEvidence, Implementation, ImplementationKind, Metric, Prepared, Progress, TargetKind, Test,
    TestError, TestInfo, Trial, Unmet,
};

use self::copy::Copy;
use crate::found::OnceFound;

/// Test `sqlite` by sqlite3; see the module's description.
#[derive(Debug)]
pub struct Sqlite3Test {
    found: OnceFound<Sqlite3>,
}

/// The program.
#[derive(Clone, Debug)]
struct Sqlite3 {
    path: PathBuf,
    /// `3.40.1`.
    version: String,
}

impl Sqlite3Test {
    /// The test; sqlite3 is looked up in `search_path` when it is first needed.
    pub fn new(search_path: &OsStr) -> Self {
        Self {
            found: OnceFound::new(search_path),
        }
    }

    fn sqlite3(&self) -> Option<&Sqlite3> {
        self.found.get(Sqlite3::find)
    }
}

impl Sqlite3 {
    fn find(search_path: &OsStr) -> Option<Self> {
        let path = find_program("sqlite3", search_path)?;
        let mut program = Program::new(&path).args(["--version"]);
        program.timeout = Nanos::from_secs(20);
        let finished = run(&program, &Cancel::new()).ok()?;
        let text = finished.stdout_text();
        let version = text.split_whitespace().next()?;
        let is_plain =
            version.len() <= 32 && version.chars().all(|c| c.is_ascii_digit() || c == '.');
        (finished.is_success() && is_plain).then(|| Self {
            version: version.to_owned(),
            path,
        })
    }
}

impl Test for Sqlite3Test {
    fn id(&self) -> &'static str {
        definition::ID
    }

    fn info(&self) -> TestInfo {
        let version = self.sqlite3().map(|found| found.version.clone());
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Program,
                name: "sqlite3".to_owned(),
                version: version.unwrap_or_default(),
            },
            options: definition::options(),
        }
    }

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let need = |what: String, hint: &str| Unmet {
            what,
            hint: hint.to_owned(),
        };
        let settings = match SqliteSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return vec![need(error.to_string(), "")],
        };
        let mut unmet = settings.conflicts();
        if self.sqlite3().is_none() {
            let what = "sqlite3 is not installed".to_owned();
            unmet.push(need(what, "apt-get install sqlite3"));
        }
        if host.target.kind != TargetKind::Directory {
            let what = format!("{} is not a directory", host.target.path);
            unmet.push(need(what, "name a directory on the file system to test"));
        }
        unmet.extend(crate::needs::need_room(host, settings.space()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(SqliteSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = SqliteSettings::from_case(case)?;
        let sqlite3 = self.sqlite3().ok_or_else(|| TestError::Program {
            program: "sqlite3".to_owned(),
            what: "is not installed".to_owned(),
        })?;
        let directory = cx.scratch.join(format!("sqlite3-{}", case.id));
        std::fs::create_dir(&directory)
            .map_err(|error| TestError::io("creating", &directory, error))?;
        Ok(Box::new(PreparedSqlite3 {
            statements: text_of_a_connection(&settings).into(),
            sqlite3: sqlite3.clone(),
            settings,
            directory,
        }))
    }
}

/// What is fed to the program that is one connection.
fn text_of_a_connection(settings: &SqliteSettings) -> Vec<u8> {
    let mut text = settings.pragmas_of_connection();
    for statement in definition::statements(settings.rows) {
        text.push_str(&statement);
        text.push('\n');
    }
    text.into_bytes()
}

#[derive(Debug)]
struct PreparedSqlite3 {
    sqlite3: Sqlite3,
    settings: SqliteSettings,
    statements: Arc<[u8]>,
    directory: PathBuf,
}

impl Drop for PreparedSqlite3 {
    fn drop(&mut self) {
        // After `finish` it is gone; what cannot be removed here goes with the scratch directory.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Prepared for PreparedSqlite3 {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        let trial = self.trial(cx);
        for copy in self.copies(cx) {
            copy.remove()?;
        }
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        std::fs::remove_dir_all(&self.directory).at("remove", &self.directory)?;
        Ok(())
    }
}

impl PreparedSqlite3 {
    fn copies(&self, cx: &Context<'_>) -> Vec<Copy> {
        let at = |index: u32| self.directory.join(format!("benchmark-{}.db", index + 1));
        (0..self.settings.copies)
            .map(|index| Copy {
                program: self.sqlite3.path.clone(),
                path: at(index),
                settings: self.settings,
                statements: Arc::clone(&self.statements),
                time_left: cx.deadline.since(cx.clock.now()),
            })
            .collect()
    }

    fn trial(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        (cx.progress)(Progress {
            phase: "insert".to_owned(),
            ..Progress::default()
        });
        let copies = self.copies(cx);
        let (elapsed, host) = measure(&copies, cx)?;
        let mut bytes = 0;
        for copy in &copies {
            copy.verify(self.settings.rows_per_copy(), cx.cancel)?;
            bytes += size_of(&copy.path)?;
        }
        let rows = self.settings.rows_in_all();
        Ok(Trial {
            values: definition::values(elapsed, rows, None),
            evidence: self.evidence(cx, bytes, host),
            ..Trial::default()
        })
    }

    fn evidence(&self, cx: &Context<'_>, size_bytes: u64, host: HostEvidence) -> Evidence {
        Evidence {
            file: Some(FileEvidence {
                size_bytes,
                memory_bytes: Some(cx.host.memory.as_u64()),
                ..FileEvidence::default()
            }),
            data: Some(DataEvidence {
                contents: "rows of digits as text".to_owned(),
                compressing_stack: cx.host.target.compressing.clone(),
                ..DataEvidence::default()
            }),
            durability: Some(DurabilityEvidence {
                policy: self.settings.durability(),
                durable: self.settings.is_durable(),
                // The program does not tell how often it synced.
                ..DurabilityEvidence::default()
            }),
            host: Some(host),
            counts: [("rows".to_owned(), self.settings.rows_in_all())].into(),
            notes: vec![format!("sqlite3 {}", self.sqlite3.version)],
            ..Evidence::default()
        }
    }
}

fn size_of(path: &Path) -> Result<u64, TestError> {
    Ok(std::fs::metadata(path).at("look at", path)?.len())
}

/// Runs all copies at once and waits for the last.
fn measure(copies: &[Copy], cx: &Context<'_>) -> Result<(Nanos, HostEvidence), TestError> {
    let barrier = Barrier::new(copies.len() + 1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = copies
            .iter()
            .map(|copy| {
                let (barrier, cancel) = (&barrier, cx.cancel);
                scope.spawn(move || {
                    barrier.wait();
                    copy.fill(cancel)
                })
            })
            .collect();
        let witness = cx.observer.begin();
        let began = cx.clock.now();
        barrier.wait();
        let results: Vec<_> = threads
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        let elapsed = cx.clock.now().since(began);
        let host = witness.end();
        for result in results {
            result.unwrap_or_else(|_| {
                Err(TestError::Program {
                    program: "sqlite3".to_owned(),
                    what: "could not be watched: a thread panicked, please report this".to_owned(),
                })
            })?;
        }
        Ok((elapsed, host))
    })
}

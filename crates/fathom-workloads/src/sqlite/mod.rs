//! Test `sqlite`: one-row transactions in 1..N databases.
//!
//! What the original does with the `sqlite3` program is done with the same SQLite calls: the text
//! of every statement is parsed anew, each row commits by itself, and each database sees its
//! connection opened and closed as often as the original starts a program. What is left out is the
//! start of the programs (four of a few milliseconds each).

mod database;
#[cfg(test)]
mod tests;
mod vfs;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use fathom_base::Nanos;
use fathom_model::definition::sqlite::{self as definition, SqliteSettings};
use fathom_model::{
    Case, Context, DataEvidence, DurabilityEvidence, Estimate, Evidence, FileEvidence, Host,
    Metric, Prepared, Progress, Test, TestError, TestInfo, Trial, Unmet,
};
use fathom_stats::Histogram;

use self::database::{Database, DatabaseReport};
use crate::common::{CaseDir, check_limits, native, need_space, need_writable};
use crate::error::WorkloadError;

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct SqliteTest;

impl SqliteTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for SqliteTest {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: native(IMPLEMENTATION),
            options: definition::options(),
        }
    }

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match SqliteSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => {
                return vec![Unmet {
                    what: error.to_string(),
                    hint: String::new(),
                }];
            }
        };
        let mut unmet = settings.conflicts();
        unmet.extend(need_directory(host));
        unmet.extend(need_writable(host));
        unmet.extend(need_space(host, settings.space()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(SqliteSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = SqliteSettings::from_case(case)?;
        vfs::register().map_err(|source| WorkloadError::Sqlite {
            doing: "register the counting layer with".to_owned(),
            path: PathBuf::from("SQLite"),
            source,
        })?;
        Ok(Box::new(PreparedSqlite {
            settings,
            statements: definition::statements(settings.rows).into(),
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

/// SQLite needs files; a device or a single existing file is no place for them.
fn need_directory(host: &Host) -> Option<Unmet> {
    (host.target.kind != fathom_model::TargetKind::Directory).then(|| Unmet {
        what: format!("{} is not a directory", host.target.path),
        hint: "name a directory on the file system to test".to_owned(),
    })
}

#[derive(Debug)]
struct PreparedSqlite {
    settings: SqliteSettings,
    statements: Arc<[String]>,
    directory: CaseDir,
}

impl Prepared for PreparedSqlite {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let started = cx.clock.now();
        check_limits(cx, "the trial", started)?;
        let measured = self.measure(cx);
        let trial = measured.and_then(|measured| {
            for copy in self.copies() {
                copy.verify(self.settings.rows_per_copy())?;
            }
            Ok(self.trial(cx, measured))
        });
        for copy in self.copies() {
            copy.remove()?;
        }
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

/// All copies of one trial.
struct Measured {
    elapsed: Nanos,
    report: DatabaseReport,
    host: fathom_model::HostEvidence,
}

impl PreparedSqlite {
    fn copies(&self) -> impl Iterator<Item = Database> + '_ {
        (0..self.settings.copies).map(|index| Database {
            path: self
                .directory
                .path()
                .join(format!("benchmark-{}.db", index + 1)),
            settings: self.settings,
            statements: Arc::clone(&self.statements),
        })
    }

    /// Runs all copies at once, each on a thread of its own, and waits for the last.
    fn measure(&self, cx: &Context<'_>) -> Result<Measured, TestError> {
        let databases: Vec<Database> = self.copies().collect();
        let barrier = Barrier::new(databases.len() + 1);
        let rows_done = AtomicU64::new(0);
        let (ended, endings) = channel();
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for database in &databases {
                let limits = database::Limits {
                    cancel: cx.cancel,
                    clock: cx.clock,
                    deadline: cx.deadline,
                    rows_done: &rows_done,
                };
                let (barrier, ended) = (&barrier, ended.clone());
                threads.push(scope.spawn(move || {
                    barrier.wait();
                    // The receiver is gone only when the main thread panicked.
                    let _ = ended.send(database.run(&limits));
                }));
            }
            drop(ended);
            let witness = cx.observer.begin();
            let began = cx.clock.now();
            barrier.wait();
            let outcome = self.wait(&endings, &rows_done, cx);
            let elapsed = cx.clock.now().since(began);
            let host = witness.end();
            for thread in threads {
                // A panic was seen as an ending that did not come.
                let _ = thread.join();
            }
            outcome.map(|report| Measured {
                elapsed,
                report,
                host,
            })
        })
    }

    /// Takes the reports of all copies, telling the progress meanwhile.
    fn wait(
        &self,
        endings: &Receiver<Result<DatabaseReport, TestError>>,
        rows_done: &AtomicU64,
        cx: &Context<'_>,
    ) -> Result<DatabaseReport, TestError> {
        const LOOK: Duration = Duration::from_millis(250);
        let mut all = DatabaseReport::default();
        let mut first_error = None;
        let mut missing = self.settings.copies;
        while missing > 0 {
            match endings.recv_timeout(LOOK) {
                Ok(Ok(report)) => all.absorb(&report),
                Ok(Err(error)) => first_error = first_error.or(Some(error)),
                Err(RecvTimeoutError::Disconnected) => return Err(WorkloadError::Panicked.into()),
                Err(RecvTimeoutError::Timeout) => {
                    (cx.progress)(self.progress(rows_done.load(Ordering::Relaxed)));
                    continue;
                }
            }
            missing -= 1;
        }
        first_error.map_or(Ok(all), Err)
    }

    fn progress(&self, rows_done: u64) -> Progress {
        Progress {
            phase: "insert".to_owned(),
            fraction: Some(rows_done as f64 / self.settings.rows_in_all() as f64),
            rate: format!("{rows_done} rows"),
        }
    }

    fn trial(&self, cx: &Context<'_>, measured: Measured) -> Trial {
        let Measured {
            elapsed,
            report,
            host,
        } = measured;
        let rows = self.settings.rows_in_all();
        let values = definition::values(elapsed, rows, Some(&report.inserts));
        let mut trial = Trial {
            values,
            evidence: self.evidence(cx, &report),
            ..Trial::default()
        };
        trial.evidence.host = Some(host);
        let mut keep = |name: &str, mut histogram: Histogram| {
            if !histogram.is_empty() {
                histogram.shrink();
                trial.histograms.insert(name.to_owned(), histogram);
            }
        };
        keep("insert", report.inserts);
        keep("sync", report.sync_latency);
        trial
    }

    fn evidence(&self, cx: &Context<'_>, report: &DatabaseReport) -> Evidence {
        let syncs = report.file_syncs + report.directory_syncs;
        let counts = [
            ("rows", self.settings.rows_in_all()),
            ("file-syncs", report.file_syncs),
            ("directory-syncs", report.directory_syncs),
        ];
        Evidence {
            file: Some(FileEvidence {
                size_bytes: report.database_bytes,
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
                syncs,
                final_flush_ns: None,
            }),
            counts: counts
                .into_iter()
                .map(|(name, count)| (name.to_owned(), count))
                .collect(),
            notes: vec![format!("SQLite {}", rusqlite::version())],
            ..Evidence::default()
        }
    }
}

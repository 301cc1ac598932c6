use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Bytes, Cancel, Clock, IoContext, Nanos};
use fathom_model::TestError;
use fathom_model::definition::sqlite::{self as definition, SqliteSettings};
use fathom_stats::Histogram;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::vfs;
use crate::error::WorkloadError;

/// One database of a trial.
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) settings: SqliteSettings,
    pub(super) statements: Arc<[String]>,
}

/// When a copy gives up, and where it counts.
pub(super) struct Limits<'a> {
    pub(super) cancel: &'a Cancel,
    pub(super) clock: &'a dyn Clock,
    pub(super) deadline: Nanos,
    /// Rows inserted by all copies, for the progress.
    pub(super) rows_done: &'a AtomicU64,
}

/// What a copy did.
#[derive(Clone, Debug, Default)]
pub(super) struct DatabaseReport {
    pub(super) inserts: Histogram,
    pub(super) sync_latency: Histogram,
    pub(super) file_syncs: u64,
    pub(super) directory_syncs: u64,
    pub(super) database_bytes: u64,
}

impl DatabaseReport {
    pub(super) fn absorb(&mut self, other: &Self) {
        self.inserts.merge(&other.inserts);
        self.sync_latency.merge(&other.sync_latency);
        self.file_syncs += other.file_syncs;
        self.directory_syncs += other.directory_syncs;
        self.database_bytes += other.database_bytes;
    }
}

impl Database {
    /// Creates the table and inserts all rows.
    pub(super) fn run(&self, limits: &Limits<'_>) -> Result<DatabaseReport, TestError> {
        vfs::start_counting();
        let mut inserts = Histogram::new();
        let created = self.open()?;
        self.set(&created, &self.settings.pragmas_at_creation())?;
        created
            .execute_batch(definition::CREATE_TABLE)
            .map_err(|source| self.error("create the table in", source))?;
        self.close(created)?;
        for _ in 0..self.settings.connections {
            let connection = self.open()?;
            self.insert_all(&connection, limits, &mut inserts)?;
            self.close(connection)?;
        }
        let counted = vfs::stop_counting();
        let database = fs::metadata(&self.path).at("look at", &self.path)?;
        Ok(DatabaseReport {
            inserts,
            sync_latency: counted.latency,
            file_syncs: counted.file_syncs,
            directory_syncs: counted.directory_syncs,
            database_bytes: database.len(),
        })
    }

    fn insert_all(
        &self,
        connection: &Connection,
        limits: &Limits<'_>,
        inserts: &mut Histogram,
    ) -> Result<(), TestError> {
        self.set(connection, &self.settings.pragmas_of_connection())?;
        let started = limits.clock.now();
        let mut before = started;
        for (index, statement) in self.statements.iter().enumerate() {
            if limits.cancel.is_cancelled() {
                return Err(TestError::Cancelled);
            }
            if before > limits.deadline {
                return Err(TestError::Deadline {
                    what: "the insertions",
                    limit: limits.deadline.since(started),
                });
            }
            // Parsed anew each time, as the program does with each line it reads.
            connection
                .execute(statement, [])
                .map_err(|source| self.error(&format!("insert row {} into", index + 1), source))?;
            let after = limits.clock.now();
            inserts.record(after.since(before).as_u64());
            before = after;
            limits.rows_done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Checks that every row is there and the database is sound, then forgets the counts.
    pub(super) fn verify(&self, rows: u64) -> Result<(), TestError> {
        let connection = self.open()?;
        let text: String = connection
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .map_err(|source| self.error("check", source))?;
        if text != "ok" {
            return Err(TestError::Check {
                check: "PRAGMA integrity_check",
                found: format!("{text} in {}", self.path.display()),
            });
        }
        let found: i64 = connection
            .query_row("SELECT count(*) FROM pts1", [], |row| row.get(0))
            .map_err(|source| self.error("count the rows of", source))?;
        if u64::try_from(found) != Ok(rows) {
            return Err(TestError::Check {
                check: "rows in the table",
                found: format!("{found} instead of {rows} in {}", self.path.display()),
            });
        }
        let page: i64 = connection
            .query_row("PRAGMA page_size", [], |row| row.get(0))
            .map_err(|source| self.error("read the page size of", source))?;
        if page != i64::from(self.settings.page_size) {
            return Err(TestError::Check {
                check: "page size",
                found: format!("{page} instead of {}", self.settings.page_size),
            });
        }
        self.close(connection)
    }

    /// Removes the database and what may lie beside it.
    pub(super) fn remove(&self) -> Result<(), TestError> {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            let path = PathBuf::from(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(error).at("remove", &path)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn open(&self) -> Result<Connection, TestError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags_and_vfs(&self.path, flags, vfs::NAME)
            .map_err(|source| self.error("open", source))
    }

    fn close(&self, connection: Connection) -> Result<(), TestError> {
        connection
            .close()
            .map_err(|(_, source)| self.error("close", source))
    }

    fn set(&self, connection: &Connection, pragmas: &str) -> Result<(), TestError> {
        match pragmas.is_empty() {
            true => Ok(()),
            false => connection
                .execute_batch(pragmas)
                .map_err(|source| self.error("configure", source)),
        }
    }

    fn error(&self, doing: &str, source: rusqlite::Error) -> TestError {
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => TestError::NoSpace {
                doing: "writing",
                path: self.path.clone(),
                needed: Bytes::new(self.settings.space().as_u64()),
            },
            _ => WorkloadError::Sqlite {
                doing: doing.to_owned(),
                path: self.path.clone(),
                source,
            }
            .into(),
        }
    }
}

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use fathom_base::process::{End, Finished, Program, run};
use fathom_base::{Cancel, IoContext, Nanos};
use fathom_model::TestError;
use fathom_model::definition::sqlite::{CREATE_TABLE, SqliteSettings};

/// One database of a trial.
pub(super) struct Copy {
    pub(super) program: PathBuf,
    pub(super) path: PathBuf,
    pub(super) settings: SqliteSettings,
    pub(super) statements: Arc<[u8]>,
    pub(super) time_left: Nanos,
}

impl Copy {
    /// Creates the table and inserts all rows.
    pub(super) fn fill(&self, cancel: &Cancel) -> Result<(), TestError> {
        let creation = format!("{}{CREATE_TABLE}\n", self.settings.pragmas_at_creation());
        self.feed(creation.into_bytes(), cancel)?;
        for _ in 0..self.settings.connections {
            self.feed(self.statements.to_vec(), cancel)?;
        }
        Ok(())
    }

    /// Checks that every row is there and the database is sound.
    pub(super) fn verify(&self, rows: u64, cancel: &Cancel) -> Result<(), TestError> {
        let question = "PRAGMA integrity_check; SELECT count(*) FROM pts1; PRAGMA page_size;\n";
        let answer = self.feed(question.as_bytes().to_vec(), cancel)?;
        let expected = format!("ok\n{rows}\n{}\n", self.settings.page_size);
        match answer == expected {
            true => Ok(()),
            false => Err(TestError::Check {
                check: "PRAGMA integrity_check, rows and page size",
                found: format!("{:?} instead of {expected:?}", answer.trim()),
            }),
        }
    }

    /// Removes the database and what may lie beside it.
    pub(super) fn remove(&self) -> Result<(), TestError> {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let mut name = self.path.clone().into_os_string();
            name.push(suffix);
            let path = PathBuf::from(name);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    Err(error).at("remove", &path)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// One run of the program with this on its standard input.
    fn feed(&self, input: Vec<u8>, cancel: &Cancel) -> Result<String, TestError> {
        let mut program = Program::new(&self.program).args(["-batch", "-bail"]);
        program.args.push(self.path.clone().into_os_string());
        program.input = Some(input);
        program.timeout = self.time_left;
        let finished = run(&program, cancel)?;
        match finished.end {
            End::Exited(0) => Ok(finished.stdout_text()),
            End::Cancelled => Err(TestError::Cancelled),
            End::TimedOut => Err(TestError::Deadline {
                what: "sqlite3",
                limit: program.timeout,
            }),
            End::Exited(_) | End::Signalled(_) => Err(self.failure(&program, &finished)),
        }
    }

    fn failure(&self, program: &Program, finished: &Finished) -> TestError {
        let said = finished.stderr_text();
        if said.contains("database or disk is full") {
            return TestError::NoSpace {
                doing: "writing",
                path: self.path.clone(),
                needed: self.settings.space(),
            };
        }
        let first: String = said
            .lines()
            .next()
            .unwrap_or("")
            .chars()
            .take(300)
            .collect();
        TestError::Program {
            program: program.command_line(),
            what: format!("ended with {:?}: {first}", finished.end),
        }
    }
}

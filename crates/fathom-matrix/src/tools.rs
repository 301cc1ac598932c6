//! The programs that make and unmake things.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fathom_base::Cancel;
use fathom_base::process::{Program, find_program, run};

use crate::error::MatrixError;

/// How often something that takes a moment is looked at again.
const POLL: Duration = Duration::from_millis(20);
/// How long it is waited for: udev looks at every new device, and a service may take a while to
/// end.
const PATIENCE: Duration = Duration::from_secs(20);
/// Characters of a program's words that are kept.
const WORDS_LIMIT: usize = 400;

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Tools {
    search: OsString,
}

impl Tools {
    /// Programs are looked up in this list of directories, and where an administrator's are.
    pub fn new(search: &OsStr) -> Self {
        let mut search = search.to_os_string();
        for directory in ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"] {
            search.push(":");
            search.push(directory);
        }
        Self { search }
    }

    /// A program's path, when it is installed.
    pub fn find(&self, program: &str) -> Option<PathBuf> {
        find_program(program, &self.search)
    }

    /// Runs a program to its end and gives what it printed.
    ///
    /// # Errors
    /// [`MatrixError::Tool`] with the step, the command and its words.
    pub(crate) fn run(
        &self,
        step: &str,
        program: &str,
        args: &[&OsStr],
    ) -> Result<String, MatrixError> {
        self.run_with(step, program, args, None)
    }

    pub(crate) fn run_with(
        &self,
        step: &str,
        program: &str,
        args: &[&OsStr],
        input: Option<Vec<u8>>,
    ) -> Result<String, MatrixError> {
        let failed = |what: String| MatrixError::Tool {
            step: step.to_owned(),
            what,
        };
        let path = self
            .find(program)
            .ok_or_else(|| failed(format!("{program} is not installed")))?;
        let mut program = Program::new(path).args(args);
        program.environment = vec![("LC_ALL".into(), "C".into())];
        program.input = input;
        // What changes a device is never given up half-way.
        let done = run(&program, &Cancel::new())?;
        if done.is_success() {
            return Ok(done.stdout_text());
        }
        let words = format!("{} {}", done.stderr_text(), done.stdout_text());
        let words: Vec<&str> = words.split_whitespace().collect();
        let words: String = words.join(" ").chars().take(WORDS_LIMIT).collect();
        let command = program.command_line();
        Err(failed(format!("{command}: {:?}: {words}", done.end)))
    }
}

/// Tries until it works or the patience ends; the last error is told.
pub(crate) fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T, MatrixError>,
) -> Result<T, MatrixError> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::sleep(POLL),
        }
    }
}

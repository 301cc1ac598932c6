//! Test `io` carried out by an installed fio.
//!
//! The case becomes a job file with the same load, and fio's JSON becomes the same metrics. What
//! fio cannot express is an unmet need, never something similar.

mod job;
mod output;
mod prepared;
mod report;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::OnceLock;

use fathom_base::process::{Program, find_program, run};
use fathom_base::{Bytes, Cancel, Nanos, SharedByKey, seed_for};
use fathom_model::definition::io::{self as definition, IoSettings};
use fathom_model::{
    Case, Context, Estimate, Host, Implementation, ImplementationKind, Metric, Prepared, Test,
    TestError, TestInfo, Unmet,
};

use self::prepared::{PreparedFio, WrittenFile};
use crate::found::OnceFound;
use crate::needs::need_room;

/// The oldest fio whose JSON has bins of total latency.
const OLDEST: (u32, u32) = (3, 14);

/// Test `io` by fio; see the module's description.
#[derive(Debug)]
pub struct FioTest {
    found: OnceFound<Fio>,
    complete: OnceLock<Option<Fio>>,
    files: SharedByKey<FileKey, WrittenFile>,
}

/// The program.
#[derive(Clone, Debug)]
struct Fio {
    path: PathBuf,
    /// `3.33`.
    version: String,
    has_io_uring: bool,
}

/// What two cases must agree on to share a file.
#[derive(Clone, Debug, PartialEq)]
struct FileKey {
    scratch: PathBuf,
    length: Bytes,
    contents: String,
}

impl FioTest {
    /// The test; fio is looked up in `search_path` when it is first needed.
    pub fn new(search_path: &OsStr) -> Self {
        Self {
            found: OnceFound::new(search_path),
            complete: OnceLock::new(),
            files: SharedByKey::default(),
        }
    }

    /// fio and its version, without its engines: a list of tests should not wait for more.
    fn version(&self) -> Option<&str> {
        let found = self.found.get(Fio::find);
        found.map(|fio| fio.version.as_str())
    }

    /// fio with all that is asked of it.
    fn fio(&self) -> Option<&Fio> {
        self.version()?;
        let complete = || {
            let mut fio = self.found.get(Fio::find)?.clone();
            fio.has_io_uring = ask(&fio.path, "--enghelp=io_uring").is_some();
            Some(fio)
        };
        self.complete.get_or_init(complete).as_ref()
    }
}

/// What fio prints for one argument, when it exits well.
fn ask(path: &std::path::Path, argument: &str) -> Option<String> {
    let mut program = Program::new(path).args([argument]);
    program.timeout = Nanos::from_secs(20);
    let finished = run(&program, &Cancel::new()).ok()?;
    finished.is_success().then(|| finished.stdout_text())
}

impl Fio {
    fn find(search_path: &OsStr) -> Option<Self> {
        let path = find_program("fio", search_path)?;
        Some(Self {
            version: version_of(&ask(&path, "--version")?)?,
            has_io_uring: false,
            path,
        })
    }

    fn is_too_old(&self) -> bool {
        let mut parts = self.version.split(['.', '-']).map(|part| part.parse().ok());
        let number = |part: Option<Option<u32>>| part.flatten().unwrap_or(0);
        (number(parts.next()), number(parts.next())) < OLDEST
    }
}

/// `3.33` from `fio-3.33`.
fn version_of(text: &str) -> Option<String> {
    let version = text.trim().strip_prefix("fio-")?;
    let is_plain = version.len() <= 64 && version.chars().all(|c| c.is_ascii_graphic());
    (is_plain && version.starts_with(|c: char| c.is_ascii_digit())).then(|| version.to_owned())
}

impl Test for FioTest {
    fn id(&self) -> &'static str {
        definition::ID
    }

    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Program,
                name: "fio".to_owned(),
                version: self.version().unwrap_or_default().to_owned(),
            },
            options: definition::options(),
        }
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        // A case that cannot be read is refused by `check`.
        IoSettings::from_case(case).map_or_else(|_| Vec::new(), |io| definition::metrics(&io))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match IoSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return vec![need(error.to_string(), "")],
        };
        let mut unmet = settings.conflicts();
        match self.fio() {
            None => unmet.push(need("fio is not installed", "apt-get install fio")),
            Some(fio) if fio.is_too_old() => unmet.push(need(
                format!(
                    "fio {} is older than {}.{}",
                    fio.version, OLDEST.0, OLDEST.1
                ),
                "install a newer fio",
            )),
            Some(fio) => unmet.extend(job::inexpressible(&settings, fio)),
        }
        unmet.extend(need_room(host, settings.end()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = IoSettings::from_case(case)?;
        let general = definition::estimate(&settings, host);
        let own = format!("fio {} {}", job::contents(&settings), settings.end());
        let is_laid_out = general.prepare_bytes.as_u64() > 0;
        Ok(Estimate {
            // fio takes about a second to start, to end and to print.
            trial_time: general.trial_time.plus(Nanos::from_secs(1)),
            inodes: general.inodes + 1,
            layout: is_laid_out.then(|| seed_for(1, &own)),
            ..general
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = IoSettings::from_case(case)?;
        let fio = self.fio().ok_or_else(|| TestError::Program {
            program: "fio".to_owned(),
            what: "is not installed".to_owned(),
        })?;
        let prepared = PreparedFio::new(&self.files, fio.clone(), settings, case, cx)?;
        Ok(Box::new(prepared))
    }
}

fn need(what: impl Into<String>, hint: &str) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.to_owned(),
    }
}

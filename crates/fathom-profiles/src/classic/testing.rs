//! Programs of the machine, and scripts that stand in for programs.

use std::os::unix::fs::PermissionsExt;

use fathom_model::{Case, TestError};
use fathom_testkit::{Bench, skipped};
use tempfile::TempDir;

use super::{Driver, ProgramTest};

/// The test by the program of this machine, or a loud word that it is not here.
pub(crate) fn installed<D: Driver>() -> Option<ProgramTest<D>> {
    let test = ProgramTest::new(&std::env::var_os("PATH").unwrap_or_default());
    if !test.is_installed() {
        skipped(&format!("{} is not installed", D::PROGRAM));
        return None;
    }
    Some(test)
}

/// A case of the test, typed.
pub(crate) fn settings<D: Driver>(typed: &[(&str, &str)]) -> D::Settings {
    D::settings(&case::<D>(typed)).unwrap()
}

fn case<D: Driver>(typed: &[(&str, &str)]) -> Case {
    Bench::case(&ProgramTest::<D>::new(std::ffi::OsStr::new("")), typed)
}

/// The words of the command, the program's path left out.
pub(crate) fn words<D: Driver>(typed: &[(&str, &str)]) -> String {
    let program = super::plain(std::path::Path::new("/bin/program"));
    let work = std::path::Path::new("/scratch/case/work");
    let program = D::command(&settings::<D>(typed), program, work);
    let line = program.command_line();
    line.strip_prefix("/bin/program").unwrap().trim().to_owned()
}

/// A script in the place of the program: it answers the question for the version with `version`,
/// anything else is up to `body`.
pub(crate) struct Fake<D> {
    _directory: TempDir,
    pub(crate) test: ProgramTest<D>,
}

impl<D: Driver> Fake<D> {
    pub(crate) fn new(version: &str, body: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(D::PROGRAM);
        // Asked for its version it is run in the tests' own directory, else in `work`.
        let script = format!(
            "#!/bin/sh\ncase \"$(pwd)\" in */work) ;; *) cat <<'END'\n{version}\nEND\nexit 1;; \
             esac\n{body}\n"
        );
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let test = ProgramTest::new(directory.path().as_os_str());
        assert!(test.is_installed(), "the script tells no version");
        Self {
            _directory: directory,
            test,
        }
    }

    /// The error of a trial.
    pub(crate) fn error(&self, bench: &Bench, typed: &[(&str, &str)]) -> TestError {
        bench.run(&self.test, typed, 1).unwrap_err()
    }
}

/// A program that fails, hangs, says nothing or fills the disk gives no figure but an error.
pub(crate) fn failures_are_told<D: Driver>(version: &str, typed: &[(&str, &str)]) {
    let bench = Bench::new();
    let fake = |body: &str| {
        Fake::<D>::new(version, body)
            .error(&bench, typed)
            .to_string()
    };
    let error = fake("echo out of luck >&2; exit 3");
    assert!(
        error.contains("ended with Exited(3); it said: out of luck"),
        "{error}"
    );
    let error = fake("kill -9 $$");
    assert!(error.contains("was ended by signal 9"), "{error}");
    let error = fake("echo hello");
    assert!(error.contains("it said: hello"), "{error}");
    let error = fake("echo 'x: No space left on device'; exit 0");
    assert!(error.contains("no space left"), "{error}");
    let mut bench = Bench::new();
    bench.patience = fathom_base::Nanos::from_millis(200);
    let error = Fake::<D>::new(version, "exec sleep 100").error(&bench, typed);
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

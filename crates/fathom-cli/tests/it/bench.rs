//! A data directory, a target on a real disk, and the binary.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fathom_testkit::disk_directory;
use serde_json::Value;
use tempfile::TempDir;

/// How long anything a test waits for may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// The suite `quick` in a second or two: every case and step of it, with small files.
pub const SMALL_QUICK: [&str; 15] = [
    "run",
    "quick",
    "-o",
    "size=8MiB",
    "-o",
    "runtime=20ms",
    "-o",
    "ramp=0s",
    "--min-trials",
    "3",
    "--max-trials",
    "3",
    "--budget",
    "none",
    "--system=here",
];

/// A command that has ended.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Insists on an exit code.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Its standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error} in:\n{}", self.stdout))
    }
}

pub struct Bench {
    home: TempDir,
    pub target: PathBuf,
}

impl Bench {
    /// A target on a real disk; `None`, said loudly, where there is none.
    pub fn new() -> Option<Self> {
        let home = disk_directory()?;
        let target = home.path().join("target");
        std::fs::create_dir(&target).unwrap();
        Some(Self { home, target })
    }

    /// Another target.
    pub fn at(target: &Path) -> Self {
        Self {
            home: tempfile::tempdir().unwrap(),
            target: target.to_path_buf(),
        }
    }

    pub fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    pub fn suites(&self) -> PathBuf {
        self.home.path().join("config/fathom/suites")
    }

    /// The binary in the target directory, with nothing in its environment that we did not choose.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fathom"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(words)
            .env_clear()
            .env("PATH", path)
            .env("TZ", "UTC")
            .env("HOME", self.home.path())
            .env("FATHOM_DATA", self.data())
            .env("XDG_CONFIG_HOME", self.home.path().join("config"))
            .current_dir(&self.target)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        end(self.command(words).spawn().unwrap())
    }

    /// What is in the target directory.
    pub fn left(&self) -> Vec<PathBuf> {
        files(&self.target)
    }

    /// The journals that are there.
    pub fn journals(&self) -> Vec<PathBuf> {
        let runs = files(&self.data().join("runs"));
        let journals = runs.into_iter().map(|run| run.join("journal.jsonl"));
        journals.filter(|journal| journal.exists()).collect()
    }

    /// How often `what` stands in the only journal.
    pub fn count_in_journal(&self, what: &str) -> usize {
        let journals = self.journals();
        assert!(journals.len() <= 1, "{journals:?}");
        let text = journals.first().map(std::fs::read_to_string);
        text.and_then(Result::ok)
            .map_or(0, |text| text.matches(what).count())
    }
}

pub fn end(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Entries of a directory, sorted; none when it is not there.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Looks again and again until it holds.
#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < PATIENCE, "still not: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal by name.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// `runs[].trials[]` with values, by case.
pub fn good_trials(result: &Value) -> Vec<(String, usize)> {
    let runs = result["runs"].as_array().unwrap();
    runs.iter()
        .map(|run| {
            let case = run["case"].as_str().unwrap().to_owned();
            let trials = run["trials"].as_array().unwrap();
            let good = trials.iter().filter(|trial| trial.get("error").is_none());
            (case, good.count())
        })
        .collect()
}

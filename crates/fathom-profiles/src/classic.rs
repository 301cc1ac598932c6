//! What the classic file-system programs share: looked up with their version, run in a directory of
//! the case, watched over, and read or refused.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use fathom_base::process::{End, Finished, Program, find_program, run};
use fathom_base::{Bytes, Cancel, IoContext, Nanos};
use fathom_model::{
    Case, Context, CpuEvidence, DataEvidence, DurabilityEvidence, Estimate, Evidence, Figure,
    FileEvidence, Host, HostEvidence, Implementation, ImplementationKind, Metric, OptionError,
    Prepared, Progress, TargetKind, Test, TestError, TestInfo, Trial, Unmet,
};

use crate::found::OnceFound;
use crate::needs::need_room;

#[cfg(test)]
pub(crate) mod testing;

/// Output that is kept. The longest is dbench's, a line a second.
const OUTPUT_LIMIT: usize = 4 << 20;
/// What a program may say of a full disk: the C library's words, which `LC_ALL=C` keeps.
const FULL: [&str; 3] = [
    "No space left on device",
    "Disk quota exceeded",
    // fs_mark looks itself before it starts.
    "Insufficient free space",
];
/// Files a file system keeps for itself.
const SPARE_INODES: u64 = 16;

/// One program and how it is driven. The options, their meaning and the metrics are those of the
/// native test, in [`fathom_model::definition`].
pub(crate) trait Driver: Debug + Default + Send + Sync + 'static {
    /// A case, typed.
    type Settings: Clone + Debug + Send + 'static;

    /// The executable.
    const PROGRAM: &'static str;
    /// Where to get it.
    const HINT: &'static str;
    /// What files are filled with, in words.
    const CONTENTS: &'static str;

    /// The test's name, title, summary and version, and its options.
    fn describe() -> Description;

    /// Reads a case.
    fn settings(case: &Case) -> Result<Self::Settings, OptionError>;

    /// Completes a case as the native test does.
    fn complete(_info: &TestInfo, case: Case) -> Result<Case, OptionError> {
        Ok(case)
    }

    /// What this implementation yields.
    fn metrics(settings: &Self::Settings) -> Vec<Metric>;

    /// Contradictions, and what the program of this version cannot do.
    fn unmet(settings: &Self::Settings, version: Option<&str>) -> Vec<Unmet>;

    /// What a trial takes.
    fn estimate(settings: &Self::Settings, host: &Host) -> Result<Estimate, OptionError>;

    /// How the program is asked for its version.
    fn ask_version(program: Program) -> Program;

    /// The version in the answer.
    fn version(answer: &str) -> Option<String>;

    /// Writes what the program reads, into the case's directory, before the first trial.
    fn lay_out(_settings: &Self::Settings, _directory: &Path) -> Result<(), TestError> {
        Ok(())
    }

    /// Arguments and input. The program works in `work`, which is empty and lies in the case's
    /// directory.
    fn command(settings: &Self::Settings, program: Program, work: &Path) -> Program;

    /// How long the program works before it begins to measure.
    fn lead(_settings: &Self::Settings) -> Nanos {
        Nanos::default()
    }

    /// Reads what the program printed.
    ///
    /// # Errors
    /// What is missing or wrong in it, as the end of a sentence.
    fn read(settings: &Self::Settings, stdout: &str) -> Result<Reading, String>;

    /// When writes are durable, in words, and whether all are.
    fn policy(settings: &Self::Settings) -> (String, bool);
}

/// What a test is, whatever carries it out.
pub(crate) struct Description {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) version: &'static str,
    pub(crate) options: Vec<fathom_model::OptionInfo>,
}

/// What the program's words say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// Values by metric.
    pub(crate) values: std::collections::BTreeMap<String, Figure>,
    /// What it counted.
    pub(crate) counts: Vec<(String, u64)>,
    /// Sentences worth keeping, the line with the figure first.
    pub(crate) notes: Vec<String>,
}

/// A test carried out by a program; see [`Driver`].
#[derive(Debug)]
pub struct ProgramTest<D> {
    found: OnceFound<Found>,
    driver: std::marker::PhantomData<D>,
}

/// A program that was found.
#[derive(Clone, Debug)]
struct Found {
    path: PathBuf,
    version: String,
}

#[expect(private_bounds, reason = "drivers are this crate's own")]
impl<D: Driver> ProgramTest<D> {
    /// The test; its program is looked up in `search_path` when it is first needed.
    pub fn new(search_path: &OsStr) -> Self {
        Self {
            found: OnceFound::new(search_path),
            driver: std::marker::PhantomData,
        }
    }

    fn found(&self) -> Option<&Found> {
        self.found.get(|search| {
            let path = find_program(D::PROGRAM, search)?;
            let mut program = D::ask_version(plain(&path));
            program.timeout = Nanos::from_secs(20);
            // Its exit code says nothing: most of these programs fail when asked for help.
            let finished = run(&program, &Cancel::new()).ok()?;
            let answer = finished.stdout_text() + &finished.stderr_text();
            let version = D::version(&answer)?;
            let is_plain = (1..=32).contains(&version.len())
                && version
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c));
            is_plain.then_some(Found { path, version })
        })
    }

    #[cfg(test)]
    pub(crate) fn is_installed(&self) -> bool {
        self.found().is_some()
    }
}

/// A program that speaks English.
fn plain(path: &Path) -> Program {
    let mut program = Program::new(path);
    program.environment = vec![("LC_ALL".into(), "C".into())];
    program.output_limit = OUTPUT_LIMIT;
    program
}

/// A need with what to do.
pub(crate) fn need(what: impl Into<String>, hint: &str) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.to_owned(),
    }
}

impl<D: Driver> Test for ProgramTest<D> {
    fn info(&self) -> TestInfo {
        let version = self.found().map(|found| found.version.clone());
        let about = D::describe();
        TestInfo {
            id: about.id,
            title: about.title,
            summary: about.summary,
            version: about.version.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Program,
                name: D::PROGRAM.to_owned(),
                version: version.unwrap_or_default(),
            },
            options: about.options,
        }
    }

    fn complete(&self, case: Case) -> Result<Case, OptionError> {
        D::complete(&self.info(), case)
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        // A case that cannot be read is refused by `check`.
        D::settings(case).map_or_else(|_| Vec::new(), |settings| D::metrics(&settings))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let known = D::settings(case);
        let known = known.and_then(|settings| Ok((D::estimate(&settings, host)?, settings)));
        let (estimate, settings) = match known {
            Ok(known) => known,
            Err(error) => return vec![need(error.to_string(), "")],
        };
        let version = self.found().map(|found| found.version.as_str());
        let mut unmet = D::unmet(&settings, version);
        if version.is_none() {
            unmet.push(need(format!("{} is not installed", D::PROGRAM), D::HINT));
        }
        if host.target.kind != TargetKind::Directory {
            let what = format!("{} is not a directory", host.target.path);
            unmet.push(need(what, "name a directory on the file system to test"));
        }
        unmet.extend(need_room(host, estimate.space));
        unmet.extend(need_inodes(host, estimate.inodes));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(D::estimate(&D::settings(case)?, host)?)
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = D::settings(case)?;
        let found = self.found().ok_or_else(|| TestError::Program {
            program: D::PROGRAM.to_owned(),
            what: "is not installed".to_owned(),
        })?;
        let space = D::estimate(&settings, cx.host)?.space;
        let path = cx.scratch.join(format!("{}-{}", D::PROGRAM, case.id));
        fs::create_dir(&path).map_err(|error| TestError::io("creating", &path, error))?;
        let prepared = PreparedProgram::<D> {
            found: found.clone(),
            settings,
            directory: path,
            space,
        };
        D::lay_out(&prepared.settings, &prepared.directory)?;
        Ok(Box::new(prepared))
    }
}

/// Objects when the file system has not so many inodes left.
fn need_inodes(host: &Host, needed: u64) -> Option<Unmet> {
    let available = host.target.mount.as_ref()?.available_inodes?;
    (available < needed.saturating_add(SPARE_INODES)).then(|| {
        need(
            format!(
                "{} has {available} inodes free, the case needs {needed} and a reserve of \
                 {SPARE_INODES}",
                host.target.path
            ),
            "choose fewer files or another target",
        )
    })
}

#[derive(Debug)]
struct PreparedProgram<D: Driver> {
    found: Found,
    settings: D::Settings,
    /// The case's directory; the program works in `work` inside it.
    directory: PathBuf,
    space: Bytes,
}

impl<D: Driver> Drop for PreparedProgram<D> {
    fn drop(&mut self) {
        // After `finish` it is gone; what cannot be removed here goes with the scratch directory.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl<D: Driver> Prepared for PreparedProgram<D> {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        self.expect_room()?;
        let work = self.directory.join("work");
        fs::create_dir(&work).map_err(|error| TestError::io("creating", &work, error))?;
        let trial = self.trial(&work, cx);
        // What the program left, and all it made when it failed.
        fs::remove_dir_all(&work).at("remove", &work)?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        fs::remove_dir_all(&self.directory).at("remove", &self.directory)?;
        Ok(())
    }
}

impl<D: Driver> PreparedProgram<D> {
    /// Some of these programs do not look whether a write failed, and would give a figure on a disk
    /// that was full.
    fn expect_room(&self) -> Result<(), TestError> {
        let space = fathom_system::Root::system().space(&self.directory);
        match space.is_some_and(|space| space.available_bytes < self.space.as_u64()) {
            true => Err(self.full(&self.directory)),
            false => Ok(()),
        }
    }

    fn full(&self, path: &Path) -> TestError {
        TestError::NoSpace {
            doing: "writing",
            path: path.to_path_buf(),
            needed: self.space,
        }
    }

    fn trial(&self, work: &Path, cx: &Context<'_>) -> Result<Trial, TestError> {
        (cx.progress)(Progress {
            phase: D::PROGRAM.to_owned(),
            ..Progress::default()
        });
        let mut program = D::command(&self.settings, plain(&self.found.path), work);
        program.directory = Some(work.to_path_buf());
        program.timeout = cx.deadline.since(cx.clock.now());
        let (finished, host) = watched(&program, D::lead(&self.settings), cx)?;
        let stdout = self.output(&program, &finished, work)?;
        let reading = D::read(&self.settings, &stdout).map_err(|missing| TestError::Program {
            program: program.command_line(),
            what: format!("{missing}; it said: {}", words(&finished)),
        })?;
        Ok(self.made(reading, &program, &finished, host, cx))
    }

    /// What it printed, when it ended well.
    fn output(
        &self,
        program: &Program,
        finished: &Finished,
        work: &Path,
    ) -> Result<String, TestError> {
        match finished.end {
            End::Cancelled => return Err(TestError::Cancelled),
            End::TimedOut => {
                return Err(TestError::Deadline {
                    what: D::PROGRAM,
                    limit: program.timeout,
                });
            }
            End::Exited(_) | End::Signalled(_) => {}
        }
        let (stdout, stderr) = (finished.stdout_text(), finished.stderr_text());
        // Some of them carry on after a write that failed.
        if FULL
            .iter()
            .any(|full| stdout.contains(full) || stderr.contains(full))
        {
            return Err(self.full(work));
        }
        let failed = |what: String| TestError::Program {
            program: program.command_line(),
            what,
        };
        match finished.end {
            End::Exited(0) if finished.dropped_bytes == 0 => Ok(stdout),
            End::Exited(0) => Err(failed(format!("printed more than {OUTPUT_LIMIT} bytes"))),
            End::Signalled(signal) => Err(failed(format!(
                "was ended by signal {signal}; it said: {}",
                words(finished)
            ))),
            end => Err(failed(format!(
                "ended with {end:?}; it said: {}",
                words(finished)
            ))),
        }
    }

    fn made(
        &self,
        reading: Reading,
        program: &Program,
        finished: &Finished,
        host: HostEvidence,
        cx: &Context<'_>,
    ) -> Trial {
        let (policy, durable) = D::policy(&self.settings);
        let mut notes = vec![
            format!(
                "{} {}: {}",
                D::PROGRAM,
                self.found.version,
                command(program)
            ),
            "processor time is of the whole program, with what it does before and after it \
             measures"
                .to_owned(),
        ];
        notes.extend(reading.notes);
        Trial {
            values: reading.values,
            evidence: Evidence {
                file: Some(FileEvidence {
                    size_bytes: self.space.as_u64(),
                    memory_bytes: Some(cx.host.memory.as_u64()),
                    ..FileEvidence::default()
                }),
                data: Some(DataEvidence {
                    contents: D::CONTENTS.to_owned(),
                    compressing_stack: cx.host.target.compressing.clone(),
                    ..DataEvidence::default()
                }),
                durability: Some(DurabilityEvidence {
                    policy,
                    durable,
                    // The programs do not tell how often they synced.
                    ..DurabilityEvidence::default()
                }),
                cpu: Some(CpuEvidence {
                    user_ns: finished.user.as_u64(),
                    system_ns: finished.system.as_u64(),
                    ..CpuEvidence::default()
                }),
                host: Some(host),
                counts: reading.counts.into_iter().collect(),
                notes,
                ..Evidence::default()
            },
            ..Trial::default()
        }
    }
}

/// The words of a command without the paths of this run, which differ from run to run.
fn command(program: &Program) -> String {
    let shown = |word: &std::ffi::OsString| {
        let text = word.to_string_lossy().into_owned();
        match Path::new(&text).file_name() {
            Some(name) if text.starts_with('/') => name.to_string_lossy().into_owned(),
            _ => text,
        }
    };
    let words = std::iter::once(&program.program).chain(&program.args);
    let mut line: Vec<String> = words.map(shown).collect();
    if let Some(input) = &program.input {
        let commands = String::from_utf8_lossy(input);
        line.push(format!("< {}", commands.trim().replace('\n', " / ")));
    }
    line.join(" ")
}

/// The end of what a program said.
fn words(finished: &Finished) -> String {
    const MOST: usize = 400;
    let (stderr, stdout) = (finished.stderr_text(), finished.stdout_text());
    let lines: Vec<&str> = stdout
        .lines()
        .chain(stderr.lines())
        .map(str::trim)
        .collect();
    let said: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let text = said[said.len().saturating_sub(4)..].join("; ");
    let start = text.chars().count().saturating_sub(MOST);
    match text.is_empty() {
        true => "nothing".to_owned(),
        false => text.chars().skip(start).collect(),
    }
}

/// Runs a program and watches the machine over it from `lead` on.
fn watched(
    program: &Program,
    lead: Nanos,
    cx: &Context<'_>,
) -> Result<(Finished, HostEvidence), TestError> {
    let observer = cx.observer;
    let (done, waiting) = channel::<()>();
    std::thread::scope(|scope| {
        let watching = scope.spawn(move || {
            let _ = waiting.recv_timeout(lead.as_duration());
            let witness = observer.begin();
            let _ = waiting.recv();
            witness.end()
        });
        let finished = run(program, cx.cancel);
        drop(done);
        let host = watching.join().map_err(|_| TestError::Program {
            program: program.command_line(),
            what: "could not be watched: a thread panicked, please report this".to_owned(),
        })?;
        Ok((finished?, host))
    })
}

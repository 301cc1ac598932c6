//! The journal of a run: one line an event, each safe on disk before the run goes on.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use fathom_base::files::{AppendLog, sync_directory, write_atomic};
use fathom_base::{BaseError, IoContext, WallTime};
use fathom_model::{Event, ResultBuilder, RunEnd, RunHeader, Sink, SinkError};
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::store::Store;

#[cfg(test)]
mod tests;

const RUNS: &str = "runs";
const JOURNAL: &str = "journal.jsonl";
const DAMAGED: &str = "journal.damaged.jsonl";
const LOCK: &str = "lock";
/// The version of the journal format this code writes and reads.
const JOURNAL_VERSION: u64 = 1;
/// The longest line that is read.
const LINE_LIMIT: u64 = 256 << 20;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    fathom_journal: u64,
    #[serde(default)]
    version: String,
}

/// The journal of a run that goes on; no other process can open it meanwhile.
#[derive(Debug)]
pub struct Journal {
    log: AppendLog,
    directory: PathBuf,
    run_id: String,
    /// Held open for its lock.
    lock: File,
}

impl Journal {
    /// The run.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// Removes the journal; its run is saved whole.
    ///
    /// # Errors
    /// With the path that could not be removed.
    pub fn discard(self) -> Result<(), StoreError> {
        remove_run(&self.directory)?;
        drop(self.lock);
        Ok(())
    }
}

impl Sink for Journal {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        if matches!(event, Event::Progress { .. }) {
            return Ok(());
        }
        let line = event.to_line()?;
        Ok(self.log.append(&line)?)
    }
}

/// What a journal holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The events, in order, up to the first damage.
    pub events: Vec<Event>,
    /// The last line was cut off while it was written, and does not count.
    pub is_torn: bool,
    /// The first line that cannot be understood.
    pub damage: Option<Damage>,
}

/// A line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// What was found and expected.
    pub what: String,
}

impl Replay {
    /// The head of the run; `None` when it was killed before that was written.
    pub fn header(&self) -> Option<&RunHeader> {
        self.events.iter().find_map(|event| match event {
            Event::RunStarted(header) => Some(&**header),
            _ => None,
        })
    }

    /// How the run ended; `None` when it was killed.
    pub fn end(&self) -> Option<RunEnd> {
        ResultBuilder::replay(&self.events).end()
    }

    /// All scratch directories the run has made.
    pub fn scratch_directories(&self) -> Vec<PathBuf> {
        let of = |event: &Event| match event {
            Event::RunStarted(header) => Some(PathBuf::from(&header.scratch)),
            Event::RunResumed { scratch, .. } => Some(PathBuf::from(scratch)),
            _ => None,
        };
        let mut directories: Vec<PathBuf> = self.events.iter().filter_map(of).collect();
        directories.sort();
        directories.dedup();
        directories
    }
}

/// A run that has a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct RunInfo {
    /// The run.
    pub run_id: String,
    /// The name it will be saved under.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its target.
    pub target: String,
    /// When it started.
    pub started: WallTime,
    /// Number of its cases.
    pub cases: usize,
    /// Trials so far.
    pub trials: usize,
    /// How it ended; `None` when it was killed or goes on.
    pub end: Option<RunEnd>,
    /// A process is at it.
    pub is_live: bool,
    /// Why the journal cannot be read, or its first damage.
    pub error: Option<String>,
}

impl Store {
    /// Starts the journal of a new run.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when a run of this id exists already.
    pub fn start_journal(&self, run_id: &str, version: &str) -> Result<Journal, StoreError> {
        let directory = self.run_directory(run_id)?;
        let _lock = self.lock()?;
        let runs = self.runs_directory();
        fs::create_dir_all(&runs).at("create directory", &runs)?;
        match fs::create_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Busy {
                    run: run_id.to_owned(),
                });
            }
            other => other.at("create directory", &directory)?,
        }
        sync_directory(&runs)?;
        let mut journal = open(directory, run_id)?;
        let head = Head {
            fathom_journal: JOURNAL_VERSION,
            version: version.to_owned(),
        };
        let line = serde_json::to_string(&head).map_err(|source| StoreError::Encode {
            what: "the head of the journal",
            source,
        })?;
        journal.log.append(&line)?;
        Ok(journal)
    }

    /// Reads the journal of a run and opens it for going on. A torn last line is cut off.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process is at it, [`StoreError::Damaged`] when a line
    /// cannot be understood; see [`Store::salvage`].
    pub fn continue_journal(&self, run_id: &str) -> Result<(Journal, Replay), StoreError> {
        let directory = self.run_directory(run_id)?;
        let path = directory.join(JOURNAL);
        if !path.exists() {
            return Err(StoreError::NoRun {
                run: run_id.to_owned(),
            });
        }
        let journal = open(directory, run_id)?;
        let replay = read(&path)?;
        match replay.damage {
            None => Ok((journal, replay)),
            Some(damage) => Err(StoreError::Damaged {
                path,
                line: damage.line,
                what: damage.what,
                kept: replay.events.len(),
            }),
        }
    }

    /// Reads the journal of a run without opening it for writing.
    ///
    /// # Errors
    /// [`StoreError`] when there is none, or it is newer or cannot be read. Damage is no error.
    pub fn read_journal(&self, run_id: &str) -> Result<Replay, StoreError> {
        let path = self.run_directory(run_id)?.join(JOURNAL);
        match path.exists() {
            true => read(&path),
            false => Err(StoreError::NoRun {
                run: run_id.to_owned(),
            }),
        }
    }

    /// Cuts a damaged journal before its first damage and keeps a copy of what it was. Says how
    /// many events are left.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when another process is at it.
    pub fn salvage(&self, run_id: &str) -> Result<usize, StoreError> {
        let directory = self.run_directory(run_id)?;
        let path = directory.join(JOURNAL);
        let _lock = lock(&directory, run_id)?;
        let replay = read(&path)?;
        let Some(damage) = &replay.damage else {
            return Ok(replay.events.len());
        };
        let good = first_lines(&path, damage.line - 1).at("read", &path)?;
        let copy = directory.join(DAMAGED);
        fs::copy(&path, &copy).at("copy to", &copy)?;
        write_atomic(&path, &good)?;
        Ok(replay.events.len())
    }

    /// All runs that have a journal, oldest first. A journal that cannot be read is there with its
    /// error; a run that was killed before its head was written is not there.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn runs(&self) -> Result<Vec<RunInfo>, StoreError> {
        let mut runs = Vec::new();
        for run_id in self.run_ids()? {
            match self.read_journal(&run_id) {
                Ok(replay) => runs.extend(self.info(&run_id, &replay)),
                // Saved and removed meanwhile.
                Err(StoreError::NoRun { .. }) => {}
                Err(error) => runs.push(RunInfo {
                    run_id: run_id.clone(),
                    name: String::new(),
                    title: String::new(),
                    target: String::new(),
                    started: WallTime::default(),
                    cases: 0,
                    trials: 0,
                    end: None,
                    is_live: self.is_live(&run_id),
                    error: Some(error.to_string()),
                }),
            }
        }
        runs.sort_by(|a, b| (a.started, &a.run_id).cmp(&(b.started, &b.run_id)));
        Ok(runs)
    }

    /// Names that unfinished runs will be saved under.
    pub(crate) fn promised_names(&self) -> Result<BTreeSet<String>, StoreError> {
        let mut names = BTreeSet::new();
        for run_id in self.run_ids()? {
            let path = self.run_directory(&run_id)?.join(JOURNAL);
            // The rest of a journal may be large.
            let start = first_lines(&path, 2).unwrap_or_default();
            let second = start
                .split(|byte| *byte == b'\n')
                .nth(1)
                .unwrap_or_default();
            if let Ok(Event::RunStarted(header)) = Event::from_line(second) {
                names.insert(header.name);
            }
        }
        Ok(names)
    }

    /// Throws an unfinished run away.
    ///
    /// # Errors
    /// [`StoreError::Busy`] when a process is at it, [`StoreError::NoRun`] when there is none.
    pub fn discard_run(&self, run_id: &str) -> Result<(), StoreError> {
        let directory = self.run_directory(run_id)?;
        if !directory.exists() {
            return Err(StoreError::NoRun {
                run: run_id.to_owned(),
            });
        }
        let _lock = lock(&directory, run_id)?;
        Ok(remove_run(&directory)?)
    }

    /// The run a user wants to go on with: by the name of its result or its id, or the newest one
    /// when nothing is said. Runs another process is at are passed over.
    ///
    /// # Errors
    /// [`StoreError::NothingUnfinished`], [`StoreError::Busy`], [`StoreError::NoRun`].
    pub fn unfinished(&self, which: Option<&str>) -> Result<RunInfo, StoreError> {
        let mut runs = self.runs()?;
        let Some(which) = which.filter(|which| *which != "latest") else {
            let free = runs.into_iter().rfind(|run| !run.is_live);
            return free.ok_or(StoreError::NothingUnfinished);
        };
        let is_meant = |run: &RunInfo| run.name == which || run.run_id == which;
        let Some(at) = runs.iter().rposition(is_meant) else {
            return Err(StoreError::NoRun {
                run: which.to_owned(),
            });
        };
        let run = runs.swap_remove(at);
        match run.is_live {
            true => Err(StoreError::Busy { run: run.run_id }),
            false => Ok(run),
        }
    }

    /// Removes the journals of runs that were killed before their head was written: nothing was
    /// measured, and there is nothing to go on with.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn sweep_runs(&self) -> Result<(), StoreError> {
        let _store = self.lock()?;
        for run_id in self.run_ids()? {
            let directory = self.run_directory(&run_id)?;
            let is_empty = match self.read_journal(&run_id) {
                Ok(replay) => replay.events.is_empty() && replay.damage.is_none(),
                Err(StoreError::NoRun { .. }) => true,
                Err(_) => false,
            };
            if is_empty && let Ok(held) = lock(&directory, &run_id) {
                remove_run(&directory)?;
                drop(held);
            }
        }
        Ok(())
    }

    fn info(&self, run_id: &str, replay: &Replay) -> Option<RunInfo> {
        let header = replay.header()?;
        let trials = replay.events.iter();
        let trials = trials.filter(|event| matches!(event, Event::TrialFinished { .. }));
        Some(RunInfo {
            run_id: run_id.to_owned(),
            name: header.name.clone(),
            title: header.title.clone(),
            target: header.target.clone(),
            started: header.started,
            cases: header.cases.len(),
            trials: trials.count(),
            end: replay.end(),
            is_live: self.is_live(run_id),
            error: replay
                .damage
                .as_ref()
                .map(|damage| format!("line {}: {}", damage.line, damage.what)),
        })
    }

    fn run_ids(&self) -> Result<Vec<String>, StoreError> {
        let directory = self.runs_directory();
        let entries = match fs::read_dir(&directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.at("list", &directory)?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let name = entry.at("list", &directory)?.file_name();
            ids.extend(name.to_str().filter(|id| is_run_id(id)).map(str::to_owned));
        }
        ids.sort();
        Ok(ids)
    }

    fn is_live(&self, run_id: &str) -> bool {
        self.run_directory(run_id)
            .is_ok_and(|directory| matches!(lock(&directory, run_id), Err(StoreError::Busy { .. })))
    }

    fn runs_directory(&self) -> PathBuf {
        self.directory().join(RUNS)
    }

    fn run_directory(&self, run_id: &str) -> Result<PathBuf, StoreError> {
        match is_run_id(run_id) {
            true => Ok(self.runs_directory().join(run_id)),
            false => Err(StoreError::NoRun {
                run: run_id.to_owned(),
            }),
        }
    }
}

/// Never a path: neither a slash nor a leading dot.
fn is_run_id(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 100
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn open(directory: PathBuf, run_id: &str) -> Result<Journal, StoreError> {
    // Before the log is opened, which cuts a torn line off: it may be another one's half line.
    let lock = lock(&directory, run_id)?;
    Ok(Journal {
        log: AppendLog::open(&directory.join(JOURNAL))?,
        run_id: run_id.to_owned(),
        directory,
        lock,
    })
}

fn lock(directory: &Path, run_id: &str) -> Result<File, StoreError> {
    let path = directory.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .at("open", &path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Busy {
            run: run_id.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(BaseError::File {
            action: "lock",
            path,
            source,
        }
        .into()),
    }
}

/// The journal goes before the lock, so that a kill in between leaves nothing to go on with.
fn remove_run(directory: &Path) -> Result<(), BaseError> {
    for name in [JOURNAL, DAMAGED, LOCK] {
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => other.at("delete", &path)?,
        }
    }
    fs::remove_dir(directory).at("delete", directory)
}

fn first_lines(path: &Path, count: usize) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut bytes = Vec::new();
    for _ in 0..count {
        reader.read_until(b'\n', &mut bytes)?;
    }
    Ok(bytes)
}

fn read(path: &Path) -> Result<Replay, StoreError> {
    let mut reader = BufReader::new(File::open(path).at("read", path)?);
    let mut replay = Replay::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        read_line(&mut reader, &mut line).at("read", path)?;
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            replay.is_torn = !line.is_empty();
            break;
        }
        let understood = match number {
            1 => head(path, &line)?,
            _ => Event::from_line(&line)
                .map(|event| replay.events.push(event))
                .map_err(|error| explain(&line, &error)),
        };
        if let Err(what) = understood {
            replay.damage = Some(Damage { line: number, what });
            break;
        }
    }
    Ok(replay)
}

/// Reads up to and with the next newline; a line beyond the limit is an error, not a torn one.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<()> {
    reader.take(LINE_LIMIT).read_until(b'\n', line)?;
    match line.len() as u64 == LINE_LIMIT && line.last() != Some(&b'\n') {
        true => Err(io::Error::other(format!(
            "a line is longer than the limit of {LINE_LIMIT} bytes"
        ))),
        false => Ok(()),
    }
}

/// Whether the first line is one of ours.
fn head(path: &Path, line: &[u8]) -> Result<Result<(), String>, StoreError> {
    let head: Head = match serde_json::from_slice(line) {
        Ok(head) => head,
        Err(error) => return Ok(Err(explain(line, &error))),
    };
    match head.fathom_journal {
        0 => Ok(Err("the journal has no format version".to_owned())),
        found if found > JOURNAL_VERSION => Err(StoreError::NewerJournal {
            path: path.to_path_buf(),
            found,
            known: JOURNAL_VERSION,
        }),
        _ => Ok(Ok(())),
    }
}

fn explain(line: &[u8], error: &serde_json::Error) -> String {
    let start: String = String::from_utf8_lossy(line).chars().take(40).collect();
    format!("\"{start}\" is not an event as Fathom writes it ({error})")
}

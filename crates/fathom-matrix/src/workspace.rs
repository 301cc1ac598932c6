//! The directory of a matrix, and who is at it.
//!
//! `DATA/matrix/NAME` holds the journal, the results of the configurations measured so far, the
//! mount points and the loop files. A lock is held while a matrix is under way; the programs it
//! starts inherit it, so that what outlives a killed Fathom is seen, known to be ours, and ended
//! before anything is undone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_base::IoContext;
use fathom_store::Store;
use fathom_system::Root;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::MatrixError;
use crate::journal::Journal;
use crate::undo::is_mounted;

pub use crate::journal::Begun;

/// The directory of all matrices, in the data directory.
const MATRICES: &str = "matrix";
const JOURNAL: &str = "journal.jsonl";
/// How long programs of a killed session get to end after SIGTERM, and after SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(20);
/// `O_CLOEXEC` as `/proc/PID/fdinfo` shows it: the same on all machines Fathom runs on.
const CLOSED_ON_EXEC: u64 = 0o2_000_000;

/// The directory of a matrix, claimed by this process.
#[derive(Debug)]
pub struct Workspace {
    directory: PathBuf,
    pub(crate) journal: Journal,
    _lock: File,
}

impl Workspace {
    /// Makes or opens the directory of a matrix. Programs that a killed session left running are
    /// ended first.
    ///
    /// # Errors
    /// [`MatrixError::Busy`] when another process is at it.
    pub fn open(root: &Root, data: &Path, name: &str) -> Result<Self, MatrixError> {
        let directory = data.join(MATRICES).join(name);
        fs::create_dir_all(&directory).at("create directory", &directory)?;
        // The kernel shows loop files and mounts without links.
        let directory = fs::canonicalize(&directory).at("find", &directory)?;
        let lock = claim(root, &directory.join("lock"), name)?;
        let journal = Journal::open(&directory.join(JOURNAL))?;
        for part in ["files", "mnt"] {
            let path = directory.join(part);
            fs::create_dir_all(&path).at("create directory", &path)?;
        }
        Ok(Self {
            directory,
            journal,
            _lock: lock,
        })
    }

    /// Names of the matrices that were begun and not finished, sorted.
    pub fn unfinished(data: &Path) -> Vec<String> {
        let entries = fs::read_dir(data.join(MATRICES)).into_iter().flatten();
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.path().join("lock").exists())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether a matrix of this name was begun and not finished.
    pub fn is_begun(data: &Path, name: &str) -> bool {
        let journal = data.join(MATRICES).join(name).join(JOURNAL);
        fs::metadata(journal).is_ok_and(|meta| meta.len() > 0)
    }

    /// How it was begun; nothing when it was not.
    pub fn begun(&self) -> Option<&Begun> {
        self.journal.state.begun.as_ref()
    }

    /// Where its configurations are mounted.
    pub fn point(&self, number: usize) -> PathBuf {
        self.directory
            .join("mnt")
            .join(format!("c{:03}", number + 1))
    }

    /// Where its loop files are.
    pub(crate) fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// The results of its configurations.
    pub fn cells(&self) -> Store {
        Store::new(&self.directory.join("cells"))
    }

    /// Removes the directory; everything made must be gone.
    ///
    /// # Errors
    /// When something is outstanding or mounted below it.
    pub(crate) fn remove(self, root: &Root) -> Result<(), MatrixError> {
        let left = |why: String| MatrixError::Left {
            what: self.directory.display().to_string(),
            why,
        };
        if let Some(thing) = self.journal.state.outstanding.values().next() {
            return Err(left(format!("{thing} is still there")));
        }
        let points = self.directory.join("mnt");
        let entries = fs::read_dir(&points).into_iter().flatten().flatten();
        for entry in entries {
            if is_mounted(root, &entry.path()) {
                return Err(left(format!("{} is mounted", entry.path().display())));
            }
        }
        // The journal goes last: until then a next start cleans up.
        for part in ["mnt", "files", "cells"] {
            let path = self.directory.join(part);
            if path.exists() {
                fs::remove_dir_all(&path).at("remove", &path)?;
            }
        }
        Ok(fs::remove_dir_all(&self.directory).at("remove", &self.directory)?)
    }
}

/// Takes the lock, and leaves it to the programs that are started from now on.
fn claim(root: &Root, path: &Path, name: &str) -> Result<File, MatrixError> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .at("open", path)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::Error(source)) => return Err(source).at("lock", path)?,
            Err(TryLockError::WouldBlock) => end_orphans(root, path, name, &mut file, begun)?,
        }
        std::thread::sleep(POLL);
    }
    let pid = std::process::id();
    let owner = format!("{pid} {}", started(root, pid).unwrap_or(0));
    file.set_len(0).at("write", path)?;
    file.rewind().at("write", path)?;
    file.write_all(owner.as_bytes()).at("write", path)?;
    fcntl_setfd(&file, FdFlags::empty())
        .map_err(std::io::Error::from)
        .at("keep open", path)?;
    Ok(file)
}

/// Ends the programs of a session that was killed; refuses when the session itself is alive.
fn end_orphans(
    root: &Root,
    path: &Path,
    name: &str,
    file: &mut File,
    begun: Instant,
) -> Result<(), MatrixError> {
    let mut text = String::new();
    file.rewind().at("read", path)?;
    Read::by_ref(file)
        .take(64)
        .read_to_string(&mut text)
        .at("read", path)?;
    let mut words = text.split(' ').map(str::parse::<u64>);
    let (owner, since) = (words.next(), words.next());
    let busy = |process: String| MatrixError::Busy {
        name: name.to_owned(),
        process,
    };
    if let (Some(Ok(owner)), Some(Ok(since))) = (owner, since)
        && let Ok(pid) = u32::try_from(owner)
        && started(root, pid) == Some(since)
    {
        return Err(busy(pid.to_string()));
    }
    let waited = begun.elapsed();
    let signal = match waited > GRACE {
        true => Signal::KILL,
        false => Signal::TERM,
    };
    let orphans = inheritors(root, path);
    if waited > 2 * GRACE {
        let pids: Vec<String> = orphans.iter().map(u32::to_string).collect();
        return Err(busy(match pids.is_empty() {
            true => "unknown".to_owned(),
            false => pids.join(", "),
        }));
    }
    for pid in orphans {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // One that has just ended needs no signal.
            let _ = kill_process(pid, signal);
        }
    }
    Ok(())
}

/// Processes that inherited the lock: only programs that Fathom started did, since whoever opens it
/// closes it on exec.
fn inheritors(root: &Root, path: &Path) -> Vec<u32> {
    let own = std::process::id();
    let processes = root.names("/proc").into_iter();
    let processes = processes.filter_map(|name| name.parse::<u32>().ok());
    processes
        .filter(|pid| *pid != own)
        .filter(|pid| {
            let names = root.names(format!("/proc/{pid}/fd"));
            names.iter().any(|number| {
                let link = fs::read_link(root.path(format!("/proc/{pid}/fd/{number}")));
                link.is_ok_and(|link| link == path) && is_inherited(root, *pid, number)
            })
        })
        .collect()
}

fn is_inherited(root: &Root, pid: u32, number: &str) -> bool {
    let info = root.read(format!("/proc/{pid}/fdinfo/{number}"));
    let info = info.unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_ON_EXEC == 0)
}

/// Field 22 of `/proc/PID/stat`; the second, a name in parentheses, may hold anything.
fn started(root: &Root, pid: u32) -> Option<u64> {
    let text = root.read(format!("/proc/{pid}/stat"))?;
    let after_name = text.rsplit_once(')')?.1;
    let state = after_name.split_ascii_whitespace().next()?;
    // One that has ended and was not waited for holds nothing.
    (state != "Z").then_some(())?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

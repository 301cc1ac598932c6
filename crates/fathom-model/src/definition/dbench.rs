//! Test `dbench`: a file server's work, replayed from a load file by 1 to 1024 clients.

use std::collections::BTreeMap;

use fathom_base::files::read_limited;
use fathom_base::{Bytes, Nanos};
use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::contract::{Estimate, Host, TestInfo, Unmet};
use crate::definition::Guess;
use crate::definition::classic::{ClassicScale, Values, conflict, metric, primary};
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

mod generate;
mod line;
mod load;
#[cfg(test)]
mod tests;

pub use generate::{ROUNDS, generate};
pub use line::{LineProblem, LineReader, LoadLine, LoadOp, MAX_TRANSFER};
pub use load::{LOAD_LIMIT, LoadError, LoadFacts, LoadFile, MAX_HANDLES};

/// The name a user types.
pub const ID: &str = "dbench";
/// For people.
pub const TITLE: &str = "Dbench file server";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Each client replays the calls a file server makes for office programs, \
in a tree of its own, again and again: opens, reads, writes, renames, searches, flushes. The figure \
is bytes read and written a second, all clients together, after a warm-up of a fifth of the time. \
The built-in load file is dbench-like: made from the statistics of the one dbench ships; the own one \
is replayed with loadfile=PATH, and results of different load files never meet.";
/// Version of the workload and of the built-in load file.
pub const VERSION: &str = "1.0";

/// Most clients.
pub const MAX_CLIENTS: u64 = 1024;
/// The built-in load file, as a value of `loadfile`.
pub const GENERATED: &str = "generated";
/// Of how much of the time `scale=short` takes one.
const SHORT_DIVISOR: u64 = 60;
/// Least time of `scale=short` in seconds.
const SHORT_LEAST: u64 = 5;

/// A case of test `dbench`, typed.
#[derive(Clone, Debug, PartialEq)]
pub struct DbenchSettings {
    /// `clients`.
    pub clients: u32,
    /// Seconds that are measured, by `time` and `scale`.
    pub seconds: u64,
    /// The user's load file; `None` is the built-in one.
    pub loadfile: Option<String>,
    /// `loadfile-sha256`, when it is known.
    pub loadfile_sha256: Option<String>,
    /// `resolve`: names are looked up as a server for Windows does.
    pub resolve: bool,
    /// `sync-open`: files are opened with O_SYNC.
    pub sync_open: bool,
    /// `sync-directories`: a directory is synced after each change of it.
    pub sync_directories: bool,
    /// `fsync`: each write is followed by one.
    pub fsync: bool,
    /// `target-rate`, MB a second of each client.
    pub target_rate: Option<f64>,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        OptionInfo::new(
            "clients",
            OptionKind::Integer(1, MAX_CLIENTS),
            "1",
            "Clients, each with a tree and a thread of its own like a process.",
        )
        .menu(&["1", "6", "12", "48", "128", "256"]),
        OptionInfo::new(
            "time",
            OptionKind::Duration(Nanos::from_secs(2), Nanos::from_secs(86_400)),
            "600s",
            "Time that is measured, in whole seconds; a fifth of it is warm-up beforehand (-t).",
        ),
        OptionInfo::new(
            "loadfile",
            OptionKind::Text,
            GENERATED,
            "A load file of dbench 4.0 by its path, or generated for the built-in one (-c).",
        ),
        OptionInfo::new(
            "loadfile-sha256",
            OptionKind::Text,
            "none",
            "SHA-256 of the load file; found out by itself, and held against the file when given.",
        )
        .or_none(),
        OptionInfo::new(
            "resolve",
            OptionKind::Flag,
            "yes",
            "Whether names are first looked up without regard to case (no is --no-resolve).",
        ),
        OptionInfo::new(
            "sync-open",
            OptionKind::Flag,
            "no",
            "Whether files are opened with O_SYNC (-s).",
        ),
        OptionInfo::new(
            "sync-directories",
            OptionKind::Flag,
            "no",
            "Whether a directory is synced after each rename and removal in it (-S).",
        ),
        OptionInfo::new(
            "fsync",
            OptionKind::Flag,
            "no",
            "Whether each write is followed by an fsync (-F).",
        ),
        OptionInfo::new(
            "target-rate",
            OptionKind::Number(0.001, 1e6),
            "none",
            "MB a second that each client keeps to (-R); none is as fast as it goes.",
        )
        .or_none(),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short takes a 60th of the time, 5 seconds at least.",
        ),
    ]
}

impl DbenchSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let time: Nanos = case.get("time")?;
        let full = time.as_u64() / 1_000_000_000;
        let loadfile = case.text("loadfile")?;
        let hash = case.text("loadfile-sha256")?;
        Ok(Self {
            clients: case.get("clients")?,
            seconds: scale.amount(full, SHORT_DIVISOR, SHORT_LEAST),
            loadfile: (loadfile != GENERATED).then(|| loadfile.to_owned()),
            loadfile_sha256: (hash != "none").then(|| hash.to_owned()),
            resolve: case.flag("resolve")?,
            sync_open: case.flag("sync-open")?,
            sync_directories: case.flag("sync-directories")?,
            fsync: case.flag("fsync")?,
            target_rate: case.get_or_none("target-rate")?,
        })
    }

    /// Length of the warm-up in seconds; the original leaves it out below 5 seconds.
    pub fn warm_up_seconds(&self) -> u64 {
        self.seconds / 5
    }

    /// The load file, read through.
    ///
    /// # Errors
    /// [`OptionError::Value`] that names the file and the line, or what is wrong with its hash.
    pub fn load(&self) -> Result<LoadFile, OptionError> {
        let Some(path) = &self.loadfile else {
            return parsed(GENERATED, generate(ROUNDS).into_bytes());
        };
        let text = self.text(path)?;
        parsed(path, text)
    }

    /// What is in the load file, for plans: of the built-in one two rounds tell, as each leaves the
    /// tree as it was.
    ///
    /// # Errors
    /// As [`DbenchSettings::load`].
    pub fn facts(&self) -> Result<LoadFacts, OptionError> {
        let load = match self.loadfile {
            Some(_) => self.load()?,
            None => parsed(GENERATED, generate(2).into_bytes())?,
        };
        Ok(load.facts().clone())
    }

    /// The user's load file as it is; its hash must be the one that is asked for.
    fn text(&self, path: &str) -> Result<Vec<u8>, OptionError> {
        let text = read_limited(path.as_ref(), LOAD_LIMIT).map_err(|error| {
            wrong(
                "loadfile",
                path,
                &format!("a file that can be read: {error}"),
            )
        })?;
        let found = sha256(&text);
        match &self.loadfile_sha256 {
            Some(asked) if *asked != found => Err(wrong(
                "loadfile-sha256",
                asked,
                &format!("{found}, which {path} has: the case was made with another load file"),
            )),
            _ => Ok(text),
        }
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        if self.loadfile.is_none() && self.loadfile_sha256.is_some() {
            found.push(conflict(
                "loadfile-sha256 is given without a loadfile",
                "name the load file with loadfile=PATH",
            ));
        }
        found
    }

    /// Space that the clients' files take at most.
    pub fn space(&self, facts: &LoadFacts) -> Bytes {
        let each = facts
            .space_bytes
            .saturating_add(facts.most_files.saturating_mul(4096));
        Bytes::new(each.saturating_mul(u64::from(self.clients)))
    }

    /// Files and directories of all clients.
    pub fn inodes(&self, facts: &LoadFacts) -> u64 {
        let each = facts.most_files.saturating_add(8);
        each.saturating_mul(u64::from(self.clients))
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, facts: &LoadFacts, host: &Host) -> Estimate {
        let time = Nanos::from_secs(self.seconds + self.warm_up_seconds() + 1);
        let guess = Guess::of(&host.target);
        let moved = facts.written_bytes + facts.read_bytes;
        let written = facts.written_bytes as f64 / moved.max(1) as f64;
        let bytes = guess.bytes_per_second as f64 * time.as_secs_f64() * written;
        Estimate {
            trial_time: time,
            prepare_time: Nanos::from_millis(500),
            trial_bytes: Bytes::new(bytes as u64),
            space: self.space(facts),
            inodes: self.inodes(facts),
            ..Estimate::default()
        }
    }

    /// When writes are durable, in words, and whether all are.
    pub fn policy(&self) -> (String, bool) {
        let files = match (self.sync_open, self.fsync) {
            (true, _) => Some("O_SYNC"),
            (false, true) => Some("fsync of every write"),
            (false, false) => None,
        };
        let words = match (files, self.sync_directories) {
            (Some(files), true) => format!("{files}, directories synced after changes"),
            (Some(files), false) => files.to_owned(),
            (None, true) => "fsync where the load file flushes, directories synced".to_owned(),
            (None, false) => "fsync where the load file flushes".to_owned(),
        };
        (words, files.is_some())
    }
}

fn parsed(name: &str, text: Vec<u8>) -> Result<LoadFile, OptionError> {
    LoadFile::parse(name, text).map_err(|error| {
        wrong(
            "loadfile",
            name,
            &format!("a load file of dbench 4.0: {error}"),
        )
    })
}

fn wrong(option: &str, value: &str, expected: &str) -> OptionError {
    OptionError::Value {
        test: ID.to_owned(),
        option: option.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
        nearest: None,
    }
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Completes a case with the hash of its load file. The hash is part of the identity of the case in
/// place of the path: the same file at another place is the same case, another file is another.
///
/// # Errors
/// [`OptionError::Value`] when the file cannot be read, is not the one the case was made with, or
/// holds a line that is no good.
pub fn complete(info: &TestInfo, mut case: Case) -> Result<Case, OptionError> {
    let settings = DbenchSettings::from_case(&case)?;
    let Some(path) = &settings.loadfile else {
        return Ok(case);
    };
    let text = settings.text(path)?;
    let hash = sha256(&text);
    parsed(path, text)?;
    case.options.set("loadfile-sha256", hash);
    case.identify(info, &["loadfile"])?;
    Ok(case)
}

/// The metrics: `throughput` (the original's figure, primary), `max-latency` and operations.
pub fn metrics() -> Vec<Metric> {
    vec![
        primary(
            "throughput",
            "bytes read and written",
            "MB/s",
            Direction::HigherIsBetter,
        ),
        metric(
            "max-latency",
            "longest operation as the original counts it",
            "ms",
            Direction::LowerIsBetter,
        ),
        metric(
            "operations-per-second",
            "operations of the load file",
            "Ops/s",
            Direction::HigherIsBetter,
        ),
    ]
}

/// What a trial measured, from whatever carried it out.
#[derive(Clone, Copy, Debug, Default)]
pub struct DbenchMeasured {
    /// The last figure before the end, in 10^6 bytes a second.
    pub mb_per_second: f64,
    /// Longest time between two operations of a client, or since the last one at a sample.
    pub max_latency: Option<Nanos>,
    /// Operations and the time they were counted over.
    pub operations: Option<(u64, Nanos)>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(measured: &DbenchMeasured) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    values.set("throughput", measured.mb_per_second);
    let latency = measured.max_latency.map(|time| time.as_u64() as f64 / 1e6);
    values.set("max-latency", latency);
    let rate = measured
        .operations
        .map(|(count, time)| count as f64 / time.as_secs_f64());
    values.set("operations-per-second", rate);
    values.into_map()
}

//! Test `fs-mark`: files of one size, created, written, made durable and closed one after another.

use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::{Estimate, Host, Unmet};
use crate::definition::Guess;
use crate::definition::classic::{
    ClassicScale, Values, conflict, file_space, latency_metrics, metric, primary,
};
use crate::definition::menu;
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

#[cfg(test)]
mod tests;

/// The name a user types.
pub const ID: &str = "fs-mark";
/// For people.
pub const TITLE: &str = "FS-Mark file creation";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Each of 1 or more threads creates files of one size in a loop: makes \
the name and the directory, opens, writes zeros in pieces of 16 KiB, syncs as chosen, closes. The \
figure is files a second, summed over the threads, and with the default fsync for each file mostly \
the time the target needs to make one file durable. The files are removed afterwards, untimed.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Most threads.
pub const MAX_THREADS: u64 = 1024;
/// How long the time hash stays in a directory.
pub const DIRECTORY_SECONDS: u64 = 180;
/// Of how many files `scale=short` does one.
const SHORT_DIVISOR: u64 = 20;

menu! {
    /// When and how files are made durable.
    "sync method" FsMarkSync {
        None = "none" "never (-S 0)",
        Fsync = "fsync" "fsync of each file before it is closed (-S 1)",
        SyncOne = "sync" "after the loop one sync of everything and fsync of one file (-S 2)",
        PostReverse = "post-reverse" "after the loop fsync of every file, last one first (-S 3)",
        SyncPostReverse = "sync-post-reverse" "as post-reverse, after a sync of everything (-S 4)",
        Post = "post" "after the loop fsync of every file in order (-S 5)",
        SyncPost = "sync-post" "as post, after a sync of everything (-S 6)",
    }
}

impl FsMarkSync {
    /// The number the original knows it by.
    pub fn number(self) -> usize {
        Self::ALL.iter().position(|one| *one == self).unwrap_or(0)
    }

    /// Whether everything is synced after the loop.
    pub fn syncs_everything(self) -> bool {
        matches!(self, Self::SyncOne | Self::SyncPostReverse | Self::SyncPost)
    }
}

/// A case of test `fs-mark`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FsMarkSettings {
    /// Size of a file.
    pub size: Bytes,
    /// Files of each thread, by `files` and `scale`.
    pub files: u64,
    /// `threads`.
    pub threads: u32,
    /// `sync`.
    pub sync: FsMarkSync,
    /// `directories`; 0 is none, all files in one.
    pub directories: u32,
    /// `files-per-directory`; 0 is the time hash.
    pub files_per_directory: u64,
    /// `write-size`.
    pub write_size: Bytes,
    /// `name-bytes`.
    pub name_bytes: u32,
    /// `random-bytes`.
    pub random_bytes: u32,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        OptionInfo::new(
            "size",
            OptionKind::Size(Bytes::new(0), Bytes::new(1 << 40)),
            "1MiB",
            "Size of each file.",
        )
        .menu(&["16KiB", "1MiB"]),
        OptionInfo::new(
            "files",
            OptionKind::Integer(1, 100_000_000),
            "1000",
            "Files each thread creates.",
        )
        .menu(&["1000", "4000", "5000"]),
        OptionInfo::new(
            "threads",
            OptionKind::Integer(1, MAX_THREADS),
            "1",
            "Threads that create files at the same time, each on its own like a process.",
        )
        .menu(&["1", "4"]),
        FsMarkSync::option(
            "sync",
            FsMarkSync::Fsync,
            "When and how files are made durable.",
        ),
        OptionInfo::new(
            "directories",
            OptionKind::Integer(1, 10_000),
            "none",
            "Subdirectories; by the time hash a run uses one, after 3 minutes the next.",
        )
        .menu(&["32"])
        .or_none(),
        OptionInfo::new(
            "files-per-directory",
            OptionKind::Integer(1, 100_000_000),
            "none",
            "Files in a subdirectory before the next in turn; none is the time hash.",
        )
        .or_none(),
        OptionInfo::new(
            "write-size",
            OptionKind::Size(Bytes::new(1), Bytes::new(64 << 20)),
            "16KiB",
            "Bytes of each write call.",
        ),
        OptionInfo::new(
            "name-bytes",
            OptionKind::Integer(2, 128),
            "40",
            "Length of a file's name.",
        ),
        OptionInfo::new(
            "random-bytes",
            OptionKind::Integer(1, 128),
            "24",
            "How much of a name's end is random; the rest is the time in seconds.",
        ),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short creates a 20th of the files.",
        ),
    ]
}

impl FsMarkSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        Ok(Self {
            size: case.get("size")?,
            files: scale.amount(case.get("files")?, SHORT_DIVISOR, 10),
            threads: case.get("threads")?,
            sync: case.get("sync")?,
            directories: case.get_or_none("directories")?.unwrap_or(0),
            files_per_directory: case.get_or_none("files-per-directory")?.unwrap_or(0),
            write_size: case.get("write-size")?,
            name_bytes: case.get("name-bytes")?,
            random_bytes: case.get("random-bytes")?,
        })
    }

    /// Files of all threads.
    pub fn files_in_all(&self) -> u64 {
        self.files.saturating_mul(u64::from(self.threads))
    }

    /// Write calls for one file.
    pub fn writes_per_file(&self) -> u64 {
        self.size.as_u64().div_ceil(self.write_size.as_u64())
    }

    /// Space all files take at the same time.
    pub fn space(&self) -> Bytes {
        Bytes::new(file_space(self.files_in_all(), self.size.as_u64()))
    }

    /// Files and directories that exist at the same time.
    pub fn inodes(&self) -> u64 {
        self.files_in_all() + u64::from(self.directories) + 1
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, host: &Host) -> Estimate {
        let guess = Guess::of(&host.target);
        let bytes = self.files_in_all().saturating_mul(self.size.as_u64());
        let (fsyncs, syncs) = self.syncs();
        let flushes = fsyncs.saturating_add(syncs).saturating_mul(guess.flush_ns);
        // Syncs of several threads share flushes.
        let flushes = flushes / u64::from(self.threads);
        let calls = self.files_in_all().saturating_mul(30_000);
        let writing = guess.time_to_write(Bytes::new(bytes));
        Estimate {
            trial_time: Nanos::new(flushes.saturating_add(calls)).plus(writing),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: Bytes::new(bytes.saturating_add(self.files_in_all() * 4096)),
            space: self.space(),
            inodes: self.inodes(),
            ..Estimate::default()
        }
    }

    /// Sync calls of the whole run: fsync of files, sync of everything.
    pub fn syncs(&self) -> (u64, u64) {
        let threads = u64::from(self.threads);
        let everything = match self.sync.syncs_everything() {
            true => threads,
            false => 0,
        };
        match self.sync {
            FsMarkSync::None => (0, 0),
            FsMarkSync::SyncOne => (threads, everything),
            _ => (self.files_in_all(), everything),
        }
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        if self.random_bytes > self.name_bytes {
            found.push(conflict(
                format!(
                    "random-bytes={} is more than name-bytes={}",
                    self.random_bytes, self.name_bytes
                ),
                "make the name longer or its random part shorter",
            ));
        }
        if self.files_per_directory > 0 && self.directories == 0 {
            found.push(conflict(
                "files-per-directory needs directories",
                "say how many with directories=NUMBER",
            ));
        }
        // Names that repeat would overwrite a file and leave the count short.
        let names = 36_f64.powi(self.random_bytes.min(64) as i32);
        if (self.files_in_all() as f64).powi(2) > names {
            found.push(conflict(
                format!(
                    "{} files with {} random bytes in their names would soon share one",
                    self.files_in_all(),
                    self.random_bytes
                ),
                "use more random-bytes (24 is the original's)",
            ));
        }
        found
    }

    /// When files are durable, in words, and whether all are when the clock stops.
    pub fn policy(&self) -> (String, bool) {
        let number = self.sync.number();
        let words = match self.sync {
            FsMarkSync::None => "none",
            FsMarkSync::Fsync => "fsync of each file before it is closed",
            FsMarkSync::SyncOne => "sync and one fsync at the end, inside the window",
            FsMarkSync::PostReverse | FsMarkSync::Post => {
                "fsync of every file after the loop, inside the window"
            }
            FsMarkSync::SyncPostReverse | FsMarkSync::SyncPost => {
                "sync, then fsync of every file after the loop, inside the window"
            }
        };
        let durable = self.sync != FsMarkSync::None;
        (format!("{words} (method {number})"), durable)
    }
}

/// The metrics: `files-per-second` (the original's figure, primary), `app-overhead` and times.
pub fn metrics() -> Vec<Metric> {
    let mut all = vec![
        primary(
            "files-per-second",
            "files a second",
            "Files/s",
            Direction::HigherIsBetter,
        ),
        metric(
            "app-overhead",
            "time outside file system calls, all threads",
            "us",
            Direction::LowerIsBetter,
        ),
    ];
    all.extend(latency_metrics("file", "a file"));
    all.extend(latency_metrics("fsync", "an fsync"));
    all
}

/// What a trial measured, from whatever carried it out.
#[derive(Clone, Copy, Debug, Default)]
pub struct FsMarkMeasured<'a> {
    /// Files a second, summed over the threads.
    pub files_per_second: f64,
    /// Time outside of file system calls, all threads together.
    pub app_overhead: Option<Nanos>,
    /// Time of each file, from the making of its name to its close.
    pub file: Option<&'a Histogram>,
    /// Time of each fsync.
    pub fsync: Option<&'a Histogram>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(measured: &FsMarkMeasured<'_>) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    values.set("files-per-second", measured.files_per_second);
    let overhead = measured.app_overhead.map(|time| time.as_u64() as f64 / 1e3);
    values.set("app-overhead", overhead);
    values.set_latency("file", measured.file);
    values.set_latency("fsync", measured.fsync);
    values.into_map()
}

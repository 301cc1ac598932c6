//! Test `tiobench`: threads that each write or read a file of their own in blocks, synchronously.

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
pub const ID: &str = "tiobench";
/// For people.
pub const TITLE: &str = "Threaded I/O Tester";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Threads write a file each in blocks of 4 KiB with O_SYNC, then, as \
asked, write blocks at random or read them back; all start together and the clock stops with the \
last one. The figure is what was really moved. Reads follow the writes and come from memory. PTS \
showed for random work a figure that credits each thread with its whole file; it is given beside.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Bytes of each call.
pub const BLOCK: u64 = 4096;
/// Most threads.
pub const MAX_THREADS: u64 = 1024;
/// Of how much of the work `scale=short` does one.
const SHORT_DIVISOR: u64 = 8;
/// What is left of each file at least by `scale=short`.
const SHORT_LEAST: u64 = 4 << 20;
/// Random operations a thread that are left at least by `scale=short`.
const SHORT_LEAST_OPERATIONS: u64 = 100;

menu! {
    /// What is measured; the writes that lay the files out come first.
    "operation" TiobenchOperation {
        Write = "write" "every block of a new file in order (-k3 -k2 -k1)",
        RandomWrite = "random-write" "blocks at random places, after the writes (-k3 -k2)",
        Read = "read" "every block in order, after the writes (-k3 -k1)",
        RandomRead = "random-read" "blocks at random places, after the writes (-k2 -k1)",
    }
}

impl TiobenchOperation {
    /// The phases that are carried out, in order, when this one is asked for.
    pub fn chain(self) -> &'static [Self] {
        match self {
            Self::Write => &[Self::Write],
            Self::RandomWrite => &[Self::Write, Self::RandomWrite],
            Self::Read => &[Self::Write, Self::Read],
            Self::RandomRead => &[Self::Write, Self::RandomRead],
        }
    }

    /// Whether it reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::RandomRead)
    }

    /// Whether its blocks are at random places.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomWrite | Self::RandomRead)
    }
}

/// A case of test `tiobench`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiobenchSettings {
    /// `operation`.
    pub operation: TiobenchOperation,
    /// Size of each thread's file, by `size` and `scale`.
    pub size: Bytes,
    /// `threads`.
    pub threads: u32,
    /// Operations of each thread in a random phase, by `random-operations` and `scale`.
    pub random_operations: u64,
    /// `sync-open`: files are opened with O_SYNC.
    pub sync_open: bool,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        TiobenchOperation::option(
            "operation",
            TiobenchOperation::Write,
            "What is measured; the files are written first in any case.",
        ),
        OptionInfo::new(
            "size",
            OptionKind::Size(Bytes::new(BLOCK), Bytes::new(1 << 40)),
            "32MiB",
            "Size of each thread's file, a multiple of 4 KiB (-f).",
        )
        .menu(&["32MiB", "64MiB", "128MiB", "256MiB"]),
        OptionInfo::new(
            "threads",
            OptionKind::Integer(1, MAX_THREADS),
            "4",
            "Threads, each with a file of its own (-t).",
        )
        .menu(&["4", "8", "16", "32"]),
        OptionInfo::new(
            "random-operations",
            OptionKind::Integer(1, 100_000_000),
            "1000",
            "Operations of each thread in a random phase: 1000 in the program that PTS used until \
             2023, 100000 since.",
        )
        .menu(&["1000", "100000"]),
        OptionInfo::new(
            "sync-open",
            OptionKind::Flag,
            "yes",
            "Whether files are opened with O_SYNC (-S).",
        ),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short does an eighth, 4 MiB and 100 random operations at least.",
        ),
    ]
}

impl TiobenchSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let full: Bytes = case.get("size")?;
        let part = scale.amount(full.as_u64(), SHORT_DIVISOR, SHORT_LEAST);
        let size = match part == full.as_u64() {
            true => full,
            false => Bytes::new(part.next_multiple_of(BLOCK)),
        };
        let operations = case.get("random-operations")?;
        Ok(Self {
            operation: case.get("operation")?,
            size,
            threads: case.get("threads")?,
            random_operations: scale.amount(operations, SHORT_DIVISOR, SHORT_LEAST_OPERATIONS),
            sync_open: case.flag("sync-open")?,
        })
    }

    /// Blocks of each file.
    pub fn blocks(&self) -> u64 {
        self.size.as_u64() / BLOCK
    }

    /// Calls of each thread in a phase.
    pub fn calls(&self, operation: TiobenchOperation) -> u64 {
        match operation.is_random() {
            true => self.random_operations,
            false => self.blocks(),
        }
    }

    /// Calls of all threads in a phase.
    pub fn calls_in_all(&self, operation: TiobenchOperation) -> u64 {
        self.calls(operation)
            .saturating_mul(u64::from(self.threads))
    }

    /// Space of all files.
    pub fn space(&self) -> Bytes {
        Bytes::new(file_space(u64::from(self.threads), self.size.as_u64()))
    }

    /// The files and their directory.
    pub fn inodes(&self) -> u64 {
        u64::from(self.threads) + 1
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, host: &Host) -> Estimate {
        let guess = Guess::of(&host.target);
        let chain = self.operation.chain();
        let writes: u64 = chain
            .iter()
            .filter(|one| !one.reads())
            .map(|one| self.calls_in_all(*one))
            .sum();
        let each = match self.sync_open {
            true => guess.flush_ns,
            false => guess.write_ns,
        };
        // Synchronous writes of several threads share flushes, up to about eight at a time.
        let together = u64::from(self.threads.min(8));
        let written = Bytes::new(writes.saturating_mul(BLOCK));
        Estimate {
            trial_time: Nanos::new(writes.saturating_mul(each) / together)
                .plus(guess.time_to_write(written)),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: written,
            space: self.space(),
            inodes: self.inodes(),
            ..Estimate::default()
        }
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        match self.size.as_u64().is_multiple_of(BLOCK) {
            true => Vec::new(),
            false => vec![conflict(
                format!("size={} is not a number of blocks of 4 KiB", self.size),
                "choose a multiple of 4 KiB",
            )],
        }
    }

    /// When writes are durable, in words, and whether all are when the clock stops.
    pub fn policy(&self) -> (String, bool) {
        match (self.operation.reads(), self.sync_open) {
            (true, _) => ("none (reads)".to_owned(), false),
            (_, true) => ("O_SYNC: every write".to_owned(), true),
            (_, false) => ("fsync at the end, inside the window".to_owned(), true),
        }
    }
}

/// The metrics of a case: the true rate of the operation (primary) in MiB/s, the figure that PTS
/// shows, operations a second, the rate of the writes before, and times of a call.
pub fn metrics(operation: TiobenchOperation) -> Vec<Metric> {
    let higher = Direction::HigherIsBetter;
    let chosen = operation.name();
    let shown = match operation.is_random() {
        true => "as PTS shows it: each thread credited with its whole file (2^20 bytes)",
        false => "the rate as PTS shows it (2^20 bytes)",
    };
    let mut all = vec![
        primary(chosen, &title(operation), "MiB/s", higher),
        metric("pts-bandwidth", shown, "MB/s", higher),
        metric(
            "operations-per-second",
            "calls of all threads",
            "IOPS",
            higher,
        ),
    ];
    for other in operation.chain().iter().filter(|one| **one != operation) {
        all.push(metric(other.name(), &title(*other), "MiB/s", higher));
    }
    all.extend(latency_metrics(chosen, "a call"));
    all
}

fn title(operation: TiobenchOperation) -> String {
    operation.name().replace('-', " ")
}

/// One phase of a trial.
#[derive(Clone, Copy, Debug)]
pub struct TiobenchMeasured<'a> {
    /// Which.
    pub operation: TiobenchOperation,
    /// From the common start to the end of the last thread.
    pub elapsed: Nanos,
    /// Time of each call.
    pub latency: Option<&'a Histogram>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(
    settings: &TiobenchSettings,
    measured: &[TiobenchMeasured<'_>],
) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    for one in measured {
        let seconds = one.elapsed.as_secs_f64();
        let calls = settings.calls_in_all(one.operation) as f64;
        let mib = |bytes: f64| bytes / f64::from(1 << 20) / seconds;
        values.set(one.operation.name(), mib(calls * BLOCK as f64));
        if one.operation == settings.operation {
            values.set("operations-per-second", calls / seconds);
            let credited = settings.size.as_u64() as f64 * f64::from(settings.threads);
            // The original prints three decimals.
            let shown = (mib(credited) * 1000.0).round() / 1000.0;
            values.set("pts-bandwidth", shown);
            values.set_latency(one.operation.name(), one.latency);
        }
    }
    values.into_map()
}

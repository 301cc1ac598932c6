//! Test `iozone`: one file written, rewritten and read in records, in order or at random.

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
pub const ID: &str = "iozone";
/// For people.
pub const TITLE: &str = "IOzone sequential and random file";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Writes one file in records, writes it again, and, as asked, reads it \
twice or reads and writes its records once each in random order, through the page cache. With fsync \
the flush at the end is inside the timing, so that writes are the drive's; reads follow the writes \
and come from memory unless the file is larger than it.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Largest record.
pub const MAX_RECORD: Bytes = Bytes::new(16 << 20);
/// Most records of the random operations: their order is drawn beforehand, 4 bytes a record.
pub const MAX_RANDOM_RECORDS: u64 = 48 << 20;
/// Of how much of the file `scale=short` makes one.
const SHORT_DIVISOR: u64 = 64;
/// What is left of a file at least by `scale=short`.
const SHORT_LEAST: u64 = 4 << 20;

menu! {
    /// What is measured; the operations before it are carried out too.
    "operation" IozoneOperation {
        Write = "write" "a new file in order (-i 0)",
        Rewrite = "rewrite" "the same file again (-i 0)",
        Read = "read" "the file in order, after both writes (-i 0 -i 1)",
        Reread = "reread" "the same again (-i 0 -i 1)",
        RandomRead = "random-read" "every record once, in random order (-i 0 -i 2)",
        RandomWrite = "random-write" "every record once, in random order (-i 0 -i 2)",
    }
}

impl IozoneOperation {
    /// All operations that are carried out, in order, when this one is asked for.
    pub fn chain(self) -> &'static [Self] {
        match self {
            Self::Write | Self::Rewrite => &[Self::Write, Self::Rewrite],
            Self::Read | Self::Reread => &[Self::Write, Self::Rewrite, Self::Read, Self::Reread],
            Self::RandomRead | Self::RandomWrite => &[
                Self::Write,
                Self::Rewrite,
                Self::RandomRead,
                Self::RandomWrite,
            ],
        }
    }

    /// Whether it reads.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Reread | Self::RandomRead)
    }

    /// Whether its records are in random order.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite)
    }
}

/// A case of test `iozone`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IozoneSettings {
    /// `operation`.
    pub operation: IozoneOperation,
    /// `record`.
    pub record: Bytes,
    /// Size of the file, by `size` and `scale`.
    pub size: Bytes,
    /// `fsync`: the flush is inside the timing.
    pub fsync: bool,
    /// `sync-open`: the writes go through O_SYNC.
    pub sync_open: bool,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        IozoneOperation::option(
            "operation",
            IozoneOperation::Write,
            "What is measured; what the original does before it is done too.",
        ),
        OptionInfo::new(
            "record",
            OptionKind::Size(Bytes::new(1024), MAX_RECORD),
            "4KiB",
            "Bytes of each call.",
        )
        .menu(&["4KiB", "64KiB", "1MiB"]),
        OptionInfo::new(
            "size",
            OptionKind::Size(Bytes::new(1024), Bytes::new(1 << 44)),
            "512MiB",
            "Size of the file, a multiple of the record.",
        )
        .menu(&["512MiB", "2GiB", "4GiB", "8GiB"]),
        OptionInfo::new(
            "fsync",
            OptionKind::Flag,
            "yes",
            "Whether the fsync at the end is inside the timing (-e).",
        ),
        OptionInfo::new(
            "sync-open",
            OptionKind::Flag,
            "no",
            "Whether files are written with O_SYNC (-o).",
        ),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short makes the file a 64th, 4 MiB at least.",
        ),
    ]
}

impl IozoneSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let record: Bytes = case.get("record")?;
        let full: Bytes = case.get("size")?;
        let part = scale.amount(full.as_u64(), SHORT_DIVISOR, SHORT_LEAST);
        let size = match part == full.as_u64() {
            true => full,
            // Whole records, so that a short case is valid when the full one is.
            false => Bytes::new(part.next_multiple_of(record.as_u64().max(1))),
        };
        Ok(Self {
            operation: case.get("operation")?,
            record,
            size,
            fsync: case.flag("fsync")?,
            sync_open: case.flag("sync-open")?,
        })
    }

    /// Records of the file.
    pub fn records(&self) -> u64 {
        self.size.as_u64() / self.record.as_u64().max(1)
    }

    /// Space of the file.
    pub fn space(&self) -> Bytes {
        Bytes::new(file_space(1, self.size.as_u64()))
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, host: &Host) -> Estimate {
        let guess = Guess::of(&host.target);
        let chain = self.operation.chain();
        let passes = |reads: bool| chain.iter().filter(|one| one.reads() == reads).count() as u64;
        let bytes = self.size.as_u64();
        let written = Bytes::new(bytes.saturating_mul(passes(false)));
        let flushed = match self.sync_open {
            true => self.records().saturating_mul(passes(false)),
            false => 4,
        };
        let flushes = flushed.saturating_mul(guess.flush_ns);
        let read = guess.time_to_write(Bytes::new(bytes.saturating_mul(passes(true))));
        let time = guess.time_to_write(written).plus(read);
        Estimate {
            trial_time: time.plus(Nanos::new(flushes)),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: written,
            space: self.space(),
            inodes: self.inodes(),
            ..Estimate::default()
        }
    }

    /// The file and its directory.
    pub fn inodes(&self) -> u64 {
        2
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        let (record, size) = (self.record.as_u64(), self.size.as_u64());
        if !record.is_multiple_of(1024) {
            found.push(conflict(
                format!("record={} is not a number of KiB", self.record),
                "the original takes whole KiB only",
            ));
        } else if !size.is_multiple_of(record) {
            found.push(conflict(
                format!(
                    "size={} is not a number of records of {}",
                    self.size, self.record
                ),
                "choose a multiple of the record",
            ));
        }
        if self.operation.is_random() && self.records() > MAX_RANDOM_RECORDS {
            found.push(conflict(
                format!(
                    "{} records are more than the {MAX_RANDOM_RECORDS} whose order can be drawn",
                    self.records()
                ),
                "choose a larger record or a smaller file",
            ));
        }
        found
    }

    /// When writes are durable, in words, and whether all are when the clock stops.
    pub fn policy(&self) -> (String, bool) {
        match (self.operation.reads(), self.fsync, self.sync_open) {
            (true, _, _) => ("none (reads)".to_owned(), false),
            (_, _, true) => ("O_SYNC: every write".to_owned(), true),
            (_, true, _) => ("fsync at the end, inside the window".to_owned(), true),
            (_, false, _) => ("none inside the window".to_owned(), false),
        }
    }
}

/// The metrics of a case: the rate of the operation (primary) in MiB/s, the same as the original
/// and as PTS print it, the rates of the operations beside it, and times of a record.
pub fn metrics(operation: IozoneOperation) -> Vec<Metric> {
    let higher = Direction::HigherIsBetter;
    let chosen = operation.name();
    let mut all = vec![
        primary(chosen, &title(operation), "MiB/s", higher),
        metric(
            "kib-per-second",
            "the rate in the original's unit",
            "KiB/s",
            higher,
        ),
        metric(
            "pts-bandwidth",
            "the rate as PTS shows it (2^20 bytes)",
            "MB/s",
            higher,
        ),
    ];
    for other in operation.chain().iter().filter(|one| **one != operation) {
        all.push(metric(other.name(), &title(*other), "MiB/s", higher));
    }
    all.extend(latency_metrics(chosen, "a record"));
    all
}

fn title(operation: IozoneOperation) -> String {
    operation.name().replace('-', " ")
}

/// One operation of a trial.
#[derive(Clone, Copy, Debug)]
pub struct IozoneMeasured<'a> {
    /// Which.
    pub operation: IozoneOperation,
    /// Its rate in KiB a second.
    pub kib_per_second: f64,
    /// Time of each record.
    pub latency: Option<&'a Histogram>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(
    settings: &IozoneSettings,
    measured: &[IozoneMeasured<'_>],
) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    for one in measured {
        values.set(one.operation.name(), one.kib_per_second / 1024.0);
        if one.operation == settings.operation {
            values.set("kib-per-second", one.kib_per_second);
            // The original prints whole KiB/s, PTS divides that and keeps two decimals.
            let shown = one.kib_per_second.floor() / 1024.0;
            values.set("pts-bandwidth", (shown * 100.0).round() / 100.0);
            values.set_latency(one.operation.name(), one.latency);
        }
    }
    values.into_map()
}

/// The rate of an operation that took so long.
pub fn kib_per_second(size: Bytes, elapsed: Nanos) -> f64 {
    size.as_u64() as f64 / 1024.0 / elapsed.as_secs_f64()
}

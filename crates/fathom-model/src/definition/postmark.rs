//! Test `postmark`: small files created, read, appended to and deleted, as a mail server would.

use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::{Estimate, Host, Unmet};
use crate::definition::Guess;
use crate::definition::classic::{
    ClassicScale, Values, conflict, file_space, latency_metrics, metric, primary,
};
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

mod mt;
mod stream;
#[cfg(test)]
mod tests;

pub use stream::{PostmarkFile, PostmarkOp, PostmarkPlan, PostmarkStream};

/// The name a user types.
pub const ID: &str = "postmark";
/// For people.
pub const TITLE: &str = "PostMark mail server";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "One process keeps a pool of small files. A transaction reads a file or \
appends to one, then creates or deletes one, through buffers of 4 KiB as the C library has them and \
without any sync. The operations follow from the seed and are bit for bit those of the original. \
Most of it is served by the page cache until write-back sets in.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Fewest transactions: the original shows its progress in tenths.
pub const MIN_TRANSACTIONS: u64 = 10;
/// Largest file.
pub const MAX_SIZE: Bytes = Bytes::new(64 << 20);
/// Of how many transactions `scale=short` does one.
const SHORT_DIVISOR: u64 = 50;
/// Up to this many transactions a plan is played to know what a case takes.
const PLAYED_TRANSACTIONS: u64 = 2_000_000;

/// A case of test `postmark`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostmarkSettings {
    /// Transactions, by `transactions` and `scale`.
    pub transactions: u64,
    /// `size-low` in bytes.
    pub size_low: u32,
    /// `size-high` in bytes.
    pub size_high: u32,
    /// `files`: how many there are at the start.
    pub files: u32,
    /// `subdirectories`.
    pub subdirectories: u32,
    /// `seed`.
    pub seed: u32,
    /// `read-block` in bytes.
    pub read_block: u32,
    /// `write-block` in bytes.
    pub write_block: u32,
    /// `buffering`: through the C library's buffers.
    pub buffering: bool,
    /// `bias-read`, in tenths; `None` neither reads nor appends.
    pub bias_read: Option<u32>,
    /// `bias-create`, in tenths; `None` neither creates nor deletes.
    pub bias_create: Option<u32>,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    let size = OptionKind::Size(Bytes::new(1), MAX_SIZE);
    let block = OptionKind::Size(Bytes::new(1), Bytes::new(16 << 20));
    let bias = OptionKind::Integer(0, 10);
    vec![
        OptionInfo::new(
            "transactions",
            OptionKind::Integer(MIN_TRANSACTIONS, 1_000_000_000),
            "250000",
            "Transactions.",
        ),
        OptionInfo::new("size-low", size, "5120B", "Smallest file."),
        OptionInfo::new("size-high", size, "512KiB", "Largest file."),
        OptionInfo::new(
            "files",
            OptionKind::Integer(1, 1_000_000),
            "500",
            "Files at the start; there can be twice as many.",
        ),
        OptionInfo::new(
            "subdirectories",
            OptionKind::Integer(0, 100_000),
            "0",
            "Directories the files are spread over.",
        ),
        OptionInfo::new(
            "seed",
            OptionKind::Integer(0, u32::MAX as u64),
            "42",
            "Seed of the operations.",
        ),
        OptionInfo::new("read-block", block, "512B", "Bytes read at a time."),
        OptionInfo::new("write-block", block, "512B", "Bytes written at a time."),
        OptionInfo::new(
            "buffering",
            OptionKind::Flag,
            "yes",
            "Whether blocks go through the buffers of the C library.",
        ),
        OptionInfo::new(
            "bias-read",
            bias,
            "5",
            "Of ten transactions so many read and the others append; none does neither.",
        )
        .or_none(),
        OptionInfo::new(
            "bias-create",
            bias,
            "5",
            "Of ten transactions so many create and the others delete; none does neither.",
        )
        .or_none(),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short does a 50th of the transactions.",
        ),
    ]
}

impl PostmarkSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let transactions: u64 = case.get("transactions")?;
        let bytes = |name: &str| -> Result<u32, OptionError> {
            let bytes: Bytes = case.get(name)?;
            // The option's range ends far below.
            Ok(u32::try_from(bytes.as_u64()).unwrap_or(u32::MAX))
        };
        Ok(Self {
            transactions: scale.amount(transactions, SHORT_DIVISOR, MIN_TRANSACTIONS),
            size_low: bytes("size-low")?,
            size_high: bytes("size-high")?,
            files: case.get("files")?,
            subdirectories: case.get("subdirectories")?,
            seed: case.get("seed")?,
            read_block: bytes("read-block")?,
            write_block: bytes("write-block")?,
            buffering: case.flag("buffering")?,
            bias_read: case.get_or_none("bias-read")?,
            bias_create: case.get_or_none("bias-create")?,
        })
    }

    /// Slots of the table of files: most files at a time.
    pub fn slots(&self) -> usize {
        self.files as usize * 2
    }

    /// Directories that are made; one alone is not.
    pub fn directories(&self) -> u32 {
        match self.subdirectories {
            0 | 1 => 0,
            many => many,
        }
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        if self.size_low > self.size_high {
            found.push(conflict(
                format!(
                    "size-low={} is more than size-high={}",
                    Bytes::new(u64::from(self.size_low)),
                    Bytes::new(u64::from(self.size_high))
                ),
                "exchange the two",
            ));
        } else if let Some(plan) = self.plan().filter(|p| p.transactions < self.transactions) {
            found.push(conflict(
                format!(
                    "the files run out after {} of {} transactions",
                    plan.transactions, self.transactions
                ),
                "use more files or fewer transactions",
            ));
        }
        found
    }

    /// What a run does; `None` when it is too long to be played in a moment.
    pub fn plan(&self) -> Option<PostmarkPlan> {
        let is_sound = self.size_low <= self.size_high;
        let is_short = self.transactions <= PLAYED_TRANSACTIONS;
        (is_sound && is_short).then(|| PostmarkPlan::of(self))
    }

    /// Most space the files take at a time.
    pub fn space(&self) -> Bytes {
        let bound = file_space(self.slots() as u64, u64::from(self.size_high));
        let played = self.plan().map(|plan| {
            plan.peak_bytes
                .saturating_add(plan.peak_files.saturating_mul(1024))
        });
        Bytes::new(played.unwrap_or(bound))
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, host: &Host) -> Estimate {
        let guess = Guess::of(&host.target);
        let mean = u64::from(self.size_low / 2 + self.size_high / 2);
        let bound = self.transactions + u64::from(self.files);
        let written = self
            .plan()
            .map_or_else(|| bound.saturating_mul(mean), |plan| plan.written_bytes());
        let calls = Nanos::new(self.transactions.saturating_mul(100_000));
        Estimate {
            trial_time: guess.time_to_write(Bytes::new(written)).plus(calls),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: Bytes::new(written),
            space: self.space(),
            inodes: self.inodes(),
            ..Estimate::default()
        }
    }

    /// Most files and directories at a time.
    pub fn inodes(&self) -> u64 {
        let files = self
            .plan()
            .map_or(self.slots() as u64, |plan| plan.peak_files);
        files + u64::from(self.directories()) + 1
    }
}

/// The metrics: `transactions-per-second` by a fine clock (primary), `pts-tps` in whole numbers as
/// the original prints it, data rates and times.
pub fn metrics() -> Vec<Metric> {
    let higher = Direction::HigherIsBetter;
    let mut all = vec![
        primary(
            "transactions-per-second",
            "transactions a second",
            "TPS",
            higher,
        ),
        metric(
            "pts-tps",
            "transactions by whole seconds, as PTS shows it",
            "TPS",
            higher,
        ),
        metric("read-rate", "data read", "MiB/s", higher),
        metric("write-rate", "data written", "MiB/s", higher),
    ];
    for (kind, words) in LATENCIES {
        all.extend(latency_metrics(kind, words));
    }
    all
}

/// The metrics of a program that counts whole seconds: `pts-tps` stands for the case, and there is
/// no finer figure.
pub fn metrics_of_whole_seconds() -> Vec<Metric> {
    vec![primary(
        "pts-tps",
        "transactions by whole seconds, as PTS shows it",
        "TPS",
        Direction::HigherIsBetter,
    )]
}

const LATENCIES: [(&str, &str); 5] = [
    ("transaction", "a transaction"),
    ("create", "creating a file"),
    ("read", "reading a file"),
    ("append", "appending to a file"),
    ("delete", "deleting a file"),
];

/// What a trial measured, from whatever carried it out.
#[derive(Clone, Copy, Debug, Default)]
pub struct PostmarkMeasured<'a> {
    /// Transactions done.
    pub transactions: u64,
    /// Their time by a fine clock, where there is one.
    pub elapsed: Option<Nanos>,
    /// Their time in whole seconds of the calendar.
    pub whole_seconds: u64,
    /// Bytes read in that time.
    pub read_bytes: Option<u64>,
    /// Bytes written in that time.
    pub written_bytes: Option<u64>,
    /// Times by kind: `transaction`, `create`, `read`, `append`, `delete`.
    pub latency: &'a [(&'a str, &'a Histogram)],
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(measured: &PostmarkMeasured<'_>) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    let whole = measured.transactions / measured.whole_seconds.max(1);
    values.set("pts-tps", whole as f64);
    if let Some(elapsed) = measured.elapsed {
        let seconds = elapsed.as_secs_f64();
        let rate = |bytes: u64| bytes as f64 / seconds / f64::from(1 << 20);
        let tps = measured.transactions as f64 / seconds;
        values.set("transactions-per-second", tps);
        values.set("read-rate", measured.read_bytes.map(rate));
        values.set("write-rate", measured.written_bytes.map(rate));
    }
    for (kind, _) in LATENCIES {
        let found = measured.latency.iter().find(|(name, _)| *name == kind);
        values.set_latency(kind, found.map(|(_, latency)| *latency));
    }
    values.into_map()
}

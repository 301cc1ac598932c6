//! Test `sqlite`: insertions, each a transaction of its own.

use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos, SplitMix64, seed_for};
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::{Estimate, Host, Unmet};
use crate::definition::Guess;
use crate::definition::io::percentile_needs;
use crate::definition::menu;
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

#[cfg(test)]
mod tests;

/// The name a user types.
pub const ID: &str = "sqlite";
/// For people.
pub const TITLE: &str = "SQLite insertions";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Creates a table and inserts rows through three connections one after \
another, every row a transaction of its own, in 1 or more databases at the same time, each with its \
own thread. With the default journal and synchronous setting a row costs four flushes, so the figure \
is mostly the time the target needs to make a few kilobytes durable.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Most databases at the same time.
pub const MAX_COPIES: u64 = 1024;

menu! {
    /// Which profile of the Phoronix Test Suite is followed.
    "variant" SqliteVariant {
        V341 = "3.41" "1..N databases at once, pages of 4096 bytes (sqlite-2.2)",
        V322 = "3.22" "one database, pages of 4096 bytes (sqlite-2.0)",
        V38 = "3.8" "one database, pages of 1024 bytes (sqlite-1.9)",
    }
}

menu! {
    /// How much of the work is done.
    "scale" SqliteScale {
        Full = "full" "2500 rows a connection, as the original",
        Short = "short" "100 rows a connection; not comparable with the original",
    }
}

menu! {
    /// `PRAGMA journal_mode`.
    "journal mode" SqliteJournal {
        Delete = "delete" "SQLite's default",
        Truncate = "truncate" "the journal is cut instead of deleted",
        Persist = "persist" "the journal's header is overwritten instead",
        Wal = "wal" "write-ahead log",
    }
}

menu! {
    /// `PRAGMA synchronous`.
    "synchronous setting" SqliteSynchronous {
        Full = "full" "SQLite's default: every transaction is synced",
        Extra = "extra" "also syncs the directory after the journal is deleted",
        Normal = "normal" "fewer syncs; with wal a power cut may undo the last rows",
        Off = "off" "no syncs: nothing is durable",
    }
}

/// A case of test `sqlite`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteSettings {
    /// `variant`.
    pub variant: SqliteVariant,
    /// `copies`.
    pub copies: u32,
    /// Rows a connection inserts, from `rows` or `scale`.
    pub rows: u32,
    /// `connections`.
    pub connections: u32,
    /// Page size, from `page-size` or `variant`.
    pub page_size: u32,
    /// `journal`.
    pub journal: SqliteJournal,
    /// `synchronous`.
    pub synchronous: SqliteSynchronous,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        SqliteVariant::option(
            "variant",
            SqliteVariant::V341,
            "Which profile of the Phoronix Test Suite is followed.",
        ),
        OptionInfo::new(
            "copies",
            OptionKind::Integer(1, MAX_COPIES),
            "1",
            "Databases that are filled at the same time.",
        )
        .menu(&["1", "2", "4", "8", "16", "32"]),
        SqliteScale::option("scale", SqliteScale::Full, "How much of the work is done."),
        OptionInfo::new(
            "rows",
            OptionKind::Integer(1, 10_000_000),
            "none",
            "Rows each connection inserts; none is by scale.",
        )
        .or_none(),
        OptionInfo::new(
            "connections",
            OptionKind::Integer(1, 1000),
            "3",
            "Connections that insert one after another into each database.",
        ),
        OptionInfo::new(
            "page-size",
            OptionKind::Integer(512, 65536),
            "none",
            "Page size of the database in bytes, a power of two; none is by variant.",
        )
        .menu(&["1024", "4096", "16384"])
        .or_none(),
        SqliteJournal::option("journal", SqliteJournal::Delete, "PRAGMA journal_mode."),
        SqliteSynchronous::option(
            "synchronous",
            SqliteSynchronous::Full,
            "PRAGMA synchronous.",
        ),
    ]
}

impl SqliteSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let variant: SqliteVariant = case.get("variant")?;
        let by_scale = match case.get("scale")? {
            SqliteScale::Full => 2500,
            SqliteScale::Short => 100,
        };
        let by_variant = match variant {
            SqliteVariant::V341 | SqliteVariant::V322 => 4096,
            SqliteVariant::V38 => 1024,
        };
        Ok(Self {
            variant,
            copies: case.get("copies")?,
            rows: case.get_or_none("rows")?.unwrap_or(by_scale),
            connections: case.get("connections")?,
            page_size: case.get_or_none("page-size")?.unwrap_or(by_variant),
            journal: case.get("journal")?,
            synchronous: case.get("synchronous")?,
        })
    }

    /// Rows in each database at the end.
    pub fn rows_per_copy(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.connections)
    }

    /// Rows in all databases at the end.
    pub fn rows_in_all(&self) -> u64 {
        self.rows_per_copy() * u64::from(self.copies)
    }

    /// Whether a row's pages were made durable before its insertion returned. With `full` and a
    /// rollback journal the journal's deletion is not synced, so that a power cut right after an
    /// insertion may still undo that one row; `extra` closes the gap.
    pub fn is_durable(&self) -> bool {
        match self.synchronous {
            SqliteSynchronous::Full | SqliteSynchronous::Extra => true,
            SqliteSynchronous::Normal => self.journal != SqliteJournal::Wal,
            SqliteSynchronous::Off => false,
        }
    }

    /// What makes rows durable, in words.
    pub fn durability(&self) -> String {
        let journal = match self.journal {
            SqliteJournal::Wal => "write-ahead log".to_owned(),
            other => format!("rollback journal ({other})"),
        };
        match self.synchronous {
            SqliteSynchronous::Off => format!("{journal}, never synced"),
            other => format!("{journal}, synchronous={other}: fdatasync for every row"),
        }
    }

    /// What a trial takes, whatever carries it out.
    pub fn estimate(&self, host: &Host) -> Estimate {
        let guess = Guess::of(&host.target);
        let row_ns = match self.synchronous {
            SqliteSynchronous::Off => 50_000,
            _ => 4 * guess.flush_ns + 50_000,
        };
        // Journal header twice, two journalled pages with their numbers, two pages of the file.
        let row_bytes = 1024 + 4 * (u64::from(self.page_size) + 8);
        Estimate {
            trial_time: Nanos::new(self.rows_per_copy().saturating_mul(row_ns)),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: Bytes::new(self.rows_in_all().saturating_mul(row_bytes)),
            space: self.space(),
            inodes: 2 * u64::from(self.copies) + 1,
            ..Estimate::default()
        }
    }

    /// Statements that set what differs from SQLite's own choices when the database is made; the
    /// original sets nothing.
    pub fn pragmas_at_creation(&self) -> String {
        let mut pragmas = String::new();
        if self.page_size != 4096 {
            pragmas += &format!("PRAGMA page_size={};", self.page_size);
        }
        if self.journal == SqliteJournal::Wal {
            pragmas += "PRAGMA journal_mode=wal;";
        }
        pragmas + &self.pragmas_of_connection()
    }

    /// Statements for each connection: what they set is not kept in the database.
    pub fn pragmas_of_connection(&self) -> String {
        let mut pragmas = String::new();
        if self.synchronous != SqliteSynchronous::Full {
            pragmas += &format!("PRAGMA synchronous={};", self.synchronous);
        }
        if !matches!(self.journal, SqliteJournal::Delete | SqliteJournal::Wal) {
            pragmas += &format!("PRAGMA journal_mode={};", self.journal);
        }
        pragmas
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        if self.copies > 1 && self.variant != SqliteVariant::V341 {
            found.push(Unmet {
                what: format!("variant={} has one copy, not {}", self.variant, self.copies),
                hint: "use variant=3.41 (with page-size=1024 for the pages of 3.8)".to_owned(),
            });
        }
        if !self.page_size.is_power_of_two() {
            found.push(Unmet {
                what: format!("page-size={} is not a power of two", self.page_size),
                hint: "use 512, 1024, 2048, 4096, 8192, 16384, 32768 or 65536".to_owned(),
            });
        }
        found
    }

    /// Bytes one database and its journal take at most: a row is about 50 bytes, each
    /// transaction's journal a few pages.
    pub fn space(&self) -> Bytes {
        let rows = self.rows_per_copy().saturating_mul(64);
        let pages = u64::from(self.page_size).saturating_mul(16);
        Bytes::new(
            rows.saturating_add(pages)
                .saturating_add(1 << 16)
                .saturating_mul(u64::from(self.copies)),
        )
    }
}

/// The metrics: `seconds` (the original's figure, primary), `rows-per-second` and the latency of an
/// insertion.
pub fn metrics() -> Vec<Metric> {
    let metric = |id: &str, title: &str, unit: &str, direction, is_primary| Metric {
        id: id.to_owned(),
        title: title.to_owned(),
        unit: unit.to_owned(),
        direction,
        is_primary,
        steers: is_primary,
        ..Metric::default()
    };
    let mut all = vec![
        metric("seconds", "time", "Seconds", Direction::LowerIsBetter, true),
        metric(
            "rows-per-second",
            "rows a second, all copies",
            "Rows/s",
            Direction::HigherIsBetter,
            false,
        ),
    ];
    all.extend(
        LATENCIES
            .iter()
            .map(|(id, title, _)| metric(id, title, "us", Direction::LowerIsBetter, false)),
    );
    all
}

const LATENCIES: [(&str, &str, Option<f64>); 4] = [
    ("insert-latency-mean", "mean time of an insertion", None),
    (
        "insert-latency-p50",
        "median time of an insertion",
        Some(50.0),
    ),
    ("insert-latency-p99", "p99 time of an insertion", Some(99.0)),
    (
        "insert-latency-p99.9",
        "p99.9 time of an insertion",
        Some(99.9),
    ),
];

/// The values of a trial under the ids of [`metrics`]; percentiles that the number of rows does not
/// support are absent.
pub fn values(elapsed: Nanos, rows: u64, inserts: Option<&Histogram>) -> BTreeMap<String, Figure> {
    let seconds = elapsed.as_secs_f64();
    let mut found = vec![
        ("seconds", Some(seconds)),
        ("rows-per-second", Some(rows as f64 / seconds)),
    ];
    if let Some(inserts) = inserts.filter(|inserts| !inserts.is_empty()) {
        found.extend(LATENCIES.iter().map(|(id, _, percent)| {
            let ns = match percent {
                None => Some(inserts.sum() as f64 / inserts.count() as f64),
                Some(percent) if inserts.count() >= percentile_needs(*percent) => {
                    inserts.percentile(*percent).map(|ns| ns as f64)
                }
                Some(_) => None,
            };
            (*id, ns.map(|ns| ns / 1e3))
        }));
    }
    found
        .into_iter()
        .filter_map(|(id, value)| Some((id.to_owned(), Figure::new(value?)?)))
        .collect()
}

/// The table all rows go into: no key, no index.
pub const CREATE_TABLE: &str = "CREATE TABLE pts1 ('I' SMALLINT NOT NULL, \
'DT' TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, 'F1' VARCHAR(4) NOT NULL, \
'F2' VARCHAR(16) NOT NULL);";

/// The statements of one connection, the same in each version of the work: a running number, the
/// time of the insertion, four and sixteen digits.
pub fn statements(rows: u32) -> Vec<String> {
    let mut random = SplitMix64::new(seed_for(1, "sqlite rows"));
    (1..=rows)
        .map(|number| {
            let four = 1000 + random.below(9000);
            let sixteen = 1_000_000_000_000_000 + random.below(9_000_000_000_000_000);
            format!(
                "INSERT INTO 'pts1' ('I', 'DT', 'F1', 'F2') VALUES \
                 ('{number}', CURRENT_TIMESTAMP, '{four}', '{sixteen}');"
            )
        })
        .collect()
}

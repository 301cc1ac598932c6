use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use super::settings::IoSettings;
use crate::figure::Figure;
use crate::result::{Direction, Metric};

/// From this block size on a case is about bandwidth, below it about operations a second.
const BANDWIDTH_BLOCK: Bytes = Bytes::new(64 << 10);

/// Kinds of operations that metrics are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoDirection {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Discards.
    Trim,
    /// fsync and fdatasync.
    Sync,
}

impl IoDirection {
    /// As in metric, histogram and series names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
        }
    }
}

/// What one direction did in the measured window.
#[derive(Clone, Copy, Debug, Default)]
pub struct IoTotals<'a> {
    /// Operations completed.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Their latencies, where they are known; in an open loop from when they were due.
    pub latency: Option<&'a Histogram>,
    /// From submission to completion, where that is not the same: at a rate.
    pub service: Option<&'a Histogram>,
    /// Their mean latency (in a closed loop the same as service time) in nanoseconds, where it is
    /// known better than by the histogram.
    pub latency_ns_mean: Option<f64>,
}

/// What a trial measured, from whatever carried it out.
#[derive(Clone, Copy, Debug, Default)]
pub struct IoMeasured<'a> {
    /// Length of the window.
    pub window: Nanos,
    /// Reads.
    pub read: IoTotals<'a>,
    /// Writes.
    pub write: IoTotals<'a>,
    /// Discards.
    pub trim: IoTotals<'a>,
    /// fsync and fdatasync.
    pub sync: IoTotals<'a>,
}

impl<'a> IoMeasured<'a> {
    /// The totals of a direction.
    pub fn of(&self, direction: IoDirection) -> IoTotals<'a> {
        match direction {
            IoDirection::Read => self.read,
            IoDirection::Write => self.write,
            IoDirection::Trim => self.trim,
            IoDirection::Sync => self.sync,
        }
    }
}

/// Latencies that are metrics: suffix of the id, words, and the percentile (none is the mean).
const LATENCIES: [(&str, &str, Option<f64>); 4] = [
    ("mean", "mean", None),
    ("p50", "median", Some(50.0)),
    ("p99", "p99", Some(99.0)),
    ("p99.9", "p99.9", Some(99.9)),
];

/// The metrics of a case.
///
/// A case of one direction has `bandwidth`, `iops`, `latency-mean`, `latency-p50`, `latency-p99`
/// and `latency-p99.9`; a mix has the totals, and `read-` and `write-` variants of all of them;
/// a case that syncs has `sync-latency-...` beside them. In an open loop `latency-...` counts from
/// when an operation was due and `service-...` from its submission; a closed loop that is held to a
/// rate has the latter only, for what its operations waited before they were submitted is not known.
/// Bandwidth stands for the case (primary)
/// when all its blocks are of 64 KiB or more, operations a second otherwise; with blocks of one
/// size the two say the same. Only the primary metric steers the repetition: percentiles of
/// latency need far more trials than the mean rate.
pub fn metrics(settings: &IoSettings) -> Vec<Metric> {
    let is_bandwidth = settings
        .block_sizes()
        .iter()
        .all(|size| *size >= BANDWIDTH_BLOCK);
    let mut all = rates("", "", is_bandwidth);
    let directions = transfer_directions(settings);
    for direction in &directions {
        let (prefix, word) = match directions.len() {
            1 => (String::new(), String::new()),
            _ => (
                format!("{}-", direction.name()),
                format!("{} ", direction.name()),
            ),
        };
        if directions.len() > 1 {
            let mut parts = rates(&prefix, &word, is_bandwidth);
            for part in &mut parts {
                (part.is_primary, part.steers) = (false, false);
            }
            all.append(&mut parts);
        }
        for kind in TimeKind::of(settings) {
            all.extend(times(&prefix, &word, *kind));
        }
    }
    if settings.syncs() {
        all.extend(times("sync-", "sync ", TimeKind::Latency));
    }
    all
}

/// The values of a trial under the ids of [`metrics`]; what the samples do not support is absent.
pub fn values(settings: &IoSettings, measured: &IoMeasured<'_>) -> BTreeMap<String, Figure> {
    let mut values = BTreeMap::new();
    let directions = transfer_directions(settings);
    let totals: Vec<IoTotals<'_>> = directions.iter().map(|d| measured.of(*d)).collect();
    let sum = |of: fn(&IoTotals<'_>) -> u64| totals.iter().map(of).sum::<u64>();
    let all = IoTotals {
        operations: sum(|t| t.operations),
        bytes: sum(|t| t.bytes),
        ..IoTotals::default()
    };
    put_rates(&mut values, "", &all, measured.window);
    for (direction, total) in directions.iter().zip(&totals) {
        let prefix = match directions.len() {
            1 => String::new(),
            _ => format!("{}-", direction.name()),
        };
        if directions.len() > 1 {
            put_rates(&mut values, &prefix, total, measured.window);
        }
        for kind in TimeKind::of(settings) {
            put_times(&mut values, &prefix, *kind, total);
        }
    }
    if settings.syncs() {
        put_times(&mut values, "sync-", TimeKind::Latency, &measured.sync);
    }
    values
}

/// From where the time of an operation counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeKind {
    /// From its submission, or in an open loop from when it was due.
    Latency,
    /// From its submission, at a rate.
    Service,
}

impl TimeKind {
    /// The times that a case's operations have.
    fn of(settings: &IoSettings) -> &'static [Self] {
        match (settings.rate, settings.rate_limit) {
            (Some(_), _) => &[Self::Latency, Self::Service],
            (None, Some(_)) => &[Self::Service],
            (None, None) => &[Self::Latency],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Service => "service",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Service => "service time",
        }
    }
}

/// Samples a percentile needs before it is a metric: ten beyond it, so 20 for the median, 1000 for
/// p99 and 10 000 for p99.9.
pub fn percentile_needs(percent: f64) -> u64 {
    let beyond = (100.0 - percent) / 100.0;
    // Freed of the error of binary fractions before rounding up.
    (10.0 / beyond * (1.0 - 1e-9)).ceil() as u64
}

/// Unit of latencies.
pub const fn unit_of_percentile() -> &'static str {
    "us"
}

/// The directions that move data, in a fixed order.
fn transfer_directions(settings: &IoSettings) -> Vec<IoDirection> {
    let mut directions = Vec::new();
    for (does, direction) in [
        (settings.reads(), IoDirection::Read),
        (settings.writes(), IoDirection::Write),
        (settings.mode.trims(), IoDirection::Trim),
    ] {
        if does {
            directions.push(direction);
        }
    }
    directions
}

fn rates(prefix: &str, word: &str, is_bandwidth: bool) -> Vec<Metric> {
    let rate = |name: &str, title: &str, unit: &str, is_primary| Metric {
        id: format!("{prefix}{name}"),
        title: format!("{word}{title}"),
        unit: unit.to_owned(),
        direction: Direction::HigherIsBetter,
        is_primary,
        steers: is_primary,
        ..Metric::default()
    };
    vec![
        rate("bandwidth", "bandwidth", "MB/s", is_bandwidth),
        rate("iops", "operations a second", "IOPS", !is_bandwidth),
    ]
}

fn times(prefix: &str, word: &str, kind: TimeKind) -> impl Iterator<Item = Metric> {
    LATENCIES.iter().map(move |(suffix, words, _)| Metric {
        id: format!("{prefix}{}-{suffix}", kind.name()),
        title: format!("{words} {word}{}", kind.word()),
        unit: unit_of_percentile().to_owned(),
        direction: Direction::LowerIsBetter,
        is_primary: false,
        steers: false,
        ..Metric::default()
    })
}

fn put(values: &mut BTreeMap<String, Figure>, id: String, value: f64) {
    if let Some(figure) = Figure::new(value) {
        values.insert(id, figure);
    }
}

fn put_rates(
    values: &mut BTreeMap<String, Figure>,
    prefix: &str,
    total: &IoTotals<'_>,
    window: Nanos,
) {
    let seconds = window.as_secs_f64();
    put(
        values,
        format!("{prefix}bandwidth"),
        total.bytes as f64 / 1e6 / seconds,
    );
    put(
        values,
        format!("{prefix}iops"),
        total.operations as f64 / seconds,
    );
}

fn put_times(
    values: &mut BTreeMap<String, Figure>,
    prefix: &str,
    kind: TimeKind,
    total: &IoTotals<'_>,
) {
    let histogram = match kind {
        TimeKind::Latency => total.latency,
        TimeKind::Service => total.service,
    };
    let histogram = histogram.filter(|histogram| !histogram.is_empty());
    for (suffix, _, percent) in LATENCIES {
        let ns = match (percent, histogram) {
            (None, known) => total
                .latency_ns_mean
                .or_else(|| known.map(|times| times.sum() as f64 / times.count() as f64)),
            (Some(percent), Some(times)) if times.count() >= percentile_needs(percent) => {
                times.percentile(percent).map(|ns| ns as f64)
            }
            (Some(_), _) => None,
        };
        if let Some(ns) = ns {
            put(
                values,
                format!("{prefix}{}-{suffix}", kind.name()),
                ns / 1e3,
            );
        }
    }
}

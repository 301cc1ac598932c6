//! What the definitions of the classic file-system tests share.

use std::collections::BTreeMap;

use fathom_stats::Histogram;

use crate::contract::Unmet;
use crate::definition::io::percentile_needs;
use crate::definition::menu;
use crate::figure::Figure;
use crate::result::{Direction, Metric};

menu! {
    /// How much of the work is done.
    "scale" ClassicScale {
        Full = "full" "as much as the options say",
        Short = "short" "a small part of it, for a quick look; never comparable with full",
    }
}

impl ClassicScale {
    /// The amount of work at this scale: all of it, or the part `1 / divisor` but at least `least`
    /// (or all, when that is less).
    pub fn amount(self, full: u64, divisor: u64, least: u64) -> u64 {
        match self {
            Self::Full => full,
            Self::Short => (full / divisor.max(1)).max(least).min(full),
        }
    }
}

/// A metric that is neither primary nor steers.
pub(crate) fn metric(id: &str, title: &str, unit: &str, direction: Direction) -> Metric {
    Metric {
        id: id.to_owned(),
        title: title.to_owned(),
        unit: unit.to_owned(),
        direction,
        ..Metric::default()
    }
}

/// The metric that stands for its case and steers the repetition.
pub(crate) fn primary(id: &str, title: &str, unit: &str, direction: Direction) -> Metric {
    Metric {
        is_primary: true,
        steers: true,
        ..metric(id, title, unit, direction)
    }
}

/// Percentiles that are metrics; the mean is one too.
const PERCENTS: [(&str, f64); 3] = [("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9)];

/// Metrics of the latencies of one kind of operation, named after its histogram:
/// `fsync-latency-mean`, `-p50`, `-p99` and `-p99.9`, in microseconds.
pub(crate) fn latency_metrics(kind: &str, words: &str) -> Vec<Metric> {
    let named = |part: &str, title: String| {
        let id = format!("{kind}-latency-{part}");
        metric(&id, &title, "us", Direction::LowerIsBetter)
    };
    let mut all = vec![named("mean", format!("mean time of {words}"))];
    all.extend(PERCENTS.iter().map(|(part, _)| match *part {
        "p50" => named(part, format!("median time of {words}")),
        _ => named(part, format!("{part} time of {words}")),
    }));
    all
}

/// Values of a trial by the ids of their metrics; what is not finite is left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values(BTreeMap<String, Figure>);

impl Values {
    /// Sets a value that is known.
    pub(crate) fn set(&mut self, id: &str, value: impl Into<Option<f64>>) {
        if let Some(figure) = value.into().and_then(Figure::new) {
            self.0.insert(id.to_owned(), figure);
        }
    }

    /// Sets the values of [`latency_metrics`]; percentiles that the number of samples does not
    /// support stay absent.
    pub(crate) fn set_latency(&mut self, kind: &str, latency: Option<&Histogram>) {
        let Some(latency) = latency.filter(|latency| !latency.is_empty()) else {
            return;
        };
        let id = |part: &str| format!("{kind}-latency-{part}");
        self.set(&id("mean"), latency.mean().map(|ns| ns / 1e3));
        for (part, percent) in PERCENTS {
            if latency.count() >= percentile_needs(percent) {
                let ns = latency.percentile(percent);
                self.set(&id(part), ns.map(|ns| ns as f64 / 1e3));
            }
        }
    }

    /// The values.
    pub(crate) fn into_map(self) -> BTreeMap<String, Figure> {
        self.0
    }
}

/// A contradiction between options.
pub(crate) fn conflict(what: impl Into<String>, hint: impl Into<String>) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.into(),
    }
}

/// Space that `count` files of `bytes` each take on a file system with blocks of 4 KiB, with room
/// for an inode and its directory entry.
pub(crate) fn file_space(count: u64, bytes: u64) -> u64 {
    let each = bytes
        .div_ceil(4096)
        .saturating_mul(4096)
        .saturating_add(1024);
    count.saturating_mul(each)
}

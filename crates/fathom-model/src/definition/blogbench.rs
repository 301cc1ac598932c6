//! Test `blogbench`: a busy blog server's files, written, rewritten, commented on and read by many
//! threads at once.

use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::Unmet;
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
pub const ID: &str = "blogbench";
/// For people.
pub const TITLE: &str = "BlogBench blog server";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "For five minutes 3 threads write blogs of articles and pictures, 1 \
rewrites some, 5 comment and 100 read whole blogs, without pause and without syncs. The scores are \
the numbers of blogs written and read in the whole run, not rates: runs of another length cannot be \
compared. Reads come from the page cache, and each one counts the more the fewer files its blog has.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Most of each kind in a blog: the number is drawn from 1 to this.
pub const MOST: u64 = 100;
/// Sizes of articles: at least, and below.
pub const ARTICLE_BYTES: (u64, u64) = (1 << 10, 32 << 10);
/// Sizes of pictures.
pub const PICTURE_BYTES: (u64, u64) = (8 << 10, 64 << 10);
/// Sizes of comments.
pub const COMMENT_BYTES: (u64, u64) = (2 << 10, 10 << 10);
/// Most threads of a kind.
pub const MAX_THREADS: u64 = 1000;
/// Of how many samples `scale=short` takes one.
const SHORT_DIVISOR: u64 = 10;
/// Blogs a second that a plan allows for, a little above the 20 that were seen on two processors;
/// a faster machine may need more room, and says so when only a reserve is left. For plans only.
const PLANNED_BLOGS_PER_SECOND: f64 = 25.0;

menu! {
    /// Which score is the result; both are measured in any case.
    "metric" BlogbenchMetric {
        Reads = "reads" "blogs read",
        Writes = "writes" "blogs written",
    }
}

/// A case of test `blogbench`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlogbenchSettings {
    /// `metric`.
    pub metric: BlogbenchMetric,
    /// Samples, by `iterations` and `scale`.
    pub iterations: u64,
    /// `interval`: length of a sample.
    pub interval: Nanos,
    /// `writers`.
    pub writers: u32,
    /// `rewriters`.
    pub rewriters: u32,
    /// `commenters`.
    pub commenters: u32,
    /// `readers`.
    pub readers: u32,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    let threads = |name, default: &str, help| {
        OptionInfo::new(name, OptionKind::Integer(0, MAX_THREADS), default, help)
    };
    vec![
        BlogbenchMetric::option(
            "metric",
            BlogbenchMetric::Reads,
            "Which score is the result; the work is the same.",
        ),
        OptionInfo::new(
            "iterations",
            OptionKind::Integer(1, 100_000),
            "30",
            "Samples of the run (-i).",
        ),
        OptionInfo::new(
            "interval",
            OptionKind::Duration(Nanos::from_millis(50), Nanos::from_secs(3600)),
            "10s",
            "Length of a sample (-s).",
        ),
        threads("writers", "3", "Threads that write new blogs (-w)."),
        threads(
            "rewriters",
            "1",
            "Threads that rewrite pictures and articles (-W).",
        ),
        threads("commenters", "5", "Threads that write comments (-c)."),
        threads("readers", "100", "Threads that read blogs (-r)."),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short takes a tenth of the samples, one at least.",
        ),
    ]
}

impl BlogbenchSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let full: u64 = case.get("iterations")?;
        Ok(Self {
            metric: case.get("metric")?,
            iterations: scale.amount(full, SHORT_DIVISOR, 1),
            interval: case.get("interval")?,
            writers: case.get("writers")?,
            rewriters: case.get("rewriters")?,
            commenters: case.get("commenters")?,
            readers: case.get("readers")?,
        })
    }

    /// Threads in all.
    pub fn threads(&self) -> u32 {
        self.writers + self.rewriters + self.commenters + self.readers
    }

    /// Length of the run.
    pub fn time(&self) -> Nanos {
        Nanos::new(self.interval.as_u64().saturating_mul(self.iterations))
    }

    /// Blogs that a plan allows for; how many there will be is what the test finds out.
    pub fn planned_blogs(&self) -> u64 {
        (self.time().as_secs_f64() * PLANNED_BLOGS_PER_SECOND) as u64 + 10
    }

    /// Space of the blogs that a plan allows for.
    pub fn space(&self) -> Bytes {
        let kind = |(least, below): (u64, u64)| file_space(MOST / 2, least.midpoint(below));
        let each = kind(ARTICLE_BYTES) + kind(PICTURE_BYTES) + kind(COMMENT_BYTES);
        Bytes::new(each.saturating_mul(self.planned_blogs()))
    }

    /// Files and directories of the blogs that a plan allows for.
    pub fn inodes(&self) -> u64 {
        (3 * MOST / 2 + 1).saturating_mul(self.planned_blogs())
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let (score, threads) = match self.metric {
            BlogbenchMetric::Reads => ("reads", self.readers),
            BlogbenchMetric::Writes => ("writes", self.writers),
        };
        let mut found = Vec::new();
        if threads == 0 {
            found.push(conflict(
                format!("metric={score} needs threads that do them"),
                "choose more threads of that kind",
            ));
        }
        if self.writers == 0 && threads > 0 {
            found.push(conflict(
                "without writers there is nothing to read",
                "choose one writer at least",
            ));
        }
        found
    }
}

/// Kinds of operations whose times are metrics.
const TIMED: [(&str, &str); 4] = [
    ("article-read", "reading an article"),
    ("picture-read", "reading a picture"),
    ("article-write", "writing an article"),
    ("rename", "a rename"),
];

/// The metrics of a case: both scores, the chosen one primary, and times of operations.
pub fn metrics(chosen: BlogbenchMetric) -> Vec<Metric> {
    let higher = Direction::HigherIsBetter;
    let score = |one: BlogbenchMetric, title: &str| match one == chosen {
        true => primary(one.name(), title, "Final Score", higher),
        false => metric(one.name(), title, "Final Score", higher),
    };
    let mut all = vec![
        score(BlogbenchMetric::Reads, "blogs read"),
        score(BlogbenchMetric::Writes, "blogs written"),
        metric("reads-per-second", "blogs read a second", "blogs/s", higher),
        metric(
            "writes-per-second",
            "blogs written a second",
            "blogs/s",
            higher,
        ),
    ];
    for (kind, words) in TIMED {
        all.extend(latency_metrics(kind, words));
    }
    all
}

/// What a trial measured.
#[derive(Clone, Debug, Default)]
pub struct BlogbenchMeasured<'a> {
    /// Blogs read.
    pub reads: u64,
    /// Blogs written.
    pub writes: u64,
    /// From the start to the moment the threads were told to stop.
    pub elapsed: Nanos,
    /// Times by kind of operation.
    pub latency: Vec<(&'a str, &'a Histogram)>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(measured: &BlogbenchMeasured<'_>) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    let seconds = measured.elapsed.as_secs_f64();
    let (reads, writes) = (measured.reads as f64, measured.writes as f64);
    values.set("reads", reads);
    values.set("writes", writes);
    values.set("reads-per-second", reads / seconds);
    values.set("writes-per-second", writes / seconds);
    for (kind, histogram) in &measured.latency {
        if TIMED.iter().any(|(name, _)| name == kind) {
            values.set_latency(kind, Some(*histogram));
        }
    }
    values.into_map()
}

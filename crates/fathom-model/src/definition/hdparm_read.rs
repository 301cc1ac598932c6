//! Test `hdparm-read`: a device, or a file in place of one, read in order for three seconds.

use std::collections::BTreeMap;

use fathom_base::{Bytes, Nanos};
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::Unmet;
use crate::definition::classic::{
    ClassicScale, Values, conflict, latency_metrics, metric, primary,
};
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

#[cfg(test)]
mod tests;

/// The name a user types.
pub const ID: &str = "hdparm-read";
/// For people.
pub const TITLE: &str = "hdparm timed disk reads";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Reads a block device from its start in pieces of 2 MiB for three seconds, \
through the page cache with the kernel's read-ahead, or past it with direct=yes. The target is the \
device when it is one; on a directory a file is laid out, put out of the cache and read instead, \
which the result says. What was read is put out of the cache afterwards.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Bytes of each call.
pub const BLOCK: u64 = 2 << 20;
/// Of how much of the file and of the time `scale=short` takes one.
const SHORT_DIVISOR: u64 = 4;
/// What is left of the file at least by `scale=short`.
const SHORT_LEAST: u64 = 64 << 20;

/// A case of test `hdparm-read`, typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HdparmSettings {
    /// `direct`.
    pub direct: bool,
    /// `offset`.
    pub offset: Bytes,
    /// How long is read at most, by `time` and `scale`.
    pub time: Nanos,
    /// `settle`: quiet time before.
    pub settle: Nanos,
    /// Size of the file that stands in for a device, by `file-size` and `scale`.
    pub file_size: Bytes,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        OptionInfo::new(
            "direct",
            OptionKind::Flag,
            "no",
            "Whether the page cache is passed by (--direct).",
        ),
        OptionInfo::new(
            "offset",
            OptionKind::Size(Bytes::new(0), Bytes::new(1 << 50)),
            "0B",
            "Where reading begins, a multiple of 4 KiB (--offset, there in GiB).",
        ),
        OptionInfo::new(
            "time",
            OptionKind::Duration(Nanos::from_millis(10), Nanos::from_secs(3600)),
            "3s",
            "How long is read, unless the end comes first; the original's is fixed.",
        ),
        OptionInfo::new(
            "settle",
            OptionKind::Duration(Nanos::new(0), Nanos::from_secs(600)),
            "3s",
            "Quiet time between the sync and the reading; the original's is fixed.",
        ),
        OptionInfo::new(
            "file-size",
            OptionKind::Size(Bytes::new(BLOCK), Bytes::new(1 << 44)),
            "2GiB",
            "Size of the file that is laid out on a directory, a multiple of 2 MiB.",
        )
        .menu(&["256MiB", "2GiB", "16GiB"]),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short takes a quarter of the time and of the file.",
        ),
    ]
}

impl HdparmSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let size: Bytes = case.get("file-size")?;
        let part = scale.amount(size.as_u64(), SHORT_DIVISOR, SHORT_LEAST);
        let file_size = match part == size.as_u64() {
            true => size,
            false => Bytes::new(part.next_multiple_of(BLOCK)),
        };
        let amount = |time: Nanos| Nanos::new(scale.amount(time.as_u64(), SHORT_DIVISOR, 1));
        Ok(Self {
            direct: case.flag("direct")?,
            offset: case.get("offset")?,
            time: amount(case.get("time")?),
            settle: amount(case.get("settle")?),
            file_size,
        })
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        if !self.offset.as_u64().is_multiple_of(4096) {
            found.push(conflict(
                format!("offset={} is not a multiple of 4 KiB", self.offset),
                "choose a multiple of 4 KiB",
            ));
        }
        if !self.file_size.as_u64().is_multiple_of(BLOCK) {
            found.push(conflict(
                format!(
                    "file-size={} is not a number of reads of 2 MiB",
                    self.file_size
                ),
                "choose a multiple of 2 MiB",
            ));
        }
        found
    }
}

/// The metrics of a case: the rate in MiB/s (primary), the same as the original prints it, and
/// times of a call.
pub fn metrics() -> Vec<Metric> {
    let higher = Direction::HigherIsBetter;
    let mut all = vec![
        primary("read", "timed read", "MiB/s", higher),
        metric(
            "pts-bandwidth",
            "the rate as hdparm and PTS show it (2^20 bytes)",
            "MB/s",
            higher,
        ),
    ];
    all.extend(latency_metrics("read", "a call"));
    all
}

/// What a trial measured, from whatever carried it out.
#[derive(Clone, Copy, Debug)]
pub struct HdparmMeasured<'a> {
    /// 2^20 bytes a second.
    pub mib_per_second: f64,
    /// Time of each call, where it is known.
    pub latency: Option<&'a Histogram>,
}

/// The values of a trial under the ids of [`metrics`].
pub fn values(measured: &HdparmMeasured<'_>) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    values.set("read", measured.mib_per_second);
    // The original prints two decimals.
    let shown = (measured.mib_per_second * 100.0).round() / 100.0;
    values.set("pts-bandwidth", shown);
    values.set_latency("read", measured.latency);
    values.into_map()
}

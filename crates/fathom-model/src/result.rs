use std::collections::BTreeMap;

use fathom_base::WallTime;
use fathom_stats::Histogram;
use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseId};
use crate::evidence::Evidence;
use crate::figure::Figure;
use crate::pts_json::PtsJson;
use crate::system::System;
use crate::verdict::Verdict;

/// The version of the native result file this code writes.
pub const FORMAT_VERSION: u32 = 1;

/// Systems and results together: what is saved, merged, compared and shared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ResultFile {
    /// Version of this format.
    pub fathom_result: u32,
    /// Title.
    pub title: String,
    /// What it is about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<WallTime>,
    /// The tool that wrote it.
    pub generator: Generator,
    /// Whether the runs in it came to their end.
    #[serde(skip_serializing_if = "Status::is_complete")]
    pub status: Status,
    /// Where it came from, when it was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// The systems, in the order they are shown.
    pub systems: Vec<System>,
    /// The cases results belong to.
    pub cases: Vec<Case>,
    /// The results, in the order they are shown.
    pub results: Vec<ResultRecord>,
    /// The trials behind the entries, where they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// Logs and other texts kept with the result, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub logs: BTreeMap<String, String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Whether everything that was planned was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing is missing (trials may have failed).
    #[default]
    Complete,
    /// The run was stopped or had to end early; `resume` goes on.
    Partial,
}

impl Status {
    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

/// The tool that wrote a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Generator {
    /// `fathom`, `Phoronix Test Suite`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Where an imported file came from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Origin {
    /// The format it was read from: `pts-xml`, `pts-text`, `fio-json`.
    pub format: String,
    /// The name it was given by, without directories.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// A public address, when the file names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What could not be understood, with its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Facts of the format that have no place elsewhere, kept for export.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub facts: serde_json::Map<String, serde_json::Value>,
}

/// Something in a foreign file that needs saying.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Warning {
    /// `line 12`, `Result 4, Entry 2`.
    pub place: String,
    /// What was found and what was made of it.
    pub text: String,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Higher is better.
    HigherIsBetter,
    /// Lower is better.
    LowerIsBetter,
    /// Neither.
    #[default]
    Neutral,
}

/// A number a trial yields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Metric {
    /// Stable name within the test: `bandwidth`, `latency-p99`.
    pub id: String,
    /// For people: `read bandwidth`; empty when the unit says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// `MB/s`, `IOPS`, `us`, `Seconds`.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// Whether it stands for its case in summaries; one metric of a case does.
    pub is_primary: bool,
    /// Whether the run loop repeats until this metric is known well enough.
    pub steers: bool,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// How a result is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Display {
    /// One number a system.
    #[default]
    Bar,
    /// A series a system.
    Line,
    /// PASS or FAIL.
    PassFail,
    /// Several of them.
    MultiPassFail,
    /// A picture, base64.
    Image,
    /// Points.
    Scatter,
    /// Nothing to draw.
    NoResult,
}

/// One metric of one case, with an entry for each system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ResultRecord {
    /// The case it belongs to.
    pub case: CaseId,
    /// The metric.
    pub metric: Metric,
    /// `Flexible IO Tester`, `io`.
    pub title: String,
    /// Version shown beside the title: `3.36`, `native 1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The options in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How it is drawn.
    pub display: Display,
    /// What a PTS file says of it, needed for its comparison hash and for export.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pts: Option<Box<PtsFacts>>,
    /// One entry a system (imported files may repeat a system).
    pub entries: Vec<Entry>,
    /// Smallest place it had in the files it was merged from; only merged files have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The texts of a `Result` in a PTS file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PtsFacts {
    /// `pts/fio-2.1.0`, may be empty.
    pub identifier: String,
    /// The argument string.
    pub arguments: String,
    /// `HIB`, `LIB`, `ABSTRACT` or empty, as written.
    pub proportion: String,
    /// `BAR_GRAPH`, as written.
    pub display_format: String,
    /// A person's comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
    /// Comparison hash of the result this one belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Comparison hash by PTS's rule; see [`crate::pts_comparison_hash`].
    pub hash: String,
}

/// What one system gave for one result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Entry {
    /// The system.
    pub system: String,
    /// The headline number: the mean of the samples, or what the imported file says. Absent when
    /// the test failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Figure>,
    /// One value a good trial, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Figure>,
    /// Standard error and count, where a file gives them without samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Box<Spread>>,
    /// Why there is no number, or what went wrong in some trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Box<str>>,
    /// How far the number can be trusted.
    pub verdict: Verdict,
    /// What does not fit above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<EntryDetails>>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Rare parts of an entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EntryDetails {
    /// The points of a line graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<Figure>,
    /// A value that is no number: `PASS`, a base64 picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether an importer is certain of the value; absent means yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertain: Option<String>,
    /// The entry's `JSON` object of a PTS file.
    #[serde(skip_serializing_if = "PtsJson::is_empty")]
    pub pts_json: PtsJson,
    /// The text of `RawString`, when the samples do not reproduce it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_text: Option<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Spread of an imported mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Standard error of the mean.
    pub standard_error: Figure,
    /// Number of trials.
    pub count: u32,
}

/// The trials of one case on one system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Run {
    /// The case.
    pub case: CaseId,
    /// The system.
    pub system: String,
    /// All trials, failed ones included, in the order they ran.
    pub trials: Vec<Trial>,
    /// Why the repetition ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<crate::event::StopReason>,
    /// Half-width of the 95 % interval that was reached, in per cent of the mean, of each metric
    /// that steers the repetition and has two values or more.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reached_percent: BTreeMap<String, f64>,
    /// Why it could not run at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// One measured run of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Trial {
    /// Unique over all files: run id, case, number. Merging pools trials by it.
    pub id: String,
    /// From 1, within its run.
    pub number: u32,
    /// Start, calendar time.
    pub started: WallTime,
    /// Wall time of the whole trial, not only of the measured window.
    pub duration_ns: u64,
    /// Values by metric id; empty when it failed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Figure>,
    /// Latency histograms by name: `read`, `write`, `fsync`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, Histogram>,
    /// Series by name: `bandwidth`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub series: BTreeMap<String, Series>,
    /// What else was seen.
    pub evidence: Evidence,
    /// The judgement on this trial.
    pub verdict: Verdict,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Trial {
    /// Whether the trial can be read again once it is written: one that cannot would make the
    /// journal useless from there on, and the result as a whole.
    ///
    /// # Errors
    /// What does not survive.
    pub fn check_readable(&self) -> Result<(), serde_json::Error> {
        let text = serde_json::to_string(self)?;
        serde_json::from_str::<Self>(&text).map(|_| ())
    }
}

/// Values at even steps of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Series {
    /// Unit of the values.
    pub unit: String,
    /// Start of the first step after the start of the measured window.
    pub start_ns: u64,
    /// Length of a step.
    pub step_ns: u64,
    /// One value a step; not a number (null on disk) where a step has none.
    #[serde(deserialize_with = "nulls_are_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Option<f64>>"))]
    pub values: Vec<f64>,
}

fn nulls_are_nan<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let values = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
}

impl ResultFile {
    /// An empty file of the current version.
    pub fn new(title: impl Into<String>, generator: Generator) -> Self {
        Self {
            fathom_result: FORMAT_VERSION,
            title: title.into(),
            generator,
            ..Self::default()
        }
    }

    /// The case of an id.
    pub fn case(&self, id: &CaseId) -> Option<&Case> {
        self.cases.iter().find(|case| case.id == *id)
    }

    /// The system of a name.
    pub fn system(&self, identifier: &str) -> Option<&System> {
        self.systems
            .iter()
            .find(|system| system.identifier == identifier)
    }

    /// The trials of a case on a system.
    pub fn run(&self, case: &CaseId, system: &str) -> Option<&Run> {
        self.runs
            .iter()
            .find(|run| run.case == *case && run.system == system)
    }
}

impl ResultRecord {
    /// The first entry of a system.
    pub fn entry(&self, system: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.system == system)
    }
}

impl Entry {
    /// The samples' numbers.
    pub fn sample_values(&self) -> Vec<f64> {
        self.samples.iter().map(Figure::value).collect()
    }
}

//! Test `compilebench`: trees of source files created, patched, compiled, read and deleted.

use std::collections::BTreeMap;

use fathom_base::Bytes;
use fathom_stats::Histogram;

use crate::case::Case;
use crate::contract::{TestInfo, Unmet};
use crate::definition::classic::{
    ClassicScale, Values, conflict, file_space, latency_metrics, metric, primary,
};
use crate::definition::menu;
use crate::error::OptionError;
use crate::figure::Figure;
use crate::option::{OptionInfo, OptionKind};
use crate::result::{Direction, Metric};

mod dataset;
mod generate;
#[cfg(test)]
mod tests;

pub use dataset::{
    DataSet, DataSetError, LIST_LIMIT, LISTS, MAX_FILES, TreeFile, directories, total_bytes,
};

/// The name a user types.
pub const ID: &str = "compilebench";
/// For people.
pub const TITLE: &str = "Compile Bench source trees";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Trees of 21280 small files are created, and, as asked, compiled (680 MiB \
of larger files are added to each), patched, cleaned, read, looked through or deleted, one tree \
after another. The figure is the mean of the trees' rates; creating and compiling go to the page \
cache without a sync. The built-in tree is made from the statistics of the kernel tree the original \
uses; an own one comes by dataset=DIRECTORY, and results of different trees never meet.";
/// Version of the workload and of the built-in tree.
pub const VERSION: &str = "1.0";

/// Bytes of each `write` and `read`, but for what a file ends with.
pub const BUFFER: u64 = 256 << 10;
/// Most trees.
pub const MAX_TREES: u64 = 1000;
/// Trees that are read by the phases that read.
pub const TREES_READ: u64 = 3;
/// The built-in tree, as a value of `dataset`.
pub const GENERATED: &str = "generated";
/// Of how many trees `scale=short` takes one.
const SHORT_DIVISOR: u64 = 5;

menu! {
    /// What is measured; what it needs before is done too.
    "phase" CompilebenchPhase {
        Create = "create" "the first trees are created (initial create)",
        CreateAged = "create-aged" "trees created where patched and deleted ones were (create)",
        Patch = "patch" "files of a tree are read and written anew (patch)",
        Compile = "compile" "what compiling makes is written into the trees (compile)",
        Clean = "clean" "what compiling made is removed (clean)",
        Read = "read" "clean trees are read (read tree)",
        ReadCompiled = "read-compiled" "compiled trees are read (read compiled tree)",
        Delete = "delete" "clean trees are deleted, seconds each (delete tree)",
        DeleteCompiled = "delete-compiled" "compiled trees are deleted (delete compiled tree)",
        Stat = "stat" "the files of clean trees are looked at, seconds each (stat tree)",
        StatCompiled = "stat-compiled" "the same with compiled trees (stat compiled tree)",
    }
}

impl CompilebenchPhase {
    /// Whether its figure is a time.
    pub fn is_time(self) -> bool {
        matches!(
            self,
            Self::Delete | Self::DeleteCompiled | Self::Stat | Self::StatCompiled
        )
    }

    /// Whether trees are compiled before it.
    pub fn is_of_compiled(self) -> bool {
        matches!(
            self,
            Self::Clean | Self::ReadCompiled | Self::DeleteCompiled | Self::StatCompiled
        )
    }

    /// Whether the original measures it in its mixed runs, each with a sync inside its time and
    /// empty caches before it; the others belong to the runs of `--makej`.
    pub fn is_mixed(self) -> bool {
        !matches!(
            self,
            Self::Create | Self::Compile | Self::ReadCompiled | Self::DeleteCompiled
        )
    }

    /// The phases that are timed when this one is asked for, in order.
    pub fn chain(self) -> &'static [Self] {
        match self {
            Self::Create => &[Self::Create],
            Self::CreateAged => &[Self::Create, Self::Patch, Self::Delete, Self::CreateAged],
            Self::Patch => &[Self::Create, Self::Patch],
            Self::Compile => &[Self::Create, Self::Compile],
            Self::Clean => &[Self::Create, Self::Compile, Self::Clean],
            Self::Read => &[Self::Create, Self::Read],
            Self::ReadCompiled => &[Self::Create, Self::Compile, Self::ReadCompiled],
            Self::Delete => &[Self::Create, Self::Delete],
            Self::DeleteCompiled => &[Self::Create, Self::Compile, Self::DeleteCompiled],
            Self::Stat => &[Self::Create, Self::Stat],
            Self::StatCompiled => &[Self::Create, Self::Compile, Self::StatCompiled],
        }
    }
}

menu! {
    /// How caches are emptied before trees are read.
    "evict" CompilebenchEvict {
        Files = "files" "the trees' own pages; names and inodes stay, nobody else is disturbed",
        Machine = "machine" "all caches of the machine, as the original does; root only",
    }
}

/// A case of test `compilebench`, typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilebenchSettings {
    /// `phase`.
    pub phase: CompilebenchPhase,
    /// Trees, by `trees` and `scale`.
    pub trees: u64,
    /// `evict`.
    pub evict: CompilebenchEvict,
    /// The user's lists; `None` is the built-in tree.
    pub dataset: Option<String>,
    /// `dataset-sha256`, when it is known.
    pub dataset_sha256: Option<String>,
}

/// The option table, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    vec![
        CompilebenchPhase::option(
            "phase",
            CompilebenchPhase::Create,
            "What is measured; what goes before it is done too.",
        ),
        OptionInfo::new(
            "trees",
            OptionKind::Integer(1, MAX_TREES),
            "10",
            "Trees that are created (-i).",
        ),
        CompilebenchEvict::option(
            "evict",
            CompilebenchEvict::Files,
            "How caches are emptied before a phase that the original begins with empty ones.",
        ),
        OptionInfo::new(
            "dataset",
            OptionKind::Text,
            GENERATED,
            "A directory with the original's lists of names and sizes, or generated (-s).",
        ),
        OptionInfo::new(
            "dataset-sha256",
            OptionKind::Text,
            "none",
            "SHA-256 of the lists; found out by itself, and held against them when given.",
        )
        .or_none(),
        ClassicScale::option(
            "scale",
            ClassicScale::Full,
            "How much is done: short takes a fifth of the trees, one at least.",
        ),
    ]
}

impl CompilebenchSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        let scale: ClassicScale = case.get("scale")?;
        let full: u64 = case.get("trees")?;
        let (dataset, hash) = (case.text("dataset")?, case.text("dataset-sha256")?);
        Ok(Self {
            phase: case.get("phase")?,
            trees: scale.amount(full, SHORT_DIVISOR, 1),
            evict: case.get("evict")?,
            dataset: (dataset != GENERATED).then(|| dataset.to_owned()),
            dataset_sha256: (hash != "none").then(|| hash.to_owned()),
        })
    }

    /// Trees a phase works on.
    pub fn trees_of(&self, phase: CompilebenchPhase) -> u64 {
        match phase {
            CompilebenchPhase::Read | CompilebenchPhase::ReadCompiled => self.trees.min(TREES_READ),
            CompilebenchPhase::CreateAged => self.trees.div_ceil(2),
            CompilebenchPhase::Delete if self.phase == CompilebenchPhase::CreateAged => {
                self.trees.div_ceil(2)
            }
            _ => self.trees,
        }
    }

    /// The files, read from the user's lists or made.
    ///
    /// # Errors
    /// [`OptionError::Value`] that names the list and the line, or what is wrong with the hash.
    pub fn load(&self) -> Result<DataSet, OptionError> {
        match &self.dataset {
            None => Ok(DataSet::generated()),
            Some(path) => self.read(path).map(|(set, _)| set),
        }
    }

    fn read(&self, path: &str) -> Result<(DataSet, String), OptionError> {
        let (set, found) = DataSet::read(path.as_ref()).map_err(|error| {
            wrong(
                "dataset",
                path,
                &format!("a directory with lists of files: {error}"),
            )
        })?;
        match &self.dataset_sha256 {
            Some(asked) if *asked != found => Err(wrong(
                "dataset-sha256",
                asked,
                &format!("{found}, which the lists in {path} have: the case was made with others"),
            )),
            _ => Ok((set, found)),
        }
    }

    /// Choices that contradict each other.
    pub fn conflicts(&self) -> Vec<Unmet> {
        match self.dataset.is_none() && self.dataset_sha256.is_some() {
            true => vec![conflict(
                "dataset-sha256 is given without a dataset",
                "name the directory of the lists with dataset=DIRECTORY",
            )],
            false => Vec::new(),
        }
    }

    /// Space that the trees take at most.
    pub fn space(&self, set: &DataSet) -> Bytes {
        let of = |files: &[TreeFile]| -> u64 {
            let blocks: u64 = files.iter().map(|file| file_space(1, file.size)).sum();
            blocks.saturating_add(directories(files).saturating_mul(8192))
        };
        let mut each = of(&set.unpatched);
        if self.compiles() {
            each = each.saturating_add(of(&set.compiled));
        }
        if self.patches() {
            each = each.saturating_add(of(&set.patched));
        }
        Bytes::new(each.saturating_mul(self.trees))
    }

    /// Files and directories that exist at most.
    pub fn inodes(&self, set: &DataSet) -> u64 {
        let of = |files: &[TreeFile]| files.len() as u64 + directories(files);
        let mut each = of(&set.unpatched);
        if self.compiles() {
            each += of(&set.compiled);
        }
        if self.patches() {
            each += of(&set.patched);
        }
        each.saturating_mul(self.trees).saturating_add(2)
    }

    /// Whether trees are compiled.
    pub fn compiles(&self) -> bool {
        self.phase.chain().contains(&CompilebenchPhase::Compile)
    }

    /// Whether trees are patched.
    pub fn patches(&self) -> bool {
        self.phase.chain().contains(&CompilebenchPhase::Patch)
    }

    /// When writes are durable, in words, and whether all are when the clock stops.
    pub fn policy(&self) -> (&'static str, bool) {
        match self.phase {
            CompilebenchPhase::Create | CompilebenchPhase::Compile => ("none", false),
            CompilebenchPhase::CreateAged | CompilebenchPhase::Patch => (
                "the file system is synced after each tree, inside its time",
                true,
            ),
            phase if phase.is_mixed() => (
                "nothing is written; the file system is synced after each tree",
                false,
            ),
            _ => ("none (nothing is written)", false),
        }
    }
}

fn wrong(option: &str, value: &str, expected: &str) -> OptionError {
    OptionError::Value {
        test: ID.to_owned(),
        option: option.to_owned(),
        value: value.to_owned(),
        expected: expected.to_owned(),
        nearest: None,
    }
}

/// Completes a case with the hash of its lists, which is part of its identity in place of their
/// path.
///
/// # Errors
/// [`OptionError::Value`] when the lists cannot be read, are not those the case was made with, or
/// hold a line that is no good.
pub fn complete(info: &TestInfo, mut case: Case) -> Result<Case, OptionError> {
    let settings = CompilebenchSettings::from_case(&case)?;
    let Some(path) = &settings.dataset else {
        return Ok(case);
    };
    let (_, hash) = settings.read(path)?;
    case.options.set("dataset-sha256", hash);
    case.identify(info, &["dataset"])?;
    Ok(case)
}

/// Kinds of calls whose times are metrics.
const TIMED: [(&str, &str); 4] = [
    ("open", "an open"),
    ("write", "a write"),
    ("read", "a read"),
    ("unlink", "a removal"),
];

/// The metrics of a case: the mean over the trees of the phase (primary), as PTS shows it, all bytes
/// by all time, the phases before, and times of calls.
pub fn metrics(phase: CompilebenchPhase) -> Vec<Metric> {
    let of = |one: CompilebenchPhase| {
        let title = one.name().replace('-', " ");
        match one.is_time() {
            true => ("s", Direction::LowerIsBetter, format!("{title}, a tree")),
            false => ("MiB/s", Direction::HigherIsBetter, title),
        }
    };
    let (unit, direction, title) = of(phase);
    let mut all = vec![primary(phase.name(), &title, unit, direction)];
    if !phase.is_time() {
        let higher = Direction::HigherIsBetter;
        all.push(metric(
            "pts-bandwidth",
            "as the original and PTS show it (2^20 bytes)",
            "MB/s",
            higher,
        ));
        all.push(metric(
            "overall-rate",
            "bytes of all trees by their whole time",
            "MiB/s",
            higher,
        ));
    }
    for other in phase.chain().iter().filter(|one| **one != phase) {
        let (unit, direction, title) = of(*other);
        all.push(metric(other.name(), &title, unit, direction));
    }
    for (kind, words) in TIMED {
        all.extend(latency_metrics(kind, words));
    }
    all
}

/// One tree of a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeMeasured {
    /// Bytes written, read or removed.
    pub bytes: u64,
    /// Time it took.
    pub seconds: f64,
}

/// The values of a trial under the ids of [`metrics`]; `measured` has the trees of each phase,
/// `latency` the chosen phase's.
pub fn values(
    settings: &CompilebenchSettings,
    measured: &[(CompilebenchPhase, Vec<TreeMeasured>)],
    latency: &[(&str, &Histogram)],
) -> BTreeMap<String, Figure> {
    let mut values = Values::default();
    for (phase, trees) in measured {
        let count = trees.len() as f64;
        let mib = |tree: &TreeMeasured| tree.bytes as f64 / f64::from(1 << 20);
        let seconds: f64 = trees.iter().map(|tree| tree.seconds).sum();
        let value = match phase.is_time() {
            true => seconds / count,
            // As the original: the mean of the rates, not the rate of all.
            false => {
                trees
                    .iter()
                    .map(|tree| mib(tree) / tree.seconds)
                    .sum::<f64>()
                    / count
            }
        };
        values.set(phase.name(), value);
        if *phase == settings.phase && !phase.is_time() {
            values.set("pts-bandwidth", (value * 100.0).round() / 100.0);
            values.set("overall-rate", trees.iter().map(mib).sum::<f64>() / seconds);
        }
    }
    for (kind, histogram) in latency {
        if TIMED.iter().any(|(name, _)| name == kind) {
            values.set_latency(kind, Some(*histogram));
        }
    }
    values.into_map()
}

//! Test `compilebench`: trees of source files created, patched, compiled, read and deleted.
//!
//! Calls and order are those of the original: the files of a clean tree and of a patch come in the
//! order in which this file system lists them, those of compiling in a shuffled one; a file is
//! opened for appending, written in pieces of 256 KiB and closed. Where the original draws its next
//! operation at random, here a phase does it to each tree once, so that each figure has a known
//! number of trees behind it. Syncs are of the file system under test, not of all. By default only
//! the trees' own pages are put out of the cache before trees are read.

#[cfg(test)]
mod tests;
mod tree;
mod work;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Bytes, Nanos, SplitMix64, seed_for};
use fathom_model::definition::compilebench::{
    self as definition, CompilebenchEvict, CompilebenchPhase, CompilebenchSettings, DataSet,
    total_bytes,
};
use fathom_model::{
    CacheEvidence, Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, Metric,
    OptionError, Prepared, Progress, Test, TestError, TestInfo, Trial, Unmet,
};

use self::work::{KINDS, READ, Report, SYNC, WRITE, Work, planned_files};
use crate::classic::{
    Conductor, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_crew, unmet_of,
};
use crate::common::{CaseDir, Guess, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);
/// The order of the compiled files, the same in each run.
const ORDER_SEED: u64 = 555;

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct CompilebenchTest {
    generated: OnceLock<DataSet>,
}

impl CompilebenchTest {
    /// The test.
    pub fn new() -> Self {
        Self::default()
    }

    /// The files of a case; the built-in ones are made once.
    fn with_set<T>(
        &self,
        settings: &CompilebenchSettings,
        use_set: impl FnOnce(&DataSet) -> T,
    ) -> Result<T, OptionError> {
        match settings.dataset {
            Some(_) => settings.load().map(|set| use_set(&set)),
            None => Ok(use_set(self.generated.get_or_init(DataSet::generated))),
        }
    }
}

impl Test for CompilebenchTest {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: native(IMPLEMENTATION),
            options: definition::options(),
        }
    }

    fn complete(&self, case: Case) -> Result<Case, OptionError> {
        definition::complete(&self.info(), case)
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        let phase = CompilebenchSettings::from_case(case).map(|settings| settings.phase);
        definition::metrics(phase.unwrap_or(CompilebenchPhase::Create))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match CompilebenchSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        let room = self.with_set(&settings, |set| (settings.space(set), settings.inodes(set)));
        match room {
            Ok((space, inodes)) => unmet.extend(needs(host, space, inodes)),
            Err(error) => unmet.extend(unmet_of(&error)),
        }
        if settings.evict == CompilebenchEvict::Machine && !host.is_root {
            unmet.push(Unmet {
                what: "evict=machine needs root".to_owned(),
                hint: "use evict=files".to_owned(),
            });
        }
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = CompilebenchSettings::from_case(case)?;
        let estimate = self.with_set(&settings, |set| estimate(&settings, set, host))?;
        Ok(estimate)
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = CompilebenchSettings::from_case(case)?;
        let mut set = self.with_set(&settings, DataSet::clone)?;
        let directory = CaseDir::create(case, cx)?;
        let root = Root::open(directory.path(), settings.space(&set))?;
        let watch = Watch::new(cx, "listing the names of the tree");
        set.unpatched = tree::native_order(&root, &set.unpatched, watch)?;
        if settings.patches() {
            set.patched = tree::native_order(&root, &set.patched, watch)?;
        }
        SplitMix64::new(seed_for(ORDER_SEED, "compiled")).shuffle(&mut set.compiled);
        Ok(Box::new(PreparedCompilebench {
            settings,
            set,
            directory,
        }))
    }
}

/// What a trial takes: the bytes of all phases, some microseconds a file.
fn estimate(settings: &CompilebenchSettings, set: &DataSet, host: &Host) -> Estimate {
    let guess = Guess::of(&host.target);
    let bytes_of = |phase: CompilebenchPhase| match phase {
        CompilebenchPhase::Create | CompilebenchPhase::CreateAged => total_bytes(&set.unpatched),
        CompilebenchPhase::Compile => total_bytes(&set.compiled),
        CompilebenchPhase::Patch => total_bytes(&set.patched),
        _ => 0,
    };
    let chain = settings.phase.chain();
    let written: u64 = chain
        .iter()
        .map(|phase| bytes_of(*phase).saturating_mul(settings.trees_of(*phase)))
        .sum();
    let files = planned_files(settings, set);
    let calls = Nanos::new(files.saturating_mul(60_000));
    Estimate {
        trial_time: guess.time_to_write(Bytes::new(written)).plus(calls),
        prepare_time: Nanos::new(set.unpatched.len() as u64 * 60_000),
        trial_bytes: Bytes::new(written.saturating_add(files.saturating_mul(1024))),
        space: settings.space(set),
        inodes: settings.inodes(set),
        ..Estimate::default()
    }
}

#[derive(Debug)]
struct PreparedCompilebench {
    settings: CompilebenchSettings,
    /// In the order in which files are written.
    set: DataSet,
    directory: CaseDir,
}

impl Prepared for PreparedCompilebench {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        // The trees that are left.
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

impl PreparedCompilebench {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the trees");
        watch.check_now()?;
        let root = Root::open(self.directory.path(), self.settings.space(&self.set))?;
        let (done, observer) = (AtomicU64::new(0), cx.observer);
        let work = |seat: &Seat<'_>| {
            seat.start()?;
            Work::new(&self.settings, &self.set, &root, watch, &done).run(observer)
        };
        let files = planned_files(&self.settings, &self.set);
        let crew = run_crew(cx, 1, work, |conductor| {
            conduct(cx, conductor, &done, files);
        })?;
        let Some(report) = crew.results.into_iter().next() else {
            return Err(TestError::Cancelled);
        };
        self.verify(&report)?;
        Ok(self.outcome(report, crew.note).into_trial(cx))
    }

    /// Holds what was done against the lists.
    fn verify(&self, report: &Report) -> Result<(), TestError> {
        let (settings, set) = (&self.settings, &self.set);
        for (phase, trees) in &report.phases {
            let expected = match phase {
                CompilebenchPhase::Create | CompilebenchPhase::CreateAged => {
                    total_bytes(&set.unpatched)
                }
                CompilebenchPhase::Compile | CompilebenchPhase::Clean => total_bytes(&set.compiled),
                CompilebenchPhase::Patch => total_bytes(&set.patched),
                CompilebenchPhase::Read => total_bytes(&set.unpatched),
                CompilebenchPhase::ReadCompiled => {
                    total_bytes(&set.unpatched) + total_bytes(&set.compiled)
                }
                _ => 0,
            };
            let trees_expected = settings.trees_of(*phase);
            Root::expect("trees of a phase", trees.len() as u64, trees_expected)?;
            for tree in trees {
                Root::expect("bytes of a tree", tree.bytes, expected)?;
            }
        }
        Ok(())
    }

    fn outcome(&self, report: Report, note: Option<String>) -> Outcome<'static> {
        let settings = &self.settings;
        let latency: Vec<(&str, &fathom_stats::Histogram)> = KINDS
            .iter()
            .enumerate()
            .map(|(kind, name)| (*name, report.meter.of(kind)))
            .collect();
        let values = definition::values(settings, &report.phases, &latency);
        let moved = report.moved;
        let calls = report.meter.count(READ) + report.meter.count(WRITE);
        let (policy, durable) = settings.policy();
        let mut notes = vec![self.set_note()];
        notes.extend(note);
        Outcome {
            values,
            io_kinds: &[READ, WRITE],
            traffic: Traffic {
                read_bytes: moved.read_bytes,
                written_bytes: moved.written_bytes,
                calls,
                planned_calls: moved.planned_calls,
                block_bytes: None,
            },
            window: report.window,
            threads: 1,
            file: FileEvidence {
                size_bytes: total_bytes(&self.set.unpatched).saturating_mul(settings.trees),
                ..FileEvidence::default()
            },
            cache: Some(CacheEvidence {
                resident_bytes_before: report.resident,
                resident_bytes_after: None,
                asked: match settings.phase {
                    CompilebenchPhase::Read | CompilebenchPhase::ReadCompiled => "cold",
                    _ => "any",
                }
                .to_owned(),
            }),
            counts: vec![
                ("trees", settings.trees),
                ("trees-measured", settings.trees_of(settings.phase)),
                ("files-measured", moved.files),
                ("files-of-a-tree", self.set.unpatched.len() as u64),
            ],
            contents: "one letter over and over, as the original",
            sample: &[b'a'; 64 << 10],
            durability: DurabilityEvidence {
                policy: policy.to_owned(),
                durable,
                syncs: report.meter.count(SYNC),
                final_flush_ns: None,
            },
            host: report.host,
            cpu: report.cpu,
            series: Default::default(),
            notes,
            meter: report.meter,
        }
    }

    fn set_note(&self) -> String {
        match (&self.settings.dataset, &self.settings.dataset_sha256) {
            (Some(path), Some(hash)) => format!("lists in {path}, sha256 {hash}"),
            (Some(path), None) => format!("lists in {path}"),
            (None, _) => format!("built-in tree, version {}", definition::VERSION),
        }
    }
}

/// Starts the one thread and tells of its progress.
fn conduct(cx: &Context<'_>, conductor: &Conductor<'_>, done: &AtomicU64, files: u64) {
    if !conductor.release() {
        return;
    }
    while !conductor.wait(TELL) {
        (cx.progress)(Progress {
            phase: "files".to_owned(),
            fraction: Some(done.load(Ordering::Relaxed) as f64 / files.max(1) as f64),
            ..Progress::default()
        });
    }
}

//! Test `tiobench`: threads that each write or read a file of their own in blocks, synchronously.
//!
//! A phase starts a thread for each file. When all are up they are released together; each opens
//! its file, sets its size (sparse), moves its blocks, does an `fsync` and closes. The clock runs
//! from the first thread that starts to the last one that ends. The files stay until the end of the
//! trial. The phase of the writes lays out what the chosen phase works on.

mod phase;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Nanos, seed_for};
use fathom_model::definition::tiobench::{
    self as definition, BLOCK, TiobenchMeasured, TiobenchOperation, TiobenchSettings,
};
use fathom_model::{
    CacheEvidence, Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, HostEvidence,
    Metric, Prepared, Progress, Test, TestError, TestInfo, Trial, Unmet,
};

use self::phase::{KINDS, Worked, Worker, kind_of, name_of};
use crate::classic::{
    Conductor, CpuTime, Meter, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_threads,
    unmet_of,
};
use crate::common::{CaseDir, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct TiobenchTest;

impl TiobenchTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for TiobenchTest {
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

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        let operation = TiobenchSettings::from_case(case).map(|settings| settings.operation);
        definition::metrics(operation.unwrap_or(TiobenchOperation::Write))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match TiobenchSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        unmet.extend(needs(host, settings.space(), settings.inodes()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(TiobenchSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        Ok(Box::new(PreparedTiobench {
            settings: TiobenchSettings::from_case(case)?,
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedTiobench {
    settings: TiobenchSettings,
    directory: CaseDir,
}

impl Prepared for PreparedTiobench {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        // The files, as the original removes them at its end only.
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

/// What a phase gave.
struct Phase {
    operation: TiobenchOperation,
    elapsed: Nanos,
    meter: Meter,
    syncs: u64,
    last_flush: Nanos,
    cpu: CpuTime,
    host: Option<HostEvidence>,
    note: Option<String>,
}

impl PreparedTiobench {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the threads");
        watch.check_now()?;
        let root = Root::open(self.directory.path(), self.settings.space())?;
        let mut phases = Vec::new();
        let mut resident = None;
        for operation in self.settings.operation.chain() {
            if *operation == self.settings.operation {
                resident = self.resident(&root);
            }
            phases.push(self.phase(*operation, &root, watch, cx)?);
        }
        let file = self.look_at_files(&root)?;
        Ok(self.outcome(phases, file, resident)?.into_trial(cx))
    }

    fn phase(
        &self,
        operation: TiobenchOperation,
        root: &Root,
        watch: Watch<'_>,
        cx: &Context<'_>,
    ) -> Result<Phase, TestError> {
        let done = AtomicU64::new(0);
        let seed = seed_for(cx.seed, operation.name());
        let work = |seat: &Seat<'_>| {
            Worker::new(&self.settings, operation, root, watch, &done).run(seat, seed)
        };
        let is_chosen = operation == self.settings.operation;
        let witness = is_chosen.then(|| cx.observer.begin());
        let calls = self.settings.calls_in_all(operation);
        let crew = run_threads(cx, self.settings.threads, work, |conductor| {
            conduct(cx, conductor, &done, operation, calls);
            witness.map(|witness| witness.end())
        })?;
        let all: &[Worked] = &crew.results;
        let began = all.iter().map(|one| one.began).min().unwrap_or_default();
        let ended = all.iter().map(|one| one.ended).max().unwrap_or_default();
        let mut meter = Meter::new(KINDS);
        all.iter().for_each(|one| meter.merge(&one.meter));
        Root::expect("calls", meter.count(kind_of(operation)), calls)?;
        Ok(Phase {
            operation,
            elapsed: ended.since(began),
            syncs: meter.count(phase::FSYNC),
            last_flush: all.iter().map(|one| one.flush).max().unwrap_or_default(),
            meter,
            cpu: crew.cpu,
            host: crew.conducted,
            note: crew.note,
        })
    }

    /// Bytes of all files in the page cache.
    fn resident(&self, root: &Root) -> Option<u64> {
        let mut sum = 0;
        for index in 0..self.settings.threads {
            let look = |path: &Path| fathom_io::residency(path, None).ok();
            // Before the writes there are none.
            if let Some(found) = root.look(&name_of(index), look).ok()? {
                sum += found?.resident.as_u64();
            }
        }
        Some(sum)
    }

    /// Sizes of the files, which must be whole, and what of them was never written.
    fn look_at_files(&self, root: &Root) -> Result<FileEvidence, TestError> {
        let mut all = FileEvidence::default();
        let (mut unwritten, mut extents) = (Some(0), Some(0));
        for index in 0..self.settings.threads {
            let name = name_of(index);
            let look = |path: &Path| (std::fs::metadata(path), fathom_io::extents(path).ok());
            let (size, map) = root.look(&name, look)?.unzip();
            let size = size
                .transpose()
                .map_err(|error| TestError::io("looking at", root.path_of(&name), error))?
                .map_or(0, |meta| meta.len());
            Root::expect("size of a file", size, self.settings.size.as_u64())?;
            all.size_bytes += size;
            let map = map.flatten();
            let add = |sum: Option<u64>, one: Option<u64>| Some(sum? + one?);
            let holes = map.as_ref().and_then(|map| map.unwritten);
            unwritten = add(unwritten, holes.map(|bytes| bytes.as_u64()));
            extents = add(extents, map.and_then(|map| map.extents));
        }
        all.unwritten_bytes = unwritten;
        all.extents = extents;
        Ok(all)
    }

    fn outcome(
        &self,
        phases: Vec<Phase>,
        file: FileEvidence,
        resident: Option<u64>,
    ) -> Result<Outcome<'static>, TestError> {
        let settings = &self.settings;
        let measured: Vec<TiobenchMeasured<'_>> = phases
            .iter()
            .map(|phase| TiobenchMeasured {
                operation: phase.operation,
                elapsed: phase.elapsed,
                latency: Some(phase.meter.of(kind_of(phase.operation))),
            })
            .collect();
        let values = definition::values(settings, &measured);
        let mut meter = Meter::new(KINDS);
        phases.iter().for_each(|phase| meter.merge(&phase.meter));
        let mut notes: Vec<String> = phases
            .iter()
            .find_map(|p| p.note.clone())
            .into_iter()
            .collect();
        if settings.operation.is_random() {
            notes.push(format!(
                "{} random calls a thread were done; pts-bandwidth counts {} a thread instead",
                settings.random_operations, settings.size
            ));
        }
        let chosen = phases.into_iter().find(|phase| phase.host.is_some());
        let Some((chosen, host)) = chosen.and_then(|mut chosen| {
            let host = chosen.host.take()?;
            Some((chosen, host))
        }) else {
            return Err(TestError::Cancelled);
        };
        let calls = chosen.meter.count(kind_of(settings.operation));
        let bytes = calls.saturating_mul(BLOCK);
        let reads = settings.operation.reads();
        let (policy, durable) = settings.policy();
        Ok(Outcome {
            values,
            io_kinds: phase::io_kinds(settings.operation),
            traffic: Traffic {
                read_bytes: if reads { bytes } else { 0 },
                written_bytes: if reads { 0 } else { bytes },
                calls,
                planned_calls: settings.calls_in_all(settings.operation),
                block_bytes: Some(BLOCK),
            },
            window: chosen.elapsed,
            threads: settings.threads,
            file,
            cache: Some(CacheEvidence {
                resident_bytes_before: resident,
                resident_bytes_after: None,
                // Reads follow the writes of what they read, as the original means it.
                asked: if reads { "warm" } else { "any" }.to_owned(),
            }),
            counts: vec![("threads", u64::from(settings.threads))],
            contents: "zeros, as the original",
            sample: &[0; 64 << 10],
            durability: DurabilityEvidence {
                policy,
                durable,
                syncs: chosen.syncs,
                final_flush_ns: Some(chosen.last_flush.as_u64()),
            },
            host,
            cpu: chosen.cpu,
            series: Default::default(),
            notes,
            meter,
        })
    }
}

/// Starts the threads and tells of their progress.
fn conduct(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    done: &AtomicU64,
    operation: TiobenchOperation,
    calls: u64,
) {
    if !conductor.release() {
        return;
    }
    while !conductor.wait(TELL) {
        (cx.progress)(Progress {
            phase: operation.to_string(),
            fraction: Some(done.load(Ordering::Relaxed) as f64 / calls.max(1) as f64),
            ..Progress::default()
        });
    }
}

//! Test `iozone`: one file written, rewritten and read in records, in order or at random.
//!
//! Made after the system calls of the program, seen from outside. Two syncs of everything come
//! first. Each operation opens the file anew and, in order, does an `fsync` before its clock starts;
//! reads in order read the first record once beforehand. With `fsync=yes` one more is inside the
//! timing and one follows it. The measured window, with the watch over the machine, is the chosen
//! operation's alone.

mod phases;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Nanos;
use fathom_model::definition::iozone::{
    self as definition, IozoneMeasured, IozoneOperation, IozoneSettings,
};
use fathom_model::{
    Case, Context, DurabilityEvidence, Estimate, Host, Metric, Prepared, Progress, Test, TestError,
    TestInfo, Trial, Unmet,
};

use self::phases::{KINDS, Phases, Report, kind_of};
use crate::classic::{
    Conductor, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_crew, unmet_of,
};
use crate::common::{CaseDir, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct IozoneTest;

impl IozoneTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for IozoneTest {
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
        let operation = IozoneSettings::from_case(case).map(|settings| settings.operation);
        definition::metrics(operation.unwrap_or(IozoneOperation::Write))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match IozoneSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        unmet.extend(needs(host, settings.space(), settings.inodes()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(IozoneSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        Ok(Box::new(PreparedIozone {
            settings: IozoneSettings::from_case(case)?,
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedIozone {
    settings: IozoneSettings,
    directory: CaseDir,
}

impl Prepared for PreparedIozone {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        // Empty but for a trial that failed.
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

impl PreparedIozone {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the operations on the file");
        watch.check_now()?;
        let root = Root::open(self.directory.path(), self.settings.space())?;
        let (done, seed, observer) = (AtomicU64::new(0), cx.seed, cx.observer);
        let work = |seat: &Seat<'_>| {
            seat.start()?;
            Phases::new(self.settings, &root, watch, &done).run(seed, observer)
        };
        let crew = run_crew(cx, 1, work, |conductor| {
            conduct(cx, conductor, &done, &self.settings);
        })?;
        let Some(report) = crew.results.into_iter().next() else {
            return Err(TestError::Cancelled);
        };
        Ok(self.outcome(report, crew.note)?.into_trial(cx))
    }

    fn outcome(&self, report: Report, note: Option<String>) -> Result<Outcome<'static>, TestError> {
        let settings = &self.settings;
        let measured: Vec<IozoneMeasured<'_>> = report
            .elapsed
            .iter()
            .map(|(operation, elapsed)| IozoneMeasured {
                operation: *operation,
                kib_per_second: definition::kib_per_second(settings.size, *elapsed),
                latency: Some(report.meter.of(kind_of(*operation))),
            })
            .collect();
        let values = definition::values(settings, &measured);
        let Some(window) = report.window else {
            return Err(TestError::Check {
                check: "the measured operation",
                found: "it was never carried out".to_owned(),
            });
        };
        let bytes = settings.size.as_u64();
        let reads = settings.operation.reads();
        let (policy, durable) = settings.policy();
        Ok(Outcome {
            values,
            io_kinds: io_kinds(settings.operation),
            traffic: Traffic {
                read_bytes: if reads { bytes } else { 0 },
                written_bytes: if reads { 0 } else { bytes },
                calls: window.calls,
                planned_calls: settings.records(),
                block_bytes: Some(settings.record.as_u64()),
            },
            window: window.elapsed,
            threads: 1,
            file: report.file,
            cache: Some(window.cache),
            counts: Vec::new(),
            contents: "8 bytes of _ a page of 4 KiB, else zeros, as the original",
            sample: phases::sample(),
            durability: DurabilityEvidence {
                policy,
                durable,
                syncs: u64::from(settings.fsync),
                final_flush_ns: window.flush.map(Nanos::as_u64),
            },
            host: window.host,
            cpu: window.cpu,
            series: Default::default(),
            notes: note.into_iter().collect(),
            meter: report.meter,
        })
    }
}

/// The kinds of the chosen operation, for the account of its I/O.
fn io_kinds(operation: IozoneOperation) -> &'static [usize] {
    const ONE: [[usize; 1]; 6] = [[0], [1], [2], [3], [4], [5]];
    &ONE[kind_of(operation)]
}

/// Starts the one thread and tells of its progress.
fn conduct(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    done: &AtomicU64,
    settings: &IozoneSettings,
) {
    let chain = settings.operation.chain();
    let records = settings.records().max(1);
    if !conductor.release() {
        return;
    }
    while !conductor.wait(TELL) {
        let done = done.load(Ordering::Relaxed);
        let at = usize::try_from(done / records).unwrap_or(usize::MAX);
        let phase = chain.get(at).or(chain.last());
        (cx.progress)(Progress {
            phase: phase.map_or_else(String::new, ToString::to_string),
            fraction: Some(done as f64 / (records as f64 * chain.len() as f64)),
            ..Progress::default()
        });
    }
}

const _: () = assert!(KINDS.len() == 7);

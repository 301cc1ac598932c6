//! Test `fs-mark`: files of one size, created, written, made durable and closed one after another.
//!
//! Each thread does what a process of the original does, call by call: `mkdir` of the target
//! directory (which exists but for the first time), `open`, `write` in pieces, `fsync`, `close`. The
//! clock covers the whole loop with the making of names; the files are removed afterwards.

mod child;
mod names;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Nanos;
use fathom_model::definition::fs_mark::{self as definition, FsMarkMeasured, FsMarkSettings};
use fathom_model::{
    Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, HostEvidence, Metric,
    Prepared, Progress, Test, TestError, TestInfo, Trial, Unmet,
};

use self::child::{Child, ChildReport, FILE, FSYNC, KINDS, WRITE};
use crate::classic::{
    Conductor, Meter, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_crew, unmet_of,
};
use crate::common::{CaseDir, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct FsMarkTest;

impl FsMarkTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for FsMarkTest {
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

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match FsMarkSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        unmet.extend(needs(host, settings.space(), settings.inodes()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(FsMarkSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        Ok(Box::new(PreparedFsMark {
            settings: FsMarkSettings::from_case(case)?,
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedFsMark {
    settings: FsMarkSettings,
    directory: CaseDir,
}

impl Prepared for PreparedFsMark {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        // Directories stay, and after an error files.
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

impl PreparedFsMark {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the creation of files");
        watch.check_now()?;
        let root = Root::open(self.directory.path(), self.settings.space())?;
        let (done, seed) = (AtomicU64::new(0), cx.seed);
        let work =
            |seat: &Seat<'_>| Child::new(&self.settings, &root, watch, seed, &done).run(seat);
        let crew = run_crew(cx, self.settings.threads, work, |conductor| {
            conduct(cx, conductor, &done, self.settings.files_in_all())
        })?;
        let mut meter = Meter::new(KINDS);
        let mut all = ChildReport::default();
        for report in &crew.results {
            meter.merge(&report.meter);
            all.absorb(report);
        }
        Root::expect(
            "files created",
            meter.count(FILE),
            self.settings.files_in_all(),
        )?;
        let (host, window) = crew.conducted;
        let values = definition::values(&FsMarkMeasured {
            files_per_second: all.files_per_second,
            app_overhead: Some(all.overhead),
            file: Some(meter.of(FILE)),
            fsync: Some(meter.of(FSYNC)),
        });
        let (policy, durable) = self.settings.policy();
        let outcome = Outcome {
            values,
            io_kinds: &[WRITE],
            traffic: self.traffic(&all),
            window,
            threads: self.settings.threads,
            file: FileEvidence {
                size_bytes: all.written_bytes,
                ..FileEvidence::default()
            },
            cache: None,
            counts: vec![("directories-used", all.directories_used)],
            contents: "zeros, as the original",
            sample: &[0; 64 << 10],
            durability: DurabilityEvidence {
                policy,
                durable,
                syncs: all.syncs,
                final_flush_ns: None,
            },
            host,
            cpu: crew.cpu,
            series: Default::default(),
            notes: crew.note.into_iter().collect(),
            meter,
        };
        Ok(outcome.into_trial(cx))
    }

    fn traffic(&self, all: &ChildReport) -> Traffic {
        let each = self.settings.writes_per_file();
        let is_even = self
            .settings
            .size
            .as_u64()
            .is_multiple_of(self.settings.write_size.as_u64());
        Traffic {
            read_bytes: 0,
            written_bytes: all.written_bytes,
            calls: all.writes,
            planned_calls: self.settings.files_in_all().saturating_mul(each),
            block_bytes: is_even.then_some(self.settings.write_size.as_u64()),
        }
    }
}

/// Starts the children and tells of their progress until the last one's clock has stopped.
fn conduct(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    done: &AtomicU64,
    files: u64,
) -> (HostEvidence, Nanos) {
    let witness = cx.observer.begin();
    let began = cx.clock.now();
    if conductor.release() {
        while !conductor.wait(TELL) {
            (cx.progress)(Progress {
                phase: "create files".to_owned(),
                fraction: Some(done.load(Ordering::Relaxed) as f64 / files.max(1) as f64),
                ..Progress::default()
            });
        }
    }
    let window = cx.clock.now().since(began);
    (witness.end(), window)
}

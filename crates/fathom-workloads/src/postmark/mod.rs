//! Test `postmark`: small files created, read, appended to and deleted, as a mail server would.
//!
//! The operations come from [`fathom_model::definition::postmark`], bit for bit the original's; here
//! they are carried out with the calls the original makes through the C library's buffered files.
//! After the run the counters are held against the plan and against what the kernel moved.

mod player;
mod stdio;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Bytes, Nanos};
use fathom_model::definition::postmark::{
    self as definition, PostmarkMeasured, PostmarkPlan, PostmarkSettings,
};
use fathom_model::{
    Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, Metric, Prepared, Progress,
    Test, TestError, TestInfo, Trial, Unmet,
};

use self::player::{
    APPEND, CREATE, DELETE, FINAL_DELETE, INITIAL_CREATE, Player, READ, Report, TRANSACTION,
};
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
pub struct PostmarkTest;

impl PostmarkTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for PostmarkTest {
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
        let settings = match PostmarkSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        unmet.extend(needs(host, settings.space(), settings.inodes()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        Ok(PostmarkSettings::from_case(case)?.estimate(host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = PostmarkSettings::from_case(case)?;
        Ok(Box::new(PreparedPostmark {
            settings,
            plan: settings.plan(),
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedPostmark {
    settings: PostmarkSettings,
    /// What a run should do, where it can be known before.
    plan: Option<PostmarkPlan>,
    directory: CaseDir,
}

impl Prepared for PreparedPostmark {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        if trial.is_ok() {
            self.expect_empty()?;
        }
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

impl PreparedPostmark {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the transactions");
        watch.check_now()?;
        let needed = match self.plan {
            Some(plan) => Bytes::new(plan.peak_bytes),
            None => self.settings.space(),
        };
        let root = Root::open(self.directory.path(), needed)?;
        let (done, observer) = (AtomicU64::new(0), cx.observer);
        let work = |seat: &Seat<'_>| {
            seat.start()?;
            Player::new(self.settings, &root, watch, &done).run(observer)
        };
        let transactions = self.settings.transactions;
        let crew = run_crew(cx, 1, work, |conductor| {
            conduct(cx, conductor, &done, transactions);
        })?;
        let Some(report) = crew.results.into_iter().next() else {
            return Err(TestError::Cancelled);
        };
        self.verify(&report)?;
        Ok(self.outcome(cx, report, crew.note))
    }

    /// Holds what was done against the plan.
    fn verify(&self, report: &Report) -> Result<(), TestError> {
        let plan = match self.plan {
            // The two highest marks are counted by the plan alone.
            Some(plan) => PostmarkPlan {
                peak_bytes: 0,
                peak_files: 0,
                ..plan
            },
            None => report.drawn,
        };
        Root::expect(
            "operations drawn as planned",
            u64::from(report.drawn == plan),
            1,
        )?;
        let count = |kinds: &[usize]| kinds.iter().map(|kind| report.meter.count(*kind)).sum();
        let expect = Root::expect;
        expect("transactions", count(&[TRANSACTION]), plan.transactions)?;
        expect(
            "files created",
            count(&[INITIAL_CREATE, CREATE]),
            plan.created,
        )?;
        expect("files read", count(&[READ]), plan.read)?;
        expect("files appended to", count(&[APPEND]), plan.appended)?;
        expect("files deleted", count(&[DELETE]), plan.deleted_mixed)?;
        expect(
            "files deleted at the end",
            count(&[FINAL_DELETE]),
            plan.deleted_alone,
        )?;
        expect("bytes read", report.moved.read_bytes, plan.read_bytes)?;
        expect(
            "bytes written",
            report.moved.written_bytes,
            plan.written_bytes(),
        )
    }

    fn expect_empty(&self) -> Result<(), TestError> {
        let path = self.directory.path();
        let entries = std::fs::read_dir(path)
            .map_err(|error| TestError::io("listing", path, error))?
            .count();
        Root::expect("files left at the end", entries as u64, 0)
    }

    fn outcome(&self, cx: &Context<'_>, report: Report, note: Option<String>) -> Trial {
        let drawn = report.drawn;
        let moved = report.moved_mixed;
        let meter = report.meter;
        let values = definition::values(&PostmarkMeasured {
            transactions: drawn.transactions,
            elapsed: Some(report.elapsed),
            whole_seconds: report.whole_seconds,
            read_bytes: Some(moved.read_bytes),
            written_bytes: Some(moved.written_bytes),
            latency: &[
                ("transaction", meter.of(TRANSACTION)),
                ("create", meter.of(CREATE)),
                ("read", meter.of(READ)),
                ("append", meter.of(APPEND)),
                ("delete", meter.of(DELETE)),
            ],
        });
        let (created, read, appended) =
            (meter.count(CREATE), meter.count(READ), meter.count(APPEND));
        let mixed_created = drawn.created - u64::from(self.settings.files);
        let outcome = Outcome {
            values,
            io_kinds: &[CREATE, READ, APPEND],
            traffic: Traffic {
                read_bytes: moved.read_bytes,
                written_bytes: moved.written_bytes,
                calls: created + read + appended,
                planned_calls: mixed_created + drawn.read + drawn.appended,
                block_bytes: None,
            },
            window: report.elapsed,
            threads: 1,
            file: FileEvidence {
                size_bytes: self.plan.map_or(0, |plan| plan.peak_bytes),
                ..FileEvidence::default()
            },
            cache: None,
            counts: vec![
                ("created", drawn.created),
                ("deleted", drawn.deleted()),
                ("deleted-alone", drawn.deleted_alone),
            ],
            contents: "printable characters drawn at random, as the original",
            sample: &report.sample,
            durability: DurabilityEvidence {
                policy: "none".to_owned(),
                durable: false,
                syncs: 0,
                final_flush_ns: None,
            },
            host: report.host,
            cpu: report.cpu,
            series: Default::default(),
            notes: note.into_iter().collect(),
            meter,
        };
        outcome.into_trial(cx)
    }
}

/// Starts the one thread and tells of its progress.
fn conduct(cx: &Context<'_>, conductor: &Conductor<'_>, done: &AtomicU64, transactions: u64) {
    if !conductor.release() {
        return;
    }
    while !conductor.wait(TELL) {
        let done = done.load(Ordering::Relaxed);
        (cx.progress)(Progress {
            phase: "transactions".to_owned(),
            fraction: Some(done as f64 / transactions.max(1) as f64),
            ..Progress::default()
        });
    }
}

//! Test `blogbench`: a blog server's files, by 3 writers, 1 rewriter, 5 commenters and 100 readers.
//!
//! The rules are those of versions 1.0 and 1.1 of the original, whose readers read 64 KiB at a time
//! (1.2 reads 8 bytes). Two things differ: counters are never lost, and each thread has numbers and
//! a buffer of its own, where the original's share a generator behind a lock and one buffer. The
//! scores are taken when the last sample ends; the threads then end what they are at.
//!
//! How many blogs there will be nobody can know, so that a plan allows for a number of them only;
//! the bound of what a run takes is the target's free space but for a reserve: when that is reached
//! the run ends with an error.

mod blogger;
mod shared;
#[cfg(test)]
mod tests;

use fathom_base::{Nanos, seed_for};
use fathom_model::definition::blogbench::{
    self as definition, BlogbenchMeasured, BlogbenchMetric, BlogbenchSettings,
};
use fathom_model::{
    Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, HostEvidence, Metric,
    Prepared, Progress, Series, Test, TestError, TestInfo, Trial, Unmet,
};

use self::blogger::{Blogger, IO_KINDS, KINDS, Role, Worked};
use self::shared::{Counted, Counts, NAMES, Shared};
use crate::classic::{
    Conductor, CpuTime, Meter, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_threads,
    unmet_of,
};
use crate::common::{CaseDir, Guess, RESERVE, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";
/// How often progress is told.
const TELL: Nanos = Nanos::from_millis(250);

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct BlogbenchTest;

impl BlogbenchTest {
    /// The test.
    pub fn new() -> Self {
        Self
    }
}

impl Test for BlogbenchTest {
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
        let metric = BlogbenchSettings::from_case(case).map(|settings| settings.metric);
        definition::metrics(metric.unwrap_or(BlogbenchMetric::Reads))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match BlogbenchSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        unmet.extend(needs(host, settings.space(), settings.inodes()));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = BlogbenchSettings::from_case(case)?;
        // What is written waits in memory for the drive, and is removed after.
        let guess = Guess::of(&host.target);
        Ok(Estimate {
            trial_time: settings
                .time()
                .plus(Nanos::from_secs(1))
                .plus(guess.time_to_write(settings.space())),
            prepare_time: Nanos::from_millis(10),
            trial_bytes: settings.space(),
            space: settings.space(),
            inodes: settings.inodes(),
            ..Estimate::default()
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        Ok(Box::new(PreparedBlogbench {
            settings: BlogbenchSettings::from_case(case)?,
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedBlogbench {
    settings: BlogbenchSettings,
    directory: CaseDir,
}

impl Prepared for PreparedBlogbench {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        // All blogs, which the original leaves.
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

/// What the samples gave.
struct Sampled {
    /// Counters when the last sample ended.
    last: Counts,
    /// Each sample's.
    samples: Vec<Counts>,
    elapsed: Nanos,
    /// To the end of the last thread.
    window: Nanos,
    host: HostEvidence,
    /// The run was ended because nothing but the reserve was left.
    is_full: bool,
}

impl PreparedBlogbench {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the blogs");
        watch.check_now()?;
        let root = Root::open(self.directory.path(), self.settings.space())?;
        rustix::fs::sync();
        let (shared, clock) = (Shared::default(), cx.clock);
        let seed = seed_for(cx.seed, "blogbench");
        let work = |seat: &Seat<'_>| {
            let role = Role::of(seat.index, &self.settings);
            let seed = seed_for(seed, &format!("thread {}", seat.index));
            Blogger::new(role, &root, watch, clock, &shared, seed).run(seat)
        };
        let crew = run_threads(cx, self.settings.threads(), work, |conductor| {
            conduct(cx, conductor, &shared, &self.settings, &root)
        })?;
        if crew.conducted.is_full {
            return Err(root.error("writing blogs in", c".", rustix::io::Errno::NOSPC));
        }
        let mut all = Worked::default();
        crew.results.iter().for_each(|one| all.absorb(one));
        Ok(self
            .outcome(all, crew.conducted, &shared, crew.cpu)
            .into_trial(cx))
    }

    fn outcome(
        &self,
        all: Worked,
        sampled: Sampled,
        shared: &Shared,
        cpu: CpuTime,
    ) -> Outcome<'static> {
        let score = |what: Counted| sampled.last[what as usize];
        let (reads, writes) = (score(Counted::BlogsRead), score(Counted::BlogsWritten));
        let values = definition::values(&BlogbenchMeasured {
            reads,
            writes,
            elapsed: sampled.elapsed,
            latency: KINDS
                .iter()
                .enumerate()
                .map(|(kind, name)| (*name, all.meter.of(kind)))
                .collect(),
        });
        // The files of all kinds, by the counters that all threads share.
        let files: u64 = shared.counts()[2..].iter().sum();
        let mut counts: Vec<(&str, u64)> = NAMES.into_iter().zip(sampled.last).collect();
        counts.extend([
            ("blogs-begun", shared.blogs()),
            ("missing", all.missing),
            ("collisions", all.collisions),
            ("pauses", all.pauses),
            ("samples", sampled.samples.len() as u64),
        ]);
        Outcome {
            values,
            io_kinds: IO_KINDS,
            traffic: Traffic {
                read_bytes: all.read_bytes,
                written_bytes: all.written_bytes,
                calls: all.calls,
                planned_calls: files + all.collisions,
                block_bytes: None,
            },
            window: sampled.window,
            threads: self.settings.threads(),
            file: FileEvidence {
                size_bytes: all.written_bytes,
                ..FileEvidence::default()
            },
            cache: None,
            counts,
            contents: "zeros, as the original",
            sample: &[0; 64 << 10],
            durability: DurabilityEvidence {
                policy: "none".to_owned(),
                durable: false,
                syncs: 0,
                final_flush_ns: None,
            },
            host: sampled.host,
            cpu,
            series: self.series(&sampled.samples),
            notes: Vec::new(),
            meter: all.meter,
        }
    }

    /// The original's table, a series for each column.
    fn series(&self, samples: &[Counts]) -> std::collections::BTreeMap<String, Series> {
        let column = |(index, name): (usize, &&str)| {
            let series = Series {
                unit: "in a sample".to_owned(),
                start_ns: 0,
                step_ns: self.settings.interval.as_u64(),
                values: samples.iter().map(|counts| counts[index] as f64).collect(),
            };
            ((*name).to_owned(), series)
        };
        NAMES.iter().enumerate().map(column).collect()
    }
}

/// Starts the threads, looks at the counters at the end of each sample, and ends the run.
fn conduct(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    shared: &Shared,
    settings: &BlogbenchSettings,
    root: &Root,
) -> Sampled {
    let witness = cx.observer.begin();
    let mut sampled = (Counts::default(), Vec::new());
    let started = cx.clock.now();
    let mut elapsed = Nanos::default();
    let mut is_full = false;
    if conductor.release() {
        for iteration in 1..=settings.iterations {
            let due = Nanos::new(settings.interval.as_u64().saturating_mul(iteration));
            let ended = wait_until(cx, conductor, started, due, settings, root);
            is_full = ended == Some(Ended::Full);
            if ended.is_some() {
                break;
            }
            let now = shared.counts();
            elapsed = cx.clock.now().since(started);
            let mut sample = now;
            for (one, before) in sample.iter_mut().zip(sampled.0) {
                *one = one.saturating_sub(before);
            }
            sampled.1.push(sample);
            sampled.0 = now;
        }
        shared.end();
        while !conductor.wait(TELL) {}
    }
    Sampled {
        last: sampled.0,
        samples: sampled.1,
        elapsed,
        window: cx.clock.now().since(started),
        host: witness.end(),
        is_full,
    }
}

/// Why a run ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The threads failed: nobody told them to end.
    Failed,
    /// Nothing but the reserve is left of the target's space.
    Full,
}

/// Waits for the end of a sample; gives why the run ends before.
fn wait_until(
    cx: &Context<'_>,
    conductor: &Conductor<'_>,
    started: Nanos,
    due: Nanos,
    settings: &BlogbenchSettings,
    root: &Root,
) -> Option<Ended> {
    loop {
        let elapsed = cx.clock.now().since(started);
        if elapsed >= due {
            return None;
        }
        if conductor.wait(due.since(elapsed).min(TELL)) {
            return Some(Ended::Failed);
        }
        if root.available().is_some_and(|left| left < RESERVE) {
            return Some(Ended::Full);
        }
        (cx.progress)(Progress {
            phase: "read and write blogs".to_owned(),
            fraction: Some(elapsed.as_secs_f64() / settings.time().as_secs_f64()),
            ..Progress::default()
        });
    }
}

impl Default for Worked {
    fn default() -> Self {
        Self {
            meter: Meter::new(KINDS),
            read_bytes: 0,
            written_bytes: 0,
            calls: 0,
            missing: 0,
            collisions: 0,
            pauses: 0,
        }
    }
}

impl Worked {
    fn absorb(&mut self, other: &Self) {
        self.meter.merge(&other.meter);
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.calls += other.calls;
        self.missing += other.missing;
        self.collisions += other.collisions;
        self.pauses += other.pauses;
    }
}

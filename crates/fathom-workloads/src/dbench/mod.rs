//! Test `dbench`: a file server's work, replayed from a load file by 1 to 1024 clients.
//!
//! Each client is a thread with a tree and a table of open files of its own, and replays the load
//! file with the calls of the original, in its order: names are resolved first, which costs a look
//! through the directory when they are not there. Lines are read anew in every pass, and written data
//! is zeroed anew, as the original does; on a file system in memory both are part of its figure.

mod client;
mod sampler;
mod shared;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use fathom_model::definition::dbench::{
    self as definition, DbenchMeasured, DbenchSettings, LoadFacts, LoadFile, LoadOp,
};
use fathom_model::{
    Case, Context, DurabilityEvidence, Estimate, FileEvidence, Host, Metric, OptionError, Prepared,
    Test, TestError, TestInfo, Trial, Unmet,
};

use self::client::{Client, Tally};
use self::sampler::{Sampled, Sampler};
use self::shared::Shared;
use crate::classic::{
    CpuTime, Outcome, Root, Seat, Traffic, Watch, needs, renew, run_crew, unmet_of,
};
use crate::common::{CaseDir, native};

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";

/// The test; see the module's description.
#[derive(Debug, Default)]
pub struct DbenchTest {
    /// Facts of the built-in load file, once they are needed.
    built_in: OnceLock<LoadFacts>,
}

impl DbenchTest {
    /// The test.
    pub fn new() -> Self {
        Self::default()
    }

    fn facts(&self, settings: &DbenchSettings) -> Result<LoadFacts, OptionError> {
        if settings.loadfile.is_some() {
            return settings.facts();
        }
        if let Some(known) = self.built_in.get() {
            return Ok(known.clone());
        }
        let facts = settings.facts()?;
        Ok(self.built_in.get_or_init(|| facts).clone())
    }
}

impl Test for DbenchTest {
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

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = DbenchSettings::from_case(case);
        let known = settings.and_then(|settings| Ok((self.facts(&settings)?, settings)));
        let (facts, settings) = match known {
            Ok(known) => known,
            Err(error) => return unmet_of(&error),
        };
        let mut unmet = settings.conflicts();
        let inodes = settings.inodes(&facts);
        unmet.extend(needs(host, settings.space(&facts), inodes));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = DbenchSettings::from_case(case)?;
        let facts = self.facts(&settings)?;
        Ok(settings.estimate(&facts, host))
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = DbenchSettings::from_case(case)?;
        let load = settings.load()?;
        Ok(Box::new(PreparedDbench {
            settings,
            load,
            directory: CaseDir::create(case, cx)?,
        }))
    }
}

#[derive(Debug)]
struct PreparedDbench {
    settings: DbenchSettings,
    load: LoadFile,
    directory: CaseDir,
}

impl Prepared for PreparedDbench {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let trial = self.measure(cx);
        renew(self.directory.path())?;
        trial
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.directory.remove()
    }
}

impl PreparedDbench {
    fn measure(&self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let watch = Watch::new(cx, "the replay");
        watch.check_now()?;
        let space = self.settings.space(self.load.facts());
        let root = Root::open(self.directory.path(), space)?;
        let shared = Shared::new(self.settings.clients);
        let work = |seat: &Seat<'_>| {
            Client::new(&self.settings, &root, &self.load, watch, &shared, seat).run()
        };
        let sampler = Sampler::new(cx, &shared, &self.settings);
        let crew = run_crew(cx, self.settings.clients, work, |conductor| {
            sampler.run(conductor)
        })?;
        let mut tallies = crew.results.into_iter();
        let Some(mut all) = tallies.next() else {
            return Err(TestError::Cancelled);
        };
        tallies.for_each(|tally| all.absorb(tally));
        let outcome = self.outcome(all, crew.conducted, crew.cpu, crew.note)?;
        Ok(outcome.into_trial(cx))
    }

    fn outcome(
        &self,
        all: Tally,
        sampled: Sampled,
        cpu: CpuTime,
        note: Option<String>,
    ) -> Result<Outcome<'static>, TestError> {
        let (Some(mb_per_second), Some(host)) = (sampled.mb_per_second, sampled.host) else {
            return Err(TestError::Check {
                check: "a sample within the time",
                found: "there was none; the machine is too busy, or the time too short".to_owned(),
            });
        };
        let count: u64 = all.meter.counts().map(|(_, count)| count).sum();
        let values = definition::values(&DbenchMeasured {
            mb_per_second,
            max_latency: Some(sampled.max_latency),
            operations: Some((count, sampled.window)),
        });
        let (policy, durable) = self.settings.policy();
        let mut notes = vec![self.load_note()];
        notes.extend(note);
        notes.extend(all.first_unexpected.map(|first| {
            let others = all.unexpected - 1;
            format!("{first}, which it does not expect ({others} more)")
        }));
        Ok(Outcome {
            values,
            io_kinds: const { &[LoadOp::WriteX.index(), LoadOp::ReadX.index()] },
            traffic: Traffic {
                read_bytes: all.read_bytes,
                written_bytes: all.written_bytes,
                calls: all.calls,
                planned_calls: all.data_lines,
                block_bytes: None,
            },
            window: sampled.window,
            threads: self.settings.clients,
            file: FileEvidence {
                size_bytes: self.settings.space(self.load.facts()).as_u64(),
                ..FileEvidence::default()
            },
            cache: None,
            counts: vec![
                ("unexpected", all.unexpected),
                ("clients", u64::from(self.settings.clients)),
                ("passes", all.passes),
            ],
            contents: "zeros, as the original",
            sample: &[0; 64 << 10],
            durability: DurabilityEvidence {
                policy,
                durable,
                syncs: all.syncs,
                final_flush_ns: None,
            },
            host,
            cpu,
            series: [("throughput".to_owned(), sampled.series)].into(),
            notes,
            meter: all.meter,
        })
    }

    fn load_note(&self) -> String {
        match (&self.settings.loadfile, &self.settings.loadfile_sha256) {
            (Some(path), Some(hash)) => format!("load file {path}, sha256 {hash}"),
            (Some(path), None) => format!("load file {path}"),
            (None, _) => format!("built-in load file, version {}", definition::VERSION),
        }
    }
}

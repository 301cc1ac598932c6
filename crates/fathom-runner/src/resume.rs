//! Runs that survive a crash: recorded in a journal, saved at the end, gone on with after a stop.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fathom_model::{
    Drive, Event, ModelError, PlannedCase, ResultBuilder, ResultFile, RunEnd, RunHeader, Sink,
    StopReason, System, TargetInfo, conditions_of, trial_ids,
};
use fathom_store::{Journal, ResultName, Store, StoreError};

use crate::error::RunError;
use crate::plan::Plan;
use crate::registry::Registry;
use crate::run::{Counts, Outcome, Runner, Session, swept_notes};
use crate::scratch::remove_recorded;

/// Puts two result files together; see `fathom_model::merge`.
pub type Merge = dyn Fn(&ResultFile, &ResultFile) -> Result<ResultFile, ModelError>;

/// Where runs are recorded and saved.
pub struct Keeper<'a> {
    /// The saved results.
    pub store: &'a Store,
    /// How a run is added to a saved result; only asked when the plan says so.
    pub merge: &'a Merge,
}

/// How an unfinished run is taken up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResumeOptions {
    /// Cut a damaged journal before its first damage, and keep a copy of what it was.
    pub salvage: bool,
}

impl Runner<'_> {
    /// Carries out a plan, with a journal from the first event on, and saves the result at the end,
    /// also when the run was stopped. The journal is kept until the run is saved whole.
    ///
    /// # Errors
    /// [`RunError::Store`] when the journal cannot be started; nothing was done then. What happens
    /// later is in the outcome.
    pub fn run_recorded(
        &self,
        plan: &Plan,
        keeper: &Keeper<'_>,
        sinks: &mut [&mut dyn Sink],
    ) -> Result<Outcome, RunError> {
        keeper.store.sweep_runs()?;
        let header = &plan.header;
        let mut journal = keeper
            .store
            .start_journal(&header.run_id, &header.version)?;
        let outcome = self.run(plan, &mut with_journal(&mut journal, sinks));
        Ok(keeper.keep(journal, header, outcome))
    }

    /// Goes on with a run that was stopped or killed, on the machine as it is now: every trial the
    /// journal holds is kept, the rest is measured in the order it would have been. A run that was
    /// only not saved is saved.
    ///
    /// # Errors
    /// [`RunError`] when there is no such run, another process is at it, its journal is damaged,
    /// or the target or machine is another one; nothing was done then.
    pub fn resume(
        &self,
        run_id: &str,
        system: &System,
        options: ResumeOptions,
        keeper: &Keeper<'_>,
        sinks: &mut [&mut dyn Sink],
    ) -> Result<Outcome, RunError> {
        if options.salvage {
            keeper.store.salvage(run_id)?;
        }
        let (mut journal, replay) = keeper.store.continue_journal(run_id)?;
        let Some(header) = replay.header().cloned() else {
            return Err(RunError::NotBegun {
                run: run_id.to_owned(),
            });
        };
        let builder = ResultBuilder::replay(&replay.events);
        if builder.end() == Some(RunEnd::Complete) {
            let outcome = finished(&header, &builder);
            return Ok(keeper.keep(journal, &header, outcome));
        }
        if let Some(difference) = target_difference(&header.system, system) {
            return Err(RunError::TargetChanged {
                run: run_id.to_owned(),
                difference,
            });
        }
        let mut notes = Vec::new();
        for directory in replay.scratch_directories() {
            notes.extend(swept_notes(remove_recorded(&directory, &self.processes)));
        }
        notes.extend(condition_notes(&header.system, system));
        let resumed = Event::RunResumed {
            at: self.clock.wall(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scratch: header.scratch.clone(),
        };
        let mut rest = header.clone();
        close_changed(&mut rest.cases, &builder, &self.registry);
        let outcome = {
            let mut sinks = with_journal(&mut journal, sinks);
            Session::new(self, rest, builder, notes, &mut sinks).carry_out(&resumed)
        };
        Ok(keeper.keep(journal, &header, outcome))
    }
}

fn with_journal<'a>(
    journal: &'a mut Journal,
    sinks: &'a mut [&mut dyn Sink],
) -> Vec<&'a mut dyn Sink> {
    let mut all: Vec<&mut dyn Sink> = vec![journal];
    all.extend(sinks.iter_mut().map(|sink| &mut **sink as &mut dyn Sink));
    all
}

/// The outcome of a run that was killed after its last event and before it was saved.
fn finished(header: &RunHeader, builder: &ResultBuilder) -> Outcome {
    let result = builder.build();
    Outcome {
        run_id: header.run_id.clone(),
        end: RunEnd::Complete,
        counts: result.as_ref().map(Counts::of).unwrap_or_default(),
        result,
        saved_as: None,
        error: None,
    }
}

impl Keeper<'_> {
    /// Saves what came of a run. The journal goes when everything is in the saved result, and when
    /// there is nothing to go on with.
    fn keep(&self, journal: Journal, header: &RunHeader, mut outcome: Outcome) -> Outcome {
        let is_whole = outcome.end == RunEnd::Complete;
        let is_kept = is_whole || outcome.counts.trials > 0;
        let Some(result) = outcome.result.as_ref().filter(|_| is_kept) else {
            if let Err(error) = journal.discard() {
                outcome.error.get_or_insert(error.into());
            }
            return outcome;
        };
        let kept = self.save(header, result).and_then(|name| {
            outcome.saved_as = Some(name);
            match is_whole {
                true => journal.discard(),
                false => Ok(()),
            }
        });
        if let Err(error) = kept {
            outcome.error.get_or_insert(error.into());
        }
        outcome
    }

    fn save(&self, header: &RunHeader, result: &ResultFile) -> Result<ResultName, StoreError> {
        if let Some(name) = &header.add_to {
            let name = ResultName::new(name)?;
            if self.store.has(&name) {
                let merged = (self.merge)(&self.store.load(&name)?, result);
                if let Ok(merged) = merged {
                    self.store.save_with_history(&name, &merged)?;
                    return Ok(name);
                }
                // What does not fit into the other result is a result of its own.
            }
        }
        let name = ResultName::new(&header.name)?;
        match self.store.has(&name) && self.is_ours(&name, &header.run_id)? {
            true => {
                self.store.save_with_history(&name, result)?;
                Ok(name)
            }
            false => self.store.save_new(&name, result),
        }
    }

    /// Whether a saved result is what an earlier session of this run has saved.
    fn is_ours(&self, name: &ResultName, run_id: &str) -> Result<bool, StoreError> {
        let file = self.store.load(name)?;
        let ids = trial_ids(&file);
        let is_of_run = |id: &&str| {
            id.strip_prefix(run_id)
                .is_some_and(|rest| rest.starts_with('/'))
        };
        Ok(!ids.is_empty() && ids.iter().all(is_of_run))
    }
}

/// Cases whose test is not the one they were begun with get no more trials.
fn close_changed(cases: &mut [PlannedCase], builder: &ResultBuilder, registry: &Registry) {
    for planned in cases {
        let run = builder.case_run(&planned.case.id);
        let stop = run.and_then(|run| run.stop);
        let is_done = stop.is_some_and(|stop| stop != StopReason::Cancelled);
        if planned.unavailable.is_some() || is_done {
            continue;
        }
        let case = &planned.case;
        let now = registry.for_case(case).map(|test| test.info());
        planned.unavailable = match now {
            None => Some(format!(
                "test {} ({}) is not in this version of Fathom",
                case.test, case.implementation
            )),
            Some(info) if info.version != case.test_version => Some(format!(
                "it was begun with version {} of test {}, this is version {}",
                case.test_version, case.test, info.version
            )),
            Some(info) if info.implementation.version != case.implementation.version => {
                Some(format!(
                    "it was begun with {}, this is {}",
                    case.implementation, info.implementation
                ))
            }
            Some(_) => None,
        };
    }
}

/// Why a run of `then` must not go on with `now`: what would be measured is something else.
fn target_difference(then: &System, now: &System) -> Option<String> {
    let differs = |what: &str, then: &str, now: &str| {
        (then != now).then(|| format!("{what} was \"{then}\" and is \"{now}\""))
    };
    let machine = match (&then.machine, &now.machine) {
        (Some(then), Some(now)) => differs("the processor", &then.cpu.model, &now.cpu.model)
            .or_else(|| differs("the kernel", &then.platform.kernel, &now.platform.kernel)),
        _ => None,
    };
    let target = match (&then.target, &now.target) {
        (Some(then), Some(now)) => differs("the target", &then.path, &now.path)
            .or_else(|| differs("the file system", file_system(then), file_system(now)))
            .or_else(|| differs("what holds the target", &storage(then), &storage(now))),
        _ => None,
    };
    machine.or(target)
}

fn file_system(target: &TargetInfo) -> &str {
    let mount = target.mount.as_ref();
    mount.map_or("none", |mount| mount.file_system.as_str())
}

/// The drives, or what is mounted where there are none (memory, network).
fn storage(target: &TargetInfo) -> String {
    let drives: BTreeSet<String> = target.drives.iter().map(drive).collect();
    match drives.is_empty() {
        false => drives.into_iter().collect::<Vec<_>>().join(", "),
        true => target
            .mount
            .as_ref()
            .map(|mount| mount.source.clone())
            .unwrap_or_default(),
    }
}

/// A drive under a name that survives a restart: kernel names do not.
fn drive(drive: &Drive) -> String {
    let model = drive.model.as_deref().unwrap_or(&drive.name);
    match &drive.serial_hash {
        Some(serial) => format!("{model} {serial}"),
        None => format!("{model} of {} bytes", drive.size_bytes),
    }
}

/// Conditions that changed since the run began and do not forbid going on.
fn condition_notes(then: &System, now: &System) -> Vec<String> {
    // Filled by our own files, and by others'; the version that goes on is recorded elsewhere.
    const EXPECTED: [&str; 2] = ["fill level", "tool"];
    let then = conditions_of(then);
    let now = conditions_of(now);
    let changed = then.iter().filter_map(|old| {
        let new = now.iter().find(|new| new.name == old.name)?;
        let is_expected = EXPECTED.contains(&old.name.as_str());
        (new.value != old.value && !is_expected).then(|| {
            format!(
                "since the run began, {} has changed from \"{}\" to \"{}\"",
                old.name, old.value, new.value
            )
        })
    });
    changed.collect()
}

/// The parent of a run's scratch directory, where left-overs of other runs are looked for.
pub(crate) fn scratch_parent_of(header: &RunHeader) -> Option<PathBuf> {
    let scratch = PathBuf::from(&header.scratch);
    scratch.parent().map(PathBuf::from)
}

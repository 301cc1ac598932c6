//! The run loop: a plan, trial after trial, told as events.
//!
//! One thread runs the tests, this one decides: what comes next, when a case is done, what is
//! recorded. Every event is handed to all sinks before anything else happens; the journal is one
//! of them and has the event on disk when it returns.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fathom_base::{Cancel, Clock, Nanos};
use fathom_model::{
    Case, Event, Host, Observer, ResultBuilder, ResultFile, RunEnd, RunHeader, Sink, StopReason,
    Trial, Verdict,
};
use fathom_store::ResultName;

use crate::error::RunError;
use crate::plan::Plan;
use crate::registry::Registry;
use crate::resume::scratch_parent_of;
use crate::run::state::CaseState;
use crate::scratch::{ProcessTable, Scratch, Swept, sweep};
use crate::worker::{Surroundings, Worker};

mod budget;
mod close;
mod state;
mod step;
mod watch;

/// Everything a run needs besides its plan.
pub struct Runner<'a> {
    /// The tests.
    pub registry: Arc<Registry>,
    /// The machine and target.
    pub host: Arc<Host>,
    /// The block device or existing file to test instead of the scratch directory, consented.
    pub device: Option<PathBuf>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Watches the machine over each measured window.
    pub observer: Arc<dyn Observer>,
    /// Reads sensors while trials run.
    pub monitor: Option<crate::monitor::Monitor>,
    /// Judges a good trial.
    pub judge: &'a dyn Fn(&Case, &Trial) -> Verdict,
    /// How the user interferes.
    pub control: Control,
    /// Tells what other runs left from what they use.
    pub processes: ProcessTable,
}

/// How a user interferes with a run; cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// Stops the run: the trial under way is given up, everything is cleaned up, what was measured
    /// is kept.
    pub cancel: Cancel,
    skip: Arc<AtomicBool>,
}

impl Control {
    /// Gives up the trial under way and its case; the run goes on with the next one.
    pub fn skip(&self) {
        self.skip.store(true, Ordering::SeqCst);
    }

    /// The flag behind [`Control::skip`], for signal handlers.
    pub fn skip_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.skip)
    }

    fn take_skip(&self) -> bool {
        self.skip.swap(false, Ordering::SeqCst)
    }
}

/// How a run ended and what came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The run.
    pub run_id: String,
    /// How it ended.
    pub end: RunEnd,
    /// What was recorded; absent when not even the head of the run could be.
    pub result: Option<ResultFile>,
    /// The name it was saved under. A run that was stopped before its first trial is not saved,
    /// and there is nothing to go on with.
    pub saved_as: Option<ResultName>,
    /// Numbers for exit codes and the last line.
    pub counts: Counts,
    /// Why it was aborted, or why a finished run could not be saved.
    pub error: Option<RunError>,
}

/// What happened to the cases and trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Trials, failed ones included.
    pub trials: usize,
    /// Trials that failed.
    pub failed_trials: usize,
    /// Cases of which no trial succeeded, although some were tried.
    pub failed_cases: usize,
    /// Cases that could not run here.
    pub unavailable: usize,
}

impl Counts {
    pub(crate) fn of(file: &ResultFile) -> Self {
        let mut counts = Self::default();
        for run in &file.runs {
            let failed = run.trials.iter().filter(|trial| trial.error.is_some());
            let failed = failed.count();
            counts.trials += run.trials.len();
            counts.failed_trials += failed;
            counts.failed_cases += usize::from(failed > 0 && failed == run.trials.len());
            counts.unavailable += usize::from(run.unavailable.is_some());
        }
        counts
    }
}

/// Why the loop stops before its end.
enum Halt {
    Cancelled,
    Fatal(RunError),
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        Self::Fatal(error)
    }
}

impl Runner<'_> {
    /// Carries out a plan. The result is only returned; see [`Runner::run_recorded`] for a run that
    /// survives a crash and is saved.
    ///
    /// The first sink is the one that records: what it has accepted is in the result.
    pub fn run(&self, plan: &Plan, sinks: &mut [&mut dyn Sink]) -> Outcome {
        let header = plan.header.clone();
        let session = Session::new(self, header, ResultBuilder::new(), Vec::new(), sinks);
        session.carry_out(&Event::RunStarted(Box::new(plan.header.clone())))
    }
}

/// A run under way.
pub(crate) struct Session<'a> {
    runner: &'a Runner<'a>,
    header: RunHeader,
    sinks: Vec<&'a mut dyn Sink>,
    /// A sink that failed is not asked again.
    failed_sink: Option<usize>,
    builder: ResultBuilder,
    states: Vec<CaseState>,
    worker: Option<Worker>,
    scratch: Option<Scratch>,
    /// When this session began, on the clock.
    began: Nanos,
    /// Time the run took in earlier sessions.
    spent_before: Nanos,
    /// When the group under way has used up its share, in time of the run.
    group_end: Option<Nanos>,
    /// Bytes the tests have written, as far as known.
    written: u64,
    /// What is to be said first.
    notes: Vec<String>,
    /// The user has asked to skip the case whose turn it is.
    is_skipping: bool,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        runner: &'a Runner<'a>,
        header: RunHeader,
        builder: ResultBuilder,
        notes: Vec<String>,
        sinks: &'a mut [&mut dyn Sink],
    ) -> Self {
        let mut states: Vec<CaseState> = Vec::with_capacity(header.cases.len());
        let (mut spent, mut written) = (Nanos::default(), 0_u64);
        for planned in &header.cases {
            let mut state = CaseState::default();
            let preparations = u64::from(builder.preparations(&planned.case.id));
            let laid_out = planned.prepare_bytes.as_u64().saturating_mul(preparations);
            written = written.saturating_add(laid_out);
            for trial in builder.trials(&planned.case.id) {
                state.take(planned, trial);
                spent = spent.plus(Nanos::new(trial.duration_ns));
                written = written.saturating_add(budget::written_by(planned, trial));
            }
            let run = builder.case_run(&planned.case.id);
            // What the user stopped goes on.
            let stop = run.and_then(|run| run.stop);
            state.stop = stop.filter(|stop| *stop != StopReason::Cancelled);
            state.is_unavailable =
                planned.unavailable.is_some() || run.is_some_and(|run| run.unavailable.is_some());
            state.is_announced = run.is_some_and(|run| run.unavailable.is_some());
            states.push(state);
        }
        Self {
            began: runner.clock.now(),
            runner,
            header,
            sinks: sinks.iter_mut().map(|sink| &mut **sink as _).collect(),
            failed_sink: None,
            builder,
            states,
            worker: None,
            scratch: None,
            spent_before: spent,
            group_end: None,
            written,
            notes,
            is_skipping: false,
        }
    }

    /// From the first event to the last.
    pub(crate) fn carry_out(mut self, first: &Event) -> Outcome {
        let halted = self.emit(first).and_then(|()| self.execute());
        let (end, mut error) = match halted {
            Ok(()) => (RunEnd::Complete, None),
            Err(Halt::Cancelled) => (RunEnd::Cancelled, None),
            Err(Halt::Fatal(error)) => (RunEnd::Aborted, Some(error)),
        };
        let is_hung = matches!(error, Some(RunError::Hung { .. }));
        let notes = self.clean_up(is_hung);
        for text in notes {
            self.close(&Event::Note { text });
        }
        if end == RunEnd::Cancelled {
            for event in self.open_cases_stopped() {
                self.close(&event);
            }
        }
        let finished = Event::RunFinished {
            end,
            at: self.runner.clock.wall(),
        };
        if let Some(failed) = self.close(&finished)
            && error.is_none()
        {
            error = Some(failed);
        }
        let result = self.builder.build();
        Outcome {
            run_id: self.header.run_id.clone(),
            end,
            counts: result.as_ref().map(Counts::of).unwrap_or_default(),
            result,
            saved_as: None,
            error,
        }
    }

    fn execute(&mut self) -> Result<(), Halt> {
        self.sweep()?;
        self.announce_unavailable()?;
        self.settle()?;
        self.check_cancel()?;
        if self.open_cases(None).is_empty() {
            return Ok(());
        }
        self.start_worker()?;
        let groups = self.header.cases.iter().map(|planned| planned.group);
        let groups: std::collections::BTreeSet<u32> = groups.collect();
        for group in groups {
            self.group(group)?;
        }
        Ok(())
    }

    /// All cases of a group, in rounds: each open case one trial a round, in a fresh order.
    fn group(&mut self, group: u32) -> Result<(), Halt> {
        let cases = self.open_cases(Some(group));
        if cases.is_empty() {
            return Ok(());
        }
        self.group_end = self.share_of(group);
        for case in &cases {
            self.prepare(*case)?;
        }
        let members = self.members(group);
        while let Some(round) = self.next_round(group) {
            let seed = self.header.seed;
            for at in crate::plan::round_order(seed, group, round, members.len()) {
                let case = members[at];
                let state = &self.states[case];
                if state.is_open() && state.attempts + 1 == round {
                    self.check_cancel()?;
                    self.turn(case)?;
                }
            }
        }
        for case in members {
            self.finish(case)?;
        }
        Ok(())
    }

    /// The number of the trial that the cases which are furthest behind need next.
    fn next_round(&self, group: u32) -> Option<u32> {
        let open = self.open_cases(Some(group)).into_iter();
        open.map(|case| self.states[case].attempts + 1).min()
    }

    fn members(&self, group: u32) -> Vec<usize> {
        let cases = self.header.cases.iter().enumerate();
        let of_group = cases.filter(|(_, planned)| planned.group == group);
        of_group.map(|(case, _)| case).collect()
    }

    /// Cases that still get trials, of one group or of all.
    fn open_cases(&self, group: Option<u32>) -> Vec<usize> {
        let cases = self.header.cases.iter().enumerate();
        cases
            .filter(|(case, planned)| {
                self.states[*case].is_open() && group.is_none_or(|group| planned.group == group)
            })
            .map(|(case, _)| case)
            .collect()
    }

    fn open_cases_stopped(&self) -> Vec<Event> {
        let stopped = |case: usize| Event::CaseStopped {
            case: self.header.cases[case].case.id.clone(),
            reason: StopReason::Cancelled,
        };
        self.open_cases(None).into_iter().map(stopped).collect()
    }

    fn announce_unavailable(&mut self) -> Result<(), Halt> {
        for case in 0..self.header.cases.len() {
            let planned = &self.header.cases[case];
            if let Some(reason) = planned.unavailable.clone()
                && !self.states[case].is_announced
            {
                let case = planned.case.id.clone();
                self.emit(&Event::CaseUnavailable { case, reason })?;
            }
        }
        Ok(())
    }

    /// Decides on cases whose last trial was recorded and whose end was not any more, when an
    /// earlier session was killed in between.
    fn settle(&mut self) -> Result<(), Halt> {
        for case in self.open_cases(None) {
            if self.states[case].attempts > 0
                && let Some(reason) = self.decision(case)
            {
                self.stop(case, reason)?;
            }
        }
        Ok(())
    }

    /// Removes what killed runs left beside our own scratch directory.
    fn sweep(&mut self) -> Result<(), Halt> {
        let mut notes = std::mem::take(&mut self.notes);
        if let Some(parent) = scratch_parent_of(&self.header) {
            notes.extend(swept_notes(sweep(&parent, &self.runner.processes)));
        }
        for text in notes {
            self.emit(&Event::Note { text })?;
        }
        Ok(())
    }

    fn start_worker(&mut self) -> Result<(), Halt> {
        let path = PathBuf::from(&self.header.scratch);
        let scratch = Scratch::create(&path, &self.header.run_id, &self.runner.processes)
            .map_err(RunError::from)?;
        let cases = self.header.cases.iter();
        let surroundings = Surroundings {
            registry: Arc::clone(&self.runner.registry),
            host: Arc::clone(&self.runner.host),
            clock: Arc::clone(&self.runner.clock),
            observer: Arc::clone(&self.runner.observer),
            device: self.runner.device.clone(),
            scratch: scratch.path().to_path_buf(),
            cases: cases.map(|planned| planned.case.clone()).collect(),
        };
        self.scratch = Some(scratch);
        self.worker = Some(Worker::spawn(surroundings).map_err(RunError::Worker)?);
        Ok(())
    }

    fn check_cancel(&self) -> Result<(), Halt> {
        match self.runner.control.cancel.is_cancelled() {
            true => Err(Halt::Cancelled),
            false => Ok(()),
        }
    }

    /// Hands an event to every sink. What the first one has accepted is recorded.
    fn emit(&mut self, event: &Event) -> Result<(), Halt> {
        for (at, sink) in self.sinks.iter_mut().enumerate() {
            if let Err(error) = sink.event(event) {
                self.failed_sink = Some(at);
                return Err(Halt::Fatal(error.into()));
            }
            if at == 0 {
                self.builder.apply(event);
            }
        }
        if self.sinks.is_empty() {
            self.builder.apply(event);
        }
        Ok(())
    }
}

/// What a sweep is worth saying.
pub(crate) fn swept_notes(swept: Swept) -> Vec<String> {
    let removed = swept.removed.into_iter().map(|(path, run)| {
        let run = match run.as_str() {
            "" => "an earlier run".to_owned(),
            run => format!("run {run}"),
        };
        format!("removed {}, which {run} left behind", path.display())
    });
    let kept = swept.kept.into_iter();
    let kept = kept.map(|(path, why)| format!("left {} alone: {why}", path.display()));
    removed.chain(kept).collect()
}

//! One case's turn: prepare, try, judge, record, decide.

use fathom_base::{Cancel, seed_for};
use fathom_model::{Event, StopReason, Trial};

use super::budget::written_by;
use super::{Halt, Session};
use crate::error::RunError;
use crate::monitor::Monitor;
use crate::worker::{Failure, Step};

impl Session<'_> {
    /// Gets a case ready. A failure is kept until its first trial, which then counts as failed.
    pub(super) fn prepare(&mut self, case: usize) -> Result<(), Halt> {
        self.check_cancel()?;
        if !self.may_prepare(case) {
            return self.stop(case, StopReason::WriteLimit);
        }
        let id = self.header.cases[case].case.id.clone();
        self.emit(&Event::PreparingCase { case: id })?;
        let cancel = self.runner.control.cancel.child();
        let done = self.call(case, Step::Prepare, &cancel)?;
        let bytes = self.header.cases[case].prepare_bytes.as_u64();
        self.written = self.written.saturating_add(bytes);
        let was_skipped = std::mem::take(&mut self.is_skipping);
        match done.result {
            Ok(_) => self.states[case].is_prepared = true,
            Err(Failure::Cancelled | Failure::Error(_)) if was_skipped => {}
            Err(failure) => {
                let text = self.failure_text(failure)?;
                self.states[case].prepare_error = Some(format!("preparation failed: {text}"));
            }
        }
        match was_skipped {
            true => self.stop(case, StopReason::Skipped),
            false => Ok(()),
        }
    }

    /// One trial of a case, or its end.
    pub(super) fn turn(&mut self, case: usize) -> Result<(), Halt> {
        if let Some(reason) = self.forbidden(case) {
            return self.stop(case, reason);
        }
        let number = self.states[case].attempts + 1;
        let id = self.header.cases[case].case.id.clone();
        if self.needs_preparing(case) {
            self.prepare(case)?;
            if !self.states[case].is_open() {
                return Ok(());
            }
        }
        self.emit(&Event::TrialStarted { case: id, number })?;
        let attempted = match self.states[case].prepare_error.take() {
            Some(error) => {
                let mut trial = failed(error);
                trial.started = self.runner.clock.wall();
                Some(trial)
            }
            None => self.attempt(case, number)?,
        };
        if let Some(trial) = attempted {
            self.record(case, number, trial)?;
        }
        if std::mem::take(&mut self.is_skipping) {
            return self.stop(case, StopReason::Skipped);
        }
        match self.decision(case) {
            Some(reason) => self.stop(case, reason),
            None => Ok(()),
        }
    }

    fn needs_preparing(&self, case: usize) -> bool {
        let state = &self.states[case];
        !state.is_prepared && state.prepare_error.is_none()
    }

    /// Runs the trial; `None` when the user skipped the case before it was done.
    fn attempt(&mut self, case: usize, number: u32) -> Result<Option<Trial>, Halt> {
        let cancel = self.runner.control.cancel.child();
        let recording = self.runner.monitor.as_ref().map(Monitor::begin);
        let done = match self.call(case, Step::Trial(number), &cancel) {
            Ok(done) => done,
            Err(halt) => {
                self.record_hung(case, number, &halt)?;
                return Err(halt);
            }
        };
        let (started, duration) = (done.started, done.duration);
        let mut trial = match done.result {
            Ok(Some(trial)) => {
                let mut trial = *trial;
                if let Some(recording) = recording {
                    let recorded = recording.end();
                    trial.series.extend(recorded.series);
                    trial.evidence.notes.extend(recorded.notes);
                }
                trial.verdict = (self.runner.judge)(&self.header.cases[case].case, &trial);
                trial
            }
            Ok(None) => failed("the test gave no trial".to_owned()),
            Err(Failure::Cancelled | Failure::Error(_)) if self.is_skipping => return Ok(None),
            Err(failure) => {
                // After a panic the worker has cleaned the case up.
                let is_gone = matches!(failure, Failure::Panic(_));
                self.states[case].is_prepared &= !is_gone;
                failed(self.failure_text(failure)?)
            }
        };
        trial.started = started;
        trial.duration_ns = duration.as_u64();
        Ok(Some(trial))
    }

    /// A test that gives no answer has failed, unless the user stopped it.
    fn record_hung(&mut self, case: usize, number: u32, halt: &Halt) -> Result<(), Halt> {
        let Halt::Fatal(error @ RunError::Hung { age, .. }) = halt else {
            return Ok(());
        };
        if self.runner.control.cancel.is_cancelled() {
            return Ok(());
        }
        let mut trial = failed(error.to_string());
        trial.started = self.runner.clock.wall();
        trial.duration_ns = age.as_u64();
        self.record(case, number, trial)
    }

    /// Records a trial, well or not, and takes it into account.
    fn record(&mut self, case: usize, number: u32, mut trial: Trial) -> Result<(), Halt> {
        let planned = &self.header.cases[case];
        let id = planned.case.id.clone();
        if let Err(error) = trial.check_readable() {
            trial = Trial {
                started: trial.started,
                duration_ns: trial.duration_ns,
                ..failed(format!("the test gave what cannot be recorded: {error}"))
            };
        }
        trial.id = format!("{}/{id}/{number}", self.header.run_id);
        trial.number = number;
        let event = Event::TrialFinished {
            case: id,
            trial: Box::new(trial),
        };
        self.emit(&event)?;
        if let Event::TrialFinished { trial, .. } = event {
            let planned = &self.header.cases[case];
            self.written = self.written.saturating_add(written_by(planned, &trial));
            self.states[case].take(planned, &trial);
        }
        Ok(())
    }

    /// No more trials of a case.
    pub(super) fn stop(&mut self, case: usize, reason: StopReason) -> Result<(), Halt> {
        self.states[case].stop = Some(reason);
        let id = self.header.cases[case].case.id.clone();
        self.emit(&Event::CaseStopped { case: id, reason })
    }

    /// Cleans a case up; what could not be is said, and left to the removal of the scratch
    /// directory.
    pub(super) fn finish(&mut self, case: usize) -> Result<(), Halt> {
        if let Some(text) = self.finish_quietly(case)? {
            self.emit(&Event::Note { text })?;
        }
        Ok(())
    }

    /// Likewise, and returns what is to be said.
    pub(super) fn finish_quietly(&mut self, case: usize) -> Result<Option<String>, Halt> {
        if !std::mem::take(&mut self.states[case].is_prepared) {
            return Ok(None);
        }
        // Cleaning up goes on although the run is cancelled.
        let done = self.call(case, Step::Finish, &Cancel::new())?;
        let why = match done.result {
            Ok(_) => return Ok(None),
            Err(Failure::Cancelled) => "it was stopped".to_owned(),
            Err(Failure::Error(text) | Failure::Panic(text)) => text,
        };
        let label = &self.header.cases[case].case.label;
        Ok(Some(format!("{label}: cleaning up failed: {why}")))
    }

    /// What a failure is called; a step that stopped because the run is stopped is none.
    fn failure_text(&self, failure: Failure) -> Result<String, Halt> {
        let is_stopped = self.runner.control.cancel.is_cancelled();
        match failure {
            Failure::Panic(text) => Ok(text),
            _ if is_stopped => Err(Halt::Cancelled),
            Failure::Error(text) => Ok(text),
            Failure::Cancelled => Ok("stopped because it took longer than its limit".to_owned()),
        }
    }

    pub(super) fn seed(&self, case: usize, step: Step) -> u64 {
        let number = match step {
            Step::Trial(number) => number,
            Step::Prepare | Step::Finish => 0,
        };
        let id = &self.header.cases[case].case.id;
        seed_for(self.header.seed, &format!("{id}/{number}"))
    }
}

fn failed(error: String) -> Trial {
    Trial {
        error: Some(error),
        ..Trial::default()
    }
}

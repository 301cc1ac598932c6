//! The end of a run, whatever led to it.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fathom_model::Event;

use super::{Halt, Session};
use crate::error::RunError;
use crate::scratch::Scratch;

/// How long the removal of the scratch directory may take after a test has hung: the removal may
/// hang as well.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(10);

impl Session<'_> {
    /// Cleans up all cases and removes the scratch directory. Returns what is to be said.
    pub(super) fn clean_up(&mut self, is_hung: bool) -> Vec<String> {
        let mut notes = Vec::new();
        let mut is_hung = is_hung;
        if !is_hung {
            is_hung = self.finish_all(&mut notes);
        }
        let worker = self.worker.take();
        let scratch = self.scratch.take();
        match (worker, scratch) {
            (Some(worker), Some(scratch)) if is_hung => {
                // The thread is left behind; it ends when its call does.
                drop(worker);
                notes.extend(remove_or_leave(scratch));
            }
            (worker, scratch) => {
                if let Some(worker) = worker {
                    worker.stop();
                }
                if let Some(Err(error)) = scratch.map(Scratch::remove) {
                    notes.push(error.to_string());
                }
            }
        }
        notes
    }

    /// Says whether a test hung on the way.
    fn finish_all(&mut self, notes: &mut Vec<String>) -> bool {
        if self.worker.is_none() {
            return false;
        }
        for case in 0..self.states.len() {
            match self.finish_quietly(case) {
                Ok(note) => notes.extend(note),
                Err(Halt::Fatal(error @ RunError::Hung { .. })) => {
                    notes.push(error.to_string());
                    return true;
                }
                // A sink that fails, or a worker that is gone; nothing to be told to anybody.
                Err(Halt::Fatal(error)) => notes.push(error.to_string()),
                Err(Halt::Cancelled) => {}
            }
        }
        false
    }

    /// Hands a last event to every sink that still works; says what went wrong.
    pub(super) fn close(&mut self, event: &Event) -> Option<RunError> {
        let mut failure = None;
        for (at, sink) in self.sinks.iter_mut().enumerate() {
            if self.failed_sink == Some(at) {
                continue;
            }
            if let Err(error) = sink.event(event) {
                self.failed_sink = Some(at);
                failure = Some(RunError::from(error));
            }
        }
        // How it ended is part of the result even where the journal is full.
        let is_end = matches!(event, Event::RunFinished { .. });
        if is_end || self.failed_sink != Some(0) {
            self.builder.apply(event);
        }
        failure
    }
}

fn remove_or_leave(scratch: Scratch) -> Option<String> {
    let path = scratch.path().display().to_string();
    let (say, answer) = channel();
    let removal = std::thread::Builder::new().spawn(move || {
        let _ = say.send(scratch.remove());
    });
    if let Err(error) = removal {
        return Some(format!("{path} was not removed: {error}"));
    }
    match answer.recv_timeout(REMOVAL_PATIENCE) {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Some(format!(
            "{path} could not be removed in time; the next run on this target removes it"
        )),
    }
}

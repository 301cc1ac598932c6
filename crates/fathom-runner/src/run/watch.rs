//! Waiting for a step of a test, with an eye on the clock and on the user.

use std::time::Duration;

use fathom_base::{Cancel, Nanos};
use fathom_model::Event;

use super::{Halt, Session};
use crate::error::RunError;
use crate::plan::time_limit;
use crate::worker::{Answer, Done, Job, Step};

/// How often we look up while a test works; ten wake-ups a second disturb nothing.
const TICK: Duration = Duration::from_millis(100);
/// Time a test has to end by itself after its limit, before it is asked to.
const GRACE: Nanos = Nanos::from_secs(5);
/// Time it has to end after it was asked to, before the run ends without it.
const PATIENCE: Nanos = Nanos::from_secs(60);
/// Likewise when the user stopped the run.
const PATIENCE_CANCELLED: Nanos = Nanos::from_secs(20);

/// What was done about a step that takes too long.
struct Watch {
    began: Nanos,
    deadline: Nanos,
    limit: Nanos,
    /// When it was asked to stop, and how long we wait since.
    asked: Option<(Nanos, Nanos)>,
    /// Why the run ends when the step does.
    halt: Option<Halt>,
}

impl Session<'_> {
    /// Has a step taken and waits for its end.
    pub(super) fn call(&mut self, case: usize, step: Step, cancel: &Cancel) -> Result<Done, Halt> {
        let planned = &self.header.cases[case];
        let estimate = match step {
            Step::Trial(_) => planned.trial_time,
            Step::Prepare | Step::Finish => planned.prepare_time,
        };
        let limit = time_limit(&self.header, estimate);
        let began = self.runner.clock.now();
        let mut watch = Watch {
            began,
            deadline: began.plus(limit),
            limit,
            asked: None,
            halt: None,
        };
        let job = Job {
            step,
            case,
            seed: self.seed(case, step),
            deadline: watch.deadline,
            cancel: cancel.clone(),
        };
        match &self.worker {
            Some(worker) => worker.start(job),
            None => return Err(RunError::WorkerLost.into()),
        }
        self.wait(case, step, cancel, &mut watch)
    }

    fn wait(
        &mut self,
        case: usize,
        step: Step,
        cancel: &Cancel,
        watch: &mut Watch,
    ) -> Result<Done, Halt> {
        loop {
            let answer = match &self.worker {
                Some(worker) => worker.answer(TICK),
                None => Answer::Lost,
            };
            match answer {
                Answer::Progress(progress) => {
                    let case = self.header.cases[case].case.id.clone();
                    self.tell(&Event::Progress { case, progress }, cancel, watch);
                }
                Answer::Done(done) => {
                    return match watch.halt.take() {
                        Some(halt) => Err(halt),
                        None => Ok(done),
                    };
                }
                Answer::Silence => {}
                Answer::Lost => return Err(RunError::WorkerLost.into()),
            }
            self.look(case, step, cancel, watch)?;
        }
    }

    /// Asks a step to stop when the user or the clock says so, and gives it up when it does not.
    fn look(
        &mut self,
        case: usize,
        step: Step,
        cancel: &Cancel,
        watch: &mut Watch,
    ) -> Result<(), Halt> {
        let now = self.runner.clock.now();
        let is_cleanup = step == Step::Finish;
        if !is_cleanup && self.runner.control.take_skip() {
            self.is_skipping = true;
            cancel.cancel();
            watch.asked.get_or_insert((now, PATIENCE));
        }
        if self.runner.control.cancel.is_cancelled() && !is_cleanup {
            watch.asked.get_or_insert((now, PATIENCE_CANCELLED));
        }
        let age = now.since(watch.began);
        match watch.asked {
            Some((since, patience)) if now.since(since) > patience => {
                if let Some(halt) = watch.halt.take() {
                    return Err(halt);
                }
                Err(Halt::Fatal(RunError::Hung {
                    case: self.header.cases[case].case.label.clone(),
                    age: whole_seconds(age),
                }))
            }
            None if now > watch.deadline.plus(GRACE) => {
                watch.asked = Some((now, PATIENCE));
                cancel.cancel();
                let text = format!(
                    "{}: {} has been running for {}, its limit is {}; it is asked to stop",
                    self.header.cases[case].case.label,
                    name(step),
                    age.rough(),
                    watch.limit.rough()
                );
                self.tell(&Event::Note { text }, cancel, watch);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Tells something while the test works. When that fails the test is asked to stop, and the
    /// run ends with it.
    fn tell(&mut self, event: &Event, cancel: &Cancel, watch: &mut Watch) {
        if watch.halt.is_some() {
            return;
        }
        if let Err(halt) = self.emit(event) {
            watch.halt = Some(halt);
            let now = self.runner.clock.now();
            watch.asked.get_or_insert((now, PATIENCE));
            cancel.cancel();
        }
    }
}

fn name(step: Step) -> String {
    match step {
        Step::Prepare => "the preparation".to_owned(),
        Step::Trial(number) => format!("trial {number}"),
        Step::Finish => "the cleaning up".to_owned(),
    }
}

fn whole_seconds(time: Nanos) -> Nanos {
    Nanos::from_secs(time.as_u64() / 1_000_000_000)
}

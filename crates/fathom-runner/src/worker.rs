//! The thread the tests run on. The run loop waits beside it, so that a test that hangs or panics
//! can be told from one that works.

use std::any::Any;
use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use fathom_base::{Cancel, Clock, Nanos, WallTime};
use fathom_model::{Case, Context, Host, Observer, Prepared, Progress, TestError, Trial};

use crate::registry::Registry;

/// Progress that waits to be shown; more is dropped, the next one says more anyway.
const QUEUE: usize = 64;
/// As a main thread has.
const STACK_BYTES: usize = 8 << 20;

/// What the tests are given.
pub(crate) struct Surroundings {
    pub registry: Arc<Registry>,
    pub host: Arc<Host>,
    pub clock: Arc<dyn Clock>,
    pub observer: Arc<dyn Observer>,
    pub device: Option<PathBuf>,
    pub scratch: PathBuf,
    pub cases: Vec<Case>,
}

/// A step of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Prepare,
    Trial(u32),
    Finish,
}

/// A step to take.
pub(crate) struct Job {
    pub step: Step,
    /// Index of the case.
    pub case: usize,
    pub seed: u64,
    pub deadline: Nanos,
    pub cancel: Cancel,
}

/// How a step ended.
#[derive(Debug)]
pub(crate) struct Done {
    /// The trial of a good [`Step::Trial`].
    pub result: Result<Option<Box<Trial>>, Failure>,
    pub started: WallTime,
    pub duration: Nanos,
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It stopped because it was asked to.
    Cancelled,
    /// In words.
    Error(String),
    /// Likewise; the case has to be prepared again.
    Panic(String),
}

/// What the worker says.
#[derive(Debug)]
pub(crate) enum Answer {
    Progress(Progress),
    Done(Done),
    /// Nothing within the time.
    Silence,
    /// The thread is gone.
    Lost,
}

/// A handle to the thread.
pub(crate) struct Worker {
    jobs: SyncSender<Job>,
    answers: Receiver<Answer>,
    thread: JoinHandle<()>,
}

impl Worker {
    pub(crate) fn spawn(surroundings: Surroundings) -> std::io::Result<Self> {
        let (jobs, todo) = sync_channel(1);
        let (say, answers) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("fathom-test".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || work(&surroundings, &todo, &say))?;
        Ok(Self {
            jobs,
            answers,
            thread,
        })
    }

    /// Hands over a step; the one before must be done.
    pub(crate) fn start(&self, job: Job) {
        // A thread that is gone is noticed when its answer is asked for.
        let _ = self.jobs.send(job);
    }

    /// Waits for the next thing the worker says.
    pub(crate) fn answer(&self, patience: Duration) -> Answer {
        match self.answers.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Answer::Silence,
            Err(RecvTimeoutError::Disconnected) => Answer::Lost,
        }
    }

    /// Ends the thread, which must have nothing to do.
    pub(crate) fn stop(self) {
        drop(self.jobs);
        drop(self.answers);
        // A panic outside of a step has been answered with [`Answer::Lost`].
        let _ = self.thread.join();
    }
}

fn work(surroundings: &Surroundings, todo: &Receiver<Job>, say: &SyncSender<Answer>) {
    let mut prepared: BTreeMap<usize, Box<dyn Prepared>> = BTreeMap::new();
    while let Ok(job) = todo.recv() {
        let done = step(surroundings, &job, &mut prepared, say);
        if say.send(Answer::Done(done)).is_err() {
            // Given up; what the tests hold goes with them.
            break;
        }
    }
}

fn step(
    surroundings: &Surroundings,
    job: &Job,
    prepared: &mut BTreeMap<usize, Box<dyn Prepared>>,
    say: &SyncSender<Answer>,
) -> Done {
    let progress = |progress| {
        let _ = say.try_send(Answer::Progress(progress));
    };
    let context = Context {
        scratch: &surroundings.scratch,
        device: surroundings.device.clone(),
        host: &surroundings.host,
        seed: job.seed,
        trial: match job.step {
            Step::Trial(number) => number,
            Step::Prepare | Step::Finish => 0,
        },
        deadline: job.deadline,
        cancel: &job.cancel,
        clock: &*surroundings.clock,
        observer: &*surroundings.observer,
        progress: &progress,
    };
    let started = surroundings.clock.wall();
    let from = surroundings.clock.now();
    let case = job.case;
    let result = match job.step {
        Step::Prepare => guarded(|| {
            let ready = prepare(surroundings, case, &context)?;
            prepared.insert(case, ready);
            Ok(None)
        }),
        Step::Trial(_) => match prepared.get_mut(&case) {
            Some(ready) => guarded(|| ready.run_once(&context).map(|trial| Some(Box::new(trial)))),
            None => Err(Failure::Error("the case was not prepared".to_owned())),
        },
        Step::Finish => finish(prepared.remove(&case), &context),
    };
    let duration = surroundings.clock.now().since(from);
    if matches!(result, Err(Failure::Panic(_))) {
        // Its state is in doubt: it is cleaned up as far as it can, and prepared anew.
        let _ = finish(prepared.remove(&case), &context);
    }
    Done {
        result,
        started,
        duration,
    }
}

fn prepare(
    surroundings: &Surroundings,
    case: usize,
    context: &Context<'_>,
) -> Result<Box<dyn Prepared>, TestError> {
    let case = &surroundings.cases[case];
    match surroundings.registry.for_case(case) {
        Some(test) => test.prepare(case, context),
        None => Err(TestError::Check {
            check: "the test of the case",
            found: format!("test {} is not in this version", case.test),
        }),
    }
}

fn finish(
    ready: Option<Box<dyn Prepared>>,
    context: &Context<'_>,
) -> Result<Option<Box<Trial>>, Failure> {
    match ready {
        Some(ready) => guarded(|| ready.finish(context).map(|()| None)),
        None => Ok(None),
    }
}

/// Runs a part of a test; a panic becomes a failure.
fn guarded<T>(part: impl FnOnce() -> Result<T, TestError>) -> Result<T, Failure> {
    match catch_unwind(AssertUnwindSafe(part)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) if error.is_cancelled() => Err(Failure::Cancelled),
        Ok(Err(error)) => Err(Failure::Error(chain(&error))),
        Err(payload) => Err(Failure::Panic(format!(
            "the test panicked (a bug): {}",
            panic_text(&*payload)
        ))),
    }
}

/// An error with its causes, as far as it does not name them itself.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use fathom_base::{Bytes, Clock, FakeClock, Nanos};
use fathom_model::{
    Case, Context, Direction, Estimate, Figure, Host, Implementation, ImplementationKind,
    IoEvidence, Metric, OptionInfo, OptionKind, Prepared, Progress, Test, TestError, TestInfo,
    Trial, Unmet,
};

/// What a scripted trial or preparation does.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Gives this value of `speed`.
    Value(f64),
    /// Gives this value, and writes so many bytes.
    Writes(f64, u64),
    /// Gives this value, and takes this long instead of the usual time.
    Takes(f64, Nanos),
    /// Gives a value, and something that cannot be read again once it is written.
    Unreadable,
    /// Fails with this text.
    Fail(&'static str),
    /// Runs out of space.
    NoSpace,
    /// Panics with this text.
    Panic(&'static str),
    /// Takes until long after its deadline, then waits until it is asked to stop.
    Stuck,
    /// Takes until long after its deadline and does not answer; ends when the script is dropped
    /// or [`Script::release`]d.
    Hang,
    /// Waits until the user stops the run or skips the case.
    Wait,
    /// Leaves a link to this path, and a directory, in the scratch directory.
    Litter(PathBuf),
}

/// One case of a script, chosen by the option `case`.
#[derive(Clone, Debug)]
pub struct CaseScript {
    /// What each trial does, by its number; the last one goes for all that follow.
    pub trials: Vec<Act>,
    /// What each preparation does; [`Act::Value`] is a good one.
    pub prepare: Vec<Act>,
    /// Time of a trial.
    pub time: Nanos,
    /// What the test says beforehand; its trial time is that of the script.
    pub estimate: Estimate,
    /// Needs that are not met.
    pub unmet: Vec<Unmet>,
    /// Whether the metric steers the repetition.
    pub steers: bool,
    /// Cleaning up fails.
    pub finish_fails: bool,
}

impl CaseScript {
    /// Trials of one second with these values.
    pub fn values(values: &[f64]) -> Self {
        Self::acts(values.iter().copied().map(Act::Value))
    }

    /// Trials of one second that do these things.
    pub fn acts(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            trials: acts.into_iter().collect(),
            prepare: Vec::new(),
            time: Nanos::from_secs(1),
            estimate: Estimate {
                prepare_time: Nanos::from_millis(500),
                prepare_bytes: Bytes::MIB,
                space: Bytes::MIB,
                inodes: 1,
                ..Estimate::default()
            },
            unmet: Vec::new(),
            steers: true,
            finish_fails: false,
        }
    }
}

/// A test that does what it is told, on a clock that only it moves. It keeps a file in the scratch
/// directory while it is prepared, and a log of what was asked of it.
#[derive(Clone)]
pub struct Script {
    clock: FakeClock,
    cases: BTreeMap<String, CaseScript>,
    shared: Arc<Shared>,
    version: String,
}

#[derive(Default)]
struct Shared {
    log: Mutex<Vec<String>>,
    released: Mutex<bool>,
    bell: Condvar,
    prepared: Mutex<BTreeMap<String, usize>>,
}

impl Script {
    /// A script whose steps move `clock`.
    pub fn new(clock: &FakeClock) -> Self {
        Self {
            clock: clock.clone(),
            cases: BTreeMap::new(),
            shared: Arc::default(),
            version: "1.0".to_owned(),
        }
    }

    /// Adds a case under the value of the option `case` that chooses it.
    #[must_use]
    pub fn case(mut self, name: &str, case: CaseScript) -> Self {
        self.cases.insert(name.to_owned(), case);
        self
    }

    /// As another version of the test.
    #[must_use]
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// What was asked of it so far: `prepare a`, `trial a 1`, `finish a`.
    pub fn log(&self) -> Vec<String> {
        locked(&self.shared.log).clone()
    }

    /// Lets everything that hangs end.
    pub fn release(&self) {
        *locked(&self.shared.released) = true;
        self.shared.bell.notify_all();
    }

    fn say(&self, line: String) {
        locked(&self.shared.log).push(line);
    }

    fn script(&self, case: &Case) -> (String, CaseScript) {
        let name = case.text("case").unwrap_or("").to_owned();
        let script = self.cases.get(&name).cloned();
        (name, script.unwrap_or_else(|| CaseScript::values(&[1.0])))
    }

    fn hang(&self) {
        let mut released = locked(&self.shared.released);
        while !*released {
            released = self
                .shared
                .bell
                .wait(released)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// The value and bytes written, or the failure.
    fn act(&self, act: &Act, time: Nanos, cx: &Context<'_>) -> Result<(f64, u64), TestError> {
        let late = cx.deadline.plus(Nanos::from_secs(3600));
        match act {
            Act::Value(value) => {
                self.clock.advance(time);
                Ok((*value, 0))
            }
            Act::Unreadable => {
                self.clock.advance(time);
                Ok((1.0, 0))
            }
            Act::Writes(value, bytes) => {
                self.clock.advance(time);
                Ok((*value, *bytes))
            }
            Act::Takes(value, time) => {
                self.clock.advance(*time);
                Ok((*value, 0))
            }
            Act::Fail(text) => {
                self.clock.advance(time);
                Err(TestError::Check {
                    check: "the script",
                    found: (*text).to_owned(),
                })
            }
            Act::NoSpace => Err(TestError::NoSpace {
                doing: "writing",
                path: PathBuf::from("file"),
                needed: Bytes::GIB,
            }),
            Act::Panic(text) => panic!("{text}"),
            Act::Stuck => {
                self.clock.advance(late.since(self.clock.now()));
                self.wait_for_cancel(cx)
            }
            Act::Hang => {
                self.clock.advance(late.since(self.clock.now()));
                self.hang_with_time_running();
                Err(TestError::Cancelled)
            }
            Act::Wait => self.wait_for_cancel(cx),
            Act::Litter(target) => {
                let directory = cx.scratch.join("litter");
                let made = std::fs::create_dir_all(directory.join("deep"))
                    .and_then(|()| std::os::unix::fs::symlink(target, directory.join("deep/link")));
                made.map_err(|error| TestError::io("littering", directory, error))?;
                self.clock.advance(time);
                Ok((1.0, 0))
            }
        }
    }

    /// The rest of the world sees time pass while the test hangs.
    fn hang_with_time_running(&self) {
        let script = self.clone();
        let ticking = std::thread::spawn(move || {
            while !*locked(&script.shared.released) {
                script.clock.advance(Nanos::from_secs(1));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        self.hang();
        let _ = ticking.join();
    }

    fn wait_for_cancel(&self, cx: &Context<'_>) -> Result<(f64, u64), TestError> {
        while !cx.cancel.is_cancelled() {
            if *locked(&self.shared.released) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Err(TestError::Cancelled)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Test for Script {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: "scripted",
            title: "A script",
            summary: "Does what it is told.",
            version: self.version.clone(),
            implementation: Implementation {
                kind: ImplementationKind::Native,
                name: "fathom".to_owned(),
                version: "1".to_owned(),
            },
            options: vec![
                OptionInfo::new("case", OptionKind::Text, "a", "The case of the script."),
                OptionInfo::new(
                    "level",
                    OptionKind::Integer(1, 9),
                    "1",
                    "Tells cases apart.",
                ),
                OptionInfo::new(
                    "size",
                    OptionKind::Size(Bytes::new(1), Bytes::GIB),
                    "4KiB",
                    "Tells cases apart.",
                ),
                OptionInfo::new(
                    "order",
                    OptionKind::Choice,
                    "straight",
                    "Tells cases apart.",
                )
                .menu(&["straight", "random"]),
            ],
        }
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        let (_, script) = self.script(case);
        vec![Metric {
            id: "speed".to_owned(),
            title: "speed".to_owned(),
            unit: "MB/s".to_owned(),
            direction: Direction::HigherIsBetter,
            is_primary: true,
            steers: script.steers,
            ..Metric::default()
        }]
    }

    fn check(&self, _host: &Host, case: &Case) -> Vec<Unmet> {
        self.script(case).1.unmet
    }

    fn estimate(&self, _host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let (_, script) = self.script(case);
        Ok(Estimate {
            trial_time: script.time,
            ..script.estimate
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let (name, script) = self.script(case);
        self.say(format!("prepare {name}"));
        let number = {
            let mut prepared = locked(&self.shared.prepared);
            let number = prepared.entry(name.clone()).or_default();
            *number += 1;
            *number
        };
        let act = script.prepare.get(number - 1).or(script.prepare.last());
        let act = act.cloned().unwrap_or(Act::Value(0.0));
        self.act(&act, script.estimate.prepare_time, cx)?;
        let file = cx.scratch.join(format!("file-{}", case.id));
        std::fs::write(&file, "content").map_err(|error| TestError::io("writing", &file, error))?;
        Ok(Box::new(Ready {
            test: self.clone(),
            name,
            script,
            file,
        }))
    }
}

struct Ready {
    test: Script,
    name: String,
    script: CaseScript,
    file: PathBuf,
}

impl Prepared for Ready {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        self.test.say(format!("trial {} {}", self.name, cx.trial));
        let index = usize::try_from(cx.trial).unwrap_or(usize::MAX).max(1) - 1;
        let act = self.script.trials.get(index).or(self.script.trials.last());
        let act = act.cloned().unwrap_or(Act::Value(1.0));
        (cx.progress)(Progress {
            phase: "measure".to_owned(),
            fraction: Some(0.5),
            rate: String::new(),
        });
        let (value, written) = self.test.act(&act, self.script.time, cx)?;
        let mut trial = Trial::default();
        trial
            .values
            .extend(Figure::new(value).map(|value| ("speed".to_owned(), value)));
        trial.evidence.io = (written > 0).then(|| IoEvidence {
            written_bytes: written,
            ..IoEvidence::default()
        });
        if act == Act::Unreadable {
            // A second field of this name in the same object.
            trial.extra.insert("number".to_owned(), "one".into());
        }
        // The seed is part of what a trial saw, so that tests see that it is the same again.
        trial.evidence.counts.insert("seed".to_owned(), cx.seed);
        Ok(trial)
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        self.test.say(format!("finish {}", self.name));
        if self.script.finish_fails {
            return Err(TestError::Check {
                check: "cleaning up",
                found: "something is left".to_owned(),
            });
        }
        std::fs::remove_file(&self.file)
            .map_err(|error| TestError::io("removing", &self.file, error))
    }
}

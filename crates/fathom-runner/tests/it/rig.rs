use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::{BaseError, Bytes, FakeClock, WallTime};
use fathom_model::{
    Case, Event, Host, HostEvidence, Mount, Observer, ResultFile, Sink, SinkError, System,
    TargetInfo, TargetKind, Trial, Verdict, Witness,
};
use fathom_runner::scratch::ProcessTable;
use fathom_runner::{
    Control, Keeper, Merge, Outcome, Override, Plan, PlanRequest, Registry, ResumeOptions,
    RunError, RunSettings, Runner, Selection,
};
use fathom_store::Store;
use fathom_testkit::{FakeRoot, Script};
use tempfile::TempDir;

/// A target, a data directory, a script and all else a run needs.
pub struct Rig {
    pub target: PathBuf,
    pub store: Store,
    pub clock: FakeClock,
    pub script: Script,
    pub control: Control,
    pub host: Host,
    pub system: System,
    pub settings: RunSettings,
    pub seed: u64,
    pub run_id: String,
    pub cases: Vec<String>,
    /// Which start time this process claims to have: another one makes the earlier one dead.
    pub life: u64,
    _directory: TempDir,
    /// Kept as long as somebody may look processes up in them.
    machines: RefCell<Vec<FakeRoot>>,
}

struct Nobody;
struct Nothing;

impl Observer for Nobody {
    fn begin(&self) -> Box<dyn Witness> {
        Box::new(Nothing)
    }
}

impl Witness for Nothing {
    fn end(self: Box<Self>) -> HostEvidence {
        HostEvidence::default()
    }
}

pub fn valid(_: &Case, _: &Trial) -> Verdict {
    Verdict::valid()
}

pub const START: i64 = 1_796_064_312_000;

impl Rig {
    /// A run of the script's cases of these names.
    pub fn new(cases: &[&str], script: impl FnOnce(Script) -> Script) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("target");
        std::fs::create_dir(&target).unwrap();
        let clock = FakeClock::new(WallTime::from_unix_ms(START));
        let info = TargetInfo {
            path: target.display().to_string(),
            kind: TargetKind::Directory,
            mount: Some(Mount {
                file_system: "ext4".to_owned(),
                source: "/dev/sda1".to_owned(),
                size_bytes: 1 << 40,
                available_bytes: 1 << 39,
                ..Mount::default()
            }),
            ..TargetInfo::default()
        };
        Self {
            store: Store::new(&directory.path().join("data")),
            script: script(Script::new(&clock)),
            clock,
            control: Control::default(),
            host: Host {
                target: info.clone(),
                memory: Bytes::GIB,
                cpus: 2,
                is_root: false,
                search_path: "".into(),
            },
            system: System {
                identifier: "a disk".to_owned(),
                target: Some(Box::new(info)),
                ..System::default()
            },
            settings: RunSettings::default(),
            seed: 7,
            run_id: "20261130-184512-4f1c9a3e".to_owned(),
            cases: cases.iter().map(|case| (*case).to_owned()).collect(),
            life: 1,
            target,
            _directory: directory,
            machines: RefCell::default(),
        }
    }

    pub fn set(mut self, name: &str, value: &str) -> Self {
        self.settings.set(name, value).unwrap();
        self
    }

    pub fn registry(&self) -> Registry {
        Registry::new(vec![Box::new(self.script.clone())])
    }

    pub fn request(&self) -> PlanRequest {
        PlanRequest {
            run_id: self.run_id.clone(),
            seed: self.seed,
            name: "2026-11-30-scripted".to_owned(),
            add_to: None,
            title: "Scripted".to_owned(),
            description: String::new(),
            version: "0.1.0".to_owned(),
            started: WallTime::from_unix_ms(START),
            target: self.target.clone(),
            scratch_parent: self.target.clone(),
            system: self.system.clone(),
            selections: vec![Selection::Test("scripted".to_owned())],
            overrides: vec![Override {
                test: None,
                name: "level".to_owned(),
                values: vec!["1".to_owned()],
            }],
            implementation: None,
            settings: self.settings.clone(),
        }
    }

    pub fn plan(&self) -> Plan {
        let mut request = self.request();
        let info = fathom_model::Test::info(&self.script);
        let case = |name: &String| {
            let typed = [("case", name.as_str())].into_iter().collect();
            Case::resolve(&info, &typed, &format!("case {name}")).unwrap()
        };
        request.selections = vec![Selection::Cases(self.cases.iter().map(case).collect())];
        request.overrides = Vec::new();
        Plan::build(&request, &self.registry(), &self.host).unwrap()
    }

    /// A machine on which this process has started at `life`.
    fn processes(&self) -> ProcessTable {
        let (pid, life) = (std::process::id(), self.life);
        let stat = format!("{pid} (a) b) S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 4 0 {life} 1 1");
        let root = FakeRoot::new()
            .file(&format!("/proc/{pid}/stat"), stat)
            .file("/proc/sys/kernel/random/boot_id", "boot-1\n")
            .link("/proc/self/ns/pid", "pid:[4026531836]")
            .file("/etc/machine-id", "0123456789abcdef\n");
        let table = ProcessTable::new(root.path());
        self.machines.borrow_mut().push(root);
        table
    }

    pub fn runner(&self) -> Runner<'static> {
        Runner {
            registry: Arc::new(self.registry()),
            host: Arc::new(self.host.clone()),
            device: None,
            clock: Arc::new(self.clock.clone()),
            observer: Arc::new(Nobody),
            monitor: None,
            judge: &valid,
            control: self.control.clone(),
            processes: self.processes(),
        }
    }

    /// Puts target and data into a directory that another process knows too.
    pub fn place(&mut self, directory: &Path) {
        self.target = directory.join("target");
        std::fs::create_dir_all(&self.target).unwrap();
        self.store = Store::new(&directory.join("data"));
        self.host.target.path = self.target.display().to_string();
        self.system.target = Some(Box::new(self.host.target.clone()));
    }

    /// As [`Rig::runner`], with the processes of the machine.
    pub fn real_runner(&self) -> Runner<'static> {
        Runner {
            processes: ProcessTable::new(Path::new("/")),
            ..self.runner()
        }
    }

    /// Without a journal; the first sink is the one that records.
    pub fn run(&self, sinks: &mut [&mut dyn Sink]) -> Outcome {
        self.runner().run(&self.plan(), sinks)
    }

    pub fn run_recorded(&self, sinks: &mut [&mut dyn Sink]) -> Outcome {
        let keeper = keeper(&self.store);
        self.runner()
            .run_recorded(&self.plan(), &keeper, sinks)
            .unwrap()
    }

    pub fn resume(&self, sinks: &mut [&mut dyn Sink]) -> Result<Outcome, RunError> {
        let options = ResumeOptions::default();
        let keeper = keeper(&self.store);
        self.runner()
            .resume(&self.run_id, &self.system, options, &keeper, sinks)
    }

    /// What is in the target, hidden things included.
    pub fn left_in_target(&self) -> Vec<String> {
        names_in(&self.target)
    }

    pub fn journals(&self) -> Vec<String> {
        let runs = self.store.directory().join("runs");
        if runs.exists() {
            names_in(&runs)
        } else {
            Vec::new()
        }
    }
}

pub fn keeper(store: &Store) -> Keeper<'_> {
    const REFUSE: &Merge = &|_, _| panic!("nothing is merged here");
    Keeper {
        store,
        merge: REFUSE,
    }
}

pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Keeps all events but progress.
#[derive(Default)]
pub struct Recorder(pub Vec<Event>);

impl Sink for Recorder {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        if !matches!(event, Event::Progress { .. }) {
            self.0.push(event.clone());
        }
        Ok(())
    }
}

/// Does something at the event of a number, from 0; progress is not counted.
pub struct At<F: FnMut(&Event) -> Result<(), SinkError>> {
    pub number: usize,
    pub seen: usize,
    pub act: F,
}

impl<F: FnMut(&Event) -> Result<(), SinkError>> At<F> {
    pub fn new(number: usize, act: F) -> Self {
        Self {
            number,
            seen: 0,
            act,
        }
    }
}

impl<F: FnMut(&Event) -> Result<(), SinkError>> Sink for At<F> {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        if matches!(event, Event::Progress { .. }) {
            return Ok(());
        }
        self.seen += 1;
        match self.seen - 1 == self.number {
            true => (self.act)(event),
            false => Ok(()),
        }
    }
}

/// Does something at every event.
pub struct Each<F: FnMut(&Event)>(pub F);

impl<F: FnMut(&Event)> Sink for Each<F> {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        (self.0)(event);
        Ok(())
    }
}

pub fn disk_full() -> SinkError {
    SinkError::Base(BaseError::File {
        action: "append to",
        path: PathBuf::from("journal.jsonl"),
        source: std::io::ErrorKind::StorageFull.into(),
    })
}

/// The label of a case, as short as it was given.
pub fn label(plan: &Plan, case: &fathom_model::CaseId) -> String {
    let cases = plan.header.cases.iter();
    let planned = cases.map(|planned| &planned.case).find(|c| c.id == *case);
    planned.unwrap().label.replace("case ", "")
}

/// Events as one line each, without what differs from machine to machine.
pub fn transcript(plan: &Plan, events: &[Event]) -> String {
    let line = |event: &Event| match event {
        Event::RunStarted(header) => format!("run started, {} cases", header.cases.len()),
        Event::RunResumed { .. } => "run resumed".to_owned(),
        Event::PreparingCase { case } => format!("preparing {}", label(plan, case)),
        Event::CaseUnavailable { case, reason } => {
            format!("{} not available: {reason}", label(plan, case))
        }
        Event::TrialStarted { case, number } => format!("trial {} {number}", label(plan, case)),
        Event::TrialFinished { case, trial } => {
            let value = trial.values.get("speed").map(ToString::to_string);
            let error = trial.error.clone().map(|error| format!("failed: {error}"));
            let seconds = trial.duration_ns as f64 / 1e9;
            let came = value.or(error).unwrap();
            let name = label(plan, case);
            format!("  {name} {}: {came}, {seconds} s", trial.number)
        }
        Event::CaseStopped { case, reason } => format!("{} done: {reason:?}", label(plan, case)),
        Event::Note { text } => format!("note: {text}"),
        Event::RunFinished { end, .. } => format!("run finished: {end:?}"),
        Event::Progress { .. } => "progress".to_owned(),
    };
    events.iter().map(|event| line(event) + "\n").collect()
}

/// Ids and values of all trials in the order of the file, failed ones included.
pub fn trials_of(file: &ResultFile) -> Vec<(String, String, u64)> {
    let of = |trial: &Trial| {
        let value = trial.values.get("speed").map(ToString::to_string);
        let seed = trial.evidence.counts.get("seed").copied();
        (
            trial.id.clone(),
            value.or(trial.error.clone()).unwrap(),
            seed.unwrap_or_default(),
        )
    };
    let trials = file.runs.iter().flat_map(|run| &run.trials);
    trials.map(of).collect()
}

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fathom_base::{Bytes, Cancel, Clock, Nanos, SystemClock};
use fathom_model::{
    Case, Context, Host, HostEvidence, ImplementationKind, Mount, Observer, Options, Progress,
    TargetInfo, TargetKind, Test, TestError, Trial, Witness,
};
use tempfile::TempDir;

/// A machine, a scratch directory and all else a test is given, for tests of tests.
pub struct Bench {
    scratch: PathBuf,
    directory: TempDir,
    /// What the machine offers; may be changed before a check.
    pub host: Host,
    /// Raise it to see a test stop.
    pub cancel: Cancel,
    /// The block device or file to test instead of the scratch directory.
    pub device: Option<PathBuf>,
    /// Time each step may take.
    pub patience: Nanos,
    clock: SystemClock,
    observer: Windows,
    ignore: fn(Progress),
}

/// Counts the windows that were opened and closed.
#[derive(Debug, Default)]
struct Windows {
    begun: AtomicU32,
    ended: std::sync::Arc<AtomicU32>,
}

struct Window(std::sync::Arc<AtomicU32>);

impl Observer for Windows {
    fn begin(&self) -> Box<dyn Witness> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        Box::new(Window(std::sync::Arc::clone(&self.ended)))
    }
}

impl Witness for Window {
    fn end(self: Box<Self>) -> HostEvidence {
        self.0.fetch_add(1, Ordering::SeqCst);
        HostEvidence {
            window_ns: 1,
            ..HostEvidence::default()
        }
    }
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// In the system's temporary directory.
    ///
    /// # Panics
    /// When no directory can be made.
    pub fn new() -> Self {
        Self::inside(&std::env::temp_dir())
    }

    /// In a new directory inside `parent`.
    ///
    /// # Panics
    /// When no directory can be made.
    pub fn inside(parent: &Path) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("fathom-bench-")
            .tempdir_in(parent)
            .unwrap_or_else(|error| panic!("make a directory in {}: {error}", parent.display()));
        let scratch = directory.path().join("scratch");
        std::fs::create_dir(&scratch)
            .unwrap_or_else(|error| panic!("make {}: {error}", scratch.display()));
        let target = TargetInfo {
            path: directory.path().display().to_string(),
            kind: TargetKind::Directory,
            mount: Some(Mount {
                point: "/".to_owned(),
                file_system: "ext4".to_owned(),
                size_bytes: 1 << 40,
                available_bytes: 1 << 39,
                block_size_bytes: 4096,
                ..Mount::default()
            }),
            ..TargetInfo::default()
        };
        Self {
            scratch,
            directory,
            host: Host {
                target,
                memory: Bytes::new(8 << 30),
                cpus: 2,
                is_root: false,
                search_path: std::env::var_os("PATH").unwrap_or_default(),
            },
            cancel: Cancel::new(),
            device: None,
            patience: Nanos::from_secs(120),
            clock: SystemClock::new(),
            observer: Windows::default(),
            ignore: |_| {},
        }
    }

    /// The run's scratch directory.
    pub fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// The directory around it, the bench's own.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Names in the scratch directory, sorted.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn leftovers(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.scratch)
            .unwrap_or_else(|error| panic!("read {}: {error}", self.scratch.display()));
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .collect();
        names.sort();
        names
    }

    /// What a test is given for a trial (0 is the preparation).
    pub fn context(&self, trial: u32) -> Context<'_> {
        Context {
            scratch: &self.scratch,
            device: self.device.clone(),
            host: &self.host,
            seed: 42 + u64::from(trial),
            trial,
            deadline: self.clock.now().plus(self.patience),
            cancel: &self.cancel,
            clock: &self.clock,
            observer: &self.observer,
            progress: &self.ignore,
        }
    }

    /// A case of a test.
    ///
    /// # Panics
    /// When an option is not accepted.
    pub fn case(test: &dyn Test, typed: &[(&str, &str)]) -> Case {
        let typed: Options = typed.iter().copied().collect();
        Case::resolve(&test.info(), &typed, "")
            .and_then(|case| test.complete(case))
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// Prepares a case, runs `trials` trials and cleans up; nothing may be left behind.
    ///
    /// # Errors
    /// What the test answered.
    ///
    /// # Panics
    /// When something was left behind.
    pub fn run(
        &self,
        test: &dyn Test,
        typed: &[(&str, &str)],
        trials: u32,
    ) -> Result<Vec<Trial>, TestError> {
        let before = self.leftovers();
        let case = Self::case(test, typed);
        let result = self.run_case(test, &case, trials);
        assert_eq!(self.leftovers(), before, "left in the scratch directory");
        result
    }

    fn run_case(&self, test: &dyn Test, case: &Case, trials: u32) -> Result<Vec<Trial>, TestError> {
        let mut prepared = test.prepare(case, &self.context(0))?;
        let results: Vec<Result<Trial, TestError>> = (1..=trials)
            .map(|number| prepared.run_once(&self.context(number)))
            .collect();
        prepared.finish(&self.context(0))?;
        results.into_iter().collect()
    }
}

/// Holds a test against the contract of [`Test`], with a case that runs in seconds.
///
/// Checked: names are unique and every default is accepted; the metrics have unique ids, one
/// primary, and one at least that steers; the case has no unmet need on this bench and an estimate; each trial
/// yields finite values of those metrics only, the primary among them, the host's evidence of one
/// window, and counts that agree; two cases can be prepared at the same time; nothing is left
/// behind, not after a trial that was cancelled and not after a preparation that was.
///
/// # Panics
/// On the first breach, with what was expected.
pub fn conforms(test: &dyn Test, typed: &[(&str, &str)], bench: &mut Bench) -> Vec<Trial> {
    check_info(test);
    let case = Bench::case(test, typed);
    let ids = check_metrics(test, &case);
    let unmet = test.check(&bench.host, &case);
    assert!(unmet.is_empty(), "unmet on this bench: {unmet:?}");
    if let Err(error) = test.estimate(&bench.host, &case) {
        panic!("no estimate: {error}");
    }
    let trials = bench
        .run(test, typed, 2)
        .unwrap_or_else(|error| panic!("{} {typed:?}: {error}", case.test));
    for trial in &trials {
        let is_native = case.implementation.kind == ImplementationKind::Native;
        check_trial(trial, &ids, is_native);
    }
    let (begun, ended) = (&bench.observer.begun, &bench.observer.ended);
    assert_eq!(
        begun.load(Ordering::SeqCst),
        2,
        "windows begun in two trials"
    );
    assert_eq!(
        ended.load(Ordering::SeqCst),
        2,
        "windows ended in two trials"
    );
    check_cancel(test, &case, bench);
    trials
}

fn check_info(test: &dyn Test) {
    let info = test.info();
    assert!(
        !info.title.is_empty() && !info.summary.is_empty(),
        "{}",
        info.id
    );
    let mut names: Vec<&str> = info.options.iter().map(|option| option.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names.len(),
        info.options.len(),
        "{}: option names repeat",
        info.id
    );
    for option in &info.options {
        if let Err(error) = option.canonical(info.id, &option.default) {
            panic!("default refused: {error}");
        }
        assert!(!option.help.is_empty(), "{} has no help", option.name);
    }
}

fn check_metrics(test: &dyn Test, case: &Case) -> Vec<String> {
    let metrics = test.metrics(case);
    let primary = metrics.iter().filter(|metric| metric.is_primary).count();
    assert_eq!(primary, 1, "primary metrics of {}", case.test);
    assert!(
        metrics.iter().any(|metric| metric.steers),
        "no metric steers"
    );
    let mut ids: Vec<String> = metrics.iter().map(|metric| metric.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), metrics.len(), "metric ids repeat");
    let primary = metrics.into_iter().find(|metric| metric.is_primary);
    // The primary one first, for `check_trial`.
    if let Some(primary) = primary {
        ids.retain(|id| *id != primary.id);
        ids.insert(0, primary.id);
    }
    ids
}

fn check_trial(trial: &Trial, ids: &[String], counts_itself: bool) {
    for (id, value) in &trial.values {
        assert!(ids.contains(id), "value {id} is no metric");
        assert!(value.value() >= 0.0, "{id} is {value}");
    }
    if let Some(primary) = ids.first() {
        assert!(trial.values.contains_key(primary), "{primary} is missing");
    }
    assert!(trial.evidence.host.is_some(), "no evidence of the host");
    if let Some(io) = &trial.evidence.io {
        assert_eq!(
            io.histogram_count, io.operations,
            "histogram and operations"
        );
        // A program may give no intervals.
        if counts_itself || io.interval_count > 0 {
            assert_eq!(io.interval_count, io.operations, "intervals and operations");
        }
    }
}

fn check_cancel(test: &dyn Test, case: &Case, bench: &mut Bench) {
    let mut prepared = test
        .prepare(case, &bench.context(0))
        .unwrap_or_else(|error| panic!("prepare: {error}"));
    bench.cancel.cancel();
    let result = prepared.run_once(&bench.context(1));
    assert!(
        matches!(result, Err(TestError::Cancelled)),
        "a cancelled trial gave {result:?}"
    );
    if let Err(error) = prepared.finish(&bench.context(0)) {
        panic!("finish: {error}");
    }
    assert_eq!(
        bench.leftovers(),
        Vec::<String>::new(),
        "left after a cancelled trial"
    );
    if let Ok(prepared) = test.prepare(case, &bench.context(0)) {
        // A preparation may be too short to notice; cleaning up must work all the same.
        if let Err(error) = prepared.finish(&bench.context(0)) {
            panic!("finish: {error}");
        }
    }
    assert_eq!(
        bench.leftovers(),
        Vec::<String>::new(),
        "left after a cancelled preparation"
    );
    bench.cancel = Cancel::new();
}

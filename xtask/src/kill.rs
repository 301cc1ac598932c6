//! `cargo xtask kill-test`: SIGKILL at random moments, resume, and count what was lost.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use fathom_base::SplitMix64;

use crate::run::{cargo, insist, root};

/// Small cases, so that a run is a few seconds and a kill lands anywhere in it.
const OPTIONS: [&str; 4] = [
    "io.size=16MiB",
    "io.runtime=200ms",
    "io.ramp=0s",
    "sqlite.rows=20",
];
const WHAT: [&str; 2] = ["quick", "sqlite"];
/// A run is killed after at most so long; about what it takes.
const LONGEST_MS: u64 = 9_000;

/// What all kills together cost.
#[derive(Debug, Default)]
struct Tally {
    kills: u32,
    cases_lost: usize,
    trials_lost: usize,
    scratch_left: usize,
    corrupt: usize,
}

/// Kills `runs` runs, some of them more than once, and resumes them.
pub fn kill_test(runs: u32) -> Result<()> {
    insist(cargo(&["build", "--release", "--package", "fathom-cli"]))?;
    let scratch = scratch_directory()?;
    let fathom = binary()?;
    let mut tally = Tally::default();
    let outcome = (0..runs).try_for_each(|number| {
        let one = OneRun::new(&fathom, &scratch.join(format!("run-{number}")))?;
        one.kill_and_resume(number, &mut tally)
    });
    std::fs::remove_dir_all(&scratch).context("remove the scratch directory")?;
    outcome?;
    println!(
        "{runs} runs, {} kills: cases lost {}, recorded trials lost {}, scratch directories left {}, \
         corrupt files {}",
        tally.kills, tally.cases_lost, tally.trials_lost, tally.scratch_left, tally.corrupt
    );
    match (
        tally.cases_lost + tally.trials_lost,
        tally.scratch_left,
        tally.corrupt,
    ) {
        (0, 0, 0) => Ok(()),
        _ => bail!("something was lost"),
    }
}

struct OneRun<'a> {
    fathom: &'a Path,
    target: PathBuf,
    data: PathBuf,
}

impl<'a> OneRun<'a> {
    fn new(fathom: &'a Path, directory: &Path) -> Result<Self> {
        let target = directory.join("target");
        let data = directory.join("data");
        std::fs::create_dir_all(&target).context("create the target")?;
        Ok(Self {
            fathom,
            target,
            data,
        })
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.fathom);
        command
            .args(words)
            .env("FATHOM_DATA", &self.data)
            .current_dir(&self.target)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn run(&self) -> Command {
        let mut words = vec!["run"];
        words.extend(WHAT);
        words.extend(["--name", "killed", "--max-trials", "3", "--seed", "1"]);
        for option in &OPTIONS {
            words.extend(["-o", option]);
        }
        self.command(&words)
    }

    fn kill_and_resume(&self, number: u32, tally: &mut Tally) -> Result<()> {
        let planned = self.planned()?;
        // A seed for each run, so that a bad moment can be found again.
        let mut random = SplitMix64::new(u64::from(number));
        let mut command = self.run();
        let mut recorded = BTreeSet::new();
        loop {
            let delay = Duration::from_millis(random.below(LONGEST_MS));
            let mut child = command.spawn().context("start fathom")?;
            if let Some(status) = wait(&mut child, delay)? {
                if !status.success() {
                    bail!("run {number}: fathom ended with {status}");
                }
                break;
            }
            child.kill().context("kill fathom")?;
            child.wait().context("wait for fathom")?;
            tally.kills += 1;
            recorded.extend(self.recorded_trials());
            // Killed before its head was kept, nothing was measured and nothing can go on.
            command = match self.has_begun() {
                true => self.command(&["resume"]),
                false => self.run(),
            };
        }
        self.count_losses(&planned, &recorded, tally)
    }

    /// The whole lines of all journals.
    fn journal_lines(&self) -> Vec<String> {
        let files = files_below(&self.data.join("runs")).into_iter();
        let journals = files.filter(|path| path.ends_with("journal.jsonl"));
        let texts = journals.filter_map(|path| std::fs::read_to_string(path).ok());
        let whole = |text: String| {
            let end = text.rfind('\n').map_or(0, |at| at + 1);
            text[..end].lines().map(str::to_owned).collect::<Vec<_>>()
        };
        texts.flat_map(whole).collect()
    }

    fn has_begun(&self) -> bool {
        let lines = self.journal_lines();
        lines.iter().any(|line| line.contains("\"run-started\""))
    }

    /// Ids of the trials that are on disk: no kill may lose one of them.
    fn recorded_trials(&self) -> Vec<String> {
        let id = |line: &String| {
            let event: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(event.pointer("/trial/id")?.as_str()?.to_owned())
        };
        self.journal_lines().iter().filter_map(id).collect()
    }

    /// Identities of the cases the run plans.
    fn planned(&self) -> Result<BTreeSet<String>> {
        let mut command = self.run();
        command.args(["--dry-run", "--json"]).stdout(Stdio::piped());
        let output = command.output().context("ask for the plan")?;
        let plan: serde_json::Value = serde_json::from_slice(&output.stdout)
            .context("read the plan of fathom run --dry-run --json")?;
        case_ids(&plan).context("the plan has no cases")
    }

    fn count_losses(
        &self,
        planned: &BTreeSet<String>,
        recorded: &BTreeSet<String>,
        tally: &mut Tally,
    ) -> Result<()> {
        let mut show = self.command(&["show", "killed", "--json"]);
        let output = show.stdout(Stdio::piped()).output().context("show")?;
        match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
            Ok(result) => {
                let measured = measured_ids(&result);
                tally.cases_lost += planned.difference(&measured).count();
                tally.trials_lost += recorded.difference(&trial_ids(&result)).count();
            }
            Err(_) => tally.corrupt += 1,
        }
        for path in files_below(&self.data) {
            let is_json = path
                .extension()
                .is_some_and(|extension| extension == "json");
            if is_json {
                let bytes = std::fs::read(&path).context("read a saved file")?;
                let is_good = serde_json::from_slice::<serde_json::Value>(&bytes).is_ok();
                tally.corrupt += usize::from(!is_good);
            }
        }
        let left = std::fs::read_dir(&self.target).context("list the target")?;
        tally.scratch_left += left.count();
        Ok(())
    }
}

/// Ids of `cases[].case.id` or `cases[].id`.
fn case_ids(value: &serde_json::Value) -> Option<BTreeSet<String>> {
    let cases = value.get("cases")?.as_array()?;
    let id = |case: &serde_json::Value| {
        let case = case.get("case").unwrap_or(case);
        Some(case.get("id")?.as_str()?.to_owned())
    };
    cases.iter().map(id).collect()
}

/// Ids of the cases with at least one good trial.
fn measured_ids(result: &serde_json::Value) -> BTreeSet<String> {
    let runs = result.get("runs").and_then(serde_json::Value::as_array);
    let has_values = |run: &serde_json::Value| {
        let trials = run.get("trials")?.as_array()?;
        let is_good = trials.iter().any(|trial| trial.get("values").is_some());
        is_good.then(|| Some(run.get("case")?.as_str()?.to_owned()))?
    };
    runs.into_iter().flatten().filter_map(has_values).collect()
}

/// Ids of all trials.
fn trial_ids(result: &serde_json::Value) -> BTreeSet<String> {
    let runs = result.get("runs").and_then(serde_json::Value::as_array);
    let trials = runs.into_iter().flatten();
    let trials = trials.filter_map(|run| run.get("trials")?.as_array());
    let id = |trial: &serde_json::Value| Some(trial.get("id")?.as_str()?.to_owned());
    trials.flatten().filter_map(id).collect()
}

/// How the child ended, if it did by itself within the time.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait().context("wait for fathom")? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(None)
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                _ => found.push(path),
            }
        }
    }
    found
}

/// The release binary, where this cargo builds it.
fn binary() -> Result<PathBuf> {
    let own = std::env::current_exe().context("find our own path")?;
    // target/debug/xtask
    let target = own
        .ancestors()
        .nth(2)
        .context("find the target directory")?;
    Ok(target.join("release/fathom"))
}

/// In the target directory: on a real disk, and ignored by git.
fn scratch_directory() -> Result<PathBuf> {
    let parent = binary()?.parent().map_or_else(root, Path::to_path_buf);
    let scratch = parent.join(format!("kill-test-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).context("create the scratch directory")?;
    Ok(scratch)
}

//! Real processes, really killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use fathom_model::RunEnd;
use fathom_runner::{Outcome, ResumeOptions, RunError};
use fathom_store::StoreError;
use fathom_testkit::{Act, CaseScript};

use crate::resume::rig;
use crate::rig::{Recorder, Rig, keeper, names_in, trials_of};

const DIRECTORY: &str = "FATHOM_TEST_CHILD";

/// Starts a test of this program that has a directory to work in.
fn child(test: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn run_to_be_killed(rig: &Rig) {
    let keeper = keeper(&rig.store);
    let _ = rig
        .real_runner()
        .run_recorded(&rig.plan(), &keeper, &mut []);
}

fn resumed(rig: &Rig) -> Result<Outcome, RunError> {
    let keeper = keeper(&rig.store);
    let options = ResumeOptions::default();
    rig.real_runner()
        .resume(&rig.run_id, &rig.system, options, &keeper, &mut [])
}

/// Child of [`kill_9_while_a_trial_runs_is_survived`]: waits in the third trial of `a`.
#[test]
fn child_that_waits() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        run_to_be_killed(&waiting(PathBuf::from(directory)));
    }
}

fn waiting(directory: PathBuf) -> Rig {
    let mut rig = Rig::new(&["a", "b"], |script| {
        let waits = [Act::Value(1.0), Act::Value(20.0), Act::Wait];
        script
            .case("a", CaseScript::acts(waits))
            .case("b", CaseScript::values(&[5.0, 9.0]))
    })
    .set("max-trials", "4");
    rig.place(&directory);
    rig
}

#[test]
fn kill_9_while_a_trial_runs_is_survived() {
    let directory = tempfile::tempdir().unwrap();
    let mut rig = waiting(directory.path().to_path_buf());
    let runs = rig.store.directory().join("runs");
    let journal = runs.join(&rig.run_id).join("journal.jsonl");
    let mut child = child("killed::child_that_waits", directory.path());
    let case = rig.plan().header.cases[0].case.id.clone();
    let waits_at = format!("{{\"event\":\"trial-started\",\"case\":\"{case}\",\"number\":3}}\n");
    let is_there = || {
        let text = std::fs::read_to_string(&journal);
        text.unwrap_or_default().ends_with(&waits_at)
    };
    while !is_there() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(rig.left_in_target(), [".fathom-4f1c9a3e"]);
    // The same script, without the wait.
    let script = rig.script.clone();
    rig.script = script.case("a", CaseScript::values(&[1.0, 20.0, 3.0]));
    let outcome = resumed(&rig).unwrap();
    assert_eq!(outcome.end, RunEnd::Complete, "{:?}", outcome.error);
    assert_eq!(outcome.counts.trials, 8);
    assert_eq!(rig.left_in_target(), [""; 0]);
    assert_eq!(rig.journals(), [""; 0]);
    assert_eq!(names_in(&rig.store.directory().join("results")).len(), 1);
}

/// Child of [`kill_9_at_any_moment_loses_nothing`].
#[test]
fn child_that_runs() {
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        run_to_be_killed(&placed(Path::new(&directory)));
    }
}

fn placed(directory: &Path) -> Rig {
    let mut rig = rig();
    rig.place(directory);
    rig
}

#[test]
fn kill_9_at_any_moment_loses_nothing() {
    const KILLS: u32 = 20;
    let start = || {
        let directory = tempfile::tempdir().unwrap();
        let child = child("killed::child_that_runs", directory.path());
        (directory, child)
    };
    // The first run of a program takes longer than the others.
    let (_warm, mut whole) = start();
    assert!(whole.wait().unwrap().success());
    let began = Instant::now();
    let (directory, mut whole) = start();
    assert!(whole.wait().unwrap().success());
    let duration = began.elapsed();
    let expected = placed(directory.path());
    let names = expected.store.names().unwrap();
    let expected = trials_of(&expected.store.load(&names[0]).unwrap());
    // Kills are spread over the whole run, from before its first file to after its last.
    for number in 0..KILLS {
        let (directory, mut child) = start();
        let moment = Instant::now() + duration * (number + 1) / KILLS;
        while Instant::now() < moment {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let after = |text: &str| format!("kill {number} of {KILLS}: {text}");
        check_after_kill(directory.path(), &expected, &after);
    }
}

fn check_after_kill(
    directory: &Path,
    expected: &[(String, String, u64)],
    after: &dyn Fn(&str) -> String,
) {
    let rig = placed(directory);
    match resumed(&rig) {
        Ok(outcome) => assert_eq!(outcome.end, RunEnd::Complete, "{}", after("resume")),
        // Killed before it began, or after it was saved.
        Err(RunError::NotBegun { .. } | RunError::Store(StoreError::NoRun { .. })) => {}
        Err(error) => panic!("{}", after(&error.to_string())),
    }
    if rig.store.names().unwrap().is_empty() {
        let mut recorder = Recorder::default();
        let keeper = keeper(&rig.store);
        let mut again = placed(directory);
        again.run_id = "20261130-184512-00000002".to_owned();
        let outcome = again
            .real_runner()
            .run_recorded(&again.plan(), &keeper, &mut [&mut recorder])
            .unwrap();
        assert_eq!(outcome.end, RunEnd::Complete, "{}", after("run again"));
    } else {
        let names = rig.store.names().unwrap();
        assert_eq!(names.len(), 1, "{}", after("results"));
        let trials = trials_of(&rig.store.load(&names[0]).unwrap());
        assert_eq!(trials, expected, "{}", after("trials"));
    }
    assert_eq!(rig.left_in_target(), [""; 0], "{}", after("scratch"));
    rig.store.sweep_runs().unwrap();
    assert_eq!(rig.journals(), [""; 0], "{}", after("journals"));
}

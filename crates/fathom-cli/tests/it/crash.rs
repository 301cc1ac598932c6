//! Stopped, killed, two at once.

use std::io::Write;
use std::process::Child;

use crate::bench::{Bench, end, good_trials, signal, wait_until};

/// Ten cases of a quarter of a second: long enough to be stopped in the middle.
const SLOW_QUICK: [&str; 14] = [
    "run",
    "quick",
    "-o",
    "size=8MiB",
    "-o",
    "runtime=150ms",
    "-o",
    "ramp=0s",
    "--min-trials",
    "3",
    "--max-trials",
    "3",
    "--budget",
    "none",
];

/// A run that is under way: some trials are in its journal.
fn under_way(bench: &Bench, trials: usize) -> Child {
    let mut child = bench.command(&SLOW_QUICK).spawn().unwrap();
    wait_until("trials in the journal", || {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before that");
        bench.count_in_journal("trial-finished") >= trials
    });
    child
}

/// Killed with SIGKILL after some trials; its scratch directory is still there.
fn killed(bench: &Bench, trials: usize) {
    let mut child = under_way(bench, trials);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.left().len(), 1, "{:?}", bench.left());
}

/// All ten cases with three trials each, nothing left behind.
fn is_whole(bench: &Bench) {
    let result = bench.run(&["show", "latest", "--json"]).expect(0).json();
    let trials = good_trials(&result);
    assert_eq!(trials.len(), 10);
    assert!(trials.iter().all(|(_, count)| *count == 3), "{trials:?}");
    assert_eq!(result.get("status"), None, "complete results don't say so");
    assert!(bench.left().is_empty(), "{:?}", bench.left());
    assert!(bench.journals().is_empty());
}

#[test]
fn a_killed_run_goes_on_and_loses_no_trial() {
    let Some(bench) = Bench::new() else { return };
    killed(&bench, 4);
    let before = bench.count_in_journal("trial-finished");
    let listed = bench.run(&["list", "results"]).expect(0);
    assert!(listed.stdout.contains("fathom resume"), "{}", listed.stdout);
    let resumed = bench.run(&["resume"]).expect(0);
    assert!(
        resumed
            .stderr
            .contains(&format!("{before} trials of 10 cases done")),
        "{}",
        resumed.stderr
    );
    is_whole(&bench);
    bench.run(&["resume"]).expect(3);
}

#[test]
fn a_torn_last_line_of_the_journal_is_ignored() {
    let Some(bench) = Bench::new() else { return };
    killed(&bench, 2);
    let journal = bench.journals().remove(0);
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&journal)
        .unwrap();
    file.write_all(b"{\"event\":\"trial-fin").unwrap();
    drop(file);
    bench.run(&["resume"]).expect(0);
    is_whole(&bench);
}

#[test]
fn a_journal_damaged_in_the_middle_is_refused_and_can_be_salvaged() {
    let Some(bench) = Bench::new() else { return };
    killed(&bench, 3);
    let journal = bench.journals().remove(0);
    let text = std::fs::read_to_string(&journal).unwrap();
    let second_trial = text.match_indices("\"trial-finished\"").nth(1).unwrap().0;
    let mut bytes = text.into_bytes();
    bytes[second_trial] = b'#';
    std::fs::write(&journal, bytes).unwrap();
    let refused = bench.run(&["resume"]).expect(1);
    assert!(refused.stderr.contains("--salvage"), "{}", refused.stderr);
    assert!(refused.stderr.contains("line "), "{}", refused.stderr);
    bench.run(&["resume", "--salvage"]).expect(0);
    is_whole(&bench);
}

#[test]
fn a_new_run_removes_what_a_killed_one_left() {
    let Some(bench) = Bench::new() else { return };
    killed(&bench, 1);
    let small = [
        "run",
        "io",
        "-o",
        "size=1MiB",
        "-o",
        "runtime=10ms",
        "--max-trials",
        "1",
    ];
    bench.run(&small).expect(0);
    assert!(bench.left().is_empty(), "{:?}", bench.left());
    bench.run(&["resume"]).expect(0);
    is_whole(&bench);
}

#[test]
fn the_first_interrupt_stops_cleanly_and_the_run_can_go_on() {
    for name in ["INT", "TERM", "HUP"] {
        let Some(bench) = Bench::new() else { return };
        let child = under_way(&bench, 2);
        signal(&child, name);
        let ended = end(child).expect(4);
        assert!(ended.stderr.contains("fathom resume"), "{}", ended.stderr);
        assert!(ended.stdout.contains("not measured"), "{}", ended.stdout);
        assert!(bench.left().is_empty(), "{name}: {:?}", bench.left());
        let shown = bench.run(&["show", "latest", "--json"]).expect(0).json();
        assert_eq!(shown["status"], "partial");
        bench.run(&["resume"]).expect(0);
        is_whole(&bench);
    }
}

#[test]
fn an_interrupt_before_the_first_trial_keeps_nothing_and_says_so() {
    let Some(bench) = Bench::new() else { return };
    let long = ["run", "io", "-o", "size=8MiB", "-o", "runtime=60s"];
    let child = bench.command(&long).spawn().unwrap();
    wait_until("the first trial", || {
        bench.count_in_journal("trial-started") == 1
    });
    signal(&child, "INT");
    let ended = end(child).expect(4);
    assert!(
        ended.stderr.contains("nothing was kept"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("fathom resume"), "{}", ended.stderr);
    assert!(bench.journals().is_empty() && bench.left().is_empty());
}

#[test]
fn two_runs_at_once_in_one_directory_keep_out_of_each_others_way() {
    let Some(bench) = Bench::new() else { return };
    let one = bench.command(&SLOW_QUICK).spawn().unwrap();
    let other = bench.command(&SLOW_QUICK).spawn().unwrap();
    let ended = [end(one).expect(0), end(other).expect(0)];
    let name = |ended: &str| {
        let line = ended
            .lines()
            .find(|line| line.starts_with("saved as "))
            .unwrap();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_ne!(name(&ended[0].stderr), name(&ended[1].stderr));
    assert!(bench.left().is_empty(), "{:?}", bench.left());
    assert_eq!(bench.run(&["list", "results"]).stdout.lines().count(), 2);
}

#[test]
fn a_run_that_goes_on_elsewhere_is_not_resumed() {
    let Some(bench) = Bench::new() else { return };
    let mut child = under_way(&bench, 1);
    let name = bench.run(&["list", "results", "--json"]).expect(0).json();
    let name = name["unfinished"][0]["name"].as_str().unwrap().to_owned();
    let refused = bench.run(&["resume", &name]);
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.stderr.contains("another process"),
        "{}",
        refused.stderr
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

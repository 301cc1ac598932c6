//! `fathom matrix`: plan, a whole run on loop devices, and after a kill.

use std::fs;
use std::path::Path;

use fathom_testkit::{root, tool};

use crate::bench::Bench;

const FILE: &str = r#"
format = 1
name = "small"
title = "Small"
suites = ["io"]
options = { "io.rw" = "randread", "io.size" = "4MiB", "io.runtime" = "20ms", "io.ramp" = "0s" }
seed = 5
blocks = 2
[[device]]
name = "a"
loop = "256MiB"
[[group]]
devices = ["a"]
file-system = ["ext4", "btrfs"]
"#;

fn bench() -> Option<Bench> {
    let bench = Bench::new()?;
    fs::write(bench.target.join("small.toml"), FILE).unwrap();
    Some(bench)
}

fn nothing_is_left(bench: &Bench) {
    let data = fs::canonicalize(bench.data()).unwrap();
    let data = data.to_str().unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(data), "{mounts}");
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file"));
        assert!(!backing.unwrap_or_default().contains(data));
    }
}

#[test]
fn the_plan_says_what_is_built_and_touches_nothing() {
    let Some(bench) = bench() else { return };
    let plan = bench
        .run(&["matrix", "small.toml", "--dry-run", "--json"])
        .expect(0)
        .json();
    assert_eq!(plan["configurations"][1]["identifier"], "loop 256MiB Btrfs");
    assert_eq!(plan["order"].as_array().unwrap().len(), 2);
    assert_eq!(plan["seed"], 5);
    let text = bench
        .run(&["matrix", "small.toml", "--dry-run"])
        .expect(0)
        .stderr;
    assert!(
        text.contains("2 configurations x 2 blocks x 1 cases"),
        "{text}"
    );
    assert!(!bench.data().exists());
}

#[test]
fn wrong_words_are_told() {
    let Some(bench) = bench() else { return };
    bench.run(&["matrix"]).expect(2);
    bench.run(&["matrix", "no.toml"]).expect(3);
    let stray = bench
        .run(&["matrix", "small.toml", "--destroy", "S123"])
        .expect(2);
    assert!(
        stray.stderr.contains("no device of this serial number"),
        "{}",
        stray.stderr
    );
    let text = FILE.replace("\"btrfs\"", "\"zfs\"");
    fs::write(bench.target.join("zfs.toml"), text).unwrap();
    let wrong = bench.run(&["matrix", "zfs.toml"]).expect(2);
    assert!(wrong.stderr.contains("zfs.toml, line"), "{}", wrong.stderr);
    let clean = bench.run(&["matrix", "--clean"]).expect(0);
    assert!(
        clean.stderr.contains("no unfinished matrix"),
        "{}",
        clean.stderr
    );
}

#[test]
fn a_matrix_that_is_killed_leaves_nothing_after_cleaning_and_goes_on() {
    if !root("a loop device") || tool("losetup").is_none() {
        return;
    }
    for program in ["mkfs.ext4", "mkfs.btrfs"] {
        if tool(program).is_none() {
            return;
        }
    }
    let Some(bench) = bench() else { return };
    let journal = bench.data().join("matrix/small/journal.jsonl");
    for lines in [4, 9] {
        let mut child = bench
            .command(&["matrix", "small.toml", "-q"])
            .spawn()
            .unwrap();
        wait_for_lines(&journal, lines);
        child.kill().unwrap();
        child.wait().unwrap();
        bench.run(&["matrix", "--clean"]).expect(0);
        nothing_is_left(&bench);
    }
    bench.run(&["matrix", "small.toml", "-q"]).expect(0);
    nothing_is_left(&bench);
    let result = bench.run(&["show", "small", "--json"]).expect(0).json();
    let labels: Vec<&str> = result["systems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|system| system["labels"]["file-system"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["ext4", "btrfs"]);
    for run in result["runs"].as_array().unwrap() {
        let trials = run["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 2, "{run}");
        assert!(trials[0]["series"]["sensor/memory-used"]["values"].is_array());
    }
    let by = bench
        .run(&["show", "small", "--by", "file-system"])
        .expect(0);
    assert!(by.stdout.contains("btrfs against ext4"), "{}", by.stdout);
    bench.run(&["show", "small", "--by", "colour"]).expect(2);
}

/// Waits until a journal has grown to so many lines.
fn wait_for_lines(journal: &Path, lines: usize) {
    let begun = std::time::Instant::now();
    while fs::read_to_string(journal)
        .unwrap_or_default()
        .lines()
        .count()
        < lines
    {
        assert!(
            begun.elapsed().as_secs() < 120,
            "{} does not grow",
            journal.display()
        );
        std::thread::yield_now();
    }
}

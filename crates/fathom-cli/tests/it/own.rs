//! Programs and profiles of one's own.

use crate::bench::{Bench, end, good_trials, signal, wait_until};

/// Three short trials of whatever is named.
const THREE: [&str; 4] = ["--min-trials", "3", "--max-trials", "3"];

fn run(bench: &Bench, words: &[&str]) -> crate::bench::Ended {
    let all: Vec<&str> = [&["run"], words, &THREE].concat();
    bench.run(&all)
}

#[test]
fn any_command_is_measured_and_run_again() {
    let Some(bench) = Bench::new() else { return };
    std::fs::write(bench.target.join("big file"), vec![7; 1 << 20]).unwrap();
    let words = [
        "--command",
        "cp 'big file' copy",
        "--metric",
        "wall",
        "--metric",
        "cpu",
    ];
    let done = run(&bench, &[&words[..], &["--json"]].concat()).expect(0);
    let result = done.json();
    assert_eq!(good_trials(&result)[0].1, 3);
    let metrics: Vec<&str> = result["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["metric"]["id"].as_str().unwrap())
        .collect();
    assert_eq!(metrics, ["wall", "cpu"]);
    // The copy was made in the run's own directory, and is gone.
    assert_eq!(bench.left(), [bench.target.join("big file")]);
    // The same again: what was typed here needs no trust.
    run(&bench, &["latest"]).expect(0);
    let again = bench.run(&["show", "latest", "--json"]).expect(0).json();
    assert_eq!(good_trials(&again)[0].1, 6);
}

#[test]
fn a_command_that_fails_or_gives_no_figure_is_a_failed_trial() {
    let Some(bench) = Bench::new() else { return };
    for (words, expected) in [
        (&["--command", "false"][..], "ended with exit code 1"),
        (
            &[
                "--command",
                "echo rate x",
                "--metric",
                "regex:rate ([0-9.]+)",
            ],
            "nothing matches",
        ),
        (
            &["--command", "no-such-program"],
            "no-such-program is not installed",
        ),
    ] {
        let done = run(&bench, words);
        assert_ne!(done.code, Some(0), "{words:?}");
        assert!(
            done.stderr.contains(expected) || done.stdout.contains(expected),
            "{words:?}: {}{}",
            done.stdout,
            done.stderr
        );
    }
    let done = run(
        &bench,
        &[
            "--command",
            "echo 'rate 12.5 MB/s'",
            "--metric",
            "rate,MB/s,higher=regex:rate ([0-9.]+)",
            "--json",
        ],
    );
    let result = done.expect(0).json();
    assert_eq!(result["results"][0]["entries"][0]["value"], 12.5);
    assert_eq!(result["results"][0]["metric"]["unit"], "MB/s");
    let done = run(&bench, &["--command", "true", "--metric", "speed"]).expect(2);
    assert!(
        done.stderr.contains("metric \"speed\" is not accepted"),
        "{}",
        done.stderr
    );
    let done = run(&bench, &["--command", "echo 'x"]).expect(2);
    assert!(done.stderr.contains("open quote"), "{}", done.stderr);
}

#[test]
fn words_are_no_shell_unless_one_is_asked_for() {
    let Some(bench) = Bench::new() else { return };
    let words = [
        "--command",
        "echo 1 > file; echo 2",
        "--metric",
        "regex:^([0-9])$",
    ];
    let done = run(&bench, &words);
    assert_ne!(
        done.code,
        Some(0),
        "no line is a digit alone: {}",
        done.stdout
    );
    let done = run(&bench, &[&words[..], &["--shell", "--json"]].concat()).expect(0);
    assert_eq!(done.json()["results"][0]["entries"][0]["value"], 2.0);
}

#[test]
fn a_new_profile_works_and_asks_for_trust_once_for_each_content() {
    let Some(bench) = Bench::new() else { return };
    bench.run(&["new-test", "mine"]).expect(0);
    let done = bench.run(&["new-test", "mine"]).expect(2);
    assert!(done.stderr.contains("exists already"), "{}", done.stderr);
    bench.run(&["new-test", "Mine"]).expect(2);
    let file = bench.suites().with_file_name("profiles").join("mine.toml");
    let path = file.display().to_string();
    let said = bench.run(&["check-test", &path]).expect(0).stdout;
    assert!(said.contains("run: dd if=/dev/zero"), "{said}");
    let listed = bench.run(&["list", "tests"]).expect(0).stdout;
    assert!(listed.contains("mine"), "{listed}");
    bench.run(&["info", "mine"]).expect(0);
    let short = ["mine", "-o", "scale=short"];
    let refused = run(&bench, &short).expect(3);
    assert!(
        refused.stderr.contains("run: dd if=/dev/zero"),
        "{}",
        refused.stderr
    );
    bench.run(&["run", "mine", "--dry-run"]).expect(0);
    run(&bench, &[&short[..], &["--trust"]].concat()).expect(0);
    run(&bench, &short).expect(0);
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("conv=fsync", "conv=fdatasync")).unwrap();
    run(&bench, &short).expect(3);
    // The file may go: what was trusted is kept for saved results.
    std::fs::remove_file(&file).unwrap();
    run(&bench, &["latest"]).expect(0);
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn a_broken_profile_is_said_with_its_place_and_hurts_no_other() {
    let Some(bench) = Bench::new() else { return };
    let file = bench.target.join("broken.toml");
    std::fs::write(&file, "format = 1\nid = \"broken\"\nkind = 3\n").unwrap();
    let path = file.display().to_string();
    let said = bench.run(&["check-test", &path]).expect(2).stderr;
    assert!(said.contains("broken.toml, line 3, column 1"), "{said}");
    let own = bench.suites().with_file_name("profiles");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::copy(&file, own.join("broken.toml")).unwrap();
    let text = include_str!("../../../fathom-profiles/src/new.toml");
    std::fs::write(own.join("taken.toml"), text.replace("NAME", "pgbench")).unwrap();
    bench.run(&["list", "tests"]).expect(0);
    let said = bench.run(&["run", "broken"]).expect(2).stderr;
    assert!(said.contains("line 3, column 1"), "{said}");
    let said = bench.run(&["info", "taken"]).expect(2).stderr;
    assert!(said.contains("there is a test pgbench already"), "{said}");
}

#[test]
fn a_saved_log_is_read() {
    let Some(bench) = Bench::new() else { return };
    let profile = bench.target.join("mine.toml");
    bench
        .run(&[
            "new-test",
            "mine",
            "--output",
            &profile.display().to_string(),
        ])
        .expect(0);
    let log = bench.target.join("log");
    let words = [
        "check-test",
        &profile.display().to_string(),
        "--log",
        &log.display().to_string(),
    ]
    .map(str::to_owned);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    std::fs::write(
        &log,
        "268435456 bytes (268 MB, 256 MiB) copied, 0.5 s, 1.5 GB/s\n",
    )
    .unwrap();
    let said = bench.run(&words).expect(0).stdout;
    assert!(said.contains("rate: 1500 MB/s"), "{said}");
    std::fs::write(
        &log,
        "268435456 bytes (268 MB, 256 MiB) copied, 0.5 s, 1.5 TB/s\n",
    )
    .unwrap();
    let said = bench.run(&words).expect(1).stdout;
    assert!(said.contains("rate: missing: nothing matches"), "{said}");
}

/// Processes whose environment names the scratch directories of this bench.
fn marked(bench: &Bench) -> Vec<u32> {
    let mark = format!("FATHOM_SCRATCH={}/", bench.target.display());
    let pids = std::fs::read_dir("/proc").unwrap();
    pids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark)
        })
        .collect()
}

/// A run of the command is under way.
fn sleeping(bench: &Bench) -> std::process::Child {
    // The shell's child is a grandchild of ours.
    let words = ["run", "--shell", "--command", "sleep 600 & wait"];
    let child = bench.command(&words).spawn().unwrap();
    wait_until("the command runs", || marked(bench).len() >= 2);
    child
}

#[test]
fn what_was_started_ends_with_ctrl_c() {
    let Some(bench) = Bench::new() else { return };
    let child = sleeping(&bench);
    signal(&child, "INT");
    let code = end(child).code;
    assert!(matches!(code, Some(3 | 4)), "{code:?}");
    assert_eq!(marked(&bench), Vec::<u32>::new());
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

#[test]
fn what_a_killed_run_started_ends_with_the_next_one() {
    let Some(bench) = Bench::new() else { return };
    let mut child = sleeping(&bench);
    signal(&child, "KILL");
    child.wait().unwrap();
    // The shell dies with us; what it started is found by its mark.
    run(&bench, &["--command", "true"]).expect(0);
    wait_until("nothing is left", || marked(&bench).is_empty());
    assert!(bench.left().is_empty(), "{:?}", bench.left());
}

//! Measuring, and what is left afterwards.

use expect_test::expect;

use crate::bench::{Bench, SMALL_QUICK, good_trials};

#[test]
fn quick_measures_ten_cases_saves_them_and_leaves_nothing() {
    let Some(bench) = Bench::new() else { return };
    let ran = bench.run(&SMALL_QUICK).expect(0);
    let rows = ran.stdout.lines().filter(|line| line.contains(" |"));
    assert_eq!(rows.count(), 10, "{}", ran.stdout);
    let head = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(head.starts_with("target /"), "{head}");
    assert!(
        head.contains("plan quick: 10 cases x 3 trials, about"),
        "{head}"
    );
    assert!(ran.stderr.contains("saved as "), "{}", ran.stderr);
    assert!(bench.left().is_empty(), "{:?}", bench.left());
    assert!(bench.journals().is_empty());
    let result = bench.run(&["show", "latest", "--json"]).expect(0).json();
    let trials = good_trials(&result);
    assert_eq!(trials.len(), 10);
    assert!(trials.iter().all(|(_, count)| *count == 3), "{trials:?}");
    assert_eq!(result["systems"][0]["identifier"], "here");
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let Some(bench) = Bench::new() else { return };
    let mut words = SMALL_QUICK.to_vec();
    words.push("--dry-run");
    let ran = bench.run(&words).expect(0);
    assert!(ran.stderr.contains("plan     quick"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    words.push("--json");
    let plan = bench.run(&words).expect(0).json();
    assert_eq!(plan["cases"].as_array().unwrap().len(), 10);
    assert!(plan["totals"]["bytes_most"].as_u64().unwrap() > 0);
    assert!(bench.left().is_empty());
    assert!(!bench.data().exists());
}

#[test]
fn json_is_all_of_stdout_and_quiet_says_only_where_it_is_saved() {
    let Some(bench) = Bench::new() else { return };
    let mut words = SMALL_QUICK.to_vec();
    words.extend(["--json", "--quiet"]);
    let ran = bench.run(&words).expect(0);
    assert_eq!(ran.json()["fathom_result"], 1);
    assert!(ran.stderr.starts_with("saved as "), "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[test]
fn several_values_of_an_option_give_a_case_each() {
    let Some(bench) = Bench::new() else { return };
    let words = [
        "run",
        "io",
        "-o",
        "size=1MiB",
        "-o",
        "runtime=10ms",
        "-o",
        "ramp=0s",
        "-o",
        "block-size=4KiB,64KiB",
        "-o",
        "io.depth=1,2",
        "--max-trials",
        "1",
        "--json",
    ];
    let result = bench.run(&words).expect(0).json();
    assert_eq!(result["cases"].as_array().unwrap().len(), 4);
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_seed_another() {
    let Some(bench) = Bench::new() else { return };
    let order = |seed: &str| -> Vec<String> {
        let mut words = SMALL_QUICK.to_vec();
        words.extend(["--seed", seed, "--json"]);
        let result = bench.run(&words).expect(0).json();
        let runs = result["runs"].as_array().unwrap();
        let mut trials: Vec<(i64, u64, String)> = Vec::new();
        for run in runs {
            for trial in run["trials"].as_array().unwrap() {
                let started = trial["started"].as_i64().unwrap();
                let number = trial["number"].as_u64().unwrap();
                trials.push((started, number, run["case"].as_str().unwrap().to_owned()));
            }
        }
        trials.sort();
        trials.into_iter().map(|(.., case)| case).collect()
    };
    let (first, again, other) = (order("7"), order("7"), order("8"));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn running_a_result_again_adds_this_system_to_it() {
    let Some(bench) = Bench::new() else { return };
    let small = [
        "run",
        "io",
        "-o",
        "size=1MiB",
        "-o",
        "runtime=10ms",
        "-o",
        "ramp=0s",
        "--max-trials",
        "1",
        "--name",
        "shared",
        "--system",
        "first",
    ];
    bench.run(&small).expect(0);
    let again = ["run", "shared", "--system", "second", "--max-trials", "1"];
    bench.run(&again).expect(0);
    let result = bench.run(&["show", "shared", "--json"]).expect(0).json();
    let systems = result["systems"].as_array().unwrap();
    let names: Vec<&str> = systems
        .iter()
        .map(|system| system["identifier"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["first", "second"]);
    assert_eq!(result["cases"].as_array().unwrap().len(), 1);
    assert_eq!(bench.run(&["list", "results"]).stdout.lines().count(), 1);
}

#[test]
fn a_suite_of_ones_own_comes_before_a_built_in_one() {
    let Some(bench) = Bench::new() else { return };
    std::fs::create_dir_all(bench.suites()).unwrap();
    let suite = "format = 1\nname = \"quick\"\ntitle = \"Mine\"\n[[case]]\ntest = \"io\"\n\
                 label = \"only one\"\noptions = { size = \"1MiB\", runtime = \"10ms\" }\n";
    std::fs::write(bench.suites().join("quick.toml"), suite).unwrap();
    let ran = bench.run(&["run", "--max-trials", "1"]).expect(0);
    assert!(ran.stdout.contains("only one"), "{}", ran.stdout);
    std::fs::write(bench.suites().join("bad.toml"), "format = 1\nname = 3\n").unwrap();
    let listed = bench.run(&["list", "suites"]).expect(0);
    assert!(
        listed.stdout.contains("cannot be used"),
        "{}",
        listed.stdout
    );
    let failed = bench.run(&["run", "bad"]).expect(2);
    assert!(
        failed.stderr.contains("bad.toml, line 2"),
        "{}",
        failed.stderr
    );
}

#[test]
fn cases_that_are_not_available_are_named_and_the_exit_code_says_partial() {
    let Some(bench) = Bench::new() else { return };
    std::fs::create_dir_all(bench.suites()).unwrap();
    let suite = "format = 1\nname = \"half\"\ntitle = \"Half\"\n[[case]]\ntest = \"io\"\n\
                 options = { size = \"1MiB\", runtime = \"10ms\" }\n[[case]]\ntest = \"tarot\"\n\
                 label = \"cards\"\nreason = \"nobody has the cards\"\n";
    std::fs::write(bench.suites().join("half.toml"), suite).unwrap();
    let ran = bench.run(&["run", "half", "--max-trials", "1"]).expect(4);
    assert!(
        ran.stderr.contains("cards: nobody has the cards"),
        "{}",
        ran.stderr
    );
    let shown = bench.run(&["show"]).expect(0);
    assert!(
        shown.stdout.contains("nobody has the cards"),
        "{}",
        shown.stdout
    );
}

/// The null engine by a clock that every reading moves by 100 ns: the same on every machine.
const VIRTUAL: [&str; 18] = [
    "run",
    "io",
    "-o",
    "engine=null",
    "-o",
    "clock=virtual:100",
    "-o",
    "bytes=64MiB",
    "-o",
    "runtime=none",
    "-o",
    "ramp=0s",
    "--seed",
    "1",
    "--max-trials",
    "3",
    "--system",
    "here",
];

#[test]
fn the_null_engine_on_a_virtual_clock_gives_one_exact_transcript() {
    let Some(bench) = Bench::new() else { return };
    let ran = bench.run(&VIRTUAL).expect(0);
    expect![[r#"
        io null none … virtual:100  5000000 IOPS  +-0.0 % |======| invalid  p50 3.20 us
          ^ no I/O was done
        a full bar is 5000000 IOPS
    "#]]
    .assert_eq(&ran.stdout);
    let trials: Vec<&str> = ran
        .stderr
        .lines()
        .filter(|line| line.contains("  trial "))
        // How long it takes is not virtual.
        .map(|line| line.split("  (about ").next().unwrap())
        .collect();
    expect![[r#"
        io null none 0s 64MiB virtual:100  trial 1  5000000 IOPS
        io null none 0s 64MiB virtual:100  trial 2  5000000 IOPS
        io null none 0s 64MiB virtual:100  trial 3  5000000 IOPS"#]]
    .assert_eq(&trials.join("\n"));
    let values = || {
        let mut words = VIRTUAL.to_vec();
        words.push("--json");
        let result = bench.run(&words).expect(0).json();
        let trials = result["runs"][0]["trials"].as_array().unwrap().clone();
        let kept = trials.iter().map(|trial| {
            let mut series = trial["series"].as_object().unwrap().clone();
            // Sensors watch the machine, which is not virtual.
            series.retain(|name, _| !name.starts_with("sensor/"));
            (trial["values"].clone(), trial["histograms"].clone(), series)
        });
        kept.collect::<Vec<_>>()
    };
    assert_eq!(values(), values());
}

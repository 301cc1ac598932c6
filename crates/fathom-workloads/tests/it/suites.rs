use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fathom_model::{Case, Options, Test, TestInfo};
use toml::{Table, Value};

/// Tests by the names a user types, built or not.
const NAMES: [&str; 20] = [
    "io",
    "sqlite",
    "dbench",
    "fs-mark",
    "iozone",
    "tiobench",
    "blogbench",
    "postmark",
    "compilebench",
    "hdparm-read",
    "pgbench",
    "mariadb-slap",
    "sysbench-oltp",
    "clickhouse-hits",
    "cassandra",
    "cockroach-kv",
    "build-linux-kernel",
    "build-gcc",
    "build-llvm",
    "ior",
];

/// Those that are profiles, which their own crate resolves.
const PROFILES: [&str; 9] = [
    "pgbench",
    "mariadb-slap",
    "sysbench-oltp",
    "clickhouse-hits",
    "cassandra",
    "cockroach-kv",
    "build-linux-kernel",
    "build-gcc",
    "build-llvm",
];

fn suites() -> Vec<(String, Table)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let table: Table = text
                .parse()
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, table)
        })
        .collect()
}

fn cases(suite: &Table) -> Vec<&Table> {
    let cases = suite["case"].as_array().unwrap();
    cases.iter().map(|case| case.as_table().unwrap()).collect()
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or("")
}

fn infos() -> Vec<TestInfo> {
    fathom_workloads::native_tests()
        .iter()
        .map(|test| test.info())
        .collect()
}

/// Every combination of the values of a case.
fn combinations(case: &Table) -> Vec<Options> {
    let mut all = vec![Options::default()];
    let options = case.get("options").and_then(Value::as_table);
    for (name, value) in options.into_iter().flatten() {
        let values: Vec<&str> = match value {
            Value::String(one) => vec![one],
            Value::Array(several) => several
                .iter()
                .map(|value| value.as_str().unwrap())
                .collect(),
            other => panic!("{name} = {other}"),
        };
        all = all
            .iter()
            .flat_map(|options| {
                values.iter().map(|value| {
                    let mut options = options.clone();
                    options.set(name, *value);
                    options
                })
            })
            .collect();
    }
    all
}

#[test]
fn suites_have_the_keys_of_their_format_and_no_others() {
    let allowed = |table: &Table, keys: &[&str], place: &str| {
        for key in table.keys() {
            assert!(keys.contains(&key.as_str()), "{place}: {key}");
        }
    };
    let found = suites();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "disk",
            "quick",
            "seed-epyc-raid-2017",
            "seed-nvme-2018",
            "seed-optane-2017",
            "seed-ssd-2024",
            "snia-iops",
            "snia-latency",
            "snia-throughput",
            "snia-wsat",
        ]
    );
    for (name, suite) in &found {
        allowed(
            suite,
            &["format", "name", "title", "description", "run", "case"],
            name,
        );
        assert_eq!(suite["format"].as_integer(), Some(1));
        assert_eq!(text(suite, "name"), name);
        assert!(!text(suite, "title").is_empty() && !text(suite, "description").is_empty());
        let mut labels = BTreeSet::new();
        for case in cases(suite) {
            let keys = ["test", "label", "implementation", "options", "reason"];
            allowed(case, &keys, name);
            assert!(
                labels.insert(text(case, "label")),
                "{name}: {}",
                text(case, "label")
            );
            assert!(
                NAMES.contains(&text(case, "test")),
                "{name}: {}",
                text(case, "test")
            );
        }
    }
}

#[test]
fn cases_of_built_tests_resolve_and_contradict_nothing() {
    let infos = infos();
    let tests = fathom_workloads::native_tests();
    let mut bench = fathom_testkit::Bench::new();
    // A machine with room for everything.
    bench.host.memory = fathom_base::Bytes::new(1 << 40);
    let mut resolved = 0;
    for (name, suite) in suites() {
        let mut ids = BTreeSet::new();
        for case in cases(&suite) {
            let Some(at) = infos.iter().position(|info| info.id == text(case, "test")) else {
                assert!(
                    PROFILES.contains(&text(case, "test")) || !text(case, "reason").is_empty(),
                    "{name}: {case:?} has no reason"
                );
                continue;
            };
            for options in combinations(case) {
                let label = text(case, "label");
                let case = Case::resolve(&infos[at], &options, label)
                    .unwrap_or_else(|error| panic!("{name}, {label}: {error}"));
                assert!(
                    ids.insert(case.id.clone()),
                    "{name}: {label} is there twice"
                );
                check_case(tests[at].as_ref(), &case, &bench, &name);
                resolved += 1;
            }
        }
    }
    assert!(resolved >= 40, "only {resolved} cases");
}

/// Nothing may be amiss but what this machine lacks.
fn check_case(test: &dyn Test, case: &Case, bench: &fathom_testkit::Bench, suite: &str) {
    for unmet in test.check(&bench.host, case) {
        let is_the_machine = [
            "cannot be used",
            "direct I/O",
            "direct=yes",
            "block device",
            "root",
        ]
        .iter()
        .any(|words| unmet.what.contains(words));
        assert!(is_the_machine, "{suite}, {}: {}", case.label, unmet.what);
    }
    assert_eq!(
        test.metrics(case)
            .iter()
            .filter(|metric| metric.is_primary)
            .count(),
        1
    );
    test.estimate(&bench.host, case).unwrap();
}

#[test]
fn quick_is_ten_cases_on_one_file_of_a_gibibyte_in_about_a_minute() {
    let tests = fathom_workloads::native_tests();
    let io = tests.iter().find(|test| test.info().id == "io").unwrap();
    let bench = fathom_testkit::Bench::new();
    let (_, quick) = suites()
        .into_iter()
        .find(|(name, _)| name == "quick")
        .unwrap();
    let estimates: Vec<_> = cases(&quick)
        .into_iter()
        .map(|case| {
            let options = combinations(case).remove(0);
            let case = Case::resolve(&io.info(), &options, text(case, "label")).unwrap();
            io.estimate(&bench.host, &case).unwrap()
        })
        .collect();
    assert_eq!(estimates.len(), 10);
    let first = estimates[0].layout;
    assert!(first.is_some() && estimates.iter().all(|estimate| estimate.layout == first));
    assert!(
        estimates
            .iter()
            .all(|estimate| estimate.space.as_u64() == 1 << 30)
    );
    let five_trials: u64 = estimates.iter().map(|e| 5 * e.trial_time.as_u64()).sum();
    assert!(
        (35_000_000_000..60_000_000_000).contains(&five_trials),
        "{five_trials}"
    );
}

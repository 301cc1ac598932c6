//! Comparing results, by hand and in a script.

use crate::bench::Bench;

/// A result file with one case measured on one system.
fn result(samples: &[f64]) -> String {
    let mean = samples.iter().sum::<f64>() / samples.len() as f64;
    format!(
        r#"{{"fathom_result":1,"title":"t","systems":[{{"identifier":"disk"}}],
        "cases":[{{"id":"c1","test":"io","test_version":"1.0",
            "implementation":{{"kind":"native","name":"fathom","version":"1"}},
            "label":"RND4K Q1 read"}}],
        "results":[{{"case":"c1","title":"io",
            "metric":{{"id":"iops","unit":"IOPS","direction":"higher-is-better","is_primary":true}},
            "entries":[{{"system":"disk","value":{mean},"samples":{samples:?}}}]}}]}}"#
    )
}

/// Writes the two sides and compares them; gives the words on standard output.
#[track_caller]
fn compared(bench: &Bench, sides: [&[f64]; 2], more: &[&str], code: i32) -> String {
    for (name, samples) in ["a.json", "b.json"].iter().zip(sides) {
        std::fs::write(bench.target.join(name), result(samples)).unwrap();
    }
    let mut words = vec!["compare", "./a.json", "./b.json"];
    words.extend(more);
    bench.run(&words).expect(code).stdout
}

/// Samples of the worked statistics: B/A = 1.0446 [1.0279, 1.0616].
const A: &[f64] = &[101.2, 99.8, 100.5, 102.1, 98.9];
const B: &[f64] = &[105.0, 103.7, 106.2, 104.4, 105.6];
const NOISY: &[f64] = &[80.0, 120.0, 95.0];

#[test]
fn a_gate_passes_what_is_faster_or_the_same_and_says_when_it_cannot_tell() {
    let Some(bench) = Bench::new() else { return };
    let shown = compared(&bench, [A, B], &["--gate"], 0);
    assert!(
        shown.contains("faster") && shown.contains("1.045"),
        "{shown}"
    );
    compared(&bench, [B, A], &["--gate"], 1);
    compared(&bench, [A, A], &["--gate", "--margin", "5%"], 0);
    compared(&bench, [A, NOISY], &["--gate"], 4);
    // Without a gate every answer is a good answer.
    compared(&bench, [B, A], &[], 0);
}

#[test]
fn scripts_get_json_with_the_interval() {
    let Some(bench) = Bench::new() else { return };
    let shown = compared(&bench, [A, B], &["--json"], 0);
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let answer = &json["rows"][0]["contenders"][0]["comparison"];
    assert_eq!(answer["answer"], "faster");
    let ratio = answer["ratio"].as_f64().unwrap();
    assert!((ratio - 1.044_604).abs() < 1e-6, "{ratio}");
}

#[test]
fn public_results_compare_out_of_the_box_and_names_are_checked() {
    let Some(bench) = Bench::new() else { return };
    let shown = bench.run(&["compare", "seed-optane-2017"]).expect(0).stdout;
    assert!(shown.contains("geometric mean"), "{shown}");
    let ended = bench
        .run(&["compare", "seed-optane-2017", "--baseline", "nobody"])
        .expect(2);
    assert!(ended.stderr.contains("nobody"), "{}", ended.stderr);
    let ended = bench
        .run(&["compare", "seed-optane-2017", "--margin", "120%"])
        .expect(2);
    assert!(ended.stderr.contains("margin"), "{}", ended.stderr);
    std::fs::write(bench.target.join("a.json"), result(A)).unwrap();
    let ended = bench.run(&["compare", "./a.json"]).expect(2);
    assert!(ended.stderr.contains("only one system"), "{}", ended.stderr);
}

/// A result with a made-up number for every case of a suite that this version can run.
fn as_if_measured(bench: &Bench, suite: &str) -> serde_json::Value {
    let plan = bench
        .run(&["run", suite, "--dry-run", "--json"])
        .expect(0)
        .json();
    let planned = plan["cases"].as_array().unwrap();
    let cases: Vec<_> = planned.iter().map(|case| case["case"].clone()).collect();
    let results: Vec<_> = planned
        .iter()
        .flat_map(|case| {
            let metrics = case["metrics"].as_array().unwrap().iter();
            metrics.map(|metric| {
                serde_json::json!({
                    "case": case["case"]["id"], "title": case["title"], "metric": metric,
                    "entries": [{"system": "here", "value": 10.0, "samples": [9.0, 10.0, 11.0]}],
                })
            })
        })
        .collect();
    serde_json::json!({
        "fathom_result": 1, "title": suite, "systems": [{"identifier": "here"}],
        "cases": cases, "results": results,
    })
}

/// Every native test of the suites is found in the result they follow, with the options the
/// suites give it, and none is judged.
#[test]
fn cases_of_the_suites_stand_beside_the_results_they_follow() {
    let Some(bench) = Bench::new() else { return };
    for (suite, least) in [
        ("seed-epyc-raid-2017", 13),
        ("seed-optane-2017", 12),
        ("seed-nvme-2018", 12),
        ("seed-ssd-2024", 6),
    ] {
        let ours = as_if_measured(&bench, suite);
        std::fs::write(bench.target.join("ours.json"), ours.to_string()).unwrap();
        let compared = bench
            .run(&["compare", "./ours.json", suite, "--json"])
            .expect(0)
            .json();
        assert_eq!(compared["rows"].as_array().unwrap().len(), 0, "{suite}");
        let rows = compared["counterparts"].as_array().unwrap();
        let labels: std::collections::BTreeSet<&str> = rows
            .iter()
            .map(|row| row["label"].as_str().unwrap())
            .collect();
        assert!(labels.len() >= least, "{suite}: {labels:?}");
        let native = |row: &&serde_json::Value| {
            row["baseline"]["implementation"]
                .as_str()
                .unwrap()
                .starts_with("native")
        };
        for row in rows.iter().filter(native) {
            assert_eq!(row["differences"], serde_json::json!([]), "{suite}: {row}");
        }
    }
    let shown = bench
        .run(&["compare", "./ours.json", "seed-ssd-2024"])
        .expect(0)
        .stdout;
    assert!(shown.contains("without a verdict"), "{shown}");
    assert!(!shown.contains("geometric mean"), "{shown}");
}

#[test]
fn the_rules_of_pts_are_there_for_those_who_ask() {
    let Some(bench) = Bench::new() else { return };
    let words = ["show", "seed-epyc-raid-2017", "--pts-summary"];
    let shown = bench.run(&words).expect(0).stdout;
    assert!(shown.contains("TESTS COUNTED: 19"), "{shown}");
    assert!(shown.contains("3133.96"), "{shown}");
    let words = [
        "compare",
        "seed-epyc-raid-2017",
        "seed-optane-2017",
        "--pts-summary",
    ];
    let shown = bench.run(&words).expect(0).stdout;
    assert!(shown.contains("WINS:"), "{shown}");
    bench
        .run(&["compare", "seed-ssd-2024", "--pts-summary", "--gate"])
        .expect(2);
}

#[test]
fn a_comparison_is_written_as_a_page_or_as_tables() {
    let Some(bench) = Bench::new() else { return };
    let page = [
        "compare",
        "seed-ssd-2024",
        "--format",
        "html",
        "-o",
        "page.html",
    ];
    bench.run(&page).expect(0);
    let page = std::fs::read_to_string(bench.target.join("page.html")).unwrap();
    assert!(
        page.contains("Corsair MP700 PRO 2TB against Micron 7450 Max 3.2TB")
            || page.contains("3 systems against")
    );
    let words = [
        "compare",
        "seed-ssd-2024",
        "--format",
        "markdown",
        "--all-pairs",
    ];
    let tables = bench.run(&words).expect(0).stdout;
    assert!(tables.contains("| Case |"), "{tables}");
    bench
        .run(&[
            "compare",
            "seed-ssd-2024",
            "--format",
            "html",
            "--all-pairs",
        ])
        .expect(2);
}

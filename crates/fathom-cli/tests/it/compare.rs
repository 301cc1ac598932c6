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

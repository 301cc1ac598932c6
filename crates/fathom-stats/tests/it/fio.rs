//! Bins of real fio output give fio's own percentiles.

use std::path::PathBuf;

use fathom_stats::Histogram;
use fathom_stats::histogram::{Bins, FIO_SUB_BUCKET_BITS};
use serde_json::Value;

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn corpus_file(name: &str) -> Option<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = root.join(name);
    let text = std::fs::read_to_string(&path);
    if let Err(error) = &text {
        eprintln!("SKIPPED: {}: {error}", path.display());
    }
    text.ok()
}

/// Compares one direction's percentiles; returns how many were compared.
fn check_direction(latency: &Value) -> usize {
    let number = |field: &str| latency[field].as_u64().expect("fio prints whole numbers");
    let bins = latency["bins"].as_object().expect("JSON+ has bins");
    let counts: Vec<(u64, u64)> = bins
        .iter()
        .map(|(ns, n)| (ns.parse().unwrap(), n.as_u64().unwrap()))
        .collect();
    let histogram = Histogram::from_bins(Bins {
        sub_bucket_bits: FIO_SUB_BUCKET_BITS,
        counts: &counts,
        min_ns: Some(number("min")),
        max_ns: Some(number("max")),
        mean_ns: latency["mean"].as_f64(),
    })
    .expect("fio's own numbers agree with its bins");
    assert_eq!(histogram.count(), number("N"));
    let percentiles = latency["percentile"].as_object().unwrap();
    for (percent, ns) in percentiles {
        let (percent, expected) = (percent.parse().unwrap(), ns.as_f64().unwrap());
        let found = histogram.percentile(percent).unwrap() as f64;
        // Both are somewhere in the same fio bucket, 1.6 % wide.
        assert!(
            (found / expected - 1.0).abs() <= 0.016,
            "p{percent}: {found}, fio {expected}"
        );
    }
    percentiles.len()
}

#[test]
fn bins_of_json_plus_give_fios_percentiles() {
    let Some(text) = corpus_file("fio/generated-here/fio-3.33-jsonplus-randrw-group.json") else {
        return;
    };
    let output: Value = serde_json::from_str(&text).unwrap();
    let job = &output["jobs"][0];
    let compared: usize = ["read", "write"]
        .map(|d| check_direction(&job[d]["clat_ns"]))
        .iter()
        .sum();
    assert!(compared >= 20, "only {compared} percentiles were found");
}

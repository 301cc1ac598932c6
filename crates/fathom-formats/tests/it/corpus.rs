//! Every file of the shared corpus is read, or refused with a precise reason.

use fathom_formats::{detect, import};
use fathom_model::{Entry, ResultFile};

use crate::support::{corpus, corpus_file, golden};

/// One line a file: what it is, and what is in it or why it is refused.
fn table(folder: &str) -> Option<String> {
    let mut table = String::new();
    for (name, bytes) in corpus(folder)? {
        let format = detect(&bytes).map_or("-", fathom_formats::Format::name);
        let outcome = match import(&bytes, &name) {
            Ok(file) => counts(&file),
            Err(error) => format!("refused: {error}"),
        };
        table.push_str(&format!("{name} | {format} | {outcome}\n"));
    }
    Some(table)
}

fn counts(file: &ResultFile) -> String {
    let entries = || file.results.iter().flat_map(|record| &record.entries);
    let failed = entries()
        .filter(|entry| entry.value.is_none() && entry.error.is_some())
        .count();
    let trials: usize = entries().map(|entry| entry.samples.len()).sum();
    let warnings = file
        .origin
        .as_ref()
        .map_or(0, |origin| origin.warnings.len());
    format!(
        "{} systems, {} cases, {} results, {} entries ({failed} failed), {trials} samples, {warnings} \
         warnings",
        file.systems.len(),
        file.cases.len(),
        file.results.len(),
        entries().count(),
    )
}

#[test]
fn every_file_is_read_or_refused_with_a_reason() {
    for folder in ["pts", "fio", "bugs", "logs", "oracle"] {
        let Some(table) = table(&format!("corpus/{folder}")) else {
            return;
        };
        golden(
            &format!("crates/fathom-formats/tests/data/corpus-{folder}.expected"),
            table.as_bytes(),
        );
    }
}

#[test]
fn no_profile_passes_for_a_result() {
    let Some(files) = corpus("corpus/profiles") else {
        return;
    };
    for (name, bytes) in files {
        let error = import(&bytes, &name).unwrap_err().to_string();
        assert!(error.starts_with(&name), "{error}");
    }
}

fn bug(path: &str) -> Option<ResultFile> {
    let bytes = corpus_file(&format!("corpus/bugs/{path}"))?;
    Some(import(&bytes, path).unwrap())
}

fn value(file: &ResultFile, metric: &str) -> f64 {
    let record = file
        .results
        .iter()
        .find(|record| record.metric.id == metric)
        .unwrap();
    record.entries[0].value.as_ref().unwrap().value()
}

#[test]
fn bug_01_results_that_differ_in_arguments_are_all_kept() {
    let Some(file) = bug("01/composite.xml") else {
        return;
    };
    let hashes: std::collections::BTreeSet<_> = file
        .results
        .iter()
        .map(|record| &record.pts.as_ref().unwrap().hash)
        .collect();
    assert_eq!(
        (file.results.len(), hashes.len(), file.cases.len()),
        (4, 4, 4)
    );
}

#[test]
fn bug_09_an_unknown_chart_keeps_its_data() {
    let Some(file) = bug("09/composite.xml") else {
        return;
    };
    assert_eq!(file.results[0].entries.len(), 3);
    assert_eq!(file.systems.len(), 1);
    assert!(
        file.results[0]
            .entries
            .iter()
            .all(|entry| entry.value.is_some())
    );
}

#[test]
fn bug_16_the_unit_is_read_from_its_line() {
    let (Some(kib), Some(mib)) = (bug("16/fio-kib.txt"), bug("16/fio-mib.txt")) else {
        return;
    };
    let sampled = |file: &ResultFile| {
        let facts = &file.runs[0].trials[0].extra;
        facts["write_sampled_bytes_per_second"].as_f64().unwrap() / 1048576.0
    };
    assert!((sampled(&kib) - 312.5).abs() < 0.01, "{}", sampled(&kib));
    assert!((sampled(&mib) - 3125.03).abs() < 0.01, "{}", sampled(&mib));
    assert!((value(&kib, "bandwidth") - 299.0 * 1.048576).abs() < 1e-6);
}

#[test]
fn bug_18_rates_with_and_without_suffix() {
    let Some(file) = bug("18/iops.txt") else {
        return;
    };
    let iops: Vec<f64> = file
        .results
        .iter()
        .filter(|record| record.metric.id == "iops")
        .map(|record| record.entries[0].value.as_ref().unwrap().value())
        .collect();
    assert_eq!(iops, [73.0, 48_200.0, 1_200_000.0]);
}

#[test]
fn bug_35_an_error_before_the_json_is_the_reason_of_the_failure() {
    let Some(file) = bug("35/out.json") else {
        return;
    };
    let entry: &Entry = &file.results[0].entries[0];
    assert_eq!(entry.value, None);
    let error = entry.error.as_deref().unwrap();
    assert!(
        error.starts_with("fio error 5: fio: io_u error on file /dev/sdX"),
        "{error}"
    );
}

#[test]
fn bug_37_padding_of_percentiles_is_dropped() {
    let Some(file) = bug("37/out.json") else {
        return;
    };
    assert_eq!(
        (value(&file, "latency-p50"), value(&file, "latency-p99")),
        (0.005, 0.008)
    );
}

#[test]
fn bug_39_the_rate_of_a_slow_device_is_not_zero() {
    let Some(file) = bug("39/old.json") else {
        return;
    };
    assert_eq!(value(&file, "bandwidth") * 1e6, 256.0);
}

#[test]
fn bug_42_samples_of_one_thread_are_not_the_total() {
    let Some(file) = bug("42/report.txt") else {
        return;
    };
    assert_eq!(value(&file, "iops"), 345_000.0);
    assert_eq!(file.runs[0].trials[0].extra["read_sampled_iops"], 86_109.5);
}

#[test]
fn bug_43_terse_units_are_the_same_in_every_version() {
    let Some(file) = bug("43/terse.txt") else {
        return;
    };
    let bytes = value(&file, "bandwidth") * 1e6;
    assert!((bytes / 1024.0 - 188_645.0).abs() < 2.0, "{bytes}");
    assert_eq!(value(&file, "iops"), 23_580.0);
    assert_eq!(value(&file, "latency-mean"), 167.875769);
    assert_eq!(value(&file, "latency-p99"), 1286.0);
}

#[test]
fn bug_44_further_columns_of_a_log_are_ignored() {
    for (name, points) in [("44/bw.1.log", 2), ("44/bw.2.log", 2), ("44/bw.3.log", 1)] {
        let Some(file) = bug(name) else { return };
        let details = file.results[0].entries[0].details.as_ref().unwrap();
        assert_eq!(details.line.len(), points, "{name}");
        assert_eq!(details.line[0].value(), 1234.0);
    }
}

#[test]
fn bug_46_options_that_were_not_given_are_marked_as_defaults() {
    let Some(file) = bug("46/out.json") else {
        return;
    };
    let case = &file.cases[0];
    let option = |name| case.options.get(name).unwrap();
    assert_eq!(
        (option("iodepth"), option("numjobs"), option("bs")),
        ("1", "1", "4k")
    );
    assert_eq!(
        case.extra["defaults_of_fio"],
        serde_json::json!(["bs", "iodepth", "numjobs"])
    );
}

#[test]
fn bug_08_files_with_equal_system_names_can_be_merged() {
    let (Some(a), Some(b)) = (bug("08/a.xml"), bug("08/b.xml")) else {
        return;
    };
    let merged = fathom_model::merge::merge(&[&a, &b]).unwrap();
    assert_eq!((merged.systems.len(), merged.results.len()), (1, 2));
}

/// Numbers another project takes from the same output.
#[test]
fn fio_numbers_equal_those_of_another_reader() {
    let Some(bytes) = corpus_file("corpus/fio/lkp-fio-3.19-mmap.json") else {
        return;
    };
    let file = import(&bytes, "lkp").unwrap();
    let bytes = value(&file, "bandwidth") * 1e6;
    // Theirs is KiB/s / 1024.
    assert!(
        (bytes / 1048576.0 / 114_570.568_359_375 - 1.0).abs() < 1e-5,
        "{bytes}"
    );
    assert_eq!(value(&file, "iops"), 29_330_065.629_016);
    assert_eq!(value(&file, "latency-p99"), 2.544);
}

#[test]
fn totals_of_all_clients_stand_beside_the_clients() {
    let name = "corpus/fio/generated-here/fio-3.33-client-server.json.txt";
    let Some(bytes) = corpus_file(name) else {
        return;
    };
    let file = import(&bytes, "clients").unwrap();
    let hosts: Vec<&str> = file.systems.iter().map(|s| s.identifier.as_str()).collect();
    assert_eq!(hosts, ["127.0.0.1"]);
    assert_eq!(file.cases.len(), 3);
}

#[test]
fn histograms_of_json_plus_come_in() {
    let name = "corpus/fio/generated-here/fio-3.33-jsonplus-randrw-group.json";
    let Some(bytes) = corpus_file(name) else {
        return;
    };
    let file = import(&bytes, "plus").unwrap();
    let trial = &file.runs[0].trials[0];
    let read = &trial.histograms["read"];
    assert_eq!(read.count(), 16_142);
    assert_eq!(value(&file, "read-latency-p99"), 460.8);
}

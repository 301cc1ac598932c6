//! The public results that ship with Fathom.

use expect_test::expect;
use fathom_formats::{import, native, references};
use fathom_model::{ResultFile, ResultRecord};

use crate::support::{corpus_file, golden};

const SEEDS: [(&str, &str); 4] = [
    ("seed-epyc-raid-2017", "seeds/000_73503f6dd28b12bd.txt"),
    ("seed-optane-2017", "seeds/001_92a3d0e2ad904b6c.txt"),
    ("seed-nvme-2018", "seeds/004_567557d1c2952ae1.txt"),
    ("seed-ssd-2024", "seeds/002_f4b38a536cee9ad0.txt"),
];

#[test]
fn shipped_references_are_what_the_public_exports_say() {
    for (name, path) in SEEDS {
        let Some(bytes) = corpus_file(path) else {
            return;
        };
        let file = import(&bytes, name).unwrap();
        golden(&format!("references/{name}.json"), &native::write(&file));
    }
}

fn shipped(name: &str) -> ResultFile {
    let (_, bytes) = references()
        .iter()
        .find(|(known, _)| *known == name)
        .unwrap();
    native::read(bytes).unwrap()
}

#[test]
fn every_system_test_value_and_spread_is_there() {
    let mut lines = Vec::new();
    for (name, bytes) in references() {
        let file = native::read(bytes).unwrap();
        let entries: Vec<_> = file
            .results
            .iter()
            .flat_map(|record| &record.entries)
            .collect();
        let values = entries.iter().filter(|entry| entry.value.is_some()).count();
        let spreads = entries
            .iter()
            .filter(|entry| entry.spread.is_some())
            .count();
        let unassigned: usize = file
            .results
            .iter()
            .filter_map(|record| record.extra.get("standard_errors_unassigned")?.as_array())
            .map(Vec::len)
            .sum();
        let uncertain = entries
            .iter()
            .filter(|e| e.details.as_ref().is_some_and(|d| d.uncertain.is_some()))
            .count();
        let notes: usize = file.systems.iter().map(|system| system.notes.len()).sum();
        lines.push(format!(
            "{name}: {} systems, {} results in {} cases, {values} values ({uncertain} uncertain), \
             {spreads} + {unassigned} standard errors, {notes} notes",
            file.systems.len(),
            file.results.len(),
            file.cases.len(),
        ));
    }
    expect![[r#"
        seed-epyc-raid-2017: 10 systems, 19 results in 15 cases, 186 values (0 uncertain), 0 + 0 standard errors, 0 notes
        seed-optane-2017: 8 systems, 16 results in 12 cases, 126 values (0 uncertain), 117 + 7 standard errors, 32 notes
        seed-nvme-2018: 7 systems, 17 results in 17 cases, 118 values (0 uncertain), 69 + 25 standard errors, 33 notes
        seed-ssd-2024: 4 systems, 32 results in 28 cases, 80 values (0 uncertain), 0 + 0 standard errors, 0 notes"#]].assert_eq(&lines.join("\n"));
}

fn values(record: &ResultRecord) -> Vec<String> {
    record
        .entries
        .iter()
        .filter_map(|entry| entry.value.as_ref())
        .map(ToString::to_string)
        .collect()
}

#[test]
fn numbers_that_stood_together_are_told_apart() {
    let file = shipped("seed-optane-2017");
    let iops = &file.results[2];
    assert_eq!(iops.metric.unit, "IOPS");
    assert_eq!(
        values(iops),
        [
            "136521", "42301", "282858", "296256", "211241", "77142", "107092", "372"
        ]
    );
    let file = shipped("seed-nvme-2018");
    assert_eq!(
        values(&file.results[2]),
        ["1419", "655", "986", "1379", "957", "990", "1554"]
    );
    let drive = file.results.last().unwrap();
    assert_eq!(drive.metric.unit, "Celsius");
    assert_eq!(
        values(drive),
        [
            "62.51", "55.23", "42.68", "53.04", "37.59", "30.03", "42.53"
        ]
    );
    let extremes = drive.entries[0].details.as_ref().unwrap().pts_json.map();
    assert_eq!(
        (&extremes["min-result"], &extremes["max-result"]),
        (&"52".into(), &"80".into())
    );
}

#[test]
fn drives_and_notes_belong_to_their_systems() {
    let file = shipped("seed-nvme-2018");
    let optane = file.system("Intel 900p 280GB SSDPE21D280GA").unwrap();
    let text = |fields: &[fathom_model::Field], name: &str| {
        fields
            .iter()
            .find(|field| field.name == name)
            .unwrap()
            .text
            .clone()
    };
    assert_eq!(
        text(&optane.hardware, "Disk"),
        "280GB INTEL SSDPE21D280GA + 256GB INTEL SSDPEKKW256G8"
    );
    assert_eq!(
        text(&optane.notes, "Disk Details"),
        "NONE / errors=remount-ro,relatime,rw"
    );
    assert_eq!(
        text(&optane.notes, "Python Details"),
        "Python 2.7.15rc1 + Python 3.6.5"
    );
    let without_python = file.system("Samsung 970 EVO 250GB").unwrap();
    assert!(
        without_python
            .notes
            .iter()
            .all(|note| note.name != "Python Details")
    );
}

#[test]
fn the_axis_of_every_chart_follows_from_the_values() {
    for (name, bytes) in references() {
        let origin = native::read(bytes).unwrap().origin.unwrap();
        for warning in &origin.warnings {
            assert!(!warning.text.contains("axis"), "{name}: {warning:?}");
            assert!(!warning.text.contains("likeliest"), "{name}: {warning:?}");
        }
    }
}

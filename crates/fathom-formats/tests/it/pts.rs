use std::collections::BTreeSet;

use fathom_formats::pts;
use fathom_model::{PtsIdentity, ResultRecord, pts_comparison_hash};
use serde_json::Value;

use crate::support::{corpus, corpus_file};

fn xml_files() -> Vec<(String, Vec<u8>)> {
    ["corpus/pts", "corpus/bugs", "corpus/oracle"]
        .into_iter()
        .filter_map(corpus)
        .flatten()
        .filter(|(name, _)| name.ends_with(".xml") && !name.starts_with("schema"))
        .collect()
}

#[test]
fn comparison_hashes_equal_those_of_pts() {
    for (xml, json) in [
        ("oracle/edge.composite.input.xml", "oracle/edge.json"),
        ("oracle/seed000.composite.input.xml", "oracle/seed000.json"),
        ("oracle/seed002.composite.input.xml", "oracle/seed002.json"),
        (
            "pts/generated-here/monitor-line-graphs-nonascii-10.8.6.xml",
            "pts/generated-here/monitor-export.json",
        ),
    ] {
        let (Some(xml), Some(json)) = (
            corpus_file(&format!("corpus/{xml}")),
            corpus_file(&format!("corpus/{json}")),
        ) else {
            return;
        };
        let json: Value = serde_json::from_slice(&json).unwrap();
        let theirs = json["results"].as_object().unwrap();
        let file = pts::read_xml(&xml).unwrap();
        let ours: BTreeSet<String> = file
            .results
            .iter()
            .map(|record| {
                let hash = record.pts.as_ref().unwrap().hash.clone();
                if theirs.contains_key(&hash) {
                    return hash;
                }
                // PTS drops the identifier of a profile that is not installed where it reads the
                // file, and then hashes the title.
                let by_title = hash_by_title(record);
                assert!(
                    theirs[&by_title].get("identifier").is_none(),
                    "{}",
                    record.title
                );
                by_title
            })
            .collect();
        assert_eq!(ours, theirs.keys().cloned().collect());
        assert_eq!(ours.len(), file.results.len());
    }
}

fn hash_by_title(record: &ResultRecord) -> String {
    pts_comparison_hash(PtsIdentity {
        identifier: "",
        title: &record.title,
        arguments: &record.pts.as_ref().unwrap().arguments,
        description: &record.description,
        app_version: &record.version,
        scale: &record.metric.unit,
    })
}

#[test]
fn a_parent_names_the_hash_of_a_result_in_the_file() {
    let name = "corpus/pts/generated-here/monitor-line-graphs-nonascii-10.8.6.xml";
    let Some(xml) = corpus_file(name) else { return };
    let file = pts::read_xml(&xml).unwrap();
    assert_eq!((file.results.len(), file.cases.len()), (9, 3));
    let sensors: Vec<_> = file
        .results
        .iter()
        .filter(|r| !r.metric.is_primary)
        .collect();
    assert_eq!(sensors.len(), 6);
}

#[test]
fn what_is_written_reads_back_as_it_was() {
    for (name, xml) in xml_files() {
        let file = pts::read_xml(&xml).unwrap();
        let written = pts::write_xml(&file);
        let again = pts::read_xml(&written).unwrap();
        assert_eq!(again.results, file.results, "{name}");
        assert_eq!(again.cases, file.cases, "{name}");
        if !file.title.is_empty() {
            assert_eq!(again.title, file.title, "{name}");
        }
        assert_eq!(again.description, file.description, "{name}");
        for (a, b) in again.systems.iter().zip(&file.systems) {
            let mut expected = b.clone();
            // A second description of a system has no place in the format.
            expected.extra.remove("pts_other_descriptions");
            assert_eq!(*a, expected, "{name}");
        }
        assert!(
            written == pts::write_xml(&again),
            "{name}: written twice, it differs"
        );
    }
}

/// Line for line, leaving out what JSON leaves open (order, escapes) and elements that are there
/// without any text in some versions.
#[test]
fn what_is_written_equals_what_pts_wrote() {
    for (name, xml) in xml_files() {
        // These lack what PTS always writes, or hold a line's values twice.
        if ["fragment", "edge", "pjdfstest-pass"]
            .iter()
            .any(|part| name.contains(part))
        {
            continue;
        }
        let written = pts::write_xml(&pts::read_xml(&xml).unwrap());
        let lines = |xml: &[u8]| -> Vec<String> {
            let text = String::from_utf8(xml.to_vec()).unwrap();
            let kept = text.lines().filter(|l| {
                !l.contains("></") && !l.starts_with("<?xml-") && !l.starts_with("<!--")
            });
            kept.map(|line| line.split("<JSON>").next().unwrap().to_owned())
                .collect()
        };
        let (original, written) = (lines(&xml), lines(&written));
        let differs = original.iter().zip(&written).position(|(a, b)| a != b);
        if let Some(at) = differs {
            panic!("{name}: PTS wrote {}, we {}", original[at], written[at]);
        }
        assert_eq!(original.len(), written.len(), "{name}");
    }
}

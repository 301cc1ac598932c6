//! Joining imported files loses nothing and does not depend on the order.

use fathom_formats::{native, pts, references};
use fathom_model::ResultFile;
use fathom_model::merge::merge;

use crate::support::corpus_file;

fn files() -> Vec<ResultFile> {
    let shipped = references()
        .iter()
        .map(|(_, bytes)| native::read(bytes).unwrap());
    let names = [
        "gvn-o2-142-results-7-failed-10.8.4.xml",
        "optpre-o2-142-results-10.8.4.xml",
        "pts-10.8.6-wsl2-system-fio.xml",
        "ec2-large-stream-10-systems-5.6.0.xml",
    ];
    let read = names
        .into_iter()
        .filter_map(|name| corpus_file(&format!("corpus/pts/{name}")))
        .map(|bytes| pts::read_xml(&bytes).unwrap());
    shipped.chain(read).collect()
}

fn entries(file: &ResultFile) -> usize {
    file.results.iter().map(|record| record.entries.len()).sum()
}

#[test]
fn order_does_not_matter_and_nothing_is_lost() {
    let files = files();
    for (at, a) in files.iter().enumerate() {
        assert_eq!(merge(&[a, a]).unwrap(), *a, "{}", a.title);
        for b in &files[at + 1..] {
            let ab = merge(&[a, b]).unwrap();
            assert_eq!(ab, merge(&[b, a]).unwrap(), "{} + {}", a.title, b.title);
            assert_eq!(
                entries(&ab),
                entries(a) + entries(b),
                "{} + {}",
                a.title,
                b.title
            );
            assert_eq!(merge(&[&ab, a]).unwrap(), ab, "{} + {}", a.title, b.title);
        }
    }
    let whole = merge(&files.iter().collect::<Vec<_>>()).unwrap();
    let (front, back) = files.split_at(3);
    let parts = [
        merge(&front.iter().collect::<Vec<_>>()),
        merge(&back.iter().collect::<Vec<_>>()),
    ];
    let joined = merge(&[parts[1].as_ref().unwrap(), parts[0].as_ref().unwrap()]).unwrap();
    assert_eq!(joined, whole);
}

#[test]
fn tests_two_files_share_become_one_result() {
    let of = |name: &str| {
        let (_, bytes) = references()
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap();
        native::read(bytes).unwrap()
    };
    let (a, b) = (of("seed-epyc-raid-2017"), of("seed-optane-2017"));
    let merged = merge(&[&a, &b]).unwrap();
    // Four fio runs of two metrics, SQLite and Dbench; the rest differs in version or options.
    let shared = a.results.len() + b.results.len() - merged.results.len();
    assert_eq!(shared, 10);
    let shared = merged
        .results
        .iter()
        .find(|r| r.metric.unit == "IOPS")
        .unwrap();
    assert_eq!(shared.entries.len(), 18);
}

#[test]
fn a_merged_file_keeps_its_hashes_when_written_for_pts() {
    let files = files();
    let merged = merge(&files.iter().collect::<Vec<_>>()).unwrap();
    let hashes = |file: &ResultFile| -> Vec<String> {
        let mut all: Vec<String> = file
            .results
            .iter()
            .map(|r| r.pts.as_ref().unwrap().hash.clone())
            .collect();
        all.sort();
        all
    };
    let again = pts::read_xml(&pts::write_xml(&merged)).unwrap();
    assert_eq!(hashes(&again), hashes(&merged));
    assert_eq!(entries(&again), entries(&merged));
    let order = |file: &ResultFile| -> Vec<String> {
        file.systems
            .iter()
            .map(|system| system.identifier.clone())
            .collect()
    };
    assert_eq!(order(&again), order(&merged));
}

use super::*;
use crate::{Implementation, ImplementationKind, Options, TestInfo};

fn settings(typed: &[(&str, &str)]) -> FsMarkSettings {
    let info = TestInfo {
        id: ID,
        title: TITLE,
        summary: SUMMARY,
        version: VERSION.to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: options(),
    };
    let typed: Options = typed.iter().copied().collect();
    FsMarkSettings::from_case(&Case::resolve(&info, &typed, "").unwrap()).unwrap()
}

#[test]
fn the_defaults_are_the_originals() {
    let full = settings(&[]);
    assert_eq!((full.files, full.threads, full.directories), (1000, 1, 0));
    assert_eq!(
        (full.size, full.write_size),
        (Bytes::MIB, Bytes::new(16384))
    );
    assert_eq!(full.writes_per_file(), 64);
    assert_eq!((full.sync, full.sync.number()), (FsMarkSync::Fsync, 1));
    assert_eq!((full.name_bytes, full.random_bytes), (40, 24));
    // Every thread creates so many.
    let threads = settings(&[("files", "5000"), ("threads", "4")]);
    assert_eq!(threads.files_in_all(), 20_000);
    assert!(threads.space() > Bytes::new(20_000 << 20));
}

#[test]
fn short_is_a_twentieth() {
    let files = |files: &str| settings(&[("files", files), ("scale", "short")]).files;
    assert_eq!(
        (files("1000"), files("5000"), files("4000")),
        (50, 250, 200)
    );
    assert_eq!((files("100"), files("7")), (10, 7));
}

#[test]
fn methods_have_the_originals_numbers() {
    let numbers: Vec<usize> = FsMarkSync::ALL.iter().map(|sync| sync.number()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(
        settings(&[("sync", "none")]).policy(),
        ("none (method 0)".to_owned(), false)
    );
    assert!(settings(&[("sync", "post")]).policy().1);
}

#[test]
fn contradictions_are_named() {
    let what = |typed: &[(&str, &str)]| {
        let found = settings(typed).conflicts();
        found.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(what(&[]), Vec::<String>::new());
    assert_eq!(
        what(&[("name-bytes", "10"), ("random-bytes", "24")]),
        ["random-bytes=24 is more than name-bytes=10"]
    );
    assert_eq!(
        what(&[("files-per-directory", "10")]),
        ["files-per-directory needs directories"]
    );
    let names = what(&[("random-bytes", "3"), ("files", "1000")]);
    assert!(
        names[0].starts_with("1000 files with 3 random bytes"),
        "{names:?}"
    );
}

#[test]
fn values_have_the_ids_of_the_metrics() {
    let mut file = Histogram::new();
    file.record_n(7_000_000, 1000);
    let values = values(&FsMarkMeasured {
        files_per_second: 143.6,
        app_overhead: Some(Nanos::new(14_246_000)),
        file: Some(&file),
        fsync: None,
    });
    assert_eq!(values["files-per-second"].value(), 143.6);
    assert_eq!(values["app-overhead"].value(), 14_246.0);
    assert_eq!(values["file-latency-p99"].value(), 7000.0);
    assert!(!values.contains_key("file-latency-p99.9"));
    assert!(!values.contains_key("fsync-latency-mean"));
    let ids: Vec<String> = metrics().into_iter().map(|metric| metric.id).collect();
    assert!(values.keys().all(|id| ids.contains(id)));
    assert_eq!(
        metrics().iter().filter(|metric| metric.is_primary).count(),
        1
    );
}

use std::collections::BTreeSet;

use fathom_base::process::Program;
use fathom_model::{Figure, Test, TestError};
use fathom_testkit::{Bench, conforms};

use super::names::Names;
use super::*;
use crate::classic::testing::{
    a_full_disk_is_told, a_planted_link_is_not_followed, child_command, more_work, tool, traced,
    traced_child,
};

const SMALL: [(&str, &str); 2] = [("size", "40KiB"), ("files", "12")];

fn settings(typed: &[(&str, &str)]) -> FsMarkSettings {
    FsMarkSettings::from_case(&Bench::case(&FsMarkTest::new(), typed)).unwrap()
}

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&FsMarkTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    let calls = |kind: &str| trial.histograms[kind].count();
    // 40 KiB are two pieces of 16 KiB and one of 8.
    assert_eq!(
        (calls("file"), calls("create"), calls("close")),
        (12, 12, 12)
    );
    assert_eq!(
        (calls("write"), calls("fsync"), calls("mkdir")),
        (36, 12, 12)
    );
    assert_eq!(calls("unlink"), 12);
    let io = trial.evidence.io.as_ref().unwrap();
    assert_eq!(io.written_bytes, 12 * 40 * 1024);
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert!(durability.durable && durability.syncs == 12);
    assert_eq!(
        durability.policy,
        "fsync of each file before it is closed (method 1)"
    );
    let data = trial.evidence.data.as_ref().unwrap();
    assert!(data.compressible_share.unwrap() > 0.99);
}

#[test]
fn every_method_syncs_what_it_should() {
    let bench = Bench::new();
    let syncs = |method: &str, threads: &str| {
        let typed = with(&[("sync", method), ("threads", threads)]);
        let trials = bench.run(&FsMarkTest::new(), &typed, 1).unwrap();
        let counts = &trials[0].evidence.counts;
        let count = |kind: &str| counts.get(kind).copied().unwrap_or(0);
        let durability = trials[0].evidence.durability.as_ref().unwrap();
        assert_eq!(durability.syncs, count("fsync") + count("sync"), "{method}");
        let settings = settings(&typed);
        assert_eq!(
            settings.syncs(),
            (count("fsync"), count("sync")),
            "{method}"
        );
        (count("fsync"), count("sync"))
    };
    assert_eq!(syncs("none", "2"), (0, 0));
    assert_eq!(syncs("fsync", "2"), (24, 0));
    assert_eq!(syncs("sync", "2"), (2, 2));
    assert_eq!(syncs("post-reverse", "1"), (12, 0));
    assert_eq!(syncs("sync-post-reverse", "1"), (12, 1));
    assert_eq!(syncs("post", "1"), (12, 0));
    assert_eq!(syncs("sync-post", "2"), (24, 2));
}

#[test]
fn the_figure_is_the_sum_over_the_threads() {
    let bench = Bench::new();
    let typed = with(&[("threads", "4"), ("sync", "none")]);
    let trial = &bench.run(&FsMarkTest::new(), &typed, 1).unwrap()[0];
    assert_eq!(trial.histograms["file"].count(), 48);
    // Each thread's rate is at least its files over the whole window.
    let window = trial.evidence.io.as_ref().unwrap().window_ns as f64 / 1e9;
    let files_per_second = trial.values["files-per-second"].value();
    assert!(files_per_second >= 48.0 / window, "{files_per_second}");
    assert_eq!(trial.values.get("fsync-latency-mean"), None::<&Figure>);
}

#[test]
fn names_are_the_originals() {
    let mut names = Names::new(&settings(&[]), 7, 0);
    names.make(0, 0x6b0d_cba9);
    let name = names.path().to_str().unwrap().to_owned();
    let (time, random) = name.split_at(16);
    assert_eq!(time, "6b0dcba9~~~~~~~~");
    let allowed = |c: char| c.is_ascii_digit() || c.is_ascii_uppercase();
    assert!(
        random.len() == 24 && random.chars().all(allowed),
        "{random}"
    );
    assert_eq!(names.directory().to_str().unwrap(), ".");
    let short = [("name-bytes", "12"), ("random-bytes", "4")];
    let mut names = Names::new(&settings(&short), 7, 0);
    names.make(0, 0x6b0d_cba9);
    assert_eq!(names.path().to_bytes().len(), 12);
    assert!(names.path().to_bytes().starts_with(b"6b0dcba9"));
}

#[test]
fn names_can_be_made_again_and_do_not_repeat() {
    let typed = [("directories", "32")];
    let (mut first, mut second) = (
        Names::new(&settings(&typed), 7, 0),
        Names::new(&settings(&typed), 7, 1),
    );
    let mut made = Vec::new();
    let mut all = BTreeSet::new();
    for index in 0..2000 {
        let time = 1_700_000_000 + index / 300;
        first.make(index, time);
        made.push(first.path().to_owned());
        all.insert(first.path().to_owned());
        second.make(index, time);
        all.insert(second.path().to_owned());
    }
    assert_eq!(all.len(), 4000);
    for (index, path) in made.iter().enumerate().rev() {
        first.recall(index as u64);
        assert_eq!(first.path(), path.as_c_str());
    }
}

#[test]
fn the_time_hash_moves_on_after_three_minutes() {
    let mut names = Names::new(&settings(&[("directories", "32")]), 7, 0);
    let start = 1_700_000_000_u64;
    let mut directory = |index: u64, time: u64| {
        names.make(index, time);
        names.directory().to_str().unwrap().to_owned()
    };
    let first = format!("{:02x}", start % 32);
    assert_eq!(directory(0, start), first);
    assert_eq!(directory(1, start + 179), first);
    assert_eq!(
        directory(2, start + 180),
        format!("{:02x}", (start + 1) % 32)
    );
    assert_eq!(names.directories_used(), 2);
}

#[test]
fn round_robin_takes_so_many_files_a_directory() {
    let typed = [("directories", "12"), ("files-per-directory", "2")];
    let mut names = Names::new(&settings(&typed), 7, 0);
    let made: Vec<String> = (0..25)
        .map(|index| {
            names.make(index, 23);
            names.directory().to_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(made[..4], ["0b", "0b", "00", "00"]);
    assert_eq!((made[23].as_str(), made[24].as_str()), ("0a", "0b"));
    assert_eq!(names.directories_used(), 12);
}

#[test]
fn directories_are_made_and_removed() {
    let bench = Bench::new();
    let typed = with(&[("directories", "3"), ("files-per-directory", "5")]);
    let trial = &bench.run(&FsMarkTest::new(), &typed, 2).unwrap()[1];
    assert_eq!(trial.evidence.counts["directories-used"], 3);
}

#[test]
fn links_planted_while_it_runs_are_not_followed() {
    let typed = [
        ("files", "20000"),
        ("size", "4KiB"),
        ("directories", "16"),
        ("files-per-directory", "20"),
    ];
    let planted = a_planted_link_is_not_followed(&FsMarkTest::new(), &typed);
    assert!(planted > 0, "nothing was planted");
}

#[test]
fn a_full_disk_is_a_clear_error() {
    a_full_disk_is_told(&FsMarkTest::new(), &[("files", "100"), ("threads", "2")]);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let outside = bench.directory().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let root = Root::open(bench.scratch(), fathom_base::Bytes::new(0)).unwrap();
    std::os::unix::fs::symlink(&outside, bench.scratch().join("link")).unwrap();
    let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CREATE | rustix::fs::OFlags::TRUNC;
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    assert!(root.open_file(c"link", flags, mode).is_err());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
    renew(bench.scratch()).unwrap();
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let error = bench.run(&FsMarkTest::new(), &SMALL, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn cancelling_stops_all_threads() {
    let bench = Bench::new();
    let typed = [("size", "0B"), ("files", "50000000"), ("threads", "3")];
    let test = FsMarkTest::new();
    let case = Bench::case(&test, &typed);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let directory = bench.scratch().join(format!("fs-mark-{}", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Raised when the first files are there.
            while std::fs::read_dir(&directory).map_or(0, Iterator::count) < 10 {
                std::thread::yield_now();
            }
            bench.cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn space_inodes_and_contradictions_are_named() {
    let mut bench = Bench::new();
    let test = FsMarkTest::new();
    let unmet = |bench: &Bench, typed: &[(&str, &str)]| {
        let unmet = test.check(&bench.host, &Bench::case(&test, typed));
        unmet.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(unmet(&bench, &[]), Vec::<String>::new());
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 100 << 20;
    mount.available_inodes = Some(100);
    let found = unmet(&bench, &[]);
    assert!(found[0].contains("has 105 MB free"), "{found:?}");
    assert!(found[1].contains("has 100 inodes free, the case needs 1001"));
    let found = unmet(
        &bench,
        &[("files-per-directory", "5"), ("size", "0B"), ("files", "5")],
    );
    assert_eq!(found, ["files-per-directory needs directories"]);
    bench.host.target.kind = fathom_model::TargetKind::BlockDevice;
    let found = unmet(&bench, &[("files", "1")]);
    assert!(found[0].ends_with("is not a directory"), "{found:?}");
}

/// The child that `strace` watches.
#[test]
#[ignore = "run by the_system_calls_are_the_originals"]
fn one_trial() {
    traced_child(&FsMarkTest::new());
}

#[test]
fn the_system_calls_are_the_originals() {
    let Some(original) = tool("fs_mark") else {
        return;
    };
    let bench = Bench::new();
    type Pairs = &'static [(&'static str, &'static str)];
    let cases: [(Pairs, &[&str]); 4] = [
        (&[], &[]),
        (&[("sync", "none")], &["-S", "0"]),
        (&[("sync", "sync-post-reverse")], &["-S", "4"]),
        (&[("directories", "32")], &["-D", "32"]),
    ];
    for (options, arguments) in cases {
        let ours = |files: &str| {
            let typed = [&[("size", "40KiB"), ("files", files)], options].concat();
            traced(&child_command(
                "fs_mark::tests::one_trial",
                bench.directory(),
                &typed,
            ))
        };
        let theirs = |files: &str| {
            let mut command = Program::new(&original)
                .args(["-d", "scratch-of-original", "-s", "40960", "-n", files])
                .args(arguments.iter().copied());
            command.directory = Some(bench.directory().to_path_buf());
            traced(&command)
        };
        let Some(ours_small) = ours("10") else { return };
        let (Some(ours_large), Some(theirs_small), Some(theirs_large)) =
            (ours("30"), theirs("10"), theirs("30"))
        else {
            return;
        };
        let ours = more_work(&ours_small, &ours_large);
        let theirs = more_work(&theirs_small, &theirs_large);
        assert_eq!(ours, theirs, "calls for 20 files more, {options:?}");
        assert_eq!(ours["write"], 60);
    }
}

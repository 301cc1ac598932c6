use std::path::Path;

use fathom_model::definition::compilebench::LISTS;
use fathom_testkit::{Bench, conforms};

use super::*;
use crate::classic::testing::{a_full_disk_is_told, a_planted_link_is_not_followed};

/// Lists of a small tree: 40 files in 9 directories, 12 compiled ones, 10 patched ones.
fn small_lists(directory: &Path) -> String {
    let clean: Vec<String> = (0..40)
        .map(|i| format!("d{}/e{}/f{i}.c {}", i % 4, i % 2, 700 * i + 1))
        .collect();
    let compiled: Vec<String> = (0..12)
        .map(|i| format!("d{}/new{}/f{i}.o {}", i % 4, i % 3, 300_000 * (i % 3)))
        .collect();
    let patched: Vec<String> = (0..10)
        .map(|i| format!("d{}/e{}/f{i}.c {}", i % 4, i % 2, 700 * i + 900))
        .collect();
    let lists = [clean, compiled, patched];
    for (name, lines) in LISTS.iter().zip(lists) {
        std::fs::write(directory.join(name), lines.join("\n")).unwrap();
    }
    directory.display().to_string()
}

const CLEAN: u64 = 700 * 780 + 40;
const COMPILED: u64 = 300_000 * 12;
const PATCHED: u64 = 700 * 45 + 9000;

#[test]
fn it_keeps_the_contract() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let mut bench = Bench::new();
    let typed = [("dataset", path.as_str()), ("trees", "3")];
    let trials = conforms(&CompilebenchTest::new(), &typed, &mut bench);
    let trial = &trials[0];
    let io = trial.evidence.io.as_ref().unwrap();
    assert_eq!((io.written_bytes, io.read_bytes), (3 * CLEAN, 0));
    let calls = |kind: &str| trial.histograms[kind].count();
    assert_eq!(
        (calls("open"), calls("close"), calls("write")),
        (120, 120, 120)
    );
    // A tree, 4 directories and one more in each.
    assert_eq!(calls("mkdir"), 3 * 9);
    assert_eq!(trial.evidence.counts["trees-measured"], 3);
    assert!(!trial.evidence.durability.as_ref().unwrap().durable);
    let data = trial.evidence.data.as_ref().unwrap();
    assert!(data.compressible_share.unwrap() > 0.99);
}

#[test]
fn every_phase_does_what_it_should() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::new();
    for phase in CompilebenchPhase::ALL {
        let typed = [
            ("dataset", path.as_str()),
            ("trees", "4"),
            ("phase", phase.name()),
        ];
        let trial = &bench.run(&CompilebenchTest::new(), &typed, 1).unwrap()[0];
        for one in phase.chain() {
            assert!(trial.values.contains_key(one.name()), "{one} of {phase}");
        }
        let io = trial.evidence.io.as_ref().unwrap();
        let count = |kind: &str| trial.evidence.counts.get(kind).copied().unwrap_or(0);
        match phase {
            CompilebenchPhase::Create => assert_eq!(io.written_bytes, 4 * CLEAN),
            CompilebenchPhase::CreateAged => {
                assert_eq!((io.written_bytes, count("sync")), (2 * CLEAN, 2));
            }
            CompilebenchPhase::Patch => {
                assert_eq!((io.written_bytes, count("truncate")), (4 * PATCHED, 40));
            }
            CompilebenchPhase::Compile => {
                assert_eq!((io.written_bytes, count("open")), (4 * COMPILED, 48));
                // 8 files of each tree have bytes, 4 of them in two pieces and 4 in three.
                assert_eq!(count("write"), 4 * (4 * 2 + 4 * 3));
            }
            CompilebenchPhase::Clean => assert_eq!((count("unlink"), count("rmdir")), (48, 0)),
            CompilebenchPhase::Read => {
                assert_eq!((io.read_bytes, count("open")), (3 * CLEAN, 120));
                assert_eq!(count("list"), 3 * 9);
            }
            CompilebenchPhase::ReadCompiled => {
                assert_eq!(io.read_bytes, 3 * (CLEAN + COMPILED));
            }
            CompilebenchPhase::Delete => {
                assert_eq!(
                    (count("unlink"), count("rmdir"), count("sync")),
                    (160, 36, 4)
                );
            }
            CompilebenchPhase::DeleteCompiled => {
                assert_eq!((count("unlink"), count("sync")), (4 * 52, 0));
            }
            // Files, and directories but for the top.
            CompilebenchPhase::Stat => assert_eq!(count("stat"), 4 * 48),
            CompilebenchPhase::StatCompiled => assert_eq!(count("stat"), 4 * (52 + 20)),
        }
    }
}

#[test]
fn files_come_in_the_file_systems_order() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::new();
    let typed = [("dataset", path.as_str())];
    let case = Bench::case(&CompilebenchTest::new(), &typed);
    let set = CompilebenchSettings::from_case(&case)
        .unwrap()
        .load()
        .unwrap();
    let root = Root::open(bench.scratch(), Bytes::new(0)).unwrap();
    let cx = bench.context(0);
    let watch = Watch::new(&cx, "listing");
    let ordered = tree::native_order(&root, &set.unpatched, watch).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
    assert_eq!(ordered.len(), 40);
    // Another tree made with the names in order is listed in the order that was found.
    let mut sorted = set.unpatched.clone();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    for file in &sorted {
        let path = bench.scratch().join("other").join(&file.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let directory = |path: &str| path.rsplit_once('/').unwrap().0.to_owned();
    let all: std::collections::BTreeSet<String> =
        ordered.iter().map(|file| directory(&file.path)).collect();
    assert_eq!(all.len(), 4);
    for one in all {
        let listed: Vec<String> = std::fs::read_dir(bench.scratch().join("other").join(&one))
            .unwrap()
            .map(|entry| format!("{one}/{}", entry.unwrap().file_name().to_str().unwrap()))
            .collect();
        let found: Vec<String> = ordered
            .iter()
            .filter(|file| directory(&file.path) == one)
            .map(|file| file.path.clone())
            .collect();
        assert_eq!(found, listed);
    }
}

#[test]
fn trees_are_cold_before_they_are_read() {
    let Some(disk) = crate::classic::testing::SmallDisk::mount() else {
        return;
    };
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::inside(disk.path());
    let typed = [
        ("dataset", path.as_str()),
        ("trees", "2"),
        ("phase", "read-compiled"),
    ];
    let trial = &bench.run(&CompilebenchTest::new(), &typed, 1).unwrap()[0];
    let cache = trial.evidence.cache.as_ref().unwrap();
    assert_eq!(
        (cache.resident_bytes_before, cache.asked.as_str()),
        (Some(0), "cold")
    );
}

#[test]
fn links_planted_while_it_runs_are_not_followed() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let typed = [
        ("dataset", path.as_str()),
        ("trees", "20"),
        ("phase", "clean"),
    ];
    let planted = a_planted_link_is_not_followed(&CompilebenchTest::new(), &typed);
    assert!(planted > 0, "nothing was planted");
}

#[test]
fn a_full_disk_is_a_clear_error() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let typed = [
        ("dataset", path.as_str()),
        ("trees", "20"),
        ("phase", "compile"),
    ];
    a_full_disk_is_told(&CompilebenchTest::new(), &typed);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::new();
    let outside = bench.directory().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let root = Root::open(bench.scratch(), Bytes::new(0)).unwrap();
    std::os::unix::fs::symlink(&outside, bench.scratch().join("link")).unwrap();
    let cx = bench.context(0);
    let watch = Watch::new(&cx, "removing");
    std::fs::create_dir(bench.scratch().join("kernel-0")).unwrap();
    std::os::unix::fs::symlink(&path, bench.scratch().join("kernel-0/lists")).unwrap();
    // A link to a directory is removed as a link.
    tree::remove(&root, c"kernel-0", watch, &mut |_, _| Ok(())).unwrap();
    assert!(Path::new(&path).join(LISTS[0]).exists());
    assert!(tree::list(&root, c"link").is_err());
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn the_deadline_ends_a_trial() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::new();
    let test = CompilebenchTest::new();
    let case = Bench::case(&test, &[("dataset", path.as_str())]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let mut cx = bench.context(1);
    cx.deadline = Nanos::new(0);
    let error = prepared.run_once(&cx).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
    prepared.finish(&bench.context(0)).unwrap();
}

#[test]
fn cancelling_ends_a_trial() {
    let lists = tempfile::tempdir().unwrap();
    let path = small_lists(lists.path());
    let bench = Bench::new();
    let test = CompilebenchTest::new();
    let case = Bench::case(&test, &[("dataset", path.as_str()), ("trees", "1000")]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let first = bench
        .scratch()
        .join(format!("compilebench-{}/kernel-0", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            // Raised when the first tree is there.
            while !first.exists() {
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
fn room_and_rights_are_named() {
    let mut bench = Bench::new();
    let test = CompilebenchTest::new();
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 100 << 20;
    mount.available_inodes = Some(1000);
    let unmet = test.check(&bench.host, &Bench::case(&test, &[("evict", "machine")]));
    assert!(unmet[0].what.contains("has 105 MB free"), "{unmet:?}");
    assert!(unmet[1].what.contains("the case needs 225432"), "{unmet:?}");
    assert_eq!(unmet[2].what, "evict=machine needs root");
    let estimate = test
        .estimate(&bench.host, &Bench::case(&test, &[]))
        .unwrap();
    assert!(estimate.trial_bytes.as_u64() > 2_331_718_450);
    assert_eq!(estimate.inodes, 225_432);
}

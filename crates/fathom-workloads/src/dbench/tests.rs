use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fathom_base::process::{Program, run};
use fathom_base::{Cancel, Nanos};
use fathom_model::definition::dbench::generate;
use fathom_model::{Test, TestError};
use fathom_testkit::{Bench, conforms};

use super::*;
use crate::classic::testing::{
    Calls, a_full_disk_is_told, a_planted_link_is_not_followed, child_command, more_work, skipped,
    tool, traced, traced_child,
};

/// A file with every operation, that leaves nothing open.
const ALL: &str = r#"
# every operation once
Deltree "\clients\client1" NT_STATUS_OK
Mkdir "\clients" NT_STATUS_OK
NTCreateX "\clients\client1" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\Sub Dir" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX "\clients\client1\a.txt" 0x40 0x2 2 NT_STATUS_OK
WriteX 2 65534 1 1 NT_STATUS_OK
QUERY_FILE_INFORMATION 2 258 NT_STATUS_OK
WriteX 2 0 65535 65535 NT_STATUS_OK
SET_FILE_INFORMATION 2 258 NT_STATUS_OK
LockX 2 2147483539 1 NT_STATUS_OK
UnlockX 2 2147483539 1 NT_STATUS_OK
Flush 2 NT_STATUS_OK
ReadX 2 4096 4096 4096 NT_STATUS_OK
NTCreateX "\clients\client1" 0x40 0x1 3 NT_STATUS_OK
Close 3 NT_STATUS_OK
NTCreateX "\clients\client1\zzz" 0x40 0x1 3 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_PATH_INFORMATION "\clients\client1\A.TXT" 1004 NT_STATUS_OK
QUERY_PATH_INFORMATION "\clients\client1\none" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
QUERY_FS_INFORMATION 259 NT_STATUS_OK
FIND_FIRST "\clients\client1\<.JNK" 260 1366 0 NT_STATUS_NO_SUCH_FILE
FIND_FIRST "\clients\client1\a.txt" 260 1366 1 NT_STATUS_OK
Close 2 NT_STATUS_OK
Rename "\clients\client1\a.txt" "\clients\client1\Sub Dir\b.txt" NT_STATUS_OK
Unlink "\clients\client1\a.txt" 0x6 NT_STATUS_NO_SUCH_FILE
NTCreateX "\clients\client1\Sub Dir\b.txt" 0x40 0x5 2 NT_STATUS_OK
Close 2 NT_STATUS_OK
Unlink "\clients\client1\Sub Dir\b.txt" 0x6 0x00000000
Rmdir "\clients\client1\Sub Dir" NT_STATUS_OK
Sleep 1 NT_STATUS_OK
"#;

struct Load {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

impl Load {
    fn of(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("load.txt");
        std::fs::write(&path, text).unwrap();
        Self {
            _directory: directory,
            path,
        }
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

fn counts_of(trial: &Trial) -> BTreeMap<String, u64> {
    trial.evidence.counts.clone()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let load = Load::of(ALL);
    let typed = [("time", "2s"), ("loadfile", load.path()), ("clients", "2")];
    let trials = conforms(&DbenchTest::new(), &typed, &mut bench);
    let trial = &trials[0];
    let counts = counts_of(trial);
    for name in LoadOp::NAMES {
        assert!(counts[*name] > 0, "{name} in {counts:?}");
        assert_eq!(counts[*name], trial.histograms[*name].count(), "{name}");
    }
    assert_eq!(counts["unexpected"], 0, "{:?}", trial.evidence.notes);
    // Whole passes but for the last one of each client.
    let passes = counts["passes"];
    assert!(counts["Mkdir"] <= passes && counts["Mkdir"] + 2 >= passes);
    assert!(trial.values["throughput"].value() > 0.0);
    assert!(trial.values["max-latency"].value() > 0.0);
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert_eq!(durability.syncs, counts["Flush"]);
    let hash = "sha256 ";
    assert!(
        trial.evidence.notes[0].contains(hash),
        "{:?}",
        trial.evidence.notes
    );
}

#[test]
fn the_built_in_load_file_is_replayed_as_it_expects() {
    let bench = Bench::new();
    let typed = [("time", "2s"), ("clients", "2")];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    let counts = counts_of(trial);
    assert_eq!(counts["unexpected"], 0, "{:?}", trial.evidence.notes);
    assert!(
        counts["ReadX"] > 500 && counts["NTCreateX"] > 300,
        "{counts:?}"
    );
}

#[test]
fn the_warm_up_is_left_out() {
    let bench = Bench::new();
    let load = Load::of(ALL);
    let typed = [("time", "5s"), ("loadfile", load.path())];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    // 5 seconds, the last sample before the end and the one that ended it.
    let window = trial.evidence.io.as_ref().unwrap().window_ns;
    assert!((5_000_000_000..8_000_000_000).contains(&window), "{window}");
    assert!(trial.series["throughput"].values.len() >= 3);
    let counts = counts_of(trial);
    let bytes = trial.evidence.io.as_ref().unwrap().written_bytes;
    assert!(counts["WriteX"] * 65_535 > bytes, "{bytes}");
}

#[test]
fn options_of_syncing_take_effect() {
    let bench = Bench::new();
    let load = Load::of(ALL);
    let syncs = |more: &[(&str, &str)]| {
        let typed = [&[("time", "2s"), ("loadfile", load.path())], more].concat();
        let trial = bench.run(&DbenchTest::new(), &typed, 1).unwrap().remove(0);
        let durability = trial.evidence.durability.unwrap();
        (durability.syncs, durability.durable, trial.evidence.counts)
    };
    let (total, durable, counts) = syncs(&[("fsync", "yes")]);
    assert!(durable);
    assert_eq!(total, counts["Flush"] + counts["WriteX"]);
    let (total, durable, counts) = syncs(&[("sync-directories", "yes")]);
    assert!(!durable);
    let changes = counts["Rename"] + counts["Unlink"] + counts["Rmdir"];
    assert_eq!(total, counts["Flush"] + changes);
    assert!(syncs(&[("sync-open", "yes"), ("resolve", "no")]).1);
}

#[test]
fn a_rate_and_times_in_the_file_are_kept() {
    let bench = Bench::new();
    let load = Load::of(ALL);
    let typed = [
        ("time", "3s"),
        ("loadfile", load.path()),
        ("target-rate", "1"),
    ];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    let rate = trial.values["throughput"].value();
    assert!((0.3..=1.2).contains(&rate), "{rate} MB/s");
    let paced = ALL.replace("ReadX 2", "0.4 ReadX 2");
    let load = Load::of(&paced);
    let typed = [("time", "3s"), ("loadfile", load.path())];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    // One pass takes 0.4 seconds at least; 3 to 5 seconds are counted.
    let reads = counts_of(trial)["ReadX"];
    assert!((3..=13).contains(&reads), "{reads} reads");
}

#[test]
fn what_the_load_file_does_not_expect_is_said() {
    let bench = Bench::new();
    let test = DbenchTest::new();
    let fail = |text: String| {
        let load = Load::of(&text);
        let typed = [("time", "2s"), ("loadfile", load.path())];
        bench.run(&test, &typed, 1)
    };
    let error = fail(ALL.replace("Rmdir \"\\clients\\client1\\Sub Dir\"", "Rmdir \"\\none\""));
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("Rmdir of line 32 of the load file on "),
        "{error}"
    );
    let error = fail(ALL.replace("0x6 NT_STATUS_NO_SUCH_FILE", "0x6 NT_STATUS_OK"));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("a.txt: No such file")
    );
    let error = fail(ALL.replace("0x6 0x00000000", "0x6 0xC000000F")).unwrap_err();
    assert!(error.to_string().contains("line 31: Unlink"), "{error}");
    let error = fail(ALL.replace("client1\\a.txt\" 0x40 0x2 2", "none\\a.txt\" 0x40 0x2 2"));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("NTCreateX of line 9 ")
    );
    // A short read and a file that can be opened after all are counted.
    let text = ALL.replace("ReadX 2 4096 4096 4096", "ReadX 2 65000 4096 4096");
    let text = text.replace(
        "\"\\clients\\client1\\zzz\"",
        "\"\\clients\\client1\\a.txt\"",
    );
    let trial = fail(text).unwrap().remove(0);
    assert!(trial.evidence.counts["unexpected"] >= 2);
    let note = &trial.evidence.notes[1];
    assert!(
        note.starts_with("line 17 of the load file: ReadX read 535 of 4096"),
        "{note}"
    );
}

#[test]
fn clients_exclude_one_another_but_not_themselves() {
    let bench = Bench::new();
    // Every client locks the same range of one file, through two handles.
    let text = "\
Mkdir \"\\shared\" NT_STATUS_OK
NTCreateX \"\\shared\\file\" 0x40 0x2 1 NT_STATUS_OK
NTCreateX \"\\shared\\file\" 0x40 0x2 2 NT_STATUS_OK
LockX 1 0 10 NT_STATUS_OK
LockX 2 0 10 NT_STATUS_OK
WriteX 1 0 10 10 NT_STATUS_OK
UnlockX 1 0 10 NT_STATUS_OK
Close 1 NT_STATUS_OK
Close 2 NT_STATUS_OK
";
    let load = Load::of(text);
    let typed = [("time", "2s"), ("clients", "3"), ("loadfile", load.path())];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    let notes = &trial.evidence.notes;
    if notes.iter().any(|note| note.contains("share one table")) {
        skipped("threads may not have files of their own here");
        return;
    }
    assert_eq!(trial.evidence.counts["unexpected"], 0, "{notes:?}");
}

#[test]
fn many_clients_take_bounded_memory() {
    let bench = Bench::new();
    let load = Load::of(ALL);
    let typed = [
        ("time", "2s"),
        ("clients", "256"),
        ("loadfile", load.path()),
    ];
    let before = resident_bytes();
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    assert_eq!(trial.evidence.counts["clients"], 256);
    // 256 buffers of 64 KiB and of 32 KiB for directories are 24 MiB of it. Other tests run at the
    // same time.
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 256 << 20, "{grown} bytes");
}

/// Most memory this process ever had.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

#[test]
fn links_planted_while_it_runs_are_not_followed() {
    let typed = [("time", "2s"), ("clients", "2")];
    let planted = a_planted_link_is_not_followed(&DbenchTest::new(), &typed);
    assert!(planted > 0, "nothing was planted");
}

#[test]
fn a_full_disk_is_a_clear_error() {
    a_full_disk_is_told(&DbenchTest::new(), &[("time", "600s"), ("clients", "8")]);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let test = DbenchTest::new();
    let load = Load::of(ALL);
    let case = Bench::case(&test, &[("time", "2s"), ("loadfile", load.path())]);
    let outside = bench.directory().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("kept"), "precious").unwrap();
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let directory = bench.scratch().join(format!("dbench-{}", case.id));
    std::fs::create_dir(directory.join("clients")).unwrap();
    std::os::unix::fs::symlink(&outside, directory.join("clients/client0")).unwrap();
    // Deltree does not go through the link, and the directory cannot be made.
    assert!(prepared.run_once(&bench.context(1)).is_err());
    assert_eq!(
        std::fs::read_to_string(outside.join("kept")).unwrap(),
        "precious"
    );
    prepared.run_once(&bench.context(2)).unwrap();
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(
        std::fs::read_to_string(outside.join("kept")).unwrap(),
        "precious"
    );
}

#[test]
fn cancelling_stops_all_clients() {
    let bench = Bench::new();
    let test = DbenchTest::new();
    let load = Load::of(&ALL.replace("Sleep 1 ", "Sleep 60000000 "));
    let case = Bench::case(&test, &[("clients", "3"), ("loadfile", load.path())]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let directory = bench.scratch().join(format!("dbench-{}", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !directory.join("clients/client2").exists() {
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
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let load = Load::of(ALL);
    let typed = [("loadfile", load.path())];
    let error = bench.run(&DbenchTest::new(), &typed, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn needs_grow_with_the_clients() {
    let mut bench = Bench::new();
    let test = DbenchTest::new();
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 1 << 30;
    mount.available_inodes = Some(5000);
    let unmet = |clients: &str| {
        let unmet = test.check(&bench.host, &Bench::case(&test, &[("clients", clients)]));
        unmet.into_iter().map(|one| one.what).collect::<Vec<_>>()
    };
    assert_eq!(unmet("6"), Vec::<String>::new());
    let found = unmet("256");
    assert!(
        found[0].contains("has 1074 MB free, the case needs"),
        "{found:?}"
    );
    assert!(found[1].contains("has 5000 inodes free"), "{found:?}");
}

// --- against the original ---

/// Counts of the table a run of the original prints, by the names of the load file.
fn counts_of_original(dbench: &Path, load: &Load) -> BTreeMap<&'static str, u64> {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Program::new(dbench).args(["-t", "2", "-c", load.path(), "1"]);
    command.directory = Some(directory.path().to_path_buf());
    let finished = run(&command, &Cancel::new()).unwrap();
    let text = finished.stdout_text();
    assert!(text.contains("Throughput"), "{text}");
    assert!(
        !text.contains("failed") && !text.contains("ERROR"),
        "{text}"
    );
    let table = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let op = LoadOp::by_name(words.next()?)?;
        Some((op.name(), words.next()?.parse().ok()?))
    });
    table.collect()
}

/// The load file that Debian's dbench ships.
fn shipped() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/share/dbench/client.txt");
    if !path.exists() {
        skipped("dbench is not installed");
        return None;
    }
    Some(path)
}

#[test]
fn the_shipped_load_file_is_understood_to_its_end() {
    let Some(path) = shipped() else { return };
    let typed = [("loadfile", path.to_str().unwrap())];
    let case = Bench::case(&DbenchTest::new(), &typed);
    let facts = DbenchSettings::from_case(&case).unwrap().facts().unwrap();
    let count = |op: LoadOp| facts.counts[op.index()];
    assert_eq!((facts.lines, count(LoadOp::ReadX)), (458_344, 124_199));
    assert_eq!(count(LoadOp::NTCreateX), 79_230);
    assert_eq!(count(LoadOp::WriteX), 39_502);
    assert_eq!((count(LoadOp::Rename), count(LoadOp::Flush)), (3355, 5553));
    assert_eq!(facts.most_handles, 23);
}

#[test]
fn the_shipped_load_file_goes_as_it_expects() {
    let Some(path) = shipped() else { return };
    let typed = [("loadfile", path.to_str().unwrap()), ("time", "2s")];
    let trial = &Bench::new().run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    assert_eq!(
        trial.evidence.counts["unexpected"], 0,
        "{:?}",
        trial.evidence.notes
    );
    assert!(
        trial.evidence.counts["ReadX"] > 1000,
        "{:?}",
        trial.evidence.counts
    );
}

#[test]
fn the_original_plays_the_built_in_load_file_and_counts_the_same() {
    let Some(dbench) = tool("dbench") else { return };
    let bench = Bench::new();
    let load = Load::of(&generate(1));
    let theirs = counts_of_original(&dbench, &load);
    let typed = [("time", "2s"), ("loadfile", load.path())];
    let trial = &bench.run(&DbenchTest::new(), &typed, 1).unwrap()[0];
    assert_eq!(trial.evidence.counts["unexpected"], 0);
    let ours = counts_of(trial);
    // Whole passes in both: counts a pass are those of the file, but for the last, torn one.
    let facts = DbenchSettings::from_case(&Bench::case(&DbenchTest::new(), &typed))
        .unwrap()
        .facts()
        .unwrap();
    let passes = |count: u64, op: LoadOp| count as f64 / facts.counts[op.index()] as f64;
    let by_reads = |of: &dyn Fn(LoadOp) -> u64| passes(of(LoadOp::ReadX), LoadOp::ReadX);
    for of in [
        &(|op: LoadOp| ours.get(op.name()).copied().unwrap_or(0)) as &dyn Fn(LoadOp) -> u64,
        &|op: LoadOp| theirs.get(op.name()).copied().unwrap_or(0),
    ] {
        let all = by_reads(of);
        assert!(all > 1.0, "{all} passes");
        for op in [
            LoadOp::NTCreateX,
            LoadOp::WriteX,
            LoadOp::Close,
            LoadOp::FindFirst,
        ] {
            let this = passes(of(op), op);
            assert!(
                (this - all).abs() <= 1.0,
                "{op:?}: {this} passes, reads {all}"
            );
        }
    }
}

/// The child that `strace` watches.
#[test]
#[ignore = "run by the_system_calls_are_the_originals"]
fn one_trial() {
    traced_child(&DbenchTest::new());
}

/// Calls of a pass: the load file lets one pass go by in the time, and its repetitions differ.
fn calls_of(load: &Load, bench: &Bench, original: Option<&Path>) -> Option<Calls> {
    match original {
        Some(dbench) => {
            let mut command = Program::new(dbench).args(["-t", "2", "-c", load.path(), "1"]);
            command.directory = Some(bench.directory().to_path_buf());
            traced(&command)
        }
        None => {
            let typed = [("time", "2s"), ("loadfile", load.path())];
            let child = "dbench::tests::one_trial";
            traced(&child_command(child, bench.directory(), &typed))
        }
    }
}

#[test]
fn the_system_calls_are_the_originals() {
    let Some(dbench) = tool("dbench") else { return };
    // A pass, then a rest until the time is over: every run does it once. The second load file
    // does a part of it again.
    let once = ALL.replace("Sleep 1 ", "Sleep 20000000 ");
    let part =
        &ALL[ALL.find("NTCreateX \"\\clients\\client1\\Sub").unwrap()..ALL.find("Sleep").unwrap()];
    let twice = once.replace("Sleep", &format!("{part}{part}Sleep"));
    let (once, twice) = (Load::of(&once), Load::of(&twice));
    let calls = |original: Option<&Path>| -> Option<Calls> {
        let bench = Bench::new();
        let small = calls_of(&once, &bench, original)?;
        let bench = Bench::new();
        let large = calls_of(&twice, &bench, original)?;
        Some(more_work(&small, &large))
    };
    let (Some(mut ours), Some(mut theirs)) = (calls(None), calls(Some(&dbench))) else {
        return;
    };
    for calls in [&mut ours, &mut theirs] {
        // Reading the load file, what the original prints every second, and naps.
        calls.retain(|name, _| !matches!(name.as_str(), "read" | "write" | "clock_nanosleep"));
    }
    // A directory that is made anew, once in each part, is opened to name things in it.
    for call in ["open", "close"] {
        theirs
            .entry(call.to_owned())
            .and_modify(|count| *count += 2);
    }
    assert_eq!(ours, theirs);
    assert_eq!(
        (ours["pwrite64"], ours["pread64"], ours["fsync"]),
        (4, 2, 2)
    );
}

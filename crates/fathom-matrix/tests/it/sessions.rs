use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fathom_base::WallTime;
use fathom_matrix::{
    Bench, Cell, CellEnd, Discard, MatrixEnd, MatrixError, MatrixFile, Session, Settings, Tools,
    Workspace, clean,
};
use fathom_model::{
    Case, CaseId, Generator, Implementation, ImplementationKind, Options, ResultFile, Run, System,
    Trial,
};
use fathom_store::Store;
use fathom_system::Root;
use fathom_testkit::{disk_directory, root as is_root, tool};
use tempfile::TempDir;

const FILE: &str = r#"
format = 1
name = "test"
suites = ["quick"]
seed = 3
blocks = 2
[[device]]
name = "a"
loop = "128MiB"
[[device]]
name = "b"
loop = "128MiB"
[[group]]
devices = ["a"]
file-system = "ext4"
[[group]]
devices = ["a", "b"]
layout = "raid1"
file-system = { type = "btrfs", mount = "compress=lzo" }
[[group]]
devices = ["a"]
file-system = { type = "ext4", mkfs = ["-O", "no_such_feature"], name = "broken" }
"#;

/// Writes a file instead of measuring, and notes what it was given.
#[derive(Default)]
struct Writer {
    seen: Vec<String>,
    said: Vec<String>,
    /// Fails or stops in this cell.
    at: Option<(usize, Result<CellEnd, String>)>,
    is_stopped: bool,
}

fn result(cell: &Cell<'_>, trials: usize) -> ResultFile {
    let case = Case {
        id: CaseId("case".to_owned()),
        test: "writer".to_owned(),
        test_version: "1".to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "writer".to_owned(),
            version: "1".to_owned(),
        },
        options: Options::default(),
        label: "a file".to_owned(),
        extra: serde_json::Map::new(),
    };
    let mut file = ResultFile::new("cell", Generator::default());
    file.systems.push(System {
        identifier: cell.configuration.identifier.clone(),
        labels: cell.configuration.labels.clone(),
        ..System::default()
    });
    let trial = |number: usize| Trial {
        id: format!("{}/{number}", cell.name),
        number: 1,
        ..Trial::default()
    };
    file.runs.push(Run {
        case: case.id.clone(),
        system: cell.configuration.identifier.clone(),
        trials: (0..trials).map(trial).collect(),
        unavailable: (trials == 0).then(|| "not here".to_owned()),
        ..Run::default()
    });
    file.cases.push(case);
    file
}

impl Bench for Writer {
    fn measure(&mut self, cell: &Cell<'_>) -> Result<CellEnd, String> {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let point = cell.point.to_str().unwrap();
        let line = table
            .lines()
            .find(|line| line.split(' ').nth(4) == Some(point));
        let line = line.expect("the configuration is mounted");
        let system = line.split(" - ").nth(1).unwrap().split(' ').next().unwrap();
        fs::write(cell.point.join("data"), [7; 4096]).unwrap();
        self.seen.push(format!("{} {system}", cell.name));
        if let Some((number, end)) = &self.at
            && *number == self.seen.len()
        {
            self.is_stopped = *end == Ok(CellEnd::Stopped);
            return end.clone();
        }
        cell.store.save_as(&cell.name, &result(cell, 1)).unwrap();
        Ok(CellEnd::Done)
    }

    fn unavailable(&mut self, cell: &Cell<'_>, reason: &str) -> Result<(), String> {
        assert!(!reason.is_empty());
        cell.store.save_as(&cell.name, &result(cell, 0)).unwrap();
        Ok(())
    }

    fn say(&mut self, text: &str) {
        self.said.push(text.to_owned());
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}

/// A data directory on a disk, or nothing, said, where no loop devices can be made.
/// One test at a time: a program that one starts inherits the locks of all of this process, and a
/// lock that is held means that somebody is at it.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rig() -> Option<TempDir> {
    if !is_root("a loop device") {
        return None;
    }
    for name in ["losetup", "mkfs.ext4", "mkfs.btrfs", "mount"] {
        tool(name)?;
    }
    disk_directory()
}

fn run(data: &Path, bench: &mut Writer) -> Result<MatrixEnd, MatrixError> {
    let file = MatrixFile::parse("test.toml", FILE).unwrap();
    let configurations = file.configurations(&file.loop_facts()).unwrap();
    let tools = tools();
    let root = Root::system();
    let settings = Settings {
        root: &root,
        data,
        tools: &tools,
        found: &[],
        consents: &[],
        now: WallTime::from_unix_ms(1_796_064_312_000),
        version: "0.1.0",
        drawn_seed: 1,
    };
    let store = Store::new(data);
    Session::open(settings, &file, &configurations, bench)?.run(&store, bench)
}

fn tools() -> Tools {
    Tools::new(&std::env::var_os("PATH").unwrap_or_default())
}

/// Nothing of a data directory is mounted or attached.
fn assert_nothing_left(data: &Path) {
    let data = fs::canonicalize(data).unwrap();
    let data = data.to_str().unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(data), "{mounts}");
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file"));
        let backing = backing.unwrap_or_default();
        assert!(!backing.contains(data), "{backing}");
    }
}

#[test]
fn every_configuration_is_built_measured_and_torn_down_in_each_block() {
    let _turn = turn();
    let Some(data) = rig() else { return };
    let mut bench = Writer::default();
    let end = run(data.path(), &mut bench).unwrap();
    let mut seen = bench.seen.clone();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            "b001-c001 ext4",
            "b001-c002 btrfs",
            "b002-c001 ext4",
            "b002-c002 btrfs"
        ]
    );
    assert_eq!((end.measured, end.unavailable, end.failed), (4, 1, 0));
    let result = end.result.unwrap();
    let names: Vec<&str> = result
        .systems
        .iter()
        .map(|s| s.identifier.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "loop 128MiB EXT4",
            "2 x 128MiB loop Btrfs + LZO RAID1",
            "loop 128MiB broken"
        ]
    );
    assert_eq!(result.systems[1].labels["layout"], "raid1");
    assert_eq!(
        result
            .runs
            .iter()
            .map(|run| run.trials.len())
            .sum::<usize>(),
        4
    );
    assert_eq!(end.saved_as.unwrap().as_str(), "test");
    assert_nothing_left(data.path());
    assert_eq!(Workspace::unfinished(data.path()), Vec::<String>::new());
}

#[test]
fn a_stopped_matrix_goes_on_where_it_was() {
    let _turn = turn();
    let Some(data) = rig() else { return };
    let mut first = Writer {
        at: Some((2, Ok(CellEnd::Stopped))),
        ..Writer::default()
    };
    let end = run(data.path(), &mut first).unwrap();
    assert!(end.is_stopped && end.result.is_none());
    assert_nothing_left(data.path());
    let mut failing = Writer {
        at: Some((2, Err("the disk is gone".to_owned()))),
        ..Writer::default()
    };
    let error = run(data.path(), &mut failing).unwrap_err();
    assert_eq!(error.to_string(), "the disk is gone");
    assert_nothing_left(data.path());
    let mut last = Writer::default();
    let end = run(data.path(), &mut last).unwrap();
    assert_eq!((end.measured, end.cells), (4, 6));
    let all = first.seen.len() + failing.seen.len() + last.seen.len();
    // Two cells were begun twice.
    assert_eq!(all, 4 + 2);
}

/// A program that outlives its Fathom, in a mount of the matrix.
struct Orphan(Child);

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// As a killed session leaves it: mounted, attached, in the journal, the lock free.
fn left_behind(data: &Path) -> PathBuf {
    let directory = data.join("matrix/test");
    for part in ["files", "mnt/c001"] {
        fs::create_dir_all(directory.join(part)).unwrap();
    }
    let directory = fs::canonicalize(directory).unwrap();
    let image = directory.join("files/a.img");
    let point = directory.join("mnt/c001");
    fs::write(&image, vec![0; 32 << 20]).unwrap();
    let output = |program: &str, args: &[&str]| {
        let done = Command::new(program).args(args).output().unwrap();
        assert!(done.status.success(), "{program}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let image_text = image.to_str().unwrap();
    let node = output("losetup", &["--find", "--show", image_text]);
    output("mkfs.ext4", &["-q", "-F", node.trim()]);
    output("mount", &[node.trim(), point.to_str().unwrap()]);
    let making = |number: u32, thing: &str| {
        format!("{{\"event\":\"making\",\"number\":{number},\"thing\":{thing}}}\n")
    };
    let journal = [
        making(
            1,
            &format!("{{\"kind\":\"file\",\"path\":\"{image_text}\"}}"),
        ),
        making(
            2,
            &format!("{{\"kind\":\"loop\",\"file\":\"{image_text}\"}}"),
        ),
        making(
            3,
            &format!("{{\"kind\":\"mount\",\"point\":\"{}\"}}", point.display()),
        ),
    ];
    fs::write(directory.join("journal.jsonl"), journal.concat()).unwrap();
    fs::write(directory.join("lock"), "").unwrap();
    point
}

#[test]
fn what_a_killed_session_left_is_undone_and_nothing_else() {
    let _turn = turn();
    let Some(data) = rig() else { return };
    let Some(other) = rig() else { return };
    let foreign = left_behind(other.path());
    left_behind(data.path());
    let cleaned = clean(&Root::system(), data.path(), &tools(), Discard::Nothing).unwrap();
    assert_eq!(cleaned.undone.len(), 3, "{cleaned:?}");
    assert_nothing_left(data.path());
    // The same things elsewhere are somebody else's.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(mounts.contains(foreign.to_str().unwrap()));
    clean(&Root::system(), other.path(), &tools(), Discard::Measured).unwrap();
    assert_nothing_left(other.path());
    let again = clean(&Root::system(), data.path(), &tools(), Discard::Nothing).unwrap();
    assert_eq!(again.undone, Vec::<String>::new());
}

#[test]
fn a_program_that_outlived_its_session_is_ended_first() {
    let _turn = turn();
    let Some(data) = rig() else { return };
    let point = left_behind(data.path());
    let lock = data.path().join("matrix/test/lock");
    // flock hands the lock to the program it runs, as a session does.
    if tool("flock").is_none() {
        return;
    }
    let _orphan = Orphan(
        Command::new("flock")
            .arg(&lock)
            .args(["sleep", "600"])
            .current_dir(&point)
            .stdin(Stdio::null())
            .spawn()
            .unwrap(),
    );
    while fs::File::open(&lock).unwrap().try_lock().is_ok() {
        std::thread::yield_now();
    }
    clean(&Root::system(), data.path(), &tools(), Discard::Nothing).unwrap();
    assert_nothing_left(data.path());
}

#[test]
fn a_matrix_that_was_begun_with_another_file_is_not_gone_on_with() {
    let _turn = turn();
    let Some(data) = rig() else { return };
    let mut first = Writer {
        at: Some((1, Ok(CellEnd::Stopped))),
        ..Writer::default()
    };
    run(data.path(), &mut first).unwrap();
    let text = FILE.replace("seed = 3", "seed = 4");
    let file = MatrixFile::parse("test.toml", &text).unwrap();
    let configurations = file.configurations(&file.loop_facts()).unwrap();
    let (root, tools) = (Root::system(), tools());
    let settings = Settings {
        root: &root,
        data: data.path(),
        tools: &tools,
        found: &[],
        consents: &[],
        now: WallTime::default(),
        version: "0.1.0",
        drawn_seed: 1,
    };
    let opened = Session::open(settings, &file, &configurations, &mut first);
    assert!(matches!(opened.err(), Some(MatrixError::Changed { .. })));
    clean(&root, data.path(), &tools, Discard::Measured).unwrap();
    assert_eq!(Workspace::unfinished(data.path()), Vec::<String>::new());
}

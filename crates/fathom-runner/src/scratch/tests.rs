use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use fathom_testkit::FakeRoot;

use super::*;

const RUN: &str = "20261130-184512-4f1c9a3e";

/// A machine with the tree it is read from.
struct Table {
    processes: ProcessTable,
    _root: FakeRoot,
}

impl std::ops::Deref for Table {
    type Target = ProcessTable;

    fn deref(&self) -> &ProcessTable {
        &self.processes
    }
}

/// This machine, on which we started at `life` (of boot `boot`, in namespace `space`).
fn table(life: u64, boot: &str, space: &str, machine: &str) -> Table {
    let pid = std::process::id();
    let stat = format!("{pid} (x (y) z) S 1 1 1 0 -1 4 1 0 0 0 1 1 0 0 20 0 4 0 {life} 1 1");
    let root = FakeRoot::new()
        .file(&format!("/proc/{pid}/stat"), stat)
        .file("/proc/sys/kernel/random/boot_id", boot)
        .link("/proc/self/ns/pid", space)
        .file("/etc/machine-id", machine);
    Table {
        processes: ProcessTable::new(root.path()),
        _root: root,
    }
}

fn here(life: u64) -> Table {
    table(life, "boot", "pid:[1]", "machine")
}

/// A scratch directory with content whose process is gone when `processes` is not `owner`.
fn left_behind(parent: &Path, owner: &ProcessTable) -> PathBuf {
    let scratch = Scratch::create(&path_for(parent, RUN), RUN, owner).unwrap();
    let path = scratch.path().to_path_buf();
    fs::create_dir_all(path.join("a/b")).unwrap();
    fs::write(path.join("a/b/file"), "x").unwrap();
    path
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_scratch_directory_is_private_marked_and_gone_at_the_end() {
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(&path_for(parent.path(), RUN), RUN, &here(1)).unwrap();
    let path = scratch.path().to_path_buf();
    assert_eq!(path, parent.path().join(".fathom-4f1c9a3e"));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let marker = fs::read_to_string(path.join(MARKER)).unwrap();
    assert!(
        marker.contains(RUN) && marker.contains(&std::process::id().to_string()),
        "{marker}"
    );
    assert!(
        !marker.contains(":\"machine\""),
        "the id of the machine stays private: {marker}"
    );
    fs::create_dir_all(path.join("deep/er")).unwrap();
    fs::write(path.join("deep/er/file"), "x").unwrap();
    scratch.remove().unwrap();
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_name_in_the_way_is_left_and_another_one_taken() {
    let parent = tempfile::tempdir().unwrap();
    let path = path_for(parent.path(), RUN);
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "x").unwrap();
    let scratch = Scratch::create(&path, RUN, &here(1)).unwrap();
    assert!(scratch.path().ends_with(".fathom-4f1c9a3e-2"));
    scratch.remove().unwrap();
    assert_eq!(names(&path), ["precious"]);
}

#[test]
fn a_link_inside_is_removed_and_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("precious"), "x").unwrap();
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(&path_for(parent.path(), RUN), RUN, &here(1)).unwrap();
    symlink(outside.path(), scratch.path().join("link")).unwrap();
    symlink(outside.path().join("precious"), scratch.path().join("file")).unwrap();
    fs::create_dir(scratch.path().join("sub")).unwrap();
    symlink("..", scratch.path().join("sub/up")).unwrap();
    scratch.remove().unwrap();
    assert_eq!(names(outside.path()), ["precious"]);
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn a_directory_without_permissions_is_removed_all_the_same() {
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(&path_for(parent.path(), RUN), RUN, &here(1)).unwrap();
    let closed = scratch.path().join("closed");
    fs::create_dir_all(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    scratch.remove().unwrap();
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn what_a_dead_process_left_is_swept() {
    let parent = tempfile::tempdir().unwrap();
    let path = left_behind(parent.path(), &here(1));
    let swept = sweep(parent.path(), &here(2));
    assert_eq!(swept.removed, [(path, RUN.to_owned())]);
    assert_eq!(names(parent.path()), [""; 0]);
}

#[test]
fn after_a_restart_the_same_number_is_another_process() {
    let parent = tempfile::tempdir().unwrap();
    left_behind(parent.path(), &here(1));
    let swept = sweep(parent.path(), &table(1, "later boot", "pid:[1]", "machine"));
    assert_eq!(swept.removed.len(), 1);
}

#[test]
fn a_living_run_is_left_alone() {
    let parent = tempfile::tempdir().unwrap();
    // Its process is seen, although it holds no lock.
    left_behind(parent.path(), &here(1));
    let swept = sweep(parent.path(), &here(1));
    assert!(swept.removed.is_empty() && swept.kept.is_empty());
    // Its lock is held, although its process is not seen: it runs in a container.
    let scratch = Scratch::create(&path_for(parent.path(), "x-y-1"), "x-y-1", &here(1)).unwrap();
    let swept = sweep(parent.path(), &table(9, "boot", "pid:[2]", "machine"));
    let removed: Vec<&String> = swept.removed.iter().map(|(_, run)| run).collect();
    assert_eq!(removed, [RUN], "only the one without a lock");
    assert!(scratch.path().exists());
    scratch.remove().unwrap();
}

#[test]
fn another_machines_directory_is_told_and_left() {
    let parent = tempfile::tempdir().unwrap();
    let path = left_behind(parent.path(), &here(1));
    let swept = sweep(
        parent.path(),
        &table(1, "other boot", "pid:[1]", "other machine"),
    );
    assert!(swept.removed.is_empty());
    assert_eq!(swept.kept[0].0, path);
    assert!(
        swept.kept[0].1.contains("another machine"),
        "{:?}",
        swept.kept
    );
    assert!(path.join("a/b/file").exists());
}

#[test]
fn what_does_not_carry_our_mark_is_never_touched() {
    let parent = tempfile::tempdir().unwrap();
    let at = |name: &str| parent.path().join(name);
    let outside = tempfile::tempdir().unwrap();
    let real = left_behind(outside.path(), &here(1));
    let marker = fs::read_to_string(real.join(MARKER)).unwrap();
    fs::create_dir(at(".fathom-00000001")).unwrap();
    fs::create_dir(at(".fathom-00000002")).unwrap();
    fs::write(at(".fathom-00000002").join(MARKER), "{\"fathom_run\": 3").unwrap();
    fs::write(at(".fathom-00000003"), "a file").unwrap();
    symlink(&real, at(".fathom-00000004")).unwrap();
    // A mark that is a link, too large, or a directory.
    fs::create_dir(at(".fathom-00000005")).unwrap();
    symlink(real.join(MARKER), at(".fathom-00000005").join(MARKER)).unwrap();
    fs::create_dir(at(".fathom-00000006")).unwrap();
    let large = format!("{marker}{}", " ".repeat(5000));
    fs::write(at(".fathom-00000006").join(MARKER), large).unwrap();
    fs::create_dir_all(at(".fathom-00000007").join(MARKER)).unwrap();
    // Our mark in a directory that is not named as ours.
    fs::create_dir(at("data")).unwrap();
    fs::write(at("data").join(MARKER), &marker).unwrap();
    let before = names(parent.path());
    let swept = sweep(parent.path(), &here(2));
    assert!(swept.removed.is_empty(), "{:?}", swept.removed);
    assert_eq!(names(parent.path()), before);
    assert!(real.join("a/b/file").exists());
}

#[test]
fn a_recorded_directory_is_also_removed_when_it_is_empty() {
    let parent = tempfile::tempdir().unwrap();
    let path = path_for(parent.path(), RUN);
    let removed = |processes: &ProcessTable| remove_recorded(&path, processes).removed.len();
    assert_eq!(removed(&here(2)), 0, "nothing is there");
    fs::create_dir(&path).unwrap();
    assert_eq!(removed(&here(2)), 1, "killed between making and marking it");
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "x").unwrap();
    assert_eq!(removed(&here(2)), 0, "no mark, and not empty");
    fs::remove_dir_all(&path).unwrap();
    left_behind(parent.path(), &here(1));
    assert_eq!(removed(&here(1)), 0, "its process lives");
    assert_eq!(removed(&here(2)), 1);
}

#[test]
fn too_many_levels_are_an_error_and_keep_the_mark() {
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(&path_for(parent.path(), RUN), RUN, &here(1)).unwrap();
    let path = scratch.path().to_path_buf();
    let mut deep = path.clone();
    for _ in 0..300 {
        deep.push("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let error = scratch.remove().unwrap_err().to_string();
    assert!(error.contains("256 directories"), "{error}");
    assert!(path.join(MARKER).exists());
}

#[test]
fn a_mounted_file_system_inside_is_left_alone() {
    if !fathom_testkit::root("mounting a file system inside a scratch directory") {
        return;
    }
    let parent = tempfile::tempdir().unwrap();
    let scratch = Scratch::create(&path_for(parent.path(), RUN), RUN, &here(1)).unwrap();
    let inside = scratch.path().join("mounted");
    fs::create_dir(&inside).unwrap();
    let mount = |args: &[&str]| {
        let status = std::process::Command::new(args[0])
            .args(&args[1..])
            .status();
        status.is_ok_and(|status| status.success())
    };
    let point = inside.to_str().unwrap();
    if !mount(&["mount", "-t", "tmpfs", "none", point]) {
        fathom_testkit::skipped("this machine does not let us mount a tmpfs");
        return;
    }
    fs::write(inside.join("precious"), "x").unwrap();
    let path = scratch.path().to_path_buf();
    let result = scratch.remove();
    let is_there = inside.join("precious").exists();
    assert!(mount(&["umount", point]));
    assert!(is_there);
    assert!(
        matches!(result, Err(ScratchError::Mounted { .. })),
        "{result:?}"
    );
    // Unmounted, and its run gone, it is an ordinary left-over.
    assert_eq!(
        sweep(parent.path(), &here(2)).removed,
        [(path, RUN.to_owned())]
    );
}

#[test]
fn processes_of_a_run_that_is_gone_are_ended_before_its_directory_goes() {
    let parent = tempfile::tempdir().unwrap();
    // Our own process numbers, in the real table.
    let real = ProcessTable::new(Path::new("/"));
    let path = left_behind(parent.path(), &here(1));
    let start = |value: &Path| {
        let mut command = std::process::Command::new("sleep");
        command
            .arg("600")
            .env(fathom_model::SCRATCH_VARIABLE, value);
        command.spawn().unwrap()
    };
    let mut ours = start(&path);
    // One of another run, whose path only begins alike.
    let mut other = start(&parent.path().join(".fathom-4f1c9a3e-2"));
    real.end_marked(&path);
    let status = ours.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(9)
    );
    assert_eq!(other.try_wait().unwrap(), None);
    other.kill().unwrap();
    other.wait().unwrap();
}

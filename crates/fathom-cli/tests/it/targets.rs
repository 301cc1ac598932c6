//! Targets that are missing, read-only, full, memory, or not ours.

use std::path::{Path, PathBuf};
use std::process::Command;

use fathom_testkit::{root, skipped, tool};
use tempfile::TempDir;

use crate::bench::Bench;

const SMALL: [&str; 10] = [
    "run",
    "io",
    "-o",
    "size=4MiB",
    "-o",
    "runtime=30ms",
    "-o",
    "ramp=0s",
    "--max-trials",
    "2",
];

fn small(bench: &Bench, more: &[&str]) -> crate::bench::Ended {
    let mut words = SMALL.to_vec();
    words.extend(more);
    bench.run(&words)
}

#[test]
fn a_missing_target_is_named_with_what_exists() {
    let Some(bench) = Bench::new() else { return };
    let ended = small(&bench, &["--target", "no/such"]).expect(3);
    assert!(ended.stderr.contains("no/such"), "{}", ended.stderr);
    assert!(ended.stderr.contains("does not exist"), "{}", ended.stderr);
    assert!(!bench.data().exists());
}

#[test]
fn a_target_nobody_may_write_in_gives_one_error_and_no_table() {
    let Some(bench) = Bench::new() else { return };
    let ended = small(&bench, &["--target", "/sys/kernel"]).expect(3);
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("error: "), "{}", ended.stderr);
    assert!(!ended.stderr.contains("resume"), "{}", ended.stderr);
}

#[test]
fn a_file_is_read_but_never_overwritten_without_consent() {
    let Some(bench) = Bench::new() else { return };
    let file = bench.target.join("precious");
    let content: Vec<u8> = (0..8_u32 << 20).map(|at| (at >> 3) as u8).collect();
    std::fs::write(&file, &content).unwrap();
    let target = file.to_str().unwrap();
    let write = ["--target", target, "-o", "rw=randwrite"];
    let refused = small(&bench, &write).expect(3);
    assert!(refused.stderr.contains("--destroy"), "{}", refused.stderr);
    small(&bench, &["--target", target, "-o", "rw=randread"]).expect(0);
    assert!(
        std::fs::read(&file).unwrap() == content,
        "the file was changed"
    );
    let mut write = write.to_vec();
    write.extend(["--destroy", target]);
    small(&bench, &write).expect(0);
    assert!(
        std::fs::read(&file).unwrap() != content,
        "nothing was written"
    );
    assert_eq!(bench.left(), [file]);
}

#[test]
fn memory_is_not_called_a_disk() {
    let shm = Path::new("/dev/shm");
    let is_tmpfs = fathom_testkit::file_system(shm).as_deref() == Some("tmpfs");
    let Ok(directory) = tempfile::tempdir_in(shm) else {
        return skipped("/dev/shm cannot be written");
    };
    if !is_tmpfs {
        return skipped("/dev/shm is no tmpfs");
    }
    let bench = Bench::at(directory.path());
    let ran = small(&bench, &["--json"]).expect(0);
    let result = ran.json();
    let verdict = &result["results"][0]["entries"][0]["verdict"];
    assert_eq!(verdict["level"], "invalid", "{verdict}");
    let reasons = verdict["reasons"].as_array().unwrap();
    assert!(
        reasons
            .iter()
            .any(|reason| reason["rule"] == "memory-backed"),
        "{verdict}"
    );
    let explained = bench.run(&["explain"]).expect(0).stdout;
    assert!(explained.contains("tmpfs"), "{explained}");
    assert!(explained.contains("--targets"), "{explained}");
}

/// A file system in a file, mounted for one test.
struct Mounted {
    _directory: TempDir,
    point: PathBuf,
}

impl Mounted {
    fn new(megabytes: u64, options: &str) -> Option<Self> {
        let (mkfs, mount) = (tool("mkfs.ext4")?, tool("mount")?);
        if !root("a file system on a loop device") {
            return None;
        }
        let directory = fathom_testkit::disk_directory()?;
        let image = directory.path().join("image");
        std::fs::File::create(&image)
            .unwrap()
            .set_len(megabytes << 20)
            .unwrap();
        let made = Command::new(mkfs)
            .args(["-q", "-F"])
            .arg(&image)
            .status()
            .unwrap();
        assert!(made.success());
        let point = directory.path().join("point");
        std::fs::create_dir(&point).unwrap();
        let options = format!("loop,{options}");
        let mounted = Command::new(mount)
            .args(["-o", &options])
            .args([&image, &point])
            .output()
            .unwrap();
        if !mounted.status.success() {
            skipped(&format!(
                "mount: {}",
                String::from_utf8_lossy(&mounted.stderr)
            ));
            return None;
        }
        Some(Self {
            _directory: directory,
            point,
        })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.point).status();
    }
}

#[test]
fn a_read_only_target_is_refused_before_anything_is_written() {
    let Some(mounted) = Mounted::new(160, "ro") else {
        return;
    };
    let bench = Bench::at(&mounted.point);
    let ended = small(&bench, &[]).expect(3);
    assert!(ended.stderr.contains("read-only"), "{}", ended.stderr);
}

#[test]
fn a_target_without_room_is_refused_with_what_is_needed() {
    let Some(mounted) = Mounted::new(160, "rw") else {
        return;
    };
    let bench = Bench::at(&mounted.point);
    let ended = small(&bench, &["-o", "size=512MiB"]).expect(3);
    assert!(ended.stderr.contains("MB"), "{}", ended.stderr);
    let left = bench.left();
    assert!(
        left.iter().all(|path| path.ends_with("lost+found")),
        "{left:?}"
    );
    small(&bench, &["-o", "size=1MiB"]).expect(0);
}

/// A loop device on a file of zeros.
struct Loop {
    _directory: TempDir,
    image: PathBuf,
    device: String,
}

impl Loop {
    fn new(megabytes: u64) -> Option<Self> {
        let losetup = tool("losetup")?;
        if !root("a loop device") {
            return None;
        }
        let directory = fathom_testkit::disk_directory()?;
        let image = directory.path().join("image");
        std::fs::write(&image, vec![0_u8; (megabytes << 20) as usize]).unwrap();
        let output = Command::new(losetup)
            .args(["--find", "--show"])
            .arg(&image)
            .output()
            .unwrap();
        let device = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        if device.is_empty() {
            skipped("no loop device is free");
            return None;
        }
        Some(Self {
            _directory: directory,
            image,
            device,
        })
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.device]).status();
    }
}

#[test]
fn a_block_device_is_written_only_when_empty_and_named_by_its_serial() {
    let (Some(device), Some(bench)) = (Loop::new(16), Bench::new()) else {
        return;
    };
    let target = ["--target", &device.device, "-o", "rw=randwrite"];
    let refused = small(&bench, &target).expect(3);
    assert!(
        refused.stderr.contains("is not touched"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("--destroy"), "{}", refused.stderr);
    let consent = ["--destroy", device.image.to_str().unwrap()];
    let mut words = target.to_vec();
    words.extend(consent);
    small(&bench, &words).expect(0);
    let Some(mkfs) = tool("mkfs.ext4") else {
        return;
    };
    let made = Command::new(mkfs)
        .args(["-q", "-F", &device.device])
        .status()
        .unwrap();
    assert!(made.success());
    let before = std::fs::read(&device.image).unwrap();
    let refused = small(&bench, &words).expect(3);
    assert!(refused.stderr.contains("ext4"), "{}", refused.stderr);
    assert!(
        std::fs::read(&device.image).unwrap() == before,
        "the device was changed"
    );
}

//! Loop devices of this machine, which only root may make: each must be refused for what it holds,
//! by every name it has, and an empty one granted with consent only.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fathom_system::{DeviceGrant, Refusal, Root, check_device, resolve_target};
use fathom_testkit::{disk_directory, root as is_root, skipped, tool};
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

/// A loop device on a file of its own; everything goes when it is dropped.
struct Loop {
    directory: TempDir,
    node: PathBuf,
    mounted: Vec<PathBuf>,
}

impl Loop {
    /// A device of this size, or nothing, said, where none can be made.
    fn new(size: u64) -> Option<Self> {
        Self::filled(size, &[], |_| {})
    }

    fn filled(size: u64, options: &[&str], fill: impl Fn(&File)) -> Option<Self> {
        if !is_root("a loop device") {
            return None;
        }
        tool("losetup")?;
        let directory = disk_directory()?;
        let path = directory.path().join("backing");
        let file = File::create_new(&path).unwrap();
        file.set_len(size).unwrap();
        fill(&file);
        file.sync_all().unwrap();
        let mut command = Command::new("losetup");
        command.args(["--find", "--show"]).args(options).arg(&path);
        let out = command.output().unwrap();
        if !out.status.success() {
            skipped(&format!(
                "losetup: {}",
                String::from_utf8_lossy(&out.stderr).trim()
            ));
            return None;
        }
        let node = PathBuf::from(String::from_utf8(out.stdout).unwrap().trim());
        Some(Self {
            directory,
            node,
            mounted: Vec::new(),
        })
    }

    fn backing(&self) -> String {
        let path = self.directory.path().join("backing");
        fs::canonicalize(path)
            .unwrap()
            .to_string_lossy()
            .into_owned()
    }

    fn check(&self, consent: Option<&str>) -> Result<DeviceGrant, Refusal> {
        check_device(&Root::system(), &self.node, consent)
    }

    /// The kinds of the reasons, by the device's own name and by a link to a link to it.
    fn kinds(&self) -> Vec<&'static str> {
        let consent = self.backing();
        let first = self.directory.path().join("by-id");
        let second = self.directory.path().join("alias");
        if !first.is_symlink() {
            symlink(&self.node, &first).unwrap();
            symlink(&first, &second).unwrap();
        }
        let refusal = self.check(Some(&consent)).unwrap_err();
        let by_link = check_device(&Root::system(), &second, Some(&consent)).unwrap_err();
        assert_eq!(refusal.reasons, by_link.reasons);
        refusal.reasons.iter().map(|reason| reason.kind).collect()
    }

    fn text(&self) -> String {
        self.check(Some(&self.backing())).unwrap_err().to_string()
    }

    fn mount(&mut self) -> bool {
        let point = self
            .directory
            .path()
            .join(format!("mount{}", self.mounted.len()));
        fs::create_dir(&point).unwrap();
        let done = run("mount", &[self.node.as_os_str(), point.as_os_str()]);
        if done {
            self.mounted.push(point);
        }
        done
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for point in self.mounted.iter().rev() {
            run("umount", &[point.as_os_str()]);
        }
        run("losetup", &["--detach".as_ref(), self.node.as_os_str()]);
    }
}

/// Runs a program; false, said, when it fails.
fn run(program: &str, args: &[&std::ffi::OsStr]) -> bool {
    let out = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output();
    match out {
        Ok(out) if out.status.success() => true,
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stderr);
            skipped(&format!("{program}: {}", text.trim()));
            false
        }
        Err(error) => {
            skipped(&format!("{program}: {error}"));
            false
        }
    }
}

#[test]
fn an_empty_device_is_granted_with_consent_only() {
    let Some(device) = Loop::new(8 * MIB) else {
        return;
    };
    let refusal = device.check(None).unwrap_err();
    assert_eq!(refusal.reasons.len(), 1, "{refusal}");
    assert_eq!(refusal.reasons[0].kind, "no-consent");
    let backing = device.backing();
    assert!(
        refusal
            .to_string()
            .contains(&format!("--destroy '{backing}'")),
        "{refusal}"
    );
    let refusal = device.check(Some("S123")).unwrap_err();
    assert_eq!(refusal.reasons[0].kind, "wrong-consent", "{refusal}");

    let grant = device.check(Some(&backing)).unwrap();
    assert_eq!(grant.size_bytes, 8 * MIB);
    assert_eq!(grant.path, device.node);
    assert!(grant.is_blank);
    // While it is held, nobody else gets it, and it cannot be mounted.
    let again = device.check(Some(&backing)).unwrap_err();
    assert_eq!(again.reasons[0].kind, "busy", "{again}");
    drop(grant);
    assert!(device.check(Some(&backing)).is_ok());
}

#[test]
fn written_data_without_a_signature_is_granted_and_said_not_to_be_blank() {
    let fill = |file: &File| file.write_all_at(&[0x5a; 4096], 8192).unwrap();
    let Some(device) = Loop::filled(8 * MIB, &[], fill) else {
        return;
    };
    let grant = device.check(Some(&device.backing())).unwrap();
    assert!(!grant.is_blank);
}

/// Formats an empty device and expects it to be refused, then mounts it and expects that, too.
fn formatted(program: &str, options: &[&str], size: u64, what: &str) {
    if tool(program).is_none() {
        return;
    }
    let Some(mut device) = Loop::new(size) else {
        return;
    };
    let node = device.node.clone();
    let mut args: Vec<&std::ffi::OsStr> = options.iter().map(std::ffi::OsStr::new).collect();
    args.push(node.as_os_str());
    if !run(program, &args) {
        return;
    }
    assert_eq!(
        device.kinds(),
        ["signature"],
        "{program}: {}",
        device.text()
    );
    assert!(device.text().contains(what), "{}", device.text());
    if ["mkswap", "pvcreate"].contains(&program) || !device.mount() {
        return;
    }
    let kinds = device.kinds();
    assert!(kinds.contains(&"mounted"), "{program}: {kinds:?}");
    assert!(kinds.contains(&"busy"), "{program}: {kinds:?}");
    assert!(kinds.contains(&"signature"), "{program}: {kinds:?}");
    let point = device.mounted[0].to_string_lossy().into_owned();
    assert!(
        device.text().contains(&format!("umount {point}")),
        "{}",
        device.text()
    );
    let target = resolve_target(&Root::system(), &device.mounted[0]).unwrap();
    assert_eq!(
        target.layers[0].name,
        node.file_name().unwrap().to_string_lossy()
    );
    assert_eq!(target.below.len(), 1, "{target:#?}");
}

#[test]
fn ext4_is_refused() {
    formatted(
        "mkfs.ext4",
        &["-q", "-F"],
        16 * MIB,
        "ext2/ext3/ext4 file system",
    );
}

#[test]
fn xfs_is_refused() {
    formatted("mkfs.xfs", &["-q", "-f"], 320 * MIB, "xfs file system");
}

#[test]
fn btrfs_is_refused() {
    formatted("mkfs.btrfs", &["-q", "-f"], 128 * MIB, "btrfs file system");
}

#[test]
fn fat_is_refused() {
    if tool("mkfs.vfat").is_none() {
        return;
    }
    let Some(device) = Loop::new(16 * MIB) else {
        return;
    };
    if run("mkfs.vfat", &[device.node.as_os_str()]) {
        assert!(device.kinds().iter().all(|kind| *kind == "signature"));
        assert!(
            device.text().contains("FAT file system"),
            "{}",
            device.text()
        );
    }
}

#[test]
fn a_swap_area_is_refused_and_so_is_swap_in_use() {
    if tool("mkswap").is_none() || tool("swapon").is_none() {
        return;
    }
    let Some(device) = Loop::new(16 * MIB) else {
        return;
    };
    if !run("mkswap", &[device.node.as_os_str()]) {
        return;
    }
    assert_eq!(device.kinds(), ["signature"], "{}", device.text());
    if run(
        "swapon",
        &["--priority".as_ref(), "0".as_ref(), device.node.as_os_str()],
    ) {
        let kinds = device.kinds();
        let text = device.text();
        assert!(run("swapoff", &[device.node.as_os_str()]));
        assert!(kinds.contains(&"swap"), "{kinds:?}");
        assert!(text.contains("swapoff"), "{text}");
    }
}

#[test]
fn an_lvm_physical_volume_is_refused() {
    if tool("pvcreate").is_some() {
        let config = "devices{filter=[\"a|.*|\"] use_devicesfile=0} global{locking_type=1}";
        let options = ["--config", config, "-y", "-ff", "-qq"];
        formatted("pvcreate", &options, 16 * MIB, "LVM physical volume");
    }
    // The label by hand, for machines without LVM.
    let fill = |file: &File| {
        let mut sector = [0_u8; 512];
        sector[..8].copy_from_slice(b"LABELONE");
        sector[24..32].copy_from_slice(b"LVM2 001");
        file.write_all_at(&sector, 512).unwrap();
    };
    refused_for(16 * MIB, fill, "LVM physical volume");
}

fn refused_for(size: u64, fill: impl Fn(&File), what: &str) {
    let Some(device) = Loop::filled(size, &[], fill) else {
        return;
    };
    assert_eq!(device.kinds(), ["signature"], "{what}: {}", device.text());
    assert!(device.text().contains(what), "{}", device.text());
}

#[test]
fn members_of_arrays_are_refused_wherever_their_block_stands() {
    let magic = 0xa92b_4efc_u32.to_le_bytes();
    let size = 16 * MIB + 40960;
    let places = [
        0,
        4096,
        size / 4096 * 4096 - 8192,
        size / 65536 * 65536 - 65536,
    ];
    for place in places {
        let fill = |file: &File| file.write_all_at(&magic, place).unwrap();
        refused_for(size, fill, "Linux RAID (md) member");
    }
}

#[test]
fn partition_tables_are_refused() {
    let size = 16 * MIB;
    for (place, what) in [
        (512, "GPT partition table"),
        (size - 512, "GPT partition table (backup)"),
    ] {
        let fill = |file: &File| file.write_all_at(b"EFI PART", place).unwrap();
        refused_for(size, fill, what);
    }
    let fill = |file: &File| file.write_all_at(&[0x55, 0xaa], 510).unwrap();
    refused_for(size, fill, "MBR partition table or boot sector");
}

#[test]
fn labels_of_zfs_at_all_four_places_and_others_are_refused() {
    let size = 16 * MIB;
    let label = 256 << 10;
    for place in [0, label, size - 2 * label, size - label] {
        let fill = |file: &File| {
            let magic = 0x00ba_b10c_u64.to_le_bytes();
            file.write_all_at(&magic, place + (128 << 10) + 4096)
                .unwrap();
        };
        refused_for(size, fill, "ZFS pool member");
    }
    let fill = |file: &File| file.write_all_at(b"LUKS\xba\xbe\0\x02", 0).unwrap();
    refused_for(size, fill, "LUKS encrypted volume");
}

#[test]
fn a_disk_is_refused_for_its_partitions_and_a_partition_for_its_mount() {
    // One Linux partition from sector 2048, 8 MiB long.
    let fill = |file: &File| {
        let mut entry = [0_u8; 16];
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&2048_u32.to_le_bytes());
        entry[12..16].copy_from_slice(&16384_u32.to_le_bytes());
        file.write_all_at(&entry, 446).unwrap();
        file.write_all_at(&[0x55, 0xaa], 510).unwrap();
    };
    let Some(device) = Loop::filled(32 * MIB, &["--partscan"], fill) else {
        return;
    };
    let name = device
        .node
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let part = PathBuf::from(format!("/dev/{name}p1"));
    // A kernel that reads no tables of this kind takes the partition from us.
    if !part.exists() {
        let place = ["1", "2048", "16384"].map(std::ffi::OsStr::new);
        let args: Vec<&std::ffi::OsStr> = std::iter::once(device.node.as_os_str())
            .chain(place)
            .collect();
        if !run("addpart", &args) {
            return;
        }
    }
    assert_eq!(device.kinds(), ["partitions", "signature"]);
    // An empty partition is granted by the name of its disk and its number.
    let consent = format!("{}-part1", device.backing());
    let refusal = check_device(&Root::system(), &part, None).unwrap_err();
    assert!(refusal.to_string().contains(&consent), "{refusal}");
    assert!(check_device(&Root::system(), &part, Some(&device.backing())).is_err());
    // A program that another test starts just now holds what was open here until it runs.
    let granted = (0..50).any(|_| {
        let grant = check_device(&Root::system(), &part, Some(&consent));
        if grant.is_err() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        grant.is_ok()
    });
    assert!(granted);
    if tool("mkfs.ext4").is_none()
        || !run(
            "mkfs.ext4",
            &["-q".as_ref(), "-F".as_ref(), part.as_os_str()],
        )
    {
        return;
    }
    let point = device.directory.path().join("mount");
    fs::create_dir(&point).unwrap();
    if run("mount", &[part.as_os_str(), point.as_os_str()]) {
        let text = device.text();
        let of_part = check_device(&Root::system(), &part, Some(&consent)).unwrap_err();
        assert!(run("umount", &[point.as_os_str()]));
        assert!(text.contains(&format!("{name}p1 is mounted at")), "{text}");
        assert!(
            of_part
                .reasons
                .iter()
                .any(|reason| reason.kind == "mounted"),
            "{of_part}"
        );
    }
}

/// A process in a mount name space of its own that has the device mounted until it is told to end.
struct Elsewhere(Child);

impl Elsewhere {
    fn new(node: &Path, point: &Path) -> Option<Self> {
        let script = "mount \"$0\" \"$1\" && echo mounted && read end";
        let mut child = Command::new("unshare")
            .args(["--mount", "sh", "-c", script])
            .args([node, point])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let this = Self(child);
        if line.trim() == "mounted" {
            return Some(this);
        }
        skipped("no mount name space can be made");
        None
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"end\n");
        }
        let _ = self.0.wait();
    }
}

#[test]
fn a_mount_in_another_name_space_is_found() {
    if tool("unshare").is_none() || tool("mkfs.ext4").is_none() {
        return;
    }
    let Some(device) = Loop::new(16 * MIB) else {
        return;
    };
    if !run(
        "mkfs.ext4",
        &["-q".as_ref(), "-F".as_ref(), device.node.as_os_str()],
    ) {
        return;
    }
    let point = device.directory.path().join("elsewhere");
    fs::create_dir(&point).unwrap();
    let Some(_held) = Elsewhere::new(&device.node, &point) else {
        return;
    };
    let text = device.text();
    assert!(text.contains("in the name space of process"), "{text}");
    assert!(text.contains("is in use"), "{text}");
}

#[test]
fn a_second_device_on_the_same_file_is_found() {
    let Some(device) = Loop::new(8 * MIB) else {
        return;
    };
    let out = Command::new("losetup")
        .args(["--find", "--show"])
        .arg(device.backing())
        .output()
        .unwrap();
    if !out.status.success() {
        skipped("losetup refuses a second device on one file");
        return;
    }
    let second = String::from_utf8(out.stdout).unwrap().trim().to_owned();
    let kinds = device.kinds();
    run("losetup", &["--detach".as_ref(), second.as_ref()]);
    assert_eq!(kinds, ["held"]);
}

#[test]
fn a_read_only_device_and_one_without_a_file_are_refused() {
    let Some(device) = Loop::filled(8 * MIB, &["--read-only"], |_| {}) else {
        return;
    };
    assert!(device.kinds().contains(&"read-only"), "{}", device.text());
    let idle = (0..8)
        .map(|number| PathBuf::from(format!("/dev/loop{number}")))
        .find(|node| {
            let name = node.file_name().unwrap().to_string_lossy().into_owned();
            node.exists() && !Path::new(&format!("/sys/block/{name}/loop/backing_file")).exists()
        });
    if let Some(idle) = idle {
        let refusal = check_device(&Root::system(), &idle, None).unwrap_err();
        // Another test may have attached a file meanwhile.
        if refusal.reasons[0].kind != "no-consent" {
            assert_eq!(refusal.reasons[0].kind, "empty", "{refusal}");
        }
    }
}

#[test]
fn directories_files_and_character_devices_are_no_block_devices() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let cases = [
        (directory.path(), "is a directory"),
        (&file, "is a regular file"),
        (Path::new("/dev/null"), "is a character device"),
        (Path::new("/no/such/device"), "does not exist"),
    ];
    for (path, expected) in cases {
        let refusal = check_device(&Root::system(), path, Some("x")).unwrap_err();
        assert_eq!(refusal.reasons[0].kind, "not-a-block-device");
        assert!(refusal.to_string().contains(expected), "{refusal}");
    }
}

use fathom_testkit::FakeRoot;
use proptest::prelude::*;

use super::*;

#[test]
fn devices_that_stand_on_one_another_in_a_circle_end() {
    let tree = "/proc/self/mountinfo = 1 0 7:0 / / rw - ext4 /dev/loop0 rw\n\
        /sys/devices/virtual/block/loop0 @ 7:0\n\
        /sys/devices/virtual/block/loop0/loop/backing_file = /self.img\n\
        /self.img = x\n";
    let fake = FakeRoot::new().tree(tree);
    let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
    assert_eq!(target.layers.len(), 1);
    assert!(target.drives.is_empty());

    let circle = "/proc/self/mountinfo = 1 0 253:0 / / rw - ext4 /dev/dm-0 rw\n\
        /sys/devices/virtual/block/dm-0 @ 253:0\n  dm/name = a\n  slaves/dm-1 -> ../../dm-1\n\
        /sys/devices/virtual/block/dm-1 @ 253:1\n  dm/name = b\n  slaves/dm-0 -> ../../dm-0\n";
    let fake = FakeRoot::new().tree(circle);
    let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
    assert_eq!(target.layers.len(), 2);
}

#[test]
fn loops_on_loops_end_and_a_deleted_file_is_said() {
    let mut tree = String::from("/proc/self/mountinfo <<\n1 0 7:0 / / rw - ext4 /dev/loop0 rw\n");
    for number in 1..40 {
        tree.push_str(&format!(
            "{} 1 7:{number} / /m{number} rw - ext4 x rw\n",
            number + 1
        ));
    }
    tree.push_str(".\n");
    for number in 0..40 {
        let below = number + 1;
        tree.push_str(&format!(
            "/sys/devices/virtual/block/loop{number} @ 7:{number}\n  \
             loop/backing_file = /m{below}/f\n/m{below}/f = x\n"
        ));
    }
    let fake = FakeRoot::new().tree(&tree);
    let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
    assert!(target.opaque.unwrap().contains("more file systems"));

    let gone = "/proc/self/mountinfo = 1 0 7:0 / / rw - ext4 /dev/loop0 rw\n\
        /sys/devices/virtual/block/loop0 @ 7:0\n  loop/backing_file = /gone (deleted)\n";
    let fake = FakeRoot::new().tree(gone);
    let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
    assert_eq!(
        target.opaque.as_deref(),
        Some("loop0: its file /gone (deleted) cannot be seen")
    );
}

#[test]
fn memory_of_every_kind_is_told() {
    let on = |device: &str, extra: &str| {
        let tree = format!(
            "/proc/self/mountinfo = 1 0 250:0 / / rw - ext4 /dev/{device} rw\n\
             {extra}\n"
        );
        let fake = FakeRoot::new().tree(&tree);
        let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
        assert!(
            target.drives.is_empty() == target.memory.is_some(),
            "{target:?}"
        );
        target.memory.map(|memory| memory.0)
    };
    let name = |text: &str| Some(text.to_owned());
    let plain = |device: &str| format!("/sys/devices/virtual/block/{device} @ 250:0");
    assert_eq!(on("zram0", &plain("zram0")), name("zram"));
    assert_eq!(on("ram3", &plain("ram3")), name("brd"));
    let pmem = |platform: &str| {
        let base = format!("/sys/devices/platform/{platform}/ndbus0/region0/namespace0.0");
        format!("{base}/block/pmem0 @ 250:0\n{base}/block/pmem0/device -> ../../../namespace0.0")
    };
    assert_eq!(on("pmem0", &pmem("e820_pmem")), name("pmem (volatile)"));
    assert_eq!(on("pmem0", &pmem("nfit")), None);
    for file_system in ["tmpfs", "ramfs", "devtmpfs"] {
        let tree = format!("/proc/self/mountinfo = 1 0 0:5 / / rw - {file_system} none rw\n");
        let fake = FakeRoot::new().tree(&tree);
        let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
        assert_eq!(
            target.memory.map(|memory| memory.0).as_deref(),
            Some(file_system)
        );
    }
}

#[test]
fn what_compresses_is_named() {
    let on = |file_system: &str, options: &str| {
        let tree =
            format!("/proc/self/mountinfo = 1 0 0:9 / / rw - {file_system} none {options}\n");
        let fake = FakeRoot::new().tree(&tree);
        let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
        target.compressing
    };
    let name = |text: &str| Some(text.to_owned());
    assert_eq!(
        on("btrfs", "rw,compress=zstd:3"),
        name("btrfs compress=zstd:3")
    );
    assert_eq!(
        on("btrfs", "rw,compress-force=lzo"),
        name("btrfs compress-force=lzo")
    );
    assert_eq!(on("btrfs", "rw,compress=none"), None);
    assert_eq!(on("btrfs", "rw,ssd"), None);
    assert_eq!(
        on("bcachefs", "rw,compression=lz4"),
        name("bcachefs compression=lz4")
    );
    assert_eq!(on("f2fs", "rw,compress_algorithm=lz4"), None);
    assert_eq!(
        on("f2fs", "rw,compress_algorithm=lz4,compress_extension=*"),
        name("f2fs compress_algorithm=lz4")
    );
    assert!(on("zfs", "rw,xattr").is_some());
    assert_eq!(on("ext4", "rw"), None);
}

#[test]
fn a_volume_that_deduplicates_is_named() {
    let tree = "/proc/self/mountinfo = 1 0 253:0 / / rw - xfs /dev/dm-0 rw\n\
        /sys/devices/virtual/block/dm-0 @ 253:0\n  dm/name = vdo0\n  dm/uuid = VDO-1234\n";
    let fake = FakeRoot::new().tree(tree);
    let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
    assert_eq!(target.compressing.as_deref(), Some("VDO vdo0"));
    // A mapping whose devices are not shown ends the chain.
    assert_eq!(
        target.opaque.as_deref(),
        Some("dm-0: what it stands on is not shown")
    );
}

#[test]
fn file_systems_of_others_are_network_or_hidden() {
    for (name, source, is_network, is_opaque) in [
        ("nfs4", "nas:/x", true, false),
        ("cifs", "//nas/x", true, false),
        ("fuse.sshfs", "ann@host:/", true, false),
        ("virtiofs", "share", false, true),
        ("9p", "share", false, true),
        ("zfs", "tank", false, true),
        ("fuse.mergerfs", "a:b", false, true),
    ] {
        let tree = format!("/proc/self/mountinfo = 1 0 0:9 / / rw - {name} {source} rw\n");
        let fake = FakeRoot::new().tree(&tree);
        let target = resolve_target(&Root::at(fake.path()), Path::new("/")).unwrap();
        assert_eq!(
            (target.is_network, target.opaque.is_some()),
            (is_network, is_opaque),
            "{name}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_mounts_and_any_attributes_resolve(
        mounts in "([0-3] [0-3] (8|0|7):[0-2] / /(mnt)? rw - (ext4|btrfs|overlay|zfs) \
            /dev/(sda|loop0|x) (rw|upperdir=/mnt|upperdir=/none|compress)\n){0,5}",
        text in "\\PC{0,30}",
    ) {
        let mut fake = FakeRoot::new()
            .directory("/mnt")
            .file("/proc/self/mountinfo", &mounts)
            .block("/sys/devices/pci0/ata1/host0/block/sda", "8:0")
            .block("/sys/devices/virtual/block/loop0", "7:0")
            .link("/sys/devices/pci0/ata1/host0/block/sda/device", "../..");
        for file in ["size", "queue/scheduler", "queue/rotational", "md/level", "dm/uuid"] {
            fake = fake.file(&format!("/sys/devices/pci0/ata1/host0/block/sda/{file}"), &text);
        }
        for file in ["model", "vendor", "vpd_pg80", "vpd_pg89"] {
            fake = fake.file(&format!("/sys/devices/pci0/ata1/host0/{file}"), &text);
        }
        fake = fake.file("/sys/devices/virtual/block/loop0/loop/backing_file", &text);
        let root = Root::at(fake.path());
        let _ = resolve_target(&root, Path::new("/mnt")).unwrap();
        let _ = list_targets(&root);
    }
}

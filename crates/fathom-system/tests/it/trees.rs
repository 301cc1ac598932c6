use std::path::Path;

use expect_test::{Expect, expect};
use fathom_model::TargetInfo;
use fathom_system::{
    DescribeOptions, Root, Sensors, Space, check_device, describe, doctor, list_targets,
    resolve_target, system_fields, target_line,
};
use fathom_testkit::FakeRoot;

const VM: &str = include_str!("../data/trees/vm-virtio.tree");
const LAPTOP: &str = include_str!("../data/trees/laptop-crypt-lvm.tree");
const SERVER: &str = include_str!("../data/trees/server-md-nvme.tree");
const ARM: &str = include_str!("../data/trees/arm-board-mmc.tree");
const CONTAINER: &str = include_str!("../data/trees/container-overlay.tree");
const MULTIPATH: &str = include_str!("../data/trees/multipath-nvme.tree");
const DESKTOP: &str = include_str!("../data/trees/desktop-sata.tree");
const BTRFS: &str = include_str!("../data/trees/btrfs-two.tree");
const IMSM: &str = include_str!("../data/trees/imsm-raid0.tree");

fn resolve(tree: &str, path: &str) -> TargetInfo {
    let fake = FakeRoot::new().tree(tree);
    resolve_target(&Root::at(fake.path()), Path::new(path)).unwrap()
}

/// The chain in words: mounts, layers, drives, and what else is known.
fn chain(target: &TargetInfo) -> String {
    let mut lines = Vec::new();
    for mount in target.mount.iter().chain(&target.below) {
        let profile = mount
            .profile
            .as_ref()
            .map(|text| format!(", {text}"))
            .unwrap_or_default();
        lines.push(format!("{} on {}{profile}", mount.file_system, mount.point));
    }
    for layer in &target.layers {
        let below = layer.below.join("+");
        let text = format!("{} {:?} [{}] {below}", layer.name, layer.kind, layer.detail);
        lines.push(text.trim_end().to_owned());
    }
    for drive in &target.drives {
        let mut words = vec![format!("drive {}", drive.name)];
        words.extend(drive.model.clone());
        words.extend(drive.firmware.clone());
        words.extend(drive.transport.clone());
        if let Some(link) = &drive.link {
            let degraded = if link.is_degraded { " degraded" } else { "" };
            words.push(format!(
                "{} {} B/s{degraded}",
                link.text, link.bytes_per_second
            ));
        }
        words.extend(drive.scheduler.clone());
        words.extend(drive.paths.clone());
        lines.push(words.join(" | "));
    }
    lines.extend(
        target
            .memory
            .as_ref()
            .map(|memory| format!("memory: {}", memory.0)),
    );
    lines.extend(
        target
            .compressing
            .as_ref()
            .map(|what| format!("compressing: {what}")),
    );
    lines.extend(target.opaque.as_ref().map(|why| format!("opaque: {why}")));
    lines.extend(
        target
            .assumption
            .as_ref()
            .map(|why| format!("assumed: {why}")),
    );
    lines.extend(target.is_network.then(|| "network".to_owned()));
    lines.join("\n")
}

fn check(tree: &str, path: &str, expected: &Expect) {
    expected.assert_eq(&chain(&resolve(tree, path)));
}

#[test]
fn a_virtio_disk_has_no_link_and_no_model() {
    check(
        VM,
        "/home/ann",
        &expect![[r#"
        ext4 on /
        vda Disk []
        drive vda | virtio | none"#]],
    );
    check(
        VM,
        "/dev/shm",
        &expect![[r#"
        tmpfs on /dev/shm
        memory: tmpfs"#]],
    );
}

#[test]
fn lvm_in_luks_on_a_partition_leads_to_the_drive() {
    check(
        LAPTOP,
        "/home/ann/proj",
        &expect![[r#"
        ext4 on /
        dm-1 Lvm [vg--laptop-root] dm-0
        dm-0 Crypt [nvme0n1p2_crypt] nvme0n1p2
        nvme0n1p2 Partition [partition 2] nvme0n1
        nvme0n1 Disk [SAMSUNG MZVL21T0HCLR-00BL7]
        drive nvme0n1 | SAMSUNG MZVL21T0HCLR-00BL7 | CL7QGXA7 | nvme | PCIe 4.0 x2 3938461538 B/s degraded | none"#]],
    );
    check(
        LAPTOP,
        "/boot/efi",
        &expect![[r#"
        vfat on /boot/efi
        nvme0n1p1 Partition [partition 1] nvme0n1
        nvme0n1 Disk [SAMSUNG MZVL21T0HCLR-00BL7]
        drive nvme0n1 | SAMSUNG MZVL21T0HCLR-00BL7 | CL7QGXA7 | nvme | PCIe 4.0 x2 3938461538 B/s degraded | none"#]],
    );
    check(
        LAPTOP,
        "/dev/disk/by-id/nvme-SAMSUNG_MZVL21T0HCLR-00BL7_S64NNX0T123456",
        &expect![[r#"
        nvme0n1 Disk [SAMSUNG MZVL21T0HCLR-00BL7]
        drive nvme0n1 | SAMSUNG MZVL21T0HCLR-00BL7 | CL7QGXA7 | nvme | PCIe 4.0 x2 3938461538 B/s degraded | none"#]],
    );
}

#[test]
fn an_array_leads_to_both_drives_and_names_the_degraded_link() {
    check(
        SERVER,
        "/srv/scratch",
        &expect![[r#"
        xfs on /srv/scratch
        md127 Md [raid0, 2 drives, chunk 512KiB] nvme0n1p1+nvme1n1p1
        nvme0n1p1 Partition [partition 1] nvme0n1
        nvme0n1 Disk [Force MP500]
        nvme1n1p1 Partition [partition 1] nvme1n1
        nvme1n1 Disk [Force MP500]
        drive nvme0n1 | Force MP500 | E7FM04.5 | nvme | PCIe 3.0 x4 3938461538 B/s | none
        drive nvme1n1 | Force MP500 | E7FM04.5 | nvme | PCIe 1.0 x4 1000000000 B/s degraded | none"#]],
    );
    check(
        SERVER,
        "/",
        &expect![[r#"
        ext4 on /
        sda2 Partition [partition 2] sda
        sda Disk [Samsung SSD 850 PRO 256GB]
        drive sda | Samsung SSD 850 PRO 256GB | EXM02B6Q | sata | SATA 6.0 Gb/s 600000000 B/s | cfq"#]],
    );
}

#[test]
fn an_sd_card_is_found_by_number() {
    check(
        ARM,
        "/home/pi",
        &expect![[r#"
        ext4 on /
        mmcblk0p2 Partition [partition 2] mmcblk0
        mmcblk0 Disk [SN64G]
        drive mmcblk0 | SN64G | 0x6 | mmc | mq-deadline"#]],
    );
}

#[test]
fn a_container_shows_the_host_drive_through_its_hosts_file() {
    check(
        CONTAINER,
        "/work",
        &expect![[r#"
        overlay on /
        ext4 on /etc/resolv.conf
        sda1 Partition [partition 1] sda
        sda Disk [ST2000DM006-2DM1]
        drive sda | ST2000DM006-2DM1 | CC26 | sata | SATA 3.0 Gb/s 300000000 B/s | mq-deadline
        assumed: overlay: its directory is outside this container; taken to lie on the ext4 of /etc/resolv.conf, which the container engine keeps beside it"#]],
    );
    check(
        CONTAINER,
        "/data",
        &expect![[r#"
        ext4 on /data
        sda1 Partition [partition 1] sda
        sda Disk [ST2000DM006-2DM1]
        drive sda | ST2000DM006-2DM1 | CC26 | sata | SATA 3.0 Gb/s 300000000 B/s | mq-deadline"#]],
    );
}

#[test]
fn multipath_is_one_drive_with_several_paths() {
    check(
        MULTIPATH,
        "/",
        &expect![[r#"
        xfs on /
        nvme0n1p1 Partition [partition 1] nvme0n1
        nvme0n1 Disk [Micron_7450_MTFDKCB3T2TFS]
        drive nvme0n1 | Micron_7450_MTFDKCB3T2TFS | E2MU200 | nvme | 2 x PCIe 4.0 x2 7876923076 B/s | none | nvme0c0n1 | nvme0c1n1"#]],
    );
    check(
        MULTIPATH,
        "/san",
        &expect![[r#"
        ext4 on /san
        dm-1 Partition [mpatha1] dm-0
        dm-0 Multipath [mpatha] sda+sdb
        sda Disk [PURE FlashArray]
        sdb Disk [PURE FlashArray]
        drive sda | PURE FlashArray | 8888 | fc | none | sda | sdb"#]],
    );
}

#[test]
fn btrfs_over_two_drives_names_both() {
    check(
        BTRFS,
        "/home/images",
        &expect![[r#"
        btrfs on /home, data raid0, metadata raid1, 2 devices
        sda2 Partition [partition 2] sda
        sda Disk [CT525MX300SSD1]
        sdb Disk [CT525MX300SSD1]
        drive sda | CT525MX300SSD1 | sata | SATA 6.0 Gb/s 600000000 B/s | mq-deadline
        drive sdb | CT525MX300SSD1 | sata | SATA 6.0 Gb/s 600000000 B/s | mq-deadline
        compressing: btrfs compress=lzo"#]],
    );
}

#[test]
fn usb_bcache_loop_and_foreign_file_systems() {
    check(
        BTRFS,
        "/media/usb stick",
        &expect![[r#"
        exfat on /media/usb stick
        sdc1 Partition [partition 1] sdc
        sdc Disk [SanDisk Extreme]
        drive sdc | SanDisk Extreme | usb | USB 5 Gb/s 500000000 B/s"#]],
    );
    check(
        BTRFS,
        "/cached",
        &expect![[r#"
        ext4 on /cached
        bcache0 Bcache [writethrough] sdd+nvme0n1
        sdd Disk [WDC WD20EFRX-68E]
        nvme0n1 Disk [INTEL MEMPEK1W032GA]
        drive sdd | WDC WD20EFRX-68E | sata
        drive nvme0n1 | INTEL MEMPEK1W032GA | nvme"#]],
    );
    check(
        BTRFS,
        "/loop/tmp",
        &expect![[r#"
        ext4 on /loop/tmp
        tmpfs on /tmp
        loop0 Loop [/tmp/disk.img]
        memory: loop on tmpfs"#]],
    );
    check(
        BTRFS,
        "/loop/home",
        &expect![[r#"
        xfs on /loop/home
        btrfs on /home, data raid0, metadata raid1, 2 devices
        loop1 Loop [/home/images/disk.img, direct I/O]
        sda2 Partition [partition 2] sda
        sda Disk [CT525MX300SSD1]
        sdb Disk [CT525MX300SSD1]
        drive sda | CT525MX300SSD1 | sata | SATA 6.0 Gb/s 600000000 B/s | mq-deadline
        drive sdb | CT525MX300SSD1 | sata | SATA 6.0 Gb/s 600000000 B/s | mq-deadline
        compressing: btrfs compress=lzo"#]],
    );
    check(
        BTRFS,
        "/nas",
        &expect![[r#"
        nfs4 on /nas
        network"#]],
    );
    check(
        BTRFS,
        "/tank",
        &expect![[r#"
        zfs on /tank
        compressing: zfs (its compression cannot be seen)
        opaque: zfs: the devices of the pool are not shown by the kernel"#]],
    );
    check(
        BTRFS,
        "/mnt/gone",
        &expect![[r#"
        btrfs on /mnt/gone
        opaque: btrfs on /dev/sdz9: no such device in sysfs"#]],
    );
}

#[test]
fn corpus_bug_21_the_array_is_used_and_not_the_idle_disk() {
    check(
        IMSM,
        "/root",
        &expect![[r#"
        ext4 on /
        md126 Md [raid0, 2 drives, chunk 128KiB] sdb+sdc
        sdb Disk [INTEL SSDSC2CT12]
        sdc Disk [INTEL SSDSC2CT12]
        drive sdb | INTEL SSDSC2CT12 | sata
        drive sdc | INTEL SSDSC2CT12 | sata"#]],
    );
}

/// Fields and findings of a machine, as lines.
fn words(tree: &str, path: &str, space: Option<Space>) -> String {
    let fake = FakeRoot::new().tree(tree);
    let mut root = Root::at(fake.path());
    let target = resolve_target(&root, Path::new(path)).unwrap();
    if let (Some(space), Some(mount)) = (space, &target.mount) {
        root = root.with_space(mount.point.clone(), space);
    }
    let target = resolve_target(&root, Path::new(path)).unwrap();
    let machine = describe(&root, &DescribeOptions::default());
    let fields = system_fields(&machine, &target);
    let mut lines = Vec::new();
    for field in fields
        .hardware
        .iter()
        .chain(&fields.software)
        .chain(&fields.notes)
    {
        lines.push(format!("{}: {}", field.name, field.text));
    }
    for finding in doctor(&machine, &target) {
        lines.push(format!(
            "{:?} {}: {}",
            finding.severity, finding.id, finding.text
        ));
    }
    lines.push(target_line(&target));
    lines.join("\n")
}

const ROOMY: Space = Space {
    size_bytes: 100_000_000_000,
    available_bytes: 60_000_000_000,
    available_inodes: Some(1000),
    block_size_bytes: 4096,
};

#[test]
fn fields_of_a_virtual_machine() {
    expect![[r#"
        Processor: Intel Xeon (2 Cores)
        Memory: 24GB
        Disk: 269GB
        OS: Debian GNU/Linux 12
        Kernel: 6.18.44 (x86_64)
        File-System: ext4
        System Layer: KVM
        Kernel Details: Transparent Huge Pages: madvise
        Disk Details: NONE / discard,relatime,resgid=65534,resuid=65534,rw / Block Size: 4096
        Target Details: /home/ann  ext4 (discard,relatime,resgid=65534,resuid=65534,rw)  on vda  virtio disk 269 GB, write cache on
        Processor Details: CPU Microcode: 0x1
        Security Details: l1tf: Not affected + spec_store_bypass: Vulnerable + spectre_v1: Mitigation of usercopy/swapgs barriers and __user pointer sanitization
        Note locked-memory: locked memory is limited to 8MiB: more I/O buffers than that cannot be registered
        Note virtual: this is a virtual machine (KVM): the host may cache and limit I/O
        /home/ann  ext4 (discard,relatime,resgid=65534,resuid=65534,rw)  on vda  virtio disk 269 GB, write cache on"#]].assert_eq(&words(VM, "/home/ann", Some(ROOMY)));
}

#[test]
fn fields_of_a_laptop() {
    let full = Space {
        available_bytes: 9_000_000_000,
        ..ROOMY
    };
    expect![[r#"
        Processor: Intel Core i7-1360P @ 5.00GHz (2 Cores / 3 Threads)
        Motherboard: LENOVO 21K50014GE (N3QET41W BIOS)
        Memory: 16GB
        Disk: 1024GB SAMSUNG MZVL21T0HCLR-00BL7
        OS: Ubuntu 24.04
        Kernel: 6.8.0-45-generic (x86_64)
        File-System: ext4
        Disk Details: NONE / errors=remount-ro,relatime,rw / Block Size: 4096
        Target Details: /home/ann/proj  ext4 (errors=remount-ro,relatime,rw)  on dm-1 (lvm vg--laptop-root) on dm-0 (crypt nvme0n1p2_crypt) on nvme0n1p2  SAMSUNG MZVL21T0HCLR-00BL7 1024 GB, firmware CL7QGXA7, PCIe 4.0 x2 (degraded), write cache on
        Processor Details: Scaling Governor: intel_pstate powersave (Boost: Enabled, EPP: balance_performance) - Platform Profile: balanced - CPU Microcode: 0x411c
        Warning load: load average is 2.50 on 3 processors: others are at work
        Warning nearly-full: / is 91 % full: file system and drive get slower
        Warning degraded-link: nvme0n1 is linked by PCIe 4.0 x2, less than drive and slot could do
        Note governor: governor is powersave: short I/O will look slower
        /home/ann/proj  ext4 (errors=remount-ro,relatime,rw)  on dm-1 (lvm vg--laptop-root) on dm-0 (crypt nvme0n1p2_crypt) on nvme0n1p2  SAMSUNG MZVL21T0HCLR-00BL7 1024 GB, firmware CL7QGXA7, PCIe 4.0 x2 (degraded), write cache on"#]].assert_eq(&words(LAPTOP, "/home/ann/proj", Some(full)));
}

#[test]
fn fields_of_a_server() {
    expect![[r#"
        Processor: 2 x AMD EPYC 7601 32-Core @ 2.20GHz (2 Cores / 4 Threads)
        Motherboard: TYAN B8026T70AE24HR (V1.02.B10 BIOS)
        Memory: 128GB
        Disk: 2 x 120GB Corsair Force MP500 + Samsung SSD 850 PRO 256GB
        OS: Ubuntu 18.04
        Kernel: 4.17.0-999-generic (x86_64) 20180531
        File-System: xfs
        Disk Details: NONE / attr2,inode64,logbufs=8,noatime,noquota,rw / md127 raid0, 2 drives, chunk 512KiB / Block Size: 4096
        Target Details: /srv/scratch  xfs (attr2,inode64,logbufs=8,noatime,noquota,rw)  on md127 (raid0, 2 drives, chunk 512KiB) on nvme0n1p1, nvme1n1p1  Force MP500 120 GB, firmware E7FM04.5, PCIe 3.0 x4, write cache on + Force MP500 120 GB, firmware E7FM04.5, PCIe 1.0 x4 (degraded), write cache on
        Processor Details: Scaling Governor: acpi-cpufreq ondemand (Boost: Enabled) - CPU Microcode: 0x8001230
        Warning degraded-link: nvme1n1 is linked by PCIe 1.0 x4, less than drive and slot could do
        Note governor: governor is ondemand: short I/O will look slower
        /srv/scratch  xfs (attr2,inode64,logbufs=8,noatime,noquota,rw)  on md127 (raid0, 2 drives, chunk 512KiB) on nvme0n1p1, nvme1n1p1  Force MP500 120 GB, firmware E7FM04.5, PCIe 3.0 x4, write cache on + Force MP500 120 GB, firmware E7FM04.5, PCIe 1.0 x4 (degraded), write cache on"#]].assert_eq(&words(SERVER, "/srv/scratch", Some(ROOMY)));
}

#[test]
fn fields_of_a_desktop_and_its_sensors() {
    expect![[r#"
        Processor: Intel Core i9-7980XE @ 4.40GHz (1 Core / 2 Threads)
        Motherboard: ASUS PRIME X299-A (1004 BIOS)
        Memory: 16GB
        Disk: 256GB Samsung SSD 850
        OS: Ubuntu 18.04
        Kernel: 4.17.0-999-generic (x86_64)
        File-System: ext4
        Screen Resolution: 1920x1200
        Disk Details: MQ-DEADLINE / errors=remount-ro,relatime,rw / Block Size: 4096
        Target Details: /home/ann  ext4 (errors=remount-ro,relatime,rw)  on sda2  Samsung SSD 850 256 GB, firmware 2B6Q, write cache on
        Processor Details: Scaling Governor: intel_pstate powersave - CPU Microcode: 0x2000043
        Note governor: governor is powersave: short I/O will look slower
        /home/ann  ext4 (errors=remount-ro,relatime,rw)  on sda2  Samsung SSD 850 256 GB, firmware 2B6Q, write cache on"#]].assert_eq(&words(DESKTOP, "/home/ann", Some(ROOMY)));
    let fake = FakeRoot::new().tree(DESKTOP);
    let root = Root::at(fake.path());
    let target = resolve_target(&root, Path::new("/home/ann")).unwrap();
    let sensors = Sensors::find(&root, &target);
    let ids: Vec<&str> = sensors.infos().map(|info| info.id.as_str()).collect();
    expect![[r#"
        drive-temperature/sda
        drive-read/sda
        drive-write/sda
        drive-utilisation/sda
        drive-queue/sda
        cpu-usage
        cpu-frequency
        cpu-temperature
        power/package-0
        pressure-io
        memory-used
        memory-dirty"#]]
    .assert_eq(&ids.join("\n"));
}

#[test]
fn fields_of_a_board() {
    expect![[r#"
        Processor: ARMv8 Cortex-A72 @ 1.80GHz (4 Cores)
        Motherboard: Raspberry Pi 4 Model B Rev 1.2
        Memory: 4GB
        Disk: 64GB SN64G
        OS: Debian GNU/Linux 12
        Kernel: 6.6.31+rpt-rpi-v8 (aarch64)
        File-System: ext4
        Disk Details: MQ-DEADLINE / noatime,rw
        Target Details: /home/pi  ext4 (noatime,rw)  on mmcblk0p2  SN64G 63.9 GB, firmware 0x6, no volatile write cache
        Processor Details: Scaling Governor: cpufreq-dt ondemand
        Note governor: governor is ondemand: short I/O will look slower
        /home/pi  ext4 (noatime,rw)  on mmcblk0p2  SN64G 63.9 GB, firmware 0x6, no volatile write cache"#]].assert_eq(&words(ARM, "/home/pi", None));
}

#[test]
fn fields_of_a_container() {
    expect![[r#"
        Disk: 2000GB Seagate ST2000DM006-2DM1
        OS: Alpine Linux v3.20
        File-System: overlayfs
        System Layer: docker
        Disk Details: MQ-DEADLINE / nouserxattr,relatime,rw
        Target Details: /work  overlay (nouserxattr,relatime,rw)  on ext4  on sda1  ST2000DM006-2DM1 2000 GB, firmware CC26, SATA 3.0 Gb/s, write cache on
        Warning cpu-quota: a CPU quota allows 1.50 CPUs
        Note assumption: overlay: its directory is outside this container; taken to lie on the ext4 of /etc/resolv.conf, which the container engine keeps beside it
        /work  overlay (nouserxattr,relatime,rw)  on ext4  on sda1  ST2000DM006-2DM1 2000 GB, firmware CC26, SATA 3.0 Gb/s, write cache on"#]].assert_eq(&words(CONTAINER, "/work", None));
}

#[test]
fn nothing_at_all_is_described_without_a_word() {
    let fake = FakeRoot::new().directory("/anywhere");
    let root = Root::at(fake.path());
    let machine = describe(&root, &DescribeOptions::default());
    let target = resolve_target(&root, Path::new("/anywhere")).unwrap();
    assert_eq!(chain(&target), "opaque: no mount is known for /anywhere");
    let fields = system_fields(&machine, &target);
    assert!(fields.hardware.is_empty(), "{:?}", fields.hardware);
    for field in fields.software.iter().chain(&fields.notes) {
        assert!(
            ["Kernel", "Target Details"].contains(&field.name.as_str()),
            "{field:?}"
        );
    }
}

#[test]
fn serial_numbers_are_hashed_unless_asked_for() {
    let fake = FakeRoot::new().tree(LAPTOP);
    let root = Root::at(fake.path());
    let plain = describe(&root, &DescribeOptions::default());
    let drive = &plain.disks[0];
    // printf S64NNX0T123456 | sha256sum
    assert_eq!(drive.serial, None);
    assert_eq!(drive.serial_hash.as_deref().map(str::len), Some(12));
    let text = serde_json::to_string(&plain).unwrap();
    assert!(!text.contains("S64NNX0T123456"), "{text}");
    let options = DescribeOptions {
        reveals_serials: true,
        ..DescribeOptions::default()
    };
    let told = describe(&root, &options);
    assert_eq!(told.disks[0].serial.as_deref(), Some("S64NNX0T123456"));
}

#[test]
fn targets_are_listed_once_drives_first() {
    let list = |tree: &str| {
        let fake = FakeRoot::new().tree(tree);
        let found = list_targets(&Root::at(fake.path()));
        let lines: Vec<String> = found
            .iter()
            .map(|one| {
                let drives: Vec<&str> = one.target.drives.iter().map(|d| d.name.as_str()).collect();
                format!(
                    "{} {} {}",
                    one.mount.point,
                    one.mount.file_system,
                    drives.join("+")
                )
            })
            .collect();
        lines.join("\n")
    };
    expect![[r#"
        / btrfs sda+sdb
        /cached ext4 sdd+nvme0n1
        /loop/home xfs sda+sdb
        /media/usb stick exfat sdc
        /nas nfs4 
        /tank zfs 
        /mnt/gone btrfs 
        /tmp tmpfs 
        /loop/tmp ext4 "#]]
    .assert_eq(&list(BTRFS));
    expect![[r#"
        / overlay sda
        /data ext4 sda"#]]
    .assert_eq(&list(CONTAINER));
    expect![[r#"
        / ext4 vda
        /dev/shm tmpfs "#]]
    .assert_eq(&list(VM));
}

#[test]
fn a_missing_target_names_the_nearest_directory() {
    let fake = FakeRoot::new().tree(VM);
    let root = Root::at(fake.path());
    let error = resolve_target(&root, Path::new("/home/ann/no/such")).unwrap_err();
    expect!["target /home/ann/no/such: does not exist; /home/ann does, so make the rest of it or check the spelling"].assert_eq(&error.to_string());
}

/// The kinds of the reasons a device of a tree is refused for; a tree has no devices to open.
fn refused(tree: &str, node: &str) -> String {
    let fake = FakeRoot::new().tree(tree);
    let refusal = check_device(&Root::at(fake.path()), Path::new(node), None).unwrap_err();
    let mut kinds: Vec<&str> = refusal.reasons.iter().map(|reason| reason.kind).collect();
    kinds.retain(|kind| *kind != "busy" && *kind != "open" && *kind != "permission");
    let texts: Vec<&str> = refusal
        .reasons
        .iter()
        .filter(|reason| kinds.contains(&reason.kind))
        .map(|reason| reason.text.as_str())
        .collect();
    format!("{}\n{}", refusal.device, texts.join("\n"))
}

#[test]
fn disks_of_other_machines_are_refused_for_everything_they_are_used_for() {
    let by_id = "/dev/disk/by-id/nvme-SAMSUNG_MZVL21T0HCLR-00BL7_S64NNX0T123456";
    expect![[r#"
        nvme0n1, SAMSUNG MZVL21T0HCLR-00BL7, 1024 GB
        nvme0n1 holds partitions: nvme0n1p1, nvme0n1p2
        dm-0 is built on nvme0n1p2
        dm-1 is built on dm-0
        dm-2 is built on dm-0
        dm-1 is mounted at / (ext4)
        nvme0n1p1 is mounted at /boot/efi (vfat)
        dm-2 is swap in use"#]]
    .assert_eq(&refused(LAPTOP, by_id));
    expect![[r#"
        nvme0n1p2, SAMSUNG MZVL21T0HCLR-00BL7, 1024 GB
        dm-0 is built on nvme0n1p2
        dm-1 is built on dm-0
        dm-2 is built on dm-0
        dm-1 is mounted at / (ext4)
        dm-2 is swap in use"#]]
    .assert_eq(&refused(LAPTOP, "/dev/nvme0n1p2"));
    expect![[r#"
        dm-1, 1023 GB
        dm-1 is made of dm-0
        dm-1 is mounted at / (ext4)"#]]
    .assert_eq(&refused(LAPTOP, "/dev/mapper/vg--laptop-root"));
    expect![[r#"
        nvme0n1, Force MP500, 120 GB
        nvme0n1 holds partitions: nvme0n1p1
        md127 is built on nvme0n1p1
        md127 is mounted at /srv/scratch (xfs)"#]]
    .assert_eq(&refused(SERVER, "/dev/nvme0n1"));
    expect![[r#"
        md127, 240 GB
        md127 is made of nvme0n1p1, nvme1n1p1
        md127 is mounted at /srv/scratch (xfs)"#]]
    .assert_eq(&refused(SERVER, "/dev/md127"));
    expect![[r#"
        sdb, CT525MX300SSD1, 525 GB
        sdb belongs to the mounted btrfs 8c7c5a5e-1111-2222-3333-444455556666"#]]
    .assert_eq(&refused(BTRFS, "/dev/sdb"));
    expect![[r#"
        sda, PURE FlashArray, 1100 GB
        dm-0 is built on sda
        dm-1 is built on dm-0
        dm-1 is mounted at /san (ext4)"#]]
    .assert_eq(&refused(MULTIPATH, "/dev/sda"));
    expect![[r#"
        vda, 269 GB
        vda is mounted at / (ext4)"#]]
    .assert_eq(&refused(VM, "/dev/vda"));
    expect![[r#"
        zram0, 0 B
        zram0 has no size: no medium or nothing attached"#]]
    .assert_eq(&refused(VM, "/dev/zram0"));
}

use std::path::Path;
use std::sync::Arc;

use fathom_base::{FakeClock, WallTime};
use fathom_testkit::FakeRoot;
use proptest::prelude::*;

use super::counters::{load, pressure_ns, throttled};
use super::*;
use crate::target::resolve_target;

const VM: &str = include_str!("../../tests/data/trees/vm-virtio.tree");
const MULTIPATH: &str = include_str!("../../tests/data/trees/multipath-nvme.tree");
const CONTAINER: &str = include_str!("../../tests/data/trees/container-overlay.tree");

const BEFORE: &str = "\
/proc/self/io <<
rchar: 1
read_bytes: 4096
write_bytes: 8192
cancelled_write_bytes: 0
.
/proc/self/stat = 12 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 10 20 1 2 20 0 1 0 1 1 1
/proc/stat <<
cpu  100 0 50 800 10 0 5 35 0 0
cpu0 50 0 25 400 5 0 2 18 0 0
cpu1 50 0 25 400 5 0 3 17 0 0
intr 1 2 3
.
/proc/pressure/cpu = some avg10=1.58 avg60=1.13 avg300=0.66 total=1000
/proc/pressure/io = some avg10=2.71 avg60=0.50 avg300=0.23 total=2000
/proc/pressure/memory = some avg10=0.00 avg60=0.00 avg300=0.00 total=0
";

const AFTER: &str = "\
/proc/self/io <<
read_bytes: 104096
write_bytes: 8192
.
/proc/self/stat = 12 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 40 25 2 2 20 0 1 0 1 1 1
/proc/stat <<
cpu  140 0 60 900 10 0 5 85 0 0
cpu0 70 0 30 450 5 0 2 43 0 0
cpu1 70 0 30 450 5 0 3 42 0 0
.
/proc/pressure/cpu = some avg10=1.58 avg60=1.13 avg300=0.66 total=1500
/proc/loadavg = 1.50 0 0 1/2 3
/sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda/stat = 150 0 8200 5 201 0 16008 9 0 1030 40 1 0 16 0 9 0
";

#[test]
fn differences_between_two_looks() {
    let fake = FakeRoot::new().tree(VM).tree(BEFORE);
    let root = Root::at(fake.path());
    let target = resolve_target(&root, Path::new("/home/ann")).unwrap();
    let clock = FakeClock::new(WallTime::default());
    let observer = MachineObserver::with_clock(&root, &target, Arc::new(clock.clone()));
    let witness = observer.begin();
    clock.advance(Nanos::from_secs(1));
    let fake = fake.tree(AFTER);
    let seen = witness.end();
    drop(fake);
    let vda = &seen.devices[0];
    assert_eq!(
        (vda.name.as_str(), vda.reads, vda.read_bytes),
        ("vda", 50, 200 * 512)
    );
    assert_eq!((vda.writes, vda.written_bytes), (1, 8 * 512));
    assert_eq!((vda.discarded_bytes, vda.flushes), (8 * 512, Some(2)));
    assert_eq!(vda.busy_ns, 1_000_000_000);
    assert_eq!(vda.write_cache.as_deref(), Some("write back"));
    assert_eq!(seen.window_ns, 1_000_000_000);
    assert_eq!(
        (seen.own_read_bytes, seen.own_written_bytes),
        (Some(100_000), Some(0))
    );
    assert_eq!(seen.own_user_ns, Some(310_000_000));
    assert_eq!(seen.own_system_ns, Some(50_000_000));
    assert_eq!(seen.cpus, Some(2));
    // 200 ticks: 40 user, 10 system, 100 idle, 50 stolen.
    assert_eq!(seen.user_share, Some(0.2));
    assert_eq!(seen.busy_share, Some(0.25));
    assert_eq!(seen.steal_share, Some(0.25));
    assert_eq!(seen.load_before, Some(0.08));
    assert_eq!(seen.load_after, Some(1.5));
    let pressure = seen.pressure.unwrap();
    assert_eq!((pressure.cpu_ns, pressure.io_ns), (500_000, 0));
    // No quota is set, and the link of a virtual disk is not believed.
    assert_eq!((seen.throttled, seen.link_bytes_per_second), (None, None));
}

#[test]
fn the_paths_of_a_multipath_drive_count_when_its_head_does_not() {
    let fake = FakeRoot::new().tree(MULTIPATH);
    let root = Root::at(fake.path());
    let target = resolve_target(&root, Path::new("/")).unwrap();
    let witness = MachineObserver::new(&root, &target).begin();
    let base = "/sys/devices/pci0000:40/0000:40:01.1/0000:41:00.0/nvme/nvme0/nvme0c0n1";
    let more = "20 0 1800 1 20 0 1600 1 0 5 5 0 0 0 0 0 0\n";
    let _fake = fake.file(&format!("{base}/stat"), more);
    let seen = witness.end();
    assert_eq!(seen.devices.len(), 1);
    assert_eq!(seen.devices[0].read_bytes, 1000 * 512);
    assert_eq!(seen.link_bytes_per_second, Some(7_876_923_076));
}

#[test]
fn throttling_by_a_quota_is_counted() {
    let fake = FakeRoot::new().tree(CONTAINER);
    let root = Root::at(fake.path());
    let target = resolve_target(&root, Path::new("/work")).unwrap();
    let witness = MachineObserver::new(&root, &target).begin();
    let _fake = fake.file("/sys/fs/cgroup/cpu.stat", "nr_periods 50\nnr_throttled 9\n");
    let seen = witness.end();
    assert_eq!(seen.throttled, Some(2));
    // The drive has no counters in this tree.
    assert!(seen.devices.is_empty());
    assert!(seen.devices_unseen.is_some());
}

#[test]
fn nothing_to_read_is_nothing_seen() {
    let fake = FakeRoot::new();
    let root = Root::at(fake.path());
    let seen = MachineObserver::new(&root, &TargetInfo::default())
        .begin()
        .end();
    assert_eq!(seen.devices_unseen.as_deref(), Some("no drive is known"));
    assert_eq!(
        (seen.own_read_bytes, seen.cpus, seen.load_before),
        (None, None, None)
    );
}

#[test]
fn counters_of_old_kernels_are_shorter() {
    let old = DiskCounters::parse("1 2 3 4 5 6 7 8 0 10 11\n").unwrap();
    assert_eq!((old.reads, old.read_sectors, old.writes), (1, 3, 5));
    assert_eq!(
        (old.written_sectors, old.busy_ms, old.flushes),
        (7, 10, None)
    );
    assert_eq!(DiskCounters::parse("1 2 3"), None);
    assert_eq!(DiskCounters::parse("1 2 3 4 5 6 x 8 9 10 11"), None);
}

proptest! {
    #[test]
    fn any_text_is_taken(text in "\\PC{0,200}") {
        let _ = DiskCounters::parse(&text);
        let _ = OwnIo::parse(&text);
        let _ = OwnTimes::parse(&text);
        let _ = CpuTimes::parse(&text);
        let _ = (load(&text), pressure_ns(&text), throttled(&text));
    }

    #[test]
    fn shares_are_parts_of_one(
        before in proptest::collection::vec(0_u64..1 << 40, 8),
        more in proptest::collection::vec(0_u64..1 << 40, 8),
    ) {
        let line = |ticks: &[u64]| {
            let words: Vec<String> = ticks.iter().map(u64::to_string).collect();
            CpuTimes::parse(&format!("cpu  {}\ncpu0 1\n", words.join(" "))).unwrap()
        };
        let after: Vec<u64> = before.iter().zip(&more).map(|(b, m)| b + m).collect();
        if let Some(shares) = line(&after).shares_since(line(&before)) {
            for share in [shares.busy, shares.user, shares.steal] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(shares.busy + shares.steal <= 1.0 + 1e-9);
        }
    }
}

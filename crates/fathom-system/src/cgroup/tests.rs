use fathom_testkit::FakeRoot;

use super::*;

fn root(tree: &str) -> (FakeRoot, Root) {
    let fake = FakeRoot::new().tree(tree);
    let root = Root::at(fake.path());
    (fake, root)
}

#[test]
fn the_tightest_quota_of_all_groups_above_counts() {
    let (_fake, root) = root(
        "/proc/self/mountinfo = 31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
         /proc/self/cgroup = 0::/user.slice/job\n\
         /sys/fs/cgroup/user.slice/job/cpu.max = max 100000\n\
         /sys/fs/cgroup/user.slice/cpu.max = 50000 100000\n\
         /sys/fs/cgroup/user.slice/job/io.max = 8:0 rbps=1048576 wbps=max riops=max wiops=max\n",
    );
    assert_eq!(cpu_quota(&root), Some(0.5));
    assert_eq!(
        quota_files(&root),
        [Path::new("/sys/fs/cgroup/user.slice/cpu.stat")]
    );
    let limit = io_limit(&root).unwrap();
    assert_eq!(limit, "8:0 rbps=1048576 wbps=max riops=max wiops=max");
}

#[test]
fn version_1_has_a_mount_for_each_controller() {
    let (_fake, root) = root(
        "/proc/self/mountinfo <<\n\
         32 31 0:29 /docker/ab /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n\
         33 31 0:30 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n\
         .\n\
         /proc/self/cgroup <<\n\
         4:cpu,cpuacct:/docker/ab/inner\n\
         3:blkio:/\n\
         .\n\
         /sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us = 200000\n\
         /sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us = 100000\n\
         /sys/fs/cgroup/blkio/blkio.throttle.read_bps_device = 254:0 1000\n",
    );
    assert_eq!(cpu_quota(&root), Some(2.0));
    assert_eq!(
        io_limit(&root).as_deref(),
        Some("read_bps_device 254:0 1000")
    );
}

#[test]
fn no_groups_no_limits() {
    let (_fake, root) = root("/proc/self/cgroup = 0::/../..\n");
    assert_eq!((cpu_quota(&root), io_limit(&root)), (None, None));
    assert!(quota_files(&root).is_empty());
}

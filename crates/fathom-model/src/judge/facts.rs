use crate::case::{Case, ImplementationKind};
use crate::machine::{LayerKind, TargetInfo};

/// Tests whose figure is read as the drive's own.
const DEVICE_TESTS: [&str; 4] = ["io", "hdparm-read", "iozone", "tiobench"];
/// Tests whose I/O is done by a server, outside the processes Fathom starts and waits for.
const SERVER_TESTS: [&str; 6] = [
    "pgbench",
    "mariadb-slap",
    "sysbench-oltp",
    "clickhouse-hits",
    "cassandra",
    "cockroach-kv",
];

/// What a figure is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The drive's speed: what the page cache serves is not part of it.
    Device,
    /// The whole stack's at a workload: the cache belongs to it, and is only named.
    #[default]
    Stack,
}

/// What the rules need to know besides evidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// What the figure is taken for.
    pub scope: Scope,
    /// The test counts every operation itself, so that a missing count is an error.
    pub counts_itself: bool,
    /// `/proc/self/io` covers all I/O of the test: its processes are ours and waited for.
    pub owns_its_io: bool,
    /// The layers below copy or read back on a write: RAID 5, btrfs, a thin volume.
    pub reads_on_write: bool,
    /// A layer below has a page cache of its own, which direct I/O does not pass by.
    pub caches_below: bool,
    /// Largest physical block of the drives.
    pub physical_block_bytes: Option<u64>,
    /// A drive is a hypervisor's.
    pub is_virtual: bool,
    /// The longest latency of the trial, where there are histograms.
    pub latency_ns_max: Option<u64>,
    /// Share of the file system that was in use when the target was looked at.
    pub fill_share: Option<f64>,
}

impl Facts {
    /// The facts of a case on a target.
    pub fn of(case: &Case, target: Option<&TargetInfo>) -> Self {
        let is_server = SERVER_TESTS.contains(&case.test.as_str());
        let scope = match DEVICE_TESTS.contains(&case.test.as_str()) {
            true => Scope::Device,
            false => Scope::Stack,
        };
        let facts = Self {
            scope,
            counts_itself: case.implementation.kind == ImplementationKind::Native,
            owns_its_io: case.implementation.kind != ImplementationKind::Imported && !is_server,
            ..Self::default()
        };
        match target {
            Some(target) => facts.with_target(target),
            None => facts,
        }
    }

    /// Adds what the target says.
    #[must_use]
    pub fn with_target(mut self, target: &TargetInfo) -> Self {
        self.reads_on_write = reads_on_write(target);
        self.caches_below = target
            .layers
            .iter()
            .any(|layer| layer.kind == LayerKind::Loop && !layer.detail.ends_with(", direct I/O"));
        self.physical_block_bytes = target
            .drives
            .iter()
            .filter_map(|drive| drive.physical_block_bytes)
            .max();
        self.is_virtual = target.drives.iter().any(|drive| {
            let transport = drive.transport.as_deref().unwrap_or_default();
            ["virtio", "xen", "vmbus"].contains(&transport)
        });
        self.fill_share = target.mount.as_ref().and_then(|mount| {
            let used = mount.size_bytes.checked_sub(mount.available_bytes)?;
            (mount.size_bytes > 0).then(|| used as f64 / mount.size_bytes as f64)
        });
        self
    }
}

fn reads_on_write(target: &TargetInfo) -> bool {
    let copies = ["btrfs", "zfs", "bcachefs", "nilfs2", "f2fs"];
    let mounts = target.mount.iter().chain(&target.below);
    let by_file_system = mounts
        .into_iter()
        .any(|mount| copies.contains(&mount.file_system.as_str()));
    let by_layer = target.layers.iter().any(|layer| match layer.kind {
        LayerKind::Md => !layer.detail.starts_with("raid0") && !layer.detail.starts_with("linear"),
        LayerKind::DeviceMapper | LayerKind::Bcache | LayerKind::Loop | LayerKind::Lvm => true,
        _ => false,
    });
    by_file_system || by_layer
}

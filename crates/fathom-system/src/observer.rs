//! Two looks at the counters of the machine, and what changed between them.

mod counters;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use fathom_base::{Clock, Nanos, SystemClock};
use fathom_model::{DeviceEvidence, HostEvidence, Observer, PressureEvidence, TargetInfo, Witness};

use crate::block::BlockDevice;
use crate::cgroup;
use crate::root::Root;

use counters::{CpuTimes, DiskCounters, OwnIo, OwnTimes};

/// Watches the drives under a target, the processors, pressure and quotas.
///
/// A look reads about ten small files: 0.1 ms on two processors; `/proc/stat` makes it longer on
/// machines with many (about 10 us each).
#[derive(Clone)]
pub struct MachineObserver {
    shared: Arc<Shared>,
}

struct Shared {
    root: Root,
    clock: Arc<dyn Clock>,
    drives: Vec<Watched>,
    /// Files whose `nr_throttled` rises when a quota stops us.
    quotas: Vec<PathBuf>,
    memory_backed: Option<String>,
    file_system: String,
    link_bytes_per_second: Option<u64>,
    devices_unseen: Option<String>,
}

/// A leaf drive and, for multipath, the paths to it.
struct Watched {
    name: String,
    write_cache: Option<String>,
    head: PathBuf,
    paths: Vec<PathBuf>,
}

impl MachineObserver {
    /// Watches a target as it was resolved.
    pub fn new(root: &Root, target: &TargetInfo) -> Self {
        Self::with_clock(root, target, Arc::new(SystemClock::new()))
    }

    /// Likewise, with another clock.
    pub fn with_clock(root: &Root, target: &TargetInfo, clock: Arc<dyn Clock>) -> Self {
        let devices_unseen = unseen(target);
        let drives = match (&devices_unseen, &target.memory) {
            (None, None) => watched(root, target),
            _ => Vec::new(),
        };
        Self {
            shared: Arc::new(Shared {
                root: root.clone(),
                clock,
                drives,
                quotas: cgroup::quota_files(root),
                memory_backed: target.memory.as_ref().map(|memory| memory.0.clone()),
                file_system: target
                    .mount
                    .as_ref()
                    .map(|mount| mount.file_system.clone())
                    .unwrap_or_default(),
                link_bytes_per_second: link_of(target),
                devices_unseen,
            }),
        }
    }
}

/// Why the drives cannot be watched.
fn unseen(target: &TargetInfo) -> Option<String> {
    if target.memory.is_some() {
        return None;
    }
    let mount = target.mount.as_ref();
    let name = mount.map_or("", |mount| mount.file_system.as_str());
    if target.is_network && target.drives.is_empty() {
        return Some(format!("{name} is a network file system"));
    }
    if let Some(why) = &target.opaque {
        return Some(why.clone());
    }
    let is_mapped = mount.is_some_and(|mount| {
        let is_dax = |option: &String| option == "dax" || option == "dax=always";
        mount.options.iter().any(is_dax)
    });
    if is_mapped {
        return Some(format!("{name} maps the device directly (dax)"));
    }
    let uncounted = target
        .drives
        .iter()
        .find(|drive| drive.counts_io == Some(false));
    if let Some(drive) = uncounted {
        return Some(format!(
            "the kernel does not count I/O of {} (queue/iostats)",
            drive.name
        ));
    }
    target
        .drives
        .is_empty()
        .then(|| "no drive is known".to_owned())
}

fn watched(root: &Root, target: &TargetInfo) -> Vec<Watched> {
    let counters = |name: &str| {
        let device = BlockDevice::by_name(root, name)?;
        Some(device.sys.join("stat"))
    };
    target
        .drives
        .iter()
        .filter_map(|drive| {
            Some(Watched {
                name: drive.name.clone(),
                write_cache: drive.write_cache.clone(),
                head: counters(&drive.name)?,
                paths: drive
                    .paths
                    .iter()
                    .filter_map(|path| counters(path))
                    .collect(),
            })
        })
        .collect()
}

/// What the links of all drives carry together, when all are known.
fn link_of(target: &TargetInfo) -> Option<u64> {
    let links: Option<Vec<u64>> = target
        .drives
        .iter()
        .map(|drive| drive.link.as_ref().map(|link| link.bytes_per_second))
        .collect();
    let is_local = target.memory.is_none() && !target.is_network;
    links
        .filter(|links| !links.is_empty() && is_local)
        .map(|links| links.iter().sum())
}

impl Observer for MachineObserver {
    fn begin(&self) -> Box<dyn Witness> {
        Box::new(Look {
            counters: Counters::read_outside_in(&self.shared),
            shared: Arc::clone(&self.shared),
        })
    }
}

/// Everything that is counted, at one moment.
struct Counters {
    at: Nanos,
    drives: Vec<Option<DiskCounters>>,
    own_io: Option<OwnIo>,
    own_times: Option<OwnTimes>,
    cpu: Option<CpuTimes>,
    load: Option<f64>,
    pressure: Option<PressureEvidence>,
    throttled: Option<u64>,
}

impl Counters {
    /// The drives last: the look before the window.
    fn read_outside_in(shared: &Shared) -> Self {
        let around = Around::read(shared);
        Self::new(Inner::read(shared), around)
    }

    /// The drives first: the look after it.
    fn read_inside_out(shared: &Shared) -> Self {
        let inner = Inner::read(shared);
        Self::new(inner, Around::read(shared))
    }

    fn new(inner: Inner, around: Around) -> Self {
        Self {
            at: inner.at,
            drives: inner.drives,
            own_io: inner.own_io,
            own_times: around.own_times,
            cpu: around.cpu,
            load: around.load,
            pressure: around.pressure,
            throttled: around.throttled,
        }
    }
}

/// What must lie close to the window.
struct Inner {
    at: Nanos,
    drives: Vec<Option<DiskCounters>>,
    own_io: Option<OwnIo>,
}

impl Inner {
    fn read(shared: &Shared) -> Self {
        let drives = shared
            .drives
            .iter()
            .map(|drive| drive.read(&shared.root))
            .collect();
        let own_io = shared
            .root
            .read("/proc/self/io")
            .and_then(|text| OwnIo::parse(&text));
        Self {
            at: shared.clock.now(),
            drives,
            own_io,
        }
    }
}

/// What may lie a little further away.
struct Around {
    own_times: Option<OwnTimes>,
    cpu: Option<CpuTimes>,
    load: Option<f64>,
    pressure: Option<PressureEvidence>,
    throttled: Option<u64>,
}

impl Around {
    fn read(shared: &Shared) -> Self {
        let root = &shared.root;
        Self {
            own_times: root
                .read("/proc/self/stat")
                .and_then(|text| OwnTimes::parse(&text)),
            cpu: root
                .read("/proc/stat")
                .and_then(|text| CpuTimes::parse(&text)),
            load: root
                .read("/proc/loadavg")
                .and_then(|text| counters::load(&text)),
            pressure: read_pressure(root),
            throttled: read_throttled(root, &shared.quotas),
        }
    }
}

impl Watched {
    /// The drive's counters. The head of a multipath device counts nothing on older kernels, its
    /// paths do; on newer ones both count the same.
    fn read(&self, root: &Root) -> Option<DiskCounters> {
        let read = |path: &PathBuf| root.read(path).and_then(|text| DiskCounters::parse(&text));
        let head = read(&self.head);
        let paths: Option<DiskCounters> = self
            .paths
            .iter()
            .filter_map(read)
            .reduce(DiskCounters::plus);
        match (head, paths) {
            (Some(head), Some(paths)) => Some(head.larger(paths)),
            (head, paths) => head.or(paths),
        }
    }
}

fn read_pressure(root: &Root) -> Option<PressureEvidence> {
    let total = |what: &str| {
        let text = root.read(format!("/proc/pressure/{what}"))?;
        counters::pressure_ns(&text)
    };
    Some(PressureEvidence {
        cpu_ns: total("cpu")?,
        io_ns: total("io")?,
        memory_ns: total("memory")?,
    })
}

fn read_throttled(root: &Root, files: &[PathBuf]) -> Option<u64> {
    let counts: Vec<u64> = files
        .iter()
        .filter_map(|file| counters::throttled(&root.read(file)?))
        .collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// The first look.
struct Look {
    shared: Arc<Shared>,
    counters: Counters,
}

impl Witness for Look {
    fn end(self: Box<Self>) -> HostEvidence {
        let after = Counters::read_inside_out(&self.shared);
        evidence(&self.shared, &self.counters, &after)
    }
}

fn evidence(shared: &Shared, before: &Counters, after: &Counters) -> HostEvidence {
    let cpu = match (before.cpu, after.cpu) {
        (Some(before), Some(after)) => after.shares_since(before),
        _ => None,
    };
    let own_io = both(before.own_io, after.own_io).map(|(before, after)| after.since(before));
    let own = both(before.own_times, after.own_times).map(|(before, after)| after.since(before));
    let mut devices = Vec::new();
    for (drive, (before, after)) in shared
        .drives
        .iter()
        .zip(before.drives.iter().zip(&after.drives))
    {
        if let (Some(before), Some(after)) = (before, after) {
            devices.push(device_evidence(drive, &after.since(*before)));
        }
    }
    let mut devices_unseen = shared.devices_unseen.clone();
    if devices.len() < shared.drives.len() {
        // A sum over some of the drives would be wrong.
        devices.clear();
        devices_unseen = Some("the counters of a drive could not be read".to_owned());
    }
    HostEvidence {
        window_ns: after.at.since(before.at).as_u64(),
        devices,
        devices_unseen,
        memory_backed: shared.memory_backed.clone(),
        file_system: shared.file_system.clone(),
        own_read_bytes: own_io.map(|io| io.read_bytes),
        own_written_bytes: own_io.map(|io| io.written_bytes),
        own_user_ns: own.map(|times| times.user_ns),
        own_system_ns: own.map(|times| times.system_ns),
        load_before: before.load,
        load_after: after.load,
        steal_share: cpu.map(|shares| shares.steal),
        busy_share: cpu.map(|shares| shares.busy),
        user_share: cpu.map(|shares| shares.user),
        cpus: after.cpu.map(|cpu| cpu.cpus),
        pressure: both(before.pressure.as_ref(), after.pressure.as_ref()).map(pressure_between),
        link_bytes_per_second: shared.link_bytes_per_second,
        throttled: both(before.throttled, after.throttled)
            .map(|(before, after)| after.saturating_sub(before)),
    }
}

fn both<T>(before: Option<T>, after: Option<T>) -> Option<(T, T)> {
    Some((before?, after?))
}

fn pressure_between((before, after): (&PressureEvidence, &PressureEvidence)) -> PressureEvidence {
    PressureEvidence {
        cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
        io_ns: after.io_ns.saturating_sub(before.io_ns),
        memory_ns: after.memory_ns.saturating_sub(before.memory_ns),
    }
}

fn device_evidence(drive: &Watched, done: &DiskCounters) -> DeviceEvidence {
    const SECTOR: u64 = 512;
    DeviceEvidence {
        name: drive.name.clone(),
        reads: done.reads,
        read_bytes: done.read_sectors.saturating_mul(SECTOR),
        writes: done.writes,
        written_bytes: done.written_sectors.saturating_mul(SECTOR),
        discarded_bytes: done.discarded_sectors.saturating_mul(SECTOR),
        flushes: done.flushes,
        busy_ns: done.busy_ms.saturating_mul(1_000_000),
        write_cache: drive.write_cache.clone(),
    }
}

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fathom_base::Bytes;
use fathom_model::{Drive, Layer, LayerKind, MemoryBacking, Mount, TargetInfo, TargetKind};

use crate::block::{BlockDevice, node_number};
use crate::drive::{chosen, describe_drive};
use crate::filesystem::{self, Nature};
use crate::mounts::{MountEntry, MountTable, source_path};
use crate::root::Root;

use super::path_facts;

/// File systems below one another that are followed: loop on overlay on loop ...
const FILE_SYSTEM_LIMIT: u32 = 16;
/// Devices that are followed: an array may have many drives.
const DEVICE_LIMIT: usize = 1024;

/// Collects what lies below a path or device.
pub(super) struct Resolver<'a> {
    root: &'a Root,
    mounts: MountTable,
    is_virtual: bool,
    depth: u32,
    seen: HashSet<PathBuf>,
    info: TargetInfo,
}

/// What a device is, in words, and the names of what it stands on.
type Followed = (LayerKind, String, Vec<String>);

impl<'a> Resolver<'a> {
    pub fn new(root: &'a Root, mounts: MountTable) -> Self {
        Self {
            root,
            mounts,
            is_virtual: crate::describe::is_virtual_machine(root),
            depth: 0,
            seen: HashSet::new(),
            info: TargetInfo::default(),
        }
    }

    pub fn finish(mut self, path: String, kind: TargetKind) -> TargetInfo {
        self.info.path = path;
        self.info.kind = kind;
        self.info
    }

    /// Follows a block device given as a node.
    pub fn block_device(&mut self, node: &Path) {
        match BlockDevice::by_node(self.root, node) {
            Some(device) => {
                self.device(&device);
            }
            None => self.ends(format!("{} is not in sysfs", node.display())),
        }
    }

    /// Follows a path through the file system it lies on.
    pub fn path(&mut self, path: &Path) {
        self.depth += 1;
        if self.depth > FILE_SYSTEM_LIMIT {
            self.ends("more file systems below one another than are followed".to_owned());
            return;
        }
        let facts = path_facts(self.root, &self.mounts, path);
        let Some(mount) = facts.mount else {
            self.ends(format!("no mount is known for {}", path.display()));
            return;
        };
        self.add_mount(&mount);
        if facts.is_compressed {
            self.compresses(format!("{} (compressed by attribute)", mount.file_system));
        }
        if let Some(what) = compressing(&mount) {
            self.compresses(what);
        }
        match filesystem::nature(&mount.file_system) {
            Nature::Disk => self.disk_mount(&mount),
            Nature::Memory | Nature::Pseudo => self.is_memory(&mount.file_system),
            Nature::Network => self.info.is_network = true,
            Nature::Hidden(why) => self.ends(format!("{}: {why}", mount.file_system)),
            Nature::Stacked => self.stacked(&mount),
        }
    }

    fn add_mount(&mut self, mount: &MountEntry) {
        let space = self.root.space(&mount.point).unwrap_or_default();
        let described = Mount {
            point: mount.point.to_string_lossy().into_owned(),
            source: mount.source.to_string_lossy().into_owned(),
            file_system: mount.file_system.clone(),
            options: mount.all_options(),
            size_bytes: space.size_bytes,
            available_bytes: space.available_bytes,
            available_inodes: space.available_inodes,
            block_size_bytes: space.block_size_bytes,
            device: mount.device.to_string(),
            profile: None,
        };
        match self.info.mount {
            None if self.info.layers.is_empty() => self.info.mount = Some(described),
            _ => self.info.below.push(described),
        }
    }

    /// Says why the chain ends; the first reason is kept.
    fn ends(&mut self, why: String) {
        self.info.opaque.get_or_insert(why);
    }

    fn compresses(&mut self, what: String) {
        self.info.compressing.get_or_insert(what);
    }

    fn is_memory(&mut self, what: &str) {
        let is_loop = |layer: &Layer| layer.kind == LayerKind::Loop;
        let on = match self.info.layers.iter().any(is_loop) {
            true => format!("loop on {what}"),
            false => what.to_owned(),
        };
        self.info.memory.get_or_insert(MemoryBacking(on));
    }

    fn disk_mount(&mut self, mount: &MountEntry) {
        let by_number = match mount.device.major {
            0 => None,
            _ => BlockDevice::by_number(self.root, mount.device),
        };
        let mut devices: Vec<BlockDevice> = by_number.into_iter().collect();
        if devices.is_empty() {
            devices = self.named_devices(mount);
        }
        if mount.file_system == "btrfs" {
            self.add_btrfs_devices(&mut devices);
        }
        for name in ["logdev", "rtdev"] {
            let node = mount.option(name).map(PathBuf::from);
            devices.extend(node.and_then(|node| BlockDevice::by_node(self.root, &node)));
        }
        if devices.is_empty() {
            let source = mount.source.to_string_lossy();
            self.ends(format!(
                "{} on {source}: no such device in sysfs",
                mount.file_system
            ));
        }
        for device in devices {
            self.device(&device);
        }
    }

    /// The devices a source names: one, or with colons between them for bcachefs.
    fn named_devices(&self, mount: &MountEntry) -> Vec<BlockDevice> {
        let source = mount.source.to_string_lossy();
        let nodes: Vec<PathBuf> = match mount.file_system.as_str() {
            "bcachefs" => source.split(':').map(PathBuf::from).collect(),
            _ => source_path(&mount.source).into_iter().collect(),
        };
        let devices = nodes
            .iter()
            .filter_map(|node| BlockDevice::by_node(self.root, node));
        devices.collect()
    }

    /// A btrfs may span devices that its source does not name; sysfs lists them all.
    fn add_btrfs_devices(&mut self, devices: &mut Vec<BlockDevice>) {
        let base = Path::new("/sys/fs/btrfs");
        let Some(first) = devices.first().map(|device| device.name.clone()) else {
            return;
        };
        let names_of = |id: &String| self.root.names(base.join(id).join("devices"));
        let ids = self.root.names(base);
        let Some(id) = ids.iter().find(|id| names_of(id).contains(&first)) else {
            return;
        };
        let names = names_of(id);
        for name in names.iter().filter(|name| **name != first) {
            devices.extend(BlockDevice::by_name(self.root, name));
        }
        let profile = |kind: &str| {
            let names = self.root.names(base.join(id).join("allocation").join(kind));
            let is_profile = |name: &&String| {
                name.starts_with("raid") || name.as_str() == "single" || name.as_str() == "dup"
            };
            names
                .iter()
                .filter(is_profile)
                .cloned()
                .collect::<Vec<_>>()
                .join("+")
        };
        let (data, metadata) = (profile("data"), profile("metadata"));
        let mut text = match data.is_empty() {
            true => String::new(),
            false => format!("data {data}, metadata {metadata}, "),
        };
        text.push_str(&match names.len() {
            1 => "1 device".to_owned(),
            count => format!("{count} devices"),
        });
        if let Some(mount) = self.info.below.last_mut().or(self.info.mount.as_mut()) {
            mount.profile = Some(text);
        }
    }

    /// Overlay: writes go to its upper directory. Ecryptfs: to the directory it names.
    fn stacked(&mut self, mount: &MountEntry) {
        let writes_to = match mount.file_system.as_str() {
            "ecryptfs" => source_path(&mount.source),
            _ => mount
                .option("upperdir")
                .or_else(|| mount.option("lowerdir")?.split(':').next())
                .map(PathBuf::from),
        };
        let Some(directory) = writes_to else {
            self.ends(format!(
                "{}: it names no directory below",
                mount.file_system
            ));
            return;
        };
        match self.root.real_path(&directory) {
            Some(real) => self.path(&real),
            None => self.outside(mount, &directory),
        }
    }

    /// The upper directory is outside this container. Container engines bind files of the same
    /// storage directory into it (`/etc/hosts`), and those show the device.
    fn outside(&mut self, mount: &MountEntry, directory: &Path) {
        let name = &mount.file_system;
        let is_sibling =
            |entry: &&MountEntry| entry.device.major != 0 && share_storage(&entry.root, directory);
        let Some(sibling) = self.mounts.entries.iter().find(is_sibling).cloned() else {
            let directory = directory.display();
            self.ends(format!(
                "{name}: its directory {directory} is outside this container"
            ));
            return;
        };
        self.info.assumption = Some(format!(
            "{name}: its directory is outside this container; taken to lie on the {} of {}, which \
             the container engine keeps beside it",
            sibling.file_system,
            sibling.point.display()
        ));
        self.add_mount(&sibling);
        self.disk_mount(&sibling);
    }

    /// Adds a device and everything below it, each once; gives its name.
    fn device(&mut self, device: &BlockDevice) -> String {
        let name = device.name.clone();
        if !self.seen.insert(device.sys.clone()) {
            return name;
        }
        let at = self.info.layers.len();
        if at >= DEVICE_LIMIT {
            self.ends("more devices than are followed".to_owned());
            return name;
        }
        self.info.layers.push(Layer {
            name: name.clone(),
            size_bytes: device.size_bytes(self.root),
            device: device.number.to_string(),
            ..Layer::default()
        });
        let drives_before = self.info.drives.len();
        let (kind, detail, below) = self.follow(device, at);
        if kind == LayerKind::Multipath {
            join_paths(&mut self.info.drives, drives_before);
        }
        let layer = &mut self.info.layers[at];
        (layer.kind, layer.detail, layer.below) = (kind, detail, below);
        name
    }

    fn follow(&mut self, device: &BlockDevice, at: usize) -> Followed {
        let root = self.root;
        if let Some(parent) = device.parent(root) {
            let number = device.line(root, "partition").unwrap_or_default();
            let below = vec![self.device(&parent)];
            return (LayerKind::Partition, format!("partition {number}"), below);
        }
        if device.has(root, "dm") {
            return self.mapped(device);
        }
        if device.has(root, "md") {
            let below = self.slaves(device);
            return (LayerKind::Md, md_detail(root, device), below);
        }
        if device.family() == "loop" {
            self.info.layers[at].kind = LayerKind::Loop;
            return (LayerKind::Loop, self.backing_file(device), Vec::new());
        }
        if device.family() == "bcache" {
            return self.bcache(device);
        }
        self.leaf(device)
    }

    fn slaves(&mut self, device: &BlockDevice) -> Vec<String> {
        let slaves = device.slaves(self.root);
        if slaves.is_empty() {
            self.ends(format!("{}: what it stands on is not shown", device.name));
        }
        slaves.iter().map(|slave| self.device(slave)).collect()
    }

    /// Device mapper: the owner of a device writes its kind into the uuid.
    fn mapped(&mut self, device: &BlockDevice) -> Followed {
        let name = device.line(self.root, "dm/name").unwrap_or_default();
        let uuid = device.line(self.root, "dm/uuid").unwrap_or_default();
        let kind = if uuid.starts_with("CRYPT-") {
            LayerKind::Crypt
        } else if uuid.starts_with("LVM-") {
            LayerKind::Lvm
        } else if uuid.starts_with("mpath-") {
            LayerKind::Multipath
        } else if uuid.starts_with("part") {
            LayerKind::Partition
        } else {
            LayerKind::DeviceMapper
        };
        if uuid.starts_with("VDO-") || uuid.ends_with("-vpool") {
            self.compresses(format!("VDO {name}"));
        }
        let below = self.slaves(device);
        (kind, name, below)
    }

    /// The backing and the cache devices.
    fn bcache(&mut self, device: &BlockDevice) -> Followed {
        let mode = device
            .line(self.root, "bcache/cache_mode")
            .unwrap_or_default();
        let mut below = self.slaves(device);
        let set = device.sys.join("bcache/cache");
        let is_cache = |name: &&String| {
            name.strip_prefix("cache")
                .is_some_and(|rest| rest.parse::<u32>().is_ok())
        };
        let caches: Vec<BlockDevice> = self
            .root
            .names(&set)
            .iter()
            .filter(is_cache)
            .filter_map(|name| self.root.real_path(set.join(name)))
            .filter_map(|path| Some(path.parent()?.file_name()?.to_str()?.to_owned()))
            .filter_map(|name| BlockDevice::by_name(self.root, &name))
            .collect();
        below.extend(caches.iter().map(|cache| self.device(cache)));
        (LayerKind::Bcache, chosen(&mode), below)
    }

    fn backing_file(&mut self, device: &BlockDevice) -> String {
        let Some(text) = device.line(self.root, "loop/backing_file") else {
            self.ends(format!("{}: no file is attached", device.name));
            return String::new();
        };
        let is_direct = device.number::<u8>(self.root, "loop/dio") == Some(1);
        match self.root.real_path(&text) {
            // A loop device may also stand on another block device.
            Some(real) if node_number(self.root, &real).is_some() => self.block_device(&real),
            Some(real) => self.path(&real),
            None => self.ends(format!("{}: its file {text} cannot be seen", device.name)),
        }
        match is_direct {
            true => format!("{text}, direct I/O"),
            false => text,
        }
    }

    fn leaf(&mut self, device: &BlockDevice) -> Followed {
        let no_detail = |kind| (kind, String::new(), Vec::new());
        let parent = self
            .root
            .real_path(device.sys.join("device"))
            .unwrap_or_default();
        let is_volatile = parent.to_string_lossy().contains("e820_pmem");
        let kind = match device.family() {
            "zram" => {
                self.is_memory("zram");
                return no_detail(LayerKind::Zram);
            }
            "ram" => {
                self.is_memory("brd");
                return no_detail(LayerKind::Ram);
            }
            "pmem" if is_volatile => {
                self.is_memory("pmem (volatile)");
                return no_detail(LayerKind::Ram);
            }
            "nbd" | "rbd" | "drbd" => LayerKind::NetworkBlock,
            _ => LayerKind::Disk,
        };
        let drive = describe_drive(self.root, device, self.is_virtual);
        let transport = drive.transport.as_deref().unwrap_or_default();
        let is_remote = transport == "iscsi" || transport.starts_with("nvme-");
        let kind = match is_remote {
            true => LayerKind::NetworkBlock,
            false => kind,
        };
        self.info.is_network |= kind == LayerKind::NetworkBlock;
        let detail = drive.model.clone().unwrap_or_default();
        self.info.drives.push(drive);
        (kind, detail, Vec::new())
    }
}

/// The paths of a multipath device are one drive.
fn join_paths(drives: &mut Vec<Drive>, from: usize) {
    if drives.len() <= from {
        return;
    }
    let mut paths = drives.split_off(from);
    let names = paths.iter().map(|drive| drive.name.clone()).collect();
    let mut drive = paths.swap_remove(0);
    if paths.iter().any(|path| path.link.is_none()) {
        drive.link = None;
    }
    if let Some(link) = &mut drive.link {
        let others = paths.iter().filter_map(|path| path.link.as_ref());
        link.bytes_per_second += others.map(|link| link.bytes_per_second).sum::<u64>();
    }
    drive.paths = names;
    drives.push(drive);
}

fn md_detail(root: &Root, device: &BlockDevice) -> String {
    let level = device
        .line(root, "md/level")
        .unwrap_or_else(|| "md".to_owned());
    let count: u32 = device.number(root, "md/raid_disks").unwrap_or(0);
    let mut detail = format!("{level}, {count} drives");
    let chunk: u64 = device.number(root, "md/chunk_size").unwrap_or(0);
    if chunk > 0 {
        detail.push_str(&format!(", chunk {}", Bytes::new(chunk)));
    }
    let missing: u32 = device.number(root, "md/degraded").unwrap_or(0);
    if missing > 0 {
        detail.push_str(&format!(", {missing} missing"));
    }
    let action = device.line(root, "md/sync_action");
    if let Some(action) = action.filter(|action| action != "idle") {
        detail.push_str(&format!(", {action} running"));
    }
    detail
}

/// What compresses what is written to a mount.
fn compressing(mount: &MountEntry) -> Option<String> {
    let value = |name: &str| mount.option(name).filter(|value| *value != "none");
    match mount.file_system.as_str() {
        "btrfs" => ["compress-force", "compress"].iter().find_map(|name| {
            let chosen = value(name).map(|kind| format!("btrfs {name}={kind}"));
            chosen.or_else(|| mount.has(name).then(|| format!("btrfs {name}")))
        }),
        "zfs" => Some("zfs (its compression cannot be seen)".to_owned()),
        "bcachefs" => ["compression", "background_compression"]
            .iter()
            .find_map(|name| value(name).map(|kind| format!("bcachefs {name}={kind}"))),
        "f2fs" => {
            let algorithm = value("compress_algorithm")?;
            let is_for_all = mount.option("compress_extension") == Some("*");
            is_for_all.then(|| format!("f2fs compress_algorithm={algorithm}"))
        }
        "ubifs" => value("compr").map(|kind| format!("ubifs compr={kind}")),
        "jffs2" | "squashfs" | "erofs" | "cramfs" => Some(mount.file_system.clone()),
        _ => None,
    }
}

/// Whether a bound file and a directory are parts of one container engine's storage: they share
/// the root and three directories (`/var/lib/docker`), or that storage is a file system of its own.
fn share_storage(bound: &Path, directory: &Path) -> bool {
    const SHARED: usize = 4;
    let common = bound
        .components()
        .zip(directory.components())
        .take_while(|(a, b)| a == b);
    if common.count() >= SHARED {
        return true;
    }
    directory.starts_with("/var/lib/docker") && bound.starts_with("/containers")
}

//! Block devices as sysfs shows them.

use std::path::{Path, PathBuf};

use crate::mounts::DeviceNumber;
use crate::root::Root;

/// A block device: its kernel name and its directory in sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    pub name: String,
    /// Without symbolic links: `/sys/devices/pci0000:00/.../block/sda`.
    pub sys: PathBuf,
    pub number: DeviceNumber,
}

impl BlockDevice {
    /// The device of a number.
    pub fn by_number(root: &Root, number: DeviceNumber) -> Option<Self> {
        let link = root.real_path(format!("/sys/dev/block/{number}"));
        if let Some(sys) = link {
            return Self::at(root, sys);
        }
        let names = root.names("/sys/class/block");
        let mut devices = names.iter().filter_map(|name| Self::by_name(root, name));
        devices.find(|device| device.number == number)
    }

    /// The device of a kernel name.
    pub fn by_name(root: &Root, name: &str) -> Option<Self> {
        if name.is_empty() || name.contains('/') || name == ".." {
            return None;
        }
        let sys = root.real_path(format!("/sys/class/block/{name}"));
        let sys = sys.or_else(|| root.real_path(format!("/sys/block/{name}")))?;
        Self::at(root, sys)
    }

    /// The device a node in `/dev` stands for, links followed.
    pub fn by_node(root: &Root, node: &Path) -> Option<Self> {
        Self::by_number(root, node_number(root, node)?)
    }

    fn at(root: &Root, sys: PathBuf) -> Option<Self> {
        let name = sys.file_name()?.to_str()?.to_owned();
        // Hidden paths of a multipath NVMe have no number.
        let number = root
            .line(sys.join("dev"))
            .and_then(|text| DeviceNumber::parse(&text));
        Some(Self {
            name,
            sys,
            number: number.unwrap_or_default(),
        })
    }

    pub fn line(&self, root: &Root, file: &str) -> Option<String> {
        root.line(self.sys.join(file))
    }

    pub fn number<N: std::str::FromStr>(&self, root: &Root, file: &str) -> Option<N> {
        root.number(self.sys.join(file))
    }

    pub fn has(&self, root: &Root, file: &str) -> bool {
        root.exists(self.sys.join(file))
    }

    pub fn is_partition(&self, root: &Root) -> bool {
        self.has(root, "partition")
    }

    /// The whole disk of a partition.
    pub fn parent(&self, root: &Root) -> Option<Self> {
        Self::at(root, self.sys.parent()?.to_path_buf()).filter(|_| self.is_partition(root))
    }

    /// sysfs counts in 512 bytes whatever the block size is.
    pub fn size_bytes(&self, root: &Root) -> u64 {
        self.number::<u64>(root, "size")
            .unwrap_or(0)
            .saturating_mul(512)
    }

    /// Names in `slaves` (what it stands on) or `holders` (what stands on it).
    pub fn names(&self, root: &Root, directory: &str) -> Vec<String> {
        root.names(self.sys.join(directory))
    }

    /// What it stands on.
    pub fn slaves(&self, root: &Root) -> Vec<Self> {
        let names = self.names(root, "slaves");
        names
            .iter()
            .filter_map(|name| Self::by_name(root, name))
            .collect()
    }

    /// Its partitions.
    pub fn partitions(&self, root: &Root) -> Vec<Self> {
        root.names(&self.sys)
            .iter()
            .filter(|name| name.starts_with(&self.name))
            .filter_map(|name| Self::at(root, self.sys.join(name)))
            .filter(|device| device.is_partition(root))
            .collect()
    }

    /// A file of the queue; a partition has its disk's.
    pub fn queue(&self, root: &Root, file: &str) -> Option<String> {
        self.line(root, &format!("queue/{file}"))
    }

    /// The name without digits at its end: `zram` of `zram0`.
    pub fn family(&self) -> &str {
        self.name.trim_end_matches(|c: char| c.is_ascii_digit())
    }
}

/// The number of a device node. In a tree written for a test, where no nodes can be made, the file
/// of that name stands for the device of that name.
pub(crate) fn node_number(root: &Root, node: &Path) -> Option<DeviceNumber> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    if root.is_system() {
        let meta = std::fs::metadata(node).ok()?;
        let is_block = meta.file_type().is_block_device();
        return is_block.then(|| DeviceNumber::from_raw(meta.rdev()));
    }
    let real = root.real_path(node)?;
    if !real.starts_with("/dev") {
        return None;
    }
    let device = BlockDevice::by_name(root, real.file_name()?.to_str()?)?;
    (device.number != DeviceNumber::default()).then_some(device.number)
}

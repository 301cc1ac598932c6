//! The machine and the chain under a target, in structure. What could not be read is absent.

use serde::{Deserialize, Serialize};

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Machine {
    /// Processor.
    pub cpu: Cpu,
    /// Memory.
    pub memory: Memory,
    /// Main board and firmware.
    pub board: Board,
    /// Kernel, operating system, virtualisation, limits.
    pub platform: Platform,
    /// Every disk of the machine, whether under the target or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Drive>,
    /// Graphics, network, sound.
    pub peripherals: Peripherals,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Cpu {
    /// Model name as the kernel gives it.
    pub model: String,
    /// Physical packages.
    pub sockets: u32,
    /// Physical cores over all packages.
    pub cores: u32,
    /// Logical processors that are online.
    pub threads: u32,
    /// Highest frequency cpufreq allows the first processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_max_khz: Option<u64>,
    /// `performance`, `schedutil`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// `intel_pstate`, `amd-pstate-epp`, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling_driver: Option<String>,
    /// Whether boost is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Microcode revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Whether simultaneous multithreading is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smt: Option<bool>,
    /// Energy performance preference: `balance_performance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_preference: Option<String>,
    /// Vulnerabilities with the kernel's answer, sorted by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vulnerabilities: Vec<(String, String)>,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Memory {
    /// MemTotal.
    pub total_bytes: u64,
    /// SwapTotal.
    pub swap_bytes: u64,
    /// Modules where the firmware tells: `32GB DDR4-2666 Samsung ...`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Transparent huge pages mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub huge_pages: Option<String>,
}

/// Main board.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Board {
    /// Vendor.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vendor: String,
    /// Name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Firmware version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bios: String,
    /// Product name of the whole system.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub product: String,
    /// Chipset, by the host bridge.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub chipset: String,
}

/// What else is plugged in, in the words of the PCI name list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Peripherals {
    /// Display controllers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub graphics: Vec<String>,
    /// Network controllers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Sound controllers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audio: Vec<String>,
    /// Monitors that are plugged in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub monitors: Vec<String>,
    /// Resolution the first monitor prefers: `1920x1200`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

/// Kernel and what surrounds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Platform {
    /// `Debian GNU/Linux 12`.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Build date of a development kernel, `20180531`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_date: Option<String>,
    /// `x86_64`.
    pub architecture: String,
    /// Kernel command line; options that name machines, networks or secrets have lost their value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command_line: String,
    /// Hypervisor: `KVM`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// Container: `docker`, `lxc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Clock source in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_source: Option<String>,
    /// CPU quota of the control group in CPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_quota: Option<f64>,
    /// `io.max` of the control group, as it stands there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_limit: Option<String>,
    /// Locked-memory limit; absent when unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked_memory_limit_bytes: Option<u64>,
    /// Compiler found on the machine: `GCC 12.2.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// How the compiler was configured, paths and branding left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compiler_options: Option<String>,
    /// Python found on the machine: `3.11.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Java found on the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub java: Option<String>,
    /// `kernel.io_uring_disabled`: 0 allowed, 1 for the privileged only, 2 for nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_uring_disabled: Option<u32>,
    /// `acpi` platform profile: `balanced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_profile: Option<String>,
    /// SELinux enforces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selinux_enforcing: Option<bool>,
    /// Load average over a minute when the machine was described.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

/// What kind of target the user named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A scratch directory is made in it.
    #[default]
    Directory,
    /// An existing file, only read unless the user says more.
    File,
    /// A whole block device.
    BlockDevice,
}

/// The chain path -> mount -> device stack -> leaf drives.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TargetInfo {
    /// The path as resolved.
    pub path: String,
    /// Directory, file or block device.
    pub kind: TargetKind,
    /// The mount the path lies on; absent for a block device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mount: Option<Mount>,
    /// The target is memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryBacking>,
    /// The file system is on another machine.
    pub is_network: bool,
    /// File systems below the mount, nearest first: what holds an overlay's upper directory or the
    /// backing file of a loop device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<Mount>,
    /// Why the chain ends before a drive: `zfs hides its devices`, `virtiofs: the drive belongs to
    /// the host`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opaque: Option<String>,
    /// What had to be assumed to find the drives; absent when the chain is certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumption: Option<String>,
    /// The device stack, top first, each layer once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// The drives at the bottom.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<Drive>,
    /// What below the target compresses or deduplicates: `btrfs compress=lzo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressing: Option<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Why a target is memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct MemoryBacking(
    /// `tmpfs`, `ramfs`, `zram`, `loop on tmpfs`, `brd`, `pmem (volatile)`.
    pub String,
);

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Mount {
    /// Where it is mounted.
    pub point: String,
    /// What is mounted: `/dev/nvme0n1p2`, `server:/export`.
    pub source: String,
    /// `ext4`, `btrfs`.
    pub file_system: String,
    /// Mount and super block options, sorted.
    pub options: Vec<String>,
    /// Size of the file system.
    pub size_bytes: u64,
    /// Bytes an ordinary user can still write.
    pub available_bytes: u64,
    /// Inodes still free; absent where they are not limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_inodes: Option<u64>,
    /// Block size of the file system.
    pub block_size_bytes: u64,
    /// Major and minor number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// How a file system spreads over its devices: `data raid1, metadata raid1, 2 devices`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// The kind of a layer of the device stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A whole disk.
    #[default]
    Disk,
    /// A partition.
    Partition,
    /// Linux software RAID.
    Md,
    /// Encryption by device mapper.
    Crypt,
    /// Logical volume.
    Lvm,
    /// Multipath by device mapper.
    Multipath,
    /// Another device mapper target.
    DeviceMapper,
    /// Loop device on a file.
    Loop,
    /// bcache.
    Bcache,
    /// Compressed memory.
    Zram,
    /// Memory disk.
    Ram,
    /// Network block device.
    NetworkBlock,
}

/// A layer of the device stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Layer {
    /// Kernel name: `nvme0n1p2`, `dm-0`, `md127`.
    pub name: String,
    /// What it is.
    pub kind: LayerKind,
    /// Its size.
    pub size_bytes: u64,
    /// Details in words: `raid0, 2 drives, chunk 512KiB`, the backing file of a loop device.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Major and minor number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Names of the layers below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
}

/// A leaf drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Drive {
    /// Kernel name: `nvme0n1`.
    pub name: String,
    /// Major and minor number.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub device: String,
    /// Model; absent for paravirtual disks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// First 12 hexadecimal digits of SHA-256 of the serial number: tells drives apart without
    /// naming them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_hash: Option<String>,
    /// The serial number itself, only when the user asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Size.
    pub size_bytes: u64,
    /// Whether the kernel believes it rotates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// `nvme`, `sata`, `usb`, `virtio`, `scsi`, `mmc`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The link to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// The scheduler in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// `write back` or `write through`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Whether forced unit access is supported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fua: Option<bool>,
    /// Requests the queue holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nr_requests: Option<u64>,
    /// Read-ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_ahead_bytes: Option<u64>,
    /// Logical block size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u64>,
    /// Physical block size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical_block_bytes: Option<u64>,
    /// Optimal I/O size; absent when the device names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_io_bytes: Option<u64>,
    /// Largest discard; zero when discard is not supported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discard_max_bytes: Option<u64>,
    /// Whether it can be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removable: Option<bool>,
    /// Whether the kernel counts its I/O (`queue/iostats`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts_io: Option<bool>,
    /// `host-aware` or `host-managed` for zoned drives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zoned: Option<String>,
    /// Kernel names of the paths to a multipath NVMe name space: `nvme0c0n1`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// The link of a drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Link {
    /// In words: `PCIe 3.0 x4`, `SATA 6.0 Gb/s`, `USB 5 Gb/s`.
    pub text: String,
    /// The most the link can carry after line coding, bytes a second.
    pub bytes_per_second: u64,
    /// The link is below what device and slot could do.
    pub is_degraded: bool,
}

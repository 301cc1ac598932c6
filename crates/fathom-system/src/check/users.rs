//! Who uses a device: mounts in every name space, swap, and devices made of it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::block::{BlockDevice, node_number};
use crate::mounts::{DeviceNumber, MountTable, source_path, unescape};
use crate::root::Root;

use super::RefusalReason;

/// Levels of devices above one another that are followed.
const DEPTH_LIMIT: u32 = 16;

/// Adds every use of a device, of its partitions, of the disk it is a partition of, and of what is
/// built on any of them.
pub(super) fn of(root: &Root, device: &BlockDevice, reasons: &mut Vec<RefusalReason>) {
    let mut family = vec![device.clone()];
    family.extend(device.partitions(root));
    family.extend(device.parent(root));
    let mut above = Vec::new();
    for member in &family {
        collect_holders(root, member, 0, &mut above);
    }
    for (holder, on) in &above {
        let text = format!("{} is built on {}", holder.name, on);
        let advice = format!("lsblk /dev/{on} shows what it is part of");
        reasons.push(RefusalReason::new("held", text, advice));
    }
    family.extend(above.into_iter().map(|(holder, _)| holder));
    mounted(root, &family, reasons);
    swapped(root, &family, reasons);
    same_file(root, device, reasons);
}

fn collect_holders(
    root: &Root,
    device: &BlockDevice,
    depth: u32,
    above: &mut Vec<(BlockDevice, String)>,
) {
    if depth >= DEPTH_LIMIT {
        return;
    }
    for name in holders(root, device) {
        let holder = BlockDevice::by_name(root, &name).unwrap_or_else(|| BlockDevice {
            name: name.clone(),
            sys: PathBuf::new(),
            number: DeviceNumber::default(),
        });
        if above.iter().any(|(known, _)| known.name == name) {
            continue;
        }
        above.push((holder.clone(), device.name.clone()));
        collect_holders(root, &holder, depth + 1, above);
    }
}

/// The devices built directly on one: as it says, and as they say.
fn holders(root: &Root, device: &BlockDevice) -> Vec<String> {
    let mut names = device.names(root, "holders");
    for name in root.names("/sys/block") {
        let is_on = |other: BlockDevice| other.names(root, "slaves").contains(&device.name);
        if !names.contains(&name) && BlockDevice::by_name(root, &name).is_some_and(is_on) {
            names.push(name);
        }
    }
    names
}

/// Mounts in this and in every other mount name space that can be seen. File systems over several
/// devices have no device number of their own: their source counts, and for btrfs sysfs.
fn mounted(root: &Root, family: &[BlockDevice], reasons: &mut Vec<RefusalReason>) {
    let numbers: BTreeMap<DeviceNumber, &str> = family
        .iter()
        .filter(|member| member.number != DeviceNumber::default())
        .map(|member| (member.number, member.name.as_str()))
        .collect();
    let mut told = HashSet::new();
    for (whose, mounts) in all_mounts(root) {
        for mount in &mounts.entries {
            let by_source = || {
                let nodes = source_path(&mount.source)?;
                nodes
                    .to_string_lossy()
                    .split(':')
                    .filter_map(|node| node_number(root, Path::new(node)))
                    .find(|number| numbers.contains_key(number))
            };
            let number = match numbers.contains_key(&mount.device) {
                true => Some(mount.device),
                false if mount.device.major == 0 => by_source(),
                false => None,
            };
            let Some(name) = number.and_then(|number| numbers.get(&number)) else {
                continue;
            };
            let point = mount.point.display().to_string();
            if told.insert((name.to_string(), point.clone())) {
                let text = format!(
                    "{name} is mounted at {point}{whose} ({})",
                    mount.file_system
                );
                let advice = format!("umount {point}");
                reasons.push(RefusalReason::new("mounted", text, advice));
            }
        }
    }
    let base = Path::new("/sys/fs/btrfs");
    for id in root.names(base) {
        let names = root.names(base.join(&id).join("devices"));
        for member in family.iter().filter(|member| names.contains(&member.name)) {
            if !told.iter().any(|(name, _)| *name == member.name) {
                let text = format!("{} belongs to the mounted btrfs {id}", member.name);
                reasons.push(RefusalReason::new("mounted", text, ""));
            }
        }
    }
}

/// The mount tables of all name spaces: this one, then one process of each other.
fn all_mounts(root: &Root) -> Vec<(String, MountTable)> {
    let space_of = |who: &str| fs::read_link(root.path(format!("/proc/{who}/ns/mnt"))).ok();
    let mut known: HashSet<PathBuf> = space_of("self").into_iter().collect();
    let mut all = vec![(String::new(), MountTable::read(root))];
    for process in root.names("/proc") {
        if process.parse::<u32>().is_err() {
            continue;
        }
        let Some(space) = space_of(&process) else {
            continue;
        };
        if !known.insert(space) {
            continue;
        }
        if let Some(bytes) = root.read_bytes(format!("/proc/{process}/mountinfo")) {
            let whose = format!(" in the name space of process {process}");
            all.push((whose, MountTable::parse_mountinfo(&bytes)));
        }
    }
    all
}

fn swapped(root: &Root, family: &[BlockDevice], reasons: &mut Vec<RefusalReason>) {
    let bytes = root.read_bytes("/proc/swaps").unwrap_or_default();
    for line in bytes.split(|byte| *byte == b'\n').skip(1) {
        let node = line
            .split(|byte| byte.is_ascii_whitespace())
            .next()
            .unwrap_or_default();
        let node = String::from_utf8_lossy(&unescape(node)).into_owned();
        let Some(number) = node_number(root, Path::new(&node)) else {
            continue;
        };
        if let Some(member) = family.iter().find(|member| member.number == number) {
            let text = format!("{} is swap in use", member.name);
            let advice = format!("swapoff {node}");
            reasons.push(RefusalReason::new("swap", text, advice));
        }
    }
}

/// Another loop device on the same file, which may be mounted.
fn same_file(root: &Root, device: &BlockDevice, reasons: &mut Vec<RefusalReason>) {
    let Some(file) = device.line(root, "loop/backing_file") else {
        return;
    };
    let names = root.names("/sys/class/block");
    for other in names
        .iter()
        .filter(|name| name.starts_with("loop") && **name != device.name)
    {
        let same = root.line(format!("/sys/class/block/{other}/loop/backing_file"));
        if same.as_ref() == Some(&file) {
            let text = format!("{other} is attached to the same file, {file}");
            let advice = format!("losetup --detach /dev/{other}");
            reasons.push(RefusalReason::new("held", text, advice));
        }
    }
}

/// Kinds of partitions that hold a boot loader without any signature, by their GPT type.
const BOOT_TYPES: [(&str, &str); 3] = [
    (
        "21686148-6449-6e6f-744e-656564454649",
        "BIOS boot partition",
    ),
    (
        "9e1a2d38-c612-4316-aa26-8b49521e5a8b",
        "PReP boot partition",
    ),
    (
        "c12a7328-f81f-11d2-ba4b-00a0c93ec93b",
        "EFI system partition",
    ),
];

/// What a partition boots, by the type in its disk's GPT.
pub(super) fn boot_partition(root: &Root, device: &BlockDevice) -> Option<&'static str> {
    let parent = device.parent(root)?;
    let number: u32 = device.number(root, "partition")?;
    let recorded = root
        .read(format!("/run/udev/data/b{}", device.number))
        .and_then(|text| {
            let value = text
                .lines()
                .find_map(|l| l.strip_prefix("E:ID_PART_ENTRY_TYPE="));
            value.map(str::to_ascii_lowercase)
        });
    let kind = recorded.or_else(|| gpt_type(root, &parent, number))?;
    BOOT_TYPES
        .iter()
        .find(|(id, _)| *id == kind)
        .map(|(_, name)| *name)
}

/// The type of a partition, read from the GPT.
fn gpt_type(root: &Root, disk: &BlockDevice, number: u32) -> Option<String> {
    use std::os::unix::fs::FileExt;
    let file = fs::File::open(root.path(format!("/dev/{}", disk.name))).ok()?;
    let block: u64 = disk.number(root, "queue/logical_block_size").unwrap_or(512);
    let mut header = [0_u8; 92];
    file.read_exact_at(&mut header, block).ok()?;
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap_or_default());
    let entries_at = u64::from_le_bytes(header[72..80].try_into().unwrap_or_default());
    let entry_size = u64::from(word(84));
    let is_entry = (1..=word(80)).contains(&number) && (128..=4096).contains(&entry_size);
    if !header.starts_with(b"EFI PART") || !is_entry {
        return None;
    }
    let at = entries_at.checked_mul(block)?;
    let at = at.checked_add(entry_size * u64::from(number - 1))?;
    let mut id = [0_u8; 16];
    file.read_exact_at(&mut id, at).ok()?;
    Some(guid(id))
}

/// The first three groups of a GUID are little endian.
fn guid(id: [u8; 16]) -> String {
    let hex = |bytes: &mut dyn Iterator<Item = &u8>| -> String {
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    [
        hex(&mut id[0..4].iter().rev()),
        hex(&mut id[4..6].iter().rev()),
        hex(&mut id[6..8].iter().rev()),
        hex(&mut id[8..10].iter()),
        hex(&mut id[10..16].iter()),
    ]
    .join("-")
}

//! A leaf drive with everything sysfs and udev's records say about it.

mod ata;
mod link;
#[cfg(test)]
mod tests;
mod udev;

use std::path::{Path, PathBuf};

use fathom_model::Drive;
use sha2::{Digest, Sha256};

use crate::block::BlockDevice;
use crate::root::Root;

use ata::AtaIdentity;
use udev::UdevRecord;

/// Hexadecimal digits kept of the hash of a serial number.
const HASH_DIGITS: usize = 12;

/// What is read once and used by several attributes.
struct Sources<'a> {
    root: &'a Root,
    device: &'a BlockDevice,
    /// The directory behind the disk's `device` link.
    parent: PathBuf,
    ata: AtaIdentity,
    udev: UdevRecord,
}

impl<'a> Sources<'a> {
    fn new(root: &'a Root, device: &'a BlockDevice) -> Self {
        let parent = root
            .real_path(device.sys.join("device"))
            .unwrap_or_default();
        Self {
            root,
            device,
            ata: AtaIdentity::read(root, &parent),
            udev: UdevRecord::read(root, device.number),
            parent,
        }
    }
}

/// Describes a whole disk. In a virtual machine links are left out: what a hypervisor says of them
/// is made up, such as PCIe 1.0 x1 for an emulated NVMe drive.
pub(crate) fn describe_drive(root: &Root, device: &BlockDevice, is_virtual: bool) -> Drive {
    let sources = Sources::new(root, device);
    let transport = sources.transport();
    let link = match is_virtual {
        true => None,
        false => link::of_drive(root, &sources.parent, transport.as_deref(), &sources.ata),
    };
    let mut drive = Drive {
        name: device.name.clone(),
        device: device.number.to_string(),
        model: sources.model(),
        serial_hash: sources.serials().first().map(|serial| hash_serial(serial)),
        firmware: sources.firmware(),
        size_bytes: device.size_bytes(root),
        paths: nvme_paths(root, device),
        link,
        transport,
        ..Drive::default()
    };
    add_queue(root, device, &mut drive);
    drive
}

/// Adds the serial numbers of a description, for a user who asked to see them.
pub fn reveal_serials(root: &Root, drives: &mut [Drive]) {
    for drive in drives {
        if let Some(device) = BlockDevice::by_name(root, &drive.name) {
            drive.serial = serials_of(root, &device).into_iter().next();
        }
    }
}

/// The whole disks that one of whose serial numbers or world-wide names is this, described without
/// their links. More than one is two drives that cannot be told apart.
pub fn drives_with_serial(root: &Root, serial: &str) -> Vec<Drive> {
    let names = root.names("/sys/block");
    names
        .iter()
        .filter_map(|name| BlockDevice::by_name(root, name))
        // Hidden paths of a multipath drive have no node.
        .filter(|device| device.number != crate::mounts::DeviceNumber::default())
        .filter(|device| serials_of(root, device).iter().any(|own| own == serial))
        .map(|device| describe_drive(root, &device, true))
        .collect()
}

/// What names this very disk, best first: its serial number, then world-wide names.
pub(crate) fn serials_of(root: &Root, device: &BlockDevice) -> Vec<String> {
    Sources::new(root, device).serials()
}

fn add_queue(root: &Root, device: &BlockDevice, drive: &mut Drive) {
    let number = |file: &str| device.number::<u64>(root, &format!("queue/{file}"));
    let flag = |file: &str| number(file).map(|value| value != 0);
    drive.rotational = flag("rotational");
    drive.scheduler = device.queue(root, "scheduler").map(|text| chosen(&text));
    drive.write_cache = device.queue(root, "write_cache");
    drive.fua = flag("fua");
    drive.nr_requests = number("nr_requests");
    drive.read_ahead_bytes = number("read_ahead_kb").map(|kib| kib.saturating_mul(1024));
    drive.logical_block_bytes = number("logical_block_size");
    drive.physical_block_bytes = number("physical_block_size");
    drive.optimal_io_bytes = number("optimal_io_size").filter(|bytes| *bytes > 0);
    drive.discard_max_bytes = number("discard_max_bytes");
    drive.counts_io = flag("iostats");
    drive.zoned = device.queue(root, "zoned").filter(|zoned| zoned != "none");
    drive.removable = device
        .number::<u8>(root, "removable")
        .map(|value| value != 0);
}

/// The word in brackets of `none [mq-deadline] kyber`, or the only word.
pub(crate) fn chosen(text: &str) -> String {
    let bracketed = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    match bracketed {
        Some((word, _)) => word.trim().to_owned(),
        None => text.trim().to_owned(),
    }
}

/// The first digits of SHA-256 of a serial number without white space around it.
pub(crate) fn hash_serial(serial: &str) -> String {
    let digest = Sha256::digest(serial.trim().as_bytes());
    let mut text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    text.truncate(HASH_DIGITS);
    text
}

impl Sources<'_> {
    fn parent_line(&self, file: &str) -> Option<String> {
        if self.parent.as_os_str().is_empty() {
            return None;
        }
        self.root.line(self.parent.join(file))
    }

    fn model(&self) -> Option<String> {
        let by_sysfs = || {
            let model = self
                .parent_line("model")
                .or_else(|| self.parent_line("name"))?;
            let vendor = self.parent_line("vendor").filter(|vendor| {
                let is_id = vendor.starts_with("0x");
                !is_id && !["ATA", "NVMe"].contains(&vendor.as_str())
            });
            Some(
                match vendor.filter(|vendor| !model.starts_with(vendor.as_str())) {
                    Some(vendor) => format!("{vendor} {model}"),
                    None => model,
                },
            )
        };
        let is_scsi = self.parent_line("vendor").as_deref() == Some("ATA");
        // SCSI cuts an ATA drive's model to 16 characters; its own answer has all 40.
        let whole = self.ata.model.clone().or_else(|| self.udev.model());
        let text = match is_scsi {
            true => whole.or_else(by_sysfs),
            false => by_sysfs().or(whole),
        };
        text.map(|text| squeeze(&text))
            .filter(|text| !text.is_empty())
    }

    fn serials(&self) -> Vec<String> {
        let candidates = [
            self.device.line(self.root, "serial"),
            self.ata.serial.clone(),
            self.udev.value("ID_SCSI_SERIAL"),
            self.udev.value("ID_SERIAL_SHORT"),
            self.parent_line("serial"),
            self.vital_serial(),
            self.udev.value("ID_WWN_WITH_EXTENSION"),
            self.udev.value("ID_WWN"),
            self.device.line(self.root, "wwid"),
            self.parent_line("wwid"),
            self.parent_line("cid"),
        ];
        let mut known: Vec<String> = Vec::new();
        for text in candidates.into_iter().flatten().map(|text| squeeze(&text)) {
            if !text.is_empty() && !known.contains(&text) {
                known.push(text);
            }
        }
        known
    }

    /// Unit serial number page: four bytes of head, then text.
    fn vital_serial(&self) -> Option<String> {
        if self.parent.as_os_str().is_empty() {
            return None;
        }
        let page = self.root.read_bytes(self.parent.join("vpd_pg80"))?;
        let text = String::from_utf8_lossy(page.get(4..)?).into_owned();
        Some(
            text.trim_matches(|c: char| c == '\0' || c.is_whitespace())
                .to_owned(),
        )
    }

    fn firmware(&self) -> Option<String> {
        self.ata
            .firmware
            .clone()
            .or_else(|| self.parent_line("firmware_rev"))
            // SCSI cuts an ATA drive's revision to four characters.
            .or_else(|| self.udev.value("ID_REVISION"))
            .or_else(|| self.parent_line("rev"))
            .or_else(|| self.parent_line("fwrev"))
            .filter(|text| text != "0x0000000000000000")
    }

    fn transport(&self) -> Option<String> {
        let path = self.parent.to_str().unwrap_or_default();
        let name = self.device.name.as_str();
        let has = |part: &str| path.contains(part);
        let word = if name.starts_with("nvme") {
            return Some(self.nvme_transport());
        } else if name.starts_with("pmem") {
            "pmem"
        } else if name.starts_with("mmcblk") {
            "mmc"
        } else if name.starts_with("nbd") {
            "nbd"
        } else if name.starts_with("rbd") {
            "rbd"
        } else if name.starts_with("drbd") {
            "drbd"
        } else if has("/virtio") {
            "virtio"
        } else if has("/vmbus") || has("/VMBUS") {
            "vmbus"
        } else if has("/vbd-") || name.starts_with("xvd") {
            "xen"
        } else if has("/session") {
            "iscsi"
        } else if has("/usb") {
            "usb"
        } else if has("/ata") {
            "sata"
        } else if has("/end_device-") || has("/sas") {
            "sas"
        } else if has("/rport-") {
            "fc"
        } else if has("/host") {
            "scsi"
        } else {
            return None;
        };
        Some(word.to_owned())
    }

    /// `nvme` on PCIe, else with the fabric: `nvme-tcp`.
    fn nvme_transport(&self) -> String {
        let controllers = nvme_controllers(self.root, &self.parent);
        let transport = controllers
            .iter()
            .find_map(|controller| self.root.line(controller.join("transport")));
        match transport.as_deref() {
            None | Some("pcie") => "nvme".to_owned(),
            Some(fabric) => format!("nvme-{fabric}"),
        }
    }
}

/// Collapses runs of white space and drops it at the ends.
pub(crate) fn squeeze(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c == '\0')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The controllers that lead to a name space: the one it hangs under, or those of its subsystem.
fn nvme_controllers(root: &Root, parent: &Path) -> Vec<PathBuf> {
    let is_controller = |name: &str| {
        name.strip_prefix("nvme")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let name = parent
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    if is_controller(name) {
        return vec![parent.to_path_buf()];
    }
    root.names(parent)
        .iter()
        .filter(|name| is_controller(name))
        .filter_map(|name| root.real_path(parent.join(name)))
        .collect()
}

/// The hidden paths of a multipath name space: `nvme0c0n1` and `nvme0c1n1` of `nvme0n1`. The head
/// hangs under the subsystem, each path under a controller.
fn nvme_paths(root: &Root, device: &BlockDevice) -> Vec<String> {
    let Some((subsystem, namespace)) = split_nvme(&device.name) else {
        return Vec::new();
    };
    let prefix = format!("nvme{subsystem}c");
    let suffix = format!("n{namespace}");
    root.names("/sys/block")
        .into_iter()
        .filter(|name| {
            let middle = name
                .strip_prefix(&prefix)
                .and_then(|rest| rest.strip_suffix(&suffix));
            middle.is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
        .collect()
}

/// `nvme0n1` -> (`0`, `1`).
fn split_nvme(name: &str) -> Option<(&str, &str)> {
    let (subsystem, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (all_digits(subsystem) && all_digits(namespace)).then_some((subsystem, namespace))
}

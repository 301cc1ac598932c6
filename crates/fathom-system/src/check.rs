//! Whether a block device may be overwritten.

mod signature;
#[cfg(test)]
mod tests;
mod users;

use std::fmt;
use std::fs::File;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_base::Bytes;
use rustix::fs::{Mode, OFlags};

use crate::block::BlockDevice;
use crate::drive::{describe_drive, serials_of};
use crate::mounts::DeviceNumber;
use crate::root::Root;

use signature::Media;

/// A block device a run may overwrite. The exclusive claim lasts as long as this lives: nobody can
/// mount it, add it to an array or swap on it meanwhile.
#[derive(Debug)]
pub struct DeviceGrant {
    /// The device node without symbolic links.
    pub path: PathBuf,
    /// Kernel name.
    pub name: String,
    /// Major and minor number.
    pub device: String,
    /// Its size.
    pub size_bytes: u64,
    /// What the user consented with.
    pub consent: String,
    /// The first and last MiB hold nothing but zeros.
    pub is_blank: bool,
    claim: File,
}

impl DeviceGrant {
    /// The exclusive claim, open for reading and writing.
    pub fn claim(&self) -> &File {
        &self.claim
    }
}

/// One reason not to touch a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalReason {
    /// Stable name: `not-a-block-device`, `unknown`, `mounted`, `swap`, `held`, `stacked`,
    /// `partitions`, `signature`, `busy`, `read-only`, `empty`, `boot`, `permission`, `open`,
    /// `wrong-consent`, `no-consent`.
    pub kind: &'static str,
    /// What was found, and where.
    pub text: String,
    /// What to do; may be empty.
    pub advice: String,
}

impl RefusalReason {
    fn new(kind: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
            advice: advice.into(),
        }
    }
}

/// Why a device is left alone: every reason, not only the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// As given.
    pub path: PathBuf,
    /// What it is, where that is known: `nvme0n1, Samsung SSD 970 EVO 250GB, 250 GB`.
    pub device: String,
    /// At least one.
    pub reasons: Vec<RefusalReason>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not overwritten", self.path.display())?;
        if !self.device.is_empty() {
            write!(f, " ({})", self.device)?;
        }
        for reason in &self.reasons {
            write!(f, "\n  {}", reason.text)?;
            if !reason.advice.is_empty() {
                write!(f, "\n    {}", reason.advice)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// Checks that a block device holds nothing anybody could miss, and that the user consented to
/// overwrite it: by the serial number (or world-wide name) of the drive, `SERIAL-partN` for a
/// partition, the backing file for a loop device, and `NAME-SIZE` for a device that has none of
/// these.
///
/// Symbolic links are followed first, so that every name of a device gets the same answer.
///
/// # Errors
/// [`Refusal`] with every reason.
pub fn check_device(
    root: &Root,
    path: &Path,
    consent: Option<&str>,
) -> Result<DeviceGrant, Refusal> {
    let refuse = |device: String, reasons: Vec<RefusalReason>| Refusal {
        path: path.to_path_buf(),
        device,
        reasons,
    };
    let (node, number) =
        block_node(root, path).map_err(|reason| refuse(String::new(), vec![reason]))?;
    let Some(device) = BlockDevice::by_number(root, number) else {
        let text = format!("{number} is not in /sys/dev/block, so nothing can be known about it");
        let reason = RefusalReason::new("unknown", text, "mount sysfs at /sys");
        return Err(refuse(node.display().to_string(), vec![reason]));
    };
    let mut reasons = Vec::new();
    by_state(root, &device, &mut reasons);
    users::of(root, &device, &mut reasons);
    let claim = claim(&root.path(&node), number, &mut reasons);
    if let Some(file) = &claim {
        by_contents(&node, file, device.size_bytes(root), &mut reasons);
    }
    let tokens = tokens(root, &device);
    let agreed = consented(&node, consent, &tokens, &mut reasons);
    match (claim, agreed) {
        (Some(claim), Some(agreed)) if reasons.is_empty() => Ok(DeviceGrant {
            path: node,
            name: device.name.clone(),
            device: number.to_string(),
            size_bytes: device.size_bytes(root),
            consent: agreed,
            is_blank: signature::is_blank(&OpenDevice {
                file: &claim,
                size: device.size_bytes(root),
            }),
            claim,
        }),
        _ => Err(refuse(words(root, &device), reasons)),
    }
}

/// The node without links and its number.
fn block_node(root: &Root, path: &Path) -> Result<(PathBuf, DeviceNumber), RefusalReason> {
    let not_there = || {
        let text = format!("{} does not exist", path.display());
        RefusalReason::new("not-a-block-device", text, "lsblk lists the block devices")
    };
    let node = root.real_path(path).ok_or_else(not_there)?;
    let meta = std::fs::metadata(root.path(&node)).map_err(|_| not_there())?;
    if meta.file_type().is_block_device() {
        return Ok((node, DeviceNumber::from_raw(meta.rdev())));
    }
    if let Some(number) = crate::block::node_number(root, &node) {
        return Ok((node, number));
    }
    let kind = match () {
        () if meta.is_dir() => "a directory",
        () if meta.is_file() => "a regular file",
        () if meta.file_type().is_char_device() => "a character device",
        () => "neither a file nor a block device",
    };
    let text = format!("{} is {kind}, not a block device", node.display());
    let advice = "name a directory to test in it without destroying anything";
    Err(RefusalReason::new("not-a-block-device", text, advice))
}

/// What the kernel says of the device itself.
fn by_state(root: &Root, device: &BlockDevice, reasons: &mut Vec<RefusalReason>) {
    if device.size_bytes(root) == 0 {
        let text = format!("{} has no size: no medium or nothing attached", device.name);
        reasons.push(RefusalReason::new("empty", text, ""));
    }
    if device.number::<u8>(root, "ro") == Some(1) {
        let text = format!("{} is read-only", device.name);
        reasons.push(RefusalReason::new("read-only", text, ""));
    }
    let slaves = device.names(root, "slaves");
    if !slaves.is_empty() {
        let text = format!("{} is made of {}", device.name, slaves.join(", "));
        let advice = "test a drive itself, or a directory on a file system made on this device";
        reasons.push(RefusalReason::new("stacked", text, advice));
    }
    let partitions = device.partitions(root);
    if !partitions.is_empty() {
        let names: Vec<&str> = partitions.iter().map(|part| part.name.as_str()).collect();
        let text = format!("{} holds partitions: {}", device.name, names.join(", "));
        let advice = format!("look at them with lsblk /dev/{}", device.name);
        reasons.push(RefusalReason::new("partitions", text, advice));
    }
    if let Some(kind) = users::boot_partition(root, device) {
        let text = format!("{} is a {kind}: the machine may start from it", device.name);
        reasons.push(RefusalReason::new("boot", text, ""));
    }
}

/// Opens the device for this process alone. When somebody else holds it, it is opened for reading,
/// so that its signatures can be named as well.
fn claim(node: &Path, number: DeviceNumber, reasons: &mut Vec<RefusalReason>) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let shown = node.display();
    let file = match rustix::fs::open(node, flags, Mode::empty()) {
        Ok(file) => file,
        Err(rustix::io::Errno::BUSY) => {
            let text = format!("{shown} is in use: the kernel refuses an exclusive open");
            let advice = "lsblk and fuser -v show by whom";
            reasons.push(RefusalReason::new("busy", text, advice));
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
            rustix::fs::open(node, flags, Mode::empty()).ok()?
        }
        Err(error) => {
            let text = format!("open {shown}: {}", std::io::Error::from(error));
            let (kind, advice) = match error {
                rustix::io::Errno::ACCESS | rustix::io::Errno::PERM => {
                    ("permission", "run as root")
                }
                _ => ("open", ""),
            };
            reasons.push(RefusalReason::new(kind, text, advice));
            return None;
        }
    };
    let file = File::from(file);
    // The node may have been replaced since it was looked at.
    let is_same = file.metadata().is_ok_and(|meta| {
        meta.file_type().is_block_device() && DeviceNumber::from_raw(meta.rdev()) == number
    });
    if !is_same {
        let text = format!("{shown} became another device while it was checked");
        reasons.push(RefusalReason::new("busy", text, ""));
        return None;
    }
    Some(file)
}

fn by_contents(node: &Path, file: &File, size: u64, reasons: &mut Vec<RefusalReason>) {
    for found in signature::scan(&OpenDevice { file, size }) {
        let text = format!("it carries a {} (at byte {})", found.what, found.offset);
        let advice = format!(
            "if nothing on it is needed: wipefs --all {}, then try again",
            node.display()
        );
        reasons.push(RefusalReason::new("signature", text, advice));
    }
}

/// What a user may name this device by; the first is the one to ask for.
fn tokens(root: &Root, device: &BlockDevice) -> Vec<String> {
    if let Some(parent) = device.parent(root) {
        let number = device.line(root, "partition").unwrap_or_default();
        let of_parent = tokens(root, &parent);
        return of_parent
            .iter()
            .map(|token| format!("{token}-part{number}"))
            .collect();
    }
    if let Some(file) = device.line(root, "loop/backing_file") {
        return vec![file];
    }
    let serials = serials_of(root, device);
    match serials.is_empty() {
        true => vec![format!("{}-{}", device.name, device.size_bytes(root))],
        false => serials,
    }
}

fn consented(
    node: &Path,
    consent: Option<&str>,
    tokens: &[String],
    reasons: &mut Vec<RefusalReason>,
) -> Option<String> {
    let wanted = tokens.first().map_or("", String::as_str);
    match consent.map(str::trim) {
        Some(given) if tokens.iter().any(|token| token == given) => Some(given.to_owned()),
        Some(given) => {
            let text = format!("consent was given for \"{given}\", but this is \"{wanted}\"");
            reasons.push(RefusalReason::new("wrong-consent", text, ""));
            None
        }
        // Asking for consent to destroy what must not be destroyed would be an invitation.
        None if reasons.is_empty() => {
            let text = format!("everything on {} would be destroyed", node.display());
            let advice = format!("to consent, add: --destroy '{wanted}'");
            reasons.push(RefusalReason::new("no-consent", text, advice));
            None
        }
        None => None,
    }
}

fn words(root: &Root, device: &BlockDevice) -> String {
    let whole = device.parent(root).unwrap_or_else(|| device.clone());
    let drive = describe_drive(root, &whole, true);
    let backing = device.line(root, "loop/backing_file");
    let mut words = vec![device.name.clone()];
    words.extend(drive.model);
    words.extend(backing);
    words.push(Bytes::new(device.size_bytes(root)).rough());
    words.join(", ")
}

/// A device as the scan reads it.
struct OpenDevice<'a> {
    file: &'a File,
    size: u64,
}

impl Media for OpenDevice<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> bool {
        self.file.read_exact_at(buffer, offset).is_ok()
    }
}

//! The mount table: `/proc/self/mountinfo`, else `/proc/mounts`.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::root::Root;

#[cfg(test)]
mod tests;

/// Mounts that are read; a table with more is cut.
const MOUNT_LIMIT: usize = 20_000;

/// Major and minor number of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    /// From `259:2`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// From the number of a system call.
    pub fn from_raw(raw: u64) -> Self {
        Self {
            major: rustix::fs::major(raw),
            minor: rustix::fs::minor(raw),
        }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// One mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountEntry {
    pub id: u64,
    pub parent: u64,
    pub device: DeviceNumber,
    /// The directory of the file system that is mounted.
    pub root: PathBuf,
    pub point: PathBuf,
    pub options: Vec<String>,
    pub file_system: String,
    pub source: OsString,
    pub super_options: Vec<String>,
}

impl MountEntry {
    /// Mount and super block options, each once, sorted.
    pub fn all_options(&self) -> Vec<String> {
        let mut all: Vec<String> = self
            .options
            .iter()
            .chain(&self.super_options)
            .cloned()
            .collect();
        all.sort_unstable();
        all.dedup();
        // The super block may be writable under a mount that is not.
        if self.options.iter().any(|option| option == "ro") {
            all.retain(|option| option != "rw");
        }
        all
    }

    /// The value of `name=value` among the options.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.super_options
            .iter()
            .chain(&self.options)
            .find_map(|option| {
                let (known, value) = option.split_once('=')?;
                (known == name).then_some(value)
            })
    }

    /// Whether a flag is among the options.
    pub fn has(&self, name: &str) -> bool {
        let mut all = self.super_options.iter().chain(&self.options);
        all.any(|option| option == name)
    }
}

/// All mounts of this process's name space, in the order the kernel lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountTable {
    pub entries: Vec<MountEntry>,
}

impl MountTable {
    /// Reads the table of this process.
    pub fn read(root: &Root) -> Self {
        if let Some(bytes) = root.read_bytes("/proc/self/mountinfo") {
            return Self::parse_mountinfo(&bytes);
        }
        let bytes = root.read_bytes("/proc/self/mounts");
        let bytes = bytes.or_else(|| root.read_bytes("/proc/mounts"));
        Self::parse_mounts(&bytes.unwrap_or_default())
    }

    /// Reads the format of `/proc/PID/mountinfo`; lines that are not understood are skipped.
    pub fn parse_mountinfo(bytes: &[u8]) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(mountinfo_line).take(MOUNT_LIMIT);
        Self {
            entries: entries.collect(),
        }
    }

    /// Reads the format of `/proc/mounts`, which has neither ids nor device numbers.
    pub fn parse_mounts(bytes: &[u8]) -> Self {
        let lines = bytes.split(|byte| *byte == b'\n');
        let entries = lines.filter_map(mounts_line).take(MOUNT_LIMIT);
        Self {
            entries: entries.collect(),
        }
    }

    /// The mount of an id, as `statx` gives it.
    pub fn by_id(&self, id: u64) -> Option<&MountEntry> {
        self.entries.iter().find(|mount| mount.id == id)
    }

    /// The mount a path without symbolic links lies on.
    ///
    /// Goes down the tree of mounts as the kernel does when it walks the path: a mount hides what
    /// was mounted below its point before.
    pub fn find(&self, path: &Path) -> Option<&MountEntry> {
        if self.entries.iter().all(|mount| mount.id == 0) {
            return self.find_by_length(path);
        }
        let known: std::collections::HashSet<u64> =
            self.entries.iter().map(|mount| mount.id).collect();
        let is_top =
            |mount: &&MountEntry| !known.contains(&mount.parent) || mount.parent == mount.id;
        let tops = self.entries.iter().filter(is_top);
        let mut at = tops
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count())?;
        // Each step goes to another mount; a table with a loop in it ends here.
        for _ in 0..self.entries.len() {
            let below = self.entries.iter().filter(|mount| {
                mount.parent == at.id && mount.id != at.id && path.starts_with(&mount.point)
            });
            match below.min_by_key(|mount| mount.point.components().count()) {
                Some(next) => at = next,
                None => break,
            }
        }
        Some(at)
    }

    /// Without ids: the longest mount point, of equal ones the last.
    fn find_by_length(&self, path: &Path) -> Option<&MountEntry> {
        self.entries
            .iter()
            .filter(|mount| path.starts_with(&mount.point))
            .max_by_key(|mount| mount.point.components().count())
    }
}

fn mountinfo_line(line: &[u8]) -> Option<MountEntry> {
    // A source may be empty, which leaves two spaces: fields are between single spaces.
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let number = |at: usize| text(fields.get(at)?).parse().ok();
    Some(MountEntry {
        id: number(0)?,
        parent: number(1)?,
        device: DeviceNumber::parse(&text(fields.get(2)?))?,
        root: path(fields.get(3)?),
        point: path(fields.get(4)?),
        options: options(fields.get(5)?),
        file_system: text(fields.get(dash + 1)?),
        source: OsString::from_vec(unescape(fields.get(dash + 2)?)),
        super_options: fields
            .get(dash + 3)
            .map(|field| options(field))
            .unwrap_or_default(),
    })
}

fn mounts_line(line: &[u8]) -> Option<MountEntry> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let point = path(fields.get(1)?);
    if !point.is_absolute() {
        return None;
    }
    Some(MountEntry {
        root: PathBuf::from("/"),
        point,
        options: options(fields.get(3)?),
        file_system: text(fields.get(2)?),
        source: OsString::from_vec(unescape(fields.first()?)),
        ..MountEntry::default()
    })
}

fn text(field: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(field)).into_owned()
}

fn path(field: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(unescape(field)))
}

/// Options between commas. A comma inside a value is written `\054` or, by overlayfs, `\,`.
fn options(field: &[u8]) -> Vec<String> {
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    let mut bytes = field.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, parts.last_mut()) {
            (b',', _) => parts.push(Vec::new()),
            (b'\\', Some(part)) if bytes.peek() == Some(&b',') => {
                part.extend_from_slice(b"\\054");
                bytes.next();
            }
            (_, Some(part)) => part.push(byte),
            (_, None) => {}
        }
    }
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| text(part))
        .collect()
}

/// Turns `\040` and its like (three octal digits) into the byte they stand for.
pub(crate) fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, tail)) = rest.split_first() {
        let octal = |digits: &[u8]| {
            let all = digits.iter().all(|digit| (b'0'..=b'7').contains(digit));
            all.then(|| {
                digits
                    .iter()
                    .fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'))
            })
        };
        let value = tail.get(..3).filter(|_| byte == b'\\').and_then(octal);
        match value.and_then(|value| u8::try_from(value).ok()) {
            Some(value) => {
                out.push(value);
                rest = &tail[3..];
            }
            None => {
                out.push(byte);
                rest = tail;
            }
        }
    }
    out
}

/// The device node or path a source names, when it names one.
pub(crate) fn source_path(source: &std::ffi::OsStr) -> Option<PathBuf> {
    source
        .as_bytes()
        .starts_with(b"/")
        .then(|| PathBuf::from(source))
}

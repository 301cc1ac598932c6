//! The words of a matrix file.

use serde::{Deserialize, Serialize};

/// How the devices of a configuration are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// Each device on its own.
    Single,
    /// Striped.
    Raid0,
    /// Mirrored.
    Raid1,
    /// Striped over mirrors.
    Raid10,
    /// Striped with parity.
    Raid5,
}

/// Who puts them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaidBy {
    /// Linux software RAID.
    Md,
    /// The file system itself.
    Btrfs,
}

/// Whether what is written is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encryption {
    /// It is not.
    None,
    /// By dm-crypt, in the format of LUKS 2, with a key that is thrown away.
    Luks,
}

/// A file system Fathom can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSystemKind {
    /// ext2.
    Ext2,
    /// ext3.
    Ext3,
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// Btrfs.
    Btrfs,
    /// F2FS.
    F2fs,
}

impl Layout {
    /// All, with their words.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Single, "single"),
        (Self::Raid0, "raid0"),
        (Self::Raid1, "raid1"),
        (Self::Raid10, "raid10"),
        (Self::Raid5, "raid5"),
    ];

    /// As it stands in a file.
    pub fn word(self) -> &'static str {
        word_of(self, &Self::ALL)
    }

    /// Devices it needs at least.
    pub fn least_devices(self) -> usize {
        match self {
            Self::Single => 1,
            Self::Raid0 | Self::Raid1 => 2,
            Self::Raid5 => 3,
            Self::Raid10 => 4,
        }
    }

    /// Bytes that can be used of so many devices of one size.
    pub fn capacity(self, devices: u64, size: u64) -> u64 {
        match self {
            Self::Single | Self::Raid0 => size.saturating_mul(devices),
            Self::Raid1 => size,
            Self::Raid10 => size.saturating_mul(devices / 2),
            Self::Raid5 => size.saturating_mul(devices.saturating_sub(1)),
        }
    }
}

impl RaidBy {
    /// All, with their words.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Md, "md"), (Self::Btrfs, "btrfs")];

    /// As it stands in a file.
    pub fn word(self) -> &'static str {
        word_of(self, &Self::ALL)
    }
}

impl Encryption {
    /// All, with their words.
    pub const ALL: [(Self, &'static str); 2] = [(Self::None, "none"), (Self::Luks, "luks")];

    /// As it stands in a file.
    pub fn word(self) -> &'static str {
        word_of(self, &Self::ALL)
    }
}

impl FileSystemKind {
    /// All, with their words.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Ext2, "ext2"),
        (Self::Ext3, "ext3"),
        (Self::Ext4, "ext4"),
        (Self::Xfs, "xfs"),
        (Self::Btrfs, "btrfs"),
        (Self::F2fs, "f2fs"),
    ];

    /// As the kernel names it.
    pub fn word(self) -> &'static str {
        word_of(self, &Self::ALL)
    }

    /// As people write it.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Ext2 => "EXT2",
            Self::Ext3 => "EXT3",
            Self::Ext4 => "EXT4",
            Self::Xfs => "XFS",
            Self::Btrfs => "Btrfs",
            Self::F2fs => "F2FS",
        }
    }

    /// The program that makes it.
    pub fn mkfs(self) -> &'static str {
        match self {
            Self::Ext2 => "mkfs.ext2",
            Self::Ext3 => "mkfs.ext3",
            Self::Ext4 => "mkfs.ext4",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
            Self::F2fs => "mkfs.f2fs",
        }
    }

    /// Where that program comes from.
    pub fn package(self) -> &'static str {
        match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 => "e2fsprogs",
            Self::Xfs => "xfsprogs",
            Self::Btrfs => "btrfs-progs",
            Self::F2fs => "f2fs-tools",
        }
    }
}

fn word_of<T: Copy + PartialEq>(value: T, all: &[(T, &'static str)]) -> &'static str {
    all.iter()
        .find(|(known, _)| *known == value)
        .map_or("", |(_, word)| word)
}

/// The value of a word.
pub(crate) fn by_word<T: Copy>(word: &str, all: &[(T, &'static str)]) -> Option<T> {
    all.iter()
        .find(|(_, known)| *known == word)
        .map(|(value, _)| *value)
}

/// The words, for messages.
pub(crate) fn words<T: Copy>(all: &[(T, &'static str)]) -> String {
    let words: Vec<&str> = all.iter().map(|(_, word)| *word).collect();
    words.join(", ")
}

/// A file system with how it is made and mounted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSystemSpec {
    /// Which.
    pub kind: FileSystemKind,
    /// Further arguments of the program that makes it.
    pub mkfs: Vec<String>,
    /// Mount options, separated by commas; empty for the defaults.
    pub mount: String,
    /// Its name in the names of systems; made of kind and options when not said.
    pub name: Option<String>,
}

impl FileSystemSpec {
    /// `EXT4`, `Btrfs + LZO`, `XFS + noatime`.
    pub fn shown(&self) -> String {
        if let Some(name) = &self.name {
            return name.clone();
        }
        let mut parts = vec![self.kind.shown().to_owned()];
        for option in self.mount.split(',').filter(|option| !option.is_empty()) {
            parts.push(match option.split_once('=') {
                Some(("compress" | "compress-force", what)) => what.to_ascii_uppercase(),
                _ => option.to_owned(),
            });
        }
        parts.extend((!self.mkfs.is_empty()).then(|| self.mkfs.join(" ")));
        parts.join(" + ")
    }
}

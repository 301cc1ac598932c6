use std::collections::BTreeMap;

use crate::devices::DeviceFacts;
use crate::kind::{Encryption, FileSystemSpec, Layout, RaidBy};

/// A way to set the devices up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Its place in the file, from 0.
    pub number: usize,
    /// The name of its system: `2 x 120GB Force MP500 F2FS RAID0`.
    pub identifier: String,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// How they are put together.
    pub layout: Layout,
    /// By whom.
    pub raid: RaidBy,
    /// Whether it is encrypted.
    pub encryption: Encryption,
    /// What is made on top.
    pub file_system: FileSystemSpec,
    /// The scheduler of its devices; theirs when it is absent.
    pub scheduler: Option<String>,
    /// Factors to group results by.
    pub labels: BTreeMap<String, String>,
    /// Bytes it can hold, about.
    pub capacity_bytes: u64,
}

/// A configuration before its devices were looked at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    /// Where its group stands in the file.
    pub at: usize,
    pub devices: Vec<String>,
    pub layout: Layout,
    pub raid: RaidBy,
    pub encryption: Encryption,
    pub file_system: FileSystemSpec,
    pub scheduler: Option<String>,
    pub identifier: Option<String>,
}

impl Draft {
    pub fn named(&self, number: usize, facts: &[DeviceFacts]) -> Configuration {
        let own: Vec<&DeviceFacts> = self
            .devices
            .iter()
            .filter_map(|name| facts.iter().find(|facts| facts.name == *name))
            .collect();
        let smallest = own.iter().map(|facts| facts.size_bytes).min().unwrap_or(0);
        let drive = drives(&own);
        Configuration {
            number,
            identifier: self
                .identifier
                .clone()
                .unwrap_or_else(|| self.identifier(&drive)),
            labels: self.labels(&kinds(&own)),
            devices: self.devices.clone(),
            layout: self.layout,
            raid: self.raid,
            encryption: self.encryption,
            file_system: self.file_system.clone(),
            scheduler: self.scheduler.clone(),
            capacity_bytes: self.layout.capacity(own.len() as u64, smallest),
        }
    }

    fn identifier(&self, drive: &str) -> String {
        let mut words = vec![drive.to_owned(), self.file_system.shown()];
        if self.layout != Layout::Single {
            let is_usual = (self.raid == RaidBy::Btrfs)
                == (self.file_system.kind == crate::kind::FileSystemKind::Btrfs);
            let level = self.layout.word().to_ascii_uppercase();
            words.push(match is_usual {
                true => level,
                false => format!("{} {level}", self.raid.word()),
            });
        }
        if self.encryption == Encryption::Luks {
            words.push("LUKS".to_owned());
        }
        words.extend(self.scheduler.clone());
        words.join(" ")
    }

    fn labels(&self, drive: &str) -> BTreeMap<String, String> {
        let or = |text: &str, default: &str| match text {
            "" => default.to_owned(),
            text => text.to_owned(),
        };
        let raid = match self.layout {
            Layout::Single => "none",
            _ => self.raid.word(),
        };
        let pairs = [
            ("drive", drive.to_owned()),
            ("drives", self.devices.len().to_string()),
            ("layout", self.layout.word().to_owned()),
            ("raid", raid.to_owned()),
            ("encryption", self.encryption.word().to_owned()),
            ("file-system", self.file_system.kind.word().to_owned()),
            ("mount-options", or(&self.file_system.mount, "defaults")),
            (
                "mkfs-options",
                or(&self.file_system.mkfs.join(" "), "defaults"),
            ),
            (
                "scheduler",
                self.scheduler
                    .clone()
                    .unwrap_or_else(|| "default".to_owned()),
            ),
        ];
        pairs
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

/// `Force MP500 120GB`, however many: what is the same whatever the layout.
fn kinds(own: &[&DeviceFacts]) -> String {
    let mut kinds: Vec<String> = own.iter().map(|facts| facts.alone()).collect();
    kinds.dedup();
    kinds.join(" + ")
}

/// `Force MP500 120GB` alone, `2 x 120GB Force MP500` together, `A + B` for a mixture.
fn drives(own: &[&DeviceFacts]) -> String {
    match own {
        [] => String::new(),
        [one] => one.alone(),
        [first, rest @ ..] => {
            let is_same = |other: &&DeviceFacts| other.together() == first.together();
            match rest.iter().all(is_same) {
                true => format!("{} x {}", own.len(), first.together()),
                false => own
                    .iter()
                    .map(|facts| facts.alone())
                    .collect::<Vec<_>>()
                    .join(" + "),
            }
        }
    }
}

//! The matrix file.

use std::collections::BTreeMap;

use fathom_base::Bytes;
use fathom_runner::suite::Place;
use fathom_runner::{Override, RunSettings};
use serde::Deserialize;
use toml::Spanned;

use crate::configuration::{Configuration, Draft};
use crate::devices::DeviceFacts;
use crate::error::MatrixError;
use crate::kind::{Encryption, FileSystemKind, FileSystemSpec, Layout, RaidBy, by_word, words};

#[cfg(test)]
mod tests;

/// The version of the matrix format this code reads.
const FORMAT: i64 = 1;
/// Devices of a matrix at most.
const DEVICES_LIMIT: usize = 256;
/// Configurations of a matrix at most.
const CONFIGURATIONS_LIMIT: usize = 1000;
/// Blocks at most.
const BLOCKS_LIMIT: u32 = 1000;
/// Blocks when nobody says: three give an interval.
const BLOCKS: u32 = 3;
const NAME_LIMIT: usize = 64;

/// What is measured on what.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixFile {
    /// The name its result is saved under.
    pub name: String,
    /// For people.
    pub title: String,
    /// A few sentences.
    pub description: String,
    /// Suites and tests, as `fathom run` takes them.
    pub suites: Vec<String>,
    /// Options said over them.
    pub overrides: Vec<Override>,
    /// How long and how often, within one block; one trial where nothing is said, since blocks
    /// repeat.
    pub run: RunSettings,
    /// Where the order comes from; drawn when it is absent.
    pub seed: Option<u64>,
    /// How often every configuration is built and measured.
    pub blocks: u32,
    /// The devices.
    pub devices: Vec<DeviceSpec>,
    /// The text it was read from.
    pub text: String,
    drafts: Vec<Draft>,
}

/// A device as the file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceSpec {
    /// Its name in the file.
    pub name: String,
    /// Where it is.
    pub source: DeviceSource,
    /// Model for the names of systems; the drive's own when it is absent.
    pub model: Option<String>,
    /// Capacity for the names of systems; made of its size when it is absent.
    pub capacity: Option<String>,
}

/// Where a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceSource {
    /// The drive of this serial number: needs consent.
    Serial(String),
    /// A loop device on a file of this size that Fathom makes.
    Loop(Bytes),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Raw {
    format: Spanned<i64>,
    name: Spanned<String>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: String,
    suites: Spanned<Vec<String>>,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, OneOrMany<Scalar>>,
    #[serde(default)]
    run: BTreeMap<Spanned<String>, Scalar>,
    seed: Option<u64>,
    blocks: Option<Spanned<u32>>,
    #[serde(rename = "device")]
    devices: Spanned<Vec<Spanned<RawDevice>>>,
    #[serde(rename = "group")]
    groups: Spanned<Vec<Spanned<RawGroup>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawDevice {
    name: String,
    serial: Option<String>,
    #[serde(rename = "loop")]
    loop_size: Option<String>,
    model: Option<String>,
    capacity: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawGroup {
    devices: Vec<String>,
    layout: Option<OneOrMany<String>>,
    raid: Option<String>,
    encryption: Option<OneOrMany<String>>,
    file_system: OneOrMany<RawFileSystem>,
    scheduler: Option<OneOrMany<String>>,
    identifier: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawFileSystem {
    Word(String),
    Table(RawFileSystemTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFileSystemTable {
    r#type: String,
    #[serde(default)]
    mkfs: Vec<String>,
    #[serde(default)]
    mount: String,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Text(String),
    Whole(i64),
    Number(f64),
    Truth(bool),
}

impl<T> OneOrMany<T> {
    fn list(self) -> Vec<T> {
        match self {
            Self::Many(list) => list,
            Self::One(one) => vec![one],
        }
    }
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Truth(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        }
    }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
}

impl Reader<'_> {
    fn wrong(&self, at: usize, what: impl Into<String>) -> MatrixError {
        let place = Place::of(self.text, at);
        MatrixError::File {
            file: self.file.to_owned(),
            line: place.line,
            column: place.column,
            what: what.into(),
        }
    }
}

impl MatrixFile {
    /// Reads a matrix; `file` is only for messages.
    ///
    /// # Errors
    /// [`MatrixError::File`] with line, column and what was expected.
    pub fn parse(file: &str, text: &str) -> Result<Self, MatrixError> {
        let reader = Reader { file, text };
        let raw: Raw = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            reader.wrong(at, error.message().trim().replace('\n', ", "))
        })?;
        reader.head(&raw)?;
        let devices = reader.devices(&raw.devices)?;
        let mut drafts = Vec::new();
        let groups_at = raw.groups.span().start;
        for group in raw.groups.into_inner() {
            let at = group.span().start;
            reader.group(at, group.into_inner(), &devices, &mut drafts)?;
        }
        if drafts.is_empty() || drafts.len() > CONFIGURATIONS_LIMIT {
            let what = format!(
                "the groups give {} configurations; expected from 1 to {CONFIGURATIONS_LIMIT}",
                drafts.len()
            );
            return Err(reader.wrong(groups_at, what));
        }
        let name = raw.name.into_inner();
        Ok(Self {
            title: match raw.title.trim() {
                "" => name.clone(),
                title => title.to_owned(),
            },
            name,
            description: raw.description.trim().to_owned(),
            suites: raw.suites.into_inner(),
            overrides: raw.options.into_iter().map(over).collect(),
            run: reader.run(&raw.run)?,
            seed: raw.seed,
            blocks: raw.blocks.map_or(BLOCKS, Spanned::into_inner),
            devices,
            text: text.to_owned(),
            drafts,
        })
    }

    /// The configurations in the order of the file, with the names of their systems; every device
    /// must have its facts.
    ///
    /// # Errors
    /// [`MatrixError::File`] when two have one name.
    pub fn configurations(&self, facts: &[DeviceFacts]) -> Result<Vec<Configuration>, MatrixError> {
        let mut all: Vec<Configuration> = Vec::new();
        for (number, draft) in self.drafts.iter().enumerate() {
            let configuration = draft.named(number, facts);
            if all
                .iter()
                .any(|other| other.identifier == configuration.identifier)
            {
                let place = Place::of(&self.text, draft.at);
                return Err(MatrixError::File {
                    file: self.name.clone(),
                    line: place.line,
                    column: place.column,
                    what: format!(
                        "two configurations are called \"{}\"; give one an identifier, its devices \
                         a model, or its file system a name",
                        configuration.identifier
                    ),
                });
            }
            all.push(configuration);
        }
        Ok(all)
    }

    /// Facts of the devices that are loop files: known without looking at the machine.
    pub fn loop_facts(&self) -> Vec<DeviceFacts> {
        let loops = self.devices.iter();
        loops
            .filter_map(|device| match device.source {
                DeviceSource::Loop(size) => Some(DeviceFacts::of_loop(device, size)),
                DeviceSource::Serial(_) => None,
            })
            .collect()
    }

    /// The serial numbers of its drives.
    pub fn serials(&self) -> Vec<&str> {
        let serials = self.devices.iter();
        serials
            .filter_map(|device| match &device.source {
                DeviceSource::Serial(serial) => Some(serial.as_str()),
                DeviceSource::Loop(_) => None,
            })
            .collect()
    }
}

fn over((name, values): (Spanned<String>, OneOrMany<Scalar>)) -> Override {
    let name = name.into_inner();
    let (test, name) = match name.split_once('.') {
        Some((test, name)) => (Some(test.to_owned()), name.to_owned()),
        None => (None, name),
    };
    let values = values.list().iter().map(Scalar::text).collect();
    Override { test, name, values }
}

impl Reader<'_> {
    fn head(&self, raw: &Raw) -> Result<(), MatrixError> {
        let format = *raw.format.get_ref();
        if format != FORMAT {
            let what = format!("format {format} is not known; expected format {FORMAT}");
            return Err(self.wrong(raw.format.span().start, what));
        }
        let name = raw.name.get_ref();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphanumeric());
        if !starts_well || name.len() > NAME_LIMIT || !name.bytes().all(is_plain) {
            let what = format!(
                "name \"{name}\" is not accepted; expected letters, digits, dashes, underscores \
                 and dots, a letter or digit first, at most {NAME_LIMIT} characters"
            );
            return Err(self.wrong(raw.name.span().start, what));
        }
        if raw.suites.get_ref().is_empty() {
            let what = "suites is empty; expected names of suites or tests";
            return Err(self.wrong(raw.suites.span().start, what));
        }
        if let Some(blocks) = &raw.blocks
            && !(1..=BLOCKS_LIMIT).contains(blocks.get_ref())
        {
            let what = format!("blocks: expected a number from 1 to {BLOCKS_LIMIT}");
            return Err(self.wrong(blocks.span().start, what));
        }
        Ok(())
    }

    fn run(&self, raw: &BTreeMap<Spanned<String>, Scalar>) -> Result<RunSettings, MatrixError> {
        let mut settings = RunSettings::default();
        for (name, value) in raw {
            settings
                .set(name.get_ref(), &value.text())
                .map_err(|error| self.wrong(name.span().start, error.to_string()))?;
        }
        if settings.min_trials.is_none() && settings.max_trials.is_none() {
            settings.min_trials = Some(1);
            settings.max_trials = Some(1);
        }
        let at = raw.keys().next().map_or(0, |name| name.span().start);
        settings
            .trials()
            .map_err(|error| self.wrong(at, error.to_string()))?;
        Ok(settings)
    }

    fn devices(
        &self,
        raw: &Spanned<Vec<Spanned<RawDevice>>>,
    ) -> Result<Vec<DeviceSpec>, MatrixError> {
        let mut all: Vec<DeviceSpec> = Vec::new();
        if raw.get_ref().len() > DEVICES_LIMIT {
            let what = format!("a matrix has at most {DEVICES_LIMIT} devices");
            return Err(self.wrong(raw.span().start, what));
        }
        for row in raw.get_ref() {
            let at = row.span().start;
            let device = self.device(at, row.get_ref())?;
            let is_same = |other: &DeviceSpec| {
                other.name == device.name
                    || (other.source == device.source
                        && matches!(other.source, DeviceSource::Serial(_)))
            };
            if all.iter().any(is_same) {
                let what = format!("device \"{}\" is named twice", device.name);
                return Err(self.wrong(at, what));
            }
            all.push(device);
        }
        Ok(all)
    }

    fn device(&self, at: usize, row: &RawDevice) -> Result<DeviceSpec, MatrixError> {
        const LEAST: Bytes = Bytes::new(16 << 20);
        let name = row.name.clone();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.len() > NAME_LIMIT || !name.chars().all(is_plain) {
            let what = "device name: expected letters, digits, dashes, underscores and dots";
            return Err(self.wrong(at, what));
        }
        let source = match (&row.serial, &row.loop_size) {
            (Some(serial), None) if !serial.trim().is_empty() => {
                DeviceSource::Serial(serial.trim().to_owned())
            }
            (None, Some(size)) => match size.parse::<Bytes>() {
                Ok(size) if size >= LEAST => DeviceSource::Loop(size),
                _ => {
                    let what = format!("loop = \"{size}\": expected a size of at least 16MiB");
                    return Err(self.wrong(at, what));
                }
            },
            _ => {
                let what = format!(
                    "device \"{name}\" needs a serial number (serial = \"...\") or the size of a \
                     loop file (loop = \"1GiB\"), and not both"
                );
                return Err(self.wrong(at, what));
            }
        };
        let text = |text: &Option<String>| text.as_deref().map(one_line).filter(|t| !t.is_empty());
        Ok(DeviceSpec {
            source,
            model: text(&row.model),
            capacity: text(&row.capacity),
            name,
        })
    }

    /// Every combination of a group.
    fn group(
        &self,
        at: usize,
        group: RawGroup,
        devices: &[DeviceSpec],
        drafts: &mut Vec<Draft>,
    ) -> Result<(), MatrixError> {
        let before = drafts.len();
        let names = self.group_devices(at, &group.devices, devices)?;
        let layouts = self.values(at, "layout", group.layout, Layout::Single, &Layout::ALL)?;
        let locks = self.values(
            at,
            "encryption",
            group.encryption,
            Encryption::None,
            &Encryption::ALL,
        )?;
        let schedulers: Vec<Option<String>> = match group.scheduler {
            None => vec![None],
            Some(list) => list.list().into_iter().map(Some).collect(),
        };
        for scheduler in schedulers.iter().flatten() {
            if scheduler.is_empty()
                || !scheduler
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            {
                let what = format!("scheduler \"{scheduler}\": expected the name of a scheduler");
                return Err(self.wrong(at, what));
            }
        }
        let systems = group.file_system.list();
        let systems: Vec<FileSystemSpec> = systems
            .into_iter()
            .map(|raw| self.file_system(at, raw))
            .collect::<Result<_, _>>()?;
        for layout in layouts {
            for system in &systems {
                let raid = self.raid(at, group.raid.as_deref(), layout, system.kind)?;
                for sets in device_sets(layout, &names) {
                    self.enough(at, layout, sets.len())?;
                    for encryption in &locks {
                        for scheduler in &schedulers {
                            drafts.push(Draft {
                                at,
                                devices: sets.clone(),
                                layout,
                                raid,
                                encryption: *encryption,
                                file_system: system.clone(),
                                scheduler: scheduler.clone(),
                                identifier: group.identifier.as_deref().map(one_line),
                            });
                        }
                    }
                }
            }
        }
        if group.identifier.is_some() && drafts.len() - before > 1 {
            let what = "identifier names one system, and this group gives several configurations";
            return Err(self.wrong(at, what));
        }
        Ok(())
    }

    fn group_devices(
        &self,
        at: usize,
        names: &[String],
        devices: &[DeviceSpec],
    ) -> Result<Vec<String>, MatrixError> {
        for (place, name) in names.iter().enumerate() {
            if !devices.iter().any(|device| device.name == *name) {
                let known: Vec<&str> = devices.iter().map(|d| d.name.as_str()).collect();
                let what = format!(
                    "there is no device \"{name}\"; expected one of {}",
                    known.join(", ")
                );
                return Err(self.wrong(at, what));
            }
            if names[..place].contains(name) {
                return Err(self.wrong(at, format!("device \"{name}\" is named twice")));
            }
        }
        match names.is_empty() {
            true => Err(self.wrong(at, "devices is empty")),
            false => Ok(names.to_vec()),
        }
    }

    fn values<T: Copy>(
        &self,
        at: usize,
        what: &str,
        said: Option<OneOrMany<String>>,
        default: T,
        all: &[(T, &'static str)],
    ) -> Result<Vec<T>, MatrixError> {
        let Some(said) = said else {
            return Ok(vec![default]);
        };
        let said = said.list();
        if said.is_empty() {
            return Err(self.wrong(at, format!("{what} is an empty list")));
        }
        said.iter()
            .map(|word| {
                by_word(word, all).ok_or_else(|| {
                    let what = format!("{what} \"{word}\"; expected one of {}", words(all));
                    self.wrong(at, what)
                })
            })
            .collect()
    }

    /// Who puts the devices together: the file system where it can, else md.
    fn raid(
        &self,
        at: usize,
        said: Option<&str>,
        layout: Layout,
        kind: FileSystemKind,
    ) -> Result<RaidBy, MatrixError> {
        let can = kind == FileSystemKind::Btrfs && layout != Layout::Single;
        let Some(word) = said else {
            return Ok(if can { RaidBy::Btrfs } else { RaidBy::Md });
        };
        match by_word(word, &RaidBy::ALL) {
            Some(RaidBy::Btrfs) if kind != FileSystemKind::Btrfs => {
                let what = format!("raid = \"btrfs\" does not go with {}", kind.word());
                Err(self.wrong(at, what))
            }
            Some(raid) => Ok(raid),
            None => {
                let what = format!("raid \"{word}\"; expected one of {}", words(&RaidBy::ALL));
                Err(self.wrong(at, what))
            }
        }
    }

    fn enough(&self, at: usize, layout: Layout, devices: usize) -> Result<(), MatrixError> {
        let least = layout.least_devices();
        if devices >= least && (layout != Layout::Raid10 || devices.is_multiple_of(2)) {
            return Ok(());
        }
        let what = match layout {
            Layout::Raid10 => "raid10 needs an even number of devices, at least 4".to_owned(),
            _ => format!("{} needs at least {least} devices", layout.word()),
        };
        Err(self.wrong(at, what))
    }

    fn file_system(&self, at: usize, raw: RawFileSystem) -> Result<FileSystemSpec, MatrixError> {
        let table = match raw {
            RawFileSystem::Table(table) => table,
            RawFileSystem::Word(word) => RawFileSystemTable {
                r#type: word,
                mkfs: Vec::new(),
                mount: String::new(),
                name: None,
            },
        };
        let Some(kind) = by_word(&table.r#type, &FileSystemKind::ALL) else {
            let what = format!(
                "file system \"{}\"; expected one of {}",
                table.r#type,
                words(&FileSystemKind::ALL)
            );
            return Err(self.wrong(at, what));
        };
        let is_option = |c: char| c.is_ascii_alphanumeric() || "-_=,.:".contains(c);
        if !table.mount.chars().all(is_option) {
            let what = format!("mount = \"{}\": expected mount options", table.mount);
            return Err(self.wrong(at, what));
        }
        // A path would be a second device to overwrite.
        let is_path = |word: &&String| word.contains('/');
        if let Some(word) = table.mkfs.iter().find(is_path) {
            let what = format!("mkfs argument \"{word}\" names a path, which is not accepted");
            return Err(self.wrong(at, what));
        }
        Ok(FileSystemSpec {
            kind,
            mkfs: table.mkfs,
            mount: table.mount,
            name: table.name.as_deref().map(one_line),
        })
    }
}

/// Single: each device on its own; else all together.
fn device_sets(layout: Layout, names: &[String]) -> Vec<Vec<String>> {
    match layout {
        Layout::Single => names.iter().map(|name| vec![name.clone()]).collect(),
        _ => vec![names.to_vec()],
    }
}

/// Without line breaks and double spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

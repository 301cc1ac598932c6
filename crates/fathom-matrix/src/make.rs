//! Building a configuration: each step is in the journal before it is taken.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use fathom_base::{Bytes, IoContext, seed_for};
use fathom_runner::entropy;
use fathom_system::Root;

use crate::configuration::Configuration;
use crate::devices::{Found, granted};
use crate::error::MatrixError;
use crate::file::{DeviceSource, DeviceSpec, MatrixFile};
use crate::journal::Journal;
use crate::kind::{Encryption, FileSystemKind, Layout, RaidBy};
use crate::support::needs_md;
use crate::thing::Thing;
use crate::tools::{Tools, patiently};

/// Array numbers that are tried.
const ARRAYS: std::ops::Range<u32> = 100..512;
/// Size of the key of an encrypted configuration; it is thrown away with it.
const KEY_BYTES: usize = 32;

/// Builds one configuration.
pub(crate) struct Maker<'a> {
    pub root: &'a Root,
    pub tools: &'a Tools,
    pub journal: &'a mut Journal,
    pub file: &'a MatrixFile,
    pub found: &'a [Found],
    pub consents: &'a [String],
    /// Where loop files are made.
    pub files: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
}

impl Maker<'_> {
    /// Builds and mounts it. On an error, what was made so far is in the journal.
    pub fn build(&mut self, configuration: &Configuration) -> Result<(), MatrixError> {
        let mark = mark();
        let mut nodes = Vec::new();
        for name in &configuration.devices {
            let spec = self.file.devices.iter().find(|device| device.name == *name);
            if let Some(spec) = spec {
                nodes.push(self.device(spec, &mark)?);
            }
        }
        for node in &nodes {
            self.schedule(configuration, node)?;
        }
        if needs_md(configuration) {
            nodes = vec![self.array(configuration.layout, &nodes, &mark)?];
        }
        if configuration.encryption == Encryption::Luks {
            let plain = std::mem::take(&mut nodes);
            for (number, node) in plain.iter().enumerate() {
                nodes.push(self.encrypt(node, &mark, number)?);
            }
        }
        self.format(configuration, &nodes, &mark)?;
        self.mount(configuration, &nodes)
    }

    fn device(&mut self, spec: &DeviceSpec, mark: &str) -> Result<PathBuf, MatrixError> {
        match &spec.source {
            DeviceSource::Loop(size) => self.loop_device(&spec.name, *size),
            DeviceSource::Serial(serial) => {
                let found = self.found.iter().find(|found| found.name == spec.name);
                let Some(found) = found else {
                    let (name, serial) = (spec.name.clone(), serial.clone());
                    return Err(MatrixError::NoDevice { name, serial });
                };
                let grant = granted(self.root, found, self.consents)
                    .map_err(|refusal| MatrixError::Refused(vec![(spec.name.clone(), refusal)]))?;
                self.journal.making(Thing::Contents {
                    serial: serial.clone(),
                    mark: mark.to_owned(),
                })?;
                let node = grant.path.clone();
                // The claim ends here: the programs that follow make their own.
                drop(grant);
                Ok(node)
            }
        }
    }

    fn loop_device(&mut self, name: &str, size: Bytes) -> Result<PathBuf, MatrixError> {
        let path = self.files.join(format!("{name}.img"));
        self.journal.making(Thing::File { path: path.clone() })?;
        let file = File::create_new(&path).at("create", &path)?;
        file.set_len(size.as_u64()).at("size", &path)?;
        drop(file);
        self.journal.making(Thing::Loop { file: path.clone() })?;
        let step = format!("attach a loop device to {}", path.display());
        let args = ["--find".as_ref(), "--show".as_ref(), path.as_os_str()];
        // Somebody else may take the free device that was found.
        let node = patiently(|| self.tools.run(&step, "losetup", &args))?;
        let node = PathBuf::from(node.trim());
        // Without it every block would be cached twice; not every file system below can.
        let args = ["--direct-io=on".as_ref(), node.as_os_str()];
        let _ = self.tools.run("ask for direct I/O", "losetup", &args);
        Ok(node)
    }

    fn schedule(&mut self, configuration: &Configuration, node: &Path) -> Result<(), MatrixError> {
        let Some(wanted) = &configuration.scheduler else {
            return Ok(());
        };
        let name = node.file_name().unwrap_or_default().to_string_lossy();
        let path = PathBuf::from(format!("/sys/block/{name}/queue/scheduler"));
        let now = self.root.read(&path).unwrap_or_default();
        let before = chosen(&now).to_owned();
        let found = self.found.iter().find(|found| found.node == *node);
        if let Some(found) = found {
            let serial = found.serial.clone();
            self.journal.making(Thing::Scheduler { serial, before })?;
        }
        fs::write(self.root.path(&path), wanted).map_err(|error| MatrixError::Tool {
            step: format!("set scheduler {wanted} of {name}"),
            what: format!("{error}; it has {}", now.trim()),
        })
    }

    fn array(
        &mut self,
        layout: Layout,
        members: &[PathBuf],
        mark: &str,
    ) -> Result<PathBuf, MatrixError> {
        let uuid = array_uuid();
        self.journal.making(Thing::Array { uuid: uuid.clone() })?;
        let number = ARRAYS.into_iter().find(|number| {
            let is_taken = self.root.exists(format!("/sys/block/md{number}"))
                || self.root.exists(format!("/dev/md{number}"));
            !is_taken
        });
        let step = format!("make a {} array", layout.word());
        let Some(number) = number else {
            let what = "every number of an array is taken".to_owned();
            return Err(MatrixError::Tool { step, what });
        };
        let node = PathBuf::from(format!("/dev/md{number}"));
        let level = layout.word().trim_start_matches("raid");
        let mut args: Vec<OsString> = vec!["--create".into(), node.clone().into()];
        args.extend(
            [
                "--run".to_owned(),
                "--metadata=1.2".to_owned(),
                "--homehost=any".to_owned(),
                format!("--level={level}"),
                format!("--name={mark}"),
                format!("--uuid={uuid}"),
                format!("--raid-devices={}", members.len()),
            ]
            .map(OsString::from),
        );
        if layout != Layout::Raid0 {
            // There is nothing on the members that would have to agree, and a first synchronisation
            // would be measured with everything else.
            args.push("--assume-clean".into());
        }
        args.extend(members.iter().map(|member| member.clone().into()));
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        self.tools.run(&step, "mdadm", &args)?;
        self.appears(&step, node)
    }

    fn encrypt(&mut self, node: &Path, mark: &str, number: usize) -> Result<PathBuf, MatrixError> {
        let step = format!("encrypt {}", node.display());
        let key = key();
        let label = format!("--label={mark}");
        let args = [
            "luksFormat",
            "--batch-mode",
            "--type=luks2",
            "--pbkdf=pbkdf2",
            "--pbkdf-force-iterations=1000",
            label.as_str(),
            "--key-file=-",
        ];
        let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        args.push(node.as_os_str());
        self.tools
            .run_with(&step, "cryptsetup", &args, Some(key.clone()))?;
        let name = format!("{mark}-{number}");
        self.journal.making(Thing::Mapping { name: name.clone() })?;
        let args = [
            OsStr::new("open"),
            OsStr::new("--type=luks2"),
            OsStr::new("--key-file=-"),
            node.as_os_str(),
            OsStr::new(&name),
        ];
        self.tools.run_with(&step, "cryptsetup", &args, Some(key))?;
        self.appears(&step, PathBuf::from(format!("/dev/mapper/{name}")))
    }

    fn appears(&self, step: &str, node: PathBuf) -> Result<PathBuf, MatrixError> {
        patiently(|| match node.exists() {
            true => Ok(()),
            false => Err(MatrixError::Tool {
                step: step.to_owned(),
                what: format!("{} did not appear", node.display()),
            }),
        })?;
        Ok(node)
    }

    fn format(
        &self,
        configuration: &Configuration,
        nodes: &[PathBuf],
        mark: &str,
    ) -> Result<(), MatrixError> {
        let system = &configuration.file_system;
        let step = format!(
            "make {} for {}",
            system.kind.word(),
            configuration.identifier
        );
        let mut args: Vec<OsString> = mkfs_arguments(configuration, mark)
            .into_iter()
            .map(OsString::from)
            .collect();
        args.extend(system.mkfs.iter().map(OsString::from));
        args.extend(nodes.iter().map(OsString::from));
        let args: Vec<&OsStr> = args.iter().map(OsString::as_os_str).collect();
        self.tools.run(&step, system.kind.mkfs(), &args)?;
        Ok(())
    }

    fn mount(
        &mut self,
        configuration: &Configuration,
        nodes: &[PathBuf],
    ) -> Result<(), MatrixError> {
        let point = self.point.clone();
        let system = &configuration.file_system;
        let step = format!("mount {}", configuration.identifier);
        self.journal.making(Thing::Mount {
            point: point.clone(),
        })?;
        fs::create_dir_all(&point).at("create directory", &point)?;
        let mut args: Vec<&OsStr> = vec!["-t".as_ref(), system.kind.word().as_ref()];
        if !system.mount.is_empty() {
            args.extend([OsStr::new("-o"), OsStr::new(&system.mount)]);
        }
        let Some(node) = nodes.first() else {
            let what = "there is no device".to_owned();
            return Err(MatrixError::Tool { step, what });
        };
        args.extend([node.as_os_str(), point.as_os_str()]);
        self.tools.run(&step, "mount", &args)?;
        Ok(())
    }
}

/// Forced, since what is overwritten was looked at; quiet; labelled with our mark; and without work
/// that the kernel would do later, while something is measured.
fn mkfs_arguments(configuration: &Configuration, mark: &str) -> Vec<String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    match configuration.file_system.kind {
        FileSystemKind::Ext2 => words(&format!("-F -q -L {mark}")),
        FileSystemKind::Ext3 | FileSystemKind::Ext4 => words(&format!(
            "-F -q -L {mark} -E lazy_itable_init=0,lazy_journal_init=0"
        )),
        FileSystemKind::Xfs => words(&format!("-f -q -L {mark}")),
        FileSystemKind::F2fs => words(&format!("-f -q -l {mark}")),
        FileSystemKind::Btrfs => {
            let mut args = words(&format!("-f -q -L {mark}"));
            if configuration.layout != Layout::Single && configuration.raid == RaidBy::Btrfs {
                let level = configuration.layout.word();
                // Its own advice: metadata with parity is not safe.
                let metadata = match configuration.layout {
                    Layout::Raid5 => "raid1",
                    _ => level,
                };
                args.extend(words(&format!("-d {level} -m {metadata}")));
            }
            args
        }
    }
}

/// What tells ours from everybody else's: twelve characters, as XFS takes no more.
fn mark() -> String {
    let bits = seed_for(entropy(), "matrix mark") & 0xf_ffff;
    format!("fathom-{bits:05x}")
}

fn array_uuid() -> String {
    let high = seed_for(entropy(), "array");
    let low = seed_for(entropy(), "array, too");
    format!(
        "{:08x}:{:08x}:{:08x}:{:08x}",
        high >> 32,
        high & 0xffff_ffff,
        low >> 32,
        low & 0xffff_ffff
    )
}

fn key() -> Vec<u8> {
    let mut key = Vec::with_capacity(KEY_BYTES);
    while key.len() < KEY_BYTES {
        key.extend(seed_for(entropy(), "key").to_le_bytes());
    }
    key
}

/// The word in brackets of `none [mq-deadline]`, or the only one.
fn chosen(text: &str) -> &str {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text.trim(), |(word, _)| word)
}

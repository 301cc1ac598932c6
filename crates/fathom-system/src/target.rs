//! Path -> mount -> device stack -> leaf drives.

mod list;
mod stack;
#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use fathom_model::{TargetInfo, TargetKind};
use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags};

use crate::block::node_number;
use crate::error::SystemError;
use crate::filesystem;
use crate::mounts::{DeviceNumber, MountEntry, MountTable};
use crate::root::Root;

pub use list::{Candidate, list_targets};

use stack::Resolver;

/// Follows a path to its mount, through the device stack, to the drives.
///
/// # Errors
/// [`SystemError`] when it does not exist or is nothing I/O can be measured on. A chain that
/// cannot be followed to its end is no error: [`TargetInfo::opaque`] says where it ends.
pub fn resolve_target(root: &Root, path: &Path) -> Result<TargetInfo, SystemError> {
    let real = match root.real_path(path) {
        Some(real) => real,
        None => return Err(missing(root, path)),
    };
    let kind = kind_of(root, path, &real)?;
    let mut resolver = Resolver::new(root, MountTable::read(root));
    match kind {
        TargetKind::BlockDevice => resolver.block_device(&real),
        TargetKind::Directory | TargetKind::File => resolver.path(&real),
    }
    Ok(resolver.finish(real.to_string_lossy().into_owned(), kind))
}

fn missing(root: &Root, path: &Path) -> SystemError {
    let io = |source| SystemError::Io {
        action: "look up target",
        path: path.to_path_buf(),
        source,
    };
    if let Err(error) = fs::metadata(root.path(path))
        && error.kind() != io::ErrorKind::NotFound
    {
        return io(error);
    }
    let nearest = path
        .ancestors()
        .skip(1)
        .find(|above| !above.as_os_str().is_empty() && root.exists(above));
    SystemError::Missing {
        path: path.to_path_buf(),
        nearest: nearest.map(Path::to_path_buf),
    }
}

fn kind_of(root: &Root, path: &Path, real: &Path) -> Result<TargetKind, SystemError> {
    if node_number(root, real).is_some() {
        return Ok(TargetKind::BlockDevice);
    }
    let meta = fs::metadata(root.path(real)).map_err(|source| SystemError::Io {
        action: "look up target",
        path: path.to_path_buf(),
        source,
    })?;
    let kind = meta.file_type();
    let found = if kind.is_dir() {
        return Ok(TargetKind::Directory);
    } else if kind.is_file() {
        return Ok(TargetKind::File);
    } else if kind.is_char_device() {
        "character device"
    } else if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "block device the kernel does not know"
    };
    Err(SystemError::Kind {
        path: path.to_path_buf(),
        found,
    })
}

/// What system calls say about a path of the machine itself.
#[derive(Clone, Debug, Default)]
struct PathFacts {
    mount: Option<MountEntry>,
    is_compressed: bool,
}

/// The mount of a path, by its id where the kernel gives it, else by the table.
fn path_facts(root: &Root, mounts: &MountTable, path: &Path) -> PathFacts {
    let by_table = || mounts.find(path).cloned();
    if !root.is_system() {
        return PathFacts {
            mount: by_table(),
            is_compressed: false,
        };
    }
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted).ok();
    let by_id = stat.as_ref().and_then(|stat| {
        let has_id = stat.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        has_id
            .then(|| mounts.by_id(stat.stx_mnt_id))
            .flatten()
            .cloned()
    });
    let is_compressed =
        stat.is_some_and(|stat| stat.stx_attributes.contains(StatxAttributes::COMPRESSED));
    let mount = by_id.or_else(by_table).or_else(|| unlisted(path));
    PathFacts {
        mount: mount.map(|mount| checked(mount, path)),
        is_compressed,
    }
}

/// A mount outside the table, as in a chroot: number and kind by system calls.
fn unlisted(path: &Path) -> Option<MountEntry> {
    let stat = rustix::fs::statfs(path).ok()?;
    let meta = fs::metadata(path).ok()?;
    Some(MountEntry {
        device: DeviceNumber::from_raw(meta.dev()),
        root: PathBuf::from("/"),
        point: PathBuf::from("/"),
        file_system: filesystem::by_magic(magic(&stat))?.to_owned(),
        ..MountEntry::default()
    })
}

/// `statfs` has the last word on whether a file system is memory.
fn checked(mut mount: MountEntry, path: &Path) -> MountEntry {
    let Ok(stat) = rustix::fs::statfs(path) else {
        return mount;
    };
    let by_number = filesystem::by_magic(magic(&stat)).unwrap_or_default();
    let is_memory = |name| filesystem::nature(name) == filesystem::Nature::Memory;
    if is_memory(by_number) && !is_memory(&mount.file_system) {
        mount.file_system = by_number.to_owned();
    }
    mount
}

fn magic(stat: &rustix::fs::StatFs) -> u64 {
    // Signed or unsigned, 32 or 64 bits, by architecture; only the low 32 bits are compared.
    stat.f_type as u64
}

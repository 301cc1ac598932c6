use std::collections::HashSet;
use std::path::Path;

use fathom_model::{Mount, TargetInfo, TargetKind};
use rustix::fs::Access;

use crate::filesystem::{self, Nature};
use crate::mounts::{MountEntry, MountTable};
use crate::root::Root;

use super::stack::Resolver;

/// A place I/O could be measured at.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The mounted file system.
    pub mount: Mount,
    /// What lies below it.
    pub target: TargetInfo,
    /// Whether the user who asks may write at the mount point itself.
    pub is_writable: bool,
}

/// The mounted file systems somebody could measure: each once, by its shortest mount point, those
/// on drives first, then those whose drives cannot be seen, then memory.
pub fn list_targets(root: &Root) -> Vec<Candidate> {
    let mounts = MountTable::read(root);
    let mut entries: Vec<&MountEntry> = mounts.entries.iter().filter(|m| is_useful(m)).collect();
    entries.sort_by_key(|mount| (mount.point.components().count(), mount.point.clone()));
    let mut known = HashSet::new();
    let mut found: Vec<Candidate> = entries
        .into_iter()
        // A mount that is hidden by another cannot be reached.
        .filter(|mount| mounts.find(&mount.point) == Some(*mount))
        .filter(|mount| known.insert((mount.device, mount.source.clone())))
        .filter_map(|mount| candidate(root, &mounts, mount))
        .collect();
    found.sort_by_key(|candidate| {
        let target = &candidate.target;
        (target.memory.is_some(), target.drives.is_empty())
    });
    found
}

fn is_useful(mount: &MountEntry) -> bool {
    let name = mount.file_system.as_str();
    let is_part_of_overlay = name == "overlay" && mount.root != Path::new("/");
    filesystem::nature(name) != Nature::Pseudo
        && !["devtmpfs", "hugetlbfs", "rootfs"].contains(&name)
        && !filesystem::is_read_only_kind(name)
        && !mount.options.iter().any(|option| option == "ro")
        && !is_part_of_overlay
        && !is_system(&mount.point)
}

/// Directories of the system itself; `/dev/shm` is somebody's to use.
fn is_system(point: &Path) -> bool {
    let is_below = |base: &str| point.starts_with(base);
    point == Path::new("/dev") || ["/proc", "/sys", "/run"].into_iter().any(is_below)
}

fn candidate(root: &Root, mounts: &MountTable, mount: &MountEntry) -> Option<Candidate> {
    // Single files are mounted too, such as /etc/hosts in a container.
    if !root.path(&mount.point).is_dir() {
        return None;
    }
    let mut resolver = Resolver::new(root, mounts.clone());
    resolver.path(&mount.point);
    let path = mount.point.to_string_lossy().into_owned();
    let target = resolver.finish(path, TargetKind::Directory);
    let access = rustix::fs::access(root.path(&mount.point), Access::WRITE_OK);
    Some(Candidate {
        mount: target.mount.clone()?,
        target,
        is_writable: access.is_ok(),
    })
}

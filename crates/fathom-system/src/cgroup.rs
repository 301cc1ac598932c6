//! The control group of this process: quotas and limits, version 1 and 2.

use std::path::{Path, PathBuf};

use crate::mounts::MountTable;
use crate::root::Root;

#[cfg(test)]
mod tests;

/// Groups above one another that are looked at.
const DEPTH_LIMIT: usize = 32;

/// Where this process's groups of a controller are, the innermost first.
struct Groups {
    is_unified: bool,
    directories: Vec<PathBuf>,
}

/// The `cpu.stat` files of the groups that have a CPU quota.
pub(crate) fn quota_files(root: &Root) -> Vec<PathBuf> {
    let groups = groups(root, "cpu");
    groups
        .directories
        .iter()
        .filter(|directory| quota(root, directory, groups.is_unified).is_some())
        .map(|directory| directory.join("cpu.stat"))
        .collect()
}

/// The tightest CPU quota, in CPUs.
pub(crate) fn cpu_quota(root: &Root) -> Option<f64> {
    let groups = groups(root, "cpu");
    let quotas = groups
        .directories
        .iter()
        .filter_map(|directory| quota(root, directory, groups.is_unified));
    quotas.reduce(f64::min)
}

/// The lines of `io.max`, or what version 1 throttles, of all groups of this process.
pub(crate) fn io_limit(root: &Root) -> Option<String> {
    let groups = groups(root, "blkio");
    let files: &[&str] = match groups.is_unified {
        true => &["io.max"],
        false => &[
            "blkio.throttle.read_bps_device",
            "blkio.throttle.write_bps_device",
            "blkio.throttle.read_iops_device",
            "blkio.throttle.write_iops_device",
        ],
    };
    let mut found = Vec::new();
    for directory in &groups.directories {
        for file in files {
            let text = root.line(directory.join(file)).unwrap_or_default();
            for line in text.lines().take(16) {
                let name = file
                    .strip_prefix("blkio.throttle.")
                    .map(|name| format!("{name} "));
                found.push(format!("{}{line}", name.unwrap_or_default()));
            }
        }
    }
    (!found.is_empty()).then(|| found.join("; "))
}

fn quota(root: &Root, directory: &Path, is_unified: bool) -> Option<f64> {
    let (quota, period): (f64, f64) = match is_unified {
        true => {
            let text = root.line(directory.join("cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            (quota.parse().ok()?, period.trim().parse().ok()?)
        }
        false => (
            root.number(directory.join("cpu.cfs_quota_us"))?,
            root.number(directory.join("cpu.cfs_period_us"))?,
        ),
    };
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn groups(root: &Root, controller: &str) -> Groups {
    let text = root.read("/proc/self/cgroup").unwrap_or_default();
    let mounts = MountTable::read(root);
    // `5:cpu,cpuacct:/path` in version 1, `0::/path` in version 2.
    let by_controller = text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let is_it = parts.next()?.split(',').any(|name| name == controller);
        is_it.then(|| parts.next()).flatten()
    });
    let (is_unified, path) = match by_controller {
        Some(path) => (false, Some(path)),
        None => (true, text.lines().find_map(|line| line.strip_prefix("0::"))),
    };
    let mount = mounts.entries.iter().find(|mount| match is_unified {
        true => mount.file_system == "cgroup2",
        false => mount.file_system == "cgroup" && mount.has(controller),
    });
    let directories = match (mount, path) {
        (Some(mount), Some(path)) => {
            // The mount may show only a part of the tree, as in a container.
            let path = Path::new(path);
            let inside = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
            let inside = inside.strip_prefix("/").unwrap_or(inside);
            let mut all = Vec::new();
            let mut at = mount.point.join(inside);
            while at.starts_with(&mount.point) && all.len() < DEPTH_LIMIT {
                all.push(at.clone());
                if !at.pop() {
                    break;
                }
            }
            all
        }
        _ => Vec::new(),
    };
    Groups {
        is_unified,
        directories,
    }
}

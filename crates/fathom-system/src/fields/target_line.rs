use fathom_model::{Drive, Layer, LayerKind, TargetInfo, TargetKind};

use crate::words::counted;

use super::notes::{rough, shown_options};

/// Mount options that are shown; the rest is in the result.
const OPTION_LIMIT: usize = 6;

/// One line for the head of a run: `/home/ann/proj  ext4 (relatime,rw)  on nvme0n1p2  Samsung SSD
/// 970 EVO 250GB, firmware 2B2QEXE7, PCIe 3.0 x4, write cache on`.
pub fn target_line(target: &TargetInfo) -> String {
    let mut parts = vec![target.path.clone()];
    if let Some(mount) = &target.mount {
        parts.push(format!(
            "{} ({})",
            mount.file_system,
            options(&mount.options)
        ));
    }
    for mount in &target.below {
        parts.push(format!("on {}", mount.file_system));
    }
    if let Some(memory) = &target.memory {
        parts.push(format!("memory ({})", memory.0));
        return parts.join("  ");
    }
    let on = stack(&target.layers);
    if !on.is_empty() && target.kind != TargetKind::BlockDevice {
        parts.push(format!("on {on}"));
    } else if !on.is_empty() {
        parts.push(on);
    }
    if target.is_network && target.drives.is_empty() {
        let source = target
            .mount
            .as_ref()
            .map_or("", |mount| mount.source.as_str());
        parts.push(format!("from {source}"));
    }
    parts.extend(target.opaque.clone());
    let drives: Vec<String> = target.drives.iter().map(drive).collect();
    parts.push(counted(&drives));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

fn options(all: &[String]) -> String {
    let all = shown_options(all);
    let shown = all
        .iter()
        .take(OPTION_LIMIT)
        .copied()
        .collect::<Vec<_>>()
        .join(",");
    match all.len() > OPTION_LIMIT {
        true => format!("{shown},..."),
        false => shown,
    }
}

/// The layers from the top, without whole disks unless there is nothing else: `md127 (raid0, 2
/// drives, chunk 512KiB) on nvme0n1p1, nvme1n1p1`.
fn stack(layers: &[Layer]) -> String {
    let is_below = |name: &String| layers.iter().any(|layer| layer.below.contains(name));
    let mut level: Vec<&Layer> = layers
        .iter()
        .filter(|layer| !is_below(&layer.name))
        .collect();
    let mut texts: Vec<String> = Vec::new();
    for _ in 0..layers.len() {
        let is_shown = |layer: &&&Layer| !is_disk(layer.kind) || texts.is_empty();
        let names: Vec<String> = level
            .iter()
            .filter(is_shown)
            .map(|layer| named(layer))
            .collect();
        texts.extend((!names.is_empty()).then(|| names.join(", ")));
        let below: Vec<&String> = level.iter().flat_map(|layer| &layer.below).collect();
        level = layers
            .iter()
            .filter(|layer| below.contains(&&layer.name))
            .collect();
    }
    texts.join(" on ")
}

fn is_disk(kind: LayerKind) -> bool {
    [LayerKind::Disk, LayerKind::NetworkBlock].contains(&kind)
}

fn named(layer: &Layer) -> String {
    let kind = match layer.kind {
        LayerKind::Md => return format!("{} ({})", layer.name, layer.detail),
        LayerKind::Crypt => "crypt",
        LayerKind::Lvm => "lvm",
        LayerKind::Multipath => "multipath",
        LayerKind::DeviceMapper => "dm",
        LayerKind::Loop => "file",
        LayerKind::Bcache => "bcache",
        LayerKind::Zram => "zram",
        LayerKind::Ram => "memory disk",
        LayerKind::Partition | LayerKind::Disk | LayerKind::NetworkBlock => {
            return layer.name.clone();
        }
    };
    format!("{} ({kind} {})", layer.name, layer.detail)
}

/// `Samsung SSD 970 EVO 250GB, firmware 2B2QEXE7, PCIe 3.0 x4, write cache on`.
fn drive(drive: &Drive) -> String {
    let size = rough(drive.size_bytes);
    let mut parts = match (&drive.model, drive.transport.as_deref()) {
        (Some(model), _) if has_size(model) => vec![model.clone()],
        (Some(model), _) => vec![format!("{model} {size}")],
        (None, Some(transport)) => vec![format!("{transport} disk {size}")],
        (None, None) => vec![format!("{} {size}", drive.name)],
    };
    parts.extend(
        drive
            .firmware
            .as_ref()
            .map(|text| format!("firmware {text}")),
    );
    if let Some(link) = &drive.link {
        let degraded = if link.is_degraded { " (degraded)" } else { "" };
        parts.push(format!("{}{degraded}", link.text));
    }
    match drive.write_cache.as_deref() {
        Some("write back") => parts.push("write cache on".to_owned()),
        Some("write through") => parts.push("no volatile write cache".to_owned()),
        _ => {}
    }
    parts.join(", ")
}

/// Whether a model names its size: `250GB`, `2TB`.
fn has_size(model: &str) -> bool {
    model.split_whitespace().any(|word| {
        let number = word.strip_suffix("GB").or_else(|| word.strip_suffix("TB"));
        number.is_some_and(|number| number.parse::<f64>().is_ok())
    })
}

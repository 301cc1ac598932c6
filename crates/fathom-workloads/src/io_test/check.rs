//! What a case needs and the machine may lack.

use std::path::Path;

use fathom_base::Bytes;
use fathom_io::{DirectVerdict, direct_probe, probe};
use fathom_model::definition::io::{IoDirect, IoEngine, IoLayout, IoSettings};
use fathom_model::{Case, Host, TargetKind, Unmet};

use super::spec;
use crate::common::{need_space, need_writable};

pub(super) fn unmet(host: &Host, case: &Case) -> Vec<Unmet> {
    let settings = match IoSettings::from_case(case) {
        Ok(settings) => settings,
        Err(error) => return vec![need(error.to_string(), "")],
    };
    let mut unmet = settings.conflicts();
    unmet.extend(need_memory(host, &settings));
    if settings.engine == IoEngine::Null || !unmet.is_empty() {
        return unmet;
    }
    unmet.extend(need_engine(&settings));
    match host.target.kind {
        TargetKind::Directory => {
            unmet.extend(need_writable(host));
            unmet.extend(need_space(host, settings.end()));
            unmet.extend(need_holes(&settings));
        }
        TargetKind::File | TargetKind::BlockDevice => unmet.extend(need_target(host, &settings)),
    }
    // Trying direct I/O writes a small file without a name, so it comes last.
    if unmet.is_empty() && settings.direct == IoDirect::Yes {
        unmet.extend(need_direct(Path::new(&host.target.path), &settings));
    }
    unmet
}

fn need(what: impl Into<String>, hint: &str) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.to_owned(),
    }
}

/// Buffers may take half of the memory.
fn need_memory(host: &Host, settings: &IoSettings) -> Option<Unmet> {
    let largest = settings.block_sizes().into_iter().max().unwrap_or_default();
    let buffers = largest
        .as_u64()
        .next_multiple_of(4096)
        .saturating_mul(u64::from(settings.depth))
        .saturating_mul(u64::from(settings.jobs));
    (buffers > host.memory.as_u64() / 2).then(|| {
        need(
            format!(
                "{} jobs of {} blocks of {largest} need {} of memory, and half of the memory is {}",
                settings.jobs,
                settings.depth,
                Bytes::new(buffers).rough(),
                Bytes::new(host.memory.as_u64() / 2).rough(),
            ),
            "use fewer jobs, a smaller depth or smaller blocks",
        )
    })
}

fn need_engine(settings: &IoSettings) -> Option<Unmet> {
    if settings.engine == IoEngine::Auto {
        return None;
    }
    let unavailable = probe(spec::engine(settings.engine)).err()?;
    Some(need(
        format!("engine {} cannot be used: {unavailable}", settings.engine),
        unavailable.remedy,
    ))
}

/// Discards on a file make holes, which must be asked for.
fn need_holes(settings: &IoSettings) -> Option<Unmet> {
    (settings.mode.trims() && !settings.tuning.punch_holes).then(|| {
        need(
            format!(
                "rw={} discards, and the target is a directory",
                settings.mode
            ),
            "name a block device, or use punch-holes=yes to punch holes into a file",
        )
    })
}

/// A device or an existing file cannot be made to fit.
fn need_target(host: &Host, settings: &IoSettings) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    let path = &host.target.path;
    if settings.layout == IoLayout::Fallocate {
        unmet.push(need(
            format!("layout=fallocate makes a new file, and the target is {path}"),
            "use layout=written",
        ));
    }
    if host.target.kind == TargetKind::BlockDevice && settings.tuning.punch_holes {
        unmet.push(need(
            format!("punch-holes is for files, and {path} is a block device"),
            "leave punch-holes at no",
        ));
    }
    if let Some(size) = target_size(host)
        && settings.end() > size
    {
        unmet.push(need(
            format!(
                "the span ends at {}, and {path} ends at {size}",
                settings.end()
            ),
            "use a smaller size or offset",
        ));
    }
    let discards = |drive: &fathom_model::Drive| drive.discard_max_bytes != Some(0);
    if settings.mode.trims() && !host.target.drives.iter().all(discards) {
        unmet.push(need(
            format!("{path} does not support discards"),
            "choose another device",
        ));
    }
    unmet
}

fn target_size(host: &Host) -> Option<Bytes> {
    match host.target.kind {
        TargetKind::BlockDevice => host
            .target
            .layers
            .first()
            .map(|layer| Bytes::new(layer.size_bytes)),
        _ => std::fs::metadata(&host.target.path)
            .ok()
            .map(|meta| Bytes::new(meta.len())),
    }
}

/// Direct I/O was demanded, so it must work with these blocks.
fn need_direct(path: &Path, settings: &IoSettings) -> Option<Unmet> {
    const HINT: &str = "use direct=auto or direct=no, or another target";
    let found = match direct_probe(path) {
        Ok(found) => found,
        Err(error) => {
            return Some(need(
                format!("direct=yes could not be tried: failed to {error}"),
                HINT,
            ));
        }
    };
    if let DirectVerdict::Refused(errno) = found.verdict {
        let reason = std::io::Error::from_raw_os_error(errno);
        let text = format!("{} refuses direct I/O: {reason}", path.display());
        return Some(need(text, HINT));
    }
    let required = u64::from(found.alignment?.offset);
    let uneven = settings
        .block_sizes()
        .into_iter()
        .find(|size| required > 0 && !size.as_u64().is_multiple_of(required));
    uneven.map(|size| {
        let text = format!(
            "direct I/O on {} needs blocks of a multiple of {required} bytes, not {size}",
            path.display()
        );
        need(text, HINT)
    })
}

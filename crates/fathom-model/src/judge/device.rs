//! Rules about what the drives did, compared with what the test did.

use fathom_base::{Bytes, Nanos, format_rate_bytes};

use crate::evidence::HostEvidence;
use crate::result::Trial;
use crate::verdict::{Level, Verdict};

use super::facts::Scope;
use super::{Seen, limits, percent, reason};

/// The target is memory.
pub(super) fn memory_backed(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(what) = seen.memory_backed() else {
        return;
    };
    let was_direct = seen
        .evidence
        .direct
        .as_ref()
        .is_some_and(|d| d.requested && d.opened);
    let accepts = match was_direct {
        true => "accepts O_DIRECT and serves from memory",
        false => "is memory",
    };
    let bytes = seen.read_bytes.saturating_add(seen.written_bytes);
    let moved = seen
        .drives
        .map_or(0, |d| d.read_bytes.saturating_add(d.written_bytes));
    let counted = match bytes {
        0 => String::new(),
        _ => {
            let (moved, bytes) = (Bytes::new(moved).rough(), Bytes::new(bytes).rough());
            format!("; no block device moved a byte for it ({moved} of {bytes})")
        }
    };
    let text = format!("The target is {what}: it {accepts}{counted}.");
    verdict.object(
        Level::Invalid,
        reason("memory-backed", "memory, not a disk", text),
    );
}

/// Direct I/O was asked for; it must have happened.
pub(super) fn direct(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(direct) = seen.evidence.direct.as_ref().filter(|d| d.requested) else {
        return;
    };
    if seen.memory_backed().is_some() {
        return;
    }
    let short = "direct I/O did not take effect";
    if !direct.opened || direct.transfer_ok == Some(false) {
        let what = match direct.opened {
            false => "opening with O_DIRECT was refused",
            true => "an aligned direct transfer was refused",
        };
        let text = format!("Direct I/O was asked for, but {what}: the page cache took part.");
        verdict.object(Level::Suspect, reason("direct-io", short, text));
        return;
    }
    let Some(pages) = direct.transfer_cached_pages.filter(|pages| *pages > 0) else {
        return;
    };
    let text = format!(
        "Direct I/O was accepted, but one direct read left {pages} pages in the page cache."
    );
    match seen.drives.is_some() && shortfalls(seen).is_empty() {
        // Some file systems read ahead or copy through the cache and still move every byte.
        true => verdict.note(reason(
            "direct-io",
            "direct I/O passes the page cache",
            text,
        )),
        false => verdict.object(Level::Suspect, reason("direct-io", short, text)),
    }
}

/// A buffered figure may be the page cache's.
pub(super) fn page_cache(seen: &Seen<'_>, verdict: &mut Verdict) {
    if seen.evidence.io.is_none() || seen.is_direct() || seen.memory_backed().is_some() {
        return;
    }
    let mut found = Vec::new();
    if let Some(text) = cached_reads(seen) {
        found.push(text);
    }
    if let Some(text) = cached_writes(seen) {
        found.push(text);
    }
    if found.is_empty() {
        return;
    }
    let was_asked = asked_for(seen, "warm") && seen.written_bytes == 0;
    let reason = reason("page-cache", "page cache, not the disk", found.join(" "));
    match seen.facts.scope == Scope::Stack || was_asked {
        true => verdict.note(reason),
        false => verdict.object(Level::Suspect, reason),
    }
}

fn asked_for(seen: &Seen<'_>, state: &str) -> bool {
    let cache = seen.evidence.cache.as_ref();
    cache.is_some_and(|cache| cache.asked == state)
}

fn cached_reads(seen: &Seen<'_>) -> Option<String> {
    let read = seen.read_bytes;
    let Some(drives) = seen.drives else {
        return unseen_reads(seen);
    };
    let missing = read.saturating_sub(drives.read_bytes);
    let share = missing as f64 / read.max(1) as f64;
    (share > limits::CACHE_SHARE && missing > seen.slack_bytes).then(|| {
        format!(
            "Of {} read, {} came from the page cache ({}).",
            Bytes::new(read).rough(),
            Bytes::new(missing).rough(),
            percent(share)
        )
    })
}

/// Without counters of drives, sizes and residency have to do.
fn unseen_reads(seen: &Seen<'_>) -> Option<String> {
    let file = seen.evidence.file.as_ref()?;
    let memory = file.memory_bytes?;
    if seen.read_bytes == 0 || file.size_bytes == 0 {
        return None;
    }
    if file.size_bytes as f64 >= memory as f64 * limits::MEMORY_MULTIPLE {
        return None;
    }
    let resident = seen
        .evidence
        .cache
        .as_ref()
        .and_then(|cache| cache.resident_bytes_before);
    let again = seen.read_bytes as f64 / file.size_bytes as f64;
    let size = Bytes::new(file.size_bytes).rough();
    let memory = Bytes::new(memory).rough();
    match resident {
        Some(bytes) if bytes as f64 > file.size_bytes as f64 * limits::CACHE_SHARE => {
            let bytes = Bytes::new(bytes).rough();
            Some(format!(
                "{bytes} of the file of {size} were in the page cache before."
            ))
        }
        Some(_) if again > 1.0 + limits::CACHE_SHARE => Some(format!(
            "The file of {size} was read {again:.1} times and fits into the memory of {memory}."
        )),
        Some(_) => None,
        None => Some(format!(
            "The file of {size} fits into the memory of {memory}, and nothing shows where it was \
             read from."
        )),
    }
}

fn cached_writes(seen: &Seen<'_>) -> Option<String> {
    let drives = seen.drives?;
    if seen.compressing_stack().is_some() {
        return None;
    }
    let missing = seen.written_bytes.saturating_sub(drives.written_bytes);
    let share = missing as f64 / seen.written_bytes.max(1) as f64;
    if share <= limits::CACHE_SHARE || missing <= seen.slack_bytes {
        return None;
    }
    let durable = seen.evidence.durability.as_ref().is_some_and(|d| d.durable);
    let (missing, written) = (
        Bytes::new(missing).rough(),
        Bytes::new(seen.written_bytes).rough(),
    );
    let share = percent(share);
    Some(match durable {
        true => format!("Of {written} written, {missing} ({share}) were overwritten in memory."),
        false => format!(
            "Of {written} written, {missing} ({share}) had not reached the drive when the window \
             ended."
        ),
    })
}

/// What the drives lack of the test's bytes: direction, the test's, the drives'.
fn shortfalls(seen: &Seen<'_>) -> Vec<(&'static str, u64, u64)> {
    let Some(drives) = seen.drives else {
        return Vec::new();
    };
    [
        ("read", seen.read_bytes, drives.read_bytes),
        ("wrote", seen.written_bytes, drives.written_bytes),
    ]
    .into_iter()
    .filter(|(_, test, drives)| {
        let missing = test.saturating_sub(*drives);
        missing > seen.slack_bytes && missing as f64 > *test as f64 * limits::DEVICE_SHORTFALL
    })
    .collect()
}

/// Direct I/O moves the drives' counters by what it moved.
pub(super) fn device_bytes(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(host) = &seen.evidence.host else {
        return;
    };
    if seen.memory_backed().is_some() {
        return;
    }
    if let Some(why) = host
        .devices_unseen
        .as_ref()
        .filter(|_| host.devices.is_empty())
    {
        let text = format!("No drive was watched ({why}): only the test's own counts speak.");
        verdict.note(reason("devices-unseen", "drives not seen", text));
        return;
    }
    if seen.facts.is_virtual {
        let text = "The disk is a hypervisor's: what the host caches or limits cannot be seen \
                    from here.";
        verdict.note(reason("virtual-disk", "virtual disk", text));
    }
    if seen.is_direct() && seen.compressing_stack().is_none() {
        too_few_bytes(seen, verdict);
    }
    amplification(seen, verdict);
}

fn too_few_bytes(seen: &Seen<'_>, verdict: &mut Verdict) {
    let short = shortfalls(seen);
    let Some(worst) = short
        .iter()
        .map(|(_, test, drives)| *drives as f64 / (*test).max(1) as f64)
        .reduce(f64::min)
    else {
        return;
    };
    let parts: Vec<String> = short
        .iter()
        .map(|(verb, test, drives)| {
            let (test, drives) = (Bytes::new(*test).rough(), Bytes::new(*drives).rough());
            format!("the test {verb} {test}, the drives {drives}")
        })
        .collect();
    let text = format!(
        "By their own counters the drives did less: {}.",
        parts.join("; ")
    );
    // Two witnesses are needed to call it invalid: counters alone may be another drive's.
    let left_pages = |d: &crate::DirectEvidence| d.transfer_cached_pages.unwrap_or(0) > 0;
    let is_corroborated =
        seen.facts.caches_below || seen.evidence.direct.as_ref().is_some_and(left_pages);
    let level = match worst < limits::DEVICE_MINORITY && is_corroborated {
        true => Level::Invalid,
        false => Level::Suspect,
    };
    let reason = reason("device-bytes", "the drives moved fewer bytes", text);
    verdict.object(level, reason);
}

fn amplification(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(drives) = seen.drives.filter(|_| seen.windows_agree()) else {
        return;
    };
    let excess = drives.written_bytes.saturating_sub(seen.written_bytes);
    let ratio = drives.written_bytes as f64 / seen.written_bytes.max(1) as f64;
    if seen.written_bytes > 0 && ratio > limits::AMPLIFICATION && excess > seen.slack_bytes {
        let text = format!(
            "The drives wrote {ratio:.2} bytes for each byte of the test ({} for {}): journal, \
             metadata, RAID copies, copy-on-write, or somebody else.",
            Bytes::new(drives.written_bytes).rough(),
            Bytes::new(seen.written_bytes).rough()
        );
        let short = format!("{ratio:.2} bytes written a byte");
        verdict.note(reason("amplification", short, text));
    }
}

/// Nothing comes through a link faster than it carries.
pub(super) fn link(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(limit) = seen
        .evidence
        .host
        .as_ref()
        .and_then(|h| h.link_bytes_per_second)
    else {
        return;
    };
    // Compressed data and a page cache may be faster; other rules name them.
    if limit == 0 || seen.compressing_stack().is_some() || !seen.is_direct() {
        return;
    }
    let window = seen.window_s();
    let most = seen.read_bytes.max(seen.written_bytes);
    let carried = limit as f64 * window * limits::LINK_EXCESS + seen.slack_bytes as f64;
    if window > 0.0 && most as f64 > carried {
        let text = format!(
            "{} are more than the link to the drives carries ({} after line coding).",
            format_rate_bytes(most as f64 / window),
            format_rate_bytes(limit as f64)
        );
        verdict.object(
            Level::Invalid,
            reason("link-ceiling", "faster than the link", text),
        );
    }
}

/// Compressible data on a stack that compresses is not written as it is.
pub(super) fn compressible(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(data) = &seen.evidence.data else {
        return;
    };
    let measured = data.compressible_share;
    let share = match data.contents.as_str() {
        "zeros" => measured.unwrap_or(1.0),
        _ => measured.unwrap_or(0.0),
    };
    if share <= limits::COMPRESSIBLE_SHARE {
        return;
    }
    let share = percent(share.min(1.0));
    match &data.compressing_stack {
        Some(stack) => {
            let text = format!(
                "{share} of the data can be compressed away, and {stack} does so: fewer bytes \
                 reach the drive than the test moved."
            );
            let reason = reason("compressible-data", "compressible data, compressed", text);
            verdict.object(Level::Suspect, reason);
        }
        None => {
            let text = format!(
                "{share} of the data can be compressed away; a drive that compresses looks faster \
                 than it is."
            );
            verdict.note(reason("compressible-data", "compressible data", text));
        }
    }
}

/// Blocks that were never written are answered without the drive's media.
pub(super) fn unwritten(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(file) = seen.evidence.file.as_ref().filter(|_| seen.read_bytes > 0) else {
        return;
    };
    let unwritten = file.unwritten_bytes.unwrap_or(0);
    let share = unwritten as f64 / file.size_bytes.max(1) as f64;
    if share > limits::UNWRITTEN_SHARE {
        let text = format!(
            "{} of the file's {} were never written ({}): reading them needs no media.",
            Bytes::new(unwritten).rough(),
            Bytes::new(file.size_bytes).rough(),
            percent(share)
        );
        let reason = reason("unwritten-blocks", "reads of unwritten blocks", text);
        verdict.object(Level::Suspect, reason);
    }
}

/// What an acknowledged write promises.
pub(super) fn durability(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(durability) = &seen.evidence.durability else {
        return;
    };
    if durability.durable || seen.written_bytes == 0 || seen.memory_backed().is_some() {
        return;
    }
    let caches = seen
        .evidence
        .host
        .as_ref()
        .map_or(Vec::new(), volatile_caches);
    let has_none = seen.evidence.host.as_ref().is_some_and(|host| {
        let cache = |d: &crate::DeviceEvidence| d.write_cache.as_deref() == Some("write through");
        !host.devices.is_empty() && host.devices.iter().all(cache)
    });
    if seen.is_direct() && has_none {
        return;
    }
    let cache = match caches.is_empty() {
        true => String::new(),
        false => format!("; the volatile write cache of {} is on", caches.join(", ")),
    };
    let text = format!(
        "Writes were acknowledged, not made durable, inside the window (flush policy: {}{cache}).",
        if durability.policy.is_empty() {
            "none"
        } else {
            &durability.policy
        }
    );
    verdict.note(reason("not-durable", "acknowledged, not durable", text));
}

fn volatile_caches(host: &HostEvidence) -> Vec<&str> {
    host.devices
        .iter()
        .filter(|device| device.write_cache.as_deref() == Some("write back"))
        .map(|device| device.name.as_str())
        .collect()
}

/// Flushes that return at once.
pub(super) fn flush_too_fast(trial: &Trial, verdict: &mut Verdict) {
    let Some(host) = &trial.evidence.host else {
        return;
    };
    if host.memory_backed.is_some() || volatile_caches(host).is_empty() {
        return;
    }
    let syncs = trial
        .histograms
        .iter()
        .find(|(name, _)| ["fsync", "fdatasync", "sync"].contains(&name.as_str()));
    let Some((name, histogram)) = syncs else {
        return;
    };
    let median = histogram
        .percentile(50.0)
        .map_or(f64::INFINITY, |ns| ns as f64);
    let is_fast = histogram.count() >= limits::FLUSH_COUNT && median < limits::FLUSH_NS;
    if is_fast {
        let text = format!(
            "Half of {} {name} calls took less than {}, though {} reports a volatile write cache: \
             they may not flush it.",
            histogram.count(),
            Nanos::new(limits::FLUSH_NS as u64).rough(),
            volatile_caches(host).join(", ")
        );
        verdict.note(reason("flush-too-fast", "flush may be ignored", text));
    }
}

/// Alignment, fill level and fragmentation: worth knowing, never wrong.
pub(super) fn layout(seen: &Seen<'_>, verdict: &mut Verdict) {
    let block = seen.evidence.io.as_ref().and_then(|io| io.block_size_bytes);
    let physical = seen.facts.physical_block_bytes.unwrap_or(0);
    if let Some(block) = block
        && seen.is_direct()
        && physical > 0
        && !block.is_multiple_of(physical)
    {
        let text = format!(
            "Blocks of {} on drives with physical blocks of {}: writes need a read first.",
            Bytes::new(block),
            Bytes::new(physical)
        );
        verdict.note(reason("alignment", "not aligned to physical blocks", text));
    }
    if let Some(fill) = seen.facts.fill_share.filter(|fill| *fill > limits::FILL) {
        let text = format!("The file system is {} full.", percent(fill));
        verdict.note(reason("nearly-full", "file system nearly full", text));
    }
    let Some(file) = &seen.evidence.file else {
        return;
    };
    let extents = file.extents.unwrap_or(0);
    let allowed = file
        .size_bytes
        .div_ceil(1 << 30)
        .saturating_mul(limits::EXTENTS_PER_GIB);
    if file.size_bytes >= limits::EXTENTS_FILE_BYTES && extents > allowed {
        let size = Bytes::new(file.size_bytes).rough();
        let text = format!("The file of {size} lies in {extents} extents.");
        verdict.note(reason("fragmented", "fragmented file", text));
    }
}

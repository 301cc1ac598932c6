//! Rules about the machine around the test.

use fathom_base::Bytes;

use crate::verdict::{Level, Verdict};

use super::facts::Scope;
use super::{Seen, limits, percent, reason};

/// The thread that submits must not be what is measured.
pub(super) fn generator(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(cpu) = &seen.evidence.cpu else {
        return;
    };
    let busiest = cpu.busiest_share.unwrap_or(0.0);
    // Serving memory is CPU work by nature; the rule that says so has spoken.
    let is_memory = verdict
        .reasons
        .iter()
        .chain(&verdict.notes)
        .any(|known| known.rule == "memory-backed" || known.rule == "page-cache");
    if busiest <= limits::SUBMITTER_BUSY || cpu.polls || is_memory {
        return;
    }
    let text = format!(
        "A thread that submits I/O was busy {} of the time: the drive may be faster than the \
         figure.",
        percent(busiest.min(1.0))
    );
    let short = format!("CPU-bound ({})", percent(busiest.min(1.0)));
    let reason = reason("generator-bound", short, text);
    // The CPU's work belongs to a whole workload.
    match seen.facts.scope {
        Scope::Device => verdict.object(Level::Suspect, reason),
        Scope::Stack => verdict.note(reason),
    }
}

/// Time the hypervisor or a quota took away.
pub(super) fn stolen(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(host) = &seen.evidence.host else {
        return;
    };
    let steal = host.steal_share.unwrap_or(0.0);
    if steal > limits::STEAL && host.window_ns >= limits::TICK_WINDOW_NS {
        let text = format!(
            "The hypervisor gave {} of this machine's CPU time to others.",
            percent(steal)
        );
        let short = format!("{} CPU steal", percent(steal));
        verdict.object(Level::Suspect, reason("steal", short, text));
    }
    let throttled = host.throttled.unwrap_or(0);
    if throttled > 0 {
        let text = format!(
            "The control group's CPU quota stopped its processes {throttled} times in the window."
        );
        verdict.object(
            Level::Suspect,
            reason("throttled", "throttled by quota", text),
        );
    }
}

/// Others' I/O on the same drives, where it can be told from our own.
pub(super) fn foreign_io(seen: &Seen<'_>, verdict: &mut Verdict) {
    let (Some(host), Some(drives)) = (&seen.evidence.host, seen.drives) else {
        return;
    };
    let is_known = seen.facts.owns_its_io && seen.memory_backed().is_none();
    let Some(own_read) = host.own_read_bytes.filter(|_| is_known) else {
        return;
    };
    // Before Linux 5.12 the kernel's workers for io_uring were not counted as ours.
    let is_ring = seen
        .evidence
        .io
        .as_ref()
        .is_some_and(|io| io.engine == "io_uring");
    let own_read = match is_ring {
        true => own_read.max(seen.read_bytes.min(drives.read_bytes)),
        false => own_read,
    };
    let own_written = host.own_written_bytes.unwrap_or(u64::MAX);
    let moved = seen
        .read_bytes
        .saturating_add(seen.written_bytes)
        .max(own_read.saturating_add(host.own_written_bytes.unwrap_or(0)));
    let allowed = (moved as f64 * limits::FOREIGN_IO) as u64;
    let allowed = allowed
        .max(limits::FOREIGN_BYTES)
        .saturating_add(seen.slack_bytes);
    // Journal, RAID and copy-on-write multiply our own writes, so only a test that writes (next
    // to) nothing can tell others' writes, or others' reads from those RAID 5 needs to write.
    let only_reads = seen.written_bytes == 0 && own_written <= limits::FOREIGN_BYTES;
    let read = match only_reads || !seen.facts.reads_on_write {
        true => drives.read_bytes.saturating_sub(own_read),
        false => 0,
    };
    let written = match only_reads {
        true => drives.written_bytes.saturating_sub(own_written),
        false => 0,
    };
    if read.max(written) <= allowed {
        return;
    }
    let text = format!(
        "Others, or the write-back of earlier work, read {} from and wrote {} to the same drives \
         while the test moved {}; allowed are {}.",
        Bytes::new(read).rough(),
        Bytes::new(written).rough(),
        Bytes::new(moved).rough(),
        Bytes::new(allowed).rough()
    );
    verdict.object(
        Level::Suspect,
        reason("foreign-io", "others used the drive", text),
    );
}

/// Others' CPU time. Kernel time is left out: encryption, checksums and RAID done for us look like
/// it. Pressure contains our own waiting and therefore never speaks alone.
pub(super) fn busy(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(host) = &seen.evidence.host else {
        return;
    };
    let (Some(user), Some(own), Some(cpus)) = (host.user_share, host.own_user_ns, host.cpus) else {
        return;
    };
    if host.window_ns < limits::TICK_WINDOW_NS || !seen.facts.owns_its_io || cpus == 0 {
        return;
    }
    let window = host.window_ns as f64;
    let foreign = user - own as f64 / (window * f64::from(cpus));
    let pressure = host
        .pressure
        .as_ref()
        .map(|some| some.cpu_ns as f64 / window);
    if foreign <= limits::FOREIGN_CPU_NOTE {
        return;
    }
    let waiting = match pressure {
        Some(share) => format!(
            "; some thread waited for a CPU {} of it",
            percent(share.min(1.0))
        ),
        None => String::new(),
    };
    let load = match host.load_before {
        Some(load) => format!(" (load average before: {load:.2})"),
        None => String::new(),
    };
    let text = format!(
        "Other processes took {} of all CPU time in user mode{waiting}{load}.",
        percent(foreign)
    );
    let reason = reason("busy-machine", "busy machine", text);
    let is_felt = pressure.is_some_and(|share| share > limits::CPU_PRESSURE);
    match foreign > limits::FOREIGN_CPU && is_felt {
        true => verdict.object(Level::Suspect, reason),
        false => verdict.note(reason),
    }
}

/// The clock the trial was timed with.
pub(super) fn clock(seen: &Seen<'_>, verdict: &mut Verdict) {
    let Some(clock) = &seen.evidence.clock else {
        return;
    };
    if clock.backward_steps > 0 {
        let text = format!(
            "The monotonic clock went backwards {} times.",
            clock.backward_steps
        );
        verdict.object(
            Level::Suspect,
            reason("clock", "clock went backwards", text),
        );
        return;
    }
    let latency = seen
        .evidence
        .io
        .as_ref()
        .map_or(0.0, |io| io.latency_ns_mean);
    let share = if latency > 0.0 {
        2.0 * clock.read_ns / latency
    } else {
        0.0
    };
    let is_slow = clock.read_ns > limits::CLOCK_READ_NS;
    if is_slow && share > limits::CLOCK_SHARE {
        let text = format!(
            "Reading the clock ({}) takes {:.0} ns; two readings are {} of the mean latency.",
            clock.source,
            clock.read_ns,
            percent(share)
        );
        verdict.object(Level::Suspect, reason("clock", "slow clock", text));
    } else if is_slow {
        let text = format!(
            "Reading the clock ({}) takes {:.0} ns.",
            clock.source, clock.read_ns
        );
        verdict.note(reason("clock", "slow clock", text));
    }
    let drift = clock.wall_drift_ns.unwrap_or(0).unsigned_abs();
    if drift > limits::WALL_STEP_NS {
        let text = format!(
            "Calendar time was set by {} ms during the window; durations come from the monotonic \
             clock and are not affected.",
            drift / 1_000_000
        );
        verdict.note(reason("clock-step", "calendar was set", text));
    }
}

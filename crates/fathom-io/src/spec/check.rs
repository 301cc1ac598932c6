//! Whether a specification can be carried out, before anything is touched.

use fathom_base::{Bytes, Percent, Rate};

use super::{
    BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, JobSpec, Mode, Pace,
    SizeShare, TargetKind, Verify,
};
use crate::error::IoError;

/// Most operations a job keeps in flight: the most entries io_uring has.
pub const MAX_DEPTH: u32 = 32_768;
/// Most threads of a job.
pub const MAX_JOBS: u32 = 1024;
/// Largest block, 1 GiB.
pub const MAX_BLOCK_BYTES: u64 = 1 << 30;
/// Most sizes of a split.
pub const MAX_SHARES: usize = 64;
/// Narrowest row of a series, 1 ms.
pub const MIN_INTERVAL_NS: u64 = 1_000_000;
/// Shortest time after which an operation counts as stuck, 1 s.
pub const MIN_STUCK_AFTER_NS: u64 = 1_000_000_000;
/// Fastest rate, 1 operation a nanosecond.
const MAX_RATE: f64 = 1e9;

/// Checks every field, each alone and against the others.
///
/// # Errors
/// [`IoError::Spec`] with the field, its value and what is allowed.
pub(crate) fn check(spec: &JobSpec) -> Result<(), IoError> {
    check_numbers(spec)?;
    check_sizes("block_sizes.reads", &spec.block_sizes.reads)?;
    check_sizes("block_sizes.writes", &spec.block_sizes.writes)?;
    check_span(spec)?;
    check_mode(spec)?;
    check_stop(spec)?;
    check_pace(spec.pace)?;
    check_distribution(spec.distribution)?;
    check_contents(spec)?;
    check_engine(spec)?;
    check_memory(spec)
}

/// Whether block sizes and offset are whole sectors of this many bytes; `None` for no sector.
pub(crate) fn sector_of(spec: &JobSpec, sector: u64) -> Option<(&'static str, Bytes)> {
    let uneven = |bytes: &Bytes| !bytes.as_u64().is_multiple_of(sector.max(1));
    let BlockSizes { reads, writes } = &spec.block_sizes;
    let blocks = reads.iter().chain(writes).map(|s| s.size).find(uneven);
    blocks
        .map(|size| ("block size", size))
        .or(Some(("offset", spec.offset)).filter(|(_, offset)| uneven(offset)))
}

fn refuse(field: &'static str, value: impl ToString, expected: impl Into<String>) -> IoError {
    IoError::Spec {
        field,
        value: value.to_string(),
        expected: expected.into(),
    }
}

fn ensure(
    holds: bool,
    field: &'static str,
    value: impl ToString,
    expected: impl Into<String>,
) -> Result<(), IoError> {
    if holds {
        Ok(())
    } else {
        Err(refuse(field, value, expected))
    }
}

fn check_numbers(spec: &JobSpec) -> Result<(), IoError> {
    let depth = (1..=MAX_DEPTH).contains(&spec.depth);
    ensure(depth, "depth", spec.depth, format!("1 to {MAX_DEPTH}"))?;
    let jobs = (1..=MAX_JOBS).contains(&spec.jobs);
    ensure(jobs, "jobs", spec.jobs, format!("1 to {MAX_JOBS}"))?;
    let interval = spec.interval.as_u64() >= MIN_INTERVAL_NS;
    ensure(interval, "interval", spec.interval, "at least 1ms")?;
    let stuck = spec.stuck_after.as_u64() >= MIN_STUCK_AFTER_NS;
    ensure(stuck, "stuck_after", spec.stuck_after, "at least 1s")?;
    let every = spec.sync.every.is_none_or(|(n, _)| n > 0);
    ensure(every, "sync.every", 0, "at least 1 write")?;
    let limit = libc::CPU_SETSIZE.cast_unsigned();
    match spec.cpus.iter().find(|&&cpu| cpu >= limit) {
        Some(cpu) => Err(refuse("cpus", cpu, format!("numbers below {limit}"))),
        None => Ok(()),
    }
}

fn check_sizes(field: &'static str, shares: &[SizeShare]) -> Result<(), IoError> {
    let count = (1..=MAX_SHARES).contains(&shares.len());
    let expected = format!("1 to {MAX_SHARES} sizes");
    ensure(
        count,
        field,
        format!("with {} sizes", shares.len()),
        expected,
    )?;
    for SizeShare { size, share } in shares {
        let valid = (1..=MAX_BLOCK_BYTES).contains(&size.as_u64());
        ensure(valid, field, size, "1B to 1GiB")?;
        let positive = share.value() > 0.0 && share.value().is_finite();
        ensure(positive, field, share, "a share above 0 %")?;
    }
    Ok(())
}

fn check_span(spec: &JobSpec) -> Result<(), IoError> {
    let end = spec.offset.as_u64().checked_add(spec.size.as_u64());
    let fits = end.is_some_and(|end| end <= i64::MAX.cast_unsigned());
    ensure(fits, "offset + size", spec.size, "an end below 2^63")?;
    let largest = spec.block_sizes.largest();
    let parts = match spec.cursor {
        Cursor::Partitioned => u64::from(spec.jobs),
        Cursor::Own | Cursor::Shared => 1,
    };
    let smallest = spec.block_sizes.smallest().as_u64();
    let part = spec.size.as_u64() / smallest / parts * smallest;
    let expected = format!("room for a block of {largest} in each of {parts} parts");
    ensure(part >= largest.as_u64(), "size", spec.size, expected)?;
    let one = spec.block_sizes.smallest() == largest;
    let shared = spec.cursor == Cursor::Shared;
    ensure(
        one || !shared,
        "cursor",
        "shared",
        "one block size when jobs share a cursor",
    )
}

fn check_mode(spec: &JobSpec) -> Result<(), IoError> {
    if let Mode::Mixed { read_percent } | Mode::RandMixed { read_percent } = spec.mode {
        check_percent("mode.read_percent", read_percent)?;
    }
    let holes = spec.engine_options.punch_holes;
    let file = spec.target.kind == TargetKind::File;
    ensure(
        !spec.mode.trims() || !file || holes,
        "mode",
        "trim",
        "a block device, or punch_holes for a file",
    )?;
    ensure(
        file || !holes,
        "engine_options.punch_holes",
        true,
        "a regular file",
    )
}

fn check_stop(spec: &JobSpec) -> Result<(), IoError> {
    let stop = &spec.stop;
    let any = stop.runtime.is_some() || stop.bytes.is_some() || stop.passes.is_some();
    ensure(any, "stop", "without a limit", "runtime, bytes or passes")?;
    let runtime = stop.runtime.is_none_or(|t| t.as_u64() > 0);
    ensure(runtime, "stop.runtime", 0, "a duration above 0")?;
    let bytes = stop.bytes.is_none_or(|b| b.as_u64() > 0);
    ensure(bytes, "stop.bytes", 0, "a size above 0")?;
    let passes = stop.passes.is_none_or(|n| n > 0);
    ensure(passes, "stop.passes", 0, "at least 1")
}

fn check_pace(pace: Pace) -> Result<(), IoError> {
    let (Pace::Closed(rate) | Pace::Open { rate, .. }) = pace else {
        return Ok(());
    };
    let valid = match rate {
        Rate::Operations(per_second) => per_second > 0.0 && per_second <= MAX_RATE,
        Rate::Bytes(per_second) => per_second > 0,
    };
    ensure(valid, "pace", rate, "a rate above 0 and at most 1e9/s")
}

fn check_distribution(distribution: Distribution) -> Result<(), IoError> {
    match distribution {
        Distribution::OnceEach | Distribution::Uniform => Ok(()),
        Distribution::Zipf { theta } => {
            let valid = theta > 0.0 && theta <= 100.0;
            ensure(valid, "distribution.zipf", theta, "above 0 and at most 100")
        }
        Distribution::Pareto { h } => {
            let valid = h > 0.0 && h < 1.0 && h != 0.5;
            ensure(valid, "distribution.pareto", h, "between 0 and 1, not 0.5")
        }
    }
}

fn check_percent(field: &'static str, percent: Percent) -> Result<(), IoError> {
    let valid = (0.0..=100.0).contains(&percent.value());
    ensure(valid, field, percent, "0 % to 100 %")
}

fn check_contents(spec: &JobSpec) -> Result<(), IoError> {
    if let Contents::Shaped {
        compressible,
        dedupe,
    } = spec.contents
    {
        check_percent("contents.compressible", compressible)?;
        check_percent("contents.dedupe", dedupe)?;
    }
    if matches!(spec.verify, Verify::Ledger { .. }) {
        return check_ledger(spec);
    }
    let verifies = spec.verify == Verify::Pattern;
    let can = !spec.mode.writes()
        && spec.mode.reads()
        && spec.contents == Contents::Random
        && spec.engine != EngineKind::Null;
    ensure(
        can || !verifies,
        "verify",
        "pattern",
        "a mode that only reads, contents random, and an engine that moves data",
    )
}

/// What a ledger of blocks can keep.
fn check_ledger(spec: &JobSpec) -> Result<(), IoError> {
    let smallest = spec.block_sizes.smallest().as_u64();
    let BlockSizes { reads, writes } = &spec.block_sizes;
    let is_even = |share: &SizeShare| share.size.as_u64().is_multiple_of(smallest);
    let can = spec.contents == Contents::Random
        && spec.engine != EngineKind::Null
        && !spec.mode.trims()
        && sector_of(spec, crate::contents::SECTOR_BYTES as u64).is_none()
        && reads.iter().chain(writes).all(is_even);
    ensure(
        can,
        "verify",
        "ledger",
        "contents random in whole sectors of 512 bytes, block sizes that are multiples of the \
         smallest, no discards, and an engine that moves data",
    )?;
    ensure(
        spec.jobs == 1 || spec.cursor == Cursor::Partitioned,
        "cursor",
        "not partitioned",
        "parts of the span for each job, so that each knows what it wrote",
    )?;
    let needed = spec.size.as_u64() / smallest * 4;
    let limit = physical_memory() / 8;
    ensure(
        needed <= limit,
        "size",
        spec.size,
        format!(
            "at most {} blocks: what each holds is remembered in memory",
            limit / 4
        ),
    )
}

fn check_engine(spec: &JobSpec) -> Result<(), IoError> {
    use EngineKind::{IoUring, Mmap, Null, PosixAio, Psync};
    let options = &spec.engine_options;
    let engine = spec.engine;
    let only = |set: bool, field, kinds: &[EngineKind]| {
        let names: Vec<_> = kinds.iter().map(|k| k.name()).collect();
        let expected = format!("engine {}, not {engine}", names.join(" or "));
        ensure(!set || kinds.contains(&engine), field, "", expected)
    };
    only(options.sqpoll, "engine_options.sqpoll", &[IoUring])?;
    only(options.iopoll, "engine_options.iopoll", &[IoUring])?;
    only(options.hipri, "engine_options.hipri", &[Psync, PosixAio])?;
    let flags = [Psync, PosixAio, IoUring];
    only(options.nowait, "engine_options.nowait", &flags)?;
    only(options.write_dsync, "engine_options.write_dsync", &flags)?;
    only(options.uncached, "engine_options.uncached", &flags)?;
    let forced = options.force_async;
    only(forced.is_some(), "engine_options.force_async", &[IoUring])?;
    ensure(
        forced != Some(0),
        "engine_options.force_async",
        0,
        "at least 1",
    )?;
    let threads = options.pool_threads;
    only(
        threads.is_some(),
        "engine_options.pool_threads",
        &[PosixAio],
    )?;
    let valid = threads.is_none_or(|n| (1..=MAX_JOBS).contains(&n));
    let expected = format!("1 to {MAX_JOBS}");
    ensure(
        valid,
        "engine_options.pool_threads",
        threads.unwrap_or(0),
        expected,
    )?;
    let polls = options.iopoll || options.hipri;
    ensure(spec.direct || !polls, "direct", false, "true with polling")?;
    let uncached = options.uncached;
    ensure(
        !spec.direct || !uncached,
        "direct",
        true,
        "false with uncached",
    )?;
    ensure(
        !spec.direct || engine != Mmap,
        "direct",
        true,
        "false with engine mmap: a mapping is the page cache",
    )?;
    if let ClockChoice::Virtual { step_ns } = spec.clock {
        ensure(step_ns > 0, "clock.step_ns", step_ns, "at least 1")?;
        ensure(engine == Null, "clock", "virtual", "engine null")?;
    }
    Ok(())
}

/// Buffers may take half of the memory.
fn check_memory(spec: &JobSpec) -> Result<(), IoError> {
    let each = crate::buffer::Plan::new(spec, spec.depth).total_bytes();
    let needed = each.saturating_mul(u64::from(spec.jobs));
    let limit = physical_memory() / 2;
    ensure(
        needed <= limit,
        "block size x depth x jobs",
        Bytes::new(needed),
        format!("at most half of the memory, {}", Bytes::new(limit).rough()),
    )
}

fn physical_memory() -> u64 {
    // SAFETY: asks for a number; no memory is passed.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    let pages = u64::try_from(pages).unwrap_or(0);
    pages.saturating_mul(crate::probe::page_bytes())
}

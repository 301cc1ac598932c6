//! From the options of a case to a job file of fio.

use std::fmt::Write as _;
use std::path::Path;

use fathom_base::{Bytes, Nanos, Rate};
use fathom_model::Unmet;
use fathom_model::definition::io::{
    IoCache, IoClock, IoContents, IoCursor, IoDistribution, IoEngine, IoFlush, IoMode, IoOnError,
    IoOpenSync, IoSettings, IoStamps,
};

use super::{Fio, need};

/// What the case asks for and fio cannot do, or not with the same meaning.
pub(super) fn inexpressible(settings: &IoSettings, fio: &Fio) -> Vec<Unmet> {
    const NATIVE: &str = "use implementation native";
    let tuning = &settings.tuning;
    let shared = settings.cursor == IoCursor::Shared && settings.jobs > 1;
    let is_whole = |percent: f64| percent.fract() == 0.0;
    let mut unmet = Vec::new();
    for (is_asked, what) in [
        (shared, "cursor=shared"),
        (settings.precondition > 0, "precondition"),
        (
            settings.verify,
            "verify, of blocks that are written while they are read",
        ),
        (settings.stamps == IoStamps::PerBatch, "stamps=per-batch"),
        (
            matches!(settings.clock, IoClock::Virtual(_)),
            "clock=virtual",
        ),
        (
            settings.final_flush == IoFlush::Fdatasync,
            "final-flush=fdatasync",
        ),
        (tuning.nowait, "nowait (it fails what would block)"),
        (tuning.uncached, "uncached"),
        (tuning.punch_holes, "punch-holes"),
        (
            tuning.pool_threads.is_some_and(|threads| threads > 1),
            "pool-threads",
        ),
        (
            settings.rate.is_some(),
            "rate, an open loop (rate-limit is fio's rate_iops and rate)",
        ),
        (
            settings.rate_limit.is_some() && settings.mode.is_mixed(),
            "one rate for reads and writes together",
        ),
        (
            settings.bytes.is_some() && settings.ramp.as_u64() > 0,
            "bytes counted from the start of a ramp",
        ),
        (
            !is_whole(settings.read_percent.value()),
            "a read-percent with decimals",
        ),
        (
            settings.block_split.as_ref().is_some_and(|split| {
                !split
                    .parts()
                    .iter()
                    .all(|(_, share)| is_whole(share.value()))
            }),
            "a block-split with decimals",
        ),
        (
            !is_whole(settings.dedupe.value()),
            "a dedupe-percent with decimals",
        ),
        (
            matches!(settings.contents, IoContents::Compressible(share) if !is_whole(share.value())),
            "contents=compressible with decimals",
        ),
        (
            settings.mode.trims() && engine(settings, fio) == "io_uring",
            "discards with engine io_uring",
        ),
    ] {
        if is_asked {
            unmet.push(need(format!("fio has no counterpart of {what}"), NATIVE));
        }
    }
    if settings.engine == IoEngine::IoUring && !fio.has_io_uring {
        unmet.push(need(
            format!("fio {} was built without io_uring", fio.version),
            "use engine=libaio, or implementation native",
        ));
    }
    unmet
}

/// The engine's name in fio; `auto` is io_uring where fio has it, else libaio.
pub(super) fn engine(settings: &IoSettings, fio: &Fio) -> &'static str {
    match settings.engine {
        IoEngine::Auto if settings.mode.trims() => "psync",
        IoEngine::Auto if fio.has_io_uring => "io_uring",
        IoEngine::Auto | IoEngine::Libaio => "libaio",
        IoEngine::IoUring => "io_uring",
        IoEngine::Psync if settings.tuning.hipri => "pvsync2",
        IoEngine::Psync => "psync",
        IoEngine::Sync => "sync",
        IoEngine::PosixAio => "posixaio",
        IoEngine::Mmap => "mmap",
        IoEngine::Null => "null",
    }
}

/// The lines that say what is written.
pub(super) fn contents(settings: &IoSettings) -> String {
    let mut lines = match settings.contents {
        // Random, and changed for each block, is fio's own default.
        IoContents::Random => String::new(),
        IoContents::Zeros => "zero_buffers=1\n".to_owned(),
        IoContents::Compressible(share) => format!(
            "refill_buffers=1\nbuffer_compress_percentage={}\nbuffer_compress_chunk=4096\n",
            share.value()
        ),
    };
    if settings.dedupe.value() > 0.0 {
        let _ = writeln!(lines, "dedupe_percentage={}", settings.dedupe.value());
    }
    lines
}

/// The job file of a trial.
pub(super) fn file(
    settings: &IoSettings,
    fio: &Fio,
    path: &Path,
    direct: bool,
    seed: u64,
) -> String {
    let mut job = Lines::new(path);
    job.set("rw", rw(settings.mode));
    if settings.mode.is_mixed() {
        job.set("rwmixread", settings.read_percent.value());
    }
    job.set_block_sizes(settings);
    job.set("ioengine", engine(settings, fio));
    job.set("iodepth", settings.depth);
    job.set("direct", u8::from(direct));
    // fio takes no more than 63 bits.
    job.set("randseed", seed >> 1);
    job.set_span(settings);
    job.set_limits(settings);
    job.set_sync(settings);
    job.set_distribution(settings.distribution);
    job.text += &contents(settings);
    match settings.cache {
        IoCache::Cold => {}
        IoCache::Any => job.set("invalidate", 0),
        IoCache::Warm if direct => {}
        IoCache::Warm => {
            job.set("invalidate", 0);
            job.set("pre_read", 1);
        }
    }
    if settings.on_error == IoOnError::Count {
        job.set("continue_on_error", "all");
    }
    if settings.clock == IoClock::Monotonic {
        job.set("clocksource", "clock_gettime");
    }
    job.set_tuning(settings, fio);
    // Latency from submission to completion, as the native test measures it.
    job.text += "lat_percentiles=1\nclat_percentiles=0\nslat_percentiles=0\ngroup_reporting=1\n";
    job.text
}

/// The job file that writes a file before it is read.
pub(super) fn layout(settings: &IoSettings, path: &Path, direct: bool) -> String {
    let length = settings.end();
    let mut job = Lines::new(path);
    job.set("rw", "write");
    job.set("bs", layout_block(length).as_u64());
    job.set("ioengine", if direct { "libaio" } else { "psync" });
    job.set("iodepth", 8);
    job.set("direct", u8::from(direct));
    job.set("size", length.as_u64());
    job.set("end_fsync", 1);
    job.text += &contents(settings);
    job.text
}

/// The largest power of two up to 1 MiB that divides the length: fio writes whole blocks only.
pub(super) fn layout_block(length: Bytes) -> Bytes {
    let largest = 1_u64 << length.as_u64().trailing_zeros().min(20);
    Bytes::new(largest)
}

fn rw(mode: IoMode) -> &'static str {
    match mode {
        IoMode::ReadWrite => "rw",
        other => other.name(),
    }
}

/// fio's finest unit of time, rounded up so that nothing becomes 0, which is no limit.
fn microseconds(time: Nanos) -> String {
    format!("{}us", time.as_u64().div_ceil(1000))
}

struct Lines {
    text: String,
}

impl Lines {
    fn new(path: &Path) -> Self {
        let mut lines = Self {
            text: "[io]\n".to_owned(),
        };
        // fio separates several names by colons.
        let path = path.display().to_string().replace(':', "\\:");
        lines.set("filename", path);
        lines
    }

    fn set(&mut self, name: &str, value: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{name}={value}");
    }

    fn set_block_sizes(&mut self, settings: &IoSettings) {
        let bytes = |size: Bytes| size.as_u64();
        match (&settings.block_split, settings.write_block_size) {
            (Some(split), _) => {
                let parts: Vec<String> = split
                    .parts()
                    .iter()
                    .map(|(size, share)| format!("{}/{}", bytes(*size), share.value()))
                    .collect();
                self.set("bssplit", parts.join(":"));
            }
            (None, Some(write)) => {
                let (read, write) = (bytes(settings.block_size), bytes(write));
                self.set("bs", format!("{read},{write},{write}"));
            }
            (None, None) => self.set("bs", bytes(settings.block_size)),
        }
    }

    fn set_span(&mut self, settings: &IoSettings) {
        self.set("offset", settings.offset.as_u64());
        self.set("numjobs", settings.jobs);
        let size = settings.size.as_u64();
        match settings.cursor {
            IoCursor::Partitioned if settings.jobs > 1 => {
                let largest = settings.block_sizes().into_iter().max().unwrap_or_default();
                let grid = largest.as_u64().max(1);
                let part = size / u64::from(settings.jobs) / grid * grid;
                self.set("size", part);
                self.set("offset_increment", part);
            }
            _ => self.set("size", size),
        }
    }

    fn set_limits(&mut self, settings: &IoSettings) {
        if let Some(runtime) = settings.runtime {
            self.set("runtime", microseconds(runtime));
        }
        if settings.bytes.is_none() && settings.passes.is_none() {
            self.set("time_based", 1);
        }
        if settings.ramp.as_u64() > 0 {
            self.set("ramp_time", microseconds(settings.ramp));
        }
        let jobs = u64::from(settings.jobs);
        if let Some(bytes) = settings.bytes {
            self.set("io_size", bytes.as_u64().div_ceil(jobs));
        }
        if let Some(passes) = settings.passes {
            self.set("loops", passes);
        }
        // fio's rates are of one job.
        match settings.rate_limit {
            None => {}
            Some(Rate::Bytes(rate)) => self.set("rate", rate.div_ceil(jobs)),
            Some(Rate::Operations(rate)) => {
                self.set("rate_iops", (rate / jobs as f64).ceil() as u64);
            }
        }
    }

    fn set_sync(&mut self, settings: &IoSettings) {
        if let Some(every) = settings.fsync_every {
            self.set("fsync", every);
        }
        if let Some(every) = settings.fdatasync_every {
            self.set("fdatasync", every);
        }
        if settings.final_flush == IoFlush::Fsync {
            self.set("end_fsync", 1);
        }
        match settings.open_sync {
            IoOpenSync::None => {}
            IoOpenSync::Sync => self.set("sync", 1),
            IoOpenSync::Dsync => self.set("sync", "dsync"),
        }
    }

    fn set_distribution(&mut self, distribution: IoDistribution) {
        match distribution {
            IoDistribution::Once => {}
            IoDistribution::Uniform => self.set("norandommap", 1),
            IoDistribution::Zipf { theta } => {
                self.set("random_distribution", format!("zipf:{theta}"));
            }
            IoDistribution::Pareto { h } => {
                self.set("random_distribution", format!("pareto:{h}"));
            }
        }
    }

    fn set_tuning(&mut self, settings: &IoSettings, fio: &Fio) {
        let tuning = &settings.tuning;
        let engine = engine(settings, fio);
        if !settings.engine.is_synchronous() {
            let submit = match tuning.submit_batch {
                0 => settings.depth,
                some => some,
            };
            self.set("iodepth_batch_submit", submit);
            self.set("iodepth_batch_complete_min", tuning.reap_batch);
        }
        if engine == "io_uring" {
            for (name, is_set) in [
                ("fixedbufs", tuning.fixed_buffers),
                ("registerfiles", tuning.fixed_files),
                ("sqthread_poll", tuning.sqpoll),
                ("hipri", tuning.iopoll),
            ] {
                if is_set {
                    self.set(name, 1);
                }
            }
            if let Some(every) = tuning.force_async {
                self.set("force_async", every);
            }
        }
        if tuning.hipri && engine == "pvsync2" {
            self.set("hipri", 1);
        }
    }
}

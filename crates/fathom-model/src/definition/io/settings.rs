use fathom_base::{Bytes, Nanos, Percent, Rate};

use crate::case::Case;
use crate::contract::Unmet;
use crate::definition::menu;
use crate::error::OptionError;
use crate::option::{SizeShares, Worded};

menu! {
    /// Direction and order.
    "direction" IoMode {
        Read = "read" "sequential reads",
        Write = "write" "sequential writes",
        RandRead = "randread" "random reads",
        RandWrite = "randwrite" "random writes",
        ReadWrite = "readwrite" "sequential reads and writes mixed by read-percent",
        RandRw = "randrw" "random reads and writes mixed by read-percent",
        Trim = "trim" "sequential discards (block devices; files with punch-holes)",
        RandTrim = "randtrim" "random discards (block devices; files with punch-holes)",
    }
}

impl IoMode {
    /// Reads and writes in one run.
    pub const fn is_mixed(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandRw)
    }

    /// Offsets come from the distribution rather than in order.
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            Self::RandRead | Self::RandWrite | Self::RandRw | Self::RandTrim
        )
    }

    /// Discards.
    pub const fn trims(self) -> bool {
        matches!(self, Self::Trim | Self::RandTrim)
    }
}

menu! {
    /// How operations reach the kernel.
    "engine" IoEngine {
        Auto = "auto" "io_uring, else libaio, else a pool of threads; the result says which",
        IoUring = "io_uring" "io_uring_enter(2)",
        Libaio = "libaio" "io_submit(2)",
        Psync = "psync" "pread(2) and pwrite(2), one at a time",
        Sync = "sync" "as psync; fio's engine of this name seeks first",
        PosixAio = "posixaio" "a pool of threads, as glibc's aio_read",
        Mmap = "mmap" "copies in and out of a mapping, one at a time",
        Null = "null" "nothing: measures the tool itself",
    }
}

impl IoEngine {
    /// One operation at a time, whatever the depth.
    pub const fn is_synchronous(self) -> bool {
        matches!(self, Self::Psync | Self::Sync | Self::Mmap)
    }
}

menu! {
    /// Past the page cache or through it.
    "direct mode" IoDirect {
        Auto = "auto" "direct where the target can do it, else buffered from a cold cache, and the result says so",
        Yes = "yes" "O_DIRECT, or the case cannot run",
        No = "no" "through the page cache",
    }
}

menu! {
    /// The last flush.
    "flush" IoFlush {
        None = "none" "writes are acknowledged, not durable",
        Fsync = "fsync" "fsync(2), inside the measured time",
        Fdatasync = "fdatasync" "fdatasync(2), inside the measured time",
    }
}

menu! {
    /// Flags that make each write durable.
    "open flag" IoOpenSync {
        None = "none" "neither",
        Sync = "sync" "O_SYNC",
        Dsync = "dsync" "O_DSYNC",
    }
}

menu! {
    /// How several jobs share the span.
    "cursor" IoCursor {
        Partitioned = "partitioned" "each job has its own part of the span",
        Own = "own" "each job works on the whole span as if alone (fio's numjobs)",
        Shared = "shared" "one order, from which each job takes the next block",
    }
}

menu! {
    /// How the file comes to be.
    "layout" IoLayout {
        Written = "written" "every block is written before the first trial",
        Fallocate = "fallocate" "a new file with space but no data for each trial, as fio makes for write jobs",
    }
}

menu! {
    /// The page cache when a buffered trial starts; direct I/O does not look at it.
    "cache state" IoCache {
        Cold = "cold" "evicted, and the eviction verified",
        Warm = "warm" "read once from end to end",
        Any = "any" "as the trial before left it",
    }
}

menu! {
    /// How the moments lie at which operations of an open loop are due.
    "kind of arrivals" IoArrivals {
        Constant = "constant" "evenly",
        Poisson = "poisson" "exponential gaps, as of many independent users",
    }
}

menu! {
    /// How often the clock is read.
    "stamp policy" IoStamps {
        PerIo = "per-io" "at each submission and completion",
        PerBatch = "per-batch" "once for all operations of a batch: cheaper, latency blurred by up to one batch",
    }
}

menu! {
    /// What a failed operation does.
    "error policy" IoOnError {
        Stop = "stop" "the trial fails",
        Count = "count" "it is counted, the trial goes on",
    }
}

/// Which blocks random modes choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IoDistribution {
    /// Each block exactly once a pass.
    Once,
    /// Each block with the same chance.
    Uniform,
    /// The k-th most popular block with a chance proportional to `k^-theta`.
    Zipf {
        /// Exponent.
        theta: f64,
    },
    /// A share `h` of the blocks gets `1 - h` of the operations, and so on within.
    Pareto {
        /// The share.
        h: f64,
    },
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum IoContents {
    /// Incompressible, different in each block.
    Random,
    /// Each 4 KiB holds this share of zeros.
    Compressible(Percent),
    /// Zeros.
    Zeros,
}

/// Where time stamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoClock {
    /// The time stamp counter where it is sound, else the kernel's clock.
    Auto,
    /// The kernel's monotonic clock.
    Monotonic,
    /// So many nanoseconds a reading (null engine only).
    Virtual(u32),
}

/// The engine's own choices; see the option table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoTuning {
    /// Operations a submitting call hands over at most; 0 as many as are free.
    pub submit_batch: u32,
    /// Completions waited for at least; 0 polls.
    pub reap_batch: u32,
    /// Buffers registered with io_uring.
    pub fixed_buffers: bool,
    /// File registered with io_uring.
    pub fixed_files: bool,
    /// A kernel thread takes operations from the queue.
    pub sqpoll: bool,
    /// Completions are polled from the device.
    pub iopoll: bool,
    /// Every n-th operation goes to a kernel worker.
    pub force_async: Option<u32>,
    /// RWF_HIPRI.
    pub hipri: bool,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// RWF_DONTCACHE.
    pub uncached: bool,
    /// Threads of posixaio.
    pub pool_threads: Option<u32>,
    /// Discards on files punch holes.
    pub punch_holes: bool,
}

/// A case of test `io`, typed.
#[derive(Clone, Debug, PartialEq)]
pub struct IoSettings {
    /// `rw`.
    pub mode: IoMode,
    /// `read-percent`, for mixes.
    pub read_percent: Percent,
    /// `block-size`.
    pub block_size: Bytes,
    /// `write-block-size`.
    pub write_block_size: Option<Bytes>,
    /// `block-split`.
    pub block_split: Option<SizeShares>,
    /// `depth`.
    pub depth: u32,
    /// `jobs`.
    pub jobs: u32,
    /// `engine`.
    pub engine: IoEngine,
    /// `direct`.
    pub direct: IoDirect,
    /// `size`.
    pub size: Bytes,
    /// `offset`.
    pub offset: Bytes,
    /// `runtime`.
    pub runtime: Option<Nanos>,
    /// `ramp`.
    pub ramp: Nanos,
    /// `bytes`.
    pub bytes: Option<Bytes>,
    /// `passes`.
    pub passes: Option<u32>,
    /// `fsync-every`.
    pub fsync_every: Option<u32>,
    /// `fdatasync-every`.
    pub fdatasync_every: Option<u32>,
    /// `final-flush`.
    pub final_flush: IoFlush,
    /// `open-sync`.
    pub open_sync: IoOpenSync,
    /// `rate`: of an open loop.
    pub rate: Option<Rate>,
    /// `arrivals`, of an open loop.
    pub arrivals: IoArrivals,
    /// `rate-limit`: of a closed loop.
    pub rate_limit: Option<Rate>,
    /// `distribution`.
    pub distribution: IoDistribution,
    /// `contents`.
    pub contents: IoContents,
    /// `dedupe-percent`.
    pub dedupe: Percent,
    /// `verify`.
    pub verify: bool,
    /// `cursor`.
    pub cursor: IoCursor,
    /// `layout`.
    pub layout: IoLayout,
    /// `precondition`: passes.
    pub precondition: u32,
    /// `cache`.
    pub cache: IoCache,
    /// `stamps`.
    pub stamps: IoStamps,
    /// `clock`.
    pub clock: IoClock,
    /// `on-error`.
    pub on_error: IoOnError,
    /// Options of the engine.
    pub tuning: IoTuning,
}

impl IoSettings {
    /// Reads a case.
    ///
    /// # Errors
    /// [`OptionError`] when a stored case lacks an option or holds a value this version refuses.
    pub fn from_case(case: &Case) -> Result<Self, OptionError> {
        Ok(Self {
            mode: case.get("rw")?,
            read_percent: case.get("read-percent")?,
            block_size: case.get("block-size")?,
            write_block_size: case.get_or_none("write-block-size")?,
            block_split: case.get_or_none("block-split")?,
            depth: case.get("depth")?,
            jobs: case.get("jobs")?,
            engine: case.get("engine")?,
            direct: case.get("direct")?,
            size: case.get("size")?,
            offset: case.get("offset")?,
            runtime: case.get_or_none("runtime")?,
            ramp: case.get("ramp")?,
            bytes: case.get_or_none("bytes")?,
            passes: case.get_or_none("passes")?,
            fsync_every: case.get_or_none("fsync-every")?,
            fdatasync_every: case.get_or_none("fdatasync-every")?,
            final_flush: case.get("final-flush")?,
            open_sync: case.get("open-sync")?,
            rate: case.get_or_none("rate")?,
            arrivals: case.get("arrivals")?,
            rate_limit: case.get_or_none("rate-limit")?,
            distribution: distribution(case)?,
            contents: contents(case)?,
            dedupe: case.get("dedupe-percent")?,
            verify: case.flag("verify")?,
            cursor: case.get("cursor")?,
            layout: case.get("layout")?,
            precondition: case.get("precondition")?,
            cache: case.get("cache")?,
            stamps: case.get("stamps")?,
            clock: clock(case)?,
            on_error: case.get("on-error")?,
            tuning: IoTuning {
                submit_batch: case.get("submit-batch")?,
                reap_batch: case.get("reap-batch")?,
                fixed_buffers: case.flag("fixed-buffers")?,
                fixed_files: case.flag("fixed-files")?,
                sqpoll: case.flag("sqpoll")?,
                iopoll: case.flag("iopoll")?,
                force_async: case.get_or_none("force-async")?,
                hipri: case.flag("hipri")?,
                nowait: case.flag("nowait")?,
                uncached: case.flag("uncached")?,
                pool_threads: case.get_or_none("pool-threads")?,
                punch_holes: case.flag("punch-holes")?,
            },
        })
    }

    /// Whether any operation reads.
    pub fn reads(&self) -> bool {
        match self.mode {
            IoMode::Read | IoMode::RandRead => true,
            IoMode::ReadWrite | IoMode::RandRw => self.read_percent.value() > 0.0,
            _ => false,
        }
    }

    /// Whether any operation writes.
    pub fn writes(&self) -> bool {
        match self.mode {
            IoMode::Write | IoMode::RandWrite => true,
            IoMode::ReadWrite | IoMode::RandRw => self.read_percent.value() < 100.0,
            _ => false,
        }
    }

    /// Whether fsync or fdatasync is called in the measured time.
    pub fn syncs(&self) -> bool {
        self.fsync_every.is_some()
            || self.fdatasync_every.is_some()
            || self.final_flush != IoFlush::None
    }

    /// What paces the operations, however it is done.
    pub fn any_rate(&self) -> Option<Rate> {
        self.rate.or(self.rate_limit)
    }

    /// Every size an operation may have, reads first, with repeats.
    pub fn block_sizes(&self) -> Vec<Bytes> {
        match &self.block_split {
            Some(split) => split.parts().iter().map(|(size, _)| *size).collect(),
            None => {
                let write = self.write_block_size.unwrap_or(self.block_size);
                match (self.reads(), self.mode.is_mixed()) {
                    (_, true) => vec![self.block_size, write],
                    (true, false) => vec![self.block_size],
                    (false, false) => vec![write],
                }
            }
        }
    }

    /// The one size of all operations, where there is one.
    pub fn single_block_size(&self) -> Option<Bytes> {
        let sizes = self.block_sizes();
        let first = *sizes.first()?;
        sizes.iter().all(|size| *size == first).then_some(first)
    }

    /// First byte behind the span.
    pub fn end(&self) -> Bytes {
        Bytes::new(self.offset.as_u64().saturating_add(self.size.as_u64()))
    }

    /// Whether every write is durable before the measured time ends.
    pub fn is_durable(&self) -> bool {
        self.fsync_every == Some(1)
            || self.fdatasync_every == Some(1)
            || self.final_flush != IoFlush::None
            || self.open_sync != IoOpenSync::None
    }

    /// What makes writes durable, in words: `fdatasync after every write`, `none`.
    pub fn durability(&self) -> String {
        let mut parts = Vec::new();
        for (call, every) in [
            ("fsync", self.fsync_every),
            ("fdatasync", self.fdatasync_every),
        ] {
            match every {
                Some(1) => parts.push(format!("{call} after every write")),
                Some(every) => parts.push(format!("{call} after every {every} writes")),
                None => {}
            }
        }
        if self.open_sync != IoOpenSync::None {
            parts.push(format!("O_{}", self.open_sync.name().to_uppercase()));
        }
        if self.final_flush != IoFlush::None {
            parts.push(format!(
                "{} at the end, inside the window",
                self.final_flush
            ));
        }
        match parts.is_empty() {
            true => "none".to_owned(),
            false => parts.join(", "),
        }
    }

    /// What is written, in words: `random`, `compressible 50%, 20% duplicates`.
    pub fn contents_in_words(&self) -> String {
        let mut words = match self.contents {
            IoContents::Random => "random".to_owned(),
            IoContents::Compressible(percent) => format!("compressible {percent}"),
            IoContents::Zeros => "zeros".to_owned(),
        };
        if self.dedupe.value() > 0.0 {
            words += &format!(", {} duplicates", self.dedupe);
        }
        words
    }

    /// Choices that contradict each other, on any machine and in any implementation.
    pub fn conflicts(&self) -> Vec<Unmet> {
        let mut found = Vec::new();
        let mut object = |is_wrong: bool, what: String, hint: &str| {
            if is_wrong {
                found.push(Unmet {
                    what,
                    hint: hint.to_owned(),
                });
            }
        };
        let mode = self.mode;
        object(
            self.runtime.is_none() && self.bytes.is_none() && self.passes.is_none(),
            "runtime, bytes and passes are all none: the trial would never end".to_owned(),
            "give one of them",
        );
        object(
            self.fsync_every.is_some() && self.fdatasync_every.is_some(),
            "fsync-every and fdatasync-every are both given".to_owned(),
            "give one of them",
        );
        object(
            self.syncs() && !self.writes(),
            format!("rw={mode} writes nothing that could be synced"),
            "leave fsync-every, fdatasync-every and final-flush at none",
        );
        object(
            self.reads() && self.layout == IoLayout::Fallocate,
            format!("rw={mode} reads, and layout=fallocate leaves nothing to read"),
            "use layout=written",
        );
        object(
            self.block_split.is_some() && self.write_block_size.is_some(),
            "block-split and write-block-size are both given".to_owned(),
            "give one of them",
        );
        let largest = self.block_sizes().into_iter().max().unwrap_or_default();
        object(
            largest > self.size,
            format!("a block of {largest} is larger than size={}", self.size),
            "use a smaller block or a larger size",
        );
        object(
            self.dedupe.value() > 0.0 && self.contents == IoContents::Zeros,
            "dedupe-percent has no meaning with contents=zeros".to_owned(),
            "leave dedupe-percent at 0",
        );
        let jobs = match self.cursor {
            IoCursor::Partitioned => u64::from(self.jobs),
            IoCursor::Own | IoCursor::Shared => 1,
        };
        object(
            jobs > 1 && largest.as_u64().saturating_mul(jobs) > self.size.as_u64(),
            format!(
                "size={} has no room for a block of {largest} for each of {jobs} jobs",
                self.size
            ),
            "use a larger size, fewer jobs, or cursor=own",
        );
        object(
            self.cursor == IoCursor::Shared && self.single_block_size().is_none(),
            "cursor=shared needs one block size".to_owned(),
            "use cursor=partitioned or cursor=own",
        );
        object(
            self.precondition > 0
                && (self.layout == IoLayout::Fallocate || self.engine == IoEngine::Null),
            "precondition writes the file before the first trial, and each trial has a new one or \
             none"
                .to_owned(),
            "use layout=written and an engine that does I/O",
        );
        object(
            self.rate.is_some() && self.rate_limit.is_some(),
            "rate (open loop) and rate-limit (closed loop) are both given".to_owned(),
            "give rate for latency at a rate, rate-limit to hold a load back",
        );
        object(
            self.arrivals != IoArrivals::Constant && self.rate.is_none(),
            format!(
                "arrivals={} says when operations of an open loop are due, and rate is none",
                self.arrivals
            ),
            "give a rate",
        );
        object(
            matches!(self.distribution, IoDistribution::Pareto { h } if h == 0.5),
            "distribution=pareto:0.5 is uniform".to_owned(),
            "use distribution=uniform, or another number",
        );
        self.engine_conflicts(&mut object);
        if self.verify {
            self.verify_conflicts(&mut object);
        }
        found
    }

    fn verify_conflicts(&self, object: &mut impl FnMut(bool, String, &str)) {
        object(
            self.mode.trims() || self.engine == IoEngine::Null,
            format!(
                "verify needs data, and rw={} engine={} moves none",
                self.mode, self.engine
            ),
            "use it with a mode that reads or writes and an engine that does I/O",
        );
        object(
            self.contents != IoContents::Random || self.dedupe.value() > 0.0,
            "verify needs blocks that differ from each other".to_owned(),
            "use contents=random and dedupe-percent=0",
        );
        object(
            self.jobs > 1 && self.cursor != IoCursor::Partitioned,
            format!(
                "verify needs a part of the span for each job, and cursor={}",
                self.cursor
            ),
            "use cursor=partitioned",
        );
        let sizes: Vec<u64> = self
            .block_sizes()
            .iter()
            .map(|size| size.as_u64())
            .collect();
        let smallest = sizes.iter().copied().min().unwrap_or(SECTOR).max(1);
        let is_even = |size: &u64| size.is_multiple_of(SECTOR) && size.is_multiple_of(smallest);
        object(
            !sizes.iter().all(is_even) || !self.offset.as_u64().is_multiple_of(SECTOR),
            "verify needs blocks of whole 512 bytes, each a multiple of the smallest".to_owned(),
            "use other block sizes or another offset",
        );
    }

    fn engine_conflicts(&self, object: &mut impl FnMut(bool, String, &str)) {
        let (engine, tuning) = (self.engine, &self.tuning);
        for (name, is_set) in [
            ("sqpoll", tuning.sqpoll),
            ("iopoll", tuning.iopoll),
            ("force-async", tuning.force_async.is_some()),
        ] {
            object(
                is_set && engine != IoEngine::IoUring,
                format!("{name} is a choice of io_uring, and engine={engine}"),
                "use engine=io_uring",
            );
        }
        object(
            tuning.hipri
                && !matches!(
                    engine,
                    IoEngine::Psync | IoEngine::Sync | IoEngine::PosixAio
                ),
            format!("hipri works with psync and posixaio, and engine={engine}"),
            "use engine=psync, or iopoll=yes with io_uring",
        );
        for (name, is_set) in [("nowait", tuning.nowait), ("uncached", tuning.uncached)] {
            object(
                is_set && matches!(engine, IoEngine::Libaio | IoEngine::Mmap | IoEngine::Null),
                format!("{name} does not work with engine={engine}"),
                "use engine=io_uring or psync",
            );
        }
        object(
            tuning.iopoll && self.direct == IoDirect::No,
            "iopoll polls the device, and direct=no does not reach it".to_owned(),
            "use direct=yes",
        );
        object(
            tuning.uncached && self.direct == IoDirect::Yes,
            "uncached is about the page cache, and direct=yes goes past it".to_owned(),
            "use direct=no",
        );
        object(
            engine == IoEngine::Mmap && self.direct == IoDirect::Yes,
            "engine=mmap works in the page cache, and direct=yes goes past it".to_owned(),
            "use direct=no",
        );
        object(
            tuning.submit_batch > self.depth || tuning.reap_batch > self.depth,
            format!(
                "submit-batch and reap-batch cannot exceed depth={}",
                self.depth
            ),
            "use smaller batches",
        );
        object(
            matches!(self.clock, IoClock::Virtual(_)) && engine != IoEngine::Null,
            format!("clock=virtual measures nothing, and engine={engine}"),
            "use it with engine=null only",
        );
        object(
            self.mode.trims() && engine == IoEngine::Mmap,
            "engine=mmap cannot discard".to_owned(),
            "use engine=psync",
        );
    }
}

/// Bytes that carry a stamp of their own.
const SECTOR: u64 = 512;

fn worded(case: &Case, name: &str) -> Result<Worded, OptionError> {
    case.get(name)
}

fn bad(case: &Case, name: &str, expected: &str) -> OptionError {
    OptionError::Value {
        test: case.test.clone(),
        option: name.to_owned(),
        value: case.text(name).unwrap_or_default().to_owned(),
        expected: expected.to_owned(),
        nearest: None,
    }
}

fn distribution(case: &Case) -> Result<IoDistribution, OptionError> {
    let value = worded(case, "distribution")?;
    Ok(match (value.word.as_str(), value.number) {
        ("once", None) => IoDistribution::Once,
        ("uniform", None) => IoDistribution::Uniform,
        ("zipf", Some(theta)) => IoDistribution::Zipf { theta },
        ("pareto", Some(h)) => IoDistribution::Pareto { h },
        _ => {
            return Err(bad(
                case,
                "distribution",
                "once, uniform, zipf:1.2 or pareto:0.2",
            ));
        }
    })
}

fn contents(case: &Case) -> Result<IoContents, OptionError> {
    let value = worded(case, "contents")?;
    let percent = value.number.and_then(Percent::new);
    Ok(match (value.word.as_str(), percent) {
        ("random", None) => IoContents::Random,
        ("zeros", None) => IoContents::Zeros,
        ("compressible", Some(percent)) => IoContents::Compressible(percent),
        _ => return Err(bad(case, "contents", "random, compressible:50 or zeros")),
    })
}

fn clock(case: &Case) -> Result<IoClock, OptionError> {
    let value = worded(case, "clock")?;
    Ok(match (value.word.as_str(), value.number) {
        ("auto", None) => IoClock::Auto,
        ("monotonic", None) => IoClock::Monotonic,
        ("virtual", Some(step)) if (1.0..=1e9).contains(&step) && step.fract() == 0.0 => {
            IoClock::Virtual(step as u32)
        }
        _ => return Err(bad(case, "clock", "auto, monotonic or virtual:100")),
    })
}

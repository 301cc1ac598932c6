use fathom_base::{Bytes, Nanos};

use super::settings::{
    IoArrivals, IoCache, IoCursor, IoDirect, IoEngine, IoFlush, IoLayout, IoMode, IoOnError,
    IoOpenSync, IoStamps,
};
use crate::option::{OptionInfo, OptionKind, Word};

/// The name a user types.
pub const ID: &str = "io";
/// For people.
pub const TITLE: &str = "Random and sequential I/O";
/// What it does and what its figures mean.
pub const SUMMARY: &str = "Reads, writes or discards blocks of one file (or block device) in \
sequential or random order, as many at a time as depth and jobs say, and measures bandwidth, \
operations a second and the latency of each operation from submission to completion, or, at a \
given rate, from the moment it was due. The file is written before it is read, and direct I/O is used where the target can do it, so that the figures \
are the device's and not the memory's.";
/// Version of the workload.
pub const VERSION: &str = "1.0";

/// Largest block.
pub(crate) const MAX_BLOCK: Bytes = Bytes::new(128 << 20);
/// Smallest block.
pub(crate) const MIN_BLOCK: Bytes = Bytes::new(512);
/// Most operations in flight a job.
pub(crate) const MAX_DEPTH: u64 = 4096;
/// Most jobs.
pub(crate) const MAX_JOBS: u64 = 256;
/// Most passes of preconditioning.
const MAX_PASSES: u64 = 100;
const MAX_SIZE: Bytes = Bytes::new(1 << 60);
const MAX_TIME: Nanos = Nanos::from_secs(30 * 24 * 3600);

const DISTRIBUTIONS: &[Word] = &[
    Word::plain("once"),
    Word::plain("uniform"),
    Word::with_number("zipf", 0.01, 10.0, 1.2),
    Word::with_number("pareto", 0.01, 0.99, 0.2),
];
const CONTENTS: &[Word] = &[
    Word::plain("random"),
    Word::with_number("compressible", 0.0, 100.0, 50.0),
    Word::plain("zeros"),
];
const CLOCKS: &[Word] = &[
    Word::plain("auto"),
    Word::plain("monotonic"),
    Word::with_number("virtual", 1.0, 1e9, 100.0),
];

/// The option table of test `io`, in the order it is shown.
pub fn options() -> Vec<OptionInfo> {
    let mut rows = load();
    rows.extend(extent());
    rows.extend(durability());
    rows.extend(data());
    rows.extend(engine_tuning());
    rows
}

fn load() -> Vec<OptionInfo> {
    let block = OptionKind::Size(MIN_BLOCK, MAX_BLOCK);
    vec![
        IoMode::option(
            "rw",
            IoMode::RandRead,
            "Direction and order of the operations.",
        ),
        OptionInfo::new(
            "read-percent",
            OptionKind::Percent,
            "70%",
            "Share of reads among the operations of readwrite and randrw.",
        )
        .menu(&["100%", "70%", "50%", "30%"]),
        OptionInfo::new("block-size", block, "4KiB", "Bytes an operation moves.")
            .menu(&["4KiB", "16KiB", "64KiB", "128KiB", "1MiB", "2MiB", "8MiB"]),
        OptionInfo::new(
            "write-block-size",
            block,
            "none",
            "Bytes a write or discard moves, where it differs from block-size.",
        )
        .or_none(),
        OptionInfo::new(
            "block-split",
            OptionKind::SizeShares(MIN_BLOCK, MAX_BLOCK),
            "none",
            "Several block sizes with their shares, instead of block-size.",
        )
        .menu(&["4KiB/60:64KiB/40"])
        .or_none(),
        OptionInfo::new(
            "depth",
            OptionKind::Integer(1, MAX_DEPTH),
            "32",
            "Operations each job keeps in flight (1 with psync, sync and mmap).",
        )
        .menu(&["1", "4", "8", "16", "32", "64", "128", "256"]),
        OptionInfo::new(
            "jobs",
            OptionKind::Integer(1, MAX_JOBS),
            "1",
            "Threads that submit, each with its own queue, all on one file.",
        )
        .menu(&["1", "2", "4", "8", "16", "64"]),
        IoEngine::option("engine", IoEngine::Auto, "How operations reach the kernel."),
        IoDirect::option(
            "direct",
            IoDirect::Auto,
            "Past the page cache or through it.",
        ),
    ]
}

fn extent() -> Vec<OptionInfo> {
    let size = |low| OptionKind::Size(low, MAX_SIZE);
    let time = |low| OptionKind::Duration(low, MAX_TIME);
    vec![
        OptionInfo::new(
            "size",
            size(MIN_BLOCK),
            "1GiB",
            "Length of the span that is worked on; the file's size.",
        )
        .menu(&["256MiB", "1GiB", "4GiB", "16GiB", "64GiB"]),
        OptionInfo::new(
            "offset",
            size(Bytes::new(0)),
            "0B",
            "Where the span begins.",
        ),
        OptionInfo::new(
            "runtime",
            time(Nanos::from_millis(1)),
            "5s",
            "Measured time of a trial; the span is worked on again and again.",
        )
        .menu(&["800ms", "5s", "20s", "60s"])
        .or_none(),
        OptionInfo::new(
            "ramp",
            time(Nanos::new(0)),
            "500ms",
            "Load before the measured time, not counted.",
        ),
        OptionInfo::new(
            "bytes",
            size(MIN_BLOCK),
            "none",
            "End the trial after so many bytes of all jobs together.",
        )
        .or_none(),
        OptionInfo::new(
            "passes",
            OptionKind::Integer(1, 1_000_000),
            "none",
            "End the trial when each job has covered its span so many times.",
        )
        .or_none(),
        OptionInfo::new(
            "rate",
            OptionKind::Rate,
            "none",
            "Open loop: operations are due at this rate (1000/s, 50MB/s; all jobs together), \
             whether or not earlier ones are done, and latency counts from when they were due.",
        )
        .or_none(),
        IoArrivals::option(
            "arrivals",
            IoArrivals::Constant,
            "How the moments lie at which operations of an open loop (rate) are due.",
        ),
        OptionInfo::new(
            "rate-limit",
            OptionKind::Rate,
            "none",
            "Closed loop: at most this rate (all jobs together). An operation waits for earlier \
             ones, so that only service time is measured, not latency at that rate.",
        )
        .or_none(),
    ]
}

fn durability() -> Vec<OptionInfo> {
    let every = |name, help| {
        OptionInfo::new(name, OptionKind::Integer(1, 1_000_000_000), "none", help)
            .menu(&["1", "32"])
            .or_none()
    };
    vec![
        every(
            "fdatasync-every",
            "fdatasync(2) after so many writes of a job; 1 makes every write durable.",
        ),
        every("fsync-every", "fsync(2) after so many writes of a job."),
        IoFlush::option(
            "final-flush",
            IoFlush::None,
            "Make everything durable at the end, inside the measured time.",
        ),
        IoOpenSync::option(
            "open-sync",
            IoOpenSync::None,
            "Open with O_SYNC or O_DSYNC.",
        ),
    ]
}

fn data() -> Vec<OptionInfo> {
    vec![
        OptionInfo::new(
            "distribution",
            OptionKind::Word(DISTRIBUTIONS),
            "once",
            "Which blocks random modes choose.",
        )
        .choice("once", "each block once a pass, as fio's random map")
        .choice("uniform", "each block with the same chance, independently")
        .choice(
            "zipf:1.2",
            "the k-th most popular block in proportion to k^-1.2",
        )
        .choice(
            "pareto:0.2",
            "a fifth of the blocks gets four fifths, and so on within",
        ),
        OptionInfo::new(
            "contents",
            OptionKind::Word(CONTENTS),
            "random",
            "What is written.",
        )
        .choice("random", "incompressible, different in each block")
        .choice("compressible:50", "each 4KiB is half zeros")
        .choice("zeros", "zeros; says little about a compressing stack"),
        OptionInfo::new(
            "dedupe-percent",
            OptionKind::Percent,
            "0%",
            "Share of 4KiB chunks that repeat others.",
        ),
        OptionInfo::new(
            "verify",
            OptionKind::Flag,
            "no",
            "Check that each block read is what was last written there, and read all back in the \
             end, after the measured time.",
        ),
        IoCursor::option(
            "cursor",
            IoCursor::Partitioned,
            "How several jobs share the span.",
        ),
        IoLayout::option("layout", IoLayout::Written, "How the file comes to be."),
        OptionInfo::new(
            "precondition",
            OptionKind::Integer(0, MAX_PASSES),
            "0",
            "Times the whole span is written in order, in blocks of 128KiB, before the first trial; \
             SNIA's preconditioning is 2.",
        ),
        IoCache::option(
            "cache",
            IoCache::Cold,
            "The page cache when a buffered trial starts.",
        ),
    ]
}

fn engine_tuning() -> Vec<OptionInfo> {
    let flag = |name, default, help| OptionInfo::new(name, OptionKind::Flag, default, help);
    let batch = OptionKind::Integer(0, MAX_DEPTH);
    vec![
        OptionInfo::new(
            "submit-batch",
            batch,
            "0",
            "Operations handed over by one system call at most; 0 is as many as are free.",
        ),
        OptionInfo::new(
            "reap-batch",
            batch,
            "1",
            "Completions waited for at least; 0 never waits but polls.",
        ),
        flag(
            "fixed-buffers",
            "yes",
            "io_uring: buffers are mapped into the kernel once.",
        ),
        flag(
            "fixed-files",
            "yes",
            "io_uring: the file is looked up once.",
        ),
        flag(
            "sqpoll",
            "no",
            "io_uring: a kernel thread takes the operations; costs a processor.",
        ),
        flag(
            "iopoll",
            "no",
            "io_uring: completions are polled from the device.",
        ),
        OptionInfo::new(
            "force-async",
            OptionKind::Integer(1, 1_000_000),
            "none",
            "io_uring: every n-th operation goes to a kernel worker, as fio's force_async.",
        )
        .or_none(),
        flag(
            "hipri",
            "no",
            "psync, posixaio: poll for the completion (RWF_HIPRI).",
        ),
        flag(
            "nowait",
            "no",
            "Count what would block, then do it without RWF_NOWAIT.",
        ),
        flag(
            "uncached",
            "no",
            "Through the page cache but not kept there (RWF_DONTCACHE).",
        ),
        OptionInfo::new(
            "pool-threads",
            OptionKind::Integer(1, MAX_DEPTH),
            "none",
            "posixaio: threads of the pool; none is depth, glibc uses 1 for one file.",
        )
        .or_none(),
        flag(
            "punch-holes",
            "no",
            "Let trim and randtrim punch holes into a file.",
        ),
        IoStamps::option("stamps", IoStamps::PerIo, "How often the clock is read."),
        OptionInfo::new(
            "clock",
            OptionKind::Word(CLOCKS),
            "auto",
            "Where time stamps come from.",
        )
        .choice(
            "auto",
            "the time stamp counter where it is sound, else the kernel's clock",
        )
        .choice("monotonic", "the kernel's clock")
        .choice(
            "virtual:100",
            "100 ns a reading: the same result everywhere (engine=null)",
        ),
        IoOnError::option("on-error", IoOnError::Stop, "What a failed operation does."),
    ]
}

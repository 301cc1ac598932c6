//! Every number a rule compares with.

/// Share by which drives may have moved fewer bytes than the test before `device-bytes` objects;
/// the table asks for 0.95.
pub const DEVICE_SHORTFALL: f64 = 0.05;
/// Below this share of the test's bytes, with the page cache caught holding them, a direct figure
/// is not the drive's at all.
pub const DEVICE_MINORITY: f64 = 0.50;
/// Bytes written by the drives for a byte of the test from which `amplification` notes it.
pub const AMPLIFICATION: f64 = 1.10;
/// Share of a buffered test's bytes that may come from, or stay in, the page cache.
pub const CACHE_SHARE: f64 = 0.10;
/// A file read through the page cache without device counters should be this many times memory.
pub const MEMORY_MULTIPLE: f64 = 2.0;
/// Rate over the link's ceiling that is an accounting error and not rounding.
pub const LINK_EXCESS: f64 = 1.02;
/// Relative difference allowed between rate x latency and requests in flight.
pub const LITTLE: f64 = 0.05;
/// Fewer operations than this say nothing about Little's law.
pub const LITTLE_OPERATIONS: u64 = 100;
/// Corrupt blocks named in a reason; the evidence has more.
pub const FAULTS_NAMED: usize = 4;
/// Rows of a series below which it says nothing of its own; ...
pub const SERIES_ROWS: usize = 10;
/// ... and above which it is not looked at.
pub const SERIES_ROWS_MOST: usize = 2000;
/// Length of a series below which its rows are noise.
pub const SERIES_NS: u64 = 5_000_000_000;
/// Rows that each of two phases has at least.
pub const PHASE_ROWS: usize = 3;
/// Change of level that makes two phases.
pub const PHASE_CHANGE: f64 = 0.10;
/// A drop of the level by this much makes the mean say nothing.
pub const PHASE_DROP: f64 = 0.30;
/// Share of the later intervals that a first one reaches which is no slow start.
pub const SLOW_START: f64 = 0.70;
/// Probability of a trend that is none from which a figure counts as moving on.
pub const TREND_P: f64 = 0.01;
/// Difference of the first trial from the median of the others that is worth a note ...
pub const FIRST_TRIAL: f64 = 0.10;
/// ... where there are so many others.
pub const FIRST_TRIAL_OTHERS: usize = 4;
/// Share of a rate limit from which it counts as reached.
pub const RATE_REACHED: f64 = 0.99;
/// Share of the operations due in an open loop that may be unfinished when the window closes,
/// beyond ...
pub const UNFINISHED_SHARE: f64 = 0.001;
/// ... so many and twice those usually in flight.
pub const UNFINISHED: f64 = 2.0;
/// Share of the data a fast compressor saves from which it counts as compressible.
pub const COMPRESSIBLE_SHARE: f64 = 0.10;
/// Share of the file under test that may never have been written when it is read.
pub const UNWRITTEN_SHARE: f64 = 0.005;
/// Busy share of one submitting thread from which the test measures the CPU.
pub const SUBMITTER_BUSY: f64 = 0.90;
/// Share of CPU time the hypervisor may keep.
pub const STEAL: f64 = 0.02;
/// Shortest window in which counters of 10 ms steps mean something.
pub const TICK_WINDOW_NS: u64 = 1_000_000_000;
/// Share of the test's bytes that others may move on the same drives.
pub const FOREIGN_IO: f64 = 0.02;
/// Bytes of others that are never worth a word: a log line, a metadata block.
pub const FOREIGN_BYTES: u64 = 1 << 20;
/// Share of all CPU time others may spend in user mode while threads wait for a CPU.
pub const FOREIGN_CPU: f64 = 0.20;
/// Share of others' CPU time worth a note.
pub const FOREIGN_CPU_NOTE: f64 = 0.10;
/// Share of the window with some thread waiting for a CPU that makes foreign CPU time matter.
pub const CPU_PRESSURE: f64 = 0.05;
/// Cost of reading the clock worth a note.
pub const CLOCK_READ_NS: f64 = 100.0;
/// Share of the mean latency that two readings of the clock may take.
pub const CLOCK_SHARE: f64 = 0.05;
/// Calendar against monotonic time: a step of this much is noted.
pub const WALL_STEP_NS: u64 = 100_000_000;
/// Fill level of a file system worth a note.
pub const FILL: f64 = 0.80;
/// Extents a GiB worth a note.
pub const EXTENTS_PER_GIB: u64 = 100;
/// Files smaller than this are not judged by their extents.
pub const EXTENTS_FILE_BYTES: u64 = 64 << 20;
/// A percentile p needs this many times 1/(1-p) samples.
pub const TAIL_SAMPLES: f64 = 10.0;
/// A flush faster than this on a drive with a volatile cache may be ignored by it.
pub const FLUSH_NS: f64 = 20_000.0;
/// Syncs needed to say something about flushes.
pub const FLUSH_COUNT: u64 = 10;
/// Bytes beyond the requests in flight that may fall on the other side of the window's borders.
pub const BORDER_BYTES: u64 = 256 << 10;
/// The machine's window may be longer than the test's by this factor ...
pub const WINDOW_EXCESS: f64 = 1.05;
/// ... and this much.
pub const WINDOW_EXCESS_NS: u64 = 20_000_000;
/// Clock sources that are read without leaving user mode.
pub const FAST_CLOCKS: [&str; 9] = [
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "riscv_clocksource",
    "tod",
    "stcounter",
    "Constant",
];

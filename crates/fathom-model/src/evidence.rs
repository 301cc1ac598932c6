//! What a trial saw besides its numbers; rules turn it into a verdict. Every field that could not
//! be had is absent, which is not the same as zero.

use serde::{Deserialize, Serialize};

/// JSON has no text for "not a number": it is written as null and must come back.
fn null_is_nan<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// Everything gathered about one trial's measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Evidence {
    /// The test's own account of its I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io: Option<IoEvidence>,
    /// How operations met the rate asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<PaceEvidence>,
    /// What verifying the data found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify: Option<VerifyEvidence>,
    /// Whether direct I/O was asked for and took effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct: Option<DirectEvidence>,
    /// The file under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FileEvidence>,
    /// The page cache over the file under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheEvidence>,
    /// What was written, and whether the stack below compresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<DataEvidence>,
    /// What the numbers promise about durability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub durability: Option<DurabilityEvidence>,
    /// CPU of the threads that submit I/O.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuEvidence>,
    /// What the machine saw over the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<HostEvidence>,
    /// The clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockEvidence>,
    /// Counts of a workload's operations by name: `NTCreateX`, `fsync`.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub counts: std::collections::BTreeMap<String, u64>,
    /// Sentences of the test or engine worth keeping, such as a fallback it took.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What newer versions wrote here.
    #[serde(flatten)]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Counts of the measured window, from the engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct IoEvidence {
    /// Length of the window.
    pub window_ns: u64,
    /// Completed reads and writes (and trims), without syncs.
    pub operations: u64,
    /// Bytes the application read.
    pub read_bytes: u64,
    /// Bytes the application wrote.
    pub written_bytes: u64,
    /// Bytes the application discarded.
    pub trimmed_bytes: u64,
    /// Sum over the latency histograms' counts; must equal `operations`.
    pub histogram_count: u64,
    /// Sum over the interval rows' operations; must equal `operations`.
    pub interval_count: u64,
    /// Latencies beyond the histogram's range.
    pub clipped: u64,
    /// Mean submit-to-reap latency (the service time of an open loop).
    #[serde(deserialize_with = "null_is_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub latency_ns_mean: f64,
    /// Mean number of operations in flight, measured by the engine independently of latency.
    #[serde(deserialize_with = "null_is_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub in_flight_mean: f64,
    /// The depth asked for, over all jobs.
    pub depth_total: u64,
    /// One block, when all are of one size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size_bytes: Option<u64>,
    /// Operations that failed.
    pub errors: u64,
    /// The engine that did the work.
    pub engine: String,
}

/// The rate asked for and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PaceEvidence {
    /// The rate asked for, all jobs together, as typed: `1000/s`, `50MB/s`.
    pub rate: String,
    /// Share of it that was reached: in an open loop, of the operations that were due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reached_share: Option<f64>,
    /// Operations were due whether or not earlier ones were done; absent for a closed loop, in
    /// which an operation that is late is not missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenEvidence>,
}

/// What verifying the data found, measured time or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct VerifyEvidence {
    /// Bytes checked of the test's own reads.
    pub checked_bytes: u64,
    /// Bytes read back and checked after them.
    pub read_back_bytes: u64,
    /// Blocks that were not what was last written there, by what they were instead: `stale`,
    /// `torn`, `misdirected`, `flipped`, `zeros`, `garbled`, `unreadable`.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub faults: std::collections::BTreeMap<String, u64>,
    /// The first of them, each with its offset.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<String>,
}

/// How operations met an open schedule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct OpenEvidence {
    /// `constant` or `poisson`.
    pub arrivals: String,
    /// Operations that were due in the window.
    pub due: u64,
    /// Of these, started more than 50 us after they were due.
    pub late_starts: u64,
    /// Longest delay of a start.
    pub latest_start_ns: u64,
    /// Due but not started when the window closed.
    pub backlog: u64,
    /// Started, but not completed when the window closed.
    pub unfinished: u64,
}

/// Direct I/O: asked, offered, and done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DirectEvidence {
    /// The test asked for O_DIRECT.
    pub requested: bool,
    /// Opening with O_DIRECT succeeded.
    pub opened: bool,
    /// Memory alignment by `statx(STATX_DIOALIGN)`; absent when the file system names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_align_bytes: Option<u32>,
    /// Offset alignment by `statx(STATX_DIOALIGN)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_align_bytes: Option<u32>,
    /// One real aligned transfer succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_ok: Option<bool>,
    /// Pages of the file that one aligned direct read left in the page cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transfer_cached_pages: Option<u64>,
}

/// The file under test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FileEvidence {
    /// Its size.
    pub size_bytes: u64,
    /// Bytes of the span under test that were never written (holes and unwritten extents), by
    /// FIEMAP; absent where the file system has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten_bytes: Option<u64>,
    /// Number of extents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extents: Option<u64>,
    /// The machine's memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Residency of the file in the page cache, by `cachestat(2)`, else `mincore(2)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CacheEvidence {
    /// Bytes resident when the window began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes_before: Option<u64>,
    /// Bytes resident when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resident_bytes_after: Option<u64>,
    /// The state the case asks for: `cold`, `warm`, `any`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub asked: String,
}

/// What the data is like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DataEvidence {
    /// How the buffers are filled: `random`, `compressible 50%`, `zeros`, as the original does.
    pub contents: String,
    /// Share of the bytes a fast compressor could save, estimated on a sample of what was
    /// written, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressible_share: Option<f64>,
    /// What below the test compresses or deduplicates, `btrfs compress=lzo`; absent when nothing
    /// is known to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compressing_stack: Option<String>,
}

/// What an acknowledged write means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DurabilityEvidence {
    /// In words: `none`, `fdatasync every write`, `fsync at the end, inside the window`.
    pub policy: String,
    /// Every write was made durable before the window ended.
    pub durable: bool,
    /// Syncs done in the window.
    pub syncs: u64,
    /// How long the final flush took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_flush_ns: Option<u64>,
}

/// The threads that submit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct CpuEvidence {
    /// User CPU over the window, all submitting threads.
    pub user_ns: u64,
    /// System CPU likewise.
    pub system_ns: u64,
    /// CPU of the busiest submitting thread as a share of the window, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest_share: Option<f64>,
    /// Involuntary context switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches: Option<u64>,
    /// The submitting threads poll for completions by design, so a busy thread means nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub polls: bool,
}

/// The machine over the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct HostEvidence {
    /// Length between the two looks.
    pub window_ns: u64,
    /// The leaf drives under the target; empty when there are none (memory, network).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceEvidence>,
    /// The target is memory: `tmpfs`, `ramfs`, `zram`, `loop on tmpfs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_backed: Option<String>,
    /// The file system of the target by its own name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file_system: String,
    /// Bytes this process's group read from storage, `/proc/self/io`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_read_bytes: Option<u64>,
    /// Bytes it sent to storage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_written_bytes: Option<u64>,
    /// One-minute load average at the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_before: Option<f64>,
    /// And at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_after: Option<f64>,
    /// Share of all CPU time stolen by the hypervisor, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Share of all CPU time that was busy, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// Share of all CPU time spent in user mode by anyone, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_share: Option<f64>,
    /// User CPU of this process and of the children it waited for; steps of 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_user_ns: Option<u64>,
    /// System CPU likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_system_ns: Option<u64>,
    /// Processors the shares above are of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Why there are no device counters: `nfs4 is a network file system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices_unseen: Option<String>,
    /// Pressure stall information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureEvidence>,
    /// The slowest link between the leaf drives and the CPU, bytes a second, all drives together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
    /// Times this control group was throttled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
}

/// One leaf drive, deltas of `/proc/diskstats`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DeviceEvidence {
    /// Kernel name: `nvme0n1`.
    pub name: String,
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Flushes completed; absent on kernels before 5.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// Time with I/O in flight.
    pub busy_ns: u64,
    /// `write back` or `write through`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
}

/// Time lost to pressure over the window, in nanoseconds of "some".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PressureEvidence {
    /// Waiting for CPU.
    pub cpu_ns: u64,
    /// Waiting for I/O; ours included.
    pub io_ns: u64,
    /// Waiting for memory.
    pub memory_ns: u64,
}

/// The clock the trial was timed with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ClockEvidence {
    /// The kernel's clock source: `tsc`, `kvm-clock`.
    pub source: String,
    /// What stamps the I/O: `rdtsc`, `clock_gettime`.
    pub stamp: String,
    /// Cost of one reading.
    #[serde(deserialize_with = "null_is_nan")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub read_ns: f64,
    /// Times the monotonic clock was seen to go backwards.
    pub backward_steps: u64,
    /// How far calendar and monotonic time moved apart over the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_drift_ns: Option<i64>,
}

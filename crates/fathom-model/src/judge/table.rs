use crate::verdict::Level;

use super::limits as l;

/// A rule as documentation and `fathom explain` show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Name in results, stable over versions.
    pub id: &'static str,
    /// What must hold.
    pub title: &'static str,
    /// Why it matters and how it is checked.
    pub meaning: &'static str,
    /// The numbers it compares with.
    pub threshold: String,
    /// The worst level it gives; [`Level::Valid`] means that it only notes.
    pub worst: Level,
    /// What to do; empty when nothing can be done.
    pub advice: &'static str,
}

/// Every rule, in the order they are asked.
pub fn rule_table() -> Vec<Rule> {
    ROWS.iter()
        .map(|row| Rule {
            id: row.id,
            title: row.title,
            meaning: row.meaning,
            threshold: threshold(row.id),
            worst: row.worst,
            advice: row.advice,
        })
        .collect()
}

/// The rule of a name.
pub fn rule(id: &str) -> Option<Rule> {
    rule_table().into_iter().find(|rule| rule.id == id)
}

pub(super) fn advice(id: &str) -> &'static str {
    ROWS.iter()
        .find(|row| row.id == id)
        .map_or("", |row| row.advice)
}

fn threshold(id: &str) -> String {
    let p = super::percent;
    match id {
        "littles-law" => format!(
            "rate x mean latency within {} of the mean in flight, more where long requests cross \
             the window's borders (from {} operations on)",
            p(l::LITTLE),
            l::LITTLE_OPERATIONS
        ),
        "counts" => "equality".to_owned(),
        "io-errors" | "data-corrupt" => "any".to_owned(),
        "closed-loop" => "any latency metric of a closed loop at a rate".to_owned(),
        "rate-missed" => format!(
            "open loop: over {} of the operations due were not completed, and over {:.0} + 2 x the \
             mean in flight; a limit: noted under {}",
            p(l::UNFINISHED_SHARE),
            l::UNFINISHED,
            p(l::RATE_REACHED)
        ),
        "null-engine" | "memory-backed" => "always".to_owned(),
        "direct-io" => "open and one transfer succeed and leave no page in the cache".to_owned(),
        "page-cache" => format!(
            "more than {} of the bytes; without counters: a file under {} x memory that was \
             resident, or read again",
            p(l::CACHE_SHARE),
            l::MEMORY_MULTIPLE
        ),
        "device-bytes" => format!(
            "drives move at least {} of the test's bytes; under {} with a page cache known to be in \
             between is invalid",
            p(1.0 - l::DEVICE_SHORTFALL),
            p(l::DEVICE_MINORITY)
        ),
        "amplification" => format!("over {:.2} bytes written a byte", l::AMPLIFICATION),
        "link-ceiling" => format!("over {} of the link, each direction", p(l::LINK_EXCESS)),
        "compressible-data" => format!(
            "more than {} can be saved; suspect where the stack compresses",
            p(l::COMPRESSIBLE_SHARE)
        ),
        "unwritten-blocks" => format!("more than {} of the file", p(l::UNWRITTEN_SHARE)),
        "flush-too-fast" => format!(
            "half of at least {} syncs under {:.0} us with a volatile write cache",
            l::FLUSH_COUNT,
            l::FLUSH_NS / 1e3
        ),
        "nearly-full" => format!("over {}", p(l::FILL)),
        "fragmented" => format!("over {} extents a GiB", l::EXTENTS_PER_GIB),
        "generator-bound" => format!(
            "a submitting thread busy over {} (unless it polls)",
            p(l::SUBMITTER_BUSY)
        ),
        "steal" => format!("over {} in windows of a second or more", p(l::STEAL)),
        "throttled" => "any".to_owned(),
        "foreign-io" => format!(
            "over {} of the test's bytes and over {} MiB",
            p(l::FOREIGN_IO),
            l::FOREIGN_BYTES >> 20
        ),
        "busy-machine" => format!(
            "others over {} of all CPU time in user mode while threads wait for a CPU over {} of \
             the time; noted from {}",
            p(l::FOREIGN_CPU),
            p(l::CPU_PRESSURE),
            p(l::FOREIGN_CPU_NOTE)
        ),
        "clock" => format!(
            "backward steps; readings over {} ns that are over {} of the latency (else noted)",
            l::CLOCK_READ_NS,
            p(l::CLOCK_SHARE)
        ),
        "clock-step" => format!("over {} ms", l::WALL_STEP_NS / 1_000_000),
        "two-phases" => format!(
            "a change of {} or more, significant at p = 0.001, in {} rows or more of {} s or more; a \
             drop of {} is suspect",
            p(l::PHASE_CHANGE),
            l::SERIES_ROWS,
            l::SERIES_NS / 1_000_000_000,
            p(l::PHASE_DROP)
        ),
        "slow-start" => format!(
            "first interval under {} of the median of the later ones",
            p(l::SLOW_START)
        ),
        "transient" => format!(
            "range over 20 % or change of the line over 10 % of the mean of five rounds (SNIA); \
             suspect with a trend (Mann-Kendall p <= {})",
            l::TREND_P
        ),
        "first-trial" => format!(
            "over {} from the median of {} others or more, and further than they are apart",
            p(l::FIRST_TRIAL),
            l::FIRST_TRIAL_OTHERS
        ),
        "few-samples" => format!("{} / (1 - p) samples", l::TAIL_SAMPLES),
        _ => String::new(),
    }
}

struct Row {
    id: &'static str,
    title: &'static str,
    meaning: &'static str,
    worst: Level,
    advice: &'static str,
}

const ROWS: [Row; 35] = [
    Row {
        id: "littles-law",
        title: "Rate, latency and depth fit together",
        meaning: "The mean number of requests in flight is the rate times the mean latency; the \
                  engine counts it independently. If they differ, latencies or operations are \
                  lost.",
        worst: Level::Invalid,
        advice: "Report this as a bug, with the result file.",
    },
    Row {
        id: "counts",
        title: "All accounts of the same operations agree",
        meaning: "Completed operations, the entries of the latency histograms, the sum over the \
                  intervals and the bytes divided by the block size are one number.",
        worst: Level::Invalid,
        advice: "Report this as a bug, with the result file.",
    },
    Row {
        id: "io-errors",
        title: "No operation failed",
        meaning: "Failed operations return at once and are not work done.",
        worst: Level::Suspect,
        advice: "Look at the kernel log (dmesg) for errors of the drive or file system.",
    },
    Row {
        id: "data-corrupt",
        title: "Data read is what was written",
        meaning: "With verify=yes each block carries its position, its generation and a filling that \
                  must be whole. What is read while measuring is checked, and all of the span is read \
                  back in the end. Stale (an earlier writing), torn, misdirected and flipped blocks \
                  are told apart.",
        worst: Level::Invalid,
        advice: "Trust no data to this target; look at the kernel log, then test cable, memory, \
                 controller and drive apart.",
    },
    Row {
        id: "open-loop",
        title: "Latency at a rate counts from when an operation was due",
        meaning: "In an open loop operations are due at moments that do not depend on earlier ones: \
                  a stall makes all that were due in it late, and their latency says so. How many \
                  started late, and by how much, is told.",
        worst: Level::Valid,
        advice: "",
    },
    Row {
        id: "closed-loop",
        title: "A latency at a rate comes from an open loop",
        meaning: "A closed loop that is held to a rate does not start operations while the target \
                  stalls, so its percentiles leave out the operations that a stall hurts (coordinated \
                  omission), by orders of magnitude.",
        worst: Level::Invalid,
        advice: "Use rate= (open loop) of the native test io, or read the figure as service time.",
    },
    Row {
        id: "rate-missed",
        title: "The rate asked for was reached",
        meaning: "Operations that were due and not completed have no latency. If the target cannot \
                  keep up, the backlog and with it latency grow as long as the window lasts.",
        worst: Level::Suspect,
        advice: "Lower the rate (fathom knee finds the highest that is kept), or raise depth if \
                 operations waited for a free place.",
    },
    Row {
        id: "null-engine",
        title: "I/O was done",
        meaning: "The null engine measures Fathom itself.",
        worst: Level::Invalid,
        advice: "Choose another engine to measure a drive.",
    },
    Row {
        id: "memory-backed",
        title: "The target is not memory",
        meaning: "tmpfs, ramfs, zram, memory disks and loop devices on them never reach a drive; \
                  tmpfs even accepts O_DIRECT.",
        worst: Level::Invalid,
        advice: "Choose a directory on the drive (fathom system --targets lists them).",
    },
    Row {
        id: "direct-io",
        title: "Direct I/O took effect",
        meaning: "Opening with O_DIRECT proves nothing: some file systems accept it and use the \
                  page cache. One aligned transfer is made and the cache looked at.",
        worst: Level::Suspect,
        advice: "Read the figure as one of the page cache and the drive together, or choose a \
                 file system with direct I/O.",
    },
    Row {
        id: "page-cache",
        title: "A buffered figure is the drive's",
        meaning: "Buffered reads may come from memory, buffered writes may stay there. The \
                  drives' own counters, else sizes and residency, show how much. For tests of a \
                  whole workload the cache belongs to the figure and is only noted.",
        worst: Level::Suspect,
        advice: "Use direct I/O, a file of twice the memory, or a final flush inside the window.",
    },
    Row {
        id: "devices-unseen",
        title: "The drives were watched",
        meaning: "Network and virtual file systems, and some volume managers, show no drive to \
                  compare with.",
        worst: Level::Valid,
        advice: "",
    },
    Row {
        id: "virtual-disk",
        title: "The disk is real",
        meaning: "A hypervisor may cache, limit or share what it presents as a disk.",
        worst: Level::Valid,
        advice: "",
    },
    Row {
        id: "device-bytes",
        title: "The drives moved what the test moved",
        meaning: "Bytes of direct I/O are compared with /proc/diskstats of the leaf drives, reads \
                  and writes apart.",
        worst: Level::Invalid,
        advice: "See what lies between: a cache in a loop device, RAID controller or volume \
                 manager (fathom system shows the stack).",
    },
    Row {
        id: "amplification",
        title: "Bytes written by the drives for each byte of the test",
        meaning: "Journals, metadata, RAID copies and copy-on-write write more than they are \
                  asked to.",
        worst: Level::Valid,
        advice: "",
    },
    Row {
        id: "link-ceiling",
        title: "Not faster than the link",
        meaning: "PCIe, SATA and USB carry so much after line coding; what exceeds it came from \
                  somewhere else.",
        worst: Level::Invalid,
        advice: "Look at the other reasons; without one, report this with the output of fathom \
                 system.",
    },
    Row {
        id: "compressible-data",
        title: "The data cannot be compressed away",
        meaning: "Zeros and repeated patterns let btrfs, ZFS, VDO and some drives skip the work.",
        worst: Level::Suspect,
        advice: "Use random contents, or turn compression off if it is not what is measured.",
    },
    Row {
        id: "unwritten-blocks",
        title: "What is read was written before",
        meaning: "Holes, unwritten extents and discarded blocks are answered without the media.",
        worst: Level::Suspect,
        advice: "Lay the file out by writing it, not by fallocate or truncate.",
    },
    Row {
        id: "not-durable",
        title: "Writes were durable",
        meaning: "A write that is acknowledged may still be lost in a power cut until it is \
                  flushed.",
        worst: Level::Valid,
        advice: "Compare only with figures of the same flush policy.",
    },
    Row {
        id: "flush-too-fast",
        title: "Flushes reach the media",
        meaning: "A drive with a volatile write cache and without power-loss protection cannot \
                  flush in a few microseconds.",
        worst: Level::Valid,
        advice: "Look up whether the drive has power-loss protection.",
    },
    Row {
        id: "alignment",
        title: "Blocks are whole physical blocks",
        meaning: "Writing part of a physical block makes the drive read it first.",
        worst: Level::Valid,
        advice: "Use a block size that is a multiple of the physical block.",
    },
    Row {
        id: "nearly-full",
        title: "The file system has room",
        meaning: "Nearly full file systems and drives are slower: free extents are short and the \
                  drive has few spare blocks.",
        worst: Level::Valid,
        advice: "Free some space, then run fstrim.",
    },
    Row {
        id: "fragmented",
        title: "The file lies in one piece",
        meaning: "Each extent ends a sequential request.",
        worst: Level::Valid,
        advice: "Free some space or use a fresh file system.",
    },
    Row {
        id: "generator-bound",
        title: "The test is not limited by its own CPU",
        meaning: "A submitting thread that never waits cannot ask for more. For tests of a whole \
                  workload it is only noted.",
        worst: Level::Suspect,
        advice: "Use more jobs, io_uring, or larger blocks.",
    },
    Row {
        id: "steal",
        title: "The hypervisor gave the CPU time asked for",
        meaning: "Stolen time lengthens every latency.",
        worst: Level::Suspect,
        advice: "Measure when the host is quiet, or on a machine with dedicated CPUs.",
    },
    Row {
        id: "throttled",
        title: "No quota stopped the test",
        meaning: "A control group with a CPU quota stops its processes until the next period.",
        worst: Level::Suspect,
        advice: "Raise the quota (cpu.max), or say it with the figure.",
    },
    Row {
        id: "foreign-io",
        title: "Nobody else used the drives",
        meaning: "The drives' counters less the process's own (/proc/self/io); writes can only be \
                  told apart while the test writes nothing itself.",
        worst: Level::Suspect,
        advice: "Stop what uses the drive (iotop shows it) and measure again.",
    },
    Row {
        id: "busy-machine",
        title: "The machine was quiet",
        meaning: "User CPU time of all processes less the test's own, together with time lost \
                  waiting for a CPU (PSI).",
        worst: Level::Suspect,
        advice: "Stop other work and measure again.",
    },
    Row {
        id: "clock",
        title: "The clock is fast and never goes back",
        meaning: "A clock source that needs the kernel or a device costs as much as a fast drive.",
        worst: Level::Suspect,
        advice: "Use the clock source tsc (or kvm-clock) if it is sound: \
                 /sys/devices/system/clocksource/clocksource0/current_clocksource.",
    },
    Row {
        id: "clock-step",
        title: "The calendar was not set meanwhile",
        meaning: "Durations come from the monotonic clock; only the time stamps are affected.",
        worst: Level::Valid,
        advice: "",
    },
    Row {
        id: "two-phases",
        title: "The figure is of one state of the target",
        meaning: "A write cache that fills up, a drive that gets hot or a burst allowance that is used \
                  up shows as one change of level; the mean over both says nothing of either. The \
                  bytes moved until then are told.",
        worst: Level::Suspect,
        advice: "Measure each state: shorter with pauses for the burst, longer or after a \
                 preconditioning run for the sustained rate.",
    },
    Row {
        id: "slow-start",
        title: "The first interval is as fast as the later ones",
        meaning: "Discards and cleaning of what was deleted before go on in the background, and slow \
                  down what comes next.",
        worst: Level::Valid,
        advice: "Let the drive rest before the trial, or use a longer ramp.",
    },
    Row {
        id: "transient",
        title: "The target was in a steady state",
        meaning: "SNIA's two criteria over five rounds that the window is cut into: range and change of \
                  the best-fit line.",
        worst: Level::Suspect,
        advice: "Measure longer, or precondition: write the span twice before.",
    },
    Row {
        id: "first-trial",
        title: "All trials start from the same state",
        meaning: "A first trial unlike the others shows that something was left by it or lasted \
                  from before.",
        worst: Level::Valid,
        advice: "Look at the trials one by one; measure again with a longer ramp.",
    },
    Row {
        id: "few-samples",
        title: "A percentile rests on enough samples",
        meaning: "The tail beyond a percentile must hold at least ten of them.",
        worst: Level::Suspect,
        advice: "Run longer, or look at a lower percentile.",
    },
];

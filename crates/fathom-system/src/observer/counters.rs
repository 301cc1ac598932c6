//! The texts of the counters. Every parser takes any text.

/// Steps of the times in `/proc/stat` and `/proc/PID/stat`: `USER_HZ` is 100 on every architecture
/// Rust's standard library runs on.
const TICK_NS: u64 = 10_000_000;

/// `/sys/block/NAME/stat`, which holds the fields of `/proc/diskstats` after the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskCounters {
    pub reads: u64,
    pub read_sectors: u64,
    pub writes: u64,
    pub written_sectors: u64,
    pub busy_ms: u64,
    pub discarded_sectors: u64,
    /// Since Linux 5.5.
    pub flushes: Option<u64>,
}

impl DiskCounters {
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> = text
            .split_whitespace()
            .take(17)
            .map(|field| field.parse().ok())
            .collect();
        let fields = fields?;
        Some(Self {
            reads: *fields.first()?,
            read_sectors: *fields.get(2)?,
            writes: *fields.get(4)?,
            written_sectors: *fields.get(6)?,
            busy_ms: *fields.get(9)?,
            discarded_sectors: fields.get(13).copied().unwrap_or(0),
            flushes: fields.get(15).copied(),
        })
    }

    pub fn since(self, before: Self) -> Self {
        self.combine(before, u64::saturating_sub)
    }

    pub fn plus(self, other: Self) -> Self {
        self.combine(other, u64::saturating_add)
    }

    /// Whichever counted more.
    pub fn larger(self, other: Self) -> Self {
        self.combine(other, u64::max)
    }

    fn combine(self, other: Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            reads: with(self.reads, other.reads),
            read_sectors: with(self.read_sectors, other.read_sectors),
            writes: with(self.writes, other.writes),
            written_sectors: with(self.written_sectors, other.written_sectors),
            busy_ms: with(self.busy_ms, other.busy_ms),
            discarded_sectors: with(self.discarded_sectors, other.discarded_sectors),
            flushes: match (self.flushes, other.flushes) {
                (Some(left), Some(right)) => Some(with(left, right)),
                _ => None,
            },
        }
    }
}

/// `/proc/self/io`: what reached or came from storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnIo {
    pub read_bytes: u64,
    pub written_bytes: u64,
}

impl OwnIo {
    pub fn parse(text: &str) -> Option<Self> {
        Some(Self {
            read_bytes: keyed(text, "read_bytes:")?,
            written_bytes: keyed(text, "write_bytes:")?,
        })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }
}

/// `/proc/self/stat`: CPU time of this process and the children it waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnTimes {
    pub user_ns: u64,
    pub system_ns: u64,
}

impl OwnTimes {
    pub fn parse(text: &str) -> Option<Self> {
        // The name of the program stands in parentheses and may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().take(15).collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u64>().ok();
        let sum = |own: usize, children: usize| {
            Some(
                ticks(own)?
                    .saturating_add(ticks(children)?)
                    .saturating_mul(TICK_NS),
            )
        };
        Some(Self {
            user_ns: sum(11, 13)?,
            system_ns: sum(12, 14)?,
        })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }
}

/// The first line of `/proc/stat`, in ticks of all processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuTimes {
    total: u64,
    busy: u64,
    user: u64,
    steal: u64,
    /// Processors that are online.
    pub cpus: u32,
}

/// Parts of all CPU time, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CpuShares {
    pub busy: f64,
    pub user: f64,
    pub steal: f64,
}

impl CpuTimes {
    pub fn parse(text: &str) -> Option<Self> {
        let first = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Option<Vec<u64>> = first
            .split_whitespace()
            .take(8)
            .map(|field| field.parse().ok())
            .collect();
        let ticks = ticks?;
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        if ticks.len() < 4 {
            return None;
        }
        let total = ticks
            .iter()
            .fold(0, |sum: u64, tick| sum.saturating_add(*tick));
        // User, nice, system, idle, waiting for I/O, interrupts, soft interrupts, steal.
        let idle = at(3).saturating_add(at(4)).saturating_add(at(7));
        let is_cpu = |line: &&str| {
            line.strip_prefix("cpu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        Some(Self {
            total,
            busy: total.saturating_sub(idle),
            user: at(0).saturating_add(at(1)),
            steal: at(7),
            cpus: u32::try_from(text.lines().filter(is_cpu).count()).ok()?,
        })
    }

    /// The parts of the time since an earlier look; nothing when no tick has passed.
    pub fn shares_since(self, before: Self) -> Option<CpuShares> {
        let total = self.total.saturating_sub(before.total);
        let share = |after: u64, before: u64| after.saturating_sub(before) as f64 / total as f64;
        (total > 0).then(|| CpuShares {
            busy: share(self.busy, before.busy).min(1.0),
            user: share(self.user, before.user).min(1.0),
            steal: share(self.steal, before.steal).min(1.0),
        })
    }
}

/// The one-minute average of `/proc/loadavg`.
pub(super) fn load(text: &str) -> Option<f64> {
    let load: f64 = text.split_whitespace().next()?.parse().ok()?;
    (load.is_finite() && load >= 0.0).then_some(load)
}

/// The total of the line `some` of a pressure file, which is in microseconds.
pub(super) fn pressure_ns(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total = some
        .split_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()?.saturating_mul(1000))
}

/// `nr_throttled` of a `cpu.stat`.
pub(super) fn throttled(text: &str) -> Option<u64> {
    keyed(text, "nr_throttled ")
}

fn keyed(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.trim().parse().ok()
}

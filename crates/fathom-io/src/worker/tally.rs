//! What one job counts: totals, intervals and the time operations spent in flight.

use std::collections::BTreeMap;

use fathom_stats::Histogram;

use crate::report::{IntervalCell, MAX_ROWS, OutsideReport};
use crate::source::Kind;

#[cfg(test)]
mod tests;

/// Where a moment lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ramp,
    Window,
    After,
}

/// Counters of one kind of operation inside the window.
#[derive(Debug)]
pub(crate) struct KindTally {
    pub(crate) ops: u64,
    pub(crate) bytes: u64,
    pub(crate) latency: Histogram,
    pub(crate) service: Histogram,
    pub(crate) errors: BTreeMap<i32, u64>,
    pub(crate) short: u64,
    pub(crate) retried: u64,
    pub(crate) would_block: u64,
    pub(crate) corrupt: u64,
}

/// One interval of one job; cells by kind.
pub(crate) type Row = [IntervalCell; Kind::COUNT];

/// Processor time of the calling thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadCpu {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) involuntary: u64,
    pub(crate) voluntary: u64,
}

/// All counters of one job; used by its thread alone.
#[derive(Debug)]
pub(crate) struct Tally {
    phase: Phase,
    /// The next moment at which something changes: the window opens, a row or the window ends.
    border_ns: u64,
    window_start: u64,
    window_end: u64,
    pub(crate) kinds: [KindTally; Kind::COUNT],
    pub(crate) rows: Vec<Row>,
    row: Row,
    row_end: u64,
    pub(crate) interval_ns: u64,
    in_flight: u64,
    /// Time of operations in flight: sum of lengths of time times number in flight.
    pub(crate) area: u128,
    /// The part of it since the last border; fits 64 bits for 6 days at the greatest depth.
    area_part: u64,
    area_until: u64,
    /// Parts of operations' times that lie before the window, of those that ended in it.
    before_ns: u128,
    /// Parts that lie inside, of those that ended after it.
    late_ns: u128,
    /// The last moment anything was counted.
    pub(crate) last_ns: u64,
    pub(crate) most_in_flight: u64,
    pub(crate) outside: OutsideReport,
    cpu_start: ThreadCpu,
    /// Processor time over the window so far.
    pub(crate) cpu: ThreadCpu,
    has_service: bool,
}

impl Tally {
    pub(crate) fn new(interval_ns: u64, has_service: bool) -> Self {
        Self {
            phase: Phase::Ramp,
            border_ns: u64::MAX,
            window_start: u64::MAX,
            window_end: u64::MAX,
            kinds: std::array::from_fn(|_| KindTally::new(has_service)),
            rows: Vec::with_capacity(MAX_ROWS),
            row: Row::default(),
            row_end: u64::MAX,
            interval_ns,
            in_flight: 0,
            area: 0,
            area_part: 0,
            area_until: 0,
            before_ns: 0,
            late_ns: 0,
            last_ns: 0,
            most_in_flight: 0,
            outside: OutsideReport::default(),
            cpu_start: ThreadCpu::default(),
            cpu: ThreadCpu::default(),
            has_service,
        }
    }

    /// Learns the borders of the window; they may come after the job has started.
    #[inline(always)]
    pub(crate) fn set_window(&mut self, start: u64, end: u64) {
        if start != self.window_start {
            self.window_start = start;
            self.window_end = end;
            if self.phase == Phase::Ramp {
                self.border_ns = start;
            }
        }
    }

    /// An operation went into flight at `now_ns`.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now_ns: u64) {
        self.pass(now_ns);
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }

    /// An operation came back at `now_ns`.
    #[inline(always)]
    pub(crate) fn leave(&mut self, now_ns: u64) {
        self.pass(now_ns);
        self.in_flight -= 1;
    }

    /// Time passed until `now_ns`.
    #[inline(always)]
    pub(crate) fn pass(&mut self, now_ns: u64) {
        if now_ns >= self.border_ns {
            self.cross(now_ns);
        }
        // Stamps of one thread do not go back; after the window nothing passes any more.
        let lasted = now_ns.saturating_sub(self.area_until);
        self.area_part = self
            .area_part
            .wrapping_add(self.in_flight.wrapping_mul(lasted));
        self.area_until += lasted;
    }

    /// Counts an operation that ended at `end_ns`, after [`Tally::leave`]. Its latency counts from
    /// `start_ns`, its service from `submitted_ns`; these differ in an open loop.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        kind: Kind,
        bytes: u64,
        (start_ns, submitted_ns, end_ns): (u64, u64, u64),
    ) {
        if self.phase != Phase::Window {
            self.record_outside(kind, bytes, submitted_ns);
            return;
        }
        let ns = end_ns.saturating_sub(start_ns);
        let tally = &mut self.kinds[kind as usize];
        tally.ops += 1;
        tally.bytes += bytes;
        tally.latency.record(ns);
        if self.has_service {
            let service_ns = end_ns.saturating_sub(submitted_ns);
            tally.service.record(service_ns);
        }
        let cell = &mut self.row[kind as usize];
        cell.ops += 1;
        cell.bytes += bytes;
        cell.latency_sum_ns += ns;
        cell.latency_max_ns = cell.latency_max_ns.max(ns);
        if submitted_ns < self.window_start && kind != Kind::Sync {
            self.before_ns += u128::from(self.window_start - submitted_ns);
        }
        self.last_ns = end_ns;
    }

    #[cold]
    fn record_outside(&mut self, kind: Kind, bytes: u64, submitted_ns: u64) {
        match self.phase {
            _ if kind == Kind::Sync => {}
            Phase::Ramp => {
                self.outside.ramp_ops += 1;
                self.outside.ramp_bytes += bytes;
            }
            Phase::Window | Phase::After => {
                self.outside.late_ops += 1;
                self.outside.late_bytes += bytes;
                let start_ns = submitted_ns.max(self.window_start);
                self.late_ns += u128::from(self.window_end.saturating_sub(start_ns));
            }
        }
    }

    /// Operations and bytes since the start, ramp included.
    #[inline(always)]
    pub(crate) fn all(&self) -> (u64, u64) {
        let outside = &self.outside;
        let mut ops = outside.ramp_ops + outside.late_ops;
        let mut bytes = outside.ramp_bytes + outside.late_bytes;
        for kind in &self.kinds[..Kind::Sync as usize] {
            ops += kind.ops;
            bytes += kind.bytes;
        }
        (ops, bytes)
    }

    /// The area from the operations instead: the parts of their service times that lie inside
    /// the window.
    pub(crate) fn inside_ns(&self) -> u128 {
        let transfers = &self.kinds[..Kind::Sync as usize];
        let sum = |kind: &KindTally| {
            u128::from(if self.has_service {
                kind.service.sum()
            } else {
                kind.latency.sum()
            })
        };
        let all: u128 = transfers.iter().map(sum).sum();
        all.saturating_sub(self.before_ns) + self.late_ns
    }

    /// Counts a failed operation.
    pub(crate) fn record_error(&mut self, kind: Kind, errno: i32) {
        if self.phase == Phase::Window {
            let errors = &mut self.kinds[kind as usize].errors;
            *errors.entry(errno).or_default() += 1;
        } else {
            self.outside.errors += 1;
        }
    }

    /// Lets `count` see the counters of a kind, if the window is open.
    pub(crate) fn in_window(&mut self, kind: Kind, count: impl FnOnce(&mut KindTally)) {
        if self.phase == Phase::Window {
            count(&mut self.kinds[kind as usize]);
        }
    }

    /// Passes every border up to `now_ns`.
    #[cold]
    #[inline(never)]
    fn cross(&mut self, now_ns: u64) {
        self.area += u128::from(std::mem::take(&mut self.area_part));
        if self.phase == Phase::Ramp {
            self.phase = Phase::Window;
            self.area = 0;
            self.area_until = self.window_start;
            self.last_ns = self.window_start;
            self.cpu_start = thread_cpu();
            self.row_end = self.window_start.saturating_add(self.interval_ns);
        }
        if self.phase == Phase::Window {
            while self.row_end <= now_ns.min(self.window_end) {
                self.close_row();
            }
            if now_ns >= self.window_end {
                self.close_window(self.window_end);
                return;
            }
        }
        self.border_ns = match self.phase {
            Phase::After => u64::MAX,
            Phase::Ramp | Phase::Window => self.row_end.min(self.window_end),
        };
    }

    fn close_row(&mut self) {
        if self.rows.len() == MAX_ROWS {
            coalesce(&mut self.rows);
            self.interval_ns *= 2;
            // The current row began at an even row of the old width: it goes on.
            self.row_end = self
                .window_start
                .saturating_add(self.interval_ns.saturating_mul(self.rows.len() as u64 + 1));
            return;
        }
        self.rows.push(std::mem::take(&mut self.row));
        self.row_end = self.row_end.saturating_add(self.interval_ns);
    }

    fn close_window(&mut self, end_ns: u64) {
        let lasted = end_ns.saturating_sub(self.area_until);
        self.area += u128::from(std::mem::take(&mut self.area_part));
        self.area += u128::from(self.in_flight) * u128::from(lasted);
        self.area_until = u64::MAX;
        self.last_ns = end_ns;
        self.cpu = thread_cpu().since(self.cpu_start);
        self.phase = Phase::After;
        self.border_ns = u64::MAX;
    }

    /// The job has ended at `now_ns`: closes what is open.
    pub(crate) fn finish(&mut self, now_ns: u64) {
        if now_ns >= self.border_ns {
            self.cross(now_ns);
        }
        match self.phase {
            Phase::Ramp => {
                self.area = 0;
                self.late_ns = 0;
            }
            Phase::Window => self.close_window(self.last_ns),
            Phase::After => {}
        }
        if self.row != Row::default() {
            if self.rows.len() == MAX_ROWS {
                coalesce(&mut self.rows);
                self.interval_ns *= 2;
            }
            self.rows.push(std::mem::take(&mut self.row));
        }
    }

    /// Whether the window opened before the job ended.
    pub(crate) fn saw_window(&self) -> bool {
        self.phase != Phase::Ramp
    }
}

impl KindTally {
    fn new(has_service: bool) -> Self {
        Self {
            ops: 0,
            bytes: 0,
            latency: Histogram::new(),
            service: if has_service {
                Histogram::new()
            } else {
                Histogram::empty()
            },
            errors: BTreeMap::new(),
            short: 0,
            retried: 0,
            would_block: 0,
            corrupt: 0,
        }
    }
}

/// Adds one cell to another.
pub(crate) fn add_cell(to: &mut IntervalCell, from: &IntervalCell) {
    to.ops += from.ops;
    to.bytes += from.bytes;
    to.latency_sum_ns += from.latency_sum_ns;
    to.latency_max_ns = to.latency_max_ns.max(from.latency_max_ns);
}

/// Merges rows in pairs; a last odd one stands alone.
pub(crate) fn coalesce(rows: &mut Vec<Row>) {
    for pair in 0..rows.len().div_ceil(2) {
        let mut merged = rows[2 * pair];
        if let Some(second) = rows.get(2 * pair + 1) {
            for (to, from) in merged.iter_mut().zip(second) {
                add_cell(to, from);
            }
        }
        rows[pair] = merged;
    }
    rows.truncate(rows.len().div_ceil(2));
}

impl ThreadCpu {
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(earlier.user_ns),
            system_ns: self.system_ns.saturating_sub(earlier.system_ns),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
        }
    }
}

/// Processor time of the calling thread so far.
pub(crate) fn thread_cpu() -> ThreadCpu {
    usage_of(libc::RUSAGE_THREAD)
}

/// Processor time of the process so far, its ended threads and kernel workers included.
pub(crate) fn process_cpu() -> ThreadCpu {
    usage_of(libc::RUSAGE_SELF)
}

fn usage_of(who: libc::c_int) -> ThreadCpu {
    // SAFETY: rusage is plain numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: writes one rusage to the address, which is a local of that type.
    let returned = unsafe { libc::getrusage(who, &raw mut usage) };
    if returned != 0 {
        return ThreadCpu::default();
    }
    let ns = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1000
    };
    ThreadCpu {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        involuntary: usage.ru_nivcsw.cast_unsigned(),
        voluntary: usage.ru_nvcsw.cast_unsigned(),
    }
}

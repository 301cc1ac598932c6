//! Time stamps of the measured path: a clock that costs a few nanoseconds.

use std::sync::OnceLock;

use fathom_base::Nanos;

use crate::spec::ClockChoice;

#[cfg(test)]
mod tests;

/// Time between the two readings that relate the counter to the kernel's clock.
const CALIBRATION_NS: u64 = 10_000_000;
/// Largest disagreement of two calibrations that is still called invariant.
const CALIBRATION_PPM: f64 = 200.0;

/// Nanoseconds of CLOCK_MONOTONIC.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes one timespec to the address, which is a local of that type; every Linux has
    // this clock, so the call cannot fail.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// A time stamp counter and how it relates to CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug)]
struct Tsc {
    base_ticks: u64,
    base_ns: u64,
    /// Nanoseconds a tick, times 2^32.
    ns_per_tick: u64,
}

/// The source of stamps, the same for all threads of a job.
#[derive(Clone, Copy, Debug)]
enum Source {
    Tsc(Tsc),
    Monotonic,
    Virtual { step_ns: u64 },
}

/// A thread's clock: nanoseconds on the scale of CLOCK_MONOTONIC (or of the virtual clock).
#[derive(Clone, Debug)]
pub(crate) struct StampClock {
    source: Source,
    virtual_ns: u64,
}

impl StampClock {
    /// The clock chosen; the first call with [`ClockChoice::Auto`] takes about 20 ms.
    pub(crate) fn new(choice: ClockChoice) -> Self {
        let source = match choice {
            ClockChoice::Auto => tsc().map_or(Source::Monotonic, Source::Tsc),
            ClockChoice::Monotonic => Source::Monotonic,
            ClockChoice::Virtual { step_ns } => Source::Virtual {
                step_ns: u64::from(step_ns),
            },
        };
        Self {
            source,
            virtual_ns: 0,
        }
    }

    /// The time now.
    #[inline(always)]
    pub(crate) fn now(&mut self) -> u64 {
        match self.source {
            Source::Tsc(tsc) => tsc.convert(read_ticks()),
            Source::Monotonic => monotonic_ns(),
            Source::Virtual { step_ns } => {
                self.virtual_ns += step_ns;
                self.virtual_ns
            }
        }
    }

    /// Moves a virtual clock to `ns`; others go by themselves.
    pub(crate) fn skip_to(&mut self, ns: u64) {
        self.virtual_ns = self.virtual_ns.max(ns);
    }

    pub(crate) const fn is_virtual(&self) -> bool {
        matches!(self.source, Source::Virtual { .. })
    }

    /// `tsc`, `monotonic` or `virtual`.
    pub(crate) const fn name(&self) -> &'static str {
        match self.source {
            Source::Tsc(_) => "tsc",
            Source::Monotonic => "monotonic",
            Source::Virtual { .. } => "virtual",
        }
    }

    /// Mean cost of [`StampClock::now`] in nanoseconds.
    pub(crate) fn cost_ns(&self) -> f64 {
        if self.is_virtual() {
            return 0.0;
        }
        let mut clock = self.clone();
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            const READS: u32 = 1000;
            let start = monotonic_ns();
            for _ in 0..READS {
                std::hint::black_box(clock.now());
            }
            let elapsed = monotonic_ns().saturating_sub(start);
            best = best.min(elapsed as f64 / f64::from(READS));
        }
        best
    }
}

impl Tsc {
    #[inline(always)]
    fn convert(self, ticks: u64) -> u64 {
        let since = u128::from(ticks.wrapping_sub(self.base_ticks));
        self.base_ns + ((since * u128::from(self.ns_per_tick)) >> 32) as u64
    }
}

/// Name and cost of the clock that [`ClockChoice::Auto`] takes here: `("tsc", 8 ns)`.
#[must_use]
pub fn clock_cost() -> (&'static str, f64) {
    let clock = StampClock::new(ClockChoice::Auto);
    (clock.name(), clock.cost_ns())
}

/// Length of a duration on the stamp clock against CLOCK_MONOTONIC, in parts of a million.
pub(crate) fn drift_ppm(stamped: Nanos, monotonic: Nanos) -> f64 {
    match monotonic.as_u64() {
        0 => 0.0,
        ns => (stamped.as_u64() as f64 / ns as f64 - 1.0) * 1e6,
    }
}

/// The calibrated counter; `None` where it cannot be relied on.
fn tsc() -> Option<Tsc> {
    static TSC: OnceLock<Option<Tsc>> = OnceLock::new();
    *TSC.get_or_init(|| if is_invariant() { calibrate() } else { None })
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn read_ticks() -> u64 {
    // SAFETY: reads a register; every x86-64 processor has it, and where the operating system
    // forbids it (prctl PR_SET_TSC) the process is told so by a signal, not by wrong memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn read_ticks() -> u64 {
    monotonic_ns()
}

/// Whether the counter runs at a constant rate in all power states, on all processors.
#[cfg(target_arch = "x86_64")]
fn is_invariant() -> bool {
    let Ok(cpuinfo) = std::fs::read_to_string("/proc/cpuinfo") else {
        return false;
    };
    let flags = |line: &str| {
        let mut words = line.split_whitespace();
        let has = |word| line.split_whitespace().any(|w| w == word);
        words.next() == Some("flags") && has("constant_tsc") && has("nonstop_tsc")
    };
    let mut rows = cpuinfo
        .lines()
        .filter(|line| line.starts_with("flags"))
        .peekable();
    rows.peek().is_some() && rows.all(flags) && kernel_trusts_tsc()
}

/// The kernel gives up the counter as its clock when it finds it wrong between processors.
#[cfg(target_arch = "x86_64")]
fn kernel_trusts_tsc() -> bool {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(path).is_ok_and(|name| {
        matches!(
            name.trim(),
            "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page"
        )
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn is_invariant() -> bool {
    false
}

/// Relates counter and kernel clock over two spans; `None` if these disagree.
fn calibrate() -> Option<Tsc> {
    let first = reading();
    let second = reading_after(first.1 + CALIBRATION_NS);
    let third = reading_after(second.1 + CALIBRATION_NS);
    let early = ns_per_tick(first, second)?;
    let late = ns_per_tick(second, third)?;
    let whole = ns_per_tick(first, third)?;
    let differs_ppm = (early - late).abs() / whole * 1e6;
    (differs_ppm <= CALIBRATION_PPM).then_some(Tsc {
        base_ticks: third.0,
        base_ns: third.1,
        ns_per_tick: (whole * f64::from(2_u32.pow(16)) * f64::from(2_u32.pow(16))) as u64,
    })
}

fn ns_per_tick(earlier: (u64, u64), later: (u64, u64)) -> Option<f64> {
    let ticks = later.0.checked_sub(earlier.0).filter(|&t| t > 0)?;
    let ratio = later.1.checked_sub(earlier.1)? as f64 / ticks as f64;
    (ratio > 1e-3 && ratio < 1e3).then_some(ratio)
}

/// Counter and clock at the same moment: the closest of several bracketed readings.
fn reading() -> (u64, u64) {
    let mut best = (u64::MAX, 0, 0);
    for _ in 0..32 {
        let before = read_ticks();
        let ns = monotonic_ns();
        let width = read_ticks().wrapping_sub(before);
        if width < best.0 {
            best = (width, before + width / 2, ns);
        }
    }
    (best.1, best.2)
}

fn reading_after(ns: u64) -> (u64, u64) {
    while monotonic_ns() < ns {
        std::hint::spin_loop();
    }
    reading()
}

//! From what each job counted to one report.

use fathom_base::{Nanos, Rate};
use fathom_stats::Histogram;

use crate::error::IoError;
use crate::report::{
    ClockReport, CpuUse, DirectionReport, EngineUse, IntervalRow, JobReport, Note, NoteKind,
    OpenLoopReport, OutsideReport, Series, VerifyReport,
};
use crate::source::Kind;
use crate::spec::{EngineKind, JobSpec, Pace};
use crate::worker::{KindTally, Outcome, Row, ThreadCpu, add_cell, coalesce};

/// A clock that costs more than this is noted.
const SLOW_CLOCK_NS: f64 = 100.0;
/// A clock that drifts by more than this is noted.
const DRIFT_PPM: f64 = 500.0;
/// A rate below this share of the one asked for is noted.
const REACHED: f64 = 0.99;

/// What the leading thread knows of a run.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) window_start_ns: u64,
    /// `u64::MAX` when the last completion or flush ends the window.
    pub(crate) window_end_ns: u64,
    pub(crate) process_cpu: ThreadCpu,
    pub(crate) drift_ppm: f64,
    pub(crate) clock_name: &'static str,
    pub(crate) clock_read_ns: f64,
    pub(crate) asked: EngineKind,
    pub(crate) notes: Vec<Note>,
    pub(crate) verify: Option<VerifyReport>,
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            window_start_ns: 0,
            window_end_ns: u64::MAX,
            process_cpu: ThreadCpu::default(),
            drift_ppm: 0.0,
            clock_name: "monotonic",
            clock_read_ns: 0.0,
            asked: EngineKind::Null,
            notes: Vec::new(),
            verify: None,
        }
    }
}

/// Puts the outcomes of all jobs together.
///
/// # Errors
/// [`IoError::Spec`] when the job was over before the window opened.
pub(crate) fn merge(
    spec: &JobSpec,
    mut outcomes: Vec<Outcome>,
    measured: Measured,
) -> Result<JobReport, IoError> {
    if !outcomes.iter().any(|o| o.tally.saw_window()) {
        return Err(IoError::Spec {
            field: "ramp",
            value: spec.ramp.to_string(),
            expected: "a ramp that ends before the job does".to_owned(),
        });
    }
    let end_ns = match measured.window_end_ns {
        u64::MAX => outcomes.iter().map(|o| o.tally.last_ns).max().unwrap_or(0),
        deadline => deadline,
    };
    let window_ns = end_ns.saturating_sub(measured.window_start_ns);
    let is_open = matches!(spec.pace, Pace::Open { .. });
    let series = merge_series(&mut outcomes, spec.interval.as_u64(), window_ns);
    let over_window = |sum: u128| match window_ns {
        0 => 0.0,
        ns => sum as f64 / ns as f64,
    };
    let area = outcomes.iter().map(|o| o.tally.area).sum();
    let inside = outcomes.iter().map(|o| o.tally.inside_ns()).sum();
    let mut notes = measured.notes;
    let mut features = Vec::new();
    for outcome in &mut outcomes {
        append_new(&mut notes, std::mem::take(&mut outcome.notes));
        append_new(&mut features, std::mem::take(&mut outcome.features));
    }
    let clock = ClockReport {
        source: measured.clock_name,
        read_ns: measured.clock_read_ns,
        drift_ppm: measured.drift_ppm,
    };
    note_clock(&clock, &mut notes);
    let report = JobReport {
        read: merge_kind(&outcomes, Kind::Read, is_open),
        write: merge_kind(&outcomes, Kind::Write, is_open),
        trim: merge_kind(&outcomes, Kind::Trim, is_open),
        sync: merge_kind(&outcomes, Kind::Sync, false),
        series,
        window: Nanos::new(window_ns),
        final_flush: outcomes
            .iter()
            .find_map(|o| o.final_flush_ns)
            .map(Nanos::new),
        mean_in_flight: over_window(area),
        little_in_flight: over_window(inside),
        max_depth_reached: max_depth(&outcomes),
        cpu: match measured.clock_name {
            // Virtual time has no processor time.
            "virtual" => CpuUse::default(),
            _ => merge_cpu(&outcomes, measured.process_cpu, window_ns),
        },
        engine: EngineUse {
            asked: measured.asked,
            used: spec.engine,
            features,
        },
        outside: merge_outside(&outcomes),
        clock,
        resolution_ns: outcomes.iter().map(|o| o.resolution_ns).max().unwrap_or(0),
        open_loop: is_open.then(|| merge_open(&outcomes)),
        verify: measured.verify,
        notes,
    };
    assert_books_balance(&report);
    Ok(with_pace_note(spec, report))
}

/// Says so when a closed loop did not reach its rate.
fn with_pace_note(spec: &JobSpec, mut report: JobReport) -> JobReport {
    if let Pace::Closed(rate) = spec.pace {
        let share = match rate {
            Rate::Operations(per_second) => report.iops() / per_second,
            Rate::Bytes(per_second) => report.bytes_per_second() / per_second as f64,
        };
        if share < REACHED {
            report.notes.push(Note {
                kind: NoteKind::Pace,
                text: format!("the rate reached is {:.1} % of {rate}", share * 100.0),
            });
        }
    }
    report
}

/// Every figure of a report comes from the same operations, or there is a bug of ours.
fn assert_books_balance(report: &JobReport) {
    let rows = &report.series.rows;
    let sum = |cell: fn(&IntervalRow) -> u64| rows.iter().map(cell).sum::<u64>();
    let directions = [&report.read, &report.write, &report.trim, &report.sync];
    for direction in directions {
        assert!(
            direction.ops == direction.latency.count(),
            "every operation has one latency"
        );
    }
    assert!(
        sum(IntervalRow::ops) == report.ops() && sum(IntervalRow::bytes) == report.bytes(),
        "intervals add up to the totals"
    );
}

fn append_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !all.contains(&item) {
            all.push(item);
        }
    }
}

fn note_clock(clock: &ClockReport, notes: &mut Vec<Note>) {
    let mut note = |text| {
        notes.push(Note {
            kind: NoteKind::Clock,
            text,
        });
    };
    if clock.read_ns > SLOW_CLOCK_NS {
        note(format!(
            "reading the clock ({}) takes {:.0} ns: short latencies are too long by that",
            clock.source, clock.read_ns
        ));
    }
    if clock.drift_ppm.abs() > DRIFT_PPM {
        note(format!(
            "the clock ({}) went {:.0} ppm from CLOCK_MONOTONIC",
            clock.source, clock.drift_ppm
        ));
    }
}

fn merge_kind(outcomes: &[Outcome], kind: Kind, has_service: bool) -> DirectionReport {
    let mut merged = DirectionReport {
        service: has_service.then(Histogram::empty),
        ..DirectionReport::default()
    };
    for outcome in outcomes {
        let KindTally {
            ops,
            bytes,
            latency,
            service,
            errors,
            short,
            retried,
            would_block,
            corrupt,
        } = &outcome.tally.kinds[kind as usize];
        merged.ops += ops;
        merged.bytes += bytes;
        merged.latency.merge(latency);
        if let Some(all) = &mut merged.service {
            all.merge(service);
        }
        for (errno, count) in errors {
            *merged.errors.entry(*errno).or_default() += count;
        }
        merged.short += short;
        merged.retried += retried;
        merged.would_block += would_block;
        merged.corrupt += corrupt;
    }
    merged
}

/// Rows of all jobs on the widest interval any of them came to.
fn merge_series(outcomes: &mut [Outcome], interval_ns: u64, window_ns: u64) -> Series {
    let widths = outcomes.iter().map(|o| o.tally.interval_ns);
    let interval_ns = widths.fold(interval_ns, u64::max);
    let mut sums: Vec<Row> = Vec::new();
    for outcome in outcomes {
        let tally = &mut outcome.tally;
        while tally.interval_ns < interval_ns {
            coalesce(&mut tally.rows);
            tally.interval_ns *= 2;
        }
        if sums.len() < tally.rows.len() {
            sums.resize(tally.rows.len(), Row::default());
        }
        for (to, from) in sums.iter_mut().zip(&tally.rows) {
            for (to, from) in to.iter_mut().zip(from) {
                add_cell(to, from);
            }
        }
    }
    let count = window_ns.div_ceil(interval_ns);
    sums.resize(sums.len().max(count as usize), Row::default());
    let row = |(index, [read, write, trim, sync]): (usize, &Row)| {
        let start_ns = index as u64 * interval_ns;
        IntervalRow {
            start_ns,
            length_ns: window_ns.saturating_sub(start_ns).min(interval_ns),
            read: *read,
            write: *write,
            trim: *trim,
            sync: *sync,
        }
    };
    Series {
        interval: Nanos::new(interval_ns),
        rows: sums.iter().enumerate().map(row).collect(),
    }
}

fn max_depth(outcomes: &[Outcome]) -> u32 {
    let most = outcomes.iter().map(|o| o.tally.most_in_flight).max();
    u32::try_from(most.unwrap_or(0)).unwrap_or(u32::MAX)
}

fn merge_cpu(outcomes: &[Outcome], process: ThreadCpu, window_ns: u64) -> CpuUse {
    let mut cpu = CpuUse {
        process_user_ns: process.user_ns,
        process_system_ns: process.system_ns,
        ..CpuUse::default()
    };
    for outcome in outcomes {
        let job = outcome.tally.cpu;
        cpu.user_ns += job.user_ns;
        cpu.system_ns += job.system_ns;
        cpu.involuntary_switches += job.involuntary;
        cpu.voluntary_switches += job.voluntary;
        let busy = (job.user_ns + job.system_ns) as f64 / window_ns.max(1) as f64;
        cpu.busiest_job = cpu.busiest_job.max(busy.min(1.0));
    }
    cpu
}

fn merge_outside(outcomes: &[Outcome]) -> OutsideReport {
    let mut sum = OutsideReport::default();
    for outcome in outcomes {
        let one = &outcome.tally.outside;
        sum.ramp_ops += one.ramp_ops;
        sum.ramp_bytes += one.ramp_bytes;
        sum.late_ops += one.late_ops;
        sum.late_bytes += one.late_bytes;
        sum.errors += one.errors;
    }
    sum
}

fn merge_open(outcomes: &[Outcome]) -> OpenLoopReport {
    let mut sum = OpenLoopReport::default();
    for outcome in outcomes {
        let one = &outcome.open_loop;
        sum.due += one.due;
        sum.late_starts += one.late_starts;
        sum.latest_start_ns = sum.latest_start_ns.max(one.latest_start_ns);
        sum.backlog += one.backlog;
    }
    sum
}

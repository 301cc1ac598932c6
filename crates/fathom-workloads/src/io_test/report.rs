//! From what the engine measured to a trial.

use std::collections::BTreeMap;

use fathom_base::Rate;
use fathom_io::contents::Filler;
use fathom_io::{
    DirectProbe, DirectVerdict, DirectionReport, ExtentMap, IntervalRow, JobReport, VerifyReport,
};
use fathom_model::definition::io::{
    self as definition, IoCache, IoDirect, IoEngine, IoMeasured, IoSettings, IoTotals,
};
use fathom_model::{
    CacheEvidence, ClockEvidence, CpuEvidence, DataEvidence, DirectEvidence, DurabilityEvidence,
    Evidence, FileEvidence, Host, HostEvidence, IoEvidence, OpenEvidence, PaceEvidence, Series,
    Trial, VerifyEvidence,
};

use super::files::layout_seed;
use super::spec::{self, Place};
use crate::common::compressible_share as share_of;

/// Bytes of the data that compressibility is estimated on.
const SAMPLE_BYTES: usize = 256 << 10;
/// Bytes of a page of `cachestat`.
const PAGE_BYTES: u64 = 4096;

/// What was seen around the measured window.
pub(super) struct Seen {
    pub(super) host: Option<HostEvidence>,
    pub(super) resident_before: Option<u64>,
    pub(super) resident_after: Option<u64>,
    pub(super) extents: Option<ExtentMap>,
    pub(super) clock: ClockEvidence,
}

/// Values, histograms, series and evidence of a trial.
pub(super) fn trial(
    settings: &IoSettings,
    place: &Place,
    report: &JobReport,
    seen: Seen,
    host: &Host,
) -> Trial {
    let measured = IoMeasured {
        window: report.window,
        read: of(settings, &report.read),
        write: of(settings, &report.write),
        trim: of(settings, &report.trim),
        sync: of(settings, &report.sync),
    };
    Trial {
        values: definition::values(settings, &measured),
        histograms: histograms(settings, report),
        series: series(settings, report),
        evidence: evidence(settings, place, report, seen, host),
        ..Trial::default()
    }
}

fn of<'a>(settings: &IoSettings, direction: &'a DirectionReport) -> IoTotals<'a> {
    IoTotals {
        operations: direction.ops,
        bytes: direction.bytes,
        latency: Some(&direction.latency),
        service: match settings.rate_limit {
            // What the engine calls latency counts from the submission in a closed loop.
            Some(_) => Some(&direction.latency),
            None => direction.service.as_ref(),
        },
        latency_ns_mean: None,
    }
}

fn histograms(
    settings: &IoSettings,
    report: &JobReport,
) -> BTreeMap<String, fathom_stats::Histogram> {
    let mut kept = BTreeMap::new();
    for (name, direction) in [
        ("read", &report.read),
        ("write", &report.write),
        ("trim", &report.trim),
        ("sync", &report.sync),
    ] {
        if !direction.latency.is_empty() {
            let mut histogram = direction.latency.clone();
            histogram.shrink();
            let name = match settings.rate_limit {
                Some(_) if name != "sync" => format!("{name}-service"),
                _ => name.to_owned(),
            };
            kept.insert(name, histogram);
        }
        if let Some(service) = direction.service.as_ref().filter(|s| !s.is_empty()) {
            kept.insert(format!("{name}-service"), service.clone());
        }
    }
    kept
}

/// A value a row.
type OfRow = fn(&IntervalRow) -> f64;

fn series(settings: &IoSettings, report: &JobReport) -> BTreeMap<String, Series> {
    let mut rows: &[IntervalRow] = &report.series.rows;
    // A sliver at the end says nothing of its own.
    if let [most @ .., last] = rows
        && !most.is_empty()
        && last.length_ns < report.series.interval.as_u64() / 10
    {
        rows = most;
    }
    let (mean, max) = match settings.rate_limit {
        Some(_) => ("service-mean", "service-max"),
        None => ("latency-mean", "latency-max"),
    };
    let mut all: Vec<(&str, &str, OfRow)> = vec![
        ("bandwidth", "MB/s", |row| rate(row, row.bytes()) / 1e6),
        ("iops", "IOPS", |row| rate(row, row.ops())),
        (mean, "us", |row| {
            let cells = [row.read, row.write, row.trim];
            let sum: u64 = cells.iter().map(|cell| cell.latency_sum_ns).sum();
            sum as f64 / row.ops().max(1) as f64 / 1e3
        }),
        (max, "us", |row| {
            let cells = [row.read, row.write, row.trim];
            let longest = cells.iter().map(|cell| cell.latency_max_ns).max();
            longest.unwrap_or(0) as f64 / 1e3
        }),
    ];
    if settings.mode.is_mixed() {
        all.push(("read-bandwidth", "MB/s", |row| {
            rate(row, row.read.bytes) / 1e6
        }));
        all.push(("write-bandwidth", "MB/s", |row| {
            rate(row, row.write.bytes) / 1e6
        }));
        all.push(("read-iops", "IOPS", |row| rate(row, row.read.ops)));
        all.push(("write-iops", "IOPS", |row| rate(row, row.write.ops)));
    }
    all.into_iter()
        .map(|(name, unit, of)| {
            let series = Series {
                unit: unit.to_owned(),
                start_ns: rows.first().map_or(0, |row| row.start_ns),
                step_ns: report.series.interval.as_u64(),
                values: rows.iter().map(of).collect(),
            };
            (name.to_owned(), series)
        })
        .collect()
}

fn rate(row: &IntervalRow, count: u64) -> f64 {
    count as f64 * 1e9 / row.length_ns.max(1) as f64
}

fn evidence(
    settings: &IoSettings,
    place: &Place,
    report: &JobReport,
    seen: Seen,
    host: &Host,
) -> Evidence {
    let is_buffered = !place.direct;
    Evidence {
        io: Some(io(settings, report)),
        pace: pace(settings, report),
        verify: report.verify.as_ref().map(verify),
        direct: None,
        file: seen.extents.map(|extents| FileEvidence {
            size_bytes: extents.size.as_u64(),
            unwritten_bytes: extents
                .unwritten
                .map(|unwritten| unwritten.as_u64() + extents.holes.as_u64()),
            extents: extents.extents,
            memory_bytes: Some(host.memory.as_u64()),
        }),
        cache: (seen.resident_before.is_some() || is_buffered).then(|| CacheEvidence {
            resident_bytes_before: seen.resident_before,
            resident_bytes_after: seen.resident_after,
            asked: match is_buffered {
                true => settings.cache.name(),
                false => IoCache::Cold.name(),
            }
            .to_owned(),
        }),
        data: Some(DataEvidence {
            contents: settings.contents_in_words(),
            compressible_share: None,
            compressing_stack: host.target.compressing.clone(),
        }),
        durability: settings.writes().then(|| durability(settings, report)),
        cpu: Some(CpuEvidence {
            user_ns: report.cpu.user_ns,
            system_ns: report.cpu.system_ns,
            busiest_share: Some(report.cpu.busiest_job),
            involuntary_switches: Some(report.cpu.involuntary_switches),
            // Shortly before an operation is due the clock is watched.
            polls: settings.any_rate().is_some()
                || settings.tuning.iopoll
                || settings.tuning.hipri
                || settings.tuning.reap_batch == 0,
        }),
        host: seen.host,
        clock: Some(seen.clock),
        counts: counts(report),
        ..Evidence::default()
    }
}

fn io(settings: &IoSettings, report: &JobReport) -> IoEvidence {
    let transfers = [&report.read, &report.write, &report.trim];
    let histogram_count: u64 = transfers.iter().map(|d| d.latency.count()).sum();
    let time_in_flight = |d: &DirectionReport| d.service.as_ref().unwrap_or(&d.latency).sum();
    let latency_sum: u64 = transfers.iter().map(|d| time_in_flight(d)).sum();
    let all = [&report.read, &report.write, &report.trim, &report.sync];
    IoEvidence {
        window_ns: report.window.as_u64(),
        operations: report.ops(),
        read_bytes: report.read.bytes,
        written_bytes: report.write.bytes,
        trimmed_bytes: report.trim.bytes,
        histogram_count,
        interval_count: report.series.rows.iter().map(IntervalRow::ops).sum(),
        clipped: all.iter().map(|d| d.latency.clipped()).sum(),
        latency_ns_mean: match histogram_count {
            0 => 0.0,
            count => latency_sum as f64 / count as f64,
        },
        in_flight_mean: report.mean_in_flight,
        depth_total: u64::from(settings.depth) * u64::from(settings.jobs),
        block_size_bytes: settings.single_block_size().map(|size| size.as_u64()),
        errors: all.iter().flat_map(|d| d.errors.values()).sum(),
        engine: report.engine.used.name().to_owned(),
    }
}

fn verify(found: &VerifyReport) -> VerifyEvidence {
    let faults = found
        .faults
        .iter()
        .map(|(kind, count)| ((*kind).to_owned(), *count));
    VerifyEvidence {
        checked_bytes: found.checked_bytes,
        read_back_bytes: found.read_back_bytes,
        faults: faults.collect(),
        first: found.first.iter().map(ToString::to_string).collect(),
    }
}

fn pace(settings: &IoSettings, report: &JobReport) -> Option<PaceEvidence> {
    let rate = settings.any_rate()?;
    let open = report.open_loop.as_ref().map(|open| OpenEvidence {
        arrivals: settings.arrivals.name().to_owned(),
        due: open.due,
        late_starts: open.late_starts,
        latest_start_ns: open.latest_start_ns,
        backlog: open.backlog,
        unfinished: report.outside.late_ops,
    });
    // The number due is the rate's for even arrivals; for random ones it varies by chance.
    let reached_share = match (&open, rate) {
        (Some(open), _) => report.ops() as f64 / open.due.max(1) as f64,
        (None, Rate::Operations(rate)) => report.iops() / rate,
        (None, Rate::Bytes(rate)) => report.bytes_per_second() / rate as f64,
    };
    Some(PaceEvidence {
        rate: rate.to_string(),
        reached_share: Some(reached_share),
        open,
    })
}

/// Rare things of the engine that have no field of their own, where they happened.
fn counts(report: &JobReport) -> BTreeMap<String, u64> {
    let all = [&report.read, &report.write, &report.trim, &report.sync];
    let sum = |of: fn(&DirectionReport) -> u64| all.iter().map(|d| of(d)).sum::<u64>();
    [
        ("short-transfers", sum(|d| d.short)),
        ("retried", sum(|d| d.retried)),
        ("would-block", sum(|d| d.would_block)),
        ("ramp-operations", report.outside.ramp_ops),
        ("late-operations", report.outside.late_ops),
        ("errors-outside-window", report.outside.errors),
        ("stamp-blur-ns", report.resolution_ns),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(name, count)| (name.to_owned(), count))
    .collect()
}

fn durability(settings: &IoSettings, report: &JobReport) -> DurabilityEvidence {
    DurabilityEvidence {
        policy: settings.durability(),
        durable: settings.is_durable(),
        syncs: report.sync.ops,
        final_flush_ns: report.final_flush.map(|took| took.as_u64()),
    }
}

/// How compressible the data is that the cases write, on a sample of it; unknown for a target of
/// the user's that is only read.
pub(super) fn compressible_share(settings: &IoSettings, is_our_file: bool) -> Option<f64> {
    if !is_our_file && !settings.writes() {
        return None;
    }
    let mut sample = vec![0; SAMPLE_BYTES];
    Filler::new(spec::contents(settings), layout_seed()).fill(&mut sample, 0, 1);
    Some(share_of(&sample))
}

/// What was asked of direct I/O and what came of it.
pub(super) fn direct(
    settings: &IoSettings,
    is_direct: bool,
    probe: Option<&DirectProbe>,
) -> DirectEvidence {
    // A mapping is the page cache: nothing else was asked for.
    let requested = settings.direct != IoDirect::No && settings.engine != IoEngine::Mmap;
    let alignment = probe.and_then(|probe| probe.alignment);
    let verdict = probe.map(|probe| probe.verdict);
    DirectEvidence {
        requested,
        opened: is_direct,
        memory_align_bytes: alignment.map(|alignment| alignment.memory),
        offset_align_bytes: alignment.map(|alignment| alignment.offset),
        transfer_ok: match verdict {
            Some(DirectVerdict::Effective | DirectVerdict::Cached(_) | DirectVerdict::Memory) => {
                Some(true)
            }
            Some(DirectVerdict::Refused(_)) => Some(false),
            Some(DirectVerdict::TooShort) | None => None,
        },
        transfer_cached_pages: match verdict {
            Some(DirectVerdict::Effective) => Some(0),
            Some(DirectVerdict::Cached(bytes)) => Some(bytes.as_u64().div_ceil(PAGE_BYTES)),
            _ => None,
        },
    }
}

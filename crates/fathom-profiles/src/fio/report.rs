//! From fio's JSON to a trial.

use std::collections::BTreeMap;

use fathom_base::{Nanos, Rate};
use fathom_model::definition::io::{
    self as definition, IoDirect, IoEngine, IoMeasured, IoSettings, IoTotals,
};
use fathom_model::{
    CacheEvidence, CpuEvidence, DataEvidence, DirectEvidence, DurabilityEvidence, Evidence,
    FileEvidence, Host, HostEvidence, IoEvidence, PaceEvidence, Trial,
};
use fathom_stats::Histogram;

use super::output::{Job, Output, Side};

/// What is known beside fio's answer.
pub(super) struct Known<'a> {
    pub(super) settings: &'a IoSettings,
    pub(super) engine: &'static str,
    pub(super) direct: bool,
    pub(super) file_bytes: Option<u64>,
    pub(super) host: &'a Host,
    pub(super) witnessed: Option<HostEvidence>,
}

/// One direction of all jobs together.
#[derive(Default)]
struct Sum {
    operations: u64,
    issued: u64,
    bytes: u64,
    runtime_ms: u64,
    latency: Histogram,
    latency_ns_sum: f64,
    latency_count: u64,
}

impl Sum {
    fn over(output: &Output, side: fn(&Job) -> &Side) -> Self {
        let mut sum = Self::default();
        for side in output.jobs.iter().map(side) {
            sum.operations += side.completed();
            sum.issued += side.total_ios;
            sum.bytes += side.io_bytes;
            sum.runtime_ms = sum.runtime_ms.max(side.runtime);
            sum.latency.merge(&side.lat_ns.histogram());
            sum.latency_ns_sum += side.lat_ns.mean * side.lat_ns.count as f64;
            sum.latency_count += side.lat_ns.count;
        }
        sum
    }

    fn mean(&self) -> Option<f64> {
        (self.latency_count > 0).then(|| self.latency_ns_sum / self.latency_count as f64)
    }

    fn totals(&self) -> IoTotals<'_> {
        IoTotals {
            operations: self.operations,
            bytes: self.bytes,
            latency: Some(&self.latency),
            service: Some(&self.latency),
            latency_ns_mean: self.mean(),
        }
    }
}

/// Values, histograms and evidence of a trial.
pub(super) fn trial(output: &Output, known: Known<'_>) -> Trial {
    let read = Sum::over(output, |job| &job.read);
    let write = Sum::over(output, |job| &job.write);
    let trim = Sum::over(output, |job| &job.trim);
    let sync = Sum::over(output, |job| &job.sync);
    let window_ms = read.runtime_ms.max(write.runtime_ms).max(trim.runtime_ms);
    let measured = IoMeasured {
        window: Nanos::from_millis(window_ms),
        read: read.totals(),
        write: write.totals(),
        trim: trim.totals(),
        sync: sync.totals(),
    };
    let transfers = [&read, &write, &trim];
    let sum = |of: fn(&Sum) -> u64| transfers.iter().map(|sum| of(sum)).sum::<u64>();
    let latency_count = sum(|s| s.latency_count);
    let latency_sum: f64 = transfers.iter().map(|s| s.latency_ns_sum).sum();
    let settings = known.settings;
    let io = IoEvidence {
        window_ns: measured.window.as_u64(),
        operations: sum(|s| s.operations),
        read_bytes: read.bytes,
        written_bytes: write.bytes,
        trimmed_bytes: trim.bytes,
        histogram_count: sum(|s| s.latency.count()),
        latency_ns_mean: if latency_count > 0 {
            latency_sum / latency_count as f64
        } else {
            0.0
        },
        depth_total: u64::from(settings.depth) * u64::from(settings.jobs),
        block_size_bytes: settings.single_block_size().map(|size| size.as_u64()),
        errors: output.jobs.iter().map(|job| job.total_err).sum(),
        engine: known.engine.to_owned(),
        // fio gives neither intervals nor the number in flight with the JSON.
        ..IoEvidence::default()
    };
    let (issued, syncs) = (sum(|s| s.issued), sync.operations);
    Trial {
        values: definition::values(settings, &measured),
        histograms: histograms(
            settings,
            [
                ("read", read),
                ("write", write),
                ("trim", trim),
                ("sync", sync),
            ],
        ),
        evidence: evidence(known, output, io, issued, syncs),
        ..Trial::default()
    }
}

fn histograms(settings: &IoSettings, sums: [(&str, Sum); 4]) -> BTreeMap<String, Histogram> {
    sums.into_iter()
        .filter(|(_, sum)| !sum.latency.is_empty())
        .map(|(name, sum)| {
            let mut histogram = sum.latency;
            histogram.shrink();
            let name = match settings.rate_limit {
                Some(_) if name != "sync" => format!("{name}-service"),
                _ => name.to_owned(),
            };
            (name, histogram)
        })
        .collect()
}

fn pace(limit: Rate, io: &IoEvidence) -> PaceEvidence {
    let seconds = io.window_ns.max(1) as f64 / 1e9;
    let bytes = io.read_bytes + io.written_bytes + io.trimmed_bytes;
    PaceEvidence {
        rate: limit.to_string(),
        reached_share: Some(match limit {
            Rate::Operations(rate) => io.operations as f64 / seconds / rate,
            Rate::Bytes(rate) => bytes as f64 / seconds / rate as f64,
        }),
        open: None,
    }
}

fn evidence(
    known: Known<'_>,
    output: &Output,
    io: IoEvidence,
    issued: u64,
    syncs: u64,
) -> Evidence {
    let settings = known.settings;
    let is_apart = issued != io.operations;
    let cpu_ns = |percent: fn(&Job) -> f64| {
        let ms: f64 = output
            .jobs
            .iter()
            .map(|job| percent(job) / 100.0 * job.job_runtime as f64)
            .sum();
        (ms * 1e6) as u64
    };
    Evidence {
        pace: settings.rate_limit.map(|limit| pace(limit, &io)),
        io: Some(io),
        direct: Some(DirectEvidence {
            requested: settings.direct != IoDirect::No && settings.engine != IoEngine::Mmap,
            opened: known.direct,
            transfer_ok: known.direct.then_some(true),
            ..DirectEvidence::default()
        }),
        file: known.file_bytes.map(|size_bytes| FileEvidence {
            size_bytes,
            memory_bytes: Some(known.host.memory.as_u64()),
            ..FileEvidence::default()
        }),
        cache: (!known.direct).then(|| CacheEvidence {
            asked: settings.cache.name().to_owned(),
            ..CacheEvidence::default()
        }),
        data: Some(DataEvidence {
            contents: settings.contents_in_words(),
            compressing_stack: known.host.target.compressing.clone(),
            ..DataEvidence::default()
        }),
        durability: settings.writes().then(|| DurabilityEvidence {
            policy: settings.durability(),
            durable: settings.is_durable(),
            syncs,
            final_flush_ns: None,
        }),
        cpu: Some(CpuEvidence {
            user_ns: cpu_ns(|job| job.usr_cpu),
            system_ns: cpu_ns(|job| job.sys_cpu),
            polls: settings.tuning.iopoll
                || settings.tuning.hipri
                || settings.tuning.reap_batch == 0,
            ..CpuEvidence::default()
        }),
        host: known.witnessed,
        counts: is_apart
            .then(|| ("issued-in-window".to_owned(), issued))
            .into_iter()
            .collect(),
        ..Evidence::default()
    }
}

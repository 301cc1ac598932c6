use std::collections::BTreeMap;

use fathom_base::Nanos;
use fathom_model::{
    CacheEvidence, Context, DataEvidence, DurabilityEvidence, Evidence, Figure, FileEvidence,
    HostEvidence, IoEvidence, Series, Trial,
};

use super::{CpuTime, Meter};
use crate::common::compressible_share;

/// Reads and writes of the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    /// Bytes read.
    pub(crate) read_bytes: u64,
    /// Bytes written.
    pub(crate) written_bytes: u64,
    /// Calls that read or wrote, counted by the loop that made them.
    pub(crate) calls: u64,
    /// The same by an account of its own: what the plan of the work says, or sums over samples.
    pub(crate) planned_calls: u64,
    /// The size of one, when all are of one size.
    pub(crate) block_bytes: Option<u64>,
}

/// What a trial of a classic test found, to be made into a [`Trial`].
pub(crate) struct Outcome<'a> {
    /// Values by metric.
    pub(crate) values: BTreeMap<String, Figure>,
    /// Latencies of all kinds.
    pub(crate) meter: Meter,
    /// Which kinds of the meter are reads and writes, for the account of the I/O.
    pub(crate) io_kinds: &'static [usize],
    /// Bytes and calls.
    pub(crate) traffic: Traffic,
    /// Length of the measured window.
    pub(crate) window: Nanos,
    /// Threads that worked.
    pub(crate) threads: u32,
    /// The file, or all files together at their largest.
    pub(crate) file: FileEvidence,
    /// What of it was in the page cache, where that is known.
    pub(crate) cache: Option<CacheEvidence>,
    /// Counts beside those of the meter.
    pub(crate) counts: Vec<(&'static str, u64)>,
    /// What files are filled with, in words.
    pub(crate) contents: &'static str,
    /// A piece of it.
    pub(crate) sample: &'a [u8],
    /// When writes are durable, in words; whether all were when the clock stopped; syncs.
    pub(crate) durability: DurabilityEvidence,
    /// What the machine saw.
    pub(crate) host: HostEvidence,
    /// Processor time of the threads.
    pub(crate) cpu: CpuTime,
    /// Series by name.
    pub(crate) series: BTreeMap<String, Series>,
    /// Sentences worth keeping.
    pub(crate) notes: Vec<String>,
}

impl Outcome<'_> {
    /// The trial, with its evidence.
    pub(crate) fn into_trial(self, cx: &Context<'_>) -> Trial {
        let io = self.io();
        let mut counts: BTreeMap<String, u64> = self
            .meter
            .counts()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
        counts.extend(
            self.counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count)),
        );
        let evidence = Evidence {
            io: Some(io),
            file: Some(FileEvidence {
                memory_bytes: Some(cx.host.memory.as_u64()),
                ..self.file
            }),
            cache: self.cache,
            data: Some(DataEvidence {
                contents: self.contents.to_owned(),
                compressible_share: Some(compressible_share(self.sample)),
                compressing_stack: cx.host.target.compressing.clone(),
            }),
            durability: Some(self.durability),
            cpu: Some(self.cpu.evidence()),
            host: Some(self.host),
            counts,
            notes: self.notes,
            ..Evidence::default()
        };
        Trial {
            values: self.values,
            histograms: self.meter.into_histograms(),
            series: self.series,
            evidence,
            ..Trial::default()
        }
    }

    fn io(&self) -> IoEvidence {
        let kinds = self.io_kinds.iter().map(|kind| self.meter.of(*kind));
        let (mut count, mut clipped, mut sum_ns) = (0, 0, 0.0);
        for histogram in kinds {
            count += histogram.count();
            clipped += histogram.clipped();
            sum_ns += histogram.sum() as f64;
        }
        IoEvidence {
            window_ns: self.window.as_u64(),
            operations: self.traffic.calls,
            read_bytes: self.traffic.read_bytes,
            written_bytes: self.traffic.written_bytes,
            histogram_count: count,
            interval_count: self.traffic.planned_calls,
            clipped,
            latency_ns_mean: sum_ns / count as f64,
            // Each thread waits for one call at a time; the rest of its time is other calls.
            in_flight_mean: f64::NAN,
            depth_total: u64::from(self.threads),
            block_size_bytes: self.traffic.block_bytes,
            engine: "file calls".to_owned(),
            ..IoEvidence::default()
        }
    }
}

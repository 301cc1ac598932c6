//! From jobs to a result file.

use std::collections::BTreeMap;

use fathom_base::WallTime;
use fathom_model::{
    Case, Direction, Display, Figure, Generator, Implementation, ImplementationKind, Metric,
    Options, Origin, PaceEvidence, ResultFile, ResultRecord, Run, System, Trial, case_id,
};
use fathom_stats::Histogram;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::job::{Document, Flow, Job};
use super::{UNNAMED, options};
use crate::warnings::Warnings;
use crate::{Format, FormatError};

/// From this block size on a case is about bandwidth, as in Fathom's own test.
const BANDWIDTH_BLOCK: u64 = 64 << 10;
/// Most operations of a histogram that a file can hold.
const MAX_OPERATIONS: u64 = 1 << 53;
/// Percentiles that are metrics.
const PERCENTILES: [(&str, &str, f64); 3] = [
    ("p50", "median", 50.0),
    ("p99", "p99", 99.0),
    ("p99.9", "p99.9", 99.9),
];
/// Longest text of messages kept.
const MAX_MESSAGES: usize = 64 << 10;

pub(super) fn file(
    format: Format,
    documents: Vec<Document>,
    messages: Vec<String>,
) -> Result<ResultFile, FormatError> {
    let mut warnings = Warnings::default();
    let documents = without_snapshots(documents, &mut warnings);
    let version = documents
        .first()
        .map(|document| document.version.clone())
        .unwrap_or_default();
    let mut builder = Builder {
        file: ResultFile::new(
            String::new(),
            Generator {
                name: "fio".to_owned(),
                version,
            },
        ),
        reason: reason(&messages),
        warnings,
    };
    for (index, document) in documents.iter().enumerate() {
        builder.add(document, index, documents.len());
    }
    if builder.file.runs.is_empty() {
        return Err(FormatError::Unsupported {
            format,
            reason: match builder.reason.as_str() {
                "" => "there is no job in it".to_owned(),
                reason => format!("there is no job in it, only messages: {reason}"),
            },
        });
    }
    Ok(builder.finish(format, &messages))
}

/// `--status-interval` writes the state of the same run again and again: only the last counts.
fn without_snapshots(documents: Vec<Document>, warnings: &mut Warnings) -> Vec<Document> {
    let mut kept: Vec<Document> = Vec::new();
    let mut dropped = 0;
    for document in documents {
        match kept.last_mut() {
            Some(last) if is_later_snapshot(last, &document) => {
                *last = document;
                dropped += 1;
            }
            _ => kept.push(document),
        }
    }
    if dropped > 0 {
        let text = format!("{dropped} states of a run in progress were left out for its last one");
        warnings.add("whole file", text);
    }
    kept
}

/// The same jobs, each having gone on, and no more time passed than they ran.
fn is_later_snapshot(earlier: &Document, later: &Document) -> bool {
    let work = |job: &Job| {
        let flows = [&job.read, &job.write, &job.trim, &job.mixed];
        let operations: f64 = flows.iter().map(|flow| flow.operations).sum();
        let runtime = flows.iter().map(|flow| flow.runtime_ms).fold(0.0, f64::max);
        (operations, runtime)
    };
    let goes_on = |(a, b): (&Job, &Job)| {
        let (before, after) = (work(a), work(b));
        a.name == b.name && a.group == b.group && before.0 <= after.0 && before.1 <= after.1
    };
    let pairs = || earlier.jobs.iter().zip(&later.jobs);
    let ran_ms = pairs()
        .map(|(a, b)| work(b).1 - work(a).1)
        .fold(0.0, f64::max);
    let passed_ms = match (earlier.time, later.time) {
        (Some(a), Some(b)) => (b.unix_ms() - a.unix_ms()) as f64,
        _ => ran_ms,
    };
    earlier.jobs.len() == later.jobs.len()
        && !earlier.jobs.is_empty()
        && ran_ms > 0.0
        && pairs().all(goes_on)
        && (passed_ms - ran_ms).abs() <= 2500.0
}

/// The first messages that say what went wrong.
fn reason(messages: &[String]) -> String {
    let telling = messages.iter().map(|line| line.trim()).filter(|line| {
        line.starts_with("fio:") && !line.starts_with("fio: terminating on signal")
            || line.contains("verify") && line.contains("failed")
            || line.contains("error=")
    });
    telling.take(3).collect::<Vec<_>>().join("; ")
}

struct Builder {
    file: ResultFile,
    reason: String,
    warnings: Warnings,
}

/// Entries of one job: fio lists one a thread unless it is asked to group them.
struct Pooled<'a> {
    job: Job,
    parts: Vec<&'a Job>,
}

impl Builder {
    fn add(&mut self, document: &Document, index: usize, of: usize) {
        let mut pooled: Vec<Pooled<'_>> = Vec::new();
        for job in &document.jobs {
            let same = pooled.iter_mut().find(|known| {
                known.job.name == job.name
                    && known.job.group == job.group
                    && known.job.host == job.host
                    && known.job.options == job.options
            });
            match same {
                Some(known) => known.add(job),
                None => pooled.push(Pooled {
                    job: job.clone(),
                    parts: vec![job],
                }),
            }
        }
        for pooled in pooled {
            self.add_job(document, &pooled, index, of);
        }
    }

    fn add_job(&mut self, document: &Document, pooled: &Pooled<'_>, index: usize, of: usize) {
        let job = &pooled.job;
        let place = match of {
            1 => format!("job {}", job.name),
            _ => format!("document {}, job {}", index + 1, job.name),
        };
        let parts = pooled.parts.len();
        if parts > 1 && job.read.bins.is_empty() && job.write.bins.is_empty() {
            let text = format!(
                "{parts} entries of one job are one trial; their percentiles cannot be pooled \
                 without histograms (json+) and are left out"
            );
            self.warnings.add(place.clone(), text);
        }
        let metrics = metrics(job);
        if metrics.is_empty() && job.error == 0 {
            self.warnings.add(place, "it did no I/O and was left out");
            return;
        }
        let system = job.host.clone().unwrap_or_else(|| UNNAMED.to_owned());
        if self.file.system(&system).is_none() {
            self.file.systems.push(self.system(&system, document));
        }
        let case = self.case(document, job);
        self.add_records(&case, job, metrics);
        let number = self
            .file
            .run(&case.id, &system)
            .map_or(0, |run| run.trials.len()) as u32
            + 1;
        let trial = self.trial(document, job, &case, number);
        match self
            .file
            .runs
            .iter_mut()
            .find(|run| run.case == case.id && run.system == system)
        {
            Some(run) => run.trials.push(trial),
            None => self.file.runs.push(Run {
                case: case.id.clone(),
                system,
                trials: vec![trial],
                ..Run::default()
            }),
        }
        if self.file.case(&case.id).is_none() {
            self.file.cases.push(case);
        }
    }

    fn system(&self, name: &str, document: &Document) -> System {
        let client = match document.version.as_str() {
            "" => "fio".to_owned(),
            version => format!("fio {version}"),
        };
        System {
            identifier: name.to_owned(),
            time: document.time,
            client,
            ..System::default()
        }
    }

    /// Jobs of equal options under two names are told apart by them; otherwise the name does not
    /// count.
    fn case(&self, document: &Document, job: &Job) -> Case {
        let implementation = Implementation {
            kind: ImplementationKind::Imported,
            name: "fio".to_owned(),
            version: document.version.clone(),
        };
        let (mut options, defaulted) = match &job.options {
            Some(options) => options::canonical(options),
            None => (Options::default(), Vec::new()),
        };
        let label = options::label(&job.name, job.options.as_ref().map(|_| &options));
        if job.options.is_none() {
            options.set("job", job.name.clone());
        }
        let mut id = case_id("fio", "", &implementation, &options);
        let is_other_job = self.file.cases.iter().any(|known| {
            known.id == id && known.extra.get("job").and_then(Value::as_str) != Some(&job.name)
        });
        if is_other_job {
            options.set("job", job.name.clone());
            id = case_id("fio", "", &implementation, &options);
        }
        let mut extra = serde_json::Map::new();
        extra.insert("job".to_owned(), job.name.as_str().into());
        if !defaulted.is_empty() {
            let names = defaulted.into_iter().map(Value::from).collect();
            extra.insert("defaults_of_fio".to_owned(), Value::Array(names));
        }
        for name in ["filename", "directory"] {
            let given = job
                .options
                .iter()
                .flatten()
                .find(|(known, _)| known == name);
            if let Some((_, value)) = given {
                extra.insert(name.to_owned(), value.as_str().into());
            }
        }
        Case {
            id,
            test: "fio".to_owned(),
            test_version: String::new(),
            implementation,
            options,
            label: if is_other_job {
                format!("{label} ({})", job.name)
            } else {
                label
            },
            extra,
        }
    }

    fn add_records(&mut self, case: &Case, job: &Job, metrics: Vec<Metric>) {
        let metrics = match metrics.is_empty() {
            // A job that failed at once still has a place in tables.
            true => vec![Metric {
                id: "iops".to_owned(),
                unit: "IOPS".to_owned(),
                direction: Direction::HigherIsBetter,
                is_primary: true,
                ..Metric::default()
            }],
            false => metrics,
        };
        for metric in metrics {
            let known =
                |record: &ResultRecord| record.case == case.id && record.metric.id == metric.id;
            if self.file.results.iter().any(known) {
                continue;
            }
            self.file.results.push(ResultRecord {
                case: case.id.clone(),
                metric,
                title: "fio".to_owned(),
                version: case.implementation.version.clone(),
                description: match job.options {
                    Some(_) => case.label.clone(),
                    None => job.name.clone(),
                },
                display: Display::Bar,
                ..ResultRecord::default()
            });
        }
    }

    fn trial(&self, document: &Document, job: &Job, case: &Case, number: u32) -> Trial {
        let mut trial = Trial {
            number,
            duration_ns: (job.elapsed_ms * 1e6) as u64,
            extra: job.facts.clone(),
            ..Trial::default()
        };
        if let Some(time) = document.time {
            let start = time.unix_ms().saturating_sub(job.elapsed_ms as i64);
            trial.started = WallTime::from_unix_ms(start);
        }
        for (key, value) in &document.facts {
            trial.extra.insert(key.clone(), value.clone());
        }
        if job.error == 0 {
            trial.values = values(job);
            trial.evidence.pace = pace(job);
            for (name, flow) in [
                ("read", &job.read),
                ("write", &job.write),
                ("sync", &job.sync),
            ] {
                if let Some(histogram) = histogram(flow) {
                    trial.histograms.insert(name.to_owned(), histogram);
                }
            }
        } else {
            let reason = match self.reason.as_str() {
                "" => "no message in the output",
                reason => reason,
            };
            trial.error = Some(format!("fio error {}: {reason}", job.error));
        }
        trial.id = trial_id(&trial, case);
        trial
    }

    fn finish(mut self, format: Format, messages: &[String]) -> ResultFile {
        let text = messages.join("\n");
        if !text.trim().is_empty() {
            let text = crate::text::cut(text, MAX_MESSAGES);
            self.file.logs.insert("fio messages".to_owned(), text);
        }
        choose_primary(&mut self.file);
        self.file.rebuild();
        self.file.origin = Some(Box::new(Origin {
            format: format.name().to_owned(),
            warnings: self.warnings.finish(),
            ..Origin::default()
        }));
        self.file
    }
}

impl<'a> Pooled<'a> {
    fn add(&mut self, job: &'a Job) {
        self.parts.push(job);
        let total = &mut self.job;
        total.read.add(&job.read);
        total.write.add(&job.write);
        total.trim.add(&job.trim);
        total.sync.add(&job.sync);
        total.mixed.add(&job.mixed);
        total.elapsed_ms = total.elapsed_ms.max(job.elapsed_ms);
        total.error = total.error.max(job.error);
        let count = self.parts.len();
        total.facts.clear();
        total
            .facts
            .insert("pooled_entries".to_owned(), count.into());
    }
}

/// A rate that the job was held to: fio's loop is closed, so that what operations waited before they
/// were submitted is not in its latencies.
fn pace(job: &Job) -> Option<PaceEvidence> {
    let options = job.options.as_ref()?;
    let (name, rate) = options
        .iter()
        .find(|(name, value)| ["rate", "rate_iops"].contains(&name.as_str()) && value != "0")?;
    Some(PaceEvidence {
        rate: format!("{name}={rate}"),
        ..PaceEvidence::default()
    })
}

/// The same output read twice gives the same trials, so that merging does not double them.
fn trial_id(trial: &Trial, case: &Case) -> String {
    let content = serde_json::to_vec(trial).unwrap_or_default();
    let digest: String = Sha256::digest(&content)[..8]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    format!("fio-{digest}-{}-{}", case.id, trial.number)
}

/// The directions that did something, with the prefix of their metrics.
fn flows(job: &Job) -> Vec<(&'static str, &Flow)> {
    let named = [
        ("read", &job.read),
        ("write", &job.write),
        ("trim", &job.trim),
    ];
    let active: Vec<_> = named
        .into_iter()
        .filter(|(_, flow)| !flow.is_empty())
        .collect();
    match active.as_slice() {
        [] if !job.mixed.is_empty() => vec![("", &job.mixed)],
        [(_, only)] => vec![("", *only)],
        _ => active,
    }
}

fn metrics(job: &Job) -> Vec<Metric> {
    let mut all = Vec::new();
    let flows = flows(job);
    if flows.len() > 1 {
        all.extend(rates(""));
    }
    for (direction, flow) in &flows {
        all.extend(rates(direction));
        all.extend(latencies(direction, flow));
    }
    if !job.sync.is_empty() {
        all.extend(latencies("sync", &job.sync));
    }
    let is_large = job
        .options
        .iter()
        .flatten()
        .filter(|(name, _)| matches!(name.as_str(), "bs" | "blocksize"))
        .filter_map(|(_, size)| options::block_bytes(size))
        .any(|size| size >= BANDWIDTH_BLOCK);
    let primary = if is_large { "bandwidth" } else { "iops" };
    for metric in &mut all {
        metric.is_primary = metric.id == primary;
    }
    all
}

fn metric(direction: &str, id: &str, title: &str, unit: &str, better: Direction) -> Metric {
    let (prefix, word) = match direction {
        "" => (String::new(), String::new()),
        direction => (format!("{direction}-"), format!("{direction} ")),
    };
    Metric {
        id: format!("{prefix}{id}"),
        title: format!("{word}{title}"),
        unit: unit.to_owned(),
        direction: better,
        ..Metric::default()
    }
}

fn rates(direction: &str) -> [Metric; 2] {
    let higher = Direction::HigherIsBetter;
    [
        metric(direction, "bandwidth", "bandwidth", "MB/s", higher),
        metric(direction, "iops", "operations a second", "IOPS", higher),
    ]
}

fn latencies(direction: &str, flow: &Flow) -> Vec<Metric> {
    let lower = Direction::LowerIsBetter;
    let latency = |suffix: &str, word: &str| {
        let title = format!("{word} latency");
        metric(direction, &format!("latency-{suffix}"), &title, "us", lower)
    };
    let mean = flow.latency_mean_us.map(|_| latency("mean", "mean"));
    let percentiles = PERCENTILES
        .iter()
        .filter(|(_, _, percent)| percentile_us(flow, *percent).is_some())
        .map(|(suffix, word, _)| latency(suffix, word));
    mean.into_iter().chain(percentiles).collect()
}

/// As fio gives it, else from its histogram.
fn percentile_us(flow: &Flow, percent: f64) -> Option<f64> {
    flow.percentile_us(percent).or_else(|| {
        let total = flow
            .bins
            .iter()
            .fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        let needed = (total as f64 * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen: u64 = 0;
        flow.bins.iter().find_map(|(ns, count)| {
            seen = seen.saturating_add(*count);
            (seen >= needed).then_some(*ns as f64 / 1000.0)
        })
    })
}

fn values(job: &Job) -> BTreeMap<String, Figure> {
    let mut values = BTreeMap::new();
    let mut put = |id: String, value: f64| {
        values.extend(Figure::new(value).map(|figure| (id, figure)));
    };
    let flows = flows(job);
    let mut put_rates = |prefix: &str, iops: f64, bytes: f64| {
        put(format!("{prefix}bandwidth"), bytes / 1e6);
        put(format!("{prefix}iops"), iops);
    };
    if flows.len() > 1 {
        let sum = |of: fn(&Flow) -> f64| flows.iter().map(|(_, flow)| of(flow)).sum::<f64>();
        put_rates("", sum(|f| f.iops), sum(|f| f.bytes_per_second));
    }
    for (direction, flow) in &flows {
        let prefix = prefix(direction);
        put_rates(&prefix, flow.iops, flow.bytes_per_second);
    }
    let with_latency = flows.iter().copied().chain([("sync", &job.sync)]);
    for (direction, flow) in with_latency.filter(|(_, flow)| !flow.is_empty()) {
        let prefix = prefix(direction);
        if let Some(mean) = flow.latency_mean_us {
            put(format!("{prefix}latency-mean"), mean);
        }
        for (suffix, _, percent) in PERCENTILES {
            if let Some(latency) = percentile_us(flow, percent) {
                put(format!("{prefix}latency-{suffix}"), latency);
            }
        }
    }
    values
}

fn prefix(direction: &str) -> String {
    match direction {
        "" => String::new(),
        direction => format!("{direction}-"),
    }
}

fn histogram(flow: &Flow) -> Option<Histogram> {
    let total = flow
        .bins
        .iter()
        .try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))?;
    if total == 0 || total > MAX_OPERATIONS {
        return None;
    }
    let mut histogram = Histogram::empty();
    for (ns, count) in &flow.bins {
        histogram.record_n(*ns, *count);
    }
    Some(histogram)
}

/// A case whose preferred metric is missing is led by the first it has.
fn choose_primary(file: &mut ResultFile) {
    for case in &file.cases {
        let mut of_case: Vec<&mut ResultRecord> = file
            .results
            .iter_mut()
            .filter(|record| record.case == case.id)
            .collect();
        if of_case.iter().all(|record| !record.metric.is_primary)
            && let Some(first) = of_case.first_mut()
        {
            first.metric.is_primary = true;
        }
    }
}

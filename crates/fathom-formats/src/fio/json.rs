use fathom_base::WallTime;
use fathom_model::ResultFile;
use serde_json::{Map, Value};

use super::job::{Document, Flow, Job, version};
use super::{build, find};
use crate::{Format, FormatError};

/// Largest file of fio JSON.
const MAX_BYTES: usize = 64 << 20;
/// Most jobs of a file.
const MAX_JOBS: usize = 20_000;

/// Reads fio JSON and JSON+ of fio 2.0 and later: one or several documents, with whatever text
/// around and between them.
///
/// # Errors
/// [`FormatError::Syntax`] with line, column and path when a document is cut off or malformed,
/// [`FormatError::Unsupported`] when there is no job in it, [`FormatError::Limit`] over 64 MiB.
pub fn read(bytes: &[u8]) -> Result<ResultFile, FormatError> {
    if bytes.len() > MAX_BYTES {
        return Err(FormatError::Limit {
            what: "size of fio output in bytes",
            found: bytes.len() as u64,
            limit: MAX_BYTES as u64,
        });
    }
    crate::json::check_objects(bytes)?;
    let found = find::documents(crate::text::without_bom(bytes))?;
    let listed = |document: &Value, key: &str| {
        let jobs = document.get(key).and_then(Value::as_array);
        jobs.map_or(0, Vec::len)
    };
    let of_document =
        |document: &Value| listed(document, "jobs") + listed(document, "client_stats");
    let jobs: usize = found.documents.iter().map(of_document).sum();
    if jobs > MAX_JOBS {
        return Err(FormatError::Limit {
            what: "jobs of a file",
            found: jobs as u64,
            limit: MAX_JOBS as u64,
        });
    }
    let documents: Vec<Document> = found.documents.iter().map(document).collect();
    build::file(Format::FioJson, documents, found.messages)
}

fn document(value: &Value) -> Document {
    let global = pairs(value.get("global options"));
    let listed = |key: &str| {
        value
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let mut facts = Map::new();
    if let Some(disks) = value
        .get("disk_util")
        .filter(|disks| !disks.as_array().is_none_or(Vec::is_empty))
    {
        facts.insert("disk_util".to_owned(), disks.clone());
    }
    Document {
        version: version(
            value
                .get("fio version")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        ),
        time: time(value),
        jobs: listed("jobs")
            .chain(listed("client_stats"))
            .map(|job_value| job(job_value, &global))
            .collect(),
        facts,
    }
}

fn time(value: &Value) -> Option<WallTime> {
    let integer = |key: &str| value.get(key).and_then(Value::as_i64).filter(|t| *t > 0);
    let ms = integer("timestamp_ms").or_else(|| integer("timestamp")?.checked_mul(1000))?;
    Some(WallTime::from_unix_ms(ms))
}

fn pairs(object: Option<&Value>) -> Vec<(String, String)> {
    let object = object.and_then(Value::as_object);
    object
        .into_iter()
        .flatten()
        .map(|(name, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            (name.clone(), text)
        })
        .collect()
}

fn job(value: &Value, global: &[(String, String)]) -> Job {
    let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let own = value
        .get("job options")
        .or_else(|| value.get("job_options"));
    let options = (own.is_some() || !global.is_empty()).then(|| {
        let mut options = global.to_vec();
        for (name, value) in pairs(own) {
            match options.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => options.push((name, value)),
            }
        }
        options
    });
    let flow = |key: &str| value.get(key).map(flow).unwrap_or_default();
    let elapsed = number(value, "elapsed").map(|seconds| seconds * 1000.0);
    Job {
        name: text("jobname").unwrap_or_default(),
        group: number(value, "groupid").unwrap_or_default() as u64,
        error: number(value, "error").unwrap_or_default() as u64,
        // The sum over clients has no options of its own.
        options: options.filter(|_| {
            value
                .get("jobname")
                .is_none_or(|name| name != "All clients")
        }),
        host: text("hostname"),
        read: flow("read"),
        write: flow("write"),
        trim: flow("trim"),
        sync: flow("sync"),
        mixed: flow("mixed"),
        elapsed_ms: number(value, "job_runtime").or(elapsed).unwrap_or_default(),
        facts: facts(value),
    }
}

fn number(value: &Value, key: &str) -> Option<f64> {
    value
        .get(key)
        .and_then(Value::as_f64)
        .filter(|number| number.is_finite() && *number >= 0.0)
}

fn flow(value: &Value) -> Flow {
    let runtime_ms = number(value, "runtime").unwrap_or_default();
    let mut flow = Flow {
        operations: number(value, "total_ios").unwrap_or_default(),
        iops: number(value, "iops").unwrap_or_default(),
        bytes_per_second: bytes_per_second(value, runtime_ms),
        runtime_ms,
        ..Flow::default()
    };
    flow.read_latencies(value);
    flow
}

/// From fio 3.0 on the rate is there in bytes. Before, `bw` is in whole KiB (0 for a slow device),
/// and `io_bytes` counts KiB in some versions and bytes in others: the one that fits `bw` is
/// right.
fn bytes_per_second(value: &Value, runtime_ms: f64) -> f64 {
    if let Some(bytes) = number(value, "bw_bytes") {
        return bytes;
    }
    let bw_kib = number(value, "bw").unwrap_or_default();
    match number(value, "io_bytes") {
        Some(io) if io > 0.0 && runtime_ms > 0.0 => {
            let rate = io * 1000.0 / runtime_ms;
            let counts_kib = bw_kib > 0.0 && rate < bw_kib * 512.0;
            if counts_kib { rate * 1024.0 } else { rate }
        }
        _ => bw_kib * 1024.0,
    }
}

impl Flow {
    /// Total latency for the mean, completion latency for the rest; in nanoseconds since fio 3.0
    /// (`clat_ns`), in microseconds before.
    fn read_latencies(&mut self, value: &Value) {
        let latency = |name: &str| -> Option<(&Value, f64)> {
            let ns = value.get(format!("{name}_ns")).map(|found| (found, 1e-3));
            ns.or_else(|| value.get(name).map(|found| (found, 1.0)))
        };
        let mean = |name: &str| -> Option<f64> {
            let (found, to_us) = latency(name)?;
            number(found, "mean")
                .filter(|mean| *mean > 0.0)
                .map(|mean| mean * to_us)
        };
        self.latency_mean_us = mean("lat").or_else(|| mean("clat"));
        for name in ["lat", "clat"] {
            let Some((found, to_us)) = latency(name) else {
                continue;
            };
            if self.percentiles.is_empty() {
                self.percentiles = percentiles(found, to_us);
            }
            if self.bins.is_empty() {
                self.bins = bins(found, to_us);
            }
        }
    }
}

/// fio 3.1 pads the list with `0.00` entries; they are no percentiles.
fn percentiles(value: &Value, to_us: f64) -> Vec<(f64, f64)> {
    let listed = value.get("percentile").and_then(Value::as_object);
    let mut found: Vec<(f64, f64)> = listed
        .into_iter()
        .flatten()
        .filter_map(|(percent, latency)| Some((percent.parse().ok()?, latency.as_f64()? * to_us)))
        .filter(|(percent, _)| *percent > 0.0 && *percent <= 100.0)
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

fn bins(value: &Value, to_us: f64) -> Vec<(u64, u64)> {
    let listed = value.get("bins").and_then(Value::as_object);
    let to_ns = if to_us < 1.0 { 1 } else { 1000 };
    let mut found: Vec<(u64, u64)> = listed
        .into_iter()
        .flatten()
        .filter_map(|(latency, count)| {
            Some((
                latency.parse::<u64>().ok()?.checked_mul(to_ns)?,
                count.as_u64()?,
            ))
        })
        .collect();
    found.sort_unstable();
    found
}

/// What a job says besides, without the long lists.
fn facts(value: &Value) -> Map<String, Value> {
    const OWN: [&str; 6] = [
        "jobname",
        "groupid",
        "error",
        "job options",
        "hostname",
        "eta",
    ];
    let stripped = |value: &Value| match value {
        Value::Object(map) => Value::Object(
            map.iter()
                .filter(|(key, value)| {
                    !matches!(key.as_str(), "percentile" | "bins") && !value.is_object()
                })
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
        ),
        other => other.clone(),
    };
    value
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| !OWN.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), stripped(value)))
        .filter(|(_, value)| value.as_object().is_none_or(|map| !map.is_empty()))
        .collect()
}

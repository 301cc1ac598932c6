//! Driver `cockroach-kv`: reads and writes of single keys, as CockroachDB's workload `kv`.
//!
//! Writes take the next number of a sequence that all clients share, reads one that was given out
//! before; the key is a hash of the number, so that keys are spread, and what must be in the table
//! can be computed again. Any server that speaks PostgreSQL's protocol will do; which one answered
//! is in the notes, and the statements differ: `UPSERT` is CockroachDB's.

mod script;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fathom_stats::Histogram;
use sha1::{Digest, Sha1};

use self::script::{Operations, Traffic};
use super::clients::{add_seconds, failure_note};
use super::options::Reader;
use super::postgres::crowd::{self, Outcome, Plan};
use super::postgres::{Connection, columns};
use super::{Call, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting};

/// Driver `cockroach-kv`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct Kv;

const ID: &str = "cockroach-kv";

const SETTINGS: [Setting; 6] = [
    Setting {
        name: "read-percent",
        default: "95",
        help: "share of reads, 0 to 100",
    },
    Setting {
        name: "concurrency",
        default: "128",
        help: "clients, each with a connection and one operation at a time",
    },
    Setting {
        name: "threads",
        default: "2",
        help: "threads that share the clients",
    },
    Setting {
        name: "duration",
        default: "90s",
        help: "length of the measured window",
    },
    Setting {
        name: "ramp",
        default: "10s",
        help: "time over which clients begin one after the other; not measured",
    },
    Setting {
        name: "key-seed",
        default: "1",
        help: "seed of the hash that makes keys of sequence numbers",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    read_percent: u64,
    clients: usize,
    threads: usize,
    duration: Duration,
    ramp: Duration,
    key_seed: u64,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        Ok(Self {
            read_percent: reader.number("read-percent", 0..=100)?,
            clients: reader.count("concurrency", 1..=100_000)?,
            threads: reader.count("threads", 1..=4096)?,
            duration: reader.duration("duration")?,
            ramp: reader.duration_or_zero("ramp")?,
            key_seed: reader.number("key-seed", 0..=u64::MAX)?,
        })
    }
}

/// Key of a sequence number: the first eight bytes of the SHA-1 of number and seed.
fn key_of(number: u64, seed: u64) -> i64 {
    let mut hash = Sha1::new();
    hash.update(number.to_be_bytes());
    hash.update(seed.to_be_bytes());
    let digest = hash.finalize();
    digest
        .first_chunk::<8>()
        .map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

/// Which server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    Cockroach,
    Postgres,
}

impl Dialect {
    fn of(version: &str) -> Self {
        match version.contains("CockroachDB") {
            true => Self::Cockroach,
            false => Self::Postgres,
        }
    }

    const fn table(self) -> &'static str {
        match self {
            Self::Cockroach => "create table kv (k bigint not null primary key, v bytes not null)",
            Self::Postgres => "create table kv (k bigint not null primary key, v bytea not null)",
        }
    }

    const fn write(self) -> &'static str {
        match self {
            Self::Cockroach => "UPSERT INTO kv (k, v) VALUES ($1, $2)",
            Self::Postgres => {
                "INSERT INTO kv (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v"
            }
        }
    }
}

const READ: &str = "SELECT k, v FROM kv WHERE k IN ($1)";

impl Driver for Kv {
    fn id(&self) -> &'static str {
        ID
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    /// Every run begins with an empty table, so there is nothing to fill.
    fn prepare(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        Settings::read(options)?;
        empty_table(endpoint, call).map(|_| ())
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let version = empty_table(endpoint, call)?;
        let dialect = Dialect::of(&version);
        let plan = Plan {
            endpoint,
            clients: settings.clients,
            threads: settings.threads,
            ramp: settings.ramp,
            duration: settings.duration,
            statements: &[("read", READ), ("write", dialect.write())],
        };
        let next = Arc::new(AtomicU64::new(0));
        let traffic = Traffic {
            read_percent: settings.read_percent,
            key_seed: settings.key_seed,
            clients: settings.clients,
            seed: call.seed,
        };
        let make = |number| Operations::new(traffic, Arc::clone(&next), number);
        let outcome = crowd::run(&plan, call, make)?;
        let given_out = next.load(Ordering::Relaxed);
        Ok(figures(&settings, outcome, given_out, &version))
    }

    fn verify(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError> {
        let settings = Settings::read(options)?;
        let Expected::Sequence { last, uncertain } = &figures.expected else {
            return Ok(Vec::new());
        };
        let mut connection = Connection::open(endpoint, call)?;
        check_keys(&mut connection, &settings, *last, uncertain, call).map(|text| vec![text])
    }
}

/// Makes the table anew and says which server did.
fn empty_table(endpoint: &Endpoint, call: &Call<'_>) -> Result<String, DriverError> {
    let mut connection = Connection::open(endpoint, call)?;
    let version = connection.text("select version()", call)?;
    connection.run("drop table if exists kv", call)?;
    connection.run(Dialect::of(&version).table(), call)?;
    Ok(version)
}

/// The table must hold the key of each number that was written, and no other.
fn check_keys(
    connection: &mut Connection,
    settings: &Settings,
    last: u64,
    uncertain: &[u64],
    call: &Call<'_>,
) -> Result<String, DriverError> {
    let key = |number| key_of(number, settings.key_seed);
    let mut due: HashSet<i64> = (0..last).map(key).collect();
    let mut maybe: HashSet<i64> = uncertain.iter().map(|number| key(*number)).collect();
    due.retain(|key| !maybe.contains(key));
    let (mut rows, mut foreign) = (0_u64, 0_u64);
    connection.rows("select k from kv", call, &mut |row| {
        rows += 1;
        let text = columns(row).next().flatten().unwrap_or_default();
        let key = std::str::from_utf8(text)
            .ok()
            .and_then(|text| text.parse().ok());
        let is_ours = key.is_some_and(|key| due.remove(&key) || maybe.remove(&key));
        foreign += u64::from(!is_ours);
    })?;
    if due.is_empty() && foreign == 0 {
        return Ok(format!(
            "table holds the keys of all {last} numbers given out, {rows} rows, and no other \
             ({} writes were not confirmed)",
            uncertain.len()
        ));
    }
    Err(DriverError::Invariant {
        check: "keys of the table",
        found: format!(
            "{rows} rows; {} keys of confirmed writes are missing, {foreign} are not ours",
            due.len()
        ),
    })
}

const PERCENTILES: [(f64, &str, &str, &str); 3] = [
    (50.0, "latency-p50", "read-latency-p50", "write-latency-p50"),
    (95.0, "latency-p95", "read-latency-p95", "write-latency-p95"),
    (99.0, "latency-p99", "read-latency-p99", "write-latency-p99"),
];

fn figures(
    settings: &Settings,
    outcome: Outcome<Operations>,
    given_out: u64,
    version: &str,
) -> DriverFigures {
    let mut figures = DriverFigures {
        elapsed: outcome.elapsed,
        client_cpu: outcome.cpu,
        ..DriverFigures::default()
    };
    figures.host.clone_from(&outcome.host);
    let (mut reads, mut writes) = (Histogram::new(), Histogram::new());
    let (mut empty_reads, mut uncertain) = (0, Vec::new());
    let mut first_error = None;
    for script in outcome.scripts {
        reads.merge(&script.reads);
        writes.merge(&script.writes);
        add_seconds(&mut figures.per_second, &script.per_second);
        figures.counts.retries += script.retries;
        figures.counts.errors += script.errors;
        empty_reads += script.empty_reads;
        uncertain.extend(script.open_write());
        uncertain.extend(script.uncertain);
        first_error = first_error.or(script.first_error);
    }
    figures.counts.operations = reads.count() + writes.count();
    figures.counts.failed_clients = outcome.failed.len() as u64;
    let mut all = reads.clone();
    all.merge(&writes);
    let per_second = figures.counts.operations as f64 / outcome.elapsed.as_secs_f64();
    figures.push_rate("throughput", per_second, "ops/s");
    for (percent, of_all, of_reads, of_writes) in PERCENTILES {
        for (metric, histogram) in [(of_all, &all), (of_reads, &reads), (of_writes, &writes)] {
            if let Some(ns) = histogram.percentile(percent) {
                figures.push_time(metric, ns as f64 / 1e6, "ms");
            }
        }
    }
    figures.latencies.insert("read".to_owned(), reads);
    figures.latencies.insert("write".to_owned(), writes);
    figures
        .latencies
        .retain(|_, histogram| !histogram.is_empty());
    figures.notes = notes(settings, version, empty_reads);
    figures
        .notes
        .extend(first_error.map(|error| format!("first error: {error}")));
    figures
        .notes
        .extend(failure_note(&outcome.failed, settings.clients));
    figures.expected = Expected::Sequence {
        last: given_out,
        uncertain,
    };
    figures
}

fn notes(settings: &Settings, version: &str, empty_reads: u64) -> Vec<String> {
    let mut notes = vec![format!("server: {version}")];
    if Dialect::of(version) == Dialect::Postgres {
        notes.push(
            "the server is not CockroachDB: the figures are not comparable with its".to_owned(),
        );
    }
    if settings.read_percent > 0 {
        notes.push(format!("{empty_reads} reads found no row"));
    }
    notes
}

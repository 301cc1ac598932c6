//! Driver `cassandra`: the writes and mixed operations of cassandra-stress, over CQL.
//!
//! Table, statements, sizes, consistency and the order of keys are those of the original; what a
//! key's values are is a function of its number, so that rows can be read back and checked. Two
//! differences: mixed operations read keys evenly instead of by a bell curve, and clients share
//! the threads of one runtime instead of having one each.

mod data;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use fathom_base::{Cancel, seed_for};
use fathom_stats::Histogram;
use fathom_stats::random::Xoshiro256;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{ExecutionError, NewSessionError};
use scylla::policies::retry::FallthroughRetryPolicy;
use scylla::statement::Consistency;
use scylla::statement::prepared::PreparedStatement;
use tokio::runtime::{Builder, Runtime};

use self::data::{key_of, values_of};
use super::call::LOOK;
use super::clients::{add_seconds, count_second, failure_note};
use super::options::Reader;
use super::{
    Address, Call, Counts, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting,
};

/// Driver `cassandra`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct Cassandra;

const ID: &str = "cassandra";
const EXPECTED: &str = "Cassandra or ScyllaDB (CQL)";
/// Tries of one operation, the first one included.
const TRIES: u32 = 10;
/// Operations before the measured window.
const WARM_UP: u64 = 50_000;
/// Rows that are read back after a run.
const SAMPLE: u64 = 1000;

const CREATE_KEYSPACE: &str = "CREATE KEYSPACE IF NOT EXISTS keyspace1 WITH replication = \
     {'class': 'SimpleStrategy', 'replication_factor': '1'} AND durable_writes = true";
const DROP_TABLE: &str = "DROP TABLE IF EXISTS keyspace1.standard1";
const CREATE_TABLE: &str = "CREATE TABLE keyspace1.standard1 (key blob PRIMARY KEY, \"C0\" blob, \
     \"C1\" blob, \"C2\" blob, \"C3\" blob, \"C4\" blob) WITH compression = {'enabled': 'false'}";
const WRITE: &str = "UPDATE keyspace1.standard1 SET \"C0\" = ?, \"C1\" = ?, \"C2\" = ?, \
     \"C3\" = ?, \"C4\" = ? WHERE key = ?";
const READ: &str =
    "SELECT \"C0\", \"C1\", \"C2\", \"C3\", \"C4\" FROM keyspace1.standard1 WHERE key = ?";

const SETTINGS: [Setting; 5] = [
    Setting {
        name: "mix",
        default: "writes",
        help: "writes, 1:1 (as many reads) or 1:3 (three reads to a write)",
    },
    Setting {
        name: "threads",
        default: "2",
        help: "clients, each with one operation at a time",
    },
    Setting {
        name: "duration",
        default: "120s",
        help: "length of the measured window",
    },
    Setting {
        name: "population",
        default: "1000000",
        help: "different keys; writes go through them in order, again and again",
    },
    Setting {
        name: "warm-up",
        default: "50000",
        help: "operations before the measured window",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    /// Reads to each write.
    reads: u64,
    clients: usize,
    duration: Duration,
    population: u64,
    warm_up: u64,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        Ok(Self {
            reads: reader.choice("mix", &[("writes", 0), ("1:1", 1), ("1:3", 3)])?,
            clients: reader.count("threads", 1..=65_536)?,
            duration: reader.duration("duration")?,
            population: reader.number("population", 1..=1_000_000_000_000)?,
            warm_up: reader.number("warm-up", 0..=WARM_UP * 1000)?,
        })
    }
}

impl Driver for Cassandra {
    fn id(&self) -> &'static str {
        ID
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    /// Makes the table; for a mix all keys are written, so that reads find something.
    fn prepare(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        let settings = Settings::read(options)?;
        let cluster = Cluster::connect(endpoint, call)?;
        for statement in [CREATE_KEYSPACE, DROP_TABLE, CREATE_TABLE] {
            cluster.say(statement, call)?;
        }
        if settings.reads > 0 {
            let fill = Settings {
                reads: 0,
                ..settings
            };
            let done = cluster.load(&fill, Until::Count(settings.population), call)?;
            all_came_through(&cluster, &settings, &done)?;
        }
        Ok(())
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let cluster = Cluster::connect(endpoint, call)?;
        let version = cluster.version(call)?;
        call.say("warm up", None, String::new());
        let warm = cluster.load(&settings, Until::Count(settings.warm_up), call)?;
        all_came_through(&cluster, &settings, &warm)?;
        let witness = call.observer.begin();
        let began = Instant::now();
        let done = cluster.load(&settings, Until::Moment(began + settings.duration), call)?;
        let elapsed = began.elapsed();
        let host = witness.end();
        all_came_through(&cluster, &settings, &done)?;
        let mut figures = figures(&settings, &done, elapsed);
        figures.host = Some(host);
        figures.notes.insert(0, format!("server: {version}"));
        Ok(figures)
    }

    /// Reads rows back that the run has written.
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
        let cluster = Cluster::connect(endpoint, call)?;
        let keys = (*last).min(settings.population);
        let mut random = Xoshiro256::new(seed_for(call.seed, "cassandra check"));
        let mut checked = 0;
        for _ in 0..SAMPLE.min(keys) {
            call.check("reading rows back")?;
            let number = 1 + random.below(keys);
            if uncertain.contains(&number) {
                continue;
            }
            cluster.check_row(number, call)?;
            checked += 1;
        }
        Ok(vec![format!(
            "{checked} rows of {keys} read back hold what was written"
        )])
    }
}

/// An error when nothing was done and no client is left.
fn all_came_through(
    cluster: &Cluster,
    settings: &Settings,
    done: &Done,
) -> Result<(), DriverError> {
    if done.failed.len() < settings.clients {
        return Ok(());
    }
    Err(DriverError::NoClient {
        server: cluster.name.clone(),
        clients: settings.clients,
        first: done.failed.first().cloned().unwrap_or_default(),
    })
}

/// When clients stop.
#[derive(Clone, Copy, Debug)]
enum Until {
    /// After so many operations of all of them.
    Count(u64),
    Moment(Instant),
}

/// A session and what drives it; the runtime lives as long as the call.
struct Cluster {
    runtime: Runtime,
    session: Arc<Session>,
    write: PreparedOnce,
    read: PreparedOnce,
    name: String,
    patience: Duration,
}

/// Statements are prepared when they are first needed: the table may not be there before.
type PreparedOnce = std::sync::OnceLock<PreparedStatement>;

impl Cluster {
    fn connect(endpoint: &Endpoint, call: &Call<'_>) -> Result<Self, DriverError> {
        let name = endpoint.address.to_string();
        let Address::Tcp { .. } = endpoint.address else {
            return Err(DriverError::Address {
                driver: ID,
                server: name,
                expected: "a host and port",
            });
        };
        let threads = std::thread::available_parallelism().map_or(2, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads.min(16))
            .enable_io()
            .enable_time()
            .build();
        let runtime = runtime.map_err(|source| DriverError::Thread { number: 0, source })?;
        let patience = call.longest_wait();
        let builder = session(endpoint, patience);
        let building = builder.build();
        let session = in_time(&runtime, call, building).map_err(|waited| DriverError::Stalled {
            server: name.clone(),
            doing: "connecting".to_owned(),
            waited,
        })?;
        let session = session.map_err(|error| cannot_connect(&name, &error))?;
        Ok(Self {
            runtime,
            session: Arc::new(session),
            write: PreparedOnce::new(),
            read: PreparedOnce::new(),
            name,
            patience,
        })
    }

    /// Runs a statement whose rows do not matter.
    fn say(&self, statement: &str, call: &Call<'_>) -> Result<(), DriverError> {
        let said = in_time(
            &self.runtime,
            call,
            self.session.query_unpaged(statement, ()),
        );
        let said = said.map_err(|waited| self.stalled(statement, waited))?;
        said.map(|_| ())
            .map_err(|error| self.refused(statement, &error))
    }

    fn version(&self, call: &Call<'_>) -> Result<String, DriverError> {
        const SQL: &str = "SELECT release_version FROM system.local WHERE key='local'";
        let asked = in_time(&self.runtime, call, self.session.query_unpaged(SQL, ()));
        let asked = asked.map_err(|waited| self.stalled(SQL, waited))?;
        let answer = asked.map_err(|error| self.refused(SQL, &error))?;
        let rows = answer.into_rows_result().ok();
        let row = rows.and_then(|rows| rows.single_row::<(String,)>().ok());
        row.map(|(version,)| format!("CQL server, release {version}"))
            .ok_or_else(|| self.nonsense(SQL, "without a version"))
    }

    fn prepared<'a>(
        &self,
        once: &'a PreparedOnce,
        statement: &str,
        call: &Call<'_>,
    ) -> Result<&'a PreparedStatement, DriverError> {
        if let Some(prepared) = once.get() {
            return Ok(prepared);
        }
        let made = in_time(&self.runtime, call, self.session.prepare(statement));
        let made = made.map_err(|waited| self.stalled(statement, waited))?;
        let made = made.map_err(|error| DriverError::Refused {
            server: self.name.clone(),
            doing: shorten(statement),
            code: "CQL".to_owned(),
            message: error.to_string(),
        })?;
        Ok(once.get_or_init(|| made))
    }

    /// Lets the clients work and collects what they did.
    fn load(
        &self,
        settings: &Settings,
        until: Until,
        call: &Call<'_>,
    ) -> Result<Done, DriverError> {
        let work = Arc::new(Work {
            session: Arc::clone(&self.session),
            write: self.prepared(&self.write, WRITE, call)?.clone(),
            read: self.prepared(&self.read, READ, call)?.clone(),
            settings: *settings,
            until,
            begun: AtomicU64::new(0),
            written: AtomicU64::new(0),
            start: Instant::now(),
            deadline: call.deadline,
            cancel: call.cancel.clone(),
        });
        let client = |number: usize| {
            let seed = seed_for(call.seed, &format!("cassandra client {number}"));
            self.runtime
                .spawn(Arc::clone(&work).client(Xoshiro256::new(seed)))
        };
        let clients: Vec<_> = (0..settings.clients).map(client).collect();
        let mut done = Done::new();
        while clients.iter().any(|client| !client.is_finished()) {
            report(until, &work, settings, call);
            std::thread::sleep(LOOK / 10);
        }
        for client in clients {
            match self.runtime.block_on(client) {
                Ok(part) => done.add(part),
                Err(error) => done.failed.push(format!("a client broke down: {error}")),
            }
        }
        call.check("running the clients")?;
        done.written = work.written.load(Ordering::Relaxed);
        Ok(done)
    }

    fn check_row(&self, number: u64, call: &Call<'_>) -> Result<(), DriverError> {
        let read = self.prepared(&self.read, READ, call)?;
        let asked = self.session.execute_unpaged(read, (key_of(number),));
        let asked = in_time(&self.runtime, call, asked);
        let asked = asked.map_err(|waited| self.stalled(READ, waited))?;
        let answer = asked.map_err(|error| self.refused(READ, &error))?;
        let rows = answer.into_rows_result().ok();
        type Blobs = (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>);
        let row = rows.and_then(|rows| rows.maybe_first_row::<Blobs>().ok().flatten());
        let found = row.map(|(a, b, c, d, e)| [a, b, c, d, e]);
        match found.as_ref() == Some(&values_of(number)) {
            true => Ok(()),
            false => Err(DriverError::Invariant {
                check: "rows read back",
                found: match found {
                    None => format!("the row of number {number} is missing"),
                    Some(_) => format!("the row of number {number} holds other values"),
                },
            }),
        }
    }

    fn stalled(&self, doing: &str, waited: Duration) -> DriverError {
        DriverError::Stalled {
            server: self.name.clone(),
            doing: shorten(doing),
            waited,
        }
    }

    fn refused(&self, doing: &str, error: &ExecutionError) -> DriverError {
        match error {
            ExecutionError::RequestTimeout(_) => self.stalled(doing, self.patience),
            other => DriverError::Refused {
                server: self.name.clone(),
                doing: shorten(doing),
                code: "CQL".to_owned(),
                message: other.to_string(),
            },
        }
    }

    fn nonsense(&self, doing: &str, what: &str) -> DriverError {
        DriverError::Protocol {
            server: self.name.clone(),
            doing: shorten(doing),
            what: what.to_owned(),
            expected: EXPECTED,
        }
    }
}

fn session(endpoint: &Endpoint, patience: Duration) -> SessionBuilder {
    let profile = ExecutionProfile::builder()
        .consistency(Consistency::LocalOne)
        .request_timeout(Some(patience))
        .retry_policy(Arc::new(FallthroughRetryPolicy::new()))
        .build();
    let builder = SessionBuilder::new()
        .known_node(endpoint.address.to_string())
        .default_execution_profile_handle(profile.into_handle())
        .connection_timeout(patience)
        .metadata_request_clientside_timeout(patience)
        .fetch_schema_metadata(false)
        .auto_await_schema_agreement(true)
        .schema_agreement_timeout(patience);
    match &endpoint.password {
        Some(password) => builder.user(&endpoint.user, password),
        None => builder,
    }
}

/// Waits for something of the runtime, looking at the call; how long it waited when it gave up.
fn in_time<T>(
    runtime: &Runtime,
    call: &Call<'_>,
    act: impl Future<Output = T>,
) -> Result<T, Duration> {
    let began = Instant::now();
    // Several requests may be behind one act, each with the patience of its own.
    let limit = call.longest_wait() * 3;
    let waiting = async {
        let mut act = std::pin::pin!(act);
        loop {
            match tokio::time::timeout(LOOK, act.as_mut()).await {
                Ok(done) => return Some(done),
                Err(_) if call.cancel.is_cancelled() || began.elapsed() > limit => return None,
                Err(_) => {}
            }
        }
    };
    runtime.block_on(waiting).ok_or_else(|| began.elapsed())
}

fn cannot_connect(name: &str, error: &NewSessionError) -> DriverError {
    DriverError::Connect {
        server: name.to_owned(),
        source: std::io::Error::other(error.to_string()),
    }
}

fn shorten(doing: &str) -> String {
    doing.chars().take(60).collect()
}

fn report(until: Until, work: &Work, settings: &Settings, call: &Call<'_>) {
    let fraction = match until {
        Until::Count(count) => work.begun.load(Ordering::Relaxed) as f64 / count.max(1) as f64,
        Until::Moment(_) => work.start.elapsed().as_secs_f64() / settings.duration.as_secs_f64(),
    };
    call.say("operate", Some(fraction.min(1.0)), String::new());
}

/// What clients have in common.
struct Work {
    session: Arc<Session>,
    write: PreparedStatement,
    read: PreparedStatement,
    settings: Settings,
    until: Until,
    /// Operations begun by all clients.
    begun: AtomicU64,
    /// Numbers given out to writes.
    written: AtomicU64,
    start: Instant,
    deadline: Instant,
    cancel: Cancel,
}

/// What one or all clients did.
#[derive(Debug)]
struct Done {
    reads: Histogram,
    writes: Histogram,
    per_second: Vec<u64>,
    retries: u64,
    errors: u64,
    empty_reads: u64,
    failed: Vec<String>,
    first_error: Option<String>,
    /// Numbers from 1 to this one were given out to writes.
    written: u64,
    uncertain: Vec<u64>,
}

impl Done {
    fn new() -> Self {
        Self {
            reads: Histogram::new(),
            writes: Histogram::new(),
            per_second: Vec::new(),
            retries: 0,
            errors: 0,
            empty_reads: 0,
            failed: Vec::new(),
            first_error: None,
            written: 0,
            uncertain: Vec::new(),
        }
    }

    fn add(&mut self, part: Self) {
        self.reads.merge(&part.reads);
        self.writes.merge(&part.writes);
        add_seconds(&mut self.per_second, &part.per_second);
        self.retries += part.retries;
        self.errors += part.errors;
        self.empty_reads += part.empty_reads;
        self.failed.extend(part.failed);
        self.uncertain.extend(part.uncertain);
        self.first_error = self.first_error.take().or(part.first_error);
    }
}

/// One operation.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Read(u64),
    Write(u64),
}

impl Work {
    async fn client(self: Arc<Self>, mut random: Xoshiro256) -> Done {
        let mut done = Done::new();
        while self.goes_on() {
            let operation = self.draw(&mut random);
            let began = Instant::now();
            match self.carry_out(operation, &mut done).await {
                Ok(()) => self.count(operation, began, &mut done),
                Err(error) => {
                    done.errors += 1;
                    if let Operation::Write(number) = operation {
                        done.uncertain.push(number);
                    }
                    let text = error.to_string();
                    done.first_error.get_or_insert_with(|| text.clone());
                    // Ten tries have failed: the server is not there any more, or hangs.
                    done.failed.push(text);
                    return done;
                }
            }
        }
        done
    }

    fn goes_on(&self) -> bool {
        let now = Instant::now();
        let is_due = match self.until {
            Until::Count(count) => self.begun.fetch_add(1, Ordering::Relaxed) < count,
            Until::Moment(end) => now < end,
        };
        is_due && now < self.deadline && !self.cancel.is_cancelled()
    }

    fn draw(&self, random: &mut Xoshiro256) -> Operation {
        let population = self.settings.population;
        match random.below(1 + self.settings.reads) {
            0 => {
                let before = self.written.fetch_add(1, Ordering::Relaxed);
                Operation::Write(before % population + 1)
            }
            _ => Operation::Read(1 + random.below(population)),
        }
    }

    async fn carry_out(&self, operation: Operation, done: &mut Done) -> Result<(), ExecutionError> {
        for _ in 1..TRIES {
            match self.try_once(operation, done).await {
                Ok(()) => return Ok(()),
                // Nothing came for as long as one is patient; the next try would wait as long.
                Err(error @ ExecutionError::RequestTimeout(_)) => return Err(error),
                Err(_) if self.cancel.is_cancelled() => break,
                Err(_) => done.retries += 1,
            }
        }
        self.try_once(operation, done).await
    }

    async fn try_once(&self, operation: Operation, done: &mut Done) -> Result<(), ExecutionError> {
        match operation {
            Operation::Write(number) => {
                let [a, b, c, d, e] = values_of(number);
                let values = (a, b, c, d, e, key_of(number));
                self.session.execute_unpaged(&self.write, values).await?;
            }
            Operation::Read(number) => {
                let answer = self
                    .session
                    .execute_unpaged(&self.read, (key_of(number),))
                    .await?;
                let rows = answer.into_rows_result().map_or(0, |rows| rows.rows_num());
                done.empty_reads += u64::from(rows == 0);
            }
        }
        Ok(())
    }

    fn count(&self, operation: Operation, began: Instant, done: &mut Done) {
        let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match operation {
            Operation::Read(_) => done.reads.record(ns),
            Operation::Write(_) => done.writes.record(ns),
        }
        count_second(&mut done.per_second, self.start.elapsed());
    }
}

fn figures(settings: &Settings, done: &Done, elapsed: Duration) -> DriverFigures {
    let mut all = done.reads.clone();
    all.merge(&done.writes);
    let mut figures = DriverFigures {
        elapsed,
        per_second: done.per_second.clone(),
        counts: Counts {
            operations: all.count(),
            statements: all.count() + done.retries,
            retries: done.retries,
            errors: done.errors,
            failed_clients: done.failed.len() as u64,
        },
        expected: Expected::Sequence {
            last: done.written,
            uncertain: done.uncertain.clone(),
        },
        ..DriverFigures::default()
    };
    figures.push_rate(
        "op-rate",
        all.count() as f64 / elapsed.as_secs_f64(),
        "Op/s",
    );
    if let Some(ns) = all.mean() {
        figures.push_time("latency-mean", ns / 1e6, "ms");
    }
    let percentiles = [
        ("latency-median", 50.0),
        ("latency-p95", 95.0),
        ("latency-p99", 99.0),
        ("latency-p99.9", 99.9),
        ("latency-max", 100.0),
    ];
    for (metric, percent) in percentiles {
        if let Some(ns) = all.percentile(percent) {
            figures.push_time(metric, ns as f64 / 1e6, "ms");
        }
    }
    for (name, histogram) in [("read", &done.reads), ("write", &done.writes)] {
        if !histogram.is_empty() {
            figures.latencies.insert(name.to_owned(), histogram.clone());
        }
    }
    if settings.reads > 0 {
        figures
            .notes
            .push(format!("{} reads found no row", done.empty_reads));
    }
    let first = done.first_error.as_ref();
    figures
        .notes
        .extend(first.map(|error| format!("first error: {error}")));
    figures
        .notes
        .extend(failure_note(&done.failed, settings.clients));
    figures
}

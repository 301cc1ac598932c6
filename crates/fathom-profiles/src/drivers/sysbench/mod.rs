//! Driver `sysbench-oltp`: the six OLTP tests of sysbench, on its tables.
//!
//! Statements, keys, tables and threads are those of the original, so that the one can use what the
//! other has filled. One difference: an event that the server gave up (deadlock, lock wait) is
//! rolled back before it is begun again, so that no row is lost.

mod event;
mod fill;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fathom_base::seed_for;
use fathom_stats::Histogram;
use fathom_stats::random::Xoshiro256;

use self::event::{Session, Statements, Work};
use super::clients::{add_seconds, count_second, cpu_of_thread, failure_note, spread};
use super::mysql::Server;
use super::mysql::crew::{self, Gate};
use super::options::Reader;
use super::{Call, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting};

/// Driver `sysbench-oltp`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct SysbenchOltp;

const ID: &str = "sysbench-oltp";
/// Threads that connect the clients.
const CONNECTORS: usize = 16;
/// Errors after which sysbench, too, begins the event again: deadlock, changed record, lock wait.
const BEGIN_AGAIN: [u16; 3] = [1213, 1020, 1205];

const SETTINGS: [Setting; 5] = [
    Setting {
        name: "test",
        default: "oltp_read_write",
        help: "oltp_read_write, oltp_read_only, oltp_write_only, oltp_point_select, \
               oltp_update_index or oltp_update_non_index",
    },
    Setting {
        name: "tables",
        default: "16",
        help: "number of tables",
    },
    Setting {
        name: "table-size",
        default: "1000000",
        help: "rows of each table, about 200 bytes each",
    },
    Setting {
        name: "threads",
        default: "1",
        help: "clients, each with a connection and a thread",
    },
    Setting {
        name: "duration",
        default: "200s",
        help: "length of the measured window",
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    work: Work,
    tables: u64,
    rows: u64,
    threads: usize,
    duration: Duration,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        Ok(Self {
            work: reader.choice("test", &Work::MENU)?,
            tables: reader.number("tables", 1..=1024)?,
            // Range selects reach over 100 rows.
            rows: reader.number("table-size", 100..=1_000_000_000)?,
            threads: reader.count("threads", 1..=8192)?,
            duration: reader.duration("duration")?,
        })
    }
}

impl Driver for SysbenchOltp {
    fn id(&self) -> &'static str {
        ID
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    fn prepare(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        let settings = Settings::read(options)?;
        let server = Server::patient(endpoint, Some(&endpoint.database), call)?;
        let mut connection = server.connect()?;
        fill::fill(
            &server,
            &mut connection,
            settings.tables,
            settings.rows,
            call,
        )
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let server = Server::new(endpoint, Some(&endpoint.database), call.patience);
        let version: String = server.value(&mut server.connect()?, "select version()")?;
        check_tables(&server, &settings)?;
        call.say("connect", None, String::new());
        let (sessions, failed) = connect_all(&server, &settings, call)?;
        let crew = Crew {
            settings: &settings,
            server: &server,
            call,
        };
        let mut figures = crew.run(sessions, failed)?;
        figures.notes.insert(0, format!("server: {version}"));
        Ok(figures)
    }

    fn verify(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError> {
        let settings = Settings::read(options)?;
        let Expected::Rows(tables) = &figures.expected else {
            return Ok(Vec::new());
        };
        let server = Server::patient(endpoint, Some(&endpoint.database), call)?;
        let mut connection = server.connect()?;
        figures.expected.check_rows("rows of the tables", |table| {
            call.check("counting rows")?;
            server.value(&mut connection, &format!("select count(*) from {table}"))
        })?;
        let (count, rows) = (tables.len(), settings.rows);
        Ok(vec![format!(
            "each of {count} tables holds {rows} rows, as before"
        )])
    }
}

/// The tables must hold what the ids are drawn from.
fn check_tables(server: &Server, settings: &Settings) -> Result<(), DriverError> {
    let mut connection = server.connect()?;
    for table in 1..=settings.tables {
        let sql = format!("select coalesce(max(id), 0) from sbtest{table}");
        let last: u64 = server.value(&mut connection, &sql)?;
        if last != settings.rows {
            return Err(DriverError::Invariant {
                check: "size of the tables",
                found: format!(
                    "sbtest{table} ends with id {last} instead of {}; prepare the tables with \
                     that size",
                    settings.rows
                ),
            });
        }
    }
    Ok(())
}

/// Connects all clients and has each prepare its statements; also why some failed.
fn connect_all(
    server: &Server,
    settings: &Settings,
    call: &Call<'_>,
) -> Result<(Vec<Session>, Vec<String>), DriverError> {
    let connect = |number: usize| {
        call.check("connecting the clients")?;
        let mut connection = server.connect()?;
        let statements = Statements::prepare(server, &mut connection, settings)?;
        let seed = seed_for(call.seed, &format!("sysbench client {number}"));
        Ok(Session::new(
            connection,
            statements,
            settings,
            Xoshiro256::new(seed),
        ))
    };
    let results: Vec<Result<Session, DriverError>> = std::thread::scope(|scope| {
        let shares = spread(settings.threads, CONNECTORS);
        let start =
            |share: std::ops::Range<usize>| scope.spawn(|| share.map(connect).collect::<Vec<_>>());
        let threads: Vec<_> = shares.into_iter().map(start).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect()
    });
    call.check("connecting the clients")?;
    let (mut sessions, mut failed) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(session) => sessions.push(session),
            Err(error) => failed.push(error.to_string()),
        }
    }
    match sessions.is_empty() {
        false => Ok((sessions, failed)),
        true => Err(no_client(server, settings.threads, failed)),
    }
}

fn no_client(server: &Server, clients: usize, failed: Vec<String>) -> DriverError {
    DriverError::NoClient {
        server: server.name.clone(),
        clients,
        first: failed.into_iter().next().unwrap_or_default(),
    }
}

/// What one client has done.
#[derive(Debug)]
struct Done {
    events: u64,
    queries: u64,
    begun_again: u64,
    latencies: Histogram,
    per_second: Vec<u64>,
    cpu: Duration,
    ended: Instant,
    /// Why it ended before the time.
    failure: Option<String>,
}

/// The clients at work.
#[derive(Clone, Copy)]
struct Crew<'a> {
    settings: &'a Settings,
    server: &'a Server,
    call: &'a Call<'a>,
}

impl Crew<'_> {
    fn run(
        &self,
        sessions: Vec<Session>,
        failed: Vec<String>,
    ) -> Result<DriverFigures, DriverError> {
        let gate = Gate::default();
        let (parts, start, host) = std::thread::scope(|scope| {
            let body = |session, start| self.work(session, start);
            let threads = crew::start(scope, &gate, sessions, body)?;
            let witness = self.call.observer.begin();
            let start = gate.open();
            let is_over = || threads.iter().all(|thread| thread.is_finished());
            self.report(start, &is_over);
            let host = witness.end();
            let parts: Vec<Done> = threads.into_iter().filter_map(crew::join).collect();
            Ok((parts, start, host))
        })?;
        self.call.check("running the clients")?;
        let mut figures = self.figures(parts, failed, start)?;
        figures.host = Some(host);
        Ok(figures)
    }

    fn report(&self, start: Instant, is_over: &dyn Fn() -> bool) {
        while !is_over() {
            let fraction = start.elapsed().as_secs_f64() / self.settings.duration.as_secs_f64();
            self.call
                .say("measure", Some(fraction.min(1.0)), String::new());
            crew::rest(super::call::LOOK, is_over);
        }
    }

    /// One client: events until the time is over.
    fn work(&self, mut session: Session, start: Instant) -> Done {
        let end = start + self.settings.duration;
        let cpu = cpu_of_thread();
        let mut done = Done {
            events: 0,
            queries: 0,
            begun_again: 0,
            latencies: Histogram::new(),
            per_second: Vec::new(),
            cpu: Duration::ZERO,
            ended: start,
            failure: None,
        };
        let mut began = Instant::now();
        while began < end && !self.call.cancel.is_cancelled() && began < self.call.deadline {
            match session.event(&mut done.queries) {
                Ok(()) => {}
                Err(failure)
                    if failure
                        .code()
                        .is_some_and(|code| BEGIN_AGAIN.contains(&code)) =>
                {
                    done.begun_again += 1;
                    if let Err(failure) = session.roll_back() {
                        done.failure = Some(self.server.explain("ROLLBACK", failure).to_string());
                        break;
                    }
                    continue;
                }
                Err(failure) => {
                    done.failure = Some(self.server.explain("an event", failure).to_string());
                    break;
                }
            }
            let now = Instant::now();
            done.events += 1;
            done.latencies
                .record(u64::try_from((now - began).as_nanos()).unwrap_or(u64::MAX));
            count_second(&mut done.per_second, now - start);
            began = now;
        }
        done.ended = Instant::now();
        done.cpu = cpu_of_thread().saturating_sub(cpu);
        done
    }

    fn figures(
        &self,
        parts: Vec<Done>,
        mut failed: Vec<String>,
        start: Instant,
    ) -> Result<DriverFigures, DriverError> {
        let mut figures = DriverFigures::default();
        let mut latencies = Histogram::new();
        for part in parts {
            figures.counts.operations += part.events;
            figures.counts.statements += part.queries;
            figures.counts.retries += part.begun_again;
            figures.client_cpu += part.cpu;
            figures.elapsed = figures.elapsed.max(part.ended - start);
            latencies.merge(&part.latencies);
            add_seconds(&mut figures.per_second, &part.per_second);
            failed.extend(part.failure);
        }
        if failed.len() == self.settings.threads {
            return Err(no_client(self.server, self.settings.threads, failed));
        }
        figures.counts.failed_clients = failed.len() as u64;
        let seconds = figures.elapsed.as_secs_f64();
        figures.push_rate(
            "queries",
            figures.counts.statements as f64 / seconds,
            "queries/s",
        );
        figures.push_rate(
            "events",
            figures.counts.operations as f64 / seconds,
            "events/s",
        );
        for (metric, percent) in [("latency-p50", 50.0), ("latency-p95", 95.0)] {
            if let Some(ns) = latencies.percentile(percent) {
                figures.push_time(metric, ns as f64 / 1e6, "ms");
            }
        }
        figures.latencies.insert("event".to_owned(), latencies);
        figures
            .notes
            .extend(failure_note(&failed, self.settings.threads));
        figures.expected = Expected::Rows(self.rows_due());
        Ok(figures)
    }

    fn rows_due(&self) -> BTreeMap<String, u64> {
        let rows = self.settings.rows;
        let name = |table| (format!("sbtest{table}"), rows);
        (1..=self.settings.tables).map(name).collect()
    }
}

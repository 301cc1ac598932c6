//! Driver `mariadb-slap`: automatically generated statements, as mariadb-slap makes them.
//!
//! Each iteration makes the table anew, fills it with 99 rows, lets all clients go at once and
//! takes the time until the last one has sent its queries and gone, connecting included. Two
//! figures stand side by side: the one the Phoronix Test Suite shows, 1000 divided by the mean
//! seconds, which does not grow with the number of clients although each of them sends the queries,
//! and the true rate of all clients together.

mod script;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fathom_base::seed_for;
use fathom_model::HostEvidence;
use fathom_stats::Histogram;
use fathom_stats::random::Xoshiro256;
use mysql::Conn;
use mysql::prelude::Queryable;

use self::script::{PRELOADED, Query, QueryList};
use super::clients::{cpu_of_thread, failure_note};
use super::mysql::crew::{self, Gate};
use super::mysql::{Server, guarded};
use super::options::Reader;
use super::{Call, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting};

/// Driver `mariadb-slap`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct MariadbSlap;

const ID: &str = "mariadb-slap";
const SCHEMA: &str = "mysqlslap";
/// A client tries this often to connect, with a pause after each time.
const CONNECT_TRIES: u32 = 10;
const CONNECT_PAUSE: Duration = Duration::from_millis(100);

const SETTINGS: [Setting; 4] = [
    Setting {
        name: "concurrency",
        default: "1",
        help: "clients, each with a connection and a thread",
    },
    Setting {
        name: "iterations",
        default: "100",
        help: "how often all is done; the mean is the figure",
    },
    Setting {
        name: "queries",
        default: "1000",
        help: "queries of each client in each iteration",
    },
    Setting {
        name: "engine",
        default: "innodb",
        help: "storage engine of the table",
    },
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    clients: usize,
    iterations: u64,
    queries: u64,
    engine: String,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        Ok(Self {
            clients: reader.count("concurrency", 1..=65_536)?,
            iterations: reader.number("iterations", 1..=100_000)?,
            queries: reader.number("queries", 1..=1_000_000_000)?,
            engine: reader.word("engine")?.to_owned(),
        })
    }
}

impl Driver for MariadbSlap {
    fn id(&self) -> &'static str {
        ID
    }

    fn settings(&self) -> &'static [Setting] {
        &SETTINGS
    }

    /// Every iteration makes its own table.
    fn prepare(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<(), DriverError> {
        Settings::read(options)?;
        let server = Server::new(endpoint, None, call.patience);
        server.connect().map(|_| ())
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let mut random = Xoshiro256::new(seed_for(call.seed, "mariadb-slap"));
        let slap = Slap {
            server: Server::patient(endpoint, None, call)?,
            clients: Server::new(endpoint, Some(SCHEMA), call.patience),
            list: QueryList::draw(&mut random),
            settings,
            call,
        };
        slap.run()
    }

    fn verify(
        &self,
        endpoint: &Endpoint,
        _options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError> {
        let Expected::Rows(tables) = &figures.expected else {
            return Ok(Vec::new());
        };
        let server = Server::patient(endpoint, None, call)?;
        let mut connection = server.connect()?;
        let mut found = Vec::new();
        for (table, expected) in tables {
            let rows = count_rows(&server, &mut connection, table)?;
            check_rows(rows, *expected)?;
            found.push(format!(
                "{table} holds {rows} rows after the last iteration"
            ));
        }
        Ok(found)
    }
}

fn count_rows(server: &Server, connection: &mut Conn, table: &str) -> Result<u64, DriverError> {
    server.value(connection, &format!("SELECT COUNT(*) FROM {table}"))
}

fn check_rows(rows: u64, expected: u64) -> Result<(), DriverError> {
    match rows == expected {
        true => Ok(()),
        false => Err(DriverError::Invariant {
            check: "rows of an iteration",
            found: format!("{rows} rows instead of {expected}"),
        }),
    }
}

/// A client's part of an iteration.
#[derive(Debug)]
struct Done {
    queries: u64,
    inserts: u64,
    latencies: Histogram,
    cpu: Duration,
    failure: Option<String>,
}

/// What the iterations add up to.
#[derive(Debug, Default)]
struct Sums {
    seconds: Vec<f64>,
    queries: u64,
    rows: u64,
    latencies: Histogram,
    cpu: Duration,
    failed: Vec<String>,
    host: Option<HostEvidence>,
}

struct Slap<'a> {
    settings: Settings,
    /// For tables; an answer may take long.
    server: Server,
    /// For clients.
    clients: Server,
    list: QueryList,
    call: &'a Call<'a>,
}

impl Slap<'_> {
    fn run(&self) -> Result<DriverFigures, DriverError> {
        let mut connection = self.server.connect()?;
        let version: String = self.server.value(&mut connection, "SELECT VERSION()")?;
        let mut sums = Sums::default();
        let witness = self.call.observer.begin();
        for iteration in 0..self.settings.iterations {
            self.call.check("iterating")?;
            let fraction = iteration as f64 / self.settings.iterations as f64;
            self.call.say("measure", Some(fraction), String::new());
            let ids = self.lay_out(&mut connection)?;
            self.iterate(&ids, &mut sums)?;
            self.call.check("iterating")?;
            let rows = count_rows(&self.server, &mut connection, &table())?;
            check_rows(rows, sums.rows)?;
        }
        sums.host = Some(witness.end());
        Ok(self.figures(sums, &version))
    }

    /// Makes schema and table, fills it, and reads the ids that selects ask for.
    fn lay_out(&self, connection: &mut Conn) -> Result<Vec<String>, DriverError> {
        let run = |connection: &mut Conn, sql: &str| self.server.run(connection, sql);
        run(connection, &format!("DROP SCHEMA IF EXISTS `{SCHEMA}`"))?;
        run(connection, &format!("CREATE SCHEMA `{SCHEMA}`"))?;
        run(connection, &format!("USE `{SCHEMA}`"))?;
        run(connection, &script::create_table(&self.settings.engine))?;
        for row in 0..PRELOADED {
            run(connection, self.list.preload(row))?;
        }
        let sql = "SELECT id FROM t1";
        self.server.ask(sql, || connection.query(sql))
    }

    /// Lets the clients go and takes the time.
    fn iterate(&self, ids: &[String], sums: &mut Sums) -> Result<(), DriverError> {
        let gate = Gate::default();
        let (seconds, parts) = std::thread::scope(|scope| {
            let body = |number: usize, _start: Instant| self.client(number, ids);
            let threads = crew::start(scope, &gate, 0..self.settings.clients, body)?;
            let start = gate.open();
            let parts: Vec<Done> = threads.into_iter().filter_map(crew::join).collect();
            Ok((start.elapsed().as_secs_f64(), parts))
        })?;
        sums.seconds.push(seconds);
        sums.rows = u64::from(PRELOADED);
        let before = sums.failed.len();
        for part in parts {
            sums.queries += part.queries;
            sums.rows += part.inserts;
            sums.latencies.merge(&part.latencies);
            sums.cpu += part.cpu;
            sums.failed.extend(part.failure);
        }
        if sums.failed.len() - before == self.settings.clients {
            return Err(DriverError::NoClient {
                server: self.server.name.clone(),
                clients: self.settings.clients,
                first: sums.failed.swap_remove(before),
            });
        }
        Ok(())
    }

    /// One client: connect, send the queries, go.
    fn client(&self, number: usize, ids: &[String]) -> Done {
        let cpu = cpu_of_thread();
        let seed = seed_for(self.call.seed, &format!("slap client {number}"));
        let mut random = Xoshiro256::new(seed);
        let mut done = Done {
            queries: 0,
            inserts: 0,
            latencies: Histogram::new(),
            cpu: Duration::ZERO,
            failure: None,
        };
        done.failure = match self.connect() {
            Ok(mut connection) => self
                .send_queries(&mut connection, ids, &mut random, &mut done)
                .err(),
            Err(error) => Some(error),
        };
        done.cpu = cpu_of_thread().saturating_sub(cpu);
        done
    }

    fn connect(&self) -> Result<Conn, String> {
        let mut tried = 0;
        loop {
            match self.clients.connect() {
                Ok(connection) => return Ok(connection),
                Err(error) => {
                    tried += 1;
                    if tried >= CONNECT_TRIES || self.call.check("connecting").is_err() {
                        return Err(error.to_string());
                    }
                    crew::rest(CONNECT_PAUSE, &|| self.call.cancel.is_cancelled());
                }
            }
        }
    }

    fn send_queries(
        &self,
        connection: &mut Conn,
        ids: &[String],
        random: &mut Xoshiro256,
        done: &mut Done,
    ) -> Result<(), String> {
        let mut text = String::new();
        for number in 0..self.settings.queries {
            if self.call.check("sending queries").is_err() {
                return Err("stopped".to_owned());
            }
            let query = self.list.query(number);
            query.write(ids, random, &mut text);
            let began = Instant::now();
            let answered = guarded(|| {
                let rows = connection.query_iter(text.as_str())?;
                for row in rows {
                    row?;
                }
                Ok(())
            });
            answered.map_err(|failure| self.clients.explain(&text, failure).to_string())?;
            let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            done.latencies.record(ns);
            done.queries += 1;
            done.inserts += u64::from(matches!(query, Query::Insert(_)));
        }
        Ok(())
    }

    fn figures(&self, sums: Sums, version: &str) -> DriverFigures {
        let total: f64 = sums.seconds.iter().sum();
        let mean = total / sums.seconds.len() as f64;
        // The original prints whole milliseconds, cut, and that is what the suite divides by.
        let printed = ((mean * 1000.0).floor() / 1000.0).max(0.001);
        let mut figures = DriverFigures {
            elapsed: Duration::from_secs_f64(total),
            client_cpu: sums.cpu,
            host: sums.host,
            ..DriverFigures::default()
        };
        figures.push_rate("queries-per-second", 1000.0 / printed, "Queries Per Second");
        figures.push_rate("aggregate-rate", sums.queries as f64 / total, "queries/s");
        figures.push_time("seconds-mean", mean, "s");
        figures.counts.operations = sums.queries;
        figures.counts.failed_clients = sums.failed.len() as u64;
        figures.latencies.insert("query".to_owned(), sums.latencies);
        figures.notes.push(format!("server: {version}"));
        let runs = self.settings.clients * sums.seconds.len();
        figures.notes.extend(failure_note(&sums.failed, runs));
        figures.expected = Expected::Rows(BTreeMap::from([(table(), sums.rows)]));
        figures
    }
}

fn table() -> String {
    format!("`{SCHEMA}`.t1")
}

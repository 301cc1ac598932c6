//! Driver `pgbench`: the TPC-B-like transactions of pgbench, on its tables.
//!
//! The workload is that of the original: the same tables, statements, keys and threads, so that
//! the one can use what the other has filled. Differences: statements are prepared before the
//! measured window instead of with the first transaction; the history is never emptied, since
//! [`Driver::verify`] adds it up.

mod fill;
mod script;
#[cfg(test)]
mod tests;

use std::time::Duration;

use fathom_stats::Histogram;

use self::script::{Mode, Protocol, Transactions};
use super::clients::{add_seconds, failure_note};
use super::options::Reader;
use super::postgres::Connection;
use super::postgres::crowd::{self, Outcome, Plan};
use super::{
    Call, Counts, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting,
};

/// Driver `pgbench`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct Pgbench;

const ID: &str = "pgbench";

const SETTINGS: [Setting; 7] = [
    Setting {
        name: "scale",
        default: "1",
        help: "branches; 10 tellers and 100000 accounts each, about 15 MiB",
    },
    Setting {
        name: "clients",
        default: "1",
        help: "connections",
    },
    Setting {
        name: "threads",
        default: "1",
        help: "threads that share the clients",
    },
    Setting {
        name: "duration",
        default: "60s",
        help: "length of the measured window",
    },
    Setting {
        name: "mode",
        default: "tpcb-like",
        help: "transaction: tpcb-like, simple-update or select-only",
    },
    Setting {
        name: "protocol",
        default: "simple",
        help: "how statements are sent: simple, extended or prepared",
    },
    Setting {
        name: "vacuum",
        default: "yes",
        help: "vacuum tellers and branches before the window: yes or no",
    },
];

/// Options, understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    scale: u64,
    clients: usize,
    threads: usize,
    duration: Duration,
    mode: Mode,
    protocol: Protocol,
    vacuum: Vacuum,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Vacuum {
    Before,
    Never,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        Ok(Self {
            scale: reader.number("scale", 1..=1_000_000)?,
            clients: reader.count("clients", 1..=100_000)?,
            threads: reader.count("threads", 1..=4096)?,
            duration: reader.duration("duration")?,
            mode: reader.choice("mode", &Mode::MENU)?,
            protocol: reader.choice("protocol", &Protocol::MENU)?,
            vacuum: reader.choice("vacuum", &[("yes", Vacuum::Before), ("no", Vacuum::Never)])?,
        })
    }
}

impl Driver for Pgbench {
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
        let mut connection = Connection::open(endpoint, call)?;
        fill::fill(&mut connection, settings.scale, call)
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let mut connection = Connection::open(endpoint, call)?;
        let version = connection.text("select version()", call)?;
        check_scale(&mut connection, settings.scale, call)?;
        if settings.vacuum == Vacuum::Before {
            connection.run("vacuum pgbench_branches", call)?;
            connection.run("vacuum pgbench_tellers", call)?;
        }
        let rows_before = history_rows(&mut connection, call)?;
        drop(connection);
        let statements = settings.mode.prepared(settings.protocol);
        let plan = Plan {
            endpoint,
            clients: settings.clients,
            threads: settings.threads,
            ramp: Duration::ZERO,
            duration: settings.duration,
            statements: &statements,
        };
        let make = |number| Transactions::new(&settings, call.seed, number);
        let outcome = crowd::run(&plan, call, make)?;
        Ok(figures(&settings, outcome, rows_before, version))
    }

    fn verify(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError> {
        let settings = Settings::read(options)?;
        let mut connection = Connection::open(endpoint, call)?;
        let balances = check_balances(&mut connection, settings.mode, call)?;
        let rows = history_rows(&mut connection, call)?;
        let history = check_history(rows, &figures.expected)?;
        Ok(vec![balances, history])
    }
}

/// The tables must be those of the scale, or the keys drawn would not be those in the tables.
fn check_scale(
    connection: &mut Connection,
    scale: u64,
    call: &Call<'_>,
) -> Result<(), DriverError> {
    let branches = connection.number("select count(*) from pgbench_branches", call)?;
    match u64::try_from(branches) == Ok(scale) {
        true => Ok(()),
        false => Err(DriverError::Invariant {
            check: "scale of the tables",
            found: format!("{branches} branches instead of {scale}; prepare them with that scale"),
        }),
    }
}

fn history_rows(connection: &mut Connection, call: &Call<'_>) -> Result<u64, DriverError> {
    let rows = connection.number("select count(*) from pgbench_history", call)?;
    Ok(u64::try_from(rows).unwrap_or(0))
}

/// Every transaction moves the same amount in every table.
fn check_balances(
    connection: &mut Connection,
    mode: Mode,
    call: &Call<'_>,
) -> Result<String, DriverError> {
    let mut sum = |column: &str, table: &str| {
        let sql = format!("select coalesce(sum({column}), 0) from pgbench_{table}");
        connection.number(&sql, call)
    };
    let accounts = sum("abalance", "accounts")?;
    let tellers = sum("tbalance", "tellers")?;
    let branches = sum("bbalance", "branches")?;
    let history = sum("delta", "history")?;
    let text =
        format!("accounts {accounts}, tellers {tellers}, branches {branches}, history {history}");
    // A simple update leaves tellers and branches alone.
    let is_whole = mode != Mode::TpcbLike || accounts == tellers;
    match accounts == history && tellers == branches && is_whole {
        true => Ok(format!("sums of the balances are equal: {text}")),
        false => Err(DriverError::Invariant {
            check: "sums of the balances",
            found: format!("{text}; they must be equal"),
        }),
    }
}

/// The history has a row for each transaction that was committed.
fn check_history(rows: u64, expected: &Expected) -> Result<String, DriverError> {
    let Expected::History {
        rows_before,
        committed,
        uncertain,
    } = *expected
    else {
        return Ok(format!("history holds {rows} rows"));
    };
    let least = rows_before + committed;
    match (least..=least + uncertain).contains(&rows) {
        true => Ok(format!(
            "history holds {rows} rows, {rows_before} before and {committed} committed"
        )),
        false => Err(DriverError::Invariant {
            check: "rows of the history",
            found: format!(
                "{rows} rows; expected {rows_before} from before, {committed} committed and at \
                 most {uncertain} whose end is not known"
            ),
        }),
    }
}

fn figures(
    settings: &Settings,
    outcome: Outcome<Transactions>,
    rows_before: u64,
    version: String,
) -> DriverFigures {
    let mut figures = DriverFigures {
        elapsed: outcome.elapsed,
        client_cpu: outcome.cpu,
        ..DriverFigures::default()
    };
    figures.host.clone_from(&outcome.host);
    let mut latencies = Histogram::new();
    for script in &outcome.scripts {
        latencies.merge(&script.latencies);
        add_seconds(&mut figures.per_second, &script.per_second);
        figures.counts.operations += script.committed;
        figures.counts.errors += script.failed;
    }
    figures.counts = Counts {
        statements: figures.counts.operations * settings.mode.steps().len() as u64,
        failed_clients: outcome.failed.len() as u64,
        ..figures.counts
    };
    let count = figures.counts.operations as f64;
    let seconds = outcome.elapsed.as_secs_f64();
    figures.push_rate("tps", count / seconds, "TPS");
    let with_connecting = seconds + outcome.connecting.as_secs_f64();
    figures.push_rate("tps-with-connecting", count / with_connecting, "TPS");
    let clients = settings.clients - outcome.never_connected;
    figures.push_time("latency-mean", seconds * 1e3 * clients as f64 / count, "ms");
    figures
        .latencies
        .insert("transaction".to_owned(), latencies);
    figures.notes.push(format!("server: {version}"));
    figures
        .notes
        .extend(failure_note(&outcome.failed, settings.clients));
    let writes = settings.mode != Mode::SelectOnly;
    figures.expected = Expected::History {
        rows_before,
        committed: if writes { figures.counts.operations } else { 0 },
        uncertain: (outcome.failed.len() - outcome.never_connected) as u64,
    };
    figures
}

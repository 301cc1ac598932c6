//! Driver `clickhouse-hits`: analytics of web hits on one wide table, over ClickHouse's HTTP
//! interface.
//!
//! The table has the columns of the public `hits` data set; rows are made up here, or come from a
//! file of that set. Each of 43 queries (or those of a file) runs three times in a row, after a
//! `sync`; the figure of a run is 60 divided by the geometric mean of its query times. Times are
//! those of the whole HTTP request, without the rows of the answer.
//!
//! [`Driver::verify`] loads ten thousand rows into a table of its own and holds the answers to all
//! 43 queries against those computed here without a database.

mod answer;
mod columns;
mod generate;
mod http;
mod queries;
mod query;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fathom_stats::Histogram;

use self::http::Http;
use self::queries::QUERIES;
use super::options::Reader;
use super::{Call, Driver, DriverError, DriverFigures, Endpoint, Expected, Options, Setting};

/// Driver `clickhouse-hits`; see the module's description.
#[derive(Clone, Copy, Debug)]
pub struct ClickhouseHits;

const ID: &str = "clickhouse-hits";
const TABLE: &str = "hits";
const CHECK_TABLE: &str = "fathom_check";
/// Rows that the answers are checked on.
const CHECK_ROWS: u64 = 10_000;
/// Seed of the rows: the data are the same in every run, whatever the run's seed is.
const DATA_SEED: u64 = 20130701;
/// Text sent with one INSERT.
const BATCH_BYTES: usize = 8 << 20;
/// Times of a query are no shorter than this, so that the mean of logarithms exists.
const SHORTEST: f64 = 1e-6;
const RUNS: [&str; 3] = ["first", "second", "third"];

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "rows",
        default: "1000000",
        help: "rows to make up, about 700 bytes each; of a file it is the most that is loaded",
    },
    Setting {
        name: "data",
        default: "",
        help: "a hits.tsv of your own to load instead",
    },
    Setting {
        name: "queries",
        default: "",
        help: "a file of your own with one query a line, instead of the 43",
    },
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    rows: u64,
    data: Option<PathBuf>,
    queries: Option<PathBuf>,
}

impl Settings {
    fn read(options: &Options) -> Result<Self, DriverError> {
        let reader = Reader::new(ID, &SETTINGS, options)?;
        let path = |name| {
            Some(reader.text(name))
                .filter(|text| !text.is_empty())
                .map(PathBuf::from)
        };
        Ok(Self {
            rows: reader.number("rows", 1..=10_000_000_000)?,
            data: path("data"),
            queries: path("queries"),
        })
    }

    /// The queries, for the table of that name.
    fn queries(&self) -> Result<Vec<String>, DriverError> {
        let Some(path) = &self.queries else {
            return Ok(QUERIES.iter().map(|query| query.sql(TABLE)).collect());
        };
        let text = std::fs::read_to_string(path).map_err(|source| cannot_read(path, source))?;
        let lines = text.lines().map(|line| line.trim().trim_end_matches(';'));
        let queries: Vec<String> = lines
            .filter(|line| !line.is_empty() && !line.starts_with("--"))
            .map(str::to_owned)
            .collect();
        match queries.is_empty() {
            false => Ok(queries),
            true => Err(DriverError::Option {
                driver: ID,
                option: "queries".to_owned(),
                value: path.display().to_string(),
                expected: "a file with a query on each line".to_owned(),
            }),
        }
    }
}

fn cannot_read(path: &Path, source: std::io::Error) -> DriverError {
    DriverError::File {
        doing: "read",
        path: path.display().to_string(),
        source,
    }
}

impl Driver for ClickhouseHits {
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
        let http = Http::new(endpoint)?;
        http.version(call)?;
        make_table(&http, TABLE, call)?;
        match &settings.data {
            None => make_up(&http, TABLE, settings.rows, call),
            Some(path) => load_file(&http, path, settings.rows, call),
        }
    }

    fn run(
        &self,
        endpoint: &Endpoint,
        options: &Options,
        call: &Call<'_>,
    ) -> Result<DriverFigures, DriverError> {
        let settings = Settings::read(options)?;
        let http = Http::new(endpoint)?;
        let version = http.version(call)?;
        let rows = count(&http, TABLE, call)?;
        let queries = settings.queries()?;
        let began = Instant::now();
        let witness = call.observer.begin();
        let times = measure(&http, &queries, call)?;
        let host = witness.end();
        let mut figures = figures(&times);
        figures.elapsed = began.elapsed();
        figures.host = Some(host);
        figures
            .notes
            .push(format!("server: ClickHouse {version}, {rows} rows"));
        if settings.data.is_none() {
            figures.notes.push(
                "the rows are made up, not the public hits: figures are not comparable with those \
                 of that data set"
                    .to_owned(),
            );
        }
        figures.expected = Expected::Rows(BTreeMap::from([(TABLE.to_owned(), rows)]));
        Ok(figures)
    }

    fn verify(
        &self,
        endpoint: &Endpoint,
        _options: &Options,
        figures: &DriverFigures,
        call: &Call<'_>,
    ) -> Result<Vec<String>, DriverError> {
        let http = Http::new(endpoint)?;
        let counted = |table: &str| count(&http, table, call);
        let rows = figures.expected.check_rows("rows of the table", counted)?;
        let mut found: Vec<String> = rows
            .into_iter()
            .map(|(table, rows)| format!("{table} holds {rows} rows, as before"))
            .collect();
        found.push(check_answers(&http, call)?);
        Ok(found)
    }
}

fn make_table(http: &Http, table: &str, call: &Call<'_>) -> Result<(), DriverError> {
    http.ask(&format!("DROP TABLE IF EXISTS {table}"), call)?;
    http.ask(&columns::create_table(table), call).map(|_| ())
}

fn make_up(http: &Http, table: &str, rows: u64, call: &Call<'_>) -> Result<(), DriverError> {
    let mut text = Vec::with_capacity(BATCH_BYTES + 4096);
    for number in 0..rows {
        generate::write_row(&generate::row(DATA_SEED, number), &mut text);
        if text.len() >= BATCH_BYTES || number + 1 == rows {
            http.insert(table, &text, call)?;
            text.clear();
            call.say(
                "fill",
                Some((number + 1) as f64 / rows as f64),
                String::new(),
            );
        }
    }
    Ok(())
}

/// Loads the lines of a file as they are; the server says what is wrong with one.
fn load_file(http: &Http, path: &Path, most: u64, call: &Call<'_>) -> Result<(), DriverError> {
    let failed = |source| cannot_read(path, source);
    let mut lines = BufReader::with_capacity(1 << 20, std::fs::File::open(path).map_err(failed)?);
    let (mut text, mut rows) = (Vec::with_capacity(BATCH_BYTES + 4096), 0);
    loop {
        let read = lines.read_until(b'\n', &mut text).map_err(failed)?;
        rows += u64::from(read > 0);
        let is_over = read == 0 || rows == most;
        if (is_over && !text.is_empty()) || text.len() >= BATCH_BYTES {
            http.insert(TABLE, &text, call)?;
            text.clear();
            call.say("fill", None, format!("{rows} rows"));
        }
        if is_over {
            return Ok(());
        }
    }
}

fn count(http: &Http, table: &str, call: &Call<'_>) -> Result<u64, DriverError> {
    let answer = http.ask(&format!("SELECT count() FROM {table}"), call)?;
    answer.trim().parse().map_err(|_| DriverError::Invariant {
        check: "rows of the table",
        found: format!("\"{}\" instead of a number", answer.trim()),
    })
}

/// Seconds of each query, in each of its runs.
fn measure(
    http: &Http,
    queries: &[String],
    call: &Call<'_>,
) -> Result<Vec<[f64; RUNS.len()]>, DriverError> {
    let mut times = Vec::new();
    for (number, query) in queries.iter().enumerate() {
        let fraction = number as f64 / queries.len() as f64;
        call.say("measure", Some(fraction), format!("query {}", number + 1));
        rustix::fs::sync();
        let statement = format!("{query} FORMAT Null");
        let mut runs = [0.0; RUNS.len()];
        for run in &mut runs {
            let began = Instant::now();
            http.ask(&statement, call)?;
            *run = began.elapsed().as_secs_f64();
        }
        times.push(runs);
    }
    Ok(times)
}

fn figures(times: &[[f64; RUNS.len()]]) -> DriverFigures {
    const METRICS: [&str; 3] = ["first-run", "second-run", "third-run"];
    let mut figures = DriverFigures::default();
    figures.counts.operations = (times.len() * RUNS.len()) as u64;
    for (run, metric) in METRICS.into_iter().enumerate() {
        let seconds: Vec<f64> = times.iter().map(|runs| runs[run]).collect();
        figures.push_rate(metric, queries_per_minute(&seconds), "Queries Per Minute");
        let mut latencies = Histogram::empty();
        latencies.extend(
            seconds
                .iter()
                .map(|s| Duration::from_secs_f64(*s).as_nanos() as u64),
        );
        figures
            .latencies
            .insert(format!("{}-run", RUNS[run]), latencies);
    }
    let line = |(number, runs): (usize, &[f64; RUNS.len()])| {
        let [first, second, third] = runs;
        format!("{}: {first:.3} {second:.3} {third:.3}", number + 1)
    };
    let lines: Vec<String> = times.iter().enumerate().map(line).collect();
    figures
        .notes
        .push(format!("seconds of each query: {}", lines.join("; ")));
    figures
}

/// 60 divided by the geometric mean.
fn queries_per_minute(seconds: &[f64]) -> f64 {
    let logarithms: f64 = seconds.iter().map(|s| s.max(SHORTEST).ln()).sum();
    60.0 / (logarithms / seconds.len() as f64).exp()
}

/// Holds the server's answers on a small table against those computed here.
fn check_answers(http: &Http, call: &Call<'_>) -> Result<String, DriverError> {
    call.say("check answers", None, String::new());
    make_table(http, CHECK_TABLE, call)?;
    make_up(http, CHECK_TABLE, CHECK_ROWS, call)?;
    let rows: Vec<_> = (0..CHECK_ROWS)
        .map(|n| generate::row(DATA_SEED, n))
        .collect();
    for (number, query) in QUERIES.iter().enumerate() {
        let sql = query.sql(CHECK_TABLE);
        let found = http.ask(&format!("{sql} FORMAT TabSeparated"), call)?;
        answer::compare(&answer::answer(query, &rows), &found).map_err(|difference| {
            DriverError::Invariant {
                check: "answers of the server",
                found: format!("query {} ({sql}): {difference}", number + 1),
            }
        })?;
    }
    http.ask(&format!("DROP TABLE {CHECK_TABLE}"), call)?;
    let queries = QUERIES.len();
    Ok(format!(
        "answers to {queries} queries on {CHECK_ROWS} rows are those computed without it"
    ))
}

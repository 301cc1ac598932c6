//! The native drivers as a program, and against the originals.
//!
//! `drivers run DRIVER SOCKET USER DATABASE [option=value ...]` prints the figures as JSON.
//! `drivers compare DIRECTORY PAIRS SECONDS [name ...]` starts the servers in the directory and
//! alternates the native driver and the original on them, each pair in the other order.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a tool of developers"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use fathom_base::process::{Program, run as run_program};
use fathom_base::{Cancel, Nanos};
use fathom_model::{HostEvidence, Observer, Witness};
use fathom_profiles::drivers::{Address, Call, DriverError, Endpoint, Options, driver};
use fathom_testkit::servers::{self, Server};
use serde_json::json;

struct Blind;

impl Observer for Blind {
    fn begin(&self) -> Box<dyn Witness> {
        Box::new(Blind)
    }
}

impl Witness for Blind {
    fn end(self: Box<Self>) -> HostEvidence {
        HostEvidence::default()
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["prepare" | "run", id, socket, user, database, options @ ..] => {
            let endpoint = Endpoint {
                address: Address::Socket(socket.into()),
                user: (*user).to_owned(),
                password: None,
                database: (*database).to_owned(),
            };
            if let Err(error) = drive(words[0], id, &endpoint, options) {
                eprintln!("drivers: {error}");
                std::process::exit(3);
            }
        }
        ["compare", directory, pairs, seconds, names @ ..] => {
            let pairs = pairs.parse().expect("a number of pairs");
            let seconds = seconds.parse().expect("a number of seconds");
            compare(Path::new(directory), pairs, seconds, names);
        }
        _ => {
            eprintln!("drivers run DRIVER SOCKET USER DATABASE [option=value ...]");
            eprintln!("drivers compare DIRECTORY PAIRS SECONDS [name ...]");
            std::process::exit(2);
        }
    }
}

fn drive(what: &str, id: &str, endpoint: &Endpoint, words: &[&str]) -> Result<(), DriverError> {
    let options: Options = words
        .iter()
        .filter_map(|word| word.split_once('='))
        .collect();
    let driver = driver(id)?;
    let call = Call {
        cancel: &Cancel::new(),
        deadline: Instant::now() + Duration::from_secs(3600),
        patience: Duration::from_secs(60),
        seed: 1,
        observer: &Blind,
        progress: &|_| {},
    };
    if what == "prepare" {
        return driver.prepare(endpoint, &options, &call);
    }
    let figures = driver.run(endpoint, &options, &call)?;
    let values: serde_json::Map<String, serde_json::Value> = figures
        .values
        .iter()
        .map(|value| (value.metric.to_owned(), json!(value.number)))
        .collect();
    println!(
        "{}",
        json!({
            "values": values,
            "operations": figures.counts.operations,
            "statements": figures.counts.statements,
            "retries": figures.counts.retries,
            "errors": figures.counts.errors,
            "failed_clients": figures.counts.failed_clients,
            "client_cpu_us": figures.client_cpu.as_micros() as u64,
            "notes": figures.notes,
            "verified": driver.verify(endpoint, &options, &figures, &call)?,
        })
    );
    Ok(())
}

/// What both sides tell.
#[derive(Clone, Copy, Debug)]
struct Side {
    figure: f64,
    /// CPU of the client's process for each operation.
    cpu_us: f64,
}

/// A load, written for both.
struct Load {
    name: &'static str,
    driver: &'static str,
    ours: Vec<String>,
    metric: &'static str,
    peer: Program,
    read: fn(&str) -> Option<(f64, f64)>,
}

fn compare(directory: &Path, pairs: usize, seconds: u64, names: &[&str]) {
    let wanted = |name: &str| {
        let is_meant = |part: &&str| name.starts_with(*part) || part.starts_with(name);
        names.is_empty() || names.iter().any(is_meant)
    };
    if wanted("pgbench") {
        let Some(server) = servers::postgres(directory, &["shared_buffers=1GB"]) else {
            return;
        };
        println!("{} in {}", server.version, directory.display());
        prepare(
            &server,
            "pgbench",
            "fathom",
            "postgres",
            &["scale=10".to_owned()],
        );
        for load in pgbench_loads(&server, seconds)
            .iter()
            .filter(|load| wanted(load.name))
        {
            measure(load, &server, ("fathom", "postgres"), pairs);
        }
    }
    if wanted("sysbench") || wanted("slap") {
        let settings = ["--innodb-buffer-pool-size=1G", "--max-connections=800"];
        let Some(server) = servers::mariadb(directory, &settings) else {
            return;
        };
        println!("{} in {}", server.version, directory.display());
        let fill = ["tables=4".to_owned(), "table-size=20000".to_owned()];
        prepare(&server, "sysbench-oltp", "root", "test", &fill);
        let mut loads = sysbench_loads(&server, seconds);
        loads.extend(slap_loads(&server));
        for load in loads.iter().filter(|load| wanted(load.name)) {
            measure(load, &server, ("root", "test"), pairs);
        }
    }
}

fn prepare(server: &Server, id: &str, user: &str, database: &str, options: &[String]) {
    let finished = ours(server, "prepare", id, (user, database), options);
    assert!(
        finished.is_success(),
        "prepare {id}: {}",
        finished.stderr_text()
    );
}

fn ours(
    server: &Server,
    what: &str,
    id: &str,
    (user, database): (&str, &str),
    options: &[String],
) -> fathom_base::process::Finished {
    let own = std::env::current_exe().expect("our own path");
    let socket = server.socket.to_string_lossy().into_owned();
    let mut program = Program::new(own).args([what, id, &socket, user, database]);
    program = program.args(options.iter().cloned());
    program.timeout = Nanos::from_secs(3600);
    run_program(&program, &Cancel::new()).expect("start ourselves")
}

fn measure(load: &Load, server: &Server, account: (&str, &str), pairs: usize) {
    let native = || {
        let finished = ours(server, "run", load.driver, account, &load.ours);
        assert!(
            finished.is_success(),
            "{}: {}",
            load.name,
            finished.stderr_text()
        );
        let line: serde_json::Value = serde_json::from_str(&finished.stdout_text()).expect("JSON");
        let operations = line["operations"].as_f64().expect("operations");
        assert_eq!(line["failed_clients"], 0, "{line}");
        Side {
            figure: line["values"][load.metric].as_f64().expect("the figure"),
            cpu_us: (finished.user.plus(finished.system)).as_secs_f64() * 1e6 / operations,
        }
    };
    let original = || {
        let finished = run_program(&load.peer, &Cancel::new()).expect("start the original");
        let text = finished.stdout_text();
        let read = (load.read)(&text).filter(|_| finished.is_success());
        let (figure, operations) = read.unwrap_or_else(|| {
            panic!("{}: {text}\n{}", load.name, finished.stderr_text());
        });
        Side {
            figure,
            cpu_us: (finished.user.plus(finished.system)).as_secs_f64() * 1e6 / operations,
        }
    };
    let mut both = Vec::new();
    for pair in 0..pairs {
        both.push(match pair % 2 {
            0 => (native(), original()),
            _ => {
                let original = original();
                (native(), original)
            }
        });
    }
    report(load.name, &both);
}

fn report(name: &str, both: &[(Side, Side)]) {
    let column = |of: fn(&(Side, Side)) -> f64| {
        let mut numbers: Vec<f64> = both.iter().map(of).collect();
        numbers.sort_by(f64::total_cmp);
        numbers
    };
    let middle = |of| {
        let numbers = column(of);
        let half = numbers.len() / 2;
        match numbers.len() % 2 {
            1 => numbers[half],
            _ => (numbers[half - 1] + numbers[half]) / 2.0,
        }
    };
    let ratios = column(|(a, b)| a.figure / b.figure);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{name:<28} native {:>9.1} original {:>9.1} ratio {:.3} ({:.3}-{:.3}, {} pairs) \
         CPU us/op native {:.1} original {:.1} ratio {:.3}; load {}",
        middle(|(a, _)| a.figure),
        middle(|(_, b)| b.figure),
        middle(|(a, b)| a.figure / b.figure),
        ratios[0],
        ratios[ratios.len() - 1],
        ratios.len(),
        middle(|(a, _)| a.cpu_us),
        middle(|(_, b)| b.cpu_us),
        middle(|(a, b)| a.cpu_us / b.cpu_us),
        load.trim()
    );
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn pgbench_loads(server: &Server, seconds: u64) -> Vec<Load> {
    let host = server.directory().display();
    let kinds = [
        ("pgbench-rw-prepared", "prepared", "tpcb-like"),
        ("pgbench-rw-simple", "simple", "tpcb-like"),
        ("pgbench-ro-prepared", "prepared", "select-only"),
        ("pgbench-ro-simple", "simple", "select-only"),
    ];
    let load = |(name, protocol, mode): (&'static str, &str, &str)| Load {
        name,
        driver: "pgbench",
        ours: words(&format!(
            "scale=10 clients=16 threads=2 duration={seconds}s protocol={protocol} mode={mode} \
             vacuum=no"
        )),
        metric: "tps",
        peer: Program::new("pgbench").args(words(&format!(
            "-h {host} -U fathom -n -M {protocol} -b {mode} -c 16 -j 2 -T {seconds} postgres"
        ))),
        read: |text| {
            let after = |begin: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(begin))?;
                line.split_whitespace().next()?.parse::<f64>().ok()
            };
            let tps = after("tps = ")?;
            Some((tps, after("number of transactions actually processed: ")?))
        },
    };
    kinds.into_iter().map(load).collect()
}

fn sysbench_loads(server: &Server, seconds: u64) -> Vec<Load> {
    let socket = server.socket.display();
    let kinds = [
        ("sysbench-read-write", "oltp_read_write"),
        ("sysbench-read-only", "oltp_read_only"),
        ("sysbench-write-only", "oltp_write_only"),
        ("sysbench-point-select", "oltp_point_select"),
        ("sysbench-update-index", "oltp_update_index"),
        ("sysbench-update-non-index", "oltp_update_non_index"),
    ];
    let load = |(name, test): (&'static str, &str)| Load {
        name,
        driver: "sysbench-oltp",
        ours: words(&format!(
            "test={test} tables=4 table-size=20000 threads=8 duration={seconds}s"
        )),
        metric: "queries",
        peer: Program::new("sysbench").args(words(&format!(
            "{test} --threads=8 --time={seconds} --rand-type=uniform --db-driver=mysql \
             --mysql-socket={socket} --mysql-user=root --mysql-db=test --tables=4 \
             --table-size=20000 run"
        ))),
        read: |text| {
            let line = |begin: &str| text.lines().find_map(|l| l.trim().strip_prefix(begin));
            let rate = line("queries:")?.split_once('(')?.1.split(' ').next()?;
            let events = line("total number of events:")?.trim();
            Some((rate.parse().ok()?, events.parse().ok()?))
        },
    };
    kinds.into_iter().map(load).collect()
}

fn slap_loads(server: &Server) -> Vec<Load> {
    let socket = server.socket.display();
    let kinds = [("slap-1", 1, 5), ("slap-8", 8, 5), ("slap-32", 32, 3)];
    let load = |(name, clients, iterations): (&'static str, u32, u32)| Load {
        name,
        driver: "mariadb-slap",
        ours: words(&format!("concurrency={clients} iterations={iterations}")),
        metric: "queries-per-second",
        peer: Program::new("mariadb-slap").args(words(&format!(
            "--no-defaults --user=root --socket={socket} --auto-generate-sql -e innodb \
             --iterations={iterations} --number-int-cols=4 --number-char-cols=4 \
             --auto-generate-sql-add-autoincrement --auto-generate-sql-execute-number=1000 \
             --concurrency={clients} --delimiter=;"
        ))),
        read: |text| {
            let after = |name: &str| {
                let line = text.lines().find(|line| line.contains(name))?;
                let number = line.split(':').nth(1)?.split_whitespace().next()?;
                number.parse::<f64>().ok()
            };
            let mean = after("Average number of seconds to run all queries")?;
            let clients = after("Number of clients running queries")?;
            // Of one iteration; the driver's operations are of all, so CPU is not comparable here.
            Some((1000.0 / mean, clients * 1000.0))
        },
    };
    kinds.into_iter().map(load).collect()
}

//! Test `dbench` carried out by the installed `dbench` program, version 4: `dbench -t SECONDS -c
//! LOADFILE CLIENTS`, by default with Fathom's built-in load file.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use fathom_base::process::Program;
use fathom_base::{IoContext, Nanos};
use fathom_model::definition::dbench::{
    self as definition, DbenchMeasured, DbenchSettings, LoadOp, ROUNDS, generate,
};
use fathom_model::{Case, Estimate, Host, Metric, OptionError, TestError, TestInfo, Unmet};

use crate::classic::{Description, Driver, ProgramTest, Reading, need};

/// Test `dbench` by dbench; see the module's description.
pub type DbenchTest = ProgramTest<Dbench>;

/// Name of the built-in load file in the case's directory.
const LOAD: &str = "load.txt";
/// Most complaints that are kept.
const COMPLAINTS: usize = 3;

/// How dbench is driven.
#[derive(Debug, Default)]
pub struct Dbench;

impl Driver for Dbench {
    type Settings = DbenchSettings;

    const PROGRAM: &'static str = "dbench";
    const HINT: &'static str = "apt-get install dbench";
    const CONTENTS: &'static str = "zeros";

    fn describe() -> Description {
        Description {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION,
            options: definition::options(),
        }
    }

    fn settings(case: &Case) -> Result<DbenchSettings, OptionError> {
        DbenchSettings::from_case(case)
    }

    fn complete(info: &TestInfo, case: Case) -> Result<Case, OptionError> {
        definition::complete(info, case)
    }

    fn metrics(_settings: &DbenchSettings) -> Vec<Metric> {
        // The program counts operations, but does not say over which time.
        let mut all = definition::metrics();
        all.retain(|metric| metric.id != "operations-per-second");
        all
    }

    fn unmet(settings: &DbenchSettings, version: Option<&str>) -> Vec<Unmet> {
        let mut unmet = settings.conflicts();
        if let Some(version) = version.filter(|version| !version.starts_with("4.")) {
            unmet.push(need(
                format!("dbench {version} reads other load files and counts otherwise than 4.0"),
                "install dbench 4.0, or use the built-in implementation",
            ));
        }
        unmet
    }

    fn estimate(settings: &DbenchSettings, host: &Host) -> Result<Estimate, OptionError> {
        Ok(settings.estimate(&settings.facts()?, host))
    }

    fn ask_version(program: Program) -> Program {
        program.args(["--help"])
    }

    fn version(answer: &str) -> Option<String> {
        // `dbench version 4.00 - Copyright Andrew Tridgell 1999-2004`
        let mut words = answer.lines().next()?.split_whitespace();
        let is_dbench = words.next() == Some("dbench") && words.next() == Some("version");
        words.next().filter(|_| is_dbench).map(str::to_owned)
    }

    fn lay_out(settings: &DbenchSettings, directory: &Path) -> Result<(), TestError> {
        match &settings.loadfile {
            // It is the one the case was made with, and holds no line that is no good.
            Some(_) => settings.load().map(drop)?,
            None => {
                let path = directory.join(LOAD);
                std::fs::write(&path, generate(ROUNDS)).at("write", &path)?;
            }
        }
        Ok(())
    }

    fn command(settings: &DbenchSettings, program: Program, work: &Path) -> Program {
        let load = match &settings.loadfile {
            // The program works in another directory.
            Some(path) => std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path)),
            None => work.with_file_name(LOAD),
        };
        let mut program = program
            .args(["-t", &settings.seconds.to_string(), "-c"])
            .args([load]);
        let flags = [
            (settings.sync_open, "-s"),
            (settings.sync_directories, "-S"),
            (settings.fsync, "-F"),
            (!settings.resolve, "--no-resolve"),
        ];
        let chosen = flags.into_iter().filter(|(is_chosen, _)| *is_chosen);
        program = program.args(chosen.map(|(_, flag)| flag));
        if let Some(rate) = settings.target_rate {
            program = program.args(["-R".to_owned(), rate.to_string()]);
        }
        program.args([settings.clients.to_string()])
    }

    fn lead(settings: &DbenchSettings) -> Nanos {
        Nanos::from_secs(settings.warm_up_seconds())
    }

    fn read(settings: &DbenchSettings, stdout: &str) -> Result<Reading, String> {
        let Some((line, printed)) = stdout.lines().find_map(|line| Some((line, total(line)?)))
        else {
            return Err("printed no throughput".to_owned());
        };
        if printed.clients != u64::from(settings.clients) {
            return Err(format!(
                "started {} of {} clients",
                printed.clients, settings.clients
            ));
        }
        if printed.mb_per_second <= 0.0 {
            return Err("moved no data in the time".to_owned());
        }
        let complaints: Vec<&str> = stdout.lines().filter(|line| is_complaint(line)).collect();
        let mut notes = vec![line.trim().to_owned(), load_note(settings)];
        notes.extend(
            complaints
                .iter()
                .take(COMPLAINTS)
                .map(|line| (*line).to_owned()),
        );
        let mut counts: Vec<(String, u64)> = stdout.lines().filter_map(counted).collect();
        counts.push(("unexpected".to_owned(), complaints.len() as u64));
        counts.push(("clients".to_owned(), printed.clients));
        Ok(Reading {
            values: definition::values(&DbenchMeasured {
                mb_per_second: printed.mb_per_second,
                max_latency: Some(printed.max_latency),
                operations: None,
            }),
            counts,
            notes,
        })
    }

    fn policy(settings: &DbenchSettings) -> (String, bool) {
        settings.policy()
    }
}

/// The last line of the program.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Total {
    mb_per_second: f64,
    clients: u64,
    max_latency: Nanos,
}

/// Reads `Throughput 221.088 MB/sec  1 clients  1 procs  max_latency=142.864 ms`, with words like
/// `(sync open)` behind the unit.
fn total(line: &str) -> Option<Total> {
    let rest = line.trim().strip_prefix("Throughput ")?;
    let (rate, rest) = rest.split_once(" MB/sec")?;
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "clients")?;
    let latency = words
        .iter()
        .find_map(|word| word.strip_prefix("max_latency="))?;
    Some(Total {
        mb_per_second: number(rate.trim())?,
        clients: words.get(at.checked_sub(1)?)?.parse().ok()?,
        max_latency: Nanos::new((number(latency)? * 1e6).round() as u64),
    })
}

/// Reads ` NTCreateX      88148     0.019     6.683`.
fn counted(line: &str) -> Option<(String, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, count, average, most] = words[..] else {
        return None;
    };
    average.parse::<f64>().ok()?;
    most.parse::<f64>().ok()?;
    Some((
        LoadOp::by_name(name)?.name().to_owned(),
        count.parse().ok()?,
    ))
}

/// Whether a line says that an operation ended otherwise than the load file says: `[37] read failed
/// on handle 9 (Success)`.
fn is_complaint(line: &str) -> bool {
    let inside = line.trim().strip_prefix(['[', '(']);
    let number = inside.and_then(|rest| rest.split_once([']', ')']));
    number.is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn load_note(settings: &DbenchSettings) -> String {
    match (&settings.loadfile, &settings.loadfile_sha256) {
        (Some(path), Some(hash)) => format!("load file {path}, sha256 {hash}"),
        (Some(path), None) => format!("load file {path}"),
        (None, _) => format!("built-in load file, version {}", definition::VERSION),
    }
}

//! Test `tiobench` carried out by the `tiotest` program, which no Debian package holds: it is used
//! where somebody has built it.
//!
//! Until 2023 the program credited each thread of a random phase with its whole file; by the
//! megabytes it prints one can see which it did, and the true rate follows from the time.

#[cfg(test)]
mod tests;

use std::path::Path;

use fathom_base::Nanos;
use fathom_base::process::Program;
use fathom_model::definition::tiobench::{
    self as definition, BLOCK, TiobenchMeasured, TiobenchOperation, TiobenchSettings,
};
use fathom_model::{Case, Estimate, Host, Metric, OptionError, Unmet};

use crate::classic::{Description, Driver, ProgramTest, Reading, need};

/// Test `tiobench` by tiotest; see the module's description.
pub type TiobenchTest = ProgramTest<Tiotest>;

const MIB: u64 = 1 << 20;

/// How tiotest is driven.
#[derive(Debug, Default)]
pub struct Tiotest;

impl Driver for Tiotest {
    type Settings = TiobenchSettings;

    const PROGRAM: &'static str = "tiotest";
    const HINT: &'static str = "build tiobench from its sources and put tiotest into the PATH";
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

    fn settings(case: &Case) -> Result<TiobenchSettings, OptionError> {
        TiobenchSettings::from_case(case)
    }

    fn metrics(settings: &TiobenchSettings) -> Vec<Metric> {
        // The program prints no percentiles.
        let mut all = definition::metrics(settings.operation);
        all.retain(|metric| !metric.id.contains("-latency-"));
        all
    }

    fn unmet(settings: &TiobenchSettings, _version: Option<&str>) -> Vec<Unmet> {
        let mut unmet = settings.conflicts();
        if !settings.size.as_u64().is_multiple_of(MIB) {
            unmet.push(need(
                format!("tiotest makes files of whole MiB, not of {}", settings.size),
                "choose a multiple of 1MiB",
            ));
        }
        unmet
    }

    fn estimate(settings: &TiobenchSettings, host: &Host) -> Result<Estimate, OptionError> {
        Ok(settings.estimate(host))
    }

    fn ask_version(program: Program) -> Program {
        program.args(["-h"])
    }

    fn version(answer: &str) -> Option<String> {
        // `tiotest v0.5 (C) 1999-2008 ...`
        let words = answer.lines().next()?.split_whitespace();
        let mut versions = words.filter_map(|word| word.strip_prefix('v'));
        let version = versions.find(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))?;
        Some(version.trim_end_matches(',').to_owned())
    }

    fn command(settings: &TiobenchSettings, program: Program, _work: &Path) -> Program {
        let skipped: &[&str] = match settings.operation {
            TiobenchOperation::Write => &["-k3", "-k2", "-k1"],
            TiobenchOperation::RandomWrite => &["-k3", "-k2"],
            TiobenchOperation::Read => &["-k3", "-k1"],
            TiobenchOperation::RandomRead => &["-k2", "-k1"],
        };
        let options = [
            ("-f", settings.size.as_u64() / MIB),
            ("-t", u64::from(settings.threads)),
            ("-r", settings.random_operations),
            ("-b", BLOCK),
        ];
        let sync = settings.sync_open.then_some("-S");
        program
            .args(sync)
            .args(
                options
                    .map(|(flag, value)| [flag.to_owned(), value.to_string()])
                    .concat(),
            )
            .args(skipped)
    }

    fn read(settings: &TiobenchSettings, stdout: &str) -> Result<Reading, String> {
        let mut measured = Vec::new();
        let mut notes = Vec::new();
        for operation in settings.operation.chain() {
            let title = match operation {
                TiobenchOperation::Write => "Write",
                TiobenchOperation::RandomWrite => "Random Write",
                TiobenchOperation::Read => "Read",
                TiobenchOperation::RandomRead => "Random Read",
            };
            let found = stdout
                .lines()
                .find_map(|line| Some((line, row(line, title)?)));
            let Some((line, printed)) = found else {
                return Err(format!("printed no rate of {title}"));
            };
            let credit = credited(settings, *operation, printed)?;
            if printed.mib_per_second <= 0.0 {
                return Err(format!("printed a rate of 0 of {title}"));
            }
            measured.push(TiobenchMeasured {
                operation: *operation,
                elapsed: Nanos::from_secs_f64(credit / printed.mib_per_second),
                latency: None,
            });
            notes.push(line.trim().to_owned());
        }
        notes.reverse();
        Ok(Reading {
            values: definition::values(settings, &measured),
            counts: vec![("threads".to_owned(), u64::from(settings.threads))],
            notes,
        })
    }

    fn policy(settings: &TiobenchSettings) -> (String, bool) {
        settings.policy()
    }
}

/// A row of the first table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    /// In whole MiB.
    mib: f64,
    mib_per_second: f64,
}

/// MiB that the rate was made of: what was done, or all files.
fn credited(
    settings: &TiobenchSettings,
    operation: TiobenchOperation,
    printed: Row,
) -> Result<f64, String> {
    let files = settings.size.as_u64() as f64 * f64::from(settings.threads) / MIB as f64;
    let done = (settings.calls_in_all(operation) * BLOCK) as f64 / MIB as f64;
    let is = |mib: f64| (printed.mib - mib).abs() <= 0.5;
    match (is(files), is(done)) {
        (true, _) => Ok(files),
        (false, true) => Ok(done),
        (false, false) => Err(format!(
            "printed {} MBs, where {done} were asked for and {files} are in the files",
            printed.mib
        )),
    }
}

/// Reads `| Random Write  128 MBs |    0.3 s | 432.794 MB/s |   1.0 %  |  20.0 % |`.
fn row(line: &str, title: &str) -> Option<Row> {
    let mut cells = line.trim().strip_prefix('|')?.split('|').map(str::trim);
    let amount = cells.next()?.strip_prefix(title)?.trim();
    cells.next()?.strip_suffix(" s")?;
    let rate = cells.next()?.strip_suffix(" MB/s")?;
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok()?;
        Some(number).filter(|number| number.is_finite() && *number >= 0.0)
    };
    Some(Row {
        mib: number(amount.strip_suffix("MBs")?)?,
        mib_per_second: number(rate)?,
    })
}

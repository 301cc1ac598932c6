//! Test `iozone` carried out by the installed `iozone` program: `iozone -e -r RECORD -s SIZE -i 0`.
//! Debian has it among its non-free packages.

#[cfg(test)]
mod tests;

use std::path::Path;

use fathom_base::process::Program;
use fathom_model::definition::iozone::{
    self as definition, IozoneMeasured, IozoneOperation, IozoneSettings,
};
use fathom_model::{Case, Estimate, Host, Metric, OptionError, Unmet};

use crate::classic::{Description, Driver, ProgramTest, Reading};

/// Test `iozone` by iozone; see the module's description.
pub type IozoneTest = ProgramTest<Iozone>;

/// How iozone is driven.
#[derive(Debug, Default)]
pub struct Iozone;

impl Driver for Iozone {
    type Settings = IozoneSettings;

    const PROGRAM: &'static str = "iozone";
    const HINT: &'static str = "install iozone3 from Debian's non-free packages";
    const CONTENTS: &'static str = "8 bytes of _ a page of 4 KiB, else zeros";

    fn describe() -> Description {
        Description {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION,
            options: definition::options(),
        }
    }

    fn settings(case: &Case) -> Result<IozoneSettings, OptionError> {
        IozoneSettings::from_case(case)
    }

    fn metrics(settings: &IozoneSettings) -> Vec<Metric> {
        // The program prints no times of single records.
        let mut all = definition::metrics(settings.operation);
        all.retain(|metric| !metric.id.contains("-latency-"));
        all
    }

    fn unmet(settings: &IozoneSettings, _version: Option<&str>) -> Vec<Unmet> {
        settings.conflicts()
    }

    fn estimate(settings: &IozoneSettings, host: &Host) -> Result<Estimate, OptionError> {
        Ok(settings.estimate(host))
    }

    fn ask_version(program: Program) -> Program {
        program.args(["-v"])
    }

    fn version(answer: &str) -> Option<String> {
        // `        Version $Revision: 3.489 $`
        let (_, rest) = answer.split_once("Revision: ")?;
        rest.split_whitespace().next().map(str::to_owned)
    }

    fn command(settings: &IozoneSettings, program: Program, _work: &Path) -> Program {
        let kib = |bytes: u64| format!("{}k", bytes / 1024);
        let mut program = program
            .args(["-r", &kib(settings.record.as_u64())])
            .args(["-s", &kib(settings.size.as_u64())])
            .args(["-i", "0"]);
        match settings.operation {
            IozoneOperation::Write | IozoneOperation::Rewrite => {}
            IozoneOperation::Read | IozoneOperation::Reread => program = program.args(["-i", "1"]),
            IozoneOperation::RandomRead | IozoneOperation::RandomWrite => {
                program = program.args(["-i", "2"]);
            }
        }
        if settings.fsync {
            program = program.args(["-e"]);
        }
        if settings.sync_open {
            program = program.args(["-o"]);
        }
        program
    }

    fn read(settings: &IozoneSettings, stdout: &str) -> Result<Reading, String> {
        let after = stdout
            .lines()
            .skip_while(|line| !line.contains("reclen"))
            .skip(1);
        let row: Vec<u64> = after
            .map(numbers)
            .find(|row| !row.is_empty())
            .ok_or("printed no row of figures")?;
        let chain = settings.operation.chain();
        let expected = [settings.size, settings.record].map(|bytes| bytes.as_u64() / 1024);
        // Columns of operations that were not asked for are left blank.
        if row.len() != 2 + chain.len() || row[..2] != expected {
            return Err(format!(
                "printed the figures {row:?}, not {expected:?} and {} rates",
                chain.len()
            ));
        }
        if row.contains(&0) {
            return Err(format!("printed a rate of 0: {row:?}"));
        }
        let measured: Vec<IozoneMeasured<'_>> = chain
            .iter()
            .zip(&row[2..])
            .map(|(operation, kib)| IozoneMeasured {
                operation: *operation,
                kib_per_second: *kib as f64,
                latency: None,
            })
            .collect();
        let shown: Vec<String> = row.iter().map(u64::to_string).collect();
        Ok(Reading {
            values: definition::values(settings, &measured),
            counts: vec![("records".to_owned(), settings.records())],
            notes: vec![shown.join(" ")],
        })
    }

    fn policy(settings: &IozoneSettings) -> (String, bool) {
        settings.policy()
    }
}

/// A line of whole numbers; empty when there is anything else in it.
fn numbers(line: &str) -> Vec<u64> {
    let words = line.split_whitespace().map(|word| word.parse().ok());
    words.collect::<Option<Vec<u64>>>().unwrap_or_default()
}

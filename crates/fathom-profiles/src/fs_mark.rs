//! Test `fs-mark` carried out by the installed `fs_mark` program.

#[cfg(test)]
mod tests;

use std::path::Path;

use fathom_base::Nanos;
use fathom_base::process::Program;
use fathom_model::definition::fs_mark::{self as definition, FsMarkMeasured, FsMarkSettings};
use fathom_model::{Case, Estimate, Host, Metric, OptionError, Unmet};

use crate::classic::{Description, Driver, ProgramTest, Reading, need};

/// Test `fs-mark` by fs_mark; see the module's description.
pub type FsMarkTest = ProgramTest<FsMark>;

/// How fs_mark is driven.
#[derive(Debug, Default)]
pub struct FsMark;

impl Driver for FsMark {
    type Settings = FsMarkSettings;

    const PROGRAM: &'static str = "fs_mark";
    const HINT: &'static str = "apt-get install fsmark";
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

    fn settings(case: &Case) -> Result<FsMarkSettings, OptionError> {
        FsMarkSettings::from_case(case)
    }

    fn metrics(_settings: &FsMarkSettings) -> Vec<Metric> {
        // The program prints no times of single files.
        let mut all = definition::metrics();
        all.retain(|metric| !metric.id.contains("-latency-"));
        all
    }

    fn unmet(settings: &FsMarkSettings, _version: Option<&str>) -> Vec<Unmet> {
        let mut unmet = settings.conflicts();
        if settings.size.as_u64() > i32::MAX as u64 {
            unmet.push(need(
                format!("fs_mark makes files below 2 GiB, not of {}", settings.size),
                "choose a smaller size, or use the built-in implementation",
            ));
        }
        unmet
    }

    fn estimate(settings: &FsMarkSettings, host: &Host) -> Result<Estimate, OptionError> {
        let general = settings.estimate(host);
        Ok(Estimate {
            // Its log.
            inodes: general.inodes + 1,
            ..general
        })
    }

    fn ask_version(program: Program) -> Program {
        // It prints its version at the begin of a run only: one that cannot make its directory.
        let nowhere = ["-n", "1", "-s", "0", "-S", "0", "-d", "/dev/null/none"];
        program.args(nowhere).args(["-l", "/dev/null"])
    }

    fn version(answer: &str) -> Option<String> {
        // `#	Version 3.3, 1 thread(s) starting at Mon Nov 30 22:16:53 2026`
        let line = answer
            .lines()
            .find_map(|line| line.strip_prefix("#\tVersion "))?;
        line.split_once(',').map(|(version, _)| version.to_owned())
    }

    fn command(settings: &FsMarkSettings, program: Program, work: &Path) -> Program {
        let options = [
            ("-s", settings.size.as_u64()),
            ("-n", settings.files),
            ("-t", u64::from(settings.threads)),
            ("-S", settings.sync.number() as u64),
            ("-w", settings.write_size.as_u64()),
            ("-p", u64::from(settings.name_bytes)),
            ("-r", u64::from(settings.random_bytes)),
            ("-D", u64::from(settings.directories)),
            ("-N", settings.files_per_directory),
        ];
        // 0 is what the last two are when they are not given.
        let given = options
            .into_iter()
            .filter(|(flag, value)| *value > 0 || !matches!(*flag, "-D" | "-N"));
        program
            .args(["-d", "files", "-l"])
            .args([work.with_file_name("fs_log.txt")])
            .args(given.flat_map(|(flag, value)| [flag.to_owned(), value.to_string()]))
    }

    fn read(settings: &FsMarkSettings, stdout: &str) -> Result<Reading, String> {
        let after = stdout
            .lines()
            .skip_while(|line| !line.contains("Files/sec"))
            .skip(1);
        let Some((line, printed)) = after.filter_map(|line| Some((line, row(line)?))).next() else {
            return Err("printed no files a second".to_owned());
        };
        if printed.files != settings.files_in_all() {
            return Err(format!(
                "made {} of {} files",
                printed.files,
                settings.files_in_all()
            ));
        }
        if printed.files_per_second <= 0.0 {
            return Err("printed a rate of 0 files a second".to_owned());
        }
        Ok(Reading {
            values: definition::values(&FsMarkMeasured {
                files_per_second: printed.files_per_second,
                app_overhead: Some(printed.overhead),
                file: None,
                fsync: None,
            }),
            counts: vec![("file".to_owned(), printed.files)],
            notes: vec![line.split_whitespace().collect::<Vec<_>>().join(" ")],
        })
    }

    fn policy(settings: &FsMarkSettings) -> (String, bool) {
        settings.policy()
    }
}

/// The line below the headings.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    files: u64,
    files_per_second: f64,
    overhead: Nanos,
}

/// Reads `    72         1000      1048576        143.6            14246`: FSUse%, Count, Size,
/// Files/sec, App Overhead in microseconds.
fn row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, files, size, rate, overhead] = words[..] else {
        return None;
    };
    size.parse::<u64>().ok()?;
    let rate = rate.parse::<f64>().ok()?;
    Some(Row {
        files: files.parse().ok()?,
        files_per_second: Some(rate).filter(|rate| rate.is_finite() && *rate >= 0.0)?,
        overhead: Nanos::new(overhead.parse::<u64>().ok()?.checked_mul(1000)?),
    })
}

//! Test `postmark` carried out by the installed `postmark` program, which takes its commands from
//! its standard input. Its counters are held against the plan; its clock counts whole seconds.

#[cfg(test)]
mod tests;

use std::path::Path;

use fathom_base::process::Program;
use fathom_model::definition::postmark::{
    self as definition, PostmarkMeasured, PostmarkPlan, PostmarkSettings,
};
use fathom_model::{Case, Estimate, Host, Metric, OptionError, Unmet};

use crate::classic::{Description, Driver, ProgramTest, Reading, need};

/// Test `postmark` by postmark; see the module's description.
pub type PostmarkTest = ProgramTest<Postmark>;

/// How postmark is driven.
#[derive(Debug, Default)]
pub struct Postmark;

impl Driver for Postmark {
    type Settings = PostmarkSettings;

    const PROGRAM: &'static str = "postmark";
    const HINT: &'static str = "apt-get install postmark";
    const CONTENTS: &'static str = "printable characters drawn at random";

    fn describe() -> Description {
        Description {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION,
            options: definition::options(),
        }
    }

    fn settings(case: &Case) -> Result<PostmarkSettings, OptionError> {
        PostmarkSettings::from_case(case)
    }

    fn metrics(_settings: &PostmarkSettings) -> Vec<Metric> {
        definition::metrics_of_whole_seconds()
    }

    fn unmet(settings: &PostmarkSettings, _version: Option<&str>) -> Vec<Unmet> {
        let mut unmet = settings.conflicts();
        if settings.transactions > i32::MAX as u64 {
            unmet.push(need(
                "postmark counts transactions in 32 bits",
                "choose fewer transactions",
            ));
        }
        unmet
    }

    fn estimate(settings: &PostmarkSettings, host: &Host) -> Result<Estimate, OptionError> {
        Ok(settings.estimate(host))
    }

    fn ask_version(mut program: Program) -> Program {
        program.input = Some(b"quit\n".to_vec());
        program
    }

    fn version(answer: &str) -> Option<String> {
        // `PostMark v1.51 : 8/14/01`
        let rest = answer.lines().next()?.strip_prefix("PostMark v")?;
        rest.split_whitespace().next().map(str::to_owned)
    }

    fn command(settings: &PostmarkSettings, mut program: Program, _work: &Path) -> Program {
        program.input = Some(commands(settings).into_bytes());
        program
    }

    fn read(settings: &PostmarkSettings, stdout: &str) -> Result<Reading, String> {
        // It counts a file that it could not make all the same.
        if let Some(error) = stdout.lines().find_map(|line| line.split_once("Error: ")) {
            return Err(format!("said \"Error: {}\"", error.1.trim()));
        }
        let printed = Printed::of(stdout).ok_or("printed no whole report")?;
        if let Some(plan) = settings.plan() {
            printed.check(&plan)?;
        }
        let seconds = printed.seconds;
        Ok(Reading {
            values: definition::values(&PostmarkMeasured {
                transactions: settings.transactions,
                elapsed: None,
                whole_seconds: seconds,
                read_bytes: None,
                written_bytes: None,
                latency: &[],
            }),
            counts: printed
                .counts
                .iter()
                .map(|(name, count)| ((*name).to_owned(), *count))
                .collect(),
            notes: vec![format!(
                "{seconds} seconds of transactions by a clock of whole seconds: the rate is \
                 uncertain by {:.1} %",
                100.0 / seconds.max(1) as f64
            )],
        })
    }

    fn policy(_settings: &PostmarkSettings) -> (String, bool) {
        ("none".to_owned(), false)
    }
}

/// What a person would type.
fn commands(settings: &PostmarkSettings) -> String {
    // -1 is none.
    let bias = |tenths: Option<u32>| tenths.map_or(-1, i64::from);
    let yes = |flag: bool| if flag { "true" } else { "false" };
    let lines = [
        format!("set transactions {}", settings.transactions),
        format!("set size {} {}", settings.size_low, settings.size_high),
        format!("set number {}", settings.files),
        format!("set subdirectories {}", settings.subdirectories),
        format!("set seed {}", settings.seed),
        format!("set read {}", settings.read_block),
        format!("set write {}", settings.write_block),
        format!("set buffering {}", yes(settings.buffering)),
        format!("set bias read {}", bias(settings.bias_read)),
        format!("set bias create {}", bias(settings.bias_create)),
        "set report verbose".to_owned(),
        "run".to_owned(),
        "quit".to_owned(),
    ];
    lines.join("\n") + "\n"
}

/// Lines of the verbose report: how they go on after their number, and what they count. The same
/// words come twice, alone and mixed, so that they are read in order.
const LINES: [(&str, &str); 9] = [
    ("seconds of transactions (", "seconds"),
    ("created (", "created"),
    ("Creation alone:", "initial-create"),
    ("Mixed with transactions:", "create"),
    ("read (", "read"),
    ("appended (", "append"),
    ("deleted (", "deleted"),
    ("Deletion alone:", "deleted-alone"),
    ("Mixed with transactions:", "delete"),
];

/// The counters of a report.
#[derive(Clone, Debug, PartialEq)]
struct Printed {
    seconds: u64,
    counts: Vec<(&'static str, u64)>,
}

impl Printed {
    fn of(stdout: &str) -> Option<Self> {
        let mut lines = stdout.lines().map(str::trim);
        let mut counts = Vec::new();
        for (words, name) in LINES {
            // A file is counted in the plural whatever its number is.
            let count = lines
                .by_ref()
                .find_map(|line| match words.strip_suffix(':') {
                    Some(_) => first_number(line.strip_prefix(words)?),
                    None => first_number(line).filter(|_| line.contains(words)),
                })?;
            counts.push((name, count));
        }
        let (_, seconds) = counts.remove(0);
        Some(Self { seconds, counts })
    }

    /// Holds the counters against what a run should do.
    fn check(&self, plan: &PostmarkPlan) -> Result<(), String> {
        let expected = [
            ("created", plan.created),
            ("read", plan.read),
            ("append", plan.appended),
            ("deleted", plan.deleted()),
            ("deleted-alone", plan.deleted_alone),
            ("delete", plan.deleted_mixed),
        ];
        let wrong = expected
            .into_iter()
            .find(|expected| !self.counts.contains(expected));
        match wrong {
            None => Ok(()),
            Some((name, planned)) => {
                let found = self.counts.iter().find(|(counted, _)| *counted == name);
                Err(format!(
                    "counted {} of \"{name}\", where the same seed gives {planned}",
                    found.map_or(0, |(_, count)| *count)
                ))
            }
        }
    }
}

fn first_number(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

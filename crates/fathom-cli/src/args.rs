//! The command line as typed. One definition gives parser, help, completions and man page.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::printer::ColorWhen;

#[cfg(test)]
mod tests;

/// Measures storage and says how far the numbers can be trusted.
#[derive(Debug, Parser)]
#[command(
    name = "fathom",
    version,
    long_about = "Measures storage and says how far the numbers can be trusted.\n\n\
        Without further words, `fathom run` measures the disk under the current directory in about \
        a minute: it asks nothing, needs no root and leaves no file behind.",
    after_help = "fathom help COMMAND explains a command; fathom --help adds exit codes and variables.",
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 100
)]
pub struct Cli {
    /// Directory of saved results (default: FATHOM_DATA, else ~/.local/share/fathom)
    #[arg(long, global = true, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorWhen,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure: a suite, tests, or the cases of a saved result
    Run(RunArgs),
    /// Find the highest rate that a target keeps before its latency rises
    Knee(KneeArgs),
    /// Go on with a run that was stopped or killed
    Resume(ResumeArgs),
    /// List tests, suites, saved results, public results
    List(ListArgs),
    /// Explain a test: what it does, its options, what it needs here
    Info(InfoArgs),
    /// Show a saved result
    Show(ShowArgs),
    /// Compare results: what differs, and whether it is faster, slower, the same, or untold
    Compare(CompareArgs),
    /// Write a result in another format
    Export(ExportArgs),
    /// Save files of other programs, or of Fathom, as results
    Import(ImportArgs),
    /// Join results into a new one
    Merge(MergeArgs),
    /// Change a saved result: texts, names, what is in it
    Edit(EditArgs),
    /// Build, measure and tear down drives x layouts x file systems, from one file
    Matrix(MatrixArgs),
    /// Write a commented profile: a test of your own that runs a program
    NewTest(NewTestArgs),
    /// Say what is wrong with a profile, or what it would run; read a saved log with it
    CheckTest(CheckTestArgs),
    /// Describe this machine and the drives under a target
    System(SystemArgs),
    /// Say why a result is suspect or invalid, and what to do
    Explain(ExplainArgs),
    /// Look for what bends figures on this machine, with remedies
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page (roff): `fathom man | man -l -`
    Man {
        /// The command it is about [default: the program]
        command: Option<String>,
    },
    /// Print a generated page of the reference
    #[command(hide = true)]
    Reference {
        /// The page
        page: Page,
    },
}

/// Generated pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Page {
    /// Tests with their options.
    Tests,
    /// Exit codes and environment.
    Interface,
    /// Verdicts and the rules behind them.
    Verdicts,
    /// Commands with their help.
    Commands,
}

/// What signals do, at the end of the help of `run` and `resume`.
const KEYS: &str = "Ctrl-C stops after cleaning up: what was measured is kept, and fathom resume \
    goes on. A second Ctrl-C ends at once. Ctrl-\\ gives up the case under way.";

/// `fathom run`.
#[derive(Debug, Args)]
#[command(after_help = KEYS)]
pub struct RunArgs {
    /// A suite, a test, or a saved result whose cases are run again here [default: quick]
    #[arg(value_name = "SUITE|TEST|RESULT")]
    pub what: Vec<String>,
    /// Directory to test in; or a block device or file (see --destroy) [default: here]
    #[arg(short, long, value_name = "PATH")]
    pub target: Option<PathBuf>,
    /// Name to save the result under [default: date and suite]
    #[arg(short, long)]
    pub name: Option<String>,
    /// Title of the result
    #[arg(long)]
    pub title: Option<String>,
    /// Name of this system in the result [default: drive and file system]
    #[arg(short, long, value_name = "ID")]
    pub system: Option<String>,
    /// Choose an option; several values give a case each (-o block-size=4KiB,64KiB)
    #[arg(short, long = "option", value_name = "OPTION=VALUE[,VALUE]")]
    pub options: Vec<OptionArg>,
    /// How tests are carried out [default: native where there is one]
    #[arg(short, long)]
    pub implementation: Option<ImplementationArg>,
    /// Fix everything random: order of trials, offsets, contents [default: drawn and recorded]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Print the plan and what it would write, and do nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Allow overwriting the block device with this serial number (or the file of this path)
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    #[command(flatten)]
    pub own: OwnArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub output: RunOutputArgs,
}

/// A program of one's own, and profiles of others.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Your own programs")]
pub struct OwnArgs {
    /// Measure this command, run in a fresh directory on the target each time; words that name files
    /// here are passed with their full path (--command 'tar xf big.tar')
    #[arg(long, value_name = "COMMAND", conflicts_with = "what")]
    pub command: Option<String>,
    /// What to measure of it: wall, user, system, cpu, max-resident, regex:PATTERN, json:/POINTER or
    /// csv:COLUMN; before it may stand NAME,UNIT,higher= [default: wall]
    #[arg(long = "metric", value_name = "METRIC", requires = "command")]
    pub metrics: Vec<String>,
    /// Run this before each trial, not timed
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub before: Option<String>,
    /// Give the command to /bin/sh
    #[arg(long, requires = "command")]
    pub shell: bool,
    /// Run a profile or command that did not come with Fathom; asked once for each content
    #[arg(long)]
    pub trust: bool,
}

/// How long to measure; a suite's own choices apply where nothing is said. What they accept is
/// checked where suites are, too.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "How long to measure")]
pub struct LimitArgs {
    /// Repeat until the 95 % interval of each result is within this, either way [default: 2%]
    #[arg(long, value_name = "PERCENT")]
    pub goal: Option<String>,
    /// Trials of a case at least [default: 3]
    #[arg(long, value_name = "N")]
    pub min_trials: Option<String>,
    /// Trials of a case at most [default: 30]
    #[arg(long, value_name = "N")]
    pub max_trials: Option<String>,
    /// Time for everything together (90s, 10m); none lifts a suite's
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Time for the trials of one case
    #[arg(long, value_name = "TIME")]
    pub case_budget: Option<String>,
    /// Stop before the tests have written more than this (20GB)
    #[arg(long, value_name = "SIZE")]
    pub write_limit: Option<String>,
    /// A trial that takes longer has failed [default: 10m, or ten times the estimate]
    #[arg(long, value_name = "TIME")]
    pub trial_limit: Option<String>,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct RunOutputArgs {
    /// Print the result as JSON instead of a table (with --dry-run: the plan)
    #[arg(long)]
    pub json: bool,
    /// No plan and no progress; errors and the table remain
    #[arg(short, long)]
    pub quiet: bool,
}

/// `fathom knee`.
#[derive(Debug, Args)]
#[command(
    after_help = "The ceiling is measured first, without a rate; then rates from 5 % of it \
    upwards in an open loop, in random order, each for as many trials as fathom run would take. The \
    knee is the highest rate up to which p99 stays within the factor of the flat part's."
)]
pub struct KneeArgs {
    /// Directory to test in; or a block device or file (see --destroy) [default: here]
    #[arg(short, long, value_name = "PATH")]
    pub target: Option<PathBuf>,
    /// Name to save the result under [default: date and test]
    #[arg(short, long)]
    pub name: Option<String>,
    /// Choose an option of test io (-o rw=randwrite), but for rate
    #[arg(short, long = "option", value_name = "OPTION=VALUE")]
    pub options: Vec<OptionArg>,
    /// Rates that are tried
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(4..=100))]
    pub steps: u32,
    /// Times the flat p99 from which the latency has risen
    #[arg(long, value_name = "NUMBER", default_value_t = 2.0)]
    pub factor: f64,
    /// Write the curve as a chart
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Fix everything random: order of trials, offsets, contents [default: drawn and recorded]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// Allow overwriting the block device with this serial number (or the file of this path)
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub output: RunOutputArgs,
}

/// `fathom resume`.
#[derive(Debug, Args)]
#[command(after_help = KEYS)]
pub struct ResumeArgs {
    /// The result to go on with [default: the newest that is unfinished]
    #[arg(value_name = "RESULT")]
    pub result: Option<String>,
    /// Allow overwriting the block device or file, as for the run
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Option<String>,
    /// Go on although the journal is damaged: from the last good event before the damage
    #[arg(long)]
    pub salvage: bool,
    #[command(flatten)]
    pub output: RunOutputArgs,
}

/// `fathom list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// What to list [default: everything]
    pub what: Option<Listing>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listing {
    /// The tests
    Tests,
    /// The suites
    Suites,
    /// The saved results
    Results,
    /// The public results that ship with Fathom
    References,
}

/// `fathom info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// A test or a suite
    #[arg(value_name = "TEST")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `fathom show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// A saved name, a file, `latest`, or a reference that ships with Fathom
    #[arg(value_name = "RESULT", default_value = "latest")]
    pub result: String,
    /// Show what a factor changes: file-system, layout, drive, or another label of the systems
    #[arg(long, value_name = "FACTOR", conflicts_with = "json")]
    pub by: Option<String>,
    /// Show what sensors said while trials ran: lowest, mean, highest
    #[arg(long, conflicts_with_all = ["json", "by"])]
    pub sensors: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// Print wins, losses and means as the Phoronix Test Suite sums results up
    #[arg(long, conflicts_with = "json")]
    pub pts_summary: bool,
}

/// `fathom compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Saved names, files, `latest`, or references; every system in them takes part
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<String>,
    /// The result or system the others are held against [default: the first]
    #[arg(short, long, value_name = "RESULT|SYSTEM")]
    pub baseline: Option<String>,
    /// Hold each against each
    #[arg(long, conflicts_with = "baseline")]
    pub all_pairs: bool,
    /// Only these systems
    #[arg(short, long = "system", value_name = "SYSTEM")]
    pub systems: Vec<String>,
    /// Compare every metric, not only the one that stands for its case
    #[arg(long)]
    pub all_metrics: bool,
    /// Differences up to this do not matter
    #[arg(long, value_name = "PERCENT", default_value = "1%")]
    pub margin: fathom_base::Percent,
    /// Compare invalid figures, too
    #[arg(long)]
    pub include_invalid: bool,
    /// Exit with 1 when anything is slower or has no answer, with 4 when it cannot be told;
    /// accounts for the number of comparisons (Holm)
    #[arg(long)]
    pub gate: bool,
    /// Print wins, losses and means by the rules of the Phoronix Test Suite instead: they mix units,
    /// know no uncertainty, and count MB/s and IOPS of one run twice
    #[arg(long, conflicts_with_all = ["gate", "all_pairs", "baseline", "json", "format"])]
    pub pts_summary: bool,
    /// How it is written
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "json"
    )]
    pub format: ComparisonFormat,
    /// File to write [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// How a comparison is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ComparisonFormat {
    /// For a terminal
    #[default]
    Text,
    /// For issues, wikis and pull requests
    Markdown,
    /// A page in one file, with charts
    Html,
}

/// `fathom export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A saved name, a file, `latest`, or a reference that ships with Fathom
    #[arg(value_name = "RESULT", default_value = "latest")]
    pub result: String,
    /// What to write [default: by the extension of --output]
    #[arg(short, long, value_name = "FORMAT", value_parser = crate::exports::possible_values())]
    pub format: Option<String>,
    /// File to write, or directory where there are several files [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Only this chart (with svg or png)
    #[arg(long, value_name = "ID")]
    pub chart: Option<String>,
    /// Charts of what a factor changes instead of those of the results (with svg)
    #[arg(long, value_name = "FACTOR")]
    pub by: Option<String>,
}

/// What `import` reads, and every command that takes a result.
const KINDS: &str = "Kinds, told by their content: Fathom's result files; the Phoronix Test Suite's \
    composite.xml (and active.xml), its text, CSV and JSON exports, the text of OpenBenchmarking.org's \
    pages; fio's JSON, JSON+, normal and terse output, and its logs.";

/// `fathom import`.
#[derive(Debug, Args)]
#[command(after_help = KINDS)]
pub struct ImportArgs {
    /// Files of any format Fathom reads; the content says which it is
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Name to save the result under [default: the file's]
    #[arg(short, long)]
    pub name: Option<String>,
}

/// `fathom merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Saved names or files
    #[arg(value_name = "RESULT", required = true, num_args = 2..)]
    pub results: Vec<String>,
    /// Name to save the result under
    #[arg(short, long)]
    pub name: String,
    /// Title of the result [default: the first one's]
    #[arg(long)]
    pub title: Option<String>,
}

/// `fathom edit`.
#[derive(Debug, Args)]
pub struct EditArgs {
    /// A saved name, or `latest`
    #[arg(value_name = "RESULT")]
    pub result: String,
    /// Set the title
    #[arg(long)]
    pub title: Option<String>,
    /// Set the description
    #[arg(long)]
    pub description: Option<String>,
    /// Save under another name
    #[arg(long, value_name = "NAME")]
    pub rename: Option<String>,
    /// Give a system another name
    #[arg(long, value_name = "FROM=TO")]
    pub rename_system: Vec<Pair>,
    /// Make two names of one machine one
    #[arg(long, value_name = "FROM=INTO")]
    pub join_systems: Vec<Pair>,
    /// Remove a system and everything measured on it
    #[arg(long, value_name = "SYSTEM")]
    pub drop_system: Vec<String>,
    /// Remove results by number, from 1 as shown
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub drop_result: Vec<usize>,
    /// Put systems in this order; the others follow
    #[arg(long, value_name = "SYSTEM", value_delimiter = ',')]
    pub order_systems: Vec<String>,
    /// Put results in this order, by number; the others follow
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub order_results: Vec<usize>,
    /// Delete the result (--undo brings it back)
    #[arg(long, conflicts_with_all = ["title", "description", "rename", "undo"])]
    pub delete: bool,
    /// Take the last change back
    #[arg(long, conflicts_with_all = ["title", "description", "rename"])]
    pub undo: bool,
}

/// `FROM=TO`, split at the first equals sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// What it is called.
    pub from: String,
    /// What it shall be called.
    pub to: String,
}

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok(Self {
                from: from.to_owned(),
                to: to.to_owned(),
            }),
            _ => Err("expected two names with = between them".to_owned()),
        }
    }
}

/// `fathom new-test`.
#[derive(Debug, Args)]
pub struct NewTestArgs {
    /// Name of the test: lower-case letters, digits and dashes
    #[arg(value_name = "NAME")]
    pub name: String,
    /// File to write [default: NAME.toml among your own profiles]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `fathom check-test`.
#[derive(Debug, Args)]
pub struct CheckTestArgs {
    /// The profile
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// What its program printed, saved: say which figures are found in it
    #[arg(long, value_name = "LOG")]
    pub log: Option<PathBuf>,
    /// Choose an option, where metrics depend on it
    #[arg(short, long = "option", value_name = "OPTION=VALUE")]
    pub options: Vec<OptionArg>,
}

/// `fathom system`.
#[derive(Debug, Args)]
pub struct SystemArgs {
    /// Describe the drives under this path [default: the current directory]
    #[arg(short, long, value_name = "PATH")]
    pub target: Option<PathBuf>,
    /// List directories that can be tested, with the drives under them
    #[arg(long, conflicts_with = "target")]
    pub targets: bool,
    /// Read the sensors of the machine and of the drives under the target
    #[arg(long, conflicts_with_all = ["targets", "json", "serials"])]
    pub sensors: bool,
    /// With --sensors: every second, until Ctrl-C or so many times
    #[arg(long, requires = "sensors", value_name = "TIMES", num_args = 0..=1, require_equals = true,
        default_missing_value = "0")]
    pub watch: Option<u64>,
    /// Show serial numbers, which results only keep as hashes
    #[arg(long)]
    pub serials: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `fathom matrix`.
#[derive(Debug, Args)]
#[command(after_help = MATRIX_HELP)]
pub struct MatrixArgs {
    /// The matrix (TOML)
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print what would be erased and built, how long it takes and how much it writes
    #[arg(long)]
    pub dry_run: bool,
    /// Allow overwriting the drive with this serial number; once for each drive of the matrix
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// Undo what killed matrices left: mounts, arrays, mappings, loop devices, file systems
    #[arg(long, conflicts_with_all = ["file", "dry_run", "destroy"])]
    pub clean: bool,
    /// With --clean: drop what they measured, too
    #[arg(long, requires = "clean")]
    pub discard: bool,
    /// Print the result as JSON (with --dry-run: the plan)
    #[arg(long)]
    pub json: bool,
    /// No plan and no progress; errors and the result remain
    #[arg(short, long)]
    pub quiet: bool,
}

/// At the end of the help of `matrix`.
const MATRIX_HELP: &str = "Ctrl-C stops after tearing down; the same command goes on, also after a \
    crash or a restart of the machine. Nothing that Fathom did not make is ever taken down.";

/// `fathom doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Look at the drives under this path, too [default: the current directory]
    #[arg(short, long, value_name = "PATH")]
    pub target: Option<PathBuf>,
}

/// `fathom explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// A saved name, a file, or `latest`
    #[arg(value_name = "RESULT", default_value = "latest")]
    pub result: String,
}

/// How a test is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImplementationArg {
    /// Built into Fathom
    Native,
    /// The original program, found on this machine
    Program,
}

/// `-o name=value,value`, split but not judged: which test it is for is not known here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionArg {
    /// The test it is for (`io.block-size=4KiB`); `None` is every test that has it.
    pub test: Option<String>,
    /// The option.
    pub name: String,
    /// Its values, at least one.
    pub values: Vec<String>,
}

impl std::str::FromStr for OptionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected OPTION=VALUE, TEST.OPTION=VALUE, or several values: \
                        block-size=4KiB,64KiB";
        let (name, values) = text.split_once('=').ok_or(expected)?;
        let (test, name) = match name.split_once('.') {
            Some((test, name)) => (Some(test.trim().to_owned()), name),
            None => (None, name),
        };
        let values: Vec<String> = values.split(',').map(|v| v.trim().to_owned()).collect();
        let has_empty = values.iter().any(String::is_empty);
        if name.trim().is_empty() || test.as_deref() == Some("") || has_empty {
            return Err(expected.to_owned());
        }
        Ok(Self {
            test,
            name: name.trim().to_owned(),
            values,
        })
    }
}

/// The command line with the tables of exit codes and variables at the end of `--help`.
pub fn command() -> clap::Command {
    use clap::CommandFactory;
    let mut text = String::from("Exit codes:\n");
    for (_, code, meaning) in crate::exit::TABLE {
        text.push_str(&row(&code.to_string(), meaning));
    }
    for (code, meaning) in crate::exit::SIGNALS {
        text.push_str(&row(&code.to_string(), meaning));
    }
    text.push_str("\nEnvironment:\n");
    for (name, meaning) in crate::environment::TABLE {
        text.push_str(&row(name, meaning));
    }
    Cli::command().after_long_help(text.trim_end().to_owned())
}

/// A table row with hanging indent.
fn row(name: &str, meaning: &str) -> String {
    const NAME: usize = 16;
    const WIDTH: usize = 78;
    let body = crate::describe::wrapped(meaning, NAME + 4, WIDTH);
    format!("  {name:NAME$}  {}", body.trim_start())
}

//! The binary `fathom`: arguments become settings, settings become a command, and what comes back
//! becomes words and an exit code.

use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::FromArgMatches;

mod args;
mod commands;
mod describe;
mod environment;
mod exit;
mod exports;
mod failure;
mod printer;
mod progress;
mod registry;
mod results;
mod settings;
mod signals;
mod trust;

use args::Cli;
use environment::Environment;
use exit::Exit;
use failure::Failure;
use printer::Printer;
use settings::Settings;

fn main() -> ExitCode {
    report_panics();
    let outcome = catch_unwind(AssertUnwindSafe(run));
    // The hook has said what to report.
    ExitCode::from(outcome.unwrap_or(Exit::Bug).code())
}

fn run() -> Exit {
    let environment = Environment::read();
    let parsed = args::command()
        .try_get_matches()
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let settings = Settings::resolve(&cli, environment);
    let printer = Printer::new(settings.look);
    match commands::dispatch(cli.command, &settings, &printer) {
        Ok(exit) => exit,
        Err(failure) => ended(&failure, &printer),
    }
}

/// What clap has to say: help and version are no failure.
fn usage(error: &clap::Error) -> Exit {
    // A reader that has gone does not want to hear more.
    let _ = error.print();
    match error.use_stderr() {
        true => Exit::Usage,
        false => Exit::Good,
    }
}

fn ended(failure: &Failure, printer: &Printer) -> Exit {
    if failure.exit != Exit::Good {
        printer.words(&failure.to_string());
    }
    failure.exit
}

/// A panic is a defect: one line that says so, never a backtrace.
fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map_or_else(String::new, |location| {
            format!(" at {}:{}", location.file(), location.line())
        });
        let what = panic
            .payload_as_str()
            .unwrap_or("no message")
            .replace('\n', " ");
        let version = env!("CARGO_PKG_VERSION");
        let line = format!(
            "bug: fathom {version} failed{place}: {what}; please report this line and the command"
        );
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "{line}");
    }));
}

/// Whether stdout and stderr are terminals.
fn terminals() -> (bool, bool) {
    (
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    )
}

//! Development tasks: `cargo xtask test`, `bench`, `accuracy`, `device`, `gallery`, `gen`, `kill-test`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development tool talks to its terminal"
)]

use std::process::ExitCode;

use anyhow::{Result, bail};

mod accuracy;
mod bench;
mod device;
mod gallery;
mod generate;
mod kill;
mod run;
mod test;

const USAGE: &str = "\
usage: cargo xtask TASK

  test                 what CI runs: installs peers (as root), format, lints, all tests, both feature sets
  bench [GROUP ...]    ratios against peers: engine, interface, reports, workloads; --pairs N, --seconds N, --directory DIR, --only TEXT, --build
  accuracy [PART ...]  errors against known answers, fio beside: freeze, rates, bimodal, faults, cost, pairs (root)
  device DIR MODEL     mounts a file of which requests take as long as the model says (root)
  gallery              numbers that are wrong in a known way: each must get its verdict (root)
  gen [--check]        writes the generated pages of docs/, or says which differ
  kill-test [RUNS]     kills fathom at random moments, resumes, counts what was lost (default 20)
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match task(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task(words: &[&str]) -> Result<()> {
    match words {
        ["test"] => test::test(),
        ["bench", rest @ ..] => bench::bench(rest),
        ["accuracy", rest @ ..] => accuracy::accuracy(rest),
        ["device", rest @ ..] => device::device(rest),
        ["gallery"] => gallery::gallery(),
        ["gen"] => generate::write(),
        ["gen", "--check"] => generate::check(),
        ["kill-test"] => kill::kill_test(20),
        ["kill-test", runs] => kill::kill_test(runs.parse()?),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => bail!("unknown task: {}\n{USAGE}", words.join(" ")),
    }
}

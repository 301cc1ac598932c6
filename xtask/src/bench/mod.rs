//! `cargo xtask bench`: Fathom against its peers, as ratios.
//!
//! Each comparison alternates ours and the peer's (A B A B ...), takes the ratio of each pair and
//! judges the median of the ratios: a machine that drifts moves both sides of a pair.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::run::root;

mod engine;
mod fio;
mod history;
mod interface;
mod ours;
mod reports;
mod table;
mod workloads;

pub use fio::version as fio_version;
pub use ours::{binary as our_binary, example as our_example};
pub use table::{Goal, Row};

/// How a bench run was asked for.
#[derive(Clone, Debug)]
pub struct Choices {
    /// Pairs of each comparison.
    pub pairs: usize,
    /// Seconds of one measurement.
    pub seconds: u32,
    /// Where the test file is: on the disk that is measured.
    pub directory: PathBuf,
    /// Also time a cold release build.
    pub build: bool,
    /// Only loads with this text in their name.
    pub only: String,
}

/// Comparisons that are run together.
struct Group {
    name: &'static str,
    what: &'static str,
    measure_all: fn(&Choices, &mut Vec<Row>) -> Result<()>,
}

const GROUPS: [Group; 4] = [
    Group {
        name: "engine",
        what: "rates, CPU and latency of the I/O engine against fio",
        measure_all: engine::measure_all,
    },
    Group {
        name: "interface",
        what: "fathom run beyond its trials, fathom show, memory; --build: cold build",
        measure_all: interface::measure_all,
    },
    Group {
        name: "reports",
        what: "reading, showing, exporting and merging results: user CPU and memory",
        measure_all: reports::measure_all,
    },
    Group {
        name: "workloads",
        what: "the file-system tests against the originals, in memory and on the disk",
        measure_all: workloads::measure_all,
    },
];

/// Runs the groups named in `words` (all of them when none is), prints the table and keeps it.
pub fn bench(words: &[&str]) -> Result<()> {
    let (names, choices) = parse(words)?;
    std::fs::create_dir_all(&choices.directory)
        .with_context(|| format!("create {}", choices.directory.display()))?;
    let mut rows = Vec::new();
    let measured = GROUPS
        .iter()
        .filter(|group| names.is_empty() || names.contains(&group.name))
        .try_for_each(|group| {
            println!("{}", group.name);
            (group.measure_all)(&choices, &mut rows)
        });
    // What was measured before a failure is kept, too.
    history::keep(&rows)?;
    measured?;
    let missed = rows.iter().filter(|row| row.is_missed()).count();
    println!("{} comparisons, {missed} missed", rows.len());
    Ok(())
}

fn parse<'a>(words: &[&'a str]) -> Result<(Vec<&'a str>, Choices)> {
    let mut names = Vec::new();
    let mut choices = Choices {
        pairs: 5,
        seconds: 3,
        directory: root().join("target/bench-scratch"),
        build: false,
        only: String::new(),
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} needs a value"))
        };
        match *word {
            "--pairs" => choices.pairs = value()?.parse().context("--pairs N")?,
            "--seconds" => choices.seconds = value()?.parse().context("--seconds N")?,
            "--directory" => choices.directory = PathBuf::from(value()?),
            "--only" => choices.only = (*value()?).to_owned(),
            "--build" => choices.build = true,
            name if GROUPS.iter().any(|group| group.name == name) => names.push(name),
            other => {
                let known: Vec<String> = GROUPS
                    .iter()
                    .map(|group| format!("  {}: {}", group.name, group.what))
                    .collect();
                bail!("unknown bench {other}; known are\n{}", known.join("\n"));
            }
        }
    }
    if choices.pairs == 0 || choices.seconds == 0 {
        bail!("--pairs and --seconds must be at least 1");
    }
    Ok((names, choices))
}

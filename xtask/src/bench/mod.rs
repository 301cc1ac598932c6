//! `cargo xtask bench`: Fathom against its peers, as ratios.
//!
//! Each comparison alternates ours and the peer's (A B A B ...), takes the ratio of each pair and
//! judges the median of the ratios: a machine that drifts moves both sides of a pair.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, insist, root};

mod engine;
mod fio;
mod history;
mod interface;
mod ours;
mod table;

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
}

/// Groups by name, with what they compare.
const GROUPS: [(&str, &str); 2] = [
    (
        "engine",
        "rates, CPU and latency of the I/O engine against fio",
    ),
    (
        "interface",
        "fathom run beyond its trials, fathom show, memory; --build: cold build",
    ),
];

/// Runs the groups named in `words` (all of them when none is), prints the table and keeps it.
pub fn bench(words: &[&str]) -> Result<()> {
    let (names, choices) = parse(words)?;
    insist(cargo(&["build", "--release", "--package", "fathom-cli"]))?;
    std::fs::create_dir_all(&choices.directory)
        .with_context(|| format!("create {}", choices.directory.display()))?;
    let mut rows = Vec::new();
    for (name, _) in GROUPS {
        let is_chosen = names.is_empty() || names.contains(&name);
        if !is_chosen {
            continue;
        }
        println!("{name}");
        rows.extend(match name {
            "engine" => engine::rows(&choices)?,
            _ => interface::rows(&choices)?,
        });
    }
    history::keep(&rows)?;
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
            "--build" => choices.build = true,
            name if GROUPS.iter().any(|(known, _)| *known == name) => names.push(name),
            other => {
                let known: Vec<String> = GROUPS
                    .iter()
                    .map(|(name, what)| format!("  {name}: {what}"))
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

//! What reading, showing and merging results costs: user CPU and memory of the whole process.

use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use fathom_base::process::{Finished, Program, run};
use fathom_base::{Cancel, Nanos, SplitMix64};

use super::{Choices, Goal, Row, ours};
use crate::run::{cargo, insist};

/// Runs of each command at least: the kernel divides time into user's and its own by ticks.
const LEAST_RUNS: usize = 21;

/// Results and systems of the small file, of 1.4 MB.
const SMALL: (u32, u32) = (200, 20);
/// Those of the large one, of 17 MB.
const LARGE: (u32, u32) = (1000, 50);

/// A command with what it should reach.
struct Measured {
    what: &'static str,
    words: &'static [&'static str],
    user_ms: f64,
    resident_mib: f64,
}

const COMMANDS: [Measured; 8] = [
    Measured {
        what: "200 x 20: show",
        words: &["show", "./small.xml"],
        user_ms: 10.0,
        resident_mib: 40.0,
    },
    Measured {
        what: "200 x 20: export pts-text",
        words: &["export", "./small.xml", "--format", "pts-text"],
        user_ms: 10.0,
        resident_mib: 40.0,
    },
    Measured {
        what: "200 x 20: export html",
        words: &["export", "./small.xml", "--format", "html"],
        user_ms: 25.0,
        resident_mib: 40.0,
    },
    Measured {
        what: "200 x 20: merge of two",
        words: &["merge", "./small.xml", "./second.xml", "--name"],
        user_ms: 25.0,
        resident_mib: 40.0,
    },
    Measured {
        what: "200 x 20: import",
        words: &["import", "./small.xml", "--name"],
        user_ms: 25.0,
        resident_mib: 40.0,
    },
    Measured {
        what: "1000 x 50: show",
        words: &["show", "./large.xml"],
        user_ms: 80.0,
        resident_mib: 150.0,
    },
    Measured {
        what: "1000 x 50: export pts-text",
        words: &["export", "./large.xml", "--format", "pts-text"],
        user_ms: 80.0,
        resident_mib: 150.0,
    },
    Measured {
        what: "1000 x 50: export html",
        words: &["export", "./large.xml", "--format", "html"],
        user_ms: 250.0,
        resident_mib: 150.0,
    },
];

/// Measures all of them.
pub fn measure_all(choices: &Choices, rows: &mut Vec<Row>) -> Result<()> {
    insist(cargo(&["build", "--release", "--package", "fathom-cli"]))?;
    write_inputs(&choices.directory)?;
    for command in &COMMANDS {
        for row in measure(command, choices)? {
            row.print();
            rows.push(row);
        }
    }
    std::fs::remove_dir_all(choices.directory.join("reports-data")).ok();
    Ok(())
}

fn write_inputs(directory: &Path) -> Result<()> {
    for (name, size, seed) in [
        ("small.xml", SMALL, 1),
        ("second.xml", SMALL, 2),
        ("large.xml", LARGE, 1),
    ] {
        let path = directory.join(name);
        let text = composite(size, seed);
        std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn measure(command: &Measured, choices: &Choices) -> Result<[Row; 2]> {
    let mut user_ms = Vec::new();
    let mut resident_mib = Vec::new();
    for number in 0..choices.pairs.max(LEAST_RUNS) {
        let finished = fathom(command, number, &choices.directory)?;
        user_ms.push(finished.user.as_secs_f64() * 1e3);
        resident_mib.push(finished.max_resident_bytes as f64 / f64::from(1 << 20));
    }
    let row = |unit, ours, most| Row {
        what: command.what.to_owned(),
        unit,
        ours,
        peer: Vec::new(),
        peer_name: String::new(),
        goal: Goal::AtMost(most),
    };
    Ok([
        row("ms user", user_ms, command.user_ms),
        row("MiB", resident_mib, command.resident_mib),
    ])
}

fn fathom(command: &Measured, number: usize, directory: &Path) -> Result<Finished> {
    let mut words: Vec<String> = command.words.iter().map(|&word| word.to_owned()).collect();
    if words.last().is_some_and(|word| word == "--name") {
        words.push(format!("merged-{number}"));
    }
    let mut program = Program::new(ours::binary()?).args(words);
    program.directory = Some(directory.to_path_buf());
    let data = directory.join("reports-data");
    program.environment = vec![("FATHOM_DATA".into(), data.into())];
    program.timeout = Nanos::from_secs(120);
    program.output_limit = 256 << 20;
    let finished = run(&program, &Cancel::new()).context("run fathom")?;
    if !finished.is_success() {
        let errors = finished.stderr_text();
        bail!("{}: {:?}: {errors}", program.command_line(), finished.end);
    }
    Ok(finished)
}

/// A result file of the Phoronix Test Suite, the same for the same seed: three trials an entry; of
/// every ten results one is lower is better and two are the second metric of a run.
fn composite((results, systems): (u32, u32), seed: u64) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<!--Phoronix Test Suite v10.8.6-->\n<PhoronixTestSuite>\n  \
         <Generated>\n    <Title>Made for measuring</Title>\n    \
         <LastModified>2026-01-01 00:00:00</LastModified>\n    \
         <TestClient>Phoronix Test Suite v10.8.6</TestClient>\n    \
         <Description>Numbers nobody measured.</Description>\n  </Generated>\n",
    );
    for system in 0..systems {
        push_system(&mut text, system);
    }
    let mut random = SplitMix64::new(seed);
    for result in 0..results {
        push_result(&mut text, result, systems, &mut random);
    }
    text.push_str("</PhoronixTestSuite>\n");
    text
}

fn push_system(text: &mut String, system: u32) {
    // Writing to a text does not fail.
    let _ = write!(
        text,
        "  <System>\n    <Identifier>System {system} EXT4 RAID{}</Identifier>\n    \
         <Hardware>Processor: AMD EPYC 7601 32-Core @ 2.20GHz (32 Cores / 64 Threads), \
         Motherboard: TYAN B8026T70AE24HR, Memory: 126GB, Disk: {}GB Disk {system}</Hardware>\n    \
         <Software>OS: Ubuntu 22.04, Kernel: 6.{system}.0 (x86_64), Compiler: GCC 11.4.0, \
         File-System: ext4</Software>\n    <User>user</User>\n    \
         <TimeStamp>2026-01-01 00:00:{:02}</TimeStamp>\n    \
         <TestClientVersion>10.8.6</TestClientVersion>\n    <Notes></Notes>\n    \
         <JSON>{{\"disk-scheduler\":\"NONE\",\"disk-mount-options\":\"relatime,rw\"}}</JSON>\n  \
         </System>\n",
        system % 2,
        120 + system,
        system % 60
    );
}

fn push_result(text: &mut String, result: u32, systems: u32, random: &mut SplitMix64) {
    let (scale, proportion) = match result % 10 {
        9 => ("Seconds", "LIB"),
        1 | 6 => ("IOPS", "HIB"),
        _ => ("MB/s", "HIB"),
    };
    // The second metric of a run has the options of the first.
    let run = result - u32::from(scale == "IOPS");
    let _ = write!(
        text,
        "  <Result>\n    <Identifier>pts/fio-2.1.{}</Identifier>\n    \
         <Title>Flexible IO Tester</Title>\n    <AppVersion>3.{}</AppVersion>\n    \
         <Arguments>randread io_uring 1 {run}k 1</Arguments>\n    \
         <Description>Type: Random Read - Engine: IO_uring - Direct: Yes - Block Size: {run}KB - \
         Job Count: 1 - Disk Target: Default Test Directory</Description>\n    \
         <Scale>{scale}</Scale>\n    <Proportion>{proportion}</Proportion>\n    \
         <DisplayFormat>BAR_GRAPH</DisplayFormat>\n    <Data>\n",
        result % 3,
        run / 50
    );
    for system in 0..systems {
        push_entry(text, system, random);
    }
    text.push_str("    </Data>\n  </Result>\n");
}

fn push_entry(text: &mut String, system: u32, random: &mut SplitMix64) {
    let level = 100.0 + f64::from(system) * 17.0 + random.below(5000) as f64;
    let trials: Vec<f64> = (0..3)
        .map(|_| level * (0.98 + random.below(4000) as f64 / 1e5))
        .collect();
    let mean = trials.iter().sum::<f64>() / 3.0;
    let texts: Vec<String> = trials.iter().map(|trial| format!("{trial:.2}")).collect();
    let _ = write!(
        text,
        "      <Entry>\n        <Identifier>System {system} EXT4 RAID{}</Identifier>\n        \
         <Value>{mean:.2}</Value>\n        <RawString>{}</RawString>\n        \
         <JSON>{{\"compiler-options\":{{\"compiler-type\":\"CC\",\"compiler\":\"gcc\",\
         \"compiler-options\":\"-O3 -lm -laio -lpthread\"}},\
         \"test-run-times\":\"20.11:20.09:20.14\"}}</JSON>\n      </Entry>\n",
        system % 2,
        texts.join(":")
    );
}

//! `cargo xtask accuracy`: Fathom, and fio beside it, against answers that are known.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{fio_version, our_binary, our_example};
use crate::device::{Device, Model};
use crate::run::{cargo, insist, is_root, output, root};

/// A part of the table.
type Part = fn(&Bench) -> Result<()>;

const PARTS: [(&str, Part); 6] = [
    ("freeze", freeze),
    ("rates", rates),
    ("bimodal", bimodal),
    ("faults", faults),
    ("cost", cost),
    ("pairs", pairs),
];

/// Where the parts work and what runs.
struct Bench {
    directory: PathBuf,
    fathom: PathBuf,
    fio: Option<String>,
}

/// Runs the parts named (all when none is) and prints their tables.
pub fn accuracy(words: &[&str]) -> Result<()> {
    if let Some(word) = words.iter().find(|w| PARTS.iter().all(|(n, _)| n != *w)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        bail!("unknown part {word}; known are {}", names.join(", "));
    }
    if !is_root() {
        bail!("mounting the known-answer device and loop devices needs root");
    }
    insist(cargo(&["build", "--release", "-p", "fathom-cli"]))?;
    insist(cargo(&[
        "build",
        "--release",
        "-p",
        "fathom-io",
        "--example",
        "bench",
    ]))?;
    let directory = root().join("target/accuracy");
    std::fs::create_dir_all(&directory).context("make the scratch directory")?;
    let bench = Bench {
        directory,
        fathom: our_binary()?,
        fio: fio_version(),
    };
    println!("load average {}", load_average());
    for (name, part) in PARTS {
        if words.is_empty() || words.contains(&name) {
            println!("\n{name}");
            part(&bench)?;
        }
    }
    println!("\nload average {}", load_average());
    Ok(())
}

fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// Values of one trial.
struct Trial(Value);

impl Trial {
    fn of(text: &str) -> Result<Self> {
        let result: Value = serde_json::from_str(text).context("read Fathom's JSON")?;
        let trial = result.pointer("/runs/0/trials/0").context("a trial")?;
        if let Some(error) = trial.get("error").and_then(Value::as_str) {
            bail!("the trial failed: {error}");
        }
        Ok(Self(trial.clone()))
    }

    fn value(&self, metric: &str) -> Result<f64> {
        let value = self.0.pointer(&format!("/values/{metric}"));
        let number = value.and_then(|v| v.as_f64().or_else(|| v.as_str()?.parse().ok()));
        number.with_context(|| format!("no {metric} in {}", self.0["values"]))
    }
}

impl Bench {
    fn fathom(&self, target: &Path, options: &str) -> Command {
        let mut command = Command::new(&self.fathom);
        command.args(["run", "io", "--quiet", "--json", "--min-trials", "1"]);
        command.args(["--max-trials", "1", "--name", "accuracy", "--seed", "1"]);
        command.arg("--target").arg(target);
        command.arg("--destroy").arg(target);
        command.args(options.split_whitespace().flat_map(|option| ["-o", option]));
        command.env("FATHOM_DATA", self.directory.join("data"));
        command
    }

    fn trial(&self, target: &Path, options: &str) -> Result<Trial> {
        let _ = std::fs::remove_dir_all(self.directory.join("data"));
        Trial::of(&output(self.fathom(target, options))?)
    }

    fn fio(&self, target: &Path, options: &str) -> Command {
        let mut command = Command::new("fio");
        command.args(["--output-format=json", "--name=accuracy", "--thread=1"]);
        command.arg(format!("--filename={}", target.display()));
        command.args(
            options
                .split_whitespace()
                .map(|option| format!("--{option}")),
        );
        command
    }
}

/// A percentile of fio's total latency in us.
fn fio_percentile(text: &str, side: &str, percentile: &str) -> Result<f64> {
    let start = text.find('{').context("fio printed no JSON")?;
    let document: Value = serde_json::from_str(&text[start..]).context("read fio's JSON")?;
    let path = format!("/jobs/0/{side}/lat_ns/{percentile}");
    let found = document.pointer(&path).and_then(Value::as_f64);
    Ok(found.with_context(|| format!("no {path}"))? / 1e3)
}

/// What fio calls the figures.
const FIO_FIGURES: [&str; 4] = [
    "mean",
    "percentile/50.000000",
    "percentile/99.000000",
    "percentile/99.900000",
];
const OUR_FIGURES: [&str; 4] = ["mean", "p50", "p99", "p99.9"];

fn errors(found: &[f64], truth: &[f64]) -> String {
    let cells = found.iter().zip(truth).map(|(found, truth)| {
        let error = (found / truth - 1.0) * 100.0;
        match error.abs() < 1000.0 {
            true => format!("{found:>12.0} {error:>+7.2} %"),
            false => format!("{found:>12.0}  x{:.0}", found / truth),
        }
    });
    cells.collect::<Vec<_>>().join(" ")
}

/// A file system on a loop device.
struct Loop {
    at: PathBuf,
    image: PathBuf,
}

impl Loop {
    fn ext4(directory: &Path) -> Result<Self> {
        let image = directory.join("loop.image");
        let at = directory.join("loop");
        std::fs::create_dir_all(&at)?;
        std::fs::File::create(&image)?.set_len(1 << 30)?;
        let mut make = Command::new("mkfs.ext4");
        make.args(["-q", "-F"]).arg(&image);
        output(make)?;
        let mut mount = Command::new("mount");
        mount.args(["-o", "loop"]).arg(&image).arg(&at);
        output(mount)?;
        Ok(Self { at, image })
    }

    /// A child that freezes the file system for 2 s after a while.
    fn freeze_later(&self) -> Result<Child> {
        let at = self.at.display();
        let script = format!(
            "sleep 3; fsfreeze -f {at} && date +%s%N && sleep 2; date +%s%N; fsfreeze -u {at}"
        );
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stdout(Stdio::piped());
        shell.spawn().context("start sh")
    }
}

/// Mean, p99 and p99.9 in us of 1000 a second for 6 s, of which nothing moved for as long as the
/// child says: 333, 1940 and 1994 ms for 2 s. On a busy machine the thaw comes a little late.
fn frozen_truth(freezer: Child) -> Result<[f64; 3]> {
    let said = freezer.wait_with_output().context("wait for sh")?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let times: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    let [from, to] = times[..] else {
        bail!("the file system was not frozen: {text}");
    };
    let us = (to - from) / 1e3;
    Ok([us * us / 12e6, us - 60_000.0, us - 6_000.0])
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
        let _ = std::fs::remove_file(&self.image);
    }
}

/// 1000 writes a second for 6 s, 2 s of them frozen: mean 333 ms, p99 1940 ms, p99.9 1994 ms.
fn freeze(bench: &Bench) -> Result<()> {
    let mount = Loop::ext4(&bench.directory)?;
    let file = mount.at.join("file");
    std::fs::write(&file, vec![1; 256 << 20]).context("lay the file out")?;
    println!(
        "{:<24} {:>22} {:>22} {:>22}",
        "latency, us", "mean", "p99", "p99.9"
    );
    for (engine, direct) in [
        ("io_uring", "no"),
        ("io_uring", "yes"),
        ("libaio", "yes"),
        ("psync", "no"),
        ("psync", "yes"),
        ("posixaio", "no"),
        ("mmap", "no"),
    ] {
        let options = format!(
            "rw=randwrite size=256MiB runtime=6s ramp=0s depth=32 rate=1000/s engine={engine} \
             direct={direct}"
        );
        let freezer = mount.freeze_later()?;
        let trial = bench.trial(&file, &options)?;
        let truth = frozen_truth(freezer)?;
        let found: Vec<f64> = ["mean", "p99"]
            .iter()
            .map(|p| trial.value(&format!("latency-{p}")))
            .collect::<Result<_>>()?;
        // 6000 samples are too few for a p99.9 as a metric; the histogram has it all the same.
        let tail = histogram_percentile(&trial, "write", 99.9)?;
        let found = [found[0], found[1], tail];
        println!(
            "{:<24} {}",
            format!("fathom {engine} direct={direct}"),
            errors(&found, &truth)
        );
    }
    let Some(version) = &bench.fio else {
        println!("fio is not installed");
        return Ok(());
    };
    for (engine, more) in [
        ("psync", ""),
        ("psync", "rate_process=poisson"),
        ("io_uring", "iodepth=32"),
        ("libaio", "iodepth=32 direct=1"),
    ] {
        let options = format!(
            "ioengine={engine} rw=randwrite bs=4k size=256m runtime=6 time_based=1 \
             rate_iops=1000 lat_percentiles=1 {more}"
        );
        let freezer = mount.freeze_later()?;
        let text = output(bench.fio(&file, &options))?;
        let truth = frozen_truth(freezer)?;
        let found: Vec<f64> = [FIO_FIGURES[0], FIO_FIGURES[2], FIO_FIGURES[3]]
            .iter()
            .map(|figure| fio_percentile(&text, "write", figure))
            .collect::<Result<_>>()?;
        println!(
            "{:<24} {}",
            format!("{version} {engine} {more}"),
            errors(&found, &truth)
        );
    }
    Ok(())
}

/// A percentile in us of a histogram as result files have it.
fn histogram_percentile(trial: &Trial, name: &str, percent: f64) -> Result<f64> {
    let stored = trial.0.pointer(&format!("/histograms/{name}"));
    let stored = stored.with_context(|| format!("no histogram {name}"))?;
    let histogram: fathom_stats::Histogram =
        serde_json::from_value(stored.clone()).context("read a histogram")?;
    let ns = histogram
        .percentile(percent)
        .context("an empty histogram")?;
    Ok(ns as f64 / 1e3)
}

/// The rate asked for is the rate reached.
fn rates(bench: &Bench) -> Result<()> {
    let file = bench.directory.join("rates.data");
    std::fs::write(&file, vec![1; 64 << 20]).context("lay the file out")?;
    println!(
        "{:<12} {:>12} {:>12} {:>9}",
        "engine", "asked /s", "reached /s", "off"
    );
    for engine in ["io_uring", "libaio", "psync", "posixaio", "mmap"] {
        for (rate, seconds) in [(10, 20), (100, 5), (1000, 5), (10_000, 5), (50_000, 5)] {
            let options = format!(
                "rw=randread size=64MiB runtime={seconds}s ramp=0s depth=32 rate={rate}/s \
                 engine={engine} direct=no cache=warm"
            );
            let reached = bench.trial(&file, &options)?.value("iops")?;
            let off = (reached / f64::from(rate) - 1.0) * 100.0;
            println!("{engine:<12} {rate:>12} {reached:>12.1} {off:>+7.2} %");
        }
    }
    std::fs::remove_file(&file)?;
    Ok(())
}

/// 98 % of the requests take 5 ms, 2 % 50 ms.
fn bimodal(bench: &Bench) -> Result<()> {
    const TRUTH_US: [f64; 4] = [5900.0, 5000.0, 50_000.0, 50_000.0];
    let at = bench.directory.join("device");
    std::fs::create_dir_all(&at)?;
    let model = || Ok::<Model, anyhow::Error>(Model::new("bimodal:5ms,50ms,2%".parse()?, 1));
    println!(
        "{:<24} {:>22} {:>22} {:>22} {:>22}",
        "latency, us", "mean", "p50", "p99", "p99.9"
    );
    for (engine, depth) in [("io_uring", 16), ("libaio", 16), ("psync", 1)] {
        // A trial of one at a time needs more of it for its p99.9.
        let seconds = if depth == 1 { 70 } else { 12 };
        let device = Device::mount(&at, 256 << 20, model()?)?;
        let options = format!(
            "rw=randread size=256MiB runtime={seconds}s ramp=0s depth={depth} direct=yes \
             engine={engine}"
        );
        let trial = bench.trial(&device.file(), &options)?;
        let found: Vec<f64> = OUR_FIGURES
            .iter()
            .map(|figure| trial.value(&format!("latency-{figure}")))
            .collect::<Result<_>>()?;
        let name = format!("fathom {engine} depth {depth}");
        println!("{name:<24} {}", errors(&found, &TRUTH_US));
        drop(device);
        let Some(version) = &bench.fio else { continue };
        let device = Device::mount(&at, 256 << 20, model()?)?;
        let options = format!(
            "ioengine={engine} rw=randread bs=4k size=256m runtime={seconds} time_based=1 \
             iodepth={depth} direct=1 lat_percentiles=1"
        );
        let text = output(bench.fio(&device.file(), &options))?;
        let found: Vec<f64> = FIO_FIGURES
            .iter()
            .map(|figure| fio_percentile(&text, "read", figure))
            .collect::<Result<_>>()?;
        let name = format!("{version} {engine} depth {depth}");
        println!("{name:<24} {}", errors(&found, &TRUTH_US));
    }
    Ok(())
}

/// A thousand writes done wrongly are found as what they are; sound ones give no alarm.
fn faults(bench: &Bench) -> Result<()> {
    const BLOCKS: u64 = 40_000;
    let at = bench.directory.join("device");
    std::fs::create_dir_all(&at)?;
    let model = Model::new("constant:0ns".parse()?, 1);
    let device = Device::mount(&at, BLOCKS * 4096, model)?;
    let options = format!(
        "rw=write size={}B runtime=none passes=1 ramp=0s depth=16 direct=yes verify=on",
        BLOCKS * 4096
    );
    let sound = bench.trial(&device.file(), &options)?;
    println!("sound    {}", sound.0["evidence"]["verify"]);
    device.fault_every(20);
    let faulty = bench.trial(&device.file(), &options)?;
    let [lost, torn, misdirected, flipped] = device.injected();
    println!(
        "injected {} of {BLOCKS} writes: {lost} lost, {torn} torn, {misdirected} misdirected, \
         {flipped} flipped",
        lost + torn + misdirected + flipped
    );
    println!("found    {}", faulty.0["evidence"]["verify"]["faults"]);
    println!("         (a misdirected write leaves its own place stale, too)");
    println!("verdict  {}", faulty.0["verdict"]["level"]);
    Ok(())
}

/// Pairs of runs of the same thing, and of a thing that is 5 % slower: how often Fathom says so.
fn pairs(bench: &Bench) -> Result<()> {
    const PAIRS: usize = 20;
    let at = bench.directory.join("device");
    std::fs::create_dir_all(&at)?;
    let mut found = 0;
    for _ in 0..PAIRS {
        for (name, service) in [("fast", "bucket:1000/s,1"), ("slow", "bucket:950/s,1")] {
            let device = Device::mount(&at, 64 << 20, Model::new(service.parse()?, 1))?;
            bench.repeated(&device.file(), name, "size=64MiB direct=yes depth=4")?;
        }
        found += usize::from(
            bench
                .answers("fast", "slow")?
                .contains(&"slower".to_owned()),
        );
    }
    println!("rate cap of 5 %: {found} of {PAIRS} pairs called slower");
    let mut wrong = 0;
    let mut all = 0;
    for _ in 0..PAIRS {
        for name in ["one", "other"] {
            bench.repeated(&bench.directory, name, "size=128MiB direct=yes depth=8")?;
        }
        let answers = bench.answers("one", "other")?;
        all += answers.len();
        wrong += answers
            .iter()
            .filter(|a| ["faster", "slower"].contains(&a.as_str()))
            .count();
    }
    println!("A/A on this disk: {wrong} of {all} answers of {PAIRS} pairs called faster or slower");
    Ok(())
}

impl Bench {
    /// Five short trials of random reads, saved under a name.
    fn repeated(&self, target: &Path, name: &str, options: &str) -> Result<()> {
        let mut command = Command::new(&self.fathom);
        command.args(["run", "io", "--quiet", "--json", "--min-trials", "5"]);
        command.args(["--max-trials", "5", "--name", name, "--system", name]);
        command.arg("--target").arg(target);
        command.args([
            "-o",
            "rw=randread",
            "-o",
            "runtime=500ms",
            "-o",
            "ramp=100ms",
        ]);
        command.args(options.split_whitespace().flat_map(|option| ["-o", option]));
        command.env("FATHOM_DATA", self.directory.join(format!("data-{name}")));
        let _ = std::fs::remove_dir_all(self.directory.join(format!("data-{name}")));
        let text = output(command)?;
        std::fs::write(self.directory.join(format!("{name}.json")), text)?;
        Ok(())
    }

    /// What Fathom says of two results.
    fn answers(&self, one: &str, other: &str) -> Result<Vec<String>> {
        let mut command = Command::new(&self.fathom);
        command.args(["compare", "--json"]);
        for name in [one, other] {
            command.arg(self.directory.join(format!("{name}.json")));
        }
        command.env("FATHOM_DATA", self.directory.join("data"));
        let document: Value = serde_json::from_str(&output(command)?)?;
        let mut answers = Vec::new();
        collect_answers(&document["rows"], &mut answers);
        Ok(answers)
    }
}

fn collect_answers(value: &Value, answers: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|one| collect_answers(one, answers)),
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::String(answer) if name == "answer" => answers.push(answer.clone()),
                    Value::Object(answer) if name == "answer" => {
                        answers.extend(answer.keys().cloned());
                    }
                    other => collect_answers(other, answers),
                }
            }
        }
        _ => {}
    }
}

/// What the open loop costs beyond the null engine's own time.
fn cost(bench: &Bench) -> Result<()> {
    let run = |pace: &str| -> Result<f64> {
        let mut command = Command::new(our_example()?);
        command
            .args([
                "engine=null",
                "rw=randread",
                "size=1GiB",
                "depth=32",
                "runtime=2s",
                pace,
            ])
            .current_dir(&bench.directory)
            .stdin(Stdio::null());
        let line: Value = serde_json::from_str(&output(command)?)?;
        let iops = line.get("iops").and_then(Value::as_f64).context("iops")?;
        Ok(1e9 / iops)
    };
    for _ in 0..5 {
        let (plain, open) = (run("pace=unpaced")?, run("pace=open:1000000000/s")?);
        println!(
            "null engine {plain:.1} ns, open loop {open:.1} ns, more {:.1} ns",
            open - plain
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

//! `cargo xtask test`: everything CI asks for, in the order that fails soonest.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::generate;
use crate::run::{cargo, has_program, insist, is_root};

/// Programs the full run compares with or needs: program, Debian package, what for.
const PEERS: [(&str, &str, &str); 20] = [
    (
        "fio",
        "fio",
        "io, implementation program; comparison of engines",
    ),
    ("sqlite3", "sqlite3", "sqlite, implementation program"),
    ("pgbench", "postgresql", "pgbench over a server of its own"),
    (
        "mariadbd",
        "mariadb-server-core",
        "mariadb-slap, sysbench-oltp",
    ),
    ("mariadb-slap", "mariadb-client", "mariadb-slap"),
    ("sysbench", "sysbench", "sysbench-oltp, sysbench-fileio"),
    ("ioping", "ioping", "ioping"),
    ("dbench", "dbench", "dbench, implementation program"),
    ("fs_mark", "fsmark", "fs-mark, implementation program"),
    ("postmark", "postmark", "postmark, implementation program"),
    ("hdparm", "hdparm", "hdparm-read, implementation program"),
    ("strace", "strace", "counting the system calls of a trial"),
    ("mkfs.ext4", "e2fsprogs", "file systems on loop devices"),
    ("mkfs.xfs", "xfsprogs", "file systems on loop devices"),
    ("mkfs.btrfs", "btrfs-progs", "file systems on loop devices"),
    ("sfdisk", "fdisk", "a partition table that must be refused"),
    ("pvcreate", "lvm2", "a volume that must be refused"),
    ("mdadm", "mdadm", "an array that must be refused"),
    ("pdftotext", "poppler-utils", "the text of PDF reports"),
    (
        "clickhouse-server",
        "clickhouse-server",
        "driver of ClickHouse",
    ),
];

/// The native drivers of databases, which no default build has.
const DRIVERS: [&str; 4] = ["--package", "fathom-profiles", "--features", "sql,nosql"];

/// Runs everything; the last lines are cargo test's (of the examples in the documentation).
pub fn test() -> Result<()> {
    install_peers();
    insist(cargo(&["fmt", "--all", "--check"]))?;
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    insist(cargo(&clippy))?;
    insist(cargo(
        &[
            &["clippy"][..],
            &DRIVERS[..],
            &["--all-targets", "--", "-D", "warnings"],
        ]
        .concat(),
    ))?;
    insist(cargo(&[
        "build",
        "--package",
        "fathom-cli",
        "--features",
        "export",
    ]))?;
    insist(cargo(&["build", "--package", "fathom-cli"]))?;
    generate::check()?;
    // One command for both tiers: tests of the full one are marked `ignored`.
    let tests = [
        "test",
        "--workspace",
        "--lib",
        "--bins",
        "--tests",
        "--examples",
        "--no-fail-fast",
    ];
    let mut skipped = count_skipped(cargo(&[&tests[..], &["--", "--include-ignored"]].concat()))?;
    let drivers = [&["test"][..], &DRIVERS[..], &["--lib", "--test", "drivers"]].concat();
    skipped.extend(count_skipped(cargo(&drivers))?);
    report_skipped(&skipped)?;
    insist(cargo(&["test", "--workspace", "--doc"]))
}

/// Runs the tests with their output on our terminal and collects why any were skipped.
fn count_skipped(mut command: Command) -> Result<Vec<String>> {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .context("start cargo test")?;
    let pipe = child.stderr.take().context("read what the tests say")?;
    let mut skipped = Vec::new();
    for line in BufReader::new(pipe).split(b'\n') {
        let line = line.context("read what the tests say")?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        // Lines of tests that run at once may stand behind each other.
        let reasons = line.split("SKIPPED: ").skip(1);
        skipped.extend(reasons.map(|reason| reason.trim().to_owned()));
    }
    let status = child.wait().context("wait for cargo test")?;
    match status.success() {
        true => Ok(skipped),
        false => bail!("cargo test: {status}"),
    }
}

/// Says what was skipped; a peer that is installed is no reason to skip.
fn report_skipped(skipped: &[String]) -> Result<()> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in skipped {
        *counts.entry(reason).or_default() += 1;
    }
    eprintln!("xtask: {} skipped", skipped.len());
    for (reason, count) in &counts {
        eprintln!("xtask:   {count} x {reason}");
    }
    let wrongly = PEERS.into_iter().find(|(program, ..)| {
        has_program(program) && counts.contains_key(format!("{program} is not installed").as_str())
    });
    match wrongly {
        Some((program, ..)) => bail!("tests were skipped for want of {program}, which is here"),
        None => Ok(()),
    }
}

/// Installs what is missing, as root; says what stays missing. Never fails: a test that lacks its
/// peer says SKIPPED.
fn install_peers() {
    let missing = || -> Vec<_> {
        PEERS
            .into_iter()
            .filter(|(program, ..)| !has_program(program))
            .collect()
    };
    let packages: Vec<&str> = missing().iter().map(|(_, package, _)| *package).collect();
    if !packages.is_empty() && is_root() && has_program("apt-get") && !install(&packages) {
        // The lists may be old; once more with new ones.
        apt_get(&["update", "-q"]);
        install(&packages);
    }
    for (program, package, use_for) in missing() {
        eprintln!(
            "xtask: {program} is missing (package {package}): {use_for}; its tests are SKIPPED"
        );
    }
}

fn install(packages: &[&str]) -> bool {
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(packages);
    apt_get(&arguments)
}

fn apt_get(arguments: &[&str]) -> bool {
    eprintln!("xtask: apt-get {}", arguments.join(" "));
    Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

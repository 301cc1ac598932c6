//! `cargo xtask test`: everything CI asks for, in the order that fails soonest.

use std::process::{Command, Stdio};

use anyhow::Result;

use crate::generate;
use crate::run::{cargo, has_program, insist, is_root};

/// Programs the full run compares with or needs: program, Debian package, what for.
const PEERS: [(&str, &str, &str); 10] = [
    (
        "fio",
        "fio",
        "io, implementation program; comparison of engines",
    ),
    ("sqlite3", "sqlite3", "sqlite, implementation program"),
    ("strace", "strace", "counting the system calls of a trial"),
    ("mkfs.ext4", "e2fsprogs", "file systems on loop devices"),
    ("mkfs.xfs", "xfsprogs", "file systems on loop devices"),
    ("mkfs.btrfs", "btrfs-progs", "file systems on loop devices"),
    ("sfdisk", "fdisk", "a partition table that must be refused"),
    ("pvcreate", "lvm2", "a volume that must be refused"),
    ("mdadm", "mdadm", "an array that must be refused"),
    ("pdftotext", "poppler-utils", "the text of PDF reports"),
];

/// Runs everything; the last lines are cargo test's.
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
    insist(cargo(&["test", "--workspace", "--", "--include-ignored"]))
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

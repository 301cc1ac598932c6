//! What this binary can do: the tests, the suites and the references it ships with.

use std::ffi::OsStr;
use std::path::Path;

use fathom_model::merge::merge;
use fathom_runner::suite::Suites;
use fathom_runner::{Keeper, Registry};
use fathom_store::Store;

use crate::failure::Failure;

/// Suites in the binary: file name and text.
pub const SUITES: [(&str, &str); 10] = [
    ("quick.toml", include_str!("../../../suites/quick.toml")),
    ("disk.toml", include_str!("../../../suites/disk.toml")),
    (
        "snia-iops.toml",
        include_str!("../../../suites/snia-iops.toml"),
    ),
    (
        "snia-throughput.toml",
        include_str!("../../../suites/snia-throughput.toml"),
    ),
    (
        "snia-latency.toml",
        include_str!("../../../suites/snia-latency.toml"),
    ),
    (
        "snia-wsat.toml",
        include_str!("../../../suites/snia-wsat.toml"),
    ),
    (
        "seed-epyc-raid-2017.toml",
        include_str!("../../../suites/seed-epyc-raid-2017.toml"),
    ),
    (
        "seed-optane-2017.toml",
        include_str!("../../../suites/seed-optane-2017.toml"),
    ),
    (
        "seed-nvme-2018.toml",
        include_str!("../../../suites/seed-nvme-2018.toml"),
    ),
    (
        "seed-ssd-2024.toml",
        include_str!("../../../suites/seed-ssd-2024.toml"),
    ),
];

/// All tests, native ones first; programs are looked up in `search_path`.
pub fn tests(search_path: &OsStr) -> Registry {
    let mut tests = fathom_workloads::native_tests();
    tests.extend(fathom_profiles::program_tests(search_path));
    Registry::new(tests)
}

/// Where runs are kept, and how one is added to a saved result.
pub fn keeper(store: &Store) -> Keeper<'_> {
    Keeper {
        store,
        merge: &|saved, added| merge(&[saved, added]),
    }
}

/// The suites in the binary, and a person's own in `directory`.
///
/// # Errors
/// When the directory cannot be read.
pub fn suites(directory: Option<&Path>) -> Result<Suites, Failure> {
    Ok(Suites::load(&SUITES, directory)?)
}

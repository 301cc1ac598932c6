//! What this binary can do: the tests, the suites and the references it ships with.

use std::path::{Path, PathBuf};

use fathom_model::merge::merge;
use fathom_profiles::profile::Profile;
use fathom_profiles::{OwnCommand, Profiles};
use fathom_runner::suite::Suites;
use fathom_runner::{Keeper, Registry};
use fathom_store::Store;

use crate::failure::Failure;
use crate::settings::Settings;
use crate::trust;

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

/// All tests, and the profiles among them.
pub struct Tests {
    /// The tests.
    pub registry: Registry,
    /// Those that are profiles.
    pub profiles: Profiles,
}

/// All tests, native ones first, then programs, built-in profiles, a person's own, those in `files`,
/// and those that were trusted before, which a saved result may need.
///
/// # Errors
/// When a file that was named cannot be used.
pub fn tests(settings: &Settings, files: &[PathBuf]) -> Result<Tests, Failure> {
    let search_path = &settings.search_path;
    let mut tests = fathom_workloads::native_tests();
    tests.extend(fathom_profiles::program_tests(search_path));
    tests.push(Box::new(OwnCommand::new(search_path)));
    let mut profiles = Profiles::built_in()?;
    profiles.reserve(tests.iter().map(|test| test.id()));
    for file in files {
        profiles.add(Profile::read(file)?)?;
    }
    if let Some(directory) = &settings.profiles {
        profiles.add_directory(directory)?;
    }
    if let Ok(data) = settings.data() {
        profiles.add_missing(&trust::directory(data));
    }
    tests.extend(profiles.tests(search_path));
    Ok(Tests {
        registry: Registry::new(tests),
        profiles,
    })
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

/// The file of a profile, when a name means one rather than a test, suite or result.
pub fn profile_file(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let is_toml = path
        .extension()
        .is_some_and(|extension| extension == "toml");
    (is_toml && path.is_file()).then(|| path.to_path_buf())
}

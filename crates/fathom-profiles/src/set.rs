use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::{BaseError, IoContext};
use fathom_model::Test;

use crate::profile::{Profile, ProfileFileError};
use crate::test::ProfileTest;

/// The most profiles that are read from a person's directory.
const FILES_LIMIT: usize = 1000;

macro_rules! profile {
    ($file:literal) => {
        ($file, include_str!(concat!("../../../profiles/", $file)))
    };
}

/// Profiles in the binary: file name and text.
pub const BUILT_IN: &[(&str, &str)] = &[
    profile!("build-gcc.toml"),
    profile!("build-linux-kernel.toml"),
    profile!("build-llvm.toml"),
    profile!("cassandra.toml"),
    profile!("clickhouse-hits.toml"),
    profile!("cockroach-kv.toml"),
    profile!("mariadb-slap.toml"),
    profile!("pgbench.toml"),
    profile!("sysbench-oltp.toml"),
    profile!("bonnie.toml"),
    profile!("fio-program.toml"),
    profile!("hdparm-program.toml"),
    profile!("ioping.toml"),
    profile!("iozone-program.toml"),
    profile!("sqlite3-program.toml"),
    profile!("sysbench-fileio.toml"),
];

/// The profiles at hand: built-in ones and a person's own.
#[derive(Debug, Default)]
pub struct Profiles {
    known: Vec<Known>,
    /// Names of tests that are no profiles.
    reserved: Vec<String>,
    broken: Vec<(String, ProfileFileError)>,
}

#[derive(Debug)]
struct Known {
    profile: Arc<Profile>,
    /// Whether it came with the binary.
    is_built_in: bool,
}

impl Profiles {
    /// Those in the binary.
    ///
    /// # Errors
    /// [`ProfileFileError`] when one is broken, which a test of this crate excludes.
    pub fn built_in() -> Result<Self, ProfileFileError> {
        let mut all = Self::default();
        for (file, text) in BUILT_IN {
            all.known.push(Known {
                profile: Arc::new(Profile::parse(file, text)?),
                is_built_in: true,
            });
        }
        Ok(all)
    }

    /// Adds every `*.toml` of a directory. A broken file is only an error when its test is asked
    /// for; see [`Profiles::broken`].
    ///
    /// # Errors
    /// When the directory cannot be read; one that does not exist is an empty one.
    pub fn add_directory(&mut self, directory: &Path) -> Result<(), BaseError> {
        for path in toml_files(directory)? {
            if let Err(error) = Profile::read(&path).and_then(|profile| self.add(profile)) {
                let stem = path.file_stem().unwrap_or_default();
                self.broken
                    .push((stem.to_string_lossy().into_owned(), error));
            }
        }
        Ok(())
    }

    /// Adds the profiles of a directory whose names are free, and nothing of what cannot be read:
    /// copies that are only needed for saved results.
    pub fn add_missing(&mut self, directory: &Path) {
        for path in toml_files(directory).unwrap_or_default() {
            // What is broken or taken is not needed.
            let _ = Profile::read(&path).and_then(|profile| self.add(profile));
        }
    }

    /// Keeps names for tests that are no profiles.
    pub fn reserve<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) {
        self.reserved.extend(names.into_iter().map(Into::into));
    }

    /// Adds a person's own.
    ///
    /// # Errors
    /// [`ProfileFileError::Taken`] when there is a test of that name, so that nothing can take a
    /// built-in test's place. The same content again is no error.
    pub fn add(&mut self, profile: Profile) -> Result<(), ProfileFileError> {
        let same = self.get(&profile.id);
        if same.is_some_and(|known| known.content_hash == profile.content_hash) {
            return Ok(());
        }
        if same.is_some() || self.reserved.contains(&profile.id) {
            return Err(ProfileFileError::Taken {
                file: profile.file,
                id: profile.id,
            });
        }
        self.known.push(Known {
            profile: Arc::new(profile),
            is_built_in: false,
        });
        Ok(())
    }

    /// A profile by its id.
    pub fn get(&self, id: &str) -> Option<&Arc<Profile>> {
        let mut all = self.known.iter();
        all.find(|known| known.profile.id == id)
            .map(|known| &known.profile)
    }

    /// A profile that did not come with the binary, by its id.
    pub fn foreign(&self, id: &str) -> Option<&Arc<Profile>> {
        let mut all = self.known.iter().filter(|known| !known.is_built_in);
        all.find(|known| known.profile.id == id)
            .map(|known| &known.profile)
    }

    /// The files that cannot be used: name without `.toml`, and why.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &ProfileFileError)> {
        self.broken
            .iter()
            .map(|(name, error)| (name.as_str(), error))
    }

    /// The tests; programs are looked up in `search_path`.
    pub fn tests(&self, search_path: &OsStr) -> Vec<Box<dyn Test>> {
        let all = self.known.iter();
        all.flat_map(|known| ProfileTest::of(&known.profile, search_path))
            .map(|test| Box::new(test) as Box<dyn Test>)
            .collect()
    }
}

/// The files of a directory that end in `.toml`, sorted by name.
fn toml_files(directory: &Path) -> Result<Vec<PathBuf>, BaseError> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.at("list", directory)?,
    };
    let mut files = Vec::new();
    for entry in entries.take(FILES_LIMIT) {
        let path = entry.at("list", directory)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

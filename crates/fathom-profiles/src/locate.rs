//! Where programs are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fathom_base::process::{Program, find_program, run};
use fathom_base::{Cancel, Nanos};

use crate::profile::{ProgramSpec, VersionSpec};

/// Where system programs are, which a person's search path may not name.
const SYSTEM: &str = "/usr/local/sbin:/usr/sbin:/sbin";
/// Directories looked at for one `*`.
const ENTRIES_LIMIT: usize = 10_000;
const VERSION_LIMIT: usize = 64;

/// A program, in the places first, then in the search path, then where system programs are. An
/// empty search path is a wish to find nothing.
pub(crate) fn locate(name: &str, places: &[String], search_path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        return find_program(name, search_path);
    }
    if search_path.is_empty() {
        return None;
    }
    let in_places = places
        .iter()
        .flat_map(|place| directories(place))
        .find_map(|directory| find_program(name, directory.as_os_str()));
    in_places
        .or_else(|| find_program(name, search_path))
        .or_else(|| find_program(name, &OsString::from(SYSTEM)))
}

/// The directories that a place means: a `*` stands for one name, of several the highest number
/// goes first (`/usr/lib/postgresql/*/bin`).
pub(crate) fn directories(place: &str) -> Vec<PathBuf> {
    let mut all = vec![PathBuf::from("/")];
    for part in place.split('/').filter(|part| !part.is_empty()) {
        let next = |directory: PathBuf| match part {
            "*" => names(&directory),
            part => vec![directory.join(part)],
        };
        all = all.into_iter().flat_map(next).collect();
    }
    all.retain(|directory| directory.is_dir());
    all
}

/// What exists at a path in which a `*` stands for one name, the highest number first.
pub(crate) fn matching(path: &str) -> Vec<PathBuf> {
    let Some((parent, last)) = path.rsplit_once('/') else {
        return Vec::new();
    };
    let of = |directory: PathBuf| match last.split_once('*') {
        None => vec![directory.join(last)],
        Some((begin, end)) => {
            let fits = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.len() >= begin.len() + end.len()
                    && name.starts_with(begin)
                    && name.ends_with(end)
            };
            names(&directory).into_iter().filter(fits).collect()
        }
    };
    let mut all: Vec<PathBuf> = directories(parent).into_iter().flat_map(of).collect();
    all.retain(|path| path.exists());
    all
}

fn names(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .take(ENTRIES_LIMIT)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort_by_key(|path| std::cmp::Reverse(version_key(path)));
    paths
}

/// Numbers in a name compare as numbers: 9.6 before 15.
fn version_key(path: &Path) -> (Vec<u64>, PathBuf) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let numbers = name.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter_map(|part| part.parse().ok()).collect();
    (numbers, path.to_path_buf())
}

/// What a program says its version is; empty when it says nothing that fits.
pub(crate) fn version_of(path: &Path, spec: &VersionSpec) -> String {
    let mut program = Program::new(path).args(&spec.arguments);
    program.timeout = Nanos::from_secs(20);
    program.environment = vec![("LC_ALL".into(), "C".into())];
    program.output_limit = 64 << 10;
    let Ok(finished) = run(&program, &Cancel::new()) else {
        return String::new();
    };
    let text = format!("{}\n{}", finished.stdout_text(), finished.stderr_text());
    let found = spec.regex.captures(&text).and_then(|found| found.get(1));
    let version = found.map_or("", |found| found.as_str().trim());
    let is_plain = version.len() <= VERSION_LIMIT && !version.contains('\n');
    if is_plain {
        version.to_owned()
    } else {
        String::new()
    }
}

impl ProgramSpec {
    /// Where it is.
    pub(crate) fn locate(&self, search_path: &OsStr) -> Option<PathBuf> {
        locate(&self.name, &self.places, search_path)
    }
}

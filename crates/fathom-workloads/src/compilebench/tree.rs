use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};

use fathom_model::TestError;
use fathom_model::definition::compilebench::TreeFile;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};

use crate::classic::{Places, Root, Watch};

/// What is in a directory, in the file system's own order.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: Vec<CString>,
    pub(super) directories: Vec<CString>,
}

/// Lists a directory below the root; links count as files.
pub(super) fn list(root: &Root, name: &CStr) -> Result<Listing, TestError> {
    let failed = |errno| root.error("listing", name, errno);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let directory = root.open_file(name, flags, Mode::empty())?;
    let mut listing = Listing::default();
    for entry in Dir::read_from(&directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let own = entry.file_name();
        if matches!(own.to_bytes(), b"." | b"..") {
            continue;
        }
        let path = joined(name, own.to_bytes());
        let kind = match entry.file_type() {
            // Some file systems do not tell here.
            FileType::Unknown => {
                let stat = rustix::fs::statat(&directory, own, AtFlags::SYMLINK_NOFOLLOW)
                    .map_err(failed)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        match kind {
            FileType::Directory => listing.directories.push(path),
            _ => listing.files.push(path),
        }
    }
    Ok(listing)
}

/// `directory/name`; neither has a zero byte.
fn joined(directory: &CStr, name: &[u8]) -> CString {
    let mut path = directory.to_bytes().to_vec();
    path.push(b'/');
    path.extend_from_slice(name);
    CString::new(path).unwrap_or_default()
}

/// Visits all directories, each before those in it.
pub(super) fn walk(
    root: &Root,
    top: &CStr,
    watch: Watch<'_>,
    visit: &mut dyn FnMut(&CStr, &Listing) -> Result<(), TestError>,
) -> Result<(), TestError> {
    let mut waiting = vec![top.to_owned()];
    while let Some(directory) = waiting.pop() {
        watch.check_now()?;
        let listing = list(root, &directory)?;
        visit(&directory, &listing)?;
        // The first of them comes next.
        waiting.extend(listing.directories.into_iter().rev());
    }
    Ok(())
}

/// The name of a tree.
pub(super) fn tree_name(number: u64) -> CString {
    CString::new(format!("kernel-{number}")).unwrap_or_default()
}

/// A file of a tree with its whole name, and the directories to make before it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) directories: Vec<CString>,
    pub(super) path: CString,
    pub(super) size: u64,
}

/// All files of a tree in order, with names below the root. A directory is made before the first
/// file in it.
pub(super) fn steps(tree: &CStr, files: &[TreeFile]) -> Vec<Step> {
    let mut seen: HashSet<&str> = HashSet::new();
    files
        .iter()
        .map(|file| {
            let mut missing = Vec::new();
            let mut rest = file.path.as_str();
            while let Some((directory, _)) = rest.rsplit_once('/') {
                if !seen.insert(directory) {
                    break;
                }
                missing.push(joined(tree, directory.as_bytes()));
                rest = directory;
            }
            missing.reverse();
            Step {
                directories: missing,
                path: joined(tree, file.path.as_bytes()),
                size: file.size,
            }
        })
        .collect()
}

/// Puts files into the order in which this file system lists them: the names are made once, empty,
/// listed and removed.
pub(super) fn native_order(
    root: &Root,
    files: &[TreeFile],
    watch: Watch<'_>,
) -> Result<Vec<TreeFile>, TestError> {
    let top = c"native-0";
    let mut sorted: Vec<TreeFile> = files.to_vec();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut places = Places::new(root);
    places.need_directory(top, DIRECTORY_MODE)?;
    for step in steps(top, &sorted) {
        for directory in &step.directories {
            places.need_directory(directory, DIRECTORY_MODE)?;
        }
        drop(root.open_file(&step.path, OFlags::WRONLY | OFlags::CREATE, FILE_MODE)?);
        watch.check_now()?;
    }
    let by_path: HashMap<&[u8], &TreeFile> = sorted
        .iter()
        .map(|file| (file.path.as_bytes(), file))
        .collect();
    let mut ordered = Vec::with_capacity(files.len());
    let prefix = top.to_bytes().len() + 1;
    walk(root, top, watch, &mut |_, listing| {
        for path in &listing.files {
            let own = path.to_bytes().get(prefix..).unwrap_or_default();
            if let Some(file) = by_path.get(own) {
                ordered.push((*file).clone());
            }
        }
        Ok(())
    })?;
    Root::expect("files listed", ordered.len() as u64, files.len() as u64)?;
    remove(root, top, watch, &mut |_, _| Ok(()))?;
    Ok(ordered)
}

/// Modes before the umask, as the original's.
pub(super) const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
pub(super) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o777);

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    File,
    Directory,
    Listed,
}

/// Removes a tree, directories after what is in them; `told` learns of each call.
pub(super) fn remove(
    root: &Root,
    top: &CStr,
    watch: Watch<'_>,
    told: &mut dyn FnMut(&CStr, Removed) -> Result<(), TestError>,
) -> Result<(), TestError> {
    // A directory comes once to be listed and once more, with true, when it is empty.
    let mut waiting = vec![(top.to_owned(), false)];
    let mut places = Places::new(root);
    while let Some((directory, is_empty)) = waiting.pop() {
        watch.check_now()?;
        if is_empty {
            places
                .remove_directory(&directory)
                .map_err(|errno| root.error("removing", &directory, errno))?;
            told(&directory, Removed::Directory)?;
            continue;
        }
        let listing = list(root, &directory)?;
        told(&directory, Removed::Listed)?;
        for file in &listing.files {
            places.remove_file(file)?;
            told(file, Removed::File)?;
        }
        waiting.push((directory, true));
        waiting.extend(listing.directories.into_iter().rev().map(|d| (d, false)));
    }
    Ok(())
}

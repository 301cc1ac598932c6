use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A tree of `/proc`, `/sys`, `/etc` and `/dev` written by hand, in a temporary directory.
///
/// ```
/// let root = fathom_testkit::FakeRoot::new().tree(
///     "/sys/devices/virtual/block/loop0/size = 2048\n\
///      /sys/class/block/loop0 -> ../../devices/virtual/block/loop0\n",
/// );
/// let text = std::fs::read_to_string(root.path().join("sys/class/block/loop0/size")).unwrap();
/// assert_eq!(text, "2048\n");
/// ```
#[derive(Debug)]
pub struct FakeRoot {
    directory: TempDir,
}

impl Default for FakeRoot {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeRoot {
    /// An empty tree.
    ///
    /// # Panics
    /// When no temporary directory can be made.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap_or_else(|e| panic!("temporary directory: {e}"));
        Self { directory }
    }

    /// The directory that stands for `/`.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file; the directories above it are made.
    ///
    /// # Panics
    /// When it cannot be written.
    #[must_use]
    pub fn file(self, path: &str, contents: impl AsRef<[u8]>) -> Self {
        let place = self.place(path);
        fs::write(&place, contents).unwrap_or_else(|e| panic!("write {path}: {e}"));
        self
    }

    /// Makes a directory.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn directory(self, path: &str) -> Self {
        let place = self.place(path);
        fs::create_dir_all(place).unwrap_or_else(|e| panic!("make {path}: {e}"));
        self
    }

    /// Makes a symbolic link.
    ///
    /// # Panics
    /// When it cannot be made.
    #[must_use]
    pub fn link(self, path: &str, target: &str) -> Self {
        let place = self.place(path);
        symlink(target, place).unwrap_or_else(|e| panic!("link {path}: {e}"));
        self
    }

    /// Makes a block device as sysfs shows it: its directory, its number, and the links to it.
    #[must_use]
    pub fn block(self, sys: &str, number: &str) -> Self {
        let (parent, name) = sys.rsplit_once('/').unwrap_or(("", sys));
        let inside = sys.strip_prefix("/sys/").unwrap_or(sys);
        // A partition lies in its disk's directory, which has a number, too.
        let is_partition = self
            .path()
            .join(parent.trim_matches('/'))
            .join("dev")
            .exists();
        let root = self
            .file(&format!("{sys}/dev"), format!("{number}\n"))
            .link(
                &format!("/sys/class/block/{name}"),
                &format!("../../{inside}"),
            )
            .link(
                &format!("/sys/dev/block/{number}"),
                &format!("../../{inside}"),
            )
            .file(&format!("/dev/{name}"), "");
        match is_partition {
            true => root,
            false => root.link(&format!("/sys/block/{name}"), &format!("../{inside}")),
        }
    }

    /// Writes a whole tree from a text. A line is one of:
    ///
    /// - `PATH = VALUE`: a file of one line,
    /// - `PATH -> TARGET`: a symbolic link,
    /// - `PATH @ MAJOR:MINOR`: a block device, see [`FakeRoot::block`],
    /// - `PATH/`: a directory,
    /// - `PATH <<`: a file of the lines up to one with a single dot.
    ///
    /// The paths of indented lines begin at the last device or directory that is not indented. Empty lines and those
    /// that begin with `#` are skipped.
    ///
    /// # Panics
    /// On a line that is none of these.
    #[must_use]
    pub fn tree(mut self, text: &str) -> Self {
        let mut base = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let is_inside = line.starts_with(' ');
            let full = |path: &str| match is_inside {
                true => format!("{base}/{path}"),
                false => path.to_owned(),
            };
            self = if let Some(path) = trimmed.strip_suffix(" <<") {
                let body: Vec<&str> = lines
                    .by_ref()
                    .take_while(|line| line.trim() != ".")
                    .collect();
                self.file(&full(path), format!("{}\n", body.join("\n")))
            } else if let Some((path, value)) = trimmed.split_once(" = ") {
                self.file(&full(path), format!("{value}\n"))
            } else if let Some((path, target)) = trimmed.split_once(" -> ") {
                self.link(&full(path), target)
            } else if let Some((path, number)) = trimmed.split_once(" @ ") {
                let path = full(path);
                let root = self.block(&path, number);
                if !is_inside {
                    base = path;
                }
                root
            } else if let Some(path) = trimmed.strip_suffix('/') {
                let path = full(path);
                let root = self.directory(&path);
                if !is_inside {
                    base = path;
                }
                root
            } else {
                panic!("not a line of a tree: {line}")
            };
        }
        self
    }

    fn place(&self, path: &str) -> PathBuf {
        let place = self.path().join(path.trim_matches('/'));
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).unwrap_or_else(|e| panic!("make {}: {e}", parent.display()));
        }
        place
    }
}

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

    /// Writes a whole tree from a text: `PATH = VALUE` is a file of one line, `PATH -> TARGET` a
    /// link, `PATH/` a directory, `PATH <<` a file of the lines up to one with a single dot;
    /// empty lines and those that begin with `#` are skipped.
    ///
    /// # Panics
    /// On a line that is none of these.
    #[must_use]
    pub fn tree(mut self, text: &str) -> Self {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            self = if let Some(path) = line.strip_suffix(" <<") {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != ".").collect();
                self.file(path, format!("{}\n", body.join("\n")))
            } else if let Some((path, value)) = line.split_once(" = ") {
                self.file(path, format!("{value}\n"))
            } else if let Some((path, target)) = line.split_once(" -> ") {
                self.link(path, target)
            } else if line.ends_with('/') {
                self.directory(line)
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

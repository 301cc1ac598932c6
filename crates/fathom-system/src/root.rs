use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// Largest file of `/proc`, `/sys` or `/etc` that is read; a longer one is cut.
const TEXT_LIMIT: u64 = 4 << 20;

/// Where `/proc`, `/sys`, `/etc`, `/dev` and `/run` are: the machine's own, or a tree written for
/// a test.
#[derive(Clone, Debug)]
pub struct Root {
    base: PathBuf,
    spaces: Arc<BTreeMap<PathBuf, Space>>,
}

/// Size of a file system: by `statvfs` on the machine, said beforehand for a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Whole size.
    pub size_bytes: u64,
    /// What an ordinary user can still write.
    pub available_bytes: u64,
    /// Inodes still free; absent where they are not limited.
    pub available_inodes: Option<u64>,
    /// Block size.
    pub block_size_bytes: u64,
}

impl Root {
    /// The machine itself.
    pub fn system() -> Self {
        Self {
            base: PathBuf::from("/"),
            spaces: Arc::default(),
        }
    }

    /// A tree that stands in for a machine.
    pub fn at(base: impl Into<PathBuf>) -> Self {
        Self {
            base: base.into(),
            spaces: Arc::default(),
        }
    }

    /// Says the size of a file system of a tree, by its mount point.
    #[must_use]
    pub fn with_space(mut self, point: impl Into<PathBuf>, space: Space) -> Self {
        Arc::make_mut(&mut self.spaces).insert(point.into(), space);
        self
    }

    /// The size of the file system that `point` is on (of a tree, its mount point).
    pub fn space(&self, point: &Path) -> Option<Space> {
        if !self.is_system() {
            return self.spaces.get(point).copied();
        }
        let stat = rustix::fs::statvfs(point).ok()?;
        let block = stat.f_frsize.max(1);
        Some(Space {
            size_bytes: stat.f_blocks.saturating_mul(block),
            available_bytes: stat.f_bavail.saturating_mul(block),
            available_inodes: (stat.f_files > 0).then_some(stat.f_favail),
            block_size_bytes: stat.f_bsize,
        })
    }

    /// The first bytes of a file as text: for files that are costly to produce.
    pub(crate) fn head(&self, path: impl AsRef<Path>, limit: u64) -> Option<String> {
        let file = File::open(self.path(path)).ok()?;
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether this is the machine itself, so that system calls tell the truth about it.
    pub fn is_system(&self) -> bool {
        self.base == Path::new("/")
    }

    /// Where an absolute path of the machine lies.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.base.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The machine's name of a path below the root.
    pub fn strip(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.base) {
            Ok(rest) => Path::new("/").join(rest),
            Err(_) => path.to_path_buf(),
        }
    }

    /// The bytes of a file, up to a limit; `None` when it cannot be read.
    pub fn read_bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let file = File::open(self.path(path)).ok()?;
        let mut bytes = Vec::new();
        file.take(TEXT_LIMIT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The text of a file, with U+FFFD for what is not UTF-8.
    pub fn read(&self, path: impl AsRef<Path>) -> Option<String> {
        let bytes = self.read_bytes(path)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The text of a file without white space around it; `None` when nothing is left.
    pub fn line(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = self.read(path)?;
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// A file that holds a number.
    pub fn number<N: std::str::FromStr>(&self, path: impl AsRef<Path>) -> Option<N> {
        self.line(path)?.parse().ok()
    }

    /// Names in a directory, sorted; empty when it cannot be read.
    pub fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry: fs::DirEntry| OsString::into_string(entry.file_name()).ok())
            .collect();
        names.sort_unstable();
        names
    }

    /// Whether something is there.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }

    /// The path without symbolic links and dots, as the machine names it; `None` when it does not
    /// exist.
    ///
    /// Links of a tree that are absolute lead from the tree's root, as they would on the machine.
    pub fn real_path(&self, path: impl AsRef<Path>) -> Option<PathBuf> {
        if self.is_system() {
            return fs::canonicalize(path).ok();
        }
        self.resolve(path.as_ref(), 0)
    }

    fn resolve(&self, path: &Path, depth: u32) -> Option<PathBuf> {
        const LINK_LIMIT: u32 = 40;
        if depth > LINK_LIMIT {
            return None;
        }
        let mut done = PathBuf::from("/");
        let mut parts = path.components();
        while let Some(part) = parts.next() {
            match part {
                Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
                Component::ParentDir => {
                    done.pop();
                    continue;
                }
                Component::Normal(name) => done.push(name),
            }
            let here = self.path(&done);
            let kind = fs::symlink_metadata(&here).ok()?;
            if kind.is_symlink() {
                let link = fs::read_link(&here).ok()?;
                done.pop();
                let rest = done.join(link).join(parts.as_path());
                return self.resolve(&rest, depth + 1);
            }
        }
        Some(done)
    }
}

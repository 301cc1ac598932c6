use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use fathom_model::TestError;
use rustix::fs::{AtFlags, Mode, Stat, Timestamps};
use rustix::io::Errno;

use super::Root;

/// Directories a thread keeps open at most.
const KEPT: usize = 48;

/// The directories in which one thread names files, each opened when it is first needed.
///
/// Calls that take a name follow links in all parts of it but the last, and there is no way to
/// forbid them. So each is made in the open directory, with the last part alone: the same call, and
/// no link in its way. When a directory is removed or renamed, those that are kept of that name are
/// forgotten, by every thread.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    root: &'a Root,
    /// The last one used comes first.
    kept: Vec<Place>,
    generation: u64,
}

#[derive(Debug)]
struct Place {
    name: Box<[u8]>,
    fd: OwnedFd,
}

impl<'a> Places<'a> {
    /// None yet.
    pub(crate) fn new(root: &'a Root) -> Self {
        Self {
            root,
            kept: Vec::new(),
            generation: root.generation(),
        }
    }

    /// Makes a call on a name: in its directory, with its last part.
    ///
    /// # Errors
    /// Those of the call, and of opening the directory.
    #[inline]
    fn call<T>(
        &mut self,
        name: &CStr,
        call: impl FnOnce(BorrowedFd<'_>, &CStr) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let (parent, own) = split(name);
        let at = self.bring(parent)?;
        call(self.place(at), own)
    }

    /// What a name stands for; a link is looked at itself.
    #[inline]
    pub(crate) fn stat(&mut self, name: &CStr) -> Result<Stat, Errno> {
        self.call(name, |at, own| {
            rustix::fs::statat(at, own, AtFlags::SYMLINK_NOFOLLOW)
        })
    }

    /// Removes a file.
    #[inline]
    pub(crate) fn unlink(&mut self, name: &CStr) -> Result<(), Errno> {
        self.call(name, |at, own| {
            rustix::fs::unlinkat(at, own, AtFlags::empty())
        })
    }

    /// Makes a directory.
    pub(crate) fn make_directory(&mut self, name: &CStr, mode: Mode) -> Result<(), Errno> {
        self.call(name, |at, own| rustix::fs::mkdirat(at, own, mode))
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&mut self, name: &CStr) -> Result<(), Errno> {
        self.call(name, |at, own| {
            rustix::fs::unlinkat(at, own, AtFlags::REMOVEDIR)
        })?;
        self.forget(name.to_bytes());
        Ok(())
    }

    /// Removes a file, with an error that names it.
    #[inline]
    pub(crate) fn remove_file(&mut self, name: &CStr) -> Result<(), TestError> {
        self.unlink(name)
            .map_err(|errno| self.root.error("removing", name, errno))
    }

    /// Makes a directory; one that exists is as good.
    #[inline]
    pub(crate) fn need_directory(&mut self, name: &CStr, mode: Mode) -> Result<(), TestError> {
        match self.make_directory(name, mode) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(self.root.error("creating", name, errno)),
        }
    }

    /// Renames a file or directory.
    pub(crate) fn rename(&mut self, from: &CStr, to: &CStr) -> Result<(), Errno> {
        let ((from_parent, from_own), (to_parent, to_own)) = (split(from), split(to));
        // The second may let go of the first, when another thread removed a directory just now.
        let mut both = None;
        while both.is_none() {
            self.bring(from_parent)?;
            let to_at = self.bring(to_parent)?;
            both = self.find(from_parent).map(|from_at| (from_at, to_at));
        }
        let (from_at, to_at) = both.unwrap_or_default();
        let (from_fd, to_fd) = (self.place(from_at), self.place(to_at));
        rustix::fs::renameat(from_fd, from_own, to_fd, to_own)?;
        let is_in = |place: &Place| is_inside(&place.name, from.to_bytes());
        if self.kept.iter().any(is_in) {
            self.forget(from.to_bytes());
        }
        Ok(())
    }

    /// Sets the times of a file or of a link itself.
    pub(crate) fn set_times(&mut self, name: &CStr, times: &Timestamps) -> Result<(), Errno> {
        self.call(name, |at, own| {
            rustix::fs::utimensat(at, own, times, AtFlags::SYMLINK_NOFOLLOW)
        })
    }

    /// Where a directory is kept; `None` of the second is the root, which always is.
    #[inline]
    fn find(&self, parent: &[u8]) -> Option<Option<usize>> {
        match parent.is_empty() {
            true => Some(None),
            false => {
                let at = self.kept.iter().position(|place| *place.name == *parent);
                at.map(Some)
            }
        }
    }

    #[inline]
    fn place(&self, at: Option<usize>) -> BorrowedFd<'_> {
        match at {
            Some(at) => self.kept[at].fd.as_fd(),
            None => self.root.fd(),
        }
    }

    /// Has a directory open and gives where it is kept.
    #[inline]
    fn bring(&mut self, parent: &[u8]) -> Result<Option<usize>, Errno> {
        if self.generation != self.root.generation() {
            self.generation = self.root.generation();
            self.kept.clear();
        }
        match self.find(parent) {
            Some(Some(at)) if at > 0 => {
                self.kept.swap(0, at);
                Ok(Some(0))
            }
            Some(at) => Ok(at),
            None => self.open(parent),
        }
    }

    #[cold]
    fn open(&mut self, parent: &[u8]) -> Result<Option<usize>, Errno> {
        let name = CString::new(parent).map_err(|_| Errno::INVAL)?;
        let fd = match self.root.open_place(&name) {
            Err(Errno::MFILE | Errno::NFILE) if !self.kept.is_empty() => {
                // The work itself needs files, too.
                self.kept.clear();
                self.root.open_place(&name)?
            }
            answer => answer?,
        };
        self.kept.truncate(KEPT - 1);
        self.kept.insert(
            0,
            Place {
                name: parent.into(),
                fd,
            },
        );
        Ok(Some(0))
    }

    /// Lets go of a directory that has not this name any more, and of all in it.
    fn forget(&mut self, name: &[u8]) {
        self.kept.retain(|place| !is_inside(&place.name, name));
        // Nobody else changed anything since the last look: what is left here stays good.
        if self.root.next_generation() == self.generation {
            self.generation += 1;
        }
    }
}

/// Whether `name` is `directory` or something in it.
fn is_inside(name: &[u8], directory: &[u8]) -> bool {
    name.strip_prefix(directory)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The directory part of a name, empty where it has none, and the rest.
#[inline]
fn split(name: &CStr) -> (&[u8], &CStr) {
    let bytes = name.to_bytes_with_nul();
    let slash = bytes.iter().rposition(|byte| *byte == b'/');
    let Some(slash) = slash else {
        return (b"", name);
    };
    // The end of a name with its zero byte is a name.
    let own = CStr::from_bytes_with_nul(&bytes[slash + 1..]).unwrap_or(c"");
    (&bytes[..slash], own)
}

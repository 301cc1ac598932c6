use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use fathom_base::files::read_text_limited;
use fathom_model::TestError;

/// A user without privileges, for servers that refuse to run as root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unprivileged {
    pub name: String,
    pub user: u32,
    pub group: u32,
}

const PASSWD_LIMIT: u64 = 16 << 20;
/// Who may be taken, the first that exists.
const NAMES: [&str; 2] = ["postgres", "nobody"];

impl Unprivileged {
    /// The server's own user, where the machine has one, else nobody.
    pub(super) fn find() -> Self {
        let passwd = read_text_limited(Path::new("/etc/passwd"), PASSWD_LIMIT).unwrap_or_default();
        Self::of(&passwd)
    }

    pub(super) fn of(passwd: &str) -> Self {
        let entry = |name: &&str| {
            passwd.lines().find_map(|line| {
                let mut fields = line.split(':');
                let is_meant = fields.next() == Some(name);
                let user = fields.nth(1)?.parse().ok()?;
                let group = fields.next()?.parse().ok()?;
                (is_meant && user != 0).then(|| Self {
                    name: (*name).to_owned(),
                    user,
                    group,
                })
            })
        };
        NAMES.iter().find_map(entry).unwrap_or(Self {
            name: "nobody".to_owned(),
            user: 65_534,
            group: 65_534,
        })
    }

    /// The directory on the way to `path` that this user may not pass.
    pub(super) fn closed(&self, path: &Path) -> Option<PathBuf> {
        let mut directories: Vec<&Path> = path.ancestors().collect();
        directories.reverse();
        let closed = directories.into_iter().find(|directory| {
            directory.metadata().is_ok_and(|meta| {
                let shift = match (meta.uid() == self.user, meta.gid() == self.group) {
                    (true, _) => 6,
                    (false, true) => 3,
                    (false, false) => 0,
                };
                (meta.mode() >> shift) & 1 == 0
            })
        });
        closed.map(Path::to_path_buf)
    }

    /// Gives a directory to this user, and lets it pass our own directories on the way: the run's
    /// and the case's, which are made for the owner alone.
    pub(super) fn take_over(&self, directory: &Path, scratch: &Path) -> Result<(), TestError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |error| TestError::io("opening to the server's user", path, error)
        };
        chown(directory, Some(self.user), Some(self.group)).map_err(failed(directory))?;
        let ours = directory
            .ancestors()
            .skip(1)
            .filter(|path| path.starts_with(scratch));
        for path in ours {
            let meta = path.metadata().map_err(failed(path))?;
            let mut permissions = meta.permissions();
            permissions.set_mode(permissions.mode() | 0o011);
            std::fs::set_permissions(path, permissions).map_err(failed(path))?;
        }
        Ok(())
    }
}

use fathom_base::Bytes;
use fathom_model::{Host, OptionError, TargetKind, Unmet};

use crate::common::{need_space, need_writable};

/// Files a file system keeps for itself.
const SPARE_INODES: u64 = 16;

/// What a test that makes files needs of its target: a directory that can be written, with room for
/// `space` bytes in `inodes` files.
pub(crate) fn needs(host: &Host, space: Bytes, inodes: u64) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    unmet.extend(need_directory(host));
    unmet.extend(need_writable(host));
    unmet.extend(need_space(host, space));
    unmet.extend(need_inodes(host, inodes));
    unmet
}

/// A case whose options this version does not understand.
pub(crate) fn unmet_of(error: &OptionError) -> Vec<Unmet> {
    vec![Unmet {
        what: error.to_string(),
        hint: String::new(),
    }]
}

fn need_directory(host: &Host) -> Option<Unmet> {
    (host.target.kind != TargetKind::Directory).then(|| Unmet {
        what: format!("{} is not a directory", host.target.path),
        hint: "name a directory on the file system to test".to_owned(),
    })
}

fn need_inodes(host: &Host, needed: u64) -> Option<Unmet> {
    let available = host.target.mount.as_ref()?.available_inodes?;
    (available < needed.saturating_add(SPARE_INODES)).then(|| Unmet {
        what: format!(
            "{} has {available} inodes free, the case needs {needed} and a reserve of \
             {SPARE_INODES}",
            host.target.path
        ),
        hint: "choose fewer files or another target".to_owned(),
    })
}

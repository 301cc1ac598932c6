use fathom_base::Bytes;
use fathom_model::{Host, TargetKind, Unmet};

/// Objects when the target's file system is read-only or has not room for `needed` and a reserve of
/// 64 MiB.
pub(crate) fn need_room(host: &Host, needed: Bytes) -> Option<Unmet> {
    const RESERVE: Bytes = Bytes::new(64 << 20);
    let mount = host.target.mount.as_ref()?;
    if host.target.kind != TargetKind::Directory {
        return None;
    }
    if mount.options.iter().any(|option| option == "ro") {
        return Some(Unmet {
            what: format!("{} is mounted read-only", mount.point),
            hint: "choose another target".to_owned(),
        });
    }
    let wanted = needed.as_u64().saturating_add(RESERVE.as_u64());
    (mount.available_bytes < wanted).then(|| Unmet {
        what: format!(
            "{} has {} free, the case needs {} and a reserve of {RESERVE}",
            host.target.path,
            Bytes::new(mount.available_bytes).rough(),
            needed.rough(),
        ),
        hint: "choose a smaller size or another target".to_owned(),
    })
}

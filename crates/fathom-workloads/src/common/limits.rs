use fathom_base::{Bytes, Nanos};
use fathom_model::{Context, Host, TestError, Unmet};

/// Stops when the user asked for it or the time is over.
pub(crate) fn check_limits(
    cx: &Context<'_>,
    what: &'static str,
    started: Nanos,
) -> Result<(), TestError> {
    if cx.cancel.is_cancelled() {
        return Err(TestError::Cancelled);
    }
    match cx.clock.now() > cx.deadline {
        true => Err(TestError::Deadline {
            what,
            limit: cx.deadline.since(started),
        }),
        false => Ok(()),
    }
}

/// What no case takes of a target's space.
pub(crate) const RESERVE: Bytes = Bytes::new(64 << 20);

/// Objects when the target has not room for `needed` and a reserve of 64 MiB.
pub(crate) fn need_space(host: &Host, needed: Bytes) -> Option<Unmet> {
    let available = Bytes::new(host.target.mount.as_ref()?.available_bytes);
    let wanted = needed.as_u64().saturating_add(RESERVE.as_u64());
    (available.as_u64() < wanted).then(|| Unmet {
        what: format!(
            "{} has {} free, the case needs {} and a reserve of {RESERVE}",
            host.target.path,
            available.rough(),
            needed.rough(),
        ),
        hint: "choose a smaller size or another target".to_owned(),
    })
}

/// Objects when the file system is mounted read-only.
pub(crate) fn need_writable(host: &Host) -> Option<Unmet> {
    let mount = host.target.mount.as_ref()?;
    mount
        .options
        .iter()
        .any(|option| option == "ro")
        .then(|| Unmet {
            what: format!("{} is mounted read-only", mount.point),
            hint: "choose another target".to_owned(),
        })
}

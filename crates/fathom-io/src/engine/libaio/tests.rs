use super::{Context, unavailable};

/// A request for more than the limit takes nothing from it.
#[test]
fn the_limit_of_contexts_is_named() {
    let limit = std::fs::read_to_string("/proc/sys/fs/aio-max-nr");
    let Some(limit) = limit.ok().and_then(|t| t.trim().parse::<u32>().ok()) else {
        return;
    };
    let Some(beyond) = limit.checked_add(1) else {
        return;
    };
    let error = Context::new(beyond).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EAGAIN));
    let unavailable = unavailable(&error);
    let named = format!("fs.aio-max-nr={limit}");
    assert!(unavailable.reason.contains(&named), "{unavailable}");
    assert!(unavailable.remedy.contains("fs.aio-max-nr"));
}

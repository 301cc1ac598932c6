use std::io::Write;
use std::path::PathBuf;

/// Says loudly that a test, or a part of it, was not run, and why; the full test run counts these.
/// The line goes past the test harness, which would keep it to itself when the test passes.
pub fn skipped(reason: &str) {
    let line = format!("SKIPPED: {reason}\n");
    // Nobody to tell is nothing to fail for.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A program of the machine, or a line that says why the test that needs it does not run.
///
/// ```
/// use fathom_testkit::tool;
///
/// let Some(shell) = tool("sh") else { return };
/// assert!(shell.ends_with("sh"));
/// assert_eq!(tool("no-such-program-of-fathom"), None);
/// ```
pub fn tool(name: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = fathom_base::process::find_program(name, &search);
    if found.is_none() {
        skipped(&format!("{name} is not installed"));
    }
    found
}

/// Whether the tests run as root, or a line that says why the test that needs it does not run.
pub fn root(what: &str) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let uids = status.lines().find(|line| line.starts_with("Uid:"));
    let effective = uids.and_then(|line| line.split_ascii_whitespace().nth(2));
    let is_root = effective == Some("0");
    if !is_root {
        skipped(&format!("{what} needs root"));
    }
    is_root
}

/// The shared corpus beside the workspace, or a line that says that it is missing. `manifest` is
/// the caller's `env!("CARGO_MANIFEST_DIR")`.
pub fn shared(manifest: &str, path: &str) -> Option<PathBuf> {
    let full = PathBuf::from(manifest).join("../../../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    skipped(&format!("shared/{path} is not there"));
    None
}

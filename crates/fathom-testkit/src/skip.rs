/// Says loudly that a test, or a part of it, was not run, and why; the full test run counts these.
#[expect(
    clippy::print_stderr,
    reason = "the line is for the person or script that runs the tests"
)]
pub fn skipped(reason: &str) {
    eprintln!("SKIPPED: {reason}");
}

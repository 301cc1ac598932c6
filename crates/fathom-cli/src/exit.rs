//! Exit codes: one table for the program, `--help`, the man page and the reference page.

/// How the program ends, as a script sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything went well.
    Good,
    /// A trial failed, or a comparison missed its gate.
    Failed,
    /// The command line cannot be understood.
    Usage,
    /// This machine or target lacks something.
    Unmet,
    /// Some of the work was done.
    Partial,
    /// A defect of Fathom.
    Bug,
}

/// Code and meaning of every way to end.
pub const TABLE: [(Exit, u8, &str); 6] = [
    (Exit::Good, 0, "everything asked for was done"),
    (
        Exit::Failed,
        1,
        "a trial failed, a file is corrupt, or a gate was missed",
    ),
    (
        Exit::Usage,
        2,
        "the command line names something unknown or impossible",
    ),
    (
        Exit::Unmet,
        3,
        "a need is unmet: target, space, permission, program or kernel feature; nothing was measured",
    ),
    (
        Exit::Partial,
        4,
        "part of it was done: some cases are not available here, or the run was stopped and can be resumed",
    ),
    (
        Exit::Bug,
        70,
        "a defect of Fathom; the message says what to report",
    ),
];

/// Code and meaning of ends by a second signal.
pub const SIGNALS: [(u8, &str); 2] = [
    (
        130,
        "a second Ctrl-C ended the program at once (128 + SIGINT); fathom resume goes on",
    ),
    (143, "a second SIGTERM did (128 + SIGTERM)"),
];

impl Exit {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        TABLE
            .iter()
            .find(|(exit, ..)| *exit == self)
            .map_or(70, |(_, code, _)| *code)
    }
}

use fathom_model::{Machine, TargetInfo};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Figures will be worse than they need to be, or noisier.
    Warning,
}

/// Something about the machine that bends figures, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name: `governor`, `nearly-full`.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One line: `governor is powersave: short I/O will look slower`.
    pub text: String,
    /// What to do; may be empty.
    pub advice: String,
}

/// Looks for what bends figures on this machine and target.
pub fn doctor(machine: &Machine, target: &TargetInfo) -> Vec<Finding> {
    let _ = (machine, target);
    Vec::new()
}

//! A machine and target in the words of the Phoronix Test Suite, so that Fathom's systems stand in
//! the same tables as public ones.

mod hardware;
mod notes;
mod target_line;
#[cfg(test)]
mod tests;

use fathom_model::{Field, Machine, TargetInfo};

pub use target_line::target_line;

/// A machine and target in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemFields {
    /// `Processor`, `Motherboard`, `Memory`, `Disk`, ...
    pub hardware: Vec<Field>,
    /// `OS`, `Kernel`, `Compiler`, `File-System`, ...
    pub software: Vec<Field>,
    /// `Disk Details`, `Processor Details`, `Security Details`, ...
    pub notes: Vec<Field>,
}

/// The fields of a system; what is unknown is left out.
///
/// `Disk` lists every disk of the machine, as PTS does; the one under test stands in the note
/// `Target Details`, which PTS lacks.
pub fn system_fields(machine: &Machine, target: &TargetInfo) -> SystemFields {
    SystemFields {
        hardware: hardware::fields(machine),
        software: software(machine, target),
        notes: notes::fields(machine, target),
    }
}

fn software(machine: &Machine, target: &TargetInfo) -> Vec<Field> {
    let platform = &machine.platform;
    let kernel = match (platform.kernel.as_str(), platform.architecture.as_str()) {
        ("", _) => String::new(),
        (release, "") => release.to_owned(),
        (release, architecture) => format!("{release} ({architecture})"),
    };
    let kernel = match &platform.kernel_date {
        Some(date) => format!("{kernel} {date}"),
        None => kernel,
    };
    let layers: Vec<&str> = [&platform.hypervisor, &platform.container]
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect();
    let file_system = target
        .mount
        .as_ref()
        .map(|mount| match mount.file_system.as_str() {
            "overlay" => "overlayfs".to_owned(),
            name => name.to_owned(),
        });
    known([
        ("OS", platform.os.clone()),
        ("Kernel", kernel),
        ("Compiler", platform.compiler.clone().unwrap_or_default()),
        ("File-System", file_system.unwrap_or_default()),
        (
            "Screen Resolution",
            machine.peripherals.resolution.clone().unwrap_or_default(),
        ),
        ("System Layer", layers.join(" + ")),
    ])
}

/// Drops what is unknown.
fn known<const N: usize>(pairs: [(&str, String); N]) -> Vec<Field> {
    pairs
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| Field::new(name, text))
        .collect()
}

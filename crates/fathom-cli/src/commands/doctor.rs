//! `fathom doctor`.

use std::path::PathBuf;

use fathom_system::{DescribeOptions, Root, Severity, describe, doctor, resolve_target};

use crate::args::DoctorArgs;
use crate::describe::wrapped;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::settings::Settings;

/// Lists what bends figures on this machine and target, with the remedies.
pub fn run(args: &DoctorArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let root = Root::system();
    let path = args.target.clone().unwrap_or_else(|| PathBuf::from("."));
    let target = resolve_target(&root, &super::system::absolute(&path)?)?;
    let machine = describe(&root, &DescribeOptions::default());
    let findings = doctor(&machine, &target);
    let mut text = String::new();
    for finding in &findings {
        let kind = match finding.severity {
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let line = wrapped(&finding.text, 9, settings.look.columns);
        text.push_str(&format!("{kind:7}  {}", line.trim_start()));
        text.push_str(&wrapped(&finding.advice, 9, settings.look.columns));
    }
    match findings.is_empty() {
        true => printer.words("nothing found that would bend figures on this machine and target"),
        false => printer.data(&text)?,
    }
    Ok(Exit::Good)
}

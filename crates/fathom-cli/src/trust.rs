//! What did not come with Fathom is run only after somebody agreed, once for each content.
//!
//! What was agreed to is kept in the data directory, one file a content, named by its hash. A profile
//! is kept whole, so that a run of it can be resumed after its file has gone.

use std::path::{Path, PathBuf};

use fathom_base::files::write_atomic;
use fathom_model::{Case, PlannedCase};
use fathom_profiles::{OWN_COMMAND, Profiles, command_hash, command_lines};

use crate::failure::Failure;
use crate::printer::Printer;

/// What the user said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// The command itself, on this command line.
    Typed,
    /// `--trust`.
    Trust,
    /// Nothing.
    Nothing,
}

/// Something foreign that a run would start.
struct Foreign {
    /// `profile mine (/home/ann/mine.toml)`.
    what: String,
    hash: String,
    extension: &'static str,
    content: String,
    lines: Vec<String>,
}

/// Where what was agreed to is kept.
pub fn directory(data: &Path) -> PathBuf {
    data.join("trusted")
}

/// Insists that everything foreign among the cases that can run was agreed to, and keeps what is
/// agreed to now.
///
/// # Errors
/// What would be run, and how to agree.
pub fn check(
    cases: &[PlannedCase],
    profiles: &Profiles,
    data: &Path,
    said: Said,
    printer: &Printer,
) -> Result<(), Failure> {
    let directory = directory(data);
    let available = cases.iter().filter(|planned| planned.unavailable.is_none());
    let mut all: Vec<Foreign> = Vec::new();
    for foreign in available.filter_map(|planned| foreign(&planned.case, profiles)) {
        let path = path(&directory, &foreign);
        let is_new = !path.exists() && !all.iter().any(|known| known.hash == foreign.hash);
        if is_new {
            all.push(foreign);
        }
    }
    for foreign in &all {
        match said {
            Said::Nothing => return Err(refused(foreign)),
            Said::Typed => {}
            Said::Trust => {
                let lines: Vec<String> = foreign
                    .lines
                    .iter()
                    .map(|line| format!("  {line}"))
                    .collect();
                printer.words(&format!("trusting {}:\n{}", foreign.what, lines.join("\n")));
            }
        }
        write_atomic(&path(&directory, foreign), foreign.content.as_bytes())?;
    }
    Ok(())
}

fn path(directory: &Path, foreign: &Foreign) -> PathBuf {
    directory.join(format!("{}.{}", foreign.hash, foreign.extension))
}

fn foreign(case: &Case, profiles: &Profiles) -> Option<Foreign> {
    if case.test == OWN_COMMAND {
        let lines = command_lines(case);
        return Some(Foreign {
            what: "a command of a saved result".to_owned(),
            hash: command_hash(case),
            extension: "command",
            content: format!("{}\n", lines.join("\n")),
            lines,
        });
    }
    let profile = profiles.foreign(&case.test)?;
    Some(Foreign {
        what: format!("profile {} ({})", profile.id, profile.file),
        hash: profile.content_hash.clone(),
        extension: "toml",
        content: profile.source.clone(),
        lines: profile.commands(),
    })
}

fn refused(foreign: &Foreign) -> Failure {
    let failure = Failure::unmet(format!("{} did not come with Fathom", foreign.what))
        .detail("--trust allows it, once for this content; it would run, as you:");
    let lines = foreign.lines.iter();
    lines.fold(failure, |failure, line| failure.detail(format!("  {line}")))
}

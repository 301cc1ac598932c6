//! Output of fio: JSON and JSON+, the normal text, the terse format and its logs.
//!
//! All of them become the same thing: a case for each job (its options are the identity, not its
//! name or paths), a trial for each time it ran, and the metrics of Fathom's own test `io`. Entries
//! of one job that fio listed one a thread or process are one trial: rates are added, latencies
//! weighted; percentiles are pooled only where JSON+ has their histograms.

mod build;
mod find;
mod job;
mod json;
mod log;
mod options;
mod terse;
#[cfg(test)]
mod tests;
mod text;

use fathom_model::ResultFile;
pub use json::read as read_json;
pub use log::read as read_log;
pub use terse::read as read_terse;
pub use text::{is_report, read as read_text};

/// Name of the system where the output does not say whose it is.
const UNNAMED: &str = "unnamed system";

/// Whether a line is terse output.
pub(crate) fn is_terse(line: &str) -> bool {
    terse::terse_version(line.trim()).is_some()
}

/// Names what fio's output leaves without a name after the file it stood in.
pub(crate) fn name_after_file(file: &mut ResultFile, base: &str) {
    let stem = base.rsplit_once('.').map_or(base, |(stem, _)| stem);
    if stem.is_empty() || file.system(UNNAMED).is_none() {
        return;
    }
    let rename = |name: &mut String| {
        if name == UNNAMED {
            stem.clone_into(name);
        }
    };
    file.systems
        .iter_mut()
        .for_each(|system| rename(&mut system.identifier));
    file.runs.iter_mut().for_each(|run| rename(&mut run.system));
    let entries = file
        .results
        .iter_mut()
        .flat_map(|record| &mut record.entries);
    entries.for_each(|entry| rename(&mut entry.system));
    if file.title.is_empty() {
        stem.clone_into(&mut file.title);
    }
}

//! Test `io`: one load on one file or device, carried out by the I/O engine.
//!
//! The file is shared by all cases of a run that can use the same one ([`files`]), written before
//! it is read, and brought into a stated state before each trial: what an earlier trial wrote is
//! flushed, and the page cache is emptied and seen to be empty unless the case asks otherwise.

mod check;
mod files;
mod prepared;
mod report;
mod spec;
#[cfg(test)]
mod tests;

use fathom_model::definition::io::{self as definition, IoSettings};
use fathom_model::{
    Case, Context, Estimate, Host, Metric, Prepared, Test, TestError, TestInfo, Unmet,
};

use self::files::{FileKey, Files};
use self::prepared::PreparedIo;
use crate::common::native;

/// Version of this implementation's work.
const IMPLEMENTATION: &str = "1";

/// The test; see the module's description. Cases prepared by one `IoTest` share their files.
#[derive(Debug, Default)]
pub struct IoTest {
    files: Files,
}

impl IoTest {
    /// The test.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Test for IoTest {
    fn info(&self) -> TestInfo {
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: native(IMPLEMENTATION),
            options: definition::options(),
        }
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        // A case that cannot be read is refused by `check`.
        IoSettings::from_case(case).map_or_else(|_| Vec::new(), |io| definition::metrics(&io))
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        check::unmet(host, case)
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let settings = IoSettings::from_case(case)?;
        Ok(Estimate {
            layout: FileKey::of(&settings, host).map(|key| key.number()),
            ..definition::estimate(&settings, host)
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = IoSettings::from_case(case)?;
        Ok(Box::new(PreparedIo::new(&self.files, settings, case, cx)?))
    }
}

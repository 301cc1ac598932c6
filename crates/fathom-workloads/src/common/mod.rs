//! What the built-in tests share.

mod case_dir;
mod compress;
mod limits;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub(crate) use case_dir::CaseDir;
pub(crate) use compress::compressible_share;
pub(crate) use limits::{RESERVE, check_limits, need_space, need_writable};

pub(crate) use fathom_model::definition::Guess;
use fathom_model::{Implementation, ImplementationKind};

/// The built-in implementation of a workload in this version of its work.
pub(crate) fn native(version: &str) -> Implementation {
    Implementation {
        kind: ImplementationKind::Native,
        name: "fathom".to_owned(),
        version: version.to_owned(),
    }
}

//! Definitions of tests that have more than one implementation: options, their meaning, and the
//! metrics, so that a native test and the original program carry out the same case and report
//! under the same names.

pub mod io;
mod menu;
pub mod sqlite;

pub(crate) use menu::menu;

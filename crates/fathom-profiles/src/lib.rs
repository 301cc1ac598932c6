//! Tests that run foreign programs.
//!
//! ```
//! let search_path = std::env::var_os("PATH").unwrap_or_default();
//! let tests = fathom_profiles::program_tests(&search_path);
//! assert!(tests.iter().any(|test| test.info().id == "io"));
//! ```

pub mod drivers;
mod error;
pub mod fio;
mod found;
pub mod hdparm;
mod needs;
pub mod service;
pub mod sqlite3;

use std::ffi::OsStr;

use fathom_model::Test;

pub use error::ProfileError;

/// Every test that a program carries out, in the order they are listed; programs are looked up in
/// `search_path` (a PATH-like list). A program that is missing is no error here: its test is
/// listed, and its cases name the need.
pub fn program_tests(search_path: &OsStr) -> Vec<Box<dyn Test>> {
    vec![
        Box::new(fio::FioTest::new(search_path)),
        Box::new(sqlite3::Sqlite3Test::new(search_path)),
        Box::new(hdparm::HdparmTest::new(search_path)),
    ]
}

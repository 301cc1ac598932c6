//! Tests that run foreign programs.
//!
//! ```
//! let search_path = std::env::var_os("PATH").unwrap_or_default();
//! let tests = fathom_profiles::program_tests(&search_path);
//! assert!(tests.iter().any(|test| test.info().id == "io"));
//! ```
//!
//! Most of them are profiles: a TOML file says what is run and where its figures are.
//!
//! ```
//! let profiles = fathom_profiles::Profiles::built_in().unwrap();
//! assert_eq!(profiles.get("pgbench").unwrap().title, "PostgreSQL pgbench");
//! ```

mod classic;
mod command;
pub mod dbench;
pub mod drivers;
mod error;
pub mod fio;
mod found;
pub mod fs_mark;
pub mod hdparm;
mod hook;
mod intern;
pub mod iozone;
mod locate;
mod needs;
mod new;
pub mod postmark;
pub mod profile;
pub mod service;
mod set;
pub mod sqlite3;
mod test;
pub mod tiobench;

use std::ffi::OsStr;

use fathom_model::Test;

pub use command::{
    OWN_COMMAND, OwnCommand, command_hash, command_lines, joined_metrics, with_full_paths,
};
pub use error::ProfileError;
pub use new::new_profile;
pub use set::{BUILT_IN, Profiles};
pub use test::ProfileTest;

/// The tests of programs that are more than a profile, in the order they are listed; programs are
/// looked up in `search_path` (a PATH-like list). A program that is missing is no error here: its
/// test is listed, and its cases name the need.
pub fn program_tests(search_path: &OsStr) -> Vec<Box<dyn Test>> {
    vec![
        Box::new(fio::FioTest::new(search_path)),
        Box::new(sqlite3::Sqlite3Test::new(search_path)),
        Box::new(dbench::DbenchTest::new(search_path)),
        Box::new(fs_mark::FsMarkTest::new(search_path)),
        Box::new(iozone::IozoneTest::new(search_path)),
        Box::new(postmark::PostmarkTest::new(search_path)),
        Box::new(tiobench::TiobenchTest::new(search_path)),
        Box::new(hdparm::HdparmTest::new(search_path)),
    ]
}

//! The tests that are built in.
//!
//! A test is a [`Test`]: it says what it needs, prepares its files in the run's scratch directory,
//! measures one trial at a time with everything a verdict needs, and leaves nothing behind.
//!
//! ```
//! let tests = fathom_workloads::native_tests();
//! assert!(tests.iter().any(|test| test.info().id == "io"));
//! ```

pub mod blogbench;
mod classic;
mod common;
pub mod compilebench;
pub mod dbench;
mod error;
pub mod fs_mark;
pub mod hdparm_read;
pub mod io_test;
pub mod iozone;
pub mod postmark;
pub mod sqlite;
pub mod tiobench;

use fathom_model::Test;

pub use error::WorkloadError;

/// Every built-in test, in the order they are listed.
pub fn native_tests() -> Vec<Box<dyn Test>> {
    vec![
        Box::new(io_test::IoTest::new()),
        Box::new(sqlite::SqliteTest::new()),
        Box::new(dbench::DbenchTest::new()),
        Box::new(fs_mark::FsMarkTest::new()),
        Box::new(iozone::IozoneTest::new()),
        Box::new(postmark::PostmarkTest::new()),
        Box::new(tiobench::TiobenchTest::new()),
        Box::new(blogbench::BlogbenchTest::new()),
        Box::new(compilebench::CompilebenchTest::new()),
        Box::new(hdparm_read::HdparmReadTest::new()),
    ]
}

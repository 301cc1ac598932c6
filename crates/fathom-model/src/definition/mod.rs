//! Definitions of tests that have more than one implementation: options, their meaning, and the
//! metrics, so that a native test and the original program carry out the same case and report
//! under the same names.

pub mod blogbench;
mod classic;
pub mod compilebench;
pub mod dbench;
pub mod fs_mark;
mod guess;
pub mod hdparm_read;
pub mod io;
pub mod iozone;
mod menu;
pub mod postmark;
pub mod sqlite;
pub mod tiobench;

pub use classic::ClassicScale;
pub use guess::Guess;
pub(crate) use menu::menu;

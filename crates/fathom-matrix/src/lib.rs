//! The table a reviewer makes in a week, from one file: each configuration of drives, layout,
//! encryption and file system is built, measured and torn down, in an order drawn from a seed and
//! repeated in blocks, so that drift falls on all alike.
//!
//! A [`MatrixFile`] and the drives found on the machine give [`Configuration`]s; a [`Session`]
//! carries them out. What is made is in a journal before it is made, so that whatever happens
//! everything can be undone, and nothing is undone that does not carry our mark.
//!
//! ```
//! use fathom_matrix::MatrixFile;
//!
//! let file = MatrixFile::parse(
//!     "mine.toml",
//!     r#"
//! format = 1
//! name = "mine"
//! suites = ["quick"]
//! [[device]]
//! name = "a"
//! loop = "512MiB"
//! [[group]]
//! devices = ["a"]
//! file-system = ["ext4", { type = "btrfs", mount = "compress=lzo" }]
//! "#,
//! )
//! .unwrap();
//! let names: Vec<String> = file
//!     .configurations(&file.loop_facts())
//!     .unwrap()
//!     .into_iter()
//!     .map(|configuration| configuration.identifier)
//!     .collect();
//! assert_eq!(names, ["loop 512MiB EXT4", "loop 512MiB Btrfs + LZO"]);
//! ```

mod configuration;
mod devices;
mod error;
mod file;
mod journal;
mod kind;
mod make;
mod order;
mod sensors;
mod session;
mod support;
mod thing;
mod tools;
mod undo;
mod workspace;

pub use configuration::Configuration;
pub use devices::{DeviceFacts, Found, consented, find};
pub use error::MatrixError;
pub use file::{DeviceSource, DeviceSpec, MatrixFile};
pub use kind::{Encryption, FileSystemKind, FileSystemSpec, Layout, RaidBy};
pub use order::block_order;
pub use session::{Bench, Cell, CellEnd, Cleaned, Discard, MatrixEnd, Session, Settings, clean};
pub use support::{lacking, prepare_kernel};
pub use tools::Tools;
pub use workspace::{Begun, Workspace};

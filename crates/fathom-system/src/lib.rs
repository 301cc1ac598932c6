//! Describes the machine, resolves targets and witnesses what the devices did.
//!
//! Everything is read below a [`Root`], so that trees written by hand stand in for machines.
//!
//! ```no_run
//! use fathom_system::{Root, resolve_target};
//!
//! let root = Root::system();
//! let target = resolve_target(&root, "/home".as_ref())?;
//! for drive in &target.drives {
//!     assert!(!drive.name.is_empty());
//! }
//! # Ok::<(), fathom_system::SystemError>(())
//! ```

mod block;
mod cgroup;
mod check;
mod clock;
mod describe;
mod doctor;
mod drive;
mod error;
mod fields;
mod filesystem;
mod mounts;
mod observer;
mod root;
mod sensors;
mod target;
mod words;

pub use check::{DeviceGrant, Refusal, RefusalReason, check_device};
pub use clock::ClockWitness;
pub use describe::{DescribeOptions, describe};
pub use doctor::{Finding, Severity, doctor};
pub use drive::{drives_with_serial, reveal_serials};
pub use error::SystemError;
pub use fields::{SystemFields, system_fields, target_line};
pub use observer::MachineObserver;
pub use root::{Root, Space};
pub use sensors::{SensorInfo, Sensors};
pub use target::{Candidate, list_targets, resolve_target};

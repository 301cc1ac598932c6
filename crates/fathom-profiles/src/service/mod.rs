//! Servers that tests need.

mod handle;

pub use handle::{ServiceHandle, ServiceKind};

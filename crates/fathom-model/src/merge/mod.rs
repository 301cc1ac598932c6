//! Joining result files, and editing them. Everything here makes new files out of old ones.

mod edit;
mod join;
mod systems;

pub use edit::{Edit, edit};
pub use join::merge;
pub use systems::system_difference;

#[cfg(test)]
mod tests;

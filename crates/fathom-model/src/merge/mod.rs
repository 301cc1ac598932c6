//! Joining result files, and editing them. Everything here makes new files out of old ones.

mod systems;

pub use systems::system_difference;

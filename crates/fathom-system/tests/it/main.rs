//! Machines written by hand, this machine, and its loop devices.

mod machine;
mod trees;

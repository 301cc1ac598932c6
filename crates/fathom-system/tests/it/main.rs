//! Machines written by hand, this machine, and its loop devices.

mod loops;
mod machine;
mod trees;

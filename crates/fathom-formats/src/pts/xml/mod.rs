//! `composite.xml` and its relatives, of every age of the Phoronix Test Suite.
//!
//! The reader walks over the events of the XML once and holds on to slices of the input; only what
//! goes into the result is copied. Elements it does not know are named in the warnings with their
//! text. A file that ends too early (an interrupted run) gives what is complete.

mod cursor;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::read;
pub use write::write;

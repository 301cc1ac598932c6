//! Files of the Phoronix Test Suite and of OpenBenchmarking.org, in all the shapes they come in.

mod draft;
mod fields;
mod known;
mod notes;
mod xml;

pub use xml::{read as read_xml, write as write_xml};

//! Files of the Phoronix Test Suite and of OpenBenchmarking.org, in all the shapes they come in.

mod csv;
mod draft;
mod entry;
mod fields;
mod json;
mod known;
mod notes;
mod page;
mod text;
mod xml;

pub use csv::{read as read_csv, read_raw as read_raw_csv};
pub use json::read as read_json;
pub use page::read as read_page;
pub use text::read as read_text;
pub use xml::{read as read_xml, write as write_xml};

/// The client of a system, from its version: other tools name themselves.
fn client(version: &str) -> String {
    match version {
        "" => String::new(),
        version if version.starts_with(|c: char| c.is_alphabetic() && c != 'v') => version.into(),
        version => format!("Phoronix Test Suite v{}", version.trim_start_matches('v')),
    }
}

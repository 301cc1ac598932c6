#![no_main]

use fathom_formats::csv::{Rows, write as write_csv};
use fathom_fuzz::{check_round_trip, within_memory};
use fathom_model::merge::merge;
use fathom_report::svg::Look;
use fathom_report::text::{self, ShowOptions};
use libfuzzer_sys::fuzz_target;

// A file of any format, told by its content, and everything that is done with what was read.
fuzz_target!(|bytes: &[u8]| {
    let read = |bytes: &[u8]| fathom_formats::import(bytes, "fuzz_bw.1.log");
    let Ok(file) = within_memory(bytes, read) else {
        return;
    };
    check_round_trip(&file);
    write_csv(&file, Rows::Trials);
    write_csv(&file, Rows::Entries);
    fathom_formats::pts::write_xml(&file);
    text::show(&file, ShowOptions::default());
    text::pts(&file, 79);
    text::pts_stats(&file, 79);
    text::pts_executive_summary(&file);
    fathom_report::markdown(&file);
    fathom_report::html(&file);
    fathom_report::svg::charts(&file, Look::Print);
    if let Ok(twice) = merge(&[&file, &file]) {
        assert!(twice == file, "merging a file with itself changes it");
    }
});

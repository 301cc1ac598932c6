#![no_main]

use fathom_fuzz::{check_round_trip, within_memory};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = within_memory(bytes, fathom_formats::pts::read_json) {
        check_round_trip(&file);
    }
});

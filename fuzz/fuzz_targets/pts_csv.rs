#![no_main]

use fathom_formats::pts::{read_csv, read_raw_csv};
use fathom_fuzz::{check_round_trip, within_memory};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = [within_memory(bytes, read_csv), within_memory(bytes, read_raw_csv)];
    for file in read.into_iter().flatten() {
        check_round_trip(&file);
    }
});

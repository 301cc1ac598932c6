#![no_main]

use fathom_fuzz::within_memory;
use fathom_runner::suite::Suite;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read = |bytes: &[u8]| {
        // It was a text a moment ago.
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        Suite::parse("fuzz.toml", text).is_ok()
    };
    within_memory(text.as_bytes(), read);
});

//! What the fuzz targets share: a limit on memory, and what must hold of a file that was read.

use std::alloc::System;

use cap::Cap;
use fathom_model::ResultFile;

/// Every allocation is counted; one beyond the limit ends the process, which is a finding.
#[global_allocator]
static MEMORY: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes of memory a byte of input may cost.
const FACTOR: usize = 10;
/// Memory that does not depend on the input: tables, the first pieces of buffers.
const ALLOWANCE: usize = 256 << 10;

/// Runs a reader that may take ten times its input, beside a fixed allowance.
pub fn within_memory<T>(input: &[u8], read: impl FnOnce(&[u8]) -> T) -> T {
    let limit = MEMORY.allocated() + FACTOR * input.len() + ALLOWANCE;
    // The limit cannot be below what is allocated already.
    let _ = MEMORY.set_limit(limit);
    let result = read(input);
    let _ = MEMORY.set_limit(usize::MAX);
    result
}

/// What was read can be written and is then the same again.
pub fn check_round_trip(file: &ResultFile) {
    let written = fathom_formats::native::write(file);
    let again = fathom_formats::native::read(&written);
    assert!(
        again.as_ref().is_ok_and(|again| again == file),
        "it reads back differently"
    );
}

//! The binary `fathom`.
fn main() {}

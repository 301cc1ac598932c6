//! Reads result files and prints what is in them: `cargo run --release -p fathom-formats --example
//! import FILE...`. Used for measuring the readers.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example talks to a person"
)]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path)?;
        match fathom_formats::import(&bytes, &path) {
            Ok(file) => {
                let entries: usize = file.results.iter().map(|r| r.entries.len()).sum();
                let warnings = file.origin.as_ref().map_or(0, |o| o.warnings.len());
                println!(
                    "{path}: {} systems, {} results, {entries} entries, {warnings} warnings",
                    file.systems.len(),
                    file.results.len(),
                );
                // The process ends: giving the memory back piece by piece would be for nothing.
                std::mem::forget(file);
            }
            Err(error) => eprintln!("{error}"),
        }
    }
    Ok(())
}

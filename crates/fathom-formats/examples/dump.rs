//! Prints a result file as Fathom's own: `cargo run -p fathom-formats --example dump FILE`.
#![allow(clippy::print_stdout, reason = "an example talks to a person")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let file = fathom_formats::import(&std::fs::read(&path)?, &path)?;
        print!(
            "{}",
            String::from_utf8(fathom_formats::native::write(&file))?
        );
    }
    Ok(())
}

//! The shared corpus, where it is present.

use fathom_model::ResultFile;

/// A file of the shared corpus; `None`, said loudly, when the corpus is not here.
pub fn shared(path: &str) -> Option<String> {
    let path = fathom_testkit::shared(env!("CARGO_MANIFEST_DIR"), path)?;
    Some(std::fs::read_to_string(path).unwrap())
}

/// An oracle output without the lines about the internet that precede it.
pub fn oracle(name: &str) -> Option<String> {
    let text = shared(&format!("corpus/oracle/{name}"))?;
    let (_, rest) = text
        .split_once("User Configuration.\n\n")
        .expect("a notice line");
    Some(rest.to_owned())
}

/// The file an oracle output was made from.
pub fn oracle_input(name: &str) -> Option<ResultFile> {
    let name = format!("{name}.composite.input.xml");
    let text = shared(&format!("corpus/oracle/{name}"))?;
    Some(fathom_formats::import(text.as_bytes(), &name).unwrap())
}

/// A public export.
pub fn seed(name: &str) -> Option<Vec<u8>> {
    shared(&format!("seeds/{name}")).map(String::into_bytes)
}

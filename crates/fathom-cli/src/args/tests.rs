use std::path::Path;

use super::*;

fn option(text: &str) -> Result<OptionArg, String> {
    text.parse()
}

#[test]
fn options_are_split_into_test_name_and_values() {
    let parsed = option("io.block-size=4KiB, 64KiB").unwrap();
    assert_eq!(parsed.test.as_deref(), Some("io"));
    assert_eq!(parsed.name, "block-size");
    assert_eq!(parsed.values, ["4KiB", "64KiB"]);
    let parsed = option("distribution=zipf:1.2").unwrap();
    assert_eq!((parsed.test, parsed.name.as_str()), (None, "distribution"));
    assert_eq!(parsed.values, ["zipf:1.2"]);
    for wrong in ["depth", "=1", "depth=", "depth=1,,2", ".depth=1", "io.=1"] {
        assert!(option(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

/// Words of a command line in a document.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    let line = line.split(" | ").next().unwrap_or_default();
    shell_words::split(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Command lines in a document: ``fathom ...`` between backticks or after `$ `.
fn commands(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(command) = line.strip_prefix("$ fathom ") {
            found.push(words(&format!("fathom {command}")));
        } else if let Some(command) = line.strip_prefix("$ cargo run --release -- ") {
            found.push(words(&format!("fathom {command}")));
        }
        for part in line.split('`').skip(1).step_by(2) {
            if part.starts_with("fathom ") {
                found.push(words(part));
            }
        }
    }
    found
}

#[test]
fn every_command_in_the_documents_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md"), root.join("ARCHITECTURE.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        pages.push(entry.unwrap().path());
    }
    let mut count = 0;
    for page in pages
        .iter()
        .filter(|page| page.extension().is_some_and(|e| e == "md"))
    {
        let text = std::fs::read_to_string(page).unwrap();
        for words in commands(&text) {
            count += 1;
            if let Err(error) = command().try_get_matches_from(&words) {
                let is_help = !error.use_stderr();
                assert!(is_help, "{}: {}: {error}", page.display(), words.join(" "));
            }
        }
    }
    assert!(count > 20, "only {count} commands found");
}

//! Generated pages are what the program says; run `cargo xtask gen` when they are not.

use std::path::Path;

use crate::bench::Bench;

#[track_caller]
fn is_generated(words: &[&str], file: &str) {
    let Some(bench) = Bench::new() else { return };
    let page = bench.run(words).expect(0).stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == page, "{file} is not up to date: cargo xtask gen");
}

#[test]
fn generated_pages_are_up_to_date() {
    is_generated(&["reference", "interface"], "docs/interface.md");
    is_generated(&["reference", "verdicts"], "docs/verdicts.md");
    is_generated(&["reference", "commands"], "docs/commands.md");
    is_generated(&["reference", "tests"], "docs/tests.md");
    is_generated(&["man"], "docs/fathom.1");
}

#[test]
fn every_shell_gets_a_completion_script() {
    let Some(bench) = Bench::new() else { return };
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = bench.run(&["completions", shell]).expect(0).stdout;
        assert!(script.contains("fathom"), "{shell}");
    }
    let page = bench.run(&["man", "run"]).expect(0).stdout;
    assert!(page.contains("dry\\-run"), "{page}");
}

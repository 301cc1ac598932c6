//! `cargo xtask gen`: pages of `docs/` that come from the program itself.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::run::{cargo, insist, output, root};

/// Arguments of `fathom` and the file its output is.
const PAGES: [(&[&str], &str); 5] = [
    (&["reference", "tests"], "docs/tests.md"),
    (&["reference", "interface"], "docs/interface.md"),
    (&["reference", "verdicts"], "docs/verdicts.md"),
    (&["reference", "commands"], "docs/commands.md"),
    (&["man"], "docs/fathom.1"),
];

/// Writes the pages.
pub fn write() -> Result<()> {
    for (path, text) in pages()? {
        let is_same = std::fs::read_to_string(&path).is_ok_and(|old| old == text);
        if !is_same {
            std::fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
            println!("wrote {}", path.display());
        }
    }
    // The schema of result files is compared, and so written, by a test of its own crate.
    let mut schema = cargo(&[
        "test",
        "--quiet",
        "--package",
        "fathom-formats",
        "--test",
        "it",
        "schema",
    ]);
    schema.env("UPDATE_GOLDEN", "1");
    insist(schema)
}

/// Fails when a page is not what the program says.
pub fn check() -> Result<()> {
    let stale: Vec<String> = pages()?
        .into_iter()
        .filter(|(path, text)| std::fs::read_to_string(path).ok().as_ref() != Some(text))
        .map(|(path, _)| path.display().to_string())
        .collect();
    if !stale.is_empty() {
        bail!("not up to date: {}; run cargo xtask gen", stale.join(", "));
    }
    Ok(())
}

fn pages() -> Result<Vec<(PathBuf, String)>> {
    let one = |(arguments, file): (&[&str], &str)| {
        let mut words = vec!["run", "--quiet", "--package", "fathom-cli", "--"];
        words.extend(arguments);
        let text = output(cargo(&words))?;
        Ok((root().join(file), text))
    };
    PAGES.into_iter().map(one).collect()
}

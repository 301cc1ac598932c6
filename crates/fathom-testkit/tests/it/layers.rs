//! The layer table of the workspace against the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use toml::{Table, Value};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn manifest(path: &Path) -> Table {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The table, in its order from the lowest layer up.
fn layers() -> Vec<(String, BTreeSet<String>)> {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let table = manifest(&root().join("Cargo.toml"));
    let rows = table["workspace"]["metadata"]["layers"].as_table().unwrap();
    let mut rows: Vec<(usize, String, BTreeSet<String>)> = rows
        .iter()
        .map(|(name, edges)| {
            // The parser sorts; the order of the file is what counts.
            let place = text.find(&format!("\n{name} = [")).unwrap();
            let edges = edges.as_array().unwrap().iter();
            let edges = edges
                .map(|edge| edge.as_str().unwrap().to_owned())
                .collect();
            (place, name.clone(), edges)
        })
        .collect();
    rows.sort();
    rows.into_iter()
        .map(|(_, name, edges)| (name, edges))
        .collect()
}

/// The crates with those of ours they depend on: in the build, and in tests.
fn edges() -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let mut crates = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path().join("Cargo.toml");
        if !path.exists() {
            continue;
        }
        let table = manifest(&path);
        let name = table["package"]["name"].as_str().unwrap().to_owned();
        let mut build = ours(table.get("dependencies"));
        build.extend(ours(table.get("build-dependencies")));
        if let Some(targets) = table.get("target").and_then(Value::as_table) {
            for target in targets.values() {
                build.extend(ours(target.get("dependencies")));
            }
        }
        crates.insert(name, (build, ours(table.get("dev-dependencies"))));
    }
    crates
}

fn ours(dependencies: Option<&Value>) -> BTreeSet<String> {
    let table = dependencies.and_then(Value::as_table);
    let names = table.into_iter().flat_map(Table::keys);
    names
        .filter(|name| name.starts_with("fathom-"))
        .cloned()
        .collect()
}

const TESTKIT: &str = "fathom-testkit";

#[test]
fn every_crate_has_a_row_and_every_row_a_crate() {
    let rows: BTreeSet<String> = layers().into_iter().map(|(name, _)| name).collect();
    let mut crates: BTreeSet<String> = edges().into_keys().collect();
    assert!(crates.remove(TESTKIT), "the testkit is in no layer");
    assert_eq!(rows, crates);
}

#[test]
fn the_table_points_down_only() {
    let mut below: BTreeSet<String> = BTreeSet::new();
    for (name, allowed) in layers() {
        let upward: Vec<&String> = allowed.difference(&below).collect();
        assert!(
            upward.is_empty(),
            "{name} may depend on {upward:?}, which are not below it"
        );
        below.insert(name);
    }
}

#[test]
fn crates_depend_only_on_what_their_row_allows() {
    let edges = edges();
    for (name, allowed) in layers() {
        let (build, _) = &edges[&name];
        let extra: Vec<&String> = build.difference(&allowed).collect();
        assert!(
            extra.is_empty(),
            "{name} depends on {extra:?}, which its row in [workspace.metadata.layers] does not name"
        );
    }
    let (testkit, _) = &edges[TESTKIT];
    let allowed: BTreeSet<String> = ["fathom-base", "fathom-stats", "fathom-model"]
        .map(String::from)
        .into();
    assert!(
        testkit.is_subset(&allowed),
        "the testkit serves all crates from the model up: {testkit:?}"
    );
}

#[test]
fn tests_reach_up_only_to_the_testkit() {
    let edges = edges();
    let mut below: BTreeSet<String> = BTreeSet::from([TESTKIT.to_owned()]);
    for (name, _) in layers() {
        let (_, dev) = &edges[&name];
        let upward: Vec<&String> = dev.difference(&below).collect();
        assert!(
            upward.is_empty(),
            "tests of {name} use {upward:?} of a higher layer"
        );
        below.insert(name);
    }
}

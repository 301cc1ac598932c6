//! Files that are not what they should be.

use crate::bench::{Bench, SMALL_QUICK};

/// `fathom show FILE` with this content ends with `code` and says `what`.
#[track_caller]
fn shown(bench: &Bench, content: &[u8], code: i32, what: &str) {
    let path = bench.target.join("file.json");
    std::fs::write(&path, content).unwrap();
    let ended = bench.run(&["show", "./file.json"]).expect(code);
    assert!(ended.stderr.contains(what), "{}", ended.stderr);
    assert!(ended.stderr.lines().count() <= 20, "{}", ended.stderr);
}

#[test]
fn bad_files_are_refused_with_their_name_and_place() {
    let Some(bench) = Bench::new() else { return };
    shown(&bench, b"{\"fathom_result\":1,\n\"title\":3}", 1, "line 2");
    shown(&bench, b"{\"fathom_result\":99}", 1, "newer");
    shown(&bench, b"", 1, "file.json");
    shown(&bench, b"\x00\xff\x00\xff", 1, "file.json");
    shown(&bench, b"{\"fathom_result\":1", 1, "file.json");
    let ended = bench.run(&["show", "./missing.json"]).expect(3);
    assert!(ended.stderr.contains("missing.json"), "{}", ended.stderr);
    let ended = bench.run(&["show", "./"]).expect(2);
    assert!(ended.stderr.contains("is a directory"), "{}", ended.stderr);
}

#[test]
fn a_saved_result_that_is_damaged_is_listed_as_such_and_hides_no_other() {
    let Some(bench) = Bench::new() else { return };
    bench.run(&SMALL_QUICK).expect(0);
    let saved = bench.data().join("results/damaged.json");
    std::fs::write(&saved, "{\"fathom_result\": 1, \"cases\": 7").unwrap();
    let listed = bench.run(&["list", "results"]).expect(0);
    assert_eq!(listed.stdout.lines().count(), 2, "{}", listed.stdout);
    assert!(listed.stdout.contains("damaged"), "{}", listed.stdout);
    assert!(
        listed.stdout.contains("cannot be read"),
        "{}",
        listed.stdout
    );
    bench.run(&["show", "latest"]).expect(0);
    bench.run(&["show", "damaged"]).expect(1);
}

#[test]
fn what_newer_versions_wrote_into_a_result_survives_showing_it() {
    let Some(bench) = Bench::new() else { return };
    let path = bench.target.join("later.json");
    std::fs::write(
        &path,
        "{\"fathom_result\":1,\"title\":\"t\",\"later\":{\"a\":[1]}}",
    )
    .unwrap();
    let shown = bench.run(&["show", "./later.json", "--json"]).expect(0);
    assert_eq!(shown.json()["later"]["a"][0], 1);
}

#[test]
fn a_public_result_is_there_under_its_name() {
    let Some(bench) = Bench::new() else { return };
    let listed = bench.run(&["list", "references"]).expect(0);
    for line in listed.stdout.lines() {
        let name = line.split_whitespace().next().unwrap();
        let shown = bench.run(&["show", name]).expect(0);
        assert!(shown.stdout.contains("SQLite"), "{}", shown.stdout);
    }
    assert!(
        listed.stdout.contains("seed-nvme-2018"),
        "{}",
        listed.stdout
    );
}

#[test]
fn results_are_imported_edited_merged_and_exported() {
    let Some(bench) = Bench::new() else { return };
    let json = bench
        .run(&["export", "seed-nvme-2018", "--format", "json"])
        .expect(0);
    std::fs::write(bench.target.join("nvme.json"), &json.stdout).unwrap();
    bench.run(&["import", "nvme.json"]).expect(0);
    bench
        .run(&["edit", "nvme", "--title", "Mine", "--rename", "mine"])
        .expect(0);
    let shown = bench.run(&["show", "mine", "--json"]).expect(0).json();
    assert_eq!(shown["title"], "Mine");
    bench.run(&["edit", "mine", "--undo"]).expect(0);
    let shown = bench.run(&["show", "mine", "--json"]).expect(0);
    assert_eq!(shown.stdout, json.stdout);
    let joined = ["merge", "mine", "seed-nvme-2018", "--name", "both"];
    bench.run(&joined).expect(0);
    let both = bench.run(&["show", "both", "--json"]).expect(0).json();
    let one: serde_json::Value = json.json();
    let count = |file: &serde_json::Value| file["results"].as_array().unwrap().len();
    assert_eq!(
        count(&both),
        count(&one),
        "merging twice the same adds nothing"
    );
    bench.run(&joined).expect(2);
    bench.run(&["export", "mine", "-o", "page.html"]).expect(0);
    let page = std::fs::read_to_string(bench.target.join("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    bench
        .run(&["export", "mine", "--format", "svg", "-o", "charts"])
        .expect(0);
    assert!(crate::bench::files(&bench.target.join("charts")).len() > 5);
    let xml = bench
        .run(&["export", "mine", "--format", "pts-xml"])
        .expect(0);
    assert!(xml.stdout.contains("<PhoronixTestSuite>"));
    let table = bench.run(&["export", "mine", "--format", "csv"]).expect(0);
    assert!(table.stdout.starts_with("file,system,"), "{}", table.stdout);
    match bench.run(&["export", "mine", "-o", "page.pdf"]) {
        made if cfg!(feature = "export") => {
            made.expect(0);
            let pdf = std::fs::read(bench.target.join("page.pdf")).unwrap();
            assert!(pdf.starts_with(b"%PDF-"));
        }
        refused => assert!(refused.expect(3).stderr.contains("--features export")),
    }
    bench.run(&["export", "mine", "--format", "svg"]).expect(2);
    bench.run(&["export", "mine"]).expect(2);
    bench.run(&["edit", "both", "--delete"]).expect(0);
    bench.run(&["show", "both"]).expect(2);
    bench.run(&["edit", "mine"]).expect(2);
}

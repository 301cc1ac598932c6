use expect_test::{Expect, expect};
use fathom_model::ResultFile;

use super::*;

/// Everything a text export says, one result a line.
fn summary(file: &ResultFile) -> String {
    let mut text = format!("{} | {}\n", file.title, file.description);
    for system in &file.systems {
        let flat = [
            fields::join(&system.hardware),
            fields::join(&system.software),
        ];
        text.push_str(&format!(
            "[{}] {} / {}\n",
            system.identifier, flat[0], flat[1]
        ));
    }
    for record in &file.results {
        let entries: Vec<String> = record
            .entries
            .iter()
            .map(|entry| {
                let details = entry.details.as_ref();
                let word = details.and_then(|d| d.text.clone());
                let value = entry.value.as_ref().map(ToString::to_string);
                let extremes = details.map_or("", |d| d.pts_json.text());
                format!(
                    "{}={}{extremes}",
                    entry.system,
                    value.or(word).unwrap_or_default()
                )
            })
            .collect();
        let pts = record.pts.as_ref().unwrap();
        text.push_str(&format!(
            "{} | {} | {} | {} | {} | {}: {}\n",
            record.title,
            record.version,
            record.description,
            record.metric.unit,
            pts.proportion,
            pts.display_format,
            entries.join(", ")
        ));
    }
    for warning in &file.origin.as_ref().unwrap().warnings {
        text.push_str(&format!("! {}: {}\n", warning.place, warning.text));
    }
    text
}

#[track_caller]
fn check(text: &str, expect: &Expect) {
    expect.assert_eq(&summary(&read(text.as_bytes()).unwrap()));
}

#[track_caller]
fn check_both(text: &str, expect: &Expect) {
    check(text, expect);
    let collapsed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut file = read(collapsed.as_bytes()).unwrap();
    let warnings = &mut file.origin.as_mut().unwrap().warnings;
    warnings.retain(|warning| !warning.text.starts_with("title and description stand"));
    expect.assert_eq(&summary(&file));
}

const SMALL: &str = "
Two drives
AMD EPYC 7601 testing with drives.


A 1: 

\tProcessor: AMD EPYC 7601 @ 2.2GHz, Disk: 1 x A, 2 x B

\tOS: Ubuntu 17.04, File-System: ext4

A 1 + LZO: 

\tProcessor: AMD EPYC 7601 @ 2.2GHz, Disk: C

\tOS: Ubuntu 17.04, File-System: btrfs


SQLite 3.8.10.2
Test Target: Default
Seconds < Lower Is Better
A 1 ....... 39.78 |=====
A 1 + LZO . 5.00  |=


BlogBench 1.0
Test: Read
Final Score > Higher Is Better
A 1 + LZO . 1000 |=====


PostMark 1.51
Disk Transaction Performance
TPS > Higher Is Better
A 1 ....... 5597 |=====
A 1 + LZO . 60   |


Flexible IO Tester 3.40
Drive Temperature (nvme1n1) Monitor
Celsius < Lower Is Better
A 1 ....... MIN: 30.0  AVG: 55.2  MAX: 70.0 
A 1 + LZO . MIN: 25.0  AVG: 38.0  MAX: 45.0 


Checks 1
Suite: posix
A 1 ....... PASS
A 1 + LZO . FAIL
";

#[test]
fn every_kind_of_block_is_read_with_and_without_its_lines() {
    check_both(
        SMALL,
        &expect![[r#"
            Two drives | AMD EPYC 7601 testing with drives.
            [A 1] Processor: AMD EPYC 7601 @ 2.2GHz, Disk: 1 x A, 2 x B / OS: Ubuntu 17.04, File-System: ext4
            [A 1 + LZO] Processor: AMD EPYC 7601 @ 2.2GHz, Disk: C / OS: Ubuntu 17.04, File-System: btrfs
            SQLite | 3.8.10.2 | Test Target: Default | Seconds | LIB | BAR_GRAPH: A 1=39.78, A 1 + LZO=5.00
            BlogBench | 1.0 | Test: Read | Final Score | HIB | BAR_GRAPH: A 1 + LZO=1000
            PostMark | 1.51 | Disk Transaction Performance | TPS | HIB | BAR_GRAPH: A 1=5597, A 1 + LZO=60
            Flexible IO Tester | 3.40 | Drive Temperature (nvme1n1) Monitor | Celsius | LIB | LINE_GRAPH: A 1=55.2{"max-result":"70.0","min-result":"30.0"}, A 1 + LZO=38.0{"max-result":"45.0","min-result":"25.0"}
            Checks | 1 | Suite: posix |  |  | PASS_FAIL: A 1=PASS, A 1 + LZO=FAIL
        "#]],
    );
}

#[test]
fn names_may_look_like_rows_and_titles_may_be_unknown() {
    check_both(
        "T
D testing with X

v . 1.5:
Processor: D, Memory: 1GB
OS: O, Screen Resolution: 800x600

My Own Bench 2.1-rc1
Size: 4 - Mode: A
Widgets/s > Higher Is Better
v . 1.5 . 12.5 |===

My Own Bench 2.1-rc1
Size: 8 - Mode: A
Widgets/s > Higher Is Better
v . 1.5 . 0 |
",
        &expect![[r#"
            T | D testing with X
            [v . 1.5] Processor: D, Memory: 1GB / OS: O, Screen Resolution: 800x600
            My Own Bench | 2.1-rc1 | Size: 4 - Mode: A | Widgets/s | HIB | BAR_GRAPH: v . 1.5=12.5
            My Own Bench | 2.1-rc1 | Size: 8 - Mode: A | Widgets/s | HIB | BAR_GRAPH: v . 1.5=0
        "#]],
    );
}

#[test]
fn a_run_that_failed_everywhere_leaves_a_heading_without_rows() {
    check(
        "T\n\n\nToy 1.0\nMode: Failing\nMB/s > Higher Is Better\n\n\nToy 1.0\nMode: Good\n\
         MB/s > Higher Is Better\nA . 5 |===\nA stray line\n",
        &expect![[r#"
            T | 
            [A]  / 
            Toy | 1.0 | Mode: Failing | MB/s | HIB | BAR_GRAPH: 
            Toy | 1.0 | Mode: Good | MB/s | HIB | BAR_GRAPH: A=5
            ! end of the file: text after the last result was left out: A stray line
            ! result 1: Toy 1.0 - Mode: Failing: no system has a value (PTS leaves out runs that failed)
            ! result 2: system "A" has no System block; it is shown without hardware and software
        "#]],
    );
}

#[test]
fn colours_of_a_terminal_are_left_out() {
    let text = "T\n\nToy 1.0\nMB/s > Higher Is Better\n\u{1b}[1;31mA . 5 |===\u{1b}[0m\n";
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.results[0].entries[0].system, "A");
}

#[test]
fn a_text_without_results_is_refused_with_what_was_expected() {
    let error = read(b"Dear diary, nothing Is Better")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no result found") && error.contains("VALUE |===="),
        "{error}"
    );
}

//! What is said when the command line is wrong, and how output behaves.

use std::process::Stdio;

use expect_test::{Expect, expect};

use crate::bench::{Bench, SMALL_QUICK, end};

fn refused(words: &[&str], expected: Expect) {
    let Some(bench) = Bench::new() else { return };
    let ended = bench.run(words).expect(2);
    assert_eq!(ended.stdout, "");
    expected.assert_eq(&ended.stderr);
    assert!(!bench.data().exists() && bench.left().is_empty());
}

#[test]
fn wrong_names_and_values_get_the_nearest_right_one() {
    refused(
        &["run", "quikc"],
        expect![[r#"
        error: there is no suite, test or saved result named quikc
          did you mean quick?
          fathom list shows all of them
    "#]],
    );
    refused(
        &["run", "io", "-o", "blok-size=4KiB"],
        expect![[r#"
        error: test io has no option blok-size
          did you mean block-size?
          fathom info io lists its options
    "#]],
    );
    refused(
        &["run", "io", "-o", "block-size=4kb"],
        expect![[r#"
        error: option block-size of test io: "4kb" is not accepted
          expected a number with B, KiB, MiB, GiB, KB, MB, GB (4KiB; 4k also means 4KiB)
    "#]],
    );
    refused(&["run", "io", "-o", "engine=iouring"], expect![[]]);
    refused(&["run", "io", "--goal", "much"], expect![[]]);
    refused(
        &["run", "io", "--min-trials", "5", "--max-trials", "2"],
        expect![[]],
    );
    refused(&["run", "io", "-o", "depth"], expect![[]]);
    refused(&["run", "--destroy", "X"], expect![[]]);
    refused(&["info", "oi"], expect![[]]);
    refused(&["show", "nothing"], expect![[]]);
    refused(&["run", "io", "--name", "a/b"], expect![[]]);
}

#[test]
fn no_result_at_all_says_how_to_make_one() {
    let Some(bench) = Bench::new() else { return };
    let ended = bench.run(&["show"]).expect(3);
    assert!(
        ended.stderr.contains("fathom run makes one"),
        "{}",
        ended.stderr
    );
    let ended = bench.run(&["resume"]).expect(3);
    assert!(
        ended.stderr.contains("no unfinished run"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let Some(bench) = Bench::new() else { return };
    for words in [vec!["list"], vec!["man"], vec!["system", "--json"]] {
        let mut child = bench.command(&words).spawn().unwrap();
        drop(child.stdout.take());
        let ended = end(child).expect(0);
        assert_eq!(ended.stderr, "");
    }
}

#[test]
fn a_pipe_gets_no_escape_sequences_unless_asked_for() {
    let Some(bench) = Bench::new() else { return };
    bench.run(&SMALL_QUICK).expect(0);
    let has_escape = |words: &[&str]| bench.run(words).expect(0).stdout.contains('\u{1b}');
    assert!(!has_escape(&["show"]));
    assert!(has_escape(&["show", "--color", "always"]));
    assert!(!has_escape(&["show", "--color", "never"]));
    let narrow = bench
        .command(&["show"])
        .env("COLUMNS", "60")
        .output()
        .unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
}

#[test]
fn help_goes_to_stdout_and_names_every_exit_code() {
    let Some(bench) = Bench::new() else { return };
    let help = bench.run(&["--help"]).expect(0);
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "70 ", "130 "] {
        assert!(help.stdout.contains(&format!("\n  {code}")), "{code}");
    }
    assert_eq!(help.stderr, "");
    assert_eq!(bench.run(&[]).expect(2).stdout, "");
}

#[test]
fn without_any_place_to_save_the_variable_is_named() {
    let Some(bench) = Bench::new() else { return };
    let mut command = bench.command(&["show"]);
    command.env_remove("FATHOM_DATA").env_remove("HOME");
    let ended = end(command.stdout(Stdio::piped()).spawn().unwrap()).expect(3);
    assert!(ended.stderr.contains("FATHOM_DATA"), "{}", ended.stderr);
}

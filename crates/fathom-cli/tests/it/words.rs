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
            error: no case of this run has an option blok-size
              did you mean block-size?
              fathom info TEST lists the options of a test
        "#]],
    );
    refused(
        &["run", "io", "-o", "block-size=4kb"],
        expect![[r#"
        error: option block-size of test io: "4kb" is not accepted
          expected a number with B, KiB, MiB, GiB, KB, MB, GB (4KiB; 4k also means 4KiB)
    "#]],
    );
    refused(
        &["run", "io", "-o", "engine=iouring"],
        expect![[r#"
        error: option engine of test io: "iouring" is not accepted
          expected one of auto, io_uring, libaio, psync, sync, posixaio, mmap, null
          did you mean io_uring?
    "#]],
    );
    refused(
        &["run", "io", "--goal", "much"],
        expect![[r#"
            error: --goal: "much" is not accepted
              expected per cent from 0.01 to 100 (2%)
        "#]],
    );
    refused(
        &["run", "io", "--min-trials", "5", "--max-trials", "2"],
        expect![[r#"
            error: at least 5 trials and at most 2 contradict
              raise --max-trials or lower --min-trials
        "#]],
    );
    refused(
        &["run", "io", "-o", "depth"],
        expect![[r#"
        error: invalid value 'depth' for '--option <OPTION=VALUE[,VALUE]>': expected OPTION=VALUE, TEST.OPTION=VALUE, or several values: block-size=4KiB,64KiB

        For more information, try '--help'.
    "#]],
    );
    refused(
        &["info", "oi"],
        expect![[r#"
        error: there is no test and no suite named oi
          fathom list tests and fathom list suites show them
    "#]],
    );
    refused(
        &["show", "nothing"],
        expect![[r#"
            error: there is no saved result and no file nothing
              fathom list shows what there is
        "#]],
    );
    refused(
        &["run", "io", "--name", "a/b"],
        expect![[r#"
        error: the name "a/b" holds '/'
          expected letters, digits, dashes, underscores and dots, a letter or digit first
          a-b would do
    "#]],
    );
    refused(
        &["run", "io", "--name", "quick"],
        expect![[r#"
            error: --name quick: there is a suite of this name
              fathom run would take the name for it; choose another
        "#]],
    );
    refused(
        &["run", "/dev"],
        expect![[r#"
            error: /dev is a directory; expected a suite, a test or a result
              to measure it: fathom run --target /dev
        "#]],
    );
}

#[test]
fn consent_to_overwrite_a_directory_is_a_mistake() {
    let Some(bench) = Bench::new() else { return };
    let ended = bench.run(&["run", "--destroy", "X"]).expect(2);
    assert!(ended.stderr.contains("is a directory"), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 2, "{}", ended.stderr);
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

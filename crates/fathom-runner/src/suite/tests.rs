use expect_test::{Expect, expect};
use fathom_base::{Bytes, Nanos, Percent};
use proptest::prelude::*;

use super::*;
use crate::settings::Cap;

const HEAD: &str = "format = 1\nname = \"mine\"\ntitle = \"Mine\"\n";

#[test]
fn a_suite_is_read_with_matrix_numbers_and_places() {
    let text = format!(
        "{HEAD}description = \"\"\"\nSome words.\n\"\"\"\n\
         [run]\ngoal = \"1.5%\"\nmin-trials = 5\nbudget = \"90s\"\nwrite-limit = \"20GB\"\n\
         [[case]]\ntest = \"io\"\nlabel = \"RND\"\nimplementation = \"program\"\n\
         options = {{ rw = \"randread\", depth = [1, 32], direct = true, skew = 0.5 }}\n\
         [[case]]\ntest = \"postmark\"\nreason = \"comes later\"\n"
    );
    let suite = Suite::parse("mine.toml", &text).unwrap();
    assert_eq!(
        (suite.name.as_str(), suite.title.as_str()),
        ("mine", "Mine")
    );
    assert_eq!(suite.description, "Some words.");
    assert_eq!(suite.run.goal, Percent::new(1.5));
    assert_eq!(suite.run.min_trials, Some(5));
    assert_eq!(suite.run.run_budget, Some(Cap::At(Nanos::from_secs(90))));
    let limit = Bytes::new(20_000_000_000);
    assert_eq!(suite.run.write_limit, Some(Cap::At(limit)));
    let first = &suite.cases[0];
    assert_eq!(first.implementation, Some(ImplementationKind::Program));
    let options: Vec<(&str, Vec<&str>)> = first
        .options
        .iter()
        .map(|option| {
            let values = option.values.iter().map(String::as_str).collect();
            (option.name.as_str(), values)
        })
        .collect();
    assert_eq!(
        options,
        [
            ("rw", vec!["randread"]),
            ("depth", vec!["1", "32"]),
            ("direct", vec!["yes"]),
            ("skew", vec!["0.5"]),
        ],
        "in the order of the file"
    );
    assert_eq!(
        first.options[1].place,
        Place {
            line: 16,
            column: 38
        }
    );
    assert_eq!(suite.cases[1].reason, "comes later");
}

#[test]
fn errors_name_file_place_and_what_was_expected() {
    let check = |text: &str, expect: Expect| {
        let text = text.replace("HEAD", HEAD);
        expect.assert_eq(&Suite::parse("s.toml", &text).unwrap_err().to_string());
    };
    check(
        "format = 2\nname = \"a\"\ntitle = \"\"",
        expect![
            "suite s.toml, line 1, column 10: format 2 written for a newer version of Fathom; this one reads format 1"
        ],
    );
    check(
        "format = 1\nname = \"../a\"\ntitle = \"\"",
        expect![[
            r#"suite s.toml, line 2, column 8: name "../a" is not accepted; expected letters, digits, dashes, underscores and dots, a letter or digit first, at most 64 characters"#
        ]],
    );
    check(
        "HEADcolour = 1",
        expect![
            "suite s.toml, line 4, column 1: unknown field `colour`, expected one of `format`, `name`, `title`, `description`, `run`, `case`"
        ],
    );
    check(
        "HEAD[run]\nmin-trails = 3",
        expect![
            "suite s.toml, line 5, column 1: there is no setting min-trails (did you mean min-trials?); expected one of goal, min-trials, max-trials, budget, case-budget, write-limit, trial-limit"
        ],
    );
    check(
        "HEAD[run]\nbudget = \"soon\"",
        expect![[
            r#"suite s.toml, line 5, column 10: budget = "soon": expected a duration above zero (90s, 10m), or none"#
        ]],
    );
    check(
        "HEAD[run]\nmin-trials = 9\nmax-trials = 3",
        expect![
            "suite s.toml, line 6, column 14: at least 9 trials and at most 3: raise max-trials or lower min-trials"
        ],
    );
    check(
        "HEAD[[case]]\nlabel = \"x\"",
        expect!["suite s.toml, line 4, column 1: missing field `test`"],
    );
    check(
        "HEAD[[case]]\ntest = \"io\"\noptions = { size = [] }",
        expect![
            "suite s.toml, line 6, column 20: option size has 0 values; expected from 1 to 1000"
        ],
    );
    check(
        "HEAD[[case]]\ntest = \"io\"\noptions = { size = { a = 1 } }",
        expect![
            "suite s.toml, line 6, column 20: invalid type: map, expected a value (text, number, true or false) or a list of values"
        ],
    );
    check(
        "HEAD[[case]]\ntest = \"io\"\nimplementation = \"magic\"",
        expect![[
            r#"suite s.toml, line 6, column 18: implementation "magic"; expected native or program"#
        ]],
    );
    check(
        "HEAD[[case]\n",
        expect!["suite s.toml, line 4, column 8: unclosed array table, expected `]`"],
    );
    check(
        "title = 3",
        expect!["suite s.toml, line 1, column 9: invalid type: integer `3`, expected a string"],
    );
}

#[test]
fn a_persons_own_suite_goes_before_an_embedded_one_and_a_broken_one_hurts_nobody() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(directory.path().join(name), text).unwrap();
    };
    write("mine.toml", &HEAD.replace("Mine", "My own"));
    write("broken.toml", "format = ");
    write("bytes.toml", "format = 1");
    std::fs::write(directory.path().join("bytes.toml"), b"a = 1\nb = \"\xff\"").unwrap();
    write("notes.txt", "no suite");
    let embedded = [
        ("mine.toml", HEAD.to_owned()),
        ("quick.toml", HEAD.replace("mine", "quick")),
    ];
    let embedded: Vec<(&str, &str)> = embedded.iter().map(|(n, t)| (*n, t.as_str())).collect();
    let load = || Suites::load(&embedded, Some(directory.path())).unwrap();
    assert_eq!(load().get("mine").unwrap().title, "My own");
    assert_eq!(load().iter().count(), 2);
    assert!(load().has("broken") && load().has("quick") && !load().has("notes"));
    let broken: Vec<String> = load().broken().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(broken, ["broken", "bytes"]);
    let error = load().take("broken").unwrap_err().to_string();
    assert!(error.contains("broken.toml, line 1, column"), "{error}");
    let error = load().take("bytes").unwrap_err().to_string();
    assert!(
        error.contains("bytes.toml, line 2, column 6: this is not UTF-8"),
        "{error}"
    );
    assert_eq!(
        load().take("quik").unwrap_err().to_string(),
        "there is no suite named quik; did you mean quick?"
    );
    let nowhere = directory.path().join("missing");
    assert_eq!(
        Suites::load(&embedded, Some(&nowhere))
            .unwrap()
            .iter()
            .count(),
        2
    );
}

#[test]
fn a_place_counts_characters() {
    assert_eq!(
        Place::of("é\nüx", 4),
        Place {
            line: 2,
            column: 1 + 1 - 1
        }
    );
    assert_eq!(Place::of("é\nüx", 5), Place { line: 2, column: 2 });
    assert_eq!(Place::of("ab", 99), Place { line: 1, column: 3 });
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}", tail in "[\\[\\]{}\"=a-z0-9. \n]{0,80}") {
        let _ = Suite::parse("x", &text);
        let _ = Suite::parse("x", &format!("{HEAD}{tail}"));
    }
}

use fathom_testkit::{Bench, conforms};
use proptest::prelude::*;

use super::*;
use crate::classic::testing::{Fake, failures_are_told, installed, settings};

/// Of Debian's postmark 1.53-2, of the case below.
const PRINTED: &str = "\
PostMark v1.51 : 8/14/01
pm>pm>pm>pm>Creating files...Done
Performing transactions..........Done
Deleting files...Done
Time:
\t1 seconds total
\t1 seconds of transactions (500 per second)

Files:
\t307 created (307 per second)
\t\tCreation alone: 50 files (50 per second)
\t\tMixed with transactions: 257 files (257 per second)
\t253 read (253 per second)
\t246 appended (246 per second)
\t307 deleted (307 per second)
\t\tDeletion alone: 64 files (64 per second)
\t\tMixed with transactions: 243 files (243 per second)

Data:
\t1.44 megabytes read (1.44 megabytes per second)
\t1.76 megabytes written (1.76 megabytes per second)
pm>";
const SMALL: [(&str, &str); 4] = [
    ("transactions", "500"),
    ("size-low", "500B"),
    ("size-high", "9000B"),
    ("files", "50"),
];

#[test]
fn what_the_program_prints_is_read_and_is_what_the_plan_says() {
    let reading = Postmark::read(&settings::<Postmark>(&SMALL), PRINTED).unwrap();
    assert_eq!(reading.values["pts-tps"].value(), 500.0);
    assert_eq!(reading.values.len(), 1);
    assert!(reading.counts.contains(&("deleted-alone".to_owned(), 64)));
    assert!(reading.counts.contains(&("create".to_owned(), 257)));
    assert!(
        reading.notes[0].ends_with("uncertain by 100.0 %"),
        "{:?}",
        reading.notes
    );
    assert_eq!(Postmark::version(PRINTED).as_deref(), Some("1.51"));
}

#[test]
fn counters_that_the_seed_does_not_give_are_refused() {
    let read = |text: &str| Postmark::read(&settings::<Postmark>(&SMALL), text).unwrap_err();
    let wrong = PRINTED.replace("253 read", "252 read");
    assert_eq!(
        read(&wrong),
        "counted 252 of \"read\", where the same seed gives 253"
    );
    let cut = PRINTED.split("Deletion alone").next().unwrap();
    assert_eq!(read(cut), "printed no whole report");
    let other = Postmark::read(&settings::<Postmark>(&SMALL[..3]), PRINTED);
    assert!(other.is_err());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(Time:\n\t)?[ 0-9a-z():-]{0,80}") {
        let _ = Postmark::read(&settings::<Postmark>(&SMALL), &text);
        let _ = Postmark::version(&text);
    }
}

#[test]
fn options_become_commands() {
    let text = commands(&settings::<Postmark>(&[
        ("bias-read", "none"),
        ("buffering", "no"),
    ]));
    let expected = [
        "set transactions 250000",
        "set size 5120 524288",
        "set number 500",
        "set seed 42",
        "set read 512",
        "set buffering false",
        "set bias read -1",
        "set bias create 5",
        "run",
    ];
    for line in expected {
        assert!(text.lines().any(|one| one == line), "{line} in {text}");
    }
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed::<Postmark>() else {
        return;
    };
    let trials = conforms(&test, &SMALL, &mut Bench::new());
    // The counters were held against the plan.
    assert_eq!(trials[0].evidence.counts["created"], 307);
    let bench = Bench::new();
    for more in [
        ("subdirectories", "3"),
        ("buffering", "no"),
        ("read-block", "6000B"),
        ("seed", "7"),
        ("bias-read", "none"),
        ("bias-create", "9"),
    ] {
        let typed = [&SMALL[..], &[more]].concat();
        let trials = bench.run(&test, &typed, 1);
        assert!(trials.is_ok(), "{more:?}: {trials:?}");
    }
}

#[test]
fn failures_give_no_figure() {
    failures_are_told::<Postmark>("PostMark v1.51 : 8/14/01", &SMALL);
    // What the program says when it cannot make a file, and then counts it all the same.
    let body =
        format!("echo \"Error: cannot open '158' for writing\"; cat <<'END'\n{PRINTED}\nEND");
    let fake = Fake::<Postmark>::new("PostMark v1.51 : 8/14/01", &body);
    let error = fake.error(&Bench::new(), &SMALL).to_string();
    assert!(error.contains("cannot open '158'"), "{error}");
}

use std::os::fd::OwnedFd;

use fathom_base::process::Program;
use fathom_model::{Test, TestError};
use fathom_testkit::{Bench, conforms};

use super::stdio::Stdio;
use super::*;
use crate::classic::testing::{
    Calls, a_full_disk_is_told, a_planted_link_is_not_followed, child_command, more_work, tool,
    traced, traced_child,
};

const SMALL: [(&str, &str); 4] = [
    ("transactions", "200"),
    ("size-low", "500B"),
    ("size-high", "9000B"),
    ("files", "50"),
];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&PostmarkTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    let counts = &trial.evidence.counts;
    let plan = PostmarkSettings::from_case(&Bench::case(&PostmarkTest::new(), &SMALL))
        .unwrap()
        .plan()
        .unwrap();
    assert_eq!(counts["transaction"], 200);
    assert_eq!(counts["created"], plan.created);
    assert_eq!(counts["initial-create"], 50);
    assert_eq!(counts["read"], plan.read);
    assert_eq!(counts["append"], plan.appended);
    assert_eq!(counts["delete"], plan.deleted_mixed);
    assert_eq!(counts["final-delete"], plan.deleted_alone);
    let io = trial.evidence.io.as_ref().unwrap();
    assert_eq!(io.read_bytes, plan.read_bytes);
    assert_eq!(io.written_bytes, plan.written_bytes_mixed);
    assert!(trial.values["pts-tps"].value() > 0.0);
    let share = trial.evidence.data.as_ref().unwrap().compressible_share;
    assert!(share.unwrap() < 0.01, "{share:?}");
    // The second trial is the same work.
    assert_eq!(trials[1].evidence.counts, trial.evidence.counts);
}

#[test]
fn every_variant_does_what_the_plan_says() {
    let bench = Bench::new();
    // The counters are verified after each trial, so that running is enough.
    for more in [
        vec![("subdirectories", "3")],
        vec![
            ("buffering", "no"),
            ("read-block", "700B"),
            ("write-block", "900B"),
        ],
        vec![("read-block", "6000B"), ("write-block", "9000B")],
        vec![("bias-read", "none")],
        vec![("bias-create", "none")],
        vec![("bias-read", "10"), ("bias-create", "9")],
        vec![("seed", "4294967295")],
        vec![("size-low", "9000B")],
        vec![("scale", "short")],
    ] {
        let trials = bench.run(&PostmarkTest::new(), &with(&more), 1);
        assert!(trials.is_ok(), "{more:?}: {trials:?}");
    }
}

#[test]
fn running_out_of_files_is_said_before_and_while_running() {
    let bench = Bench::new();
    let test = PostmarkTest::new();
    let typed = with(&[("files", "1"), ("bias-create", "0")]);
    let case = Bench::case(&test, &typed);
    let unmet = test.check(&bench.host, &case);
    assert_eq!(
        unmet[0].what,
        "the files run out after 1 of 200 transactions"
    );
    let error = bench.run(&test, &typed, 1).unwrap_err().to_string();
    assert!(
        error.contains("the files ran out after 1 of 200"),
        "{error}"
    );
}

#[test]
fn links_planted_while_it_runs_are_not_followed() {
    let typed = with(&[("subdirectories", "20"), ("transactions", "100000")]);
    let planted = a_planted_link_is_not_followed(&PostmarkTest::new(), &typed);
    assert!(planted > 0, "nothing was planted");
}

#[test]
fn a_full_disk_is_a_clear_error() {
    let typed = [
        ("files", "200"),
        ("size-low", "512KiB"),
        ("transactions", "100"),
    ];
    a_full_disk_is_told(&PostmarkTest::new(), &typed);
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let test = PostmarkTest::new();
    let case = Bench::case(&test, &SMALL);
    let outside = bench.directory().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let link = bench.scratch().join(format!("postmark-{}/7", case.id));
    std::os::unix::fs::symlink(&outside, link).unwrap();
    assert!(prepared.run_once(&bench.context(1)).is_err());
    prepared.run_once(&bench.context(2)).unwrap();
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn cancelling_stops_at_the_next_transaction() {
    let bench = Bench::new();
    let test = PostmarkTest::new();
    let case = Bench::case(&test, &with(&[("transactions", "1000000000")]));
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let directory = bench.scratch().join(format!("postmark-{}", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            // File 60 is created by a transaction.
            while !directory.join("60").exists() {
                std::thread::yield_now();
            }
            bench.cancel.cancel();
        });
        prepared.run_once(&bench.context(1))
    });
    assert!(matches!(result, Err(TestError::Cancelled)), "{result:?}");
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

#[test]
fn the_deadline_ends_a_trial() {
    let mut bench = Bench::new();
    bench.patience = Nanos::new(0);
    let error = bench.run(&PostmarkTest::new(), &SMALL, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

#[test]
fn space_and_inodes_are_those_of_the_plan() {
    let mut bench = Bench::new();
    let test = PostmarkTest::new();
    let mount = bench.host.target.mount.as_mut().unwrap();
    mount.available_bytes = 100 << 20;
    mount.available_inodes = Some(500);
    let unmet = test.check(&bench.host, &Bench::case(&test, &[]));
    assert!(unmet[0].what.contains("has 105 MB free"), "{unmet:?}");
    assert!(unmet[1].what.contains("has 500 inodes free"), "{unmet:?}");
    assert_eq!(test.check(&bench.host, &Bench::case(&test, &SMALL)), []);
}

#[test]
fn buffers_hold_back_and_give_back_every_byte() {
    let bench = Bench::new();
    let root = Root::open(bench.scratch(), Bytes::new(0)).unwrap();
    let text: Vec<u8> = (0..50_000_u32).map(|at| (at * 7 % 251) as u8).collect();
    let open = |flags| -> OwnedFd {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        root.open_file(c"file", flags, mode).unwrap()
    };
    use rustix::fs::OFlags;
    for (write, read) in [
        (1, 1),
        (512, 512),
        (4096, 100),
        (5000, 6000),
        (50_000, 8192),
    ] {
        let mut stdio = Stdio::new();
        let file = open(OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC);
        for block in text.chunks(write) {
            stdio.write(&root, &file, c"file", block).unwrap();
        }
        stdio.flush(&root, &file, c"file").unwrap();
        assert_eq!(std::fs::read(bench.scratch().join("file")).unwrap(), text);
        let file = open(OFlags::RDONLY);
        stdio.open();
        let mut found = Vec::new();
        let mut block = vec![0; read];
        loop {
            let count = stdio.read(&root, &file, c"file", &mut block).unwrap();
            found.extend_from_slice(&block[..count]);
            if count < read {
                break;
            }
        }
        assert!(found == text, "blocks of {write} and {read}");
    }
}

/// The child that `strace` watches.
#[test]
#[ignore = "run by the_system_calls_are_the_originals"]
fn one_trial() {
    traced_child(&PostmarkTest::new());
}

#[test]
fn the_system_calls_are_the_originals() {
    let Some(original) = tool("postmark") else {
        return;
    };
    let bench = Bench::new();
    let cases: [(&[(&str, &str)], &str); 4] = [
        (&[], ""),
        (&[("subdirectories", "3")], "set subdirectories 3\n"),
        (
            &[("read-block", "6000B"), ("write-block", "9000B")],
            "set read 6000\nset write 9000\n",
        ),
        (
            &[
                ("buffering", "no"),
                ("read-block", "700B"),
                ("write-block", "900B"),
            ],
            "set buffering false\nset read 700\nset write 900\n",
        ),
    ];
    for (options, commands) in cases {
        let ours = |transactions: &str| -> Option<Calls> {
            let more = [&[("transactions", transactions)], options].concat();
            let typed = with(&more);
            traced(&child_command(
                "postmark::tests::one_trial",
                bench.directory(),
                &typed,
            ))
        };
        let theirs = |transactions: &str| {
            let mut command = Program::new(&original);
            command.directory = Some(bench.directory().to_path_buf());
            let text = format!(
                "set transactions {transactions}\nset size 500 9000\nset number 50\n\
                 {commands}run\nquit\n"
            );
            command.input = Some(text.into_bytes());
            traced(&command)
        };
        let Some(small) = ours("20") else { return };
        let (Some(large), Some(their_small), Some(their_large)) =
            (ours("100"), theirs("20"), theirs("100"))
        else {
            return;
        };
        let ours = more_work(&small, &large);
        let theirs = more_work(&their_small, &their_large);
        // The process of our trial opens and reads a file of its own more or less now and then.
        for (call, theirs) in &theirs {
            let slack = u64::from(matches!(call.as_str(), "open" | "close" | "read"));
            let apart = ours
                .get(call)
                .copied()
                .unwrap_or_default()
                .abs_diff(*theirs);
            assert!(
                apart <= slack,
                "{call} for 80 transactions more, {options:?}: {ours:?} {theirs}"
            );
        }
        assert!(ours["read"] > 40 && ours["write"] > 80, "{ours:?}");
    }
}

use fathom_base::process::Program;
use fathom_model::{Test, TestError};
use fathom_testkit::{Bench, conforms};

use super::*;
use crate::classic::testing::{
    Calls, a_full_disk_is_told, child_command, more_work, tool, traced, traced_child,
};

const SMALL: [(&str, &str); 2] = [("size", "256KiB"), ("record", "4KiB")];

fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    SMALL.iter().chain(more).copied().collect()
}

#[test]
fn it_keeps_the_contract() {
    let mut bench = Bench::new();
    let trials = conforms(&IozoneTest::new(), &SMALL, &mut bench);
    let trial = &trials[0];
    let calls = |kind: &str| trial.histograms[kind].count();
    assert_eq!(
        (calls("write"), calls("rewrite"), calls("fsync")),
        (64, 64, 2)
    );
    let io = trial.evidence.io.as_ref().unwrap();
    // The account is the chosen operation's alone.
    assert_eq!((io.operations, io.written_bytes), (64, 256 << 10));
    assert_eq!(io.block_size_bytes, Some(4096));
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert!(durability.durable && durability.final_flush_ns.is_some());
    assert_eq!(trial.evidence.file.as_ref().unwrap().size_bytes, 256 << 10);
    let share = trial.evidence.data.as_ref().unwrap().compressible_share;
    assert!(share.unwrap() > 0.98);
}

#[test]
fn every_operation_is_measured_after_those_before_it() {
    let bench = Bench::new();
    for operation in IozoneOperation::ALL {
        let typed = with(&[("operation", operation.name())]);
        let trial = &bench.run(&IozoneTest::new(), &typed, 1).unwrap()[0];
        let done: Vec<&str> = operation.chain().iter().map(|one| one.name()).collect();
        for name in &done {
            assert_eq!(trial.histograms[*name].count(), 64, "{name} of {operation}");
            assert!(trial.values.contains_key(*name), "{name} of {operation}");
        }
        assert_eq!(trial.histograms["fsync"].count(), done.len() as u64);
        let io = trial.evidence.io.as_ref().unwrap();
        let expected = match operation.reads() {
            true => (256 << 10, 0),
            false => (0, 256 << 10),
        };
        assert_eq!((io.read_bytes, io.written_bytes), expected, "{operation}");
        assert_eq!(io.operations, 64);
    }
}

#[test]
fn without_fsync_nothing_is_flushed_in_the_window() {
    let bench = Bench::new();
    let typed = with(&[("fsync", "no")]);
    let trial = &bench.run(&IozoneTest::new(), &typed, 1).unwrap()[0];
    assert!(!trial.histograms.contains_key("fsync"));
    let durability = trial.evidence.durability.as_ref().unwrap();
    assert_eq!((durability.durable, durability.syncs), (false, 0));
    let synced = with(&[("fsync", "no"), ("sync-open", "yes")]);
    let trial = &bench.run(&IozoneTest::new(), &synced, 1).unwrap()[0];
    assert!(trial.evidence.durability.as_ref().unwrap().durable);
}

#[test]
fn pages_begin_with_eight_marks() {
    let sample = phases::sample();
    let expected = |at: usize| if at % 4096 < 8 { b'_' } else { 0 };
    assert!(
        sample
            .iter()
            .enumerate()
            .all(|(at, byte)| *byte == expected(at))
    );
}

#[test]
fn a_full_disk_is_a_clear_error() {
    a_full_disk_is_told(
        &IozoneTest::new(),
        &[("size", "128MiB"), ("record", "1MiB")],
    );
}

#[test]
fn a_link_in_the_way_is_not_followed() {
    let bench = Bench::new();
    let test = IozoneTest::new();
    let case = Bench::case(&test, &SMALL);
    let outside = bench.directory().join("outside");
    std::fs::write(&outside, "precious").unwrap();
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let link = bench
        .scratch()
        .join(format!("iozone-{}/iozone.tmp", case.id));
    std::os::unix::fs::symlink(&outside, link).unwrap();
    let error = prepared.run_once(&bench.context(1)).unwrap_err();
    assert!(error.to_string().contains("iozone.tmp"), "{error}");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
    // The link was removed with what the trial left; the next trial runs.
    prepared.run_once(&bench.context(2)).unwrap();
    prepared.finish(&bench.context(0)).unwrap();
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "precious");
}

#[test]
fn cancelling_stops_at_the_next_record() {
    let bench = Bench::new();
    let test = IozoneTest::new();
    let case = Bench::case(&test, &[("size", "1TiB"), ("record", "4KiB")]);
    let mut prepared = test.prepare(&case, &bench.context(0)).unwrap();
    let file = bench
        .scratch()
        .join(format!("iozone-{}/iozone.tmp", case.id));
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while std::fs::metadata(&file).map_or(0, |meta| meta.len()) < 40_000 {
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
    let error = bench.run(&IozoneTest::new(), &SMALL, 1).unwrap_err();
    assert!(matches!(error, TestError::Deadline { .. }), "{error}");
}

/// The child that `strace` watches.
#[test]
#[ignore = "run by the_system_calls_are_the_originals"]
fn one_trial() {
    traced_child(&IozoneTest::new());
}

/// Calls of our trial for 20 records more.
fn our_calls(bench: &Bench, operation: &str) -> Option<Calls> {
    let calls = |size: &str| {
        let typed = [("size", size), ("record", "4KiB"), ("operation", operation)];
        traced(&child_command(
            "iozone::tests::one_trial",
            bench.directory(),
            &typed,
        ))
    };
    Some(more_work(&calls("80KiB")?, &calls("160KiB")?))
}

#[test]
fn a_record_costs_the_calls_it_should() {
    let bench = Bench::new();
    let Some(calls) = our_calls(&bench, "write") else {
        return;
    };
    assert_eq!(calls, Calls::from([("write".to_owned(), 40)]));
    let Some(calls) = our_calls(&bench, "random-read") else {
        return;
    };
    // Written twice, read once and written once at random.
    let expected = [("write", 60), ("read", 20), ("lseek", 40)];
    assert_eq!(
        calls,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
}

#[test]
fn the_system_calls_are_the_originals() {
    let Some(original) = tool("iozone") else {
        return;
    };
    let bench = Bench::new();
    let cases: [(&str, &[&str]); 3] = [
        ("write", &["-i0"]),
        ("reread", &["-i0", "-i1"]),
        ("random-write", &["-i0", "-i2"]),
    ];
    for (operation, tests) in cases {
        let theirs = |size: &str| {
            let mut command = Program::new(&original)
                .args(["-e", "-r", "4k", "-s", size])
                .args(tests.iter().copied());
            command.directory = Some(bench.directory().to_path_buf());
            traced(&command)
        };
        let Some(ours) = our_calls(&bench, operation) else {
            return;
        };
        let (Some(small), Some(large)) = (theirs("80k"), theirs("160k")) else {
            return;
        };
        assert_eq!(ours, more_work(&small, &large), "{operation}");
    }
}

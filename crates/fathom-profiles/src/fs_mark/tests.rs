use fathom_testkit::{Bench, conforms};
use proptest::prelude::*;

use super::*;
use crate::classic::testing::{failures_are_told, installed, settings, words};

/// Of Debian's fs_mark 3.3-3.
const PRINTED: &str = "
#  fs_mark  -d  f  -s  16384  -n  20  -t  2  -l  log.txt 
#\tVersion 3.3, 2 thread(s) starting at Mon Nov 30 22:16:53 2026
#\tSync method: INBAND FSYNC: fsync() per file in write loop.
#\tApp overhead is time in microseconds spent in the test not doing file writing related system calls.

FSUse%        Count         Size    Files/sec     App Overhead
    69           40        16384       3801.6              356
";
const SMALL: [(&str, &str); 3] = [("size", "16KiB"), ("files", "20"), ("threads", "2")];

#[test]
fn what_the_program_prints_is_read() {
    let reading = FsMark::read(&settings::<FsMark>(&SMALL), PRINTED).unwrap();
    assert_eq!(reading.values["files-per-second"].value(), 3801.6);
    assert_eq!(reading.values["app-overhead"].value(), 356.0);
    assert_eq!(reading.counts, [("file".to_owned(), 40)]);
    assert_eq!(FsMark::version(PRINTED).as_deref(), Some("3.3"));
}

#[test]
fn what_is_no_figure_is_refused() {
    let read = |text: &str| FsMark::read(&settings::<FsMark>(&SMALL), text).unwrap_err();
    assert_eq!(read(""), "printed no files a second");
    let cut = PRINTED.replace("3801.6              356", "");
    assert_eq!(read(&cut), "printed no files a second");
    let fewer = PRINTED.replace("           40 ", "           39 ");
    assert_eq!(read(&fewer), "made 39 of 40 files");
    let none = PRINTED.replace("3801.6", "0.0");
    assert_eq!(read(&none), "printed a rate of 0 files a second");
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(FSUse% Files/sec\n)?[ 0-9a-z.-]{0,60}") {
        let _ = FsMark::read(&settings::<FsMark>(&SMALL), &text);
        let _ = FsMark::version(&text);
    }
}

#[test]
fn options_become_arguments() {
    assert_eq!(
        words::<FsMark>(&SMALL),
        "-d files -l /scratch/case/fs_log.txt -s 16384 -n 20 -t 2 -S 1 -w 16384 -p 40 -r 24"
    );
    let more = [
        ("directories", "32"),
        ("files-per-directory", "9"),
        ("sync", "none"),
    ];
    assert!(words::<FsMark>(&more).ends_with("-t 1 -S 0 -w 16384 -p 40 -r 24 -D 32 -N 9"));
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed::<FsMark>() else {
        return;
    };
    let trials = conforms(&test, &SMALL, &mut Bench::new());
    assert_eq!(trials[0].evidence.counts["file"], 40);
    assert_eq!(test_version(&test), "3.3");
    let bench = Bench::new();
    for more in [
        ("sync", "none"),
        ("sync", "sync-post-reverse"),
        ("directories", "3"),
        ("write-size", "1000B"),
    ] {
        let trials = bench.run(&test, &[SMALL[0], SMALL[1], more], 1);
        assert!(trials.is_ok(), "{more:?}: {trials:?}");
    }
}

fn test_version(test: &FsMarkTest) -> String {
    fathom_model::Test::info(test).implementation.version
}

#[test]
fn failures_give_no_figure() {
    failures_are_told::<FsMark>("#\tVersion 3.3, 1 thread(s) starting", &SMALL);
}

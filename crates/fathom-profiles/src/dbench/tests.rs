use fathom_model::Test;
use fathom_testkit::{Bench, conforms};
use proptest::prelude::*;

use super::*;
use crate::classic::testing::{Fake, failures_are_told, installed, settings, words};

/// Of Debian's dbench 4.0-2.1, two clients, five seconds; some lines left out.
const PRINTED: &str = "\
dbench version 4.00 - Copyright Andrew Tridgell 1999-2004

Running for 5 seconds with load '/usr/share/dbench/client.txt' and minimum warmup 1 secs
failed to create barrier semaphore 
0 of 2 processes prepared for launch   0 sec
releasing clients
   2    101663   555.95 MB/sec  execute   1 sec  latency 11.055 ms
   2    256418   556.02 MB/sec  execute   4 sec  latency 9.531 ms
   2  cleanup   5 sec

 Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX      88148     0.019     6.683
 Qpathinfo      79947     0.008     8.385
 WriteX         43564     0.014     3.937
 ReadX         138392     0.003     4.064
 Flush           6185     0.543     9.870

Throughput 556.018 MB/sec  2 clients  2 procs  max_latency=11.055 ms
";
const VERSION: &str = "dbench version 4.00 - Copyright Andrew Tridgell 1999-2004";

#[test]
fn what_the_program_prints_is_read() {
    let two = settings::<Dbench>(&[("clients", "2")]);
    let reading = Dbench::read(&two, PRINTED).unwrap();
    assert_eq!(reading.values["throughput"].value(), 556.018);
    assert_eq!(reading.values["max-latency"].value(), 11.055);
    let counts: std::collections::BTreeMap<_, _> = reading.counts.into_iter().collect();
    assert_eq!(counts["QUERY_PATH_INFORMATION"], 79_947);
    assert_eq!((counts["ReadX"], counts["unexpected"]), (138_392, 0));
    let sync = PRINTED.replace("MB/sec  2 cl", "MB/sec (sync open) (sync dirs)  2 cl");
    assert!(Dbench::read(&two, &sync).is_ok());
    let complaint = format!("[37] read failed on handle 9 (Success)\n{PRINTED}");
    let reading = Dbench::read(&two, &complaint).unwrap();
    assert!(reading.counts.contains(&("unexpected".to_owned(), 1)));
    assert_eq!(reading.notes[2], "[37] read failed on handle 9 (Success)");
}

#[test]
fn what_is_no_figure_is_refused() {
    let read = |clients: &str, text: &str| {
        let settings = settings::<Dbench>(&[("clients", clients)]);
        Dbench::read(&settings, text).unwrap_err()
    };
    assert_eq!(read("3", PRINTED), "started 2 of 3 clients");
    assert_eq!(read("2", ""), "printed no throughput");
    let zero = PRINTED.replace("Throughput 556.018", "Throughput 0");
    assert_eq!(read("2", &zero), "moved no data in the time");
    for wrong in ["nan", "-1", "x"] {
        let text = PRINTED.replace("Throughput 556.018", &format!("Throughput {wrong}"));
        assert_eq!(read("2", &text), "printed no throughput");
    }
    assert_eq!(Dbench::version(VERSION).as_deref(), Some("4.00"));
    assert_eq!(Dbench::version("dbench: not found"), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "( Operation)?.{0,30}(\nThroughput )?.{0,20}( MB/sec)?.{0,40}") {
        let _ = Dbench::read(&settings::<Dbench>(&[]), &text);
        let _ = Dbench::version(&text);
    }
}

#[test]
fn options_become_arguments() {
    assert_eq!(
        words::<Dbench>(&[("clients", "6")]),
        "-t 600 -c /scratch/case/load.txt 6"
    );
    let all = [
        ("scale", "short"),
        ("fsync", "yes"),
        ("sync-open", "yes"),
        ("sync-directories", "yes"),
        ("resolve", "no"),
        ("target-rate", "2.5"),
    ];
    assert_eq!(
        words::<Dbench>(&all),
        "-t 10 -c /scratch/case/load.txt -s -S -F --no-resolve -R 2.5 1"
    );
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed::<Dbench>() else {
        return;
    };
    let trials = conforms(
        &test,
        &[("time", "2s"), ("clients", "2")],
        &mut Bench::new(),
    );
    let evidence = &trials[0].evidence;
    assert!(evidence.counts["ReadX"] > 100, "{:?}", evidence.counts);
    assert_eq!(evidence.counts["unexpected"], 0, "{:?}", evidence.notes);
    assert!(evidence.cpu.as_ref().unwrap().system_ns > 0);
    assert!(evidence.notes[0].contains("dbench -t 2 -c load.txt 2"));
}

#[test]
fn failures_give_no_figure() {
    failures_are_told::<Dbench>(VERSION, &[("time", "2s")]);
}

#[test]
fn another_version_is_an_unmet_need() {
    let fake = Fake::<Dbench>::new("dbench version 5.01 - whoever", "");
    let bench = Bench::new();
    let unmet = fake.test.check(&bench.host, &Bench::case(&fake.test, &[]));
    assert!(
        unmet[0].what.starts_with("dbench 5.01 reads other"),
        "{unmet:?}"
    );
}

#[test]
fn a_load_file_that_changed_is_refused() {
    let Some(test) = installed::<Dbench>() else {
        return;
    };
    let bench = Bench::new();
    let path = bench.directory().join("load.txt");
    std::fs::write(&path, generate(1)).unwrap();
    let typed = [("time", "2s"), ("loadfile", path.to_str().unwrap())];
    let case = Bench::case(&test, &typed);
    std::fs::write(&path, generate(2)).unwrap();
    let Err(error) = test.prepare(&case, &bench.context(0)) else {
        panic!("another load file was taken");
    };
    assert!(error.to_string().contains("another load file"), "{error}");
    assert_eq!(bench.leftovers(), Vec::<String>::new());
}

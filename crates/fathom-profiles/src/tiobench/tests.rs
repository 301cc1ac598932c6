use fathom_testkit::{Bench, conforms};
use proptest::prelude::*;

use super::*;
use crate::classic::testing::{Fake, failures_are_told, installed, settings, words};

/// In the program's layout, with figures of a run of the version of 2017 here.
const PRINTED: &str = "\
Tiotest results for 4 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write         128 MBs |   14.7 s |   8.702 MB/s |   0.1 %  |   2.3 % |
| Random Write  128 MBs |    0.3 s | 432.794 MB/s |   1.0 %  |  20.0 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
| Write        |        1.500 ms |       23.000 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'
";
const VERSION: &str = "tiotest v0.5, (c) 1999";
const RANDOM: [(&str, &str); 1] = [("operation", "random-write")];

#[test]
fn the_true_rate_follows_from_either_credit() {
    let reading = Tiotest::read(&settings::<Tiotest>(&RANDOM), PRINTED).unwrap();
    let value = |reading: &Reading, id: &str| reading.values[id].value();
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
    // 4000 blocks of 4 KiB in the time of 128 MiB.
    assert!(near(
        value(&reading, "random-write"),
        432.794 * 15.625 / 128.0
    ));
    assert!(near(value(&reading, "pts-bandwidth"), 432.794));
    assert!(near(value(&reading, "write"), 8.702));
    // The program as it is since 2023 counts what it did.
    let fixed = PRINTED.replace(
        " 128 MBs |    0.3 s | 432.794",
        "  16 MBs |    0.3 s |  52.831",
    );
    let reading = Tiotest::read(&settings::<Tiotest>(&RANDOM), &fixed).unwrap();
    assert!(near(value(&reading, "random-write"), 52.831));
    assert!(near(value(&reading, "pts-bandwidth"), 432.794));
}

#[test]
fn what_is_no_figure_is_refused() {
    let read = |text: &str| Tiotest::read(&settings::<Tiotest>(&RANDOM), text).unwrap_err();
    assert_eq!(read(""), "printed no rate of Write");
    let cut = PRINTED.replace("Random Write  128", "Other");
    assert_eq!(read(&cut), "printed no rate of Random Write");
    let other = PRINTED.replace("Random Write  128", "Random Write  100");
    assert!(read(&other).starts_with("printed 100 MBs, where 15.625"));
    let zero = PRINTED.replace("432.794", "0.000");
    assert_eq!(read(&zero), "printed a rate of 0 of Random Write");
    for endless in ["nan", "inf"] {
        let text = PRINTED.replace("432.794", endless);
        assert_eq!(read(&text), "printed no rate of Random Write");
    }
    assert_eq!(Tiotest::version(VERSION).as_deref(), Some("0.5"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(\\| Write )?[ 0-9A-Za-z./|-]{0,60}") {
        let _ = Tiotest::read(&settings::<Tiotest>(&[]), &text);
        let _ = Tiotest::version(&text);
    }
}

#[test]
fn options_become_arguments() {
    assert_eq!(
        words::<Tiotest>(&[]),
        "-S -f 32 -t 4 -r 1000 -b 4096 -k3 -k2 -k1"
    );
    let typed = [
        ("operation", "random-read"),
        ("sync-open", "no"),
        ("threads", "8"),
    ];
    assert_eq!(
        words::<Tiotest>(&typed),
        "-f 32 -t 8 -r 1000 -b 4096 -k2 -k1"
    );
    let broken = settings::<Tiotest>(&[("size", "36KiB")]);
    assert!(Tiotest::unmet(&broken, None)[0].what.contains("whole MiB"));
}

#[test]
fn a_script_that_prints_what_the_program_does_gives_a_trial() {
    let fake = Fake::<Tiotest>::new(VERSION, &format!("cat <<'END'\n{PRINTED}\nEND"));
    let trials = conforms(&fake.test, &RANDOM, &mut Bench::new());
    assert!(
        trials[0].evidence.notes[2].contains("Random Write"),
        "{:?}",
        trials[0].evidence.notes
    );
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed::<Tiotest>() else {
        return;
    };
    conforms(
        &test,
        &[("size", "1MiB"), ("random-operations", "50")],
        &mut Bench::new(),
    );
}

#[test]
fn failures_give_no_figure() {
    failures_are_told::<Tiotest>(VERSION, &[]);
}

use fathom_testkit::{Bench, conforms};
use proptest::prelude::*;

use super::*;
use crate::classic::testing::{Fake, failures_are_told, installed, settings, words};

/// In the program's layout, with figures of a run here.
const PRINTED: &str = "\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
\t\tCompiled for 64 bit mode.

\tInclude fsync in write timing
\tFile size set to 4096 kB
\tOutput is in kBytes/sec
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread
            4096      64   267498  1143620  4526514  5358571

iozone test complete.
";
const SMALL: [(&str, &str); 3] = [("size", "4MiB"), ("record", "64KiB"), ("operation", "read")];

#[test]
fn what_the_program_prints_is_read() {
    let reading = Iozone::read(&settings::<Iozone>(&SMALL), PRINTED).unwrap();
    let value = |id: &str| reading.values[id].value();
    assert_eq!(value("kib-per-second"), 4_526_514.0);
    assert_eq!(value("read"), 4_526_514.0 / 1024.0);
    assert_eq!(value("write"), 267_498.0 / 1024.0);
    assert_eq!(Iozone::version(PRINTED).as_deref(), Some("3.489"));
}

#[test]
fn what_is_no_figure_is_refused() {
    let read = |typed: &[(&str, &str)], text: &str| {
        Iozone::read(&settings::<Iozone>(typed), text).unwrap_err()
    };
    assert_eq!(read(&SMALL, ""), "printed no row of figures");
    let cut = PRINTED.replace("  4526514  5358571", "");
    assert!(read(&SMALL, &cut).starts_with("printed the figures [4096, 64,"));
    let zero = PRINTED.replace("5358571", "0");
    assert!(read(&SMALL, &zero).starts_with("printed a rate of 0"));
    // Of another size.
    assert!(read(&[], PRINTED).contains("not [524288, 4]"));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(kB reclen\n)?[ 0-9a-z.-]{0,60}") {
        let _ = Iozone::read(&settings::<Iozone>(&SMALL), &text);
        let _ = Iozone::version(&text);
    }
}

#[test]
fn options_become_arguments() {
    assert_eq!(words::<Iozone>(&SMALL), "-r 64k -s 4096k -i 0 -i 1 -e");
    let typed = [
        ("operation", "random-write"),
        ("fsync", "no"),
        ("sync-open", "yes"),
    ];
    assert_eq!(words::<Iozone>(&typed), "-r 4k -s 524288k -i 0 -i 2 -o");
}

#[test]
fn a_script_that_prints_what_the_program_does_gives_a_trial() {
    let fake = Fake::<Iozone>::new(PRINTED, &format!("cat <<'END'\n{PRINTED}\nEND"));
    let trials = conforms(&fake.test, &SMALL, &mut Bench::new());
    assert_eq!(trials[0].evidence.counts["records"], 64);
}

#[test]
fn it_keeps_the_contract() {
    let Some(test) = installed::<Iozone>() else {
        return;
    };
    conforms(&test, &SMALL, &mut Bench::new());
    let typed = [SMALL[0], SMALL[1], ("operation", "random-write")];
    let trials = Bench::new().run(&test, &typed, 1);
    assert!(trials.is_ok(), "{trials:?}");
}

#[test]
fn failures_give_no_figure() {
    failures_are_told::<Iozone>("Version $Revision: 3.489 $", &SMALL);
}

use fathom_testkit::{Bench, skipped};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn here() -> HdparmTest {
    HdparmTest::new(&std::env::var_os("PATH").unwrap_or_default())
}

fn settings(typed: &[(&str, &str)]) -> HdparmSettings {
    HdparmSettings::from_case(&Bench::case(&HdparmTest::new(OsStr::new("")), typed)).unwrap()
}

#[test]
fn lines_of_the_program_are_read() {
    let line = " Timing buffered disk reads: 706 MB in  3.00 seconds = 234.98 MB/sec";
    let printed = parse(line).unwrap();
    assert_eq!(printed.bytes, Bytes::new(706 << 20));
    assert_eq!(printed.mib_per_second, 234.98);
    let line = " Timing O_DIRECT disk reads: 512 MB in  0.52 seconds = 986.87 MB/sec";
    assert_eq!(parse(line).unwrap().mib_per_second, 986.87);
    let line = " Timing buffered disk reads:   2 MB in  4.00 seconds = 512.00 kB/sec";
    assert_eq!(parse(line).unwrap().mib_per_second, 0.5);
    for line in [
        "",
        "/dev/loop0:",
        " Timing cached reads:   20000 MB in  2.00 seconds = 10000.00 MB/sec",
        " Timing buffered disk reads: 706 MB in  3.00 seconds = nan MB/sec",
        " Timing buffered disk reads: 706 MB in  3.00 seconds = 1 GB/sec",
        " Timing buffered disk reads: 99999999999999999999 MB in  3.00 seconds = 1 MB/sec",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
    assert_eq!(version_of("hdparm v9.65\n").as_deref(), Some("9.65"));
    assert_eq!(version_of("hdparm v"), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "( Timing )?.{0,40}( disk reads:)?.{0,60}") {
        let _ = parse(&text);
        let _ = version_of(&text);
    }
}

#[test]
fn options_become_arguments() {
    let words = |typed: &[(&str, &str)]| {
        let all = arguments(&settings(typed), Path::new("/dev/loop9"));
        all.join(OsStr::new(" ")).into_string().unwrap()
    };
    assert_eq!(words(&[]), "-t /dev/loop9");
    assert_eq!(
        words(&[("direct", "yes"), ("offset", "5GiB")]),
        "-t --direct --offset 5 /dev/loop9"
    );
}

#[test]
fn what_the_program_cannot_do_is_an_unmet_need() {
    let bench = Bench::new();
    let test = HdparmTest::new(OsStr::new(""));
    let what = |typed: &[(&str, &str)]| -> Vec<String> {
        let unmet = test.check(&bench.host, &Bench::case(&test, typed));
        unmet.into_iter().map(|one| one.what).collect()
    };
    let found = what(&[("scale", "short"), ("offset", "1MiB")]);
    assert_eq!(found[0], "hdparm is not installed");
    assert!(
        found[1].ends_with("is no block device, and hdparm reads no other"),
        "{found:?}"
    );
    assert_eq!(
        found[2],
        "hdparm waits and reads 3 s each, not 750ms and 750ms"
    );
    assert_eq!(found[3], "hdparm takes an offset in whole GiB, not 1MiB");
    assert_eq!(what(&[]).len(), 2);
}

/// A loop device on a file, detached on drop.
struct Loop(
    PathBuf,
    #[expect(dead_code, reason = "holds the file")] TempDir,
);

impl Loop {
    fn new(bytes: usize) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        std::fs::write(&image, vec![7; bytes]).unwrap();
        let image = image.display().to_string();
        match losetup(&["--find", "--show", &image]) {
            Some(path) => Some(Self(PathBuf::from(path.trim()), directory)),
            None => {
                skipped("no loop device can be made here");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        losetup(&["--detach", &self.0.display().to_string()]);
    }
}

fn losetup(arguments: &[&str]) -> Option<String> {
    let program = find_program("losetup", OsStr::new("/usr/sbin:/sbin"))?;
    let finished = run(&Program::new(program).args(arguments), &Cancel::new()).ok()?;
    finished.is_success().then(|| finished.stdout_text())
}

#[test]
fn a_loop_device_is_read() {
    let test = here();
    if test.hdparm().is_none() {
        skipped("hdparm is not installed");
        return;
    }
    let Some(device) = Loop::new(16 << 20) else {
        return;
    };
    let mut bench = Bench::new();
    bench.device = Some(device.0.clone());
    bench.host.target.kind = TargetKind::BlockDevice;
    bench.host.is_root = true;
    let case = Bench::case(&test, &[]);
    assert_eq!(test.check(&bench.host, &case), []);
    let trial = &bench.run(&test, &[], 1).unwrap()[0];
    // The device is at its end long before three seconds are over.
    assert_eq!(trial.evidence.counts["bytes-read"], 16 << 20);
    assert!(trial.values["read"].value() > 0.0);
    assert!(trial.evidence.host.is_some());
    assert!(trial.evidence.notes[0].contains("Timing buffered disk reads"));
    for id in trial.values.keys() {
        assert!(definition::metrics().iter().any(|metric| metric.id == *id));
    }
}

#[test]
fn a_device_that_is_none_is_an_error_with_the_programs_words() {
    let test = here();
    if test.hdparm().is_none() {
        skipped("hdparm is not installed");
        return;
    }
    let mut bench = Bench::new();
    bench.device = Some(bench.directory().join("nothing"));
    let error = bench.run(&test, &[], 1).unwrap_err().to_string();
    assert!(
        error.contains("gave no figure") && error.contains("nothing"),
        "{error}"
    );
}

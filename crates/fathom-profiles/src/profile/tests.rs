use fathom_testkit::Bench;
use proptest::prelude::*;

use super::*;
use crate::Profiles;

/// A small profile that is good; parts are replaced by cases.
const GOOD: &str = r#"
format = 1
id = "small"
title = "Small"
version = "1.0"
summary = "A small one."
[[option]]
name = "size"
kind = "size"
default = "4KiB"
help = "Size."
[[option]]
name = "mode"
kind = "choice"
default = "read"
menu = ["read", "write"]
help = "Mode."
[let]
blocks = "ceil(size / 1KiB)"
[run]
command = ["true", "{size:bytes}", { when = "mode=write", then = ["-w"], else = ["-r"] }]
[[metric]]
id = "rate"
unit = "MB/s"
better = "higher"
regex = 'rate ([0-9.]+)'
"#;

#[track_caller]
fn wrong(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    let text = GOOD.replacen(from, to, 1);
    Profile::parse("x.toml", &text).unwrap_err().to_string()
}

#[test]
fn every_built_in_profile_is_good() {
    let profiles = Profiles::built_in().unwrap();
    for (file, text) in crate::BUILT_IN {
        let profile = Profile::parse(file, text).unwrap();
        assert_eq!(format!("{}.toml", profile.id), *file);
        assert!(profiles.get(&profile.id).is_some());
        for test in profiles.tests(std::ffi::OsStr::new("")) {
            // Every default is accepted, and every option says what it is.
            let _ = Bench::case(&*test, &[]);
        }
    }
}

#[test]
fn what_is_wrong_is_said_with_line_and_column() {
    for (from, to, expected) in [
        (
            "format = 1",
            "format = 2",
            "x.toml, line 2, column 10: format 2 is written for a newer",
        ),
        ("format = 1\n", "", "missing field `format`"),
        (
            "id = \"small\"",
            "id = \"Small\"",
            "line 3, column 6: \"Small\" is not accepted as a name",
        ),
        (
            "version = \"1.0\"",
            "version = \"one\"",
            "line 5, column 11: version \"one\"",
        ),
        (
            "kind = \"size\"",
            "kind = \"sise\"",
            "line 9, column 8: \"sise\" is no kind of option",
        ),
        (
            "default = \"4KiB\"",
            "default = \"4kk\"",
            "line 10, column 11: option size",
        ),
        (
            "default = \"read\"",
            "default = \"raed\"",
            "did you mean read?",
        ),
        ("menu = [\"read\", \"write\"]", "menu = []", "needs a menu"),
        (
            "ceil(size",
            "ceil(sise",
            "line 19, column 10: there is no option or value sise; did you mean size?",
        ),
        (
            "ceil(size / 1KiB)",
            "ceil(size /)",
            "expected a number, a name or a parenthesis, found \")\", at its character 12",
        ),
        (
            "{size:bytes}",
            "{siz:bytes}",
            "there is no option or value siz; did you mean size?",
        ),
        ("{size:bytes}", "{size:parsecs}", "asks for an unknown form"),
        ("{size:bytes}", "{size:s}", "has not the form"),
        ("{size:bytes}", "{size", "has an open brace"),
        ("mode=write\"", "mode=wrote\"", "did you mean write?"),
        (
            "mode=write\"",
            "moed=write\"",
            "there is no option moed to ask for",
        ),
        (
            "command = [\"true\"",
            "command = [true",
            "expected a word, or a table with when and then",
        ),
        (
            "([0-9.]+)",
            "[0-9.]+",
            "line 26, column 9: the pattern must have one group",
        ),
        (
            "([0-9.]+)",
            "([0-9.+)",
            "the regular expression cannot be read",
        ),
        (
            "better = \"higher\"",
            "better = \"more\"",
            "line 25, column 10: \"more\" is not accepted; expected one of higher, lower, neither",
        ),
        (
            "regex = 'rate",
            "json = \"/a\"\nregex = 'rate",
            "has 2 sources",
        ),
        (
            "regex = 'rate ([0-9.]+)'",
            "json = \"a\"",
            "is no JSON pointer",
        ),
        (
            "regex = 'rate ([0-9.]+)'",
            "driver = \"x\"",
            "[run] names none",
        ),
        (
            "regex = 'rate ([0-9.]+)'",
            "compute = \"rat * 2\"",
            "did you mean rate?",
        ),
        ("regex = ", "from = \"file:../x\"\nregex = ", "is no output"),
        ("help = \"Size.\"", "help = \" \"", "has an empty help"),
        (
            "name = \"mode\"",
            "name = \"size\"",
            "the name size is taken",
        ),
        (
            "name = \"mode\"",
            "name = \"cpus\"",
            "the name cpus is taken",
        ),
        ("[let]", "[lte]", "unknown field `lte`"),
        (
            "[let]",
            "[short]\nmode = \"1\"\n[let]",
            "[short] replaces options that are numbers",
        ),
        (
            "blocks = \"ceil(size / 1KiB)\"",
            "a = \"b\"\nb = \"a\"",
            "is computed from itself",
        ),
        ("blocks = ", "size = ", "the name size is taken"),
        (
            "id = \"rate\"",
            "id = \"rate\"\npick = \"worst\"",
            "expected one of last, first, sum",
        ),
    ] {
        let said = wrong(from, to);
        assert!(
            said.contains(expected),
            "{to}\n  said: {said}\n  expected: {expected}"
        );
        assert!(
            said.contains("line ") || expected.contains("missing"),
            "{said}"
        );
    }
}

#[test]
fn what_changes_no_figure_changes_no_identity() {
    let good = Profile::parse("x.toml", GOOD).unwrap();
    let other = |from: &str, to: &str| {
        let text = GOOD.replacen(from, to, 1);
        Profile::parse("x.toml", &text).unwrap()
    };
    let words = other("help = \"Size.\"", "help = \"The size.\" # and a comment");
    assert_eq!(words.work_hash, good.work_hash);
    assert_ne!(words.content_hash, good.content_hash);
    let work = other("\"-w\"", "\"-W\"");
    assert_ne!(work.work_hash, good.work_hash);
}

#[test]
fn what_it_would_run_is_shown() {
    let profile = Profile::parse("x.toml", GOOD).unwrap();
    assert_eq!(
        profile.commands(),
        ["run: true {size:bytes} [-w if mode=write else -r]"]
    );
}

fn value(text: &str) -> Result<f64, String> {
    let lookup = |name: &str| match name {
        "cpus" => Some(4.0),
        "memory" => Some(8.0 * f64::from(1 << 30)),
        _ => None,
    };
    let expression = Expression::parse(text).map_err(|error| error.what)?;
    expression.value(&lookup)
}

#[test]
fn expressions_compute() {
    for (text, expected) in [
        ("1", 1.0),
        ("2 + 3 * 4", 14.0),
        ("(2 + 3) * 4", 20.0),
        ("10 - 4 - 3", 3.0),
        ("12 / 4 / 3", 1.0),
        ("1.5 * 2", 3.0),
        ("128MiB", 134_217_728.0),
        ("5s", 5.0),
        ("2m", 120.0),
        ("cpus * 4", 16.0),
        ("floor(memory / 1MiB * 0.003)", 24.0),
        ("max(1, min(cpus, 2, 3))", 2.0),
        ("round(2.5) + ceil(1.1)", 5.0),
    ] {
        assert_eq!(value(text), Ok(expected), "{text}");
    }
    for (text, expected) in [
        ("", "found the end"),
        ("1 +", "found the end"),
        ("(1", "a closing parenthesis"),
        ("1 2", "an operator or the end"),
        ("min(1)", "does not take 1 arguments"),
        ("sqrt(1)", "min, max, floor, ceil or round"),
        ("unknown", "has no number"),
        ("1 / 0", "no finite number"),
        ("1kk", "a number, a size or a time"),
    ] {
        let said = value(text).unwrap_err();
        assert!(said.contains(expected), "{text}: {said}");
    }
    let deep = format!("{}1{}", "(".repeat(1000), ")".repeat(1000));
    assert!(value(&deep[..900]).is_err());
}

#[test]
fn templates_are_filled() {
    let lookup = |name: &str| {
        Some(match name {
            "size" => Value::Size(fathom_base::Bytes::new(3 << 19)),
            "time" => Value::Time(fathom_base::Nanos::from_millis(1500)),
            "flag" => Value::Flag(true),
            "count" => Value::Number(24.0),
            "word" => Value::Text("a b".to_owned()),
            _ => return None,
        })
    };
    for (text, expected) in [
        ("--size={size:bytes}", "--size=1572864"),
        ("{size:MiB}M {size:KiB}k {size}", "1.5M 1536k 1536KiB"),
        ("{time:s} {time:ms} {time}", "1.5 1500 1500ms"),
        ("{flag:01}{flag}", "1yes"),
        ("{count} {word} {{x}}", "24 a b {x}"),
        ("{word:found}", "a b"),
        ("", ""),
    ] {
        let template = Template::parse(text).unwrap();
        assert_eq!(template.filled(&lookup).unwrap(), expected);
        assert_eq!(template.to_string(), text);
    }
    for text in ["{", "}", "{}", "{A}", "{size:x}", "{size"] {
        assert!(Template::parse(text).is_err(), "{text}");
    }
    let unknown = Template::parse("{nobody}").unwrap();
    assert!(
        unknown
            .filled(&lookup)
            .unwrap_err()
            .contains("{nobody} has no value")
    );
}

/// The figure of a metric of a profile in a text.
#[track_caller]
fn figure(profile: &str, typed: &[(&str, &str)], metric: &str, log: &str) -> Result<f64, String> {
    let profiles = Profiles::built_in().unwrap();
    let profile = profiles.get(profile).unwrap();
    let tests = crate::ProfileTest::of(profile, std::ffi::OsStr::new(""));
    let case = Bench::case(tests.first().unwrap(), typed);
    let found = profile.read_log(&case, log);
    let found = found.into_iter().find(|(known, _)| known.id == metric);
    found.unwrap().1.map(|figure| figure.value())
}

#[test]
fn a_metric_that_is_missing_is_an_error_and_never_zero() {
    for (profile, metric) in [
        ("pgbench", "tps"),
        ("sysbench-oltp", "queries"),
        ("mariadb-slap", "seconds-mean"),
        ("sysbench-fileio", "reads"),
        ("ioping", "latency-mean"),
        ("bonnie", "write"),
        ("fio-program", "iops"),
        ("iozone-program", "write"),
        ("hdparm-program", "read"),
        ("cassandra", "rate"),
    ] {
        for log in ["", "nothing of the kind\n", "tps = \n", "\u{0}\u{fffd}"] {
            let found = figure(profile, &[], metric, log);
            assert!(found.is_err(), "{profile} {metric} of {log:?}: {found:?}");
        }
    }
}

#[test]
fn output_of_programs_is_read() {
    let captured = |name: &str| {
        let path = format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    let check = |profile, metric, file: &str, expected: f64| {
        let found = figure(profile, &[], metric, &captured(file));
        assert_eq!(found, Ok(expected), "{profile} {metric} in {file}");
    };
    for (profile, metric, file, expected) in include!("../../tests/data/expected.in") {
        check(profile, metric, file, expected);
    }
}

#[test]
fn output_of_other_versions_is_read() {
    let check = |profile, typed: &[(&str, &str)], metric, file: &str, expected: Option<f64>| {
        let place = format!("corpus/logs/{file}");
        let Some(path) = fathom_testkit::shared(env!("CARGO_MANIFEST_DIR"), &place) else {
            return;
        };
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let found = figure(profile, typed, metric, &text);
        assert_eq!(found.ok(), expected, "{profile} {metric} in {file}");
    };
    check(
        "pgbench",
        &[],
        "tps",
        "pgbench-16devel-rw.log",
        Some(10296.576307),
    );
    check(
        "pgbench",
        &[],
        "latency",
        "pgbench-16devel-rw.log",
        Some(1.554),
    );
    check(
        "pgbench",
        &[],
        "tps",
        "pgbench-stdout-pkb.txt",
        Some(13.062579),
    );
    check(
        "pgbench",
        &[],
        "latency",
        "pgbench-stdout-pkb.txt",
        Some(1108.418),
    );
    check(
        "bonnie",
        &[],
        "write",
        "bonnie-1.96-csv-pkb.txt",
        Some(72853.0),
    );
    check(
        "bonnie",
        &[],
        "rewrite",
        "bonnie-1.96-csv-pkb.txt",
        Some(47358.0),
    );
    check(
        "bonnie",
        &[],
        "read",
        "bonnie-1.96-csv-pkb.txt",
        Some(156821.0),
    );
    check(
        "bonnie",
        &[],
        "seeks",
        "bonnie-1.96-csv-pkb.txt",
        Some(537.7),
    );
    // Without the line of values there is nothing to read.
    check("bonnie", &[], "write", "bonnie-1.97-single.txt", None);
    check(
        "hdparm-program",
        &[],
        "read",
        "hdparm-tT-ok.txt",
        Some(392.62),
    );
    check(
        "hdparm-program",
        &[],
        "read",
        "hdparm-t-three-devices.txt",
        last_of_three(),
    );
    check(
        "iozone-program",
        &[],
        "write",
        "iozone-3.471-full-armv7.txt",
        None,
    );
    // A statistic of another benchmark is no figure.
    check("pgbench", &[], "tps", "sysbench-cpu-vc.txt", None);
}

/// Of several devices the last one counts.
fn last_of_three() -> Option<f64> {
    let place = "corpus/logs/hdparm-t-three-devices.txt";
    let path = fathom_testkit::shared(env!("CARGO_MANIFEST_DIR"), place)?;
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let line = text.lines().rfind(|line| line.contains("disk reads"))?;
    line.split('=')
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

#[test]
fn every_prefix_of_an_output_gives_the_figure_or_an_error() {
    for (profile, metric, file, expected) in include!("../../tests/data/expected.in") {
        let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let step = (text.len() / 100).max(1);
        for end in (0..text.len())
            .step_by(step)
            .filter(|end| text.is_char_boundary(*end))
        {
            // A figure may be cut in its middle, which nobody can tell; it is never larger.
            if let Ok(found) = figure(profile, &[], metric, &text[..end]) {
                let is_part = (0.0..=expected).contains(&found);
                assert!(
                    is_part || file.contains("progress"),
                    "{file} up to {end}: {found}"
                );
            }
        }
    }
}

#[test]
fn warnings_progress_and_colours_do_not_hide_a_figure() {
    let ioping = "4 378969 10555 43233088 82955 94742 109425 9600 5 644534\n";
    assert_eq!(figure("ioping", &[], "iops", ioping), Ok(10555.0));
    let json = "fio: this platform does not support process shared mutexes, forcing use of \
                threads.\nnote: {not json\n{\"jobs\": [{\"read\": {\"iops\": 12.5}}]}\nbye\n";
    assert_eq!(figure("fio-program", &[], "iops", json), Ok(12.5));
    let cut = figure("fio-program", &[], "iops", "{\"jobs\": [{\"read\": {");
    assert!(cut.unwrap_err().contains("cut off"));
    let hdparm =
        "\u{1b}[1m\r Timing buffered disk reads: 2 MB in  4.00 seconds = 512.00 kB/sec\r\n";
    assert_eq!(figure("hdparm-program", &[], "read", hdparm), Ok(0.5));
    let unknown = hdparm.replace("kB/sec", "GB/sec");
    assert!(figure("hdparm-program", &[], "read", &unknown).is_err());
    // What a German locale prints is refused, not read as another number.
    let german = "tps = 1.234,5 (without initial connection time)";
    assert!(figure("pgbench", &[], "tps", german).is_err());
    let german = "     queries: 100 (1234,50 per sec.)";
    assert!(figure("sysbench-oltp", &[], "queries", german).is_err());
    let stress = "Op rate                   :   12,345 op/s  [WRITE: 12,345 op/s]\n";
    assert_eq!(figure("cassandra", &[], "rate", stress), Ok(12345.0));
}

proptest! {
    #[test]
    fn no_text_makes_a_profile_panic(text in ".{0,200}") {
        let _ = Profile::parse("x", &text);
        let _ = Profile::parse("x", &GOOD.replace("rate", &text));
        let _ = Expression::parse(&text);
        let _ = Template::parse(&text);
    }

    #[test]
    fn no_output_makes_an_extraction_panic(text in "[\\PC\\n\\r,;{}\\[\\]0-9.]{0,200}") {
        for (profile, metric) in [("ioping", "iops"), ("fio-program", "iops"), ("bonnie", "write")] {
            let _ = figure(profile, &[], metric, &text);
        }
    }
}

use super::*;
use crate::case::{CaseId, Implementation, Options};

fn case(kind: ImplementationKind, test: &str, version: &str, options: &[(&str, &str)]) -> Case {
    Case {
        id: CaseId("c".into()),
        test: test.into(),
        test_version: "1.0".into(),
        implementation: Implementation {
            kind,
            name: test.into(),
            version: version.into(),
        },
        options: options.iter().copied().collect::<Options>(),
        label: String::new(),
        extra: serde_json::Map::new(),
    }
}

fn imported(test: &str, version: &str, options: &[(&str, &str)]) -> Option<Work> {
    Work::of(&case(ImplementationKind::Imported, test, version, options))
}

/// A native case: the defaults of the test with some options changed.
fn native(test: &str, defaults: &[OptionInfo], changed: &[(&str, &str)]) -> Work {
    let mut options: Vec<(&str, &str)> = Vec::new();
    for option in defaults {
        let own = changed.iter().find(|(name, _)| *name == option.name);
        options.push((
            option.name,
            own.map_or(option.default.as_str(), |own| own.1),
        ));
    }
    Work::of(&case(ImplementationKind::Native, test, "1", &options)).unwrap()
}

const FIO: [(&str, &str); 6] = [
    ("type", "Random Read"),
    ("io-engine", "Libaio"),
    ("buffered", "No"),
    ("direct", "Yes"),
    ("block-size", "4KB"),
    ("disk-target", "Default Test Directory"),
];

#[test]
fn a_profile_and_a_case_of_its_options_are_the_same_work() {
    let theirs = imported("fio", "2.1.13", &FIO).unwrap();
    let as_suite = [
        ("rw", "randread"),
        ("block-size", "4KiB"),
        ("depth", "64"),
        ("engine", "libaio"),
        ("direct", "yes"),
        ("runtime", "20s"),
        ("ramp", "5s"),
        ("cursor", "own"),
        ("submit-batch", "1"),
    ];
    let options = definition::io::options();
    let ours = native("io", &options, &as_suite);
    assert_eq!(ours.differences(&theirs), Some(Vec::new()));
    let mut shorter = as_suite;
    shorter[5] = ("runtime", "3s");
    let ours = native("io", &options, &shorter);
    assert_eq!(
        ours.differences(&theirs),
        Some(vec!["runtime 3s and 20s".to_owned()])
    );
    assert_eq!(
        theirs.differences(&ours),
        Some(vec!["runtime 20s and 3s".to_owned()])
    );
    for other in [
        ("depth", "32"),
        ("rw", "randwrite"),
        ("block-size", "64KiB"),
    ] {
        let place = as_suite.iter().position(|(name, _)| *name == other.0);
        let mut changed = as_suite;
        changed[place.unwrap()] = other;
        let ours = native("io", &options, &changed);
        assert_eq!(ours.differences(&theirs), None, "{other:?}");
    }
    let durable = [&as_suite[..], &[("fdatasync-every", "1")]].concat();
    assert_eq!(native("io", &options, &durable).differences(&theirs), None);
}

#[test]
fn versions_of_a_profile_are_the_same_work_and_other_tests_are_not() {
    let two = imported("fio", "2.1.13", &FIO).unwrap();
    let mut options = FIO;
    options[1] = ("io-engine", "Linux AIO");
    let three = imported("fio", "3.1", &options).unwrap();
    assert_eq!(two.differences(&three), Some(Vec::new()));
    let dbench = imported("dbench", "4.0", &[("client-count", "6")]).unwrap();
    assert_eq!(two.differences(&dbench), None);
    let sqlite = imported("sqlite", "3.41.2", &[("threads-per-copies", "8")]).unwrap();
    let one = imported("sqlite", "3.8.10.2", &[("test-target", "x")]).unwrap();
    assert_eq!(
        sqlite.differences(&one),
        None,
        "copies and page sizes differ"
    );
    assert!(imported("redis", "7", &[("test", "GET")]).is_none());
    let odd = imported("fs-mark", "3.3", &[("test", "5 Files, 1MB Size, Purple")]);
    assert!(
        odd.is_none(),
        "a word that is not known is no option at its default"
    );
}

#[test]
fn own_cases_are_the_same_work_only_when_every_option_is_equal() {
    let options = definition::io::options();
    let a = native("io", &options, &[]);
    assert_eq!(
        a.differences(&native("io", &options, &[])),
        Some(Vec::new())
    );
    let b = native("io", &options, &[("stamps", "per-batch")]);
    assert_eq!(a.differences(&b), None);
}

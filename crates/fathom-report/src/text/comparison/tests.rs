use expect_test::{Expect, expect};
use fathom_model::compare::{Arm, CompareOptions, compare};
use fathom_model::{
    Case, CaseId, Direction, Entry, Field, Figure, Generator, Implementation, ImplementationKind,
    Level, Metric, Options, Reason, ResultFile, ResultRecord, System, Verdict,
};

use crate::text::{ShowOptions, comparison};

fn file(kernel: &str, results: &[(&str, &str, Direction, &[f64])]) -> ResultFile {
    let mut file = ResultFile::new("t", Generator::default());
    file.systems.push(System {
        identifier: "s".into(),
        software: vec![Field::new("Kernel", kernel), Field::new("OS", "Debian 12")],
        ..System::default()
    });
    for (name, unit, direction, samples) in results {
        let id = CaseId((*name).to_owned());
        file.cases.push(Case {
            id: id.clone(),
            test: "io".into(),
            test_version: "1".into(),
            implementation: Implementation {
                kind: ImplementationKind::Native,
                name: "fathom".into(),
                version: "1".into(),
            },
            options: Options::default(),
            label: (*name).to_owned(),
            extra: serde_json::Map::new(),
        });
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        file.results.push(ResultRecord {
            case: id,
            metric: Metric {
                id: "m".into(),
                unit: (*unit).to_owned(),
                direction: *direction,
                is_primary: true,
                ..Metric::default()
            },
            title: "io".into(),
            entries: vec![Entry {
                system: "s".into(),
                value: Figure::new(mean),
                samples: samples.iter().filter_map(|v| Figure::new(*v)).collect(),
                verdict: Verdict::valid(),
                ..Entry::default()
            }],
            ..ResultRecord::default()
        });
    }
    file
}

const HIGHER: Direction = Direction::HigherIsBetter;
const LOWER: Direction = Direction::LowerIsBetter;

fn check(left: &ResultFile, right: &ResultFile, expected: &Expect) {
    let arm = |label, file| Arm {
        label,
        file,
        system: "s",
    };
    let compared = compare(
        arm("before", left),
        &[arm("after", right)],
        CompareOptions::default(),
    );
    expected.assert_eq(&comparison(&compared, ShowOptions::default()));
}

#[test]
fn four_answers_refusals_and_what_differs_are_shown() {
    let left = file(
        "6.1.0",
        &[
            (
                "RND4K Q32 read",
                "IOPS",
                HIGHER,
                &[101.2, 99.8, 100.5, 102.1, 98.9],
            ),
            (
                "RND4K Q1 read",
                "us",
                LOWER,
                &[101.2, 99.8, 100.5, 102.1, 98.9],
            ),
            (
                "SEQ1M Q8 read",
                "MB/s",
                HIGHER,
                &[100.0, 100.1, 99.9, 100.0, 100.0],
            ),
            ("SEQ1M Q1 read", "MB/s", HIGHER, &[100.0, 103.0, 97.0]),
            ("memory", "MB/s", HIGHER, &[1.0, 1.1, 1.2]),
            ("only here", "MB/s", HIGHER, &[1.0]),
        ],
    );
    let mut right = file(
        "6.12.3",
        &[
            (
                "RND4K Q32 read",
                "IOPS",
                HIGHER,
                &[105.0, 103.7, 106.2, 104.4, 105.6],
            ),
            (
                "RND4K Q1 read",
                "us",
                LOWER,
                &[105.0, 103.7, 106.2, 104.4, 105.6],
            ),
            (
                "SEQ1M Q8 read",
                "MB/s",
                HIGHER,
                &[100.0, 100.1, 99.9, 100.0, 100.0],
            ),
            ("SEQ1M Q1 read", "MB/s", HIGHER, &[101.5, 104.0, 98.5]),
            ("memory", "MB/s", HIGHER, &[1.0, 1.1, 1.2]),
        ],
    );
    let reason = |short: &str| Reason {
        rule: short.to_owned(),
        short: short.to_owned(),
        text: String::new(),
        advice: String::new(),
    };
    let verdict = |file: &mut ResultFile, index: usize, level, short| {
        file.results[index].entries[0]
            .verdict
            .object(level, reason(short));
    };
    verdict(&mut right, 3, Level::Suspect, "others used the drive");
    verdict(&mut right, 4, Level::Invalid, "memory, not a disk");
    check(&left, &right, &expect![[""]]);
}

#[test]
fn nothing_in_common_is_said() {
    let left = file("6.1.0", &[("a", "MB/s", HIGHER, &[1.0, 2.0])]);
    let right = file("6.1.0", &[("b", "MB/s", HIGHER, &[1.0, 2.0])]);
    check(&left, &right, &expect![[""]]);
}

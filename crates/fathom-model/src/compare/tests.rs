use fathom_base::WallTime;

use super::*;
use crate::case::{Case, Implementation, ImplementationKind, Options};
use crate::figure::Figure;
use crate::result::{Generator, Spread};
use crate::system::{Field, System};
use crate::verdict::{Reason, Verdict};

/// A file with one system and a result for each `(case, unit, direction, samples)`.
fn file(system: &str, results: &[(&str, &str, Direction, &[f64])]) -> ResultFile {
    let mut file = ResultFile::new("t", Generator::default());
    let mut described = System {
        identifier: system.to_owned(),
        ..System::default()
    };
    described.time = Some(WallTime::from_unix_ms(0));
    described.software.push(Field::new("Kernel", "6.1.0"));
    described.software.push(Field::new("OS", "Debian 12"));
    file.systems.push(described);
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
                system: system.to_owned(),
                value: Figure::new(mean),
                samples: samples
                    .iter()
                    .filter_map(|value| Figure::new(*value))
                    .collect(),
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
/// The samples A and B of the worked statistics: B/A = 1.044604 [1.027898, 1.061581].
const A: &[f64] = &[101.2, 99.8, 100.5, 102.1, 98.9];
const B: &[f64] = &[105.0, 103.7, 106.2, 104.4, 105.6];

fn against(left: &ResultFile, right: &ResultFile, options: CompareOptions) -> Comparison {
    let baseline = Arm {
        label: "before",
        file: left,
        system: &left.systems[0].identifier,
    };
    let contender = Arm {
        label: "after",
        file: right,
        system: &right.systems[0].identifier,
    };
    compare(baseline, &[contender], options)
}

fn answers(comparison: &Comparison) -> Vec<Option<Answer>> {
    let of = |row: &Row| row.contenders[0].comparison.as_ref().map(|c| c.answer);
    comparison.rows.iter().map(of).collect()
}

#[test]
fn the_direction_of_the_metric_decides_what_is_faster() {
    let left = file("s", &[("up", "MB/s", HIGHER, A), ("down", "us", LOWER, A)]);
    let right = file("s", &[("up", "MB/s", HIGHER, B), ("down", "us", LOWER, B)]);
    let comparison = against(&left, &right, CompareOptions::default());
    assert_eq!(
        answers(&comparison),
        [Some(Answer::Faster), Some(Answer::Slower)]
    );
    let ratio = comparison.rows[0].contenders[0]
        .comparison
        .as_ref()
        .unwrap()
        .ratio;
    assert!((ratio - 1.044604).abs() < 1e-6, "{ratio}");
    // One went up by as much as the other got worse: overall nothing.
    let overall = comparison.summaries[0].improvement.unwrap();
    assert!((overall.value - 1.0).abs() < 1e-12 && overall.low < 1.0 && overall.high > 1.0);
    assert_eq!(
        (
            comparison.summaries[0].faster,
            comparison.summaries[0].slower
        ),
        (1, 1)
    );
}

#[test]
fn a_file_against_itself_is_the_same_or_untold_but_never_different() {
    let left = file("s", &[("up", "MB/s", HIGHER, A), ("down", "us", LOWER, B)]);
    let comparison = against(&left, &left, CompareOptions::default());
    for answer in answers(&comparison) {
        assert!(
            matches!(answer, Some(Answer::Same | Answer::CannotTell { .. })),
            "{answer:?}"
        );
    }
    assert!(comparison.conditions.is_empty());
    assert_eq!(comparison.equal_conditions, 2);
}

#[test]
fn what_only_one_side_measured_gets_no_answer() {
    let left = file("s", &[("a", "MB/s", HIGHER, A), ("b", "MB/s", HIGHER, A)]);
    let right = file("s", &[("a", "IOPS", HIGHER, A), ("b", "MB/s", HIGHER, A)]);
    let comparison = against(&left, &right, CompareOptions::default());
    assert_eq!(comparison.rows.len(), 1);
    let labels: Vec<_> = comparison
        .unmatched
        .iter()
        .map(|u| (&*u.label, &*u.arms[0]))
        .collect();
    assert_eq!(labels, [("io (MB/s)", "before"), ("io (IOPS)", "after")]);
}

#[test]
fn invalid_and_failed_entries_are_refused_with_their_reason() {
    let left = file("s", &[("a", "MB/s", HIGHER, A), ("b", "MB/s", HIGHER, A)]);
    let mut right = left.clone();
    right.results[0].entries[0].verdict.object(
        Level::Invalid,
        Reason {
            rule: "memory-backed".into(),
            short: "memory, not a disk".into(),
            text: String::new(),
            advice: String::new(),
        },
    );
    let failed = &mut right.results[1].entries[0];
    *failed = Entry {
        system: "s".into(),
        error: Some("no space".into()),
        ..Entry::default()
    };
    let comparison = against(&left, &right, CompareOptions::default());
    let refused: Vec<_> = comparison
        .rows
        .iter()
        .map(|row| row.contenders[0].refused.as_deref())
        .collect();
    assert_eq!(
        refused,
        [
            Some("invalid: memory, not a disk"),
            Some("failed: no space")
        ]
    );
    assert_eq!(comparison.summaries[0].refused, 2);

    let include = CompareOptions {
        invalid: InvalidEntries::Include,
        ..CompareOptions::default()
    };
    let comparison = against(&left, &right, include);
    assert!(comparison.rows[0].contenders[0].comparison.is_some());
}

#[test]
fn means_are_judged_by_their_printed_error_and_bare_means_not_at_all() {
    let summarised = |mean: &str, error: Option<(&str, u32)>| {
        let mut file = file("s", &[("a", "MB/s", HIGHER, &[1.0])]);
        let entry = &mut file.results[0].entries[0];
        entry.value = Figure::parse(mean);
        entry.samples.clear();
        entry.spread = error.map(|(standard_error, count)| {
            let standard_error = Figure::parse(standard_error).unwrap();
            Box::new(Spread {
                standard_error,
                count,
            })
        });
        file
    };
    let left = summarised("100.00", Some(("0.50", 5)));
    let right = summarised("120.00", Some(("0.50", 5)));
    let comparison = against(&left, &right, CompareOptions::default());
    assert_eq!(answers(&comparison), [Some(Answer::Faster)]);
    let bare = against(
        &left,
        &summarised("120.00", None),
        CompareOptions::default(),
    );
    assert_eq!(
        answers(&bare),
        [Some(Answer::CannotTell { more_trials: None })]
    );
    assert_eq!(bare.summaries[0].improvement, None);
    assert!((bare.summaries[0].improvement_of_all.unwrap() - 1.2).abs() < 1e-12);
}

#[test]
fn conditions_that_differ_come_with_every_value() {
    let left = file("s", &[("a", "MB/s", HIGHER, A)]);
    let mut right = left.clone();
    right.systems[0].software[0].text = "6.12.3".into();
    right.systems[0].software.remove(1);
    let comparison = against(&left, &right, CompareOptions::default());
    let rows: Vec<_> = comparison
        .conditions
        .iter()
        .map(|row| (&*row.name, row.values.clone()))
        .collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(rows[0], ("Kernel", vec![some("6.1.0"), some("6.12.3")]));
    assert_eq!(rows[1], ("OS", vec![some("Debian 12"), None]));
}

#[test]
fn the_samples_of_a_repeated_system_are_pooled() {
    let mut left = file("s", &[("a", "MB/s", HIGHER, &A[..2])]);
    let mut second = left.results[0].entries[0].clone();
    second.samples = A[2..]
        .iter()
        .filter_map(|value| Figure::new(*value))
        .collect();
    left.results[0].entries.push(second);
    let right = file("s", &[("a", "MB/s", HIGHER, B)]);
    let comparison = against(&left, &right, CompareOptions::default());
    assert_eq!(comparison.rows[0].baseline.trials, 5);
    let ratio = comparison.rows[0].contenders[0]
        .comparison
        .as_ref()
        .unwrap()
        .ratio;
    assert!((ratio - 1.044604).abs() < 1e-6, "{ratio}");
}

/// A case of `pts/fio` with bandwidth and IOPS, as an importer makes it.
fn imported_fio(system: &str, mb: f64, iops: f64) -> ResultFile {
    let mut file = file(
        system,
        &[
            ("old", "MB/s", HIGHER, &[mb]),
            ("old", "IOPS", HIGHER, &[iops]),
        ],
    );
    file.cases.truncate(1);
    let case = &mut file.cases[0];
    case.test = "fio".into();
    case.implementation = Implementation {
        kind: ImplementationKind::Imported,
        name: "Flexible IO Tester".into(),
        version: "3.36".into(),
    };
    case.options = [
        ("type", "Sequential Read"),
        ("engine", "IO_uring"),
        ("direct", "Yes"),
        ("block-size", "2MB"),
        ("job-count", "1"),
    ]
    .into_iter()
    .collect();
    for (record, id) in file.results.iter_mut().zip(["bandwidth", "iops"]) {
        record.metric.id = id.into();
        record.metric.is_primary = id == "bandwidth";
        record.entries[0].samples.clear();
    }
    file
}

/// The same work, measured by Fathom for a shorter time.
fn native_io(system: &str, mb: f64) -> ResultFile {
    let mut file = file(system, &[("new", "MB/s", HIGHER, &[mb])]);
    let mut options = Options::default();
    for option in crate::definition::io::options() {
        options.set(option.name, option.default.clone());
    }
    for (name, value) in [
        ("rw", "read"),
        ("block-size", "2MiB"),
        ("depth", "64"),
        ("engine", "io_uring"),
        ("direct", "yes"),
        ("ramp", "5s"),
        ("cursor", "own"),
        ("submit-batch", "1"),
        ("force-async", "4"),
        ("fixed-buffers", "no"),
        ("fixed-files", "no"),
    ] {
        options.set(name, value);
    }
    file.cases[0].options = options;
    file.results[0].metric.id = "bandwidth".into();
    file
}

#[test]
fn the_same_work_by_another_implementation_stands_beside_without_an_answer() {
    let (ours, theirs) = (
        native_io("here", 1048.576),
        imported_fio("there", 500.0, 250.0),
    );
    let compared = against(&ours, &theirs, CompareOptions::default());
    assert!(compared.rows.is_empty());
    assert!(compared.unmatched.is_empty(), "{:?}", compared.unmatched);
    let [pair] = compared.counterparts.as_slice() else {
        panic!("{:?}", compared.counterparts);
    };
    assert_eq!(pair.differences, ["runtime 5s and 1m"]);
    assert_eq!(pair.contender.implementation, "Flexible IO Tester 3.36");
    // What fio 3 prints as MiB/s the profile calls MB/s.
    assert_eq!(pair.baseline.cell.value, Some(1000.0));
    assert!(pair.baseline.converted.is_some() && pair.contender.converted.is_none());
    assert_eq!(pair.ratio, Some(0.5));
    let turned = against(&theirs, &ours, CompareOptions::default());
    assert_eq!(turned.counterparts[0].ratio, Some(2.0));
    assert_eq!(turned.counterparts[0].differences, ["runtime 1m and 5s"]);
}

#[test]
fn what_is_matched_as_it_is_needs_no_counterpart() {
    let (a, b) = (native_io("a", 1000.0), native_io("b", 1100.0));
    let compared = against(&a, &b, CompareOptions::default());
    assert_eq!((compared.rows.len(), compared.counterparts.len()), (1, 0));
}

use fathom_base::WallTime;
use proptest::prelude::*;

use super::*;
use crate::case::{Case, CaseId, Implementation, ImplementationKind, Options};
use crate::error::ModelError;
use crate::figure::Figure;
use crate::result::{Direction, Entry, Generator, Metric, ResultFile, ResultRecord, Run, Trial};
use crate::system::{Field, System};

fn system(name: &str, kernel: &str) -> System {
    System {
        identifier: name.to_owned(),
        software: vec![Field::new("Kernel", kernel)],
        time: Some(WallTime::from_unix_ms(name.len() as i64)),
        ..System::default()
    }
}

fn case(name: &str) -> Case {
    Case {
        id: CaseId(name.to_owned()),
        test: "io".into(),
        test_version: "1".into(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".into(),
            version: "1".into(),
        },
        options: Options::default(),
        label: name.to_owned(),
        extra: serde_json::Map::new(),
    }
}

fn record(case: &str, direction: Direction, unit: &str) -> ResultRecord {
    ResultRecord {
        case: CaseId(case.to_owned()),
        metric: Metric {
            id: "m".into(),
            unit: unit.to_owned(),
            direction,
            is_primary: true,
            ..Metric::default()
        },
        title: format!("title of {}", &case[..1]),
        description: case.to_owned(),
        ..ResultRecord::default()
    }
}

fn trial(id: &str, value: f64, started: i64) -> Trial {
    Trial {
        id: id.to_owned(),
        number: 1,
        started: WallTime::from_unix_ms(started),
        values: [("m".to_owned(), Figure::new(value).unwrap())].into(),
        ..Trial::default()
    }
}

const HIGHER: Direction = Direction::HigherIsBetter;

/// A file of one system with trials `(case, id, value)`.
fn measured(name: &str, trials: &[(&str, &str, f64)]) -> ResultFile {
    let mut file = ResultFile::new("measured", Generator::default());
    file.systems.push(system(name, "6.1"));
    for (number, (of, id, value)) in trials.iter().enumerate() {
        if file.case(&CaseId((*of).to_owned())).is_none() {
            file.cases.push(case(of));
            file.results.push(record(of, HIGHER, "MB/s"));
            file.runs.push(Run {
                case: CaseId((*of).to_owned()),
                system: name.to_owned(),
                ..Run::default()
            });
        }
        let run = file.runs.iter_mut().find(|run| run.case.0 == *of).unwrap();
        run.trials.push(trial(id, *value, number as i64));
    }
    file.rebuild();
    file
}

/// A file as an importer makes it: entries without trials.
fn imported(entries: &[(&str, &str, &str)]) -> ResultFile {
    let mut file = ResultFile::new("imported", Generator::default());
    for (of, name, value) in entries {
        if file.system(name).is_none() {
            file.systems.push(system(name, "6.1"));
        }
        if file.case(&CaseId((*of).to_owned())).is_none() {
            file.cases.push(case(of));
            file.results.push(record(of, HIGHER, "MB/s"));
        }
        let record = file
            .results
            .iter_mut()
            .find(|record| record.case.0 == *of)
            .unwrap();
        record.entries.push(Entry {
            system: (*name).to_owned(),
            value: Figure::parse(value),
            error: Figure::parse(value).is_none().then(|| "failed".into()),
            ..Entry::default()
        });
    }
    file
}

#[test]
fn trials_of_one_case_and_system_are_pooled_once() {
    let a = measured("s", &[("c", "1", 10.0), ("c", "2", 20.0)]);
    let b = measured("s", &[("c", "2", 20.0), ("c", "3", 60.0)]);
    // Trial 2 carries another start time in b: same id and values, so the same trial.
    let merged = merge(&[&a, &b]).unwrap();
    let entry = &merged.results[0].entries;
    assert_eq!(entry.len(), 1);
    assert_eq!(entry[0].sample_values(), [10.0, 20.0, 60.0]);
    assert_eq!(entry[0].value.as_ref().unwrap().value(), 30.0);
}

#[test]
fn one_trial_with_two_contents_is_an_error() {
    let a = measured("s", &[("c", "1", 10.0)]);
    let b = measured("s", &[("c", "1", 11.0)]);
    let error = merge(&[&a, &b]).unwrap_err();
    assert!(
        matches!(
            &error,
            ModelError::Conflict {
                what: "its content",
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn opposite_directions_and_different_units_are_errors() {
    let a = imported(&[("c", "s", "1.0")]);
    let mut b = a.clone();
    b.results[0].metric.direction = Direction::LowerIsBetter;
    let error = merge(&[&a, &b]).unwrap_err();
    assert!(
        matches!(
            &error,
            ModelError::Conflict {
                what: "its direction",
                ..
            }
        ),
        "{error}"
    );
    let mut b = a.clone();
    b.results[0].metric.unit = "MiB/s".into();
    let error = merge(&[&a, &b]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("MB/s in one file and MiB/s in the other"),
        "{error}"
    );
}

#[test]
fn one_name_for_two_machines_is_refused_with_the_difference() {
    let a = imported(&[("c", "s", "1.0")]);
    let mut b = a.clone();
    b.systems[0].software[0].text = "6.12".into();
    b.results[0].entries[0].value = Figure::parse("2.0");
    let error = merge(&[&a, &b]).unwrap_err().to_string();
    assert!(
        error.contains("\"6.1\"") && error.contains("\"6.12\""),
        "{error}"
    );
    let mut a = a;
    a.systems[0].hardware.push(Field::new("Memory", "32GB"));
    b.systems[0].hardware.push(Field::new("Memory", "64GB"));
    let error = merge(&[&a, &b]).unwrap_err().to_string();
    assert!(
        error.contains("64GB") && error.contains("6.12"),
        "everything that differs: {error}"
    );
}

#[test]
fn failed_entries_and_logs_are_kept() {
    let mut a = imported(&[("c", "s", "1.0")]);
    let mut b = imported(&[("c", "s", "")]);
    a.logs.insert("log".into(), "one".into());
    b.logs.insert("log".into(), "two".into());
    let merged = merge(&[&a, &b]).unwrap();
    let entries = &merged.results[0].entries;
    assert_eq!(
        entries.iter().filter(|entry| entry.value.is_none()).count(),
        1
    );
    assert_eq!(entries.len(), 2, "the good one first, the failed one kept");
    assert!(entries[0].value.is_some());
    assert_eq!(merged.logs.len(), 2);
    assert_eq!(merge(&[&merged, &a]).unwrap(), merged);
}

#[test]
fn files_of_one_suite_keep_its_order() {
    let a = imported(&[
        ("b1", "s", "1"),
        ("a2", "s", "2"),
        ("b2", "s", "3"),
        ("c1", "s", "4"),
    ]);
    let b = imported(&[
        ("b1", "t", "1"),
        ("a2", "t", "2"),
        ("b2", "t", "3"),
        ("c1", "t", "4"),
    ]);
    let order = |file: &ResultFile| -> Vec<String> {
        file.results
            .iter()
            .map(|record| record.case.0.clone())
            .collect()
    };
    let merged = merge(&[&b, &a]).unwrap();
    assert_eq!(
        order(&merged),
        ["b1", "b2", "a2", "c1"],
        "results of one title stay together"
    );
    let names: Vec<_> = merged
        .systems
        .iter()
        .map(|s| s.identifier.as_str())
        .collect();
    assert_eq!(names, ["s", "t"]);
}

#[test]
fn nothing_and_one_file_are_left_alone() {
    let a = imported(&[("c", "s", "1.00")]);
    assert_eq!(merge(&[&a]).unwrap(), a);
    assert_eq!(merge(&[&a, &a]).unwrap(), a);
    assert!(merge(&[]).unwrap().results.is_empty());
}

/// Files over a small universe, so that they overlap in every way.
fn any_file() -> impl Strategy<Value = ResultFile> {
    let entry = (0..4_usize, 0..3_usize, 0..3_usize);
    let trial = (0..3_usize, 0..3_usize);
    let parts = (
        prop::collection::vec(entry, 0..6),
        prop::collection::vec(trial, 0..6),
        prop::collection::btree_map("[ab]", "[xy]", 0..3),
        "[TU]",
    );
    parts.prop_map(|(entries, trials, logs, title)| {
        let cases = ["a1", "a2", "b1", "c1"];
        let systems = ["s", "tt", "uuu"];
        let mut used = std::collections::BTreeSet::new();
        let entries: Vec<_> = entries
            .into_iter()
            .filter(|entry| used.insert(*entry))
            .map(|(c, s, v)| (cases[c], systems[s], ["1.0", "2.0", ""][v]))
            .collect();
        let mut file = imported(&entries);
        let mut used = std::collections::BTreeSet::new();
        for (of, id) in trials.into_iter().filter(|trial| used.insert(*trial)) {
            let (of, id) = (["m1", "a3", "m2"][of], ["1", "2", "3"][id]);
            let more = measured("s", &[(of, &format!("{of}-{id}"), id.parse().unwrap())]);
            file = merge(&[&file, &more]).unwrap();
        }
        file.logs = logs;
        file.title = title;
        file
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn merging_does_not_depend_on_order_or_grouping(
        a in any_file(),
        b in any_file(),
        c in any_file(),
    ) {
        let ab = merge(&[&a, &b]).unwrap();
        prop_assert_eq!(&ab, &merge(&[&b, &a]).unwrap());
        let left = merge(&[&ab, &c]).unwrap();
        let right = merge(&[&a, &merge(&[&b, &c]).unwrap()]).unwrap();
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(&merge(&[&left, &a]).unwrap(), &left);
        prop_assert_eq!(&merge(&[&left, &left]).unwrap(), &left);
    }

    #[test]
    fn merging_loses_no_entry_and_no_trial(a in any_file(), b in any_file()) {
        let merged = merge(&[&a, &b]).unwrap();
        for file in [&a, &b] {
            for id in crate::trial_ids(file) {
                prop_assert!(crate::trial_ids(&merged).contains(id));
            }
            for record in &file.results {
                let same = |r: &&ResultRecord| r.case == record.case;
                let joined = merged.results.iter().find(same).unwrap();
                for entry in &record.entries {
                    if file.run(&record.case, &entry.system).is_none() {
                        prop_assert!(joined.entries.contains(entry));
                    }
                }
            }
        }
    }
}

#[test]
fn edits_rename_join_drop_and_reorder() {
    let a = imported(&[("c1", "s", "1"), ("c1", "t", "2"), ("c2", "t", "3")]);
    let text = |text: &str| text.to_owned();
    let renamed = edit(
        &a,
        &[Edit::RenameSystem {
            from: text("s"),
            to: text("new"),
        }],
    )
    .unwrap();
    assert_eq!(renamed.results[0].entries[0].system, "new");
    let taken = Edit::RenameSystem {
        from: text("s"),
        to: text("t"),
    };
    assert!(matches!(
        edit(&a, &[taken]),
        Err(ModelError::NameTaken { .. })
    ));

    let dropped = edit(&a, &[Edit::DropSystem(text("t"))]).unwrap();
    assert_eq!(
        (
            dropped.systems.len(),
            dropped.results.len(),
            dropped.cases.len()
        ),
        (1, 1, 1)
    );
    let unknown = edit(&a, &[Edit::DropSystem(text("tt"))]).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "there is no system named tt; did you mean t?"
    );

    let ordered = edit(
        &a,
        &[
            Edit::OrderResults(vec![2]),
            Edit::OrderSystems(vec![text("t")]),
        ],
    );
    let ordered = ordered.unwrap();
    assert_eq!(ordered.results[0].case.0, "c2");
    assert_eq!(ordered.systems[0].identifier, "t");
    let beyond = edit(&a, &[Edit::DropResults([3].into())]).unwrap_err();
    assert_eq!(
        beyond.to_string(),
        "there is no result named 3 (there are 2)"
    );
}

#[test]
fn the_same_drive_under_two_names_becomes_one_with_all_trials() {
    let a = measured("old", &[("c", "1", 10.0)]);
    let b = measured("new", &[("c", "2", 20.0)]);
    let both = merge(&[&a, &b]).unwrap();
    assert_eq!(both.systems.len(), 2);
    let join = Edit::JoinSystems {
        from: "old".into(),
        into: "new".into(),
    };
    let joined = edit(&both, std::slice::from_ref(&join)).unwrap();
    assert_eq!(joined.systems.len(), 1);
    assert_eq!(joined.results[0].entries.len(), 1);
    assert_eq!(joined.results[0].entries[0].sample_values(), [10.0, 20.0]);

    let mut other = both.clone();
    other.systems[0].software[0].text = "5.10".into();
    assert!(matches!(
        edit(&other, &[join]),
        Err(ModelError::DifferentMachines { .. })
    ));
}

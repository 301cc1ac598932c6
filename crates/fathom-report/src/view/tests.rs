use fathom_model::{Entry, Figure, ResultFile, ResultRecord, Spread, System};

use super::*;

fn system(name: &str) -> System {
    System {
        identifier: name.to_owned(),
        ..System::default()
    }
}

fn entry(system: &str, value: &str) -> Entry {
    Entry {
        system: system.to_owned(),
        value: Figure::parse(value),
        ..Entry::default()
    }
}

#[test]
fn rows_follow_the_systems_and_repeats_are_numbered() {
    let file = ResultFile {
        systems: vec![system("A"), system("B"), system("C")],
        results: vec![ResultRecord {
            entries: vec![
                entry("D", "4"),
                entry("B", "2"),
                entry("A", "1"),
                entry("B", "3"),
            ],
            ..ResultRecord::default()
        }],
        ..ResultFile::default()
    };
    let view = View::of(&file);
    let names: Vec<&str> = view.systems.iter().map(|system| system.name).collect();
    assert_eq!(names, ["A", "B", "C", "D"]);
    let block = &view.blocks[0];
    let rows: Vec<String> = block
        .rows
        .iter()
        .map(|row| view.row_name(row).into_owned())
        .collect();
    assert_eq!(rows, ["A", "B", "B #2", "D"]);
    assert_eq!(block.missing, [2]);
    assert_eq!((block.smallest, block.largest), (1.0, 4.0));
}

#[test]
fn certainty_comes_from_samples_or_from_the_printed_spread() {
    let figure = |text: &str| Figure::parse(text).unwrap();
    let sampled = Entry {
        samples: vec![figure("100"), figure("103"), figure("97")],
        ..entry("A", "100")
    };
    let certainty = Certainty::of(&sampled);
    assert_eq!(certainty.trials, 3);
    // stat_refs: C = 100 103 97, half-width 7.4524 %.
    assert!((certainty.half_width_percent(100.0).unwrap() - 7.4524).abs() < 1e-3);

    let spread = Some(Box::new(Spread {
        standard_error: figure("1.7320508"),
        count: 3,
    }));
    let printed = Certainty::of(&Entry {
        spread,
        ..entry("A", "100.0000000")
    });
    assert!((printed.half_width.unwrap() - certainty.half_width.unwrap()).abs() < 1e-5);

    let single = Certainty::of(&Entry {
        samples: vec![figure("5")],
        ..entry("A", "5")
    });
    assert_eq!((single.trials, single.half_width), (1, None));
    assert_eq!(Certainty::of(&entry("A", "5")), Certainty::default());
}

#[test]
fn conditions_that_differ_are_told_from_common_ones() {
    let with = |name: &str, disk: &str| System {
        hardware: vec![
            fathom_model::Field::new("Processor", "EPYC"),
            fathom_model::Field::new("Disk", disk),
        ],
        ..system(name)
    };
    let file = ResultFile {
        systems: vec![with("A", "850"), with("B", "MP500"), system("C")],
        ..ResultFile::default()
    };
    let conditions = View::of(&file).conditions;
    assert!(conditions.common.is_empty());
    let names: Vec<&str> = conditions
        .differing
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert_eq!(names, ["Processor", "Disk"]);
    assert_eq!(
        conditions.differing[1].values,
        [Some("850".to_owned()), Some("MP500".to_owned()), None]
    );
}

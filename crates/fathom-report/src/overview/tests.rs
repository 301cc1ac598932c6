use fathom_model::{Entry, Figure, Metric, PtsFacts, ResultFile, ResultRecord};

use super::*;

fn entry(system: &str, mean: f64, spread: f64) -> Entry {
    let samples = [-1.0, 0.0, 1.0, 0.5, -0.5].map(|step| mean + step * spread);
    Entry {
        system: system.to_owned(),
        value: Figure::new(mean),
        samples: samples
            .iter()
            .filter_map(|value| Figure::new(*value))
            .collect(),
        ..Entry::default()
    }
}

fn record(direction: Direction, entries: Vec<Entry>) -> ResultRecord {
    ResultRecord {
        metric: Metric {
            direction,
            is_primary: true,
            ..Metric::default()
        },
        case: fathom_model::CaseId(format!("{}", entries.len())),
        entries,
        ..ResultRecord::default()
    }
}

fn standings(file: &ResultFile) -> Vec<Standing> {
    let view = View::of(file);
    let overview = Overview::of(&view);
    overview.rows[0]
        .cells
        .iter()
        .flatten()
        .map(|cell| cell.standing)
        .collect()
}

#[test]
fn a_lead_counts_only_outside_the_uncertainty() {
    let of = |entries| ResultFile {
        results: vec![record(Direction::HigherIsBetter, entries)],
        ..ResultFile::default()
    };
    let clear = of(vec![
        entry("A", 100.0, 0.5),
        entry("B", 90.0, 0.5),
        entry("C", 80.0, 0.5),
    ]);
    assert_eq!(
        standings(&clear),
        [Standing::First, Standing::Behind, Standing::Behind]
    );
    let close = of(vec![
        entry("A", 100.0, 5.0),
        entry("B", 97.0, 5.0),
        entry("C", 40.0, 1.0),
    ]);
    assert_eq!(
        standings(&close),
        [Standing::Tied, Standing::Tied, Standing::Behind]
    );
    // A mean without spread gives no order.
    let bare = Entry {
        samples: Vec::new(),
        ..entry("A", 100.0, 0.0)
    };
    let unknown = of(vec![bare.clone(), entry("B", 90.0, 0.5)]);
    assert_eq!(standings(&unknown), [Standing::Unknown, Standing::Unknown]);
    // A rival of which nothing is known is taken to be as uncertain as the least certain one.
    let far = of(vec![
        entry("A", 100.0, 0.5),
        Entry {
            system: "B".to_owned(),
            value: Figure::new(50.0),
            ..bare.clone()
        },
        entry("C", 60.0, 3.0),
    ]);
    assert_eq!(standings(&far)[0], Standing::First);
    let near = of(vec![
        entry("A", 100.0, 0.5),
        Entry {
            system: "B".to_owned(),
            value: Figure::new(99.0),
            ..bare
        },
        entry("C", 60.0, 3.0),
    ]);
    assert_eq!(standings(&near)[..2], [Standing::Tied, Standing::Tied]);
}

#[test]
fn lower_is_better_turns_shares_round() {
    let file = ResultFile {
        results: vec![record(
            Direction::LowerIsBetter,
            vec![entry("A", 10.0, 0.1), entry("B", 20.0, 0.1)],
        )],
        ..ResultFile::default()
    };
    let view = View::of(&file);
    let overview = Overview::of(&view);
    let shares: Vec<f64> = overview.rows[0]
        .cells
        .iter()
        .flatten()
        .filter_map(|cell| cell.of_best)
        .collect();
    assert_eq!(shares, [1.0, 0.5]);
    assert_eq!(overview.scores[1].improvement.unwrap().value, 0.5);
    assert_eq!((overview.scores[0].first, overview.scores[1].first), (1, 0));
}

#[test]
fn ratios_over_cases_are_combined_with_their_error() {
    let mut results = Vec::new();
    for (number, base) in [100.0, 50.0, 7.0].into_iter().enumerate() {
        let mut result = record(
            Direction::HigherIsBetter,
            vec![
                entry("A", base, base * 0.01),
                entry("B", base * 1.1, base * 0.011),
            ],
        );
        result.case = fathom_model::CaseId(number.to_string());
        results.push(result);
    }
    let file = ResultFile {
        results,
        ..ResultFile::default()
    };
    let view = View::of(&file);
    let score = &Overview::of(&view).scores[1];
    let estimate = score.improvement.unwrap();
    assert!((estimate.value - 1.1).abs() < 1e-9);
    // Each log ratio: 2 (0.01 sqrt(0.625) / sqrt 5)^2 = 2.5e-5; mean of three: se 0.00289.
    assert!((estimate.high / estimate.value).ln() / 0.002_887 > 2.0);
    assert!((estimate.high / estimate.value).ln() / 0.002_887 < 2.3);
    assert_eq!((score.cases, score.first, score.results), (3, 3, 3));
}

#[test]
fn names_keep_the_options_that_vary() {
    let of = |description: &str| ResultRecord {
        title: "Flexible IO Tester".to_owned(),
        description: description.to_owned(),
        ..ResultRecord::default()
    };
    let file = ResultFile {
        results: vec![
            of("Type: Random Read - IO Engine: Libaio - Block Size: 4KB"),
            of("Type: Sequential Write - IO Engine: Libaio - Block Size: 2MB"),
            ResultRecord {
                title: "SQLite".to_owned(),
                ..of("Threads / Copies: 1")
            },
        ],
        ..ResultFile::default()
    };
    let view = View::of(&file);
    let overview = Overview::of(&view);
    assert_eq!(overview.name(0), "Flexible IO Tester: Rand Read - 4KB");
    assert_eq!(overview.name(1), "Flexible IO Tester: Seq Write - 2MB");
    assert_eq!(overview.name(2), "SQLite: 1");
}

#[test]
fn names_of_the_phoronix_test_suite_keep_everything() {
    let file = ResultFile {
        results: vec![ResultRecord {
            title: "Flexible IO Tester".to_owned(),
            description: "Type: Random Read - IO Engine: Libaio - Buffered: No - Direct: Yes - \
                          Block Size: 4KB - Disk Target: Default Test Directory"
                .to_owned(),
            pts: Some(Box::new(PtsFacts {
                identifier: "pts/fio-1.11.2".to_owned(),
                ..PtsFacts::default()
            })),
            ..ResultRecord::default()
        }],
        ..ResultFile::default()
    };
    let view = View::of(&file);
    assert_eq!(
        pts_name(&view.blocks[0]),
        "fio: Rand Read - Libaio - No - Yes - 4KB - Default Test Directory"
    );
}

use fathom_model::compare::{Arm, CompareOptions, Comparison, MetricChoice, compare};
use fathom_model::{Figure, ResultFile};
use fathom_report::text::{self, ShowOptions};
use unicode_width::UnicodeWidthStr;

use crate::corpus::oracle_input;
use crate::golden::assert_golden;
use crate::markup::assert_sound;
use crate::synthetic::measured;

fn against(file: &ResultFile, names: &[&str], metrics: MetricChoice) -> Comparison {
    let arms: Vec<Arm<'_>> = names
        .iter()
        .map(|name| Arm {
            label: name,
            file,
            system: name,
        })
        .collect();
    compare(
        arms[0],
        &arms[1..],
        CompareOptions {
            metrics,
            ..CompareOptions::default()
        },
    )
}

fn two() -> Comparison {
    let mut file = measured(&["before", "after"]);
    // The fourth case becomes nearly equal, the second doubtful.
    for result in &mut file.results {
        let samples = result.entries[0].samples.clone();
        if result.case.0.ends_with('3') {
            let nudged = samples.iter().enumerate().map(|(place, figure)| {
                Figure::new(figure.value() * (1.004 + 0.004 * place as f64)).unwrap()
            });
            result.entries[1].samples = nudged.collect();
        }
        if result.case.0.ends_with('1') {
            result.entries[1].verdict.level = fathom_model::Level::Invalid;
        }
    }
    against(&file, &["before", "after"], MetricChoice::Primary)
}

#[test]
fn two_systems_at_80_columns() {
    let comparison = two();
    let shown = text::comparison(&comparison, ShowOptions::default());
    assert_golden("text/compare.txt", &shown);
    assert_golden(
        "markdown/compare.md",
        &fathom_report::markdown_comparison(&comparison),
    );
    let wide = text::comparison(
        &comparison,
        ShowOptions {
            width: 120,
            color: true,
        },
    );
    assert_golden("text/compare.colour.w120.txt", &wide);
}

#[test]
fn conditions_come_first_and_every_answer_is_shown() {
    let shown = text::comparison(&two(), ShowOptions::default());
    assert!(shown.starts_with("conditions\n"));
    for needed in [
        "Disk",
        "->",
        "slower",
        "cannot tell",
        "no answer",
        "invalid",
        "geometric mean",
    ] {
        assert!(shown.contains(needed), "no {needed:?} in\n{shown}");
    }
}

#[test]
fn several_contenders_and_metrics_fit_any_terminal() {
    let names = [
        "A drive",
        "B drive",
        "a very long name of a drive with its layout and file system",
    ];
    let mut comparisons = vec![against(&measured(&names), &names, MetricChoice::All), two()];
    if let Some(file) = oracle_input("seed000") {
        let names: Vec<&str> = file.systems.iter().map(|s| s.identifier.as_str()).collect();
        comparisons.push(against(&file, &names, MetricChoice::Primary));
    }
    for comparison in &comparisons {
        for width in [60, 80, 120, 200] {
            let shown = text::comparison(
                comparison,
                ShowOptions {
                    width,
                    color: false,
                },
            );
            for line in shown.lines() {
                assert!(line.width() <= width, "{width}: {line:?}");
                assert_eq!(line, line.trim_end());
            }
        }
    }
}

#[test]
fn nothing_in_common_says_so() {
    let mut file = measured(&["A", "B"]);
    for result in &mut file.results {
        result.entries.truncate(1);
    }
    let shown = text::comparison(
        &against(&file, &["A", "B"], MetricChoice::All),
        ShowOptions::default(),
    );
    assert!(shown.contains("there is nothing to compare"), "{shown}");
    assert!(shown.contains("only in some"), "{shown}");
    let nothing = ResultFile::default();
    let arm = Arm {
        label: "x",
        file: &nothing,
        system: "x",
    };
    let empty = compare(arm, &[arm], CompareOptions::default());
    assert!(text::comparison(&empty, ShowOptions::default()).contains("none is known"));
}

#[test]
fn the_page_of_a_comparison_is_sound_and_complete() {
    let names = ["A drive", "<b>B</b>", "C"];
    for comparison in [two(), against(&measured(&names), &names, MetricChoice::All)] {
        let page = assert_sound(&fathom_report::html_comparison(&comparison));
        for needed in [
            "Conditions that differ",
            "geometric mean",
            "slower",
            "no answer",
        ] {
            assert!(page.text.contains(needed), "no {needed:?}");
        }
        assert_eq!(page.count("svg", "role", "img"), comparison.summaries.len());
    }
}

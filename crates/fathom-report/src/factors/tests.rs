use fathom_model::{Entry, Figure, Generator, Metric, ResultRecord, Verdict};

use super::*;

/// ext4 and f2fs alone and as raid0; f2fs is twice as fast in one case and the same in the other.
fn file() -> ResultFile {
    let mut file = ResultFile::new("Four", Generator::default());
    for (system, layout) in [
        ("ext4", "single"),
        ("f2fs", "single"),
        ("ext4", "raid0"),
        ("f2fs", "raid0"),
    ] {
        let labels = [
            ("file-system", system),
            ("layout", layout),
            ("raid", if layout == "single" { "none" } else { "md" }),
            ("drive", "MP500"),
        ];
        file.systems.push(System {
            identifier: format!("{system} {layout}"),
            labels: labels.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            ..System::default()
        });
    }
    for (title, factor, direction) in [
        ("dbench", 2.0, Direction::HigherIsBetter),
        ("random read", 1.0, Direction::HigherIsBetter),
        ("sqlite", 0.5, Direction::LowerIsBetter),
    ] {
        let mut record = ResultRecord {
            title: title.to_owned(),
            metric: Metric {
                id: "rate".to_owned(),
                unit: "MB/s".to_owned(),
                direction,
                is_primary: true,
                ..Metric::default()
            },
            ..ResultRecord::default()
        };
        for system in &file.systems {
            let times = if system.labels["file-system"] == "f2fs" {
                factor
            } else {
                1.0
            };
            let samples: Vec<Figure> = [100.0, 100.1, 99.9, 100.0]
                .iter()
                .map(|value| Figure::new(value * times).unwrap())
                .collect();
            record.entries.push(Entry {
                system: system.identifier.clone(),
                value: Figure::new(100.0 * times),
                samples,
                verdict: Verdict::valid(),
                ..Entry::default()
            });
        }
        file.results.push(record);
    }
    file
}

#[test]
fn an_effect_is_told_for_each_case_with_its_interval() {
    let text = by_factor(&file(), "file-system", ShowOptions::default()).unwrap();
    let line = |start: &str| {
        let found = text.lines().find(|line| line.trim().starts_with(start));
        found
            .unwrap_or_else(|| panic!("no {start} in\n{text}"))
            .to_owned()
    };
    assert!(text.contains("f2fs against ext4"), "{text}");
    assert!(
        line("dbench").contains("2.00x") && line("dbench").contains("better"),
        "{text}"
    );
    assert!(line("dbench").ends_with("2 pairs"), "{text}");
    assert!(line("random read").contains("same"), "{text}");
    // Half of the time is twice as good.
    assert!(
        line("sqlite").contains("2.00x") && line("sqlite").contains("better"),
        "{text}"
    );
    assert!(line("all cases").contains("1.59x"), "{text}");
    assert!(line("all cases").ends_with("2 pairs"), "{text}");
    assert!(line("raid0").ends_with("0.63     1.00"), "{text}");
}

#[test]
fn a_layout_is_a_pair_although_the_number_of_drives_follows_from_it() {
    let text = by_factor(&file(), "layout", ShowOptions::default()).unwrap();
    assert!(text.contains("raid0 against single"), "{text}");
    assert!(text.contains("2 pairs"), "{text}");
}

#[test]
fn single_trials_have_no_interval_and_no_pair_is_said() {
    let mut file = file();
    for entry in file.results.iter_mut().flat_map(|r| &mut r.entries) {
        entry.samples.truncate(1);
    }
    let text = by_factor(&file, "file-system", ShowOptions::default()).unwrap();
    assert!(text.contains("one trial"), "{text}");
    assert!(!text.contains("all cases"), "{text}");
    file.systems
        .retain(|s| s.identifier != "f2fs single" && s.identifier != "ext4 raid0");
    let text = by_factor(&file, "file-system", ShowOptions::default()).unwrap();
    assert!(text.contains("differ in this alone"), "{text}");
}

#[test]
fn unknown_factors_are_told_with_those_there_are() {
    let error = by_factor(&file(), "colour", ShowOptions::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("drive, file-system, layout, raid"),
        "{error}"
    );
    let mut plain = file();
    plain
        .systems
        .iter_mut()
        .for_each(|system| system.labels.clear());
    assert_eq!(
        by_factor(&plain, "layout", ShowOptions::default()),
        Err(FactorError::NoLabels)
    );
}

#[test]
fn charts_are_a_heat_table_and_one_of_effects_a_level() {
    let charts = factor_charts(&file(), "file-system", Look::Print).unwrap();
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    assert_eq!(ids, ["factor-heat", "factor-effect-1"]);
    assert!(charts[0].svg.contains("raid0") && charts[0].svg.contains("0.63"));
    assert!(charts[1].svg.contains("dbench"));
}

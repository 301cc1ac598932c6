use super::*;

/// Largest values and the labels drawn for them.
#[test]
fn axis_labels_follow_from_the_largest_value() {
    for (max, expected) in [
        (2681.53, "6001200180024003000"),
        (1157.15, "2004006008001000"),
        (296_256.0, "60K120K180K240K300K"),
        (305_296.0, "70K140K210K280K350K"),
        (599.0, "130260390520650"),
        (705.94, "150300450600750"),
        (116.46, "306090120150"),
        (41_407.90, "9K18K27K36K45K"),
        (537.72, "120240360480600"),
        (35.77, "816243240"),
        (1554.0, "30060090012001500"),
        (3131.0, "7001400210028003500"),
        (423.67, "90180270360450"),
        (899.07, "2004006008001000"),
        (2502.58, "5001000150020002500"),
        (741.45, "160320480640800"),
        (588.15, "130260390520650"),
        (35_389.12, "8K16K24K32K40K"),
        (40.67, "918273645"),
    ] {
        assert_eq!(axis::labels(max, axis::Kind::Bars), expected, "{max}");
    }
    assert_eq!(axis::labels(80.0, axis::Kind::Boxes), "1530456075");
}

use fathom_model::ResultFile;
use proptest::prelude::*;

/// A page to be printed.
#[derive(Clone, Debug)]
struct Printed {
    names: Vec<String>,
    /// Description, unit, decimals and a value (scaled by the decimals) for each system or none.
    charts: Vec<(String, &'static str, u32, Vec<Option<u32>>)>,
    sorted: bool,
    with_overview: bool,
}

impl Printed {
    fn value(number: u32, decimals: u32) -> String {
        match decimals {
            0 => number.to_string(),
            decimals => format!(
                "{:.*}",
                decimals as usize,
                f64::from(number) / 10_f64.powi(decimals as i32)
            ),
        }
    }

    /// Systems of a chart in the order they are drawn.
    fn drawn(&self, values: &[Option<u32>]) -> Vec<usize> {
        let mut drawn: Vec<usize> = (0..values.len())
            .filter(|&at| values[at].is_some())
            .collect();
        if self.sorted {
            drawn.sort_by_key(|&at| &self.names[at]);
        }
        drawn
    }

    fn text(&self) -> String {
        let all: String = self.names.concat();
        let notes: String = self
            .names
            .iter()
            .map(|name| format!("- {name}: NONE / rw"))
            .collect();
        let mut text = format!(
            "A Page\n\nOf drives.\n\nHTML result view exported from: https://openbenchmarking.org/\
             result/1-A.\n\nA PageProcessorMemoryOSKernel{all}AMD EPYC 7601 (64 Cores)129024MB\
             Ubuntu 17.104.14.0-041400-generic (x86_64){MARK}Disk Details{notes}\n\nA Page"
        );
        for (description, ..) in self.charts.iter().filter(|_| self.with_overview) {
            text.push_str(&format!(
                "toy: {}",
                description.trim_start_matches("Mode: ")
            ));
        }
        text.push_str(&all);
        for system in 0..self.names.len() {
            for (_, _, decimals, values) in &self.charts {
                if let Some(value) = values[system] {
                    text.push_str(&Self::value(value, *decimals));
                }
            }
        }
        text.push_str(MARK);
        for (description, unit, decimals, values) in &self.charts {
            let drawn = self.drawn(values);
            text.push_str(&format!(
                "\n\nToy Bench\n\n{description}\n\n{MARK}{unit}, More Is Better"
            ));
            text.push_str(&format!("Toy Bench 1.5{description}"));
            let texts: Vec<String> = drawn
                .iter()
                .map(|&at| Self::value(values[at].unwrap_or(0), *decimals))
                .collect();
            let max = texts
                .iter()
                .map(|t| t.parse::<f64>().unwrap())
                .fold(0.0, f64::max);
            drawn.iter().for_each(|&at| text.push_str(&self.names[at]));
            text.push_str(&axis::labels(max, axis::Kind::Bars));
            drawn
                .iter()
                .for_each(|_| text.push_str("SE +/- 0.50, N = 3"));
            text.push_str(&texts.concat());
            text.push_str("1. (CC) gcc options: -O2");
        }
        text.push_str("\n\nPhoronix Test Suite v10.8.4\n");
        text
    }
}

const NAMES: [&str; 12] = [
    "Zeta X1",
    "Alpha 850 PRO",
    "Beta 2 x 4",
    "Intel 900p",
    "Q",
    "R 7",
    "Disk + LZO",
    "Disk",
    "S",
    "T9",
    "U",
    "V",
];

fn printed() -> impl Strategy<Value = Printed> {
    let chart = (
        0u32..3,
        proptest::collection::vec(proptest::option::weighted(0.9, 1u32..50_000), NAMES.len()),
    );
    (
        2usize..NAMES.len(),
        proptest::collection::vec(chart, 1..6),
        any::<[bool; 2]>(),
    )
        .prop_map(|(systems, charts, [sorted, with_overview])| Printed {
            with_overview,
            names: NAMES[..systems]
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            charts: charts
                .into_iter()
                .enumerate()
                .map(|(at, (decimals, mut values))| {
                    values.truncate(systems);
                    if values.iter().all(Option::is_none) {
                        values[0] = Some(7);
                    }
                    (
                        format!("Mode: {}", ["A", "Bb", "C 4KB", "D", "E"][at]),
                        "MB/s",
                        decimals,
                        values,
                    )
                })
                .collect(),
            sorted,
        })
}

/// Values the reader is certain of, values it guessed right, values it guessed wrong.
fn judge(printed: &Printed, file: &ResultFile) -> (usize, usize, Vec<String>) {
    let (mut certain, mut guessed, mut wrong) = (0, 0, Vec::new());
    for ((description, _, decimals, values), record) in printed.charts.iter().zip(&file.results) {
        assert_eq!(record.description, *description);
        for (entry, at) in record.entries.iter().zip(printed.drawn(values)) {
            assert_eq!(entry.system, printed.names[at]);
            let expected = Printed::value(values[at].unwrap(), *decimals);
            let found = entry
                .value
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            let is_sure = entry.details.as_ref().is_none_or(|d| d.uncertain.is_none());
            match (is_sure, found == expected) {
                (true, true) => certain += 1,
                (false, true) => guessed += 1,
                (false, false) => {}
                (true, false) => wrong.push(format!("{description}: {found} is {expected}")),
            }
        }
    }
    (certain, guessed, wrong)
}

proptest! {
    #[test]
    fn what_is_called_certain_is_right(printed in printed()) {
        let file = read(printed.text().as_bytes()).unwrap();
        prop_assert_eq!(file.systems.len(), printed.names.len());
        prop_assert_eq!(file.results.len(), printed.charts.len());
        let (_, _, wrong) = judge(&printed, &file);
        prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, printed.text());
    }
}

#[test]
fn whole_numbers_are_told_apart_by_the_overview() {
    let printed = Printed {
        names: vec!["A 1".into(), "B 2".into(), "C 3".into()],
        charts: vec![
            (
                "Mode: X".into(),
                "MB/s",
                0,
                vec![Some(1419), Some(655), Some(98)],
            ),
            (
                "Mode: Y".into(),
                "MB/s",
                0,
                vec![Some(2221), Some(14), Some(2628)],
            ),
            (
                "Mode: Z".into(),
                "MB/s",
                2,
                vec![Some(42_367), None, Some(13)],
            ),
        ],
        sorted: false,
        with_overview: true,
    };
    let file = read(printed.text().as_bytes()).unwrap();
    assert_eq!(judge(&printed, &file), (8, 0, vec![]));
    assert_eq!(file.title, "A Page");
    assert_eq!(file.description, "Of drives.");
    assert_eq!(file.origin.as_ref().unwrap().warnings, []);
    let system = &file.systems[1];
    assert_eq!(system.hardware[0].text, "AMD EPYC 7601 (64 Cores)");
    assert_eq!(system.software[1].text, "4.14.0-041400-generic (x86_64)");
    assert_eq!(system.notes[0].text, "NONE / rw");
    let entry = &file.results[2].entries[1];
    assert_eq!(entry.spread.as_ref().unwrap().count, 3);
    let options = entry.details.as_ref().unwrap().pts_json.map();
    assert_eq!(options["compiler-options"]["compiler-options"], "-O2");
    assert_eq!(file.cases[0].test, "toy");
}

#[test]
fn a_guess_is_called_one() {
    let printed = Printed {
        names: vec!["A 1".into(), "B 2".into()],
        charts: vec![("Mode: X".into(), "MB/s", 0, vec![Some(1111), Some(11)])],
        sorted: false,
        with_overview: true,
    };
    // Without the overview nothing tells 1111|11 from 111|111.
    let text = printed.text().replace("toy: X", "other: table");
    let file = read(text.as_bytes()).unwrap();
    let entry = &file.results[0].entries[0];
    let doubt = entry
        .details
        .as_ref()
        .unwrap()
        .uncertain
        .as_deref()
        .unwrap_or_default();
    assert!(doubt.contains("could also be"), "{doubt}");
}

#[test]
fn names_without_any_mark_are_refused_or_found_by_the_table() {
    let printed = Printed {
        names: vec!["Zeta X1".into(), "Alpha 850".into()],
        charts: vec![(
            "Mode: X".into(),
            "MB/s",
            2,
            vec![Some(50_000), Some(17_025)],
        )],
        sorted: false,
        with_overview: true,
    };
    let text = printed
        .text()
        .replace("- Zeta X1: NONE / rw- Alpha 850: NONE / rw", "- NONE / rw");
    let file = read(text.as_bytes()).unwrap();
    assert_eq!(file.systems.len(), 2);
    let glued = text
        .replace("Zeta X1Alpha 850", "ZETAALPHA")
        .replace("Alpha 850Zeta X1", "x");
    let error = read(glued.as_bytes());
    assert!(error.is_err() || error.unwrap().systems.len() == 1);
}

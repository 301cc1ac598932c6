//! Wins, losses and means as the Phoronix Test Suite sums results up.
//!
//! These rules mix units, count MB/s and IOPS of one run twice and know no uncertainty; they are
//! here for those who need the same numbers.

use std::collections::HashMap;
use std::fmt::Write;

use fathom_model::{Direction, Display, Figure, Metric, ResultFile, ResultRecord};
use fathom_stats::compare as stats;
use fathom_stats::pts::{self, Contest, Directed};

use super::pts::Block;
use crate::clean;
use crate::number::rounded;

/// Results below which there is no executive summary.
const LEAST_RESULTS: usize = 6;
/// Results above which the spreads are listed.
const MANY_RESULTS: usize = 16;

/// The wins and losses of each system, as `phoronix-test-suite wins-and-losses` prints them.
pub fn pts_wins_and_losses(file: &ResultFile) -> String {
    let mut out = String::new();
    push_wins(&mut out, &Tests::of(file));
    out.push('\n');
    out
}

/// Wins, losses, harmonic means by unit and the geometric mean of everything, as
/// `phoronix-test-suite result-file-stats` prints them on a terminal of `width` columns.
pub fn pts_stats(file: &ResultFile, width: usize) -> String {
    let tests = Tests::of(file);
    let mut out = String::new();
    push_wins(&mut out, &tests);
    let mut block = Block {
        width,
        indent: 4,
        scratch: String::new(),
    };
    let means = tests
        .harmonic_means()
        .into_iter()
        .chain(tests.geometric_mean());
    for mean in means {
        out.push('\n');
        block.push(&mut out, &mean);
    }
    out.push('\n');
    out
}

/// The sentences of `phoronix-test-suite executive-summary`; empty below six results or two
/// systems, where the original refuses.
pub fn pts_executive_summary(file: &ResultFile) -> String {
    let tests = Tests::of(file);
    if tests.bars().count() < LEAST_RESULTS || tests.systems.len() < 2 {
        return String::new();
    }
    let mut sentences: Vec<String> = vec![tests.file.title.clone()];
    let scores = tests.scores();
    let total: u32 = scores.wins.iter().map(|(_, count)| count).sum();
    if let Some((winner, count)) = scores.wins.first() {
        let percent = 100 * count / total.max(1);
        sentences.push(format!(
            "{} had the most wins, coming in first place for {percent}% of the tests.",
            tests.systems[*winner]
        ));
    }
    sentences.extend(
        tests
            .geometric_mean()
            .map(|mean| speeds(&mean, tests.systems.len())),
    );
    let mut out: String = sentences
        .iter()
        .map(|sentence| clean::line(sentence) + "\n\n")
        .collect();
    if tests.bars().count() > MANY_RESULTS {
        push_spreads(&mut out, &tests);
        out.push_str("\n\n");
    }
    out
}

/// A result file as these rules see it.
struct Tests<'a> {
    file: &'a ResultFile,
    systems: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

/// Wins and losses with the system's place, most first, then in the order of the first one.
struct Scores {
    wins: Vec<(usize, u32)>,
    losses: Vec<(usize, u32)>,
    counted: u32,
    possible: u32,
}

impl<'a> Tests<'a> {
    fn of(file: &'a ResultFile) -> Self {
        let mut systems: Vec<&str> = Vec::new();
        let mut places = HashMap::new();
        let described = file.systems.iter().map(|system| system.identifier.as_str());
        let entered = file.results.iter().flat_map(|result| &result.entries);
        for name in described.chain(entered.map(|entry| entry.system.as_str())) {
            places.entry(name).or_insert_with(|| {
                systems.push(name);
                systems.len() - 1
            });
        }
        Self {
            file,
            systems,
            places,
        }
    }

    /// Results of a test profile: derived and sensor results have no identifier. Neither has any
    /// result of a text export; there all of them count.
    fn tests(&self) -> impl Iterator<Item = &'a ResultRecord> {
        let has_identifier = |result: &ResultRecord| {
            let facts = result.pts.as_ref();
            facts.is_none_or(|facts| !facts.identifier.is_empty())
        };
        let none_has = !self.file.results.iter().any(has_identifier);
        let results = self.file.results.iter();
        results.filter(move |result| none_has || has_identifier(result))
    }

    fn bars(&self) -> impl Iterator<Item = &'a ResultRecord> {
        self.tests().filter(|result| result.display == Display::Bar)
    }

    /// Bars with a number other than 0 for every system.
    fn complete_bars(&self) -> impl Iterator<Item = &'a ResultRecord> {
        let needed = self.systems.len();
        self.bars().filter(move |result| {
            let value = |entry: &fathom_model::Entry| entry.value.as_ref().map(Figure::value);
            result.entries.len() >= needed
                && result
                    .entries
                    .iter()
                    .all(|entry| value(entry).is_some_and(|v| v != 0.0))
        })
    }

    fn scores(&self) -> Scores {
        let mut scores = Scores {
            wins: Vec::new(),
            losses: Vec::new(),
            counted: 0,
            possible: 0,
        };
        for result in self.tests() {
            let Some(direction) = direction_of(&result.metric) else {
                continue;
            };
            if result.entries.len() < 2 || result.entries.len() < self.systems.len() / 2 {
                continue;
            }
            scores.possible += 1;
            // The points of a line are no number that could win.
            let is_bars = result.display == Display::Bar;
            let entries: Vec<(usize, f64)> = result
                .entries
                .iter()
                .filter(|_| is_bars)
                .filter_map(|entry| {
                    let place = self.places.get(entry.system.as_str())?;
                    Some((*place, entry.value.as_ref()?.value()))
                })
                .collect();
            let tally = pts::wins(
                &[Contest {
                    entries: &entries,
                    direction,
                }],
                self.systems.len(),
            );
            let place_of = |counts: &[u32]| counts.iter().position(|count| *count > 0);
            if let (Some(winner), Some(loser)) = (place_of(&tally.wins), place_of(&tally.losses)) {
                scores.counted += 1;
                add_one(&mut scores.wins, winner);
                add_one(&mut scores.losses, loser);
            }
        }
        // Stable, so that equals keep the order of their first place.
        scores
            .wins
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        scores
            .losses
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        scores
    }

    fn harmonic_means(&self) -> Vec<ResultRecord> {
        let mut units: Vec<&str> = Vec::new();
        let mut values: HashMap<&str, Vec<Vec<f64>>> = HashMap::new();
        let rates = self.complete_bars().filter(|result| {
            result.metric.direction == Direction::HigherIsBetter
                && pts::is_rate_unit(&result.metric.unit)
        });
        for result in rates {
            let unit = result.metric.unit.as_str();
            let of_unit = values.entry(unit).or_insert_with(|| {
                units.push(unit);
                vec![Vec::new(); self.systems.len()]
            });
            self.add_values(of_unit, result, |value| value);
        }
        units
            .into_iter()
            .filter_map(|unit| {
                let means = values[unit].iter().map(|values| pts::harmonic_mean(values));
                let record = ResultRecord {
                    title: format!("Harmonic Mean Of {unit} Test Results"),
                    description: "Harmonic Mean".to_owned(),
                    metric: higher_is_better(unit),
                    ..ResultRecord::default()
                };
                self.with_means(record, means)
            })
            .collect()
    }

    fn geometric_mean(&self) -> Option<ResultRecord> {
        let mut values: Vec<Vec<Directed>> = vec![Vec::new(); self.systems.len()];
        for result in self.complete_bars() {
            let direction =
                direction_of(&result.metric).unwrap_or(stats::Direction::HigherIsBetter);
            self.add_values(&mut values, result, |value| Directed { value, direction });
        }
        let title = self.file.title.trim();
        let record = ResultRecord {
            title: "Geometric Mean Of All Test Results".to_owned(),
            description: match title {
                "" => "Result Composite".to_owned(),
                title => format!("Result Composite - {title}"),
            },
            metric: higher_is_better("Geometric Mean"),
            ..ResultRecord::default()
        };
        self.with_means(
            record,
            values.iter().map(|values| pts::geometric_mean(values)),
        )
    }

    fn add_values<T>(&self, lists: &mut [Vec<T>], result: &ResultRecord, of: impl Fn(f64) -> T) {
        for entry in &result.entries {
            let place = self.places.get(entry.system.as_str());
            if let (Some(place), Some(value)) = (place, &entry.value) {
                lists[*place].push(of(value.value()));
            }
        }
    }

    /// A bar graph of one mean a system, the smallest first; none when no system has one.
    fn with_means(
        &self,
        mut record: ResultRecord,
        means: impl Iterator<Item = Option<f64>>,
    ) -> Option<ResultRecord> {
        let mut rows: Vec<(usize, f64)> = means
            .enumerate()
            .filter_map(|(place, mean)| Some((place, pts::round(mean?, 3))))
            .collect();
        rows.sort_by(|a, b| a.1.total_cmp(&b.1));
        record.entries = rows
            .into_iter()
            .map(|(place, mean)| fathom_model::Entry {
                system: self.systems[place].to_owned(),
                value: Figure::parse(&rounded(mean, 3)),
                ..fathom_model::Entry::default()
            })
            .collect();
        (!record.entries.is_empty()).then_some(record)
    }
}

fn add_one(counts: &mut Vec<(usize, u32)>, place: usize) {
    match counts.iter_mut().find(|(known, _)| *known == place) {
        Some((_, count)) => *count += 1,
        None => counts.push((place, 1)),
    }
}

fn direction_of(metric: &Metric) -> Option<stats::Direction> {
    match metric.direction {
        Direction::HigherIsBetter => Some(stats::Direction::HigherIsBetter),
        Direction::LowerIsBetter => Some(stats::Direction::LowerIsBetter),
        Direction::Neutral => None,
    }
}

fn higher_is_better(unit: &str) -> Metric {
    Metric {
        unit: unit.to_owned(),
        direction: Direction::HigherIsBetter,
        ..Metric::default()
    }
}

fn push_wins(out: &mut String, tests: &Tests<'_>) {
    let scores = tests.scores();
    let indent = "   ";
    let _ = write!(out, "{indent}{}\n\n", clean::line(&tests.file.title));
    let row = |(place, count): &(usize, u32), space: &str| {
        let percent = rounded(
            f64::from(*count) / f64::from(scores.counted.max(1)) * 100.0,
            1,
        );
        [
            format!("{}: ", clean::line(tests.systems[*place])),
            format!("{count}{space}"),
            format!(" [{percent}%]"),
        ]
    };
    let words = |first: &str| [first.to_owned(), String::new(), String::new()];
    let mut table = vec![words("WINS:")];
    table.extend(scores.wins.iter().map(|score| row(score, " ")));
    table.push(words(""));
    table.push(words("LOSSES: "));
    table.extend(scores.losses.iter().map(|score| row(score, "")));
    let widths: [usize; 3] =
        std::array::from_fn(|i| table.iter().map(|cells| cells[i].len()).max().unwrap_or(0));
    for cells in &table {
        out.push_str(indent);
        for (cell, width) in cells.iter().zip(widths) {
            out.push_str(cell);
            super::columns::push_repeated(out, ' ', width + 1 - cell.len());
        }
        out.push('\n');
    }
    let _ = write!(out, "{indent}TESTS COUNTED: {}", scores.counted);
    if scores.possible != scores.counted {
        let _ = write!(out, " of {}", scores.possible);
    }
    out.push('\n');
}

/// `Based on the geometric mean ..., the fastest (A) was 2x the speed of the slowest (B). ...`.
fn speeds(mean: &ResultRecord, systems: usize) -> String {
    let values: Vec<(&str, f64)> = mean
        .entries
        .iter()
        .rev()
        .filter_map(|entry| Some((entry.system.as_str(), entry.value.as_ref()?.value())))
        .collect();
    let (Some((fastest, high)), Some((slowest, low))) = (values.first(), values.last()) else {
        return String::new();
    };
    let steps: Vec<String> = values
        .windows(2)
        .map(|pair| {
            let ratio = pts::round(pair[1].1 / pair[0].1, 3);
            format!("{} was {ratio}x the speed of {}", pair[1].0, pair[0].0)
        })
        .collect();
    let steps = match steps.len() {
        _ if systems < 3 => String::new(),
        0 | 11.. => String::new(),
        2 => format!("{}.", steps.join(" and ")),
        _ => format!("{}.", steps.join(", ")),
    };
    let ratio = pts::round(high / low, 3);
    let text = format!(
        "Based on the geometric mean of all complete results, the fastest ({fastest}) was \
         {ratio}x the speed of the slowest ({slowest}). {steps}"
    );
    text.trim().to_owned()
}

fn push_spreads(out: &mut String, tests: &Tests<'_>) {
    let mut spreads: Vec<(&ResultRecord, f64)> = tests
        .bars()
        .filter_map(|result| {
            let values = result
                .entries
                .iter()
                .filter_map(|entry| entry.value.as_ref());
            let (low, high) = crate::view::extent(values.map(Figure::value))?;
            (low > 0.0).then_some((result, high / low))
        })
        .collect();
    spreads.sort_by(|a, b| b.1.total_cmp(&a.1));
    let lines: Vec<String> = spreads
        .iter()
        .take(10)
        .map(|(result, spread)| {
            let description = match result.description.as_str() {
                "" => String::new(),
                description => format!(" ({description})"),
            };
            format!(
                "{}{description} at {}x",
                result.title,
                pts::round(*spread, 3)
            )
        })
        .map(|line| clean::line(&line))
        .collect();
    out.push_str("The results with the greatest spread from best to worst included: \n\n");
    out.push_str(&lines.join("\n"));
    out.push('.');
}

//! All results at a glance: relative to the best, and over all cases relative to a baseline.

use std::collections::HashMap;

use fathom_model::{Direction, Level};
use fathom_stats::combine::combine_ratios;
use fathom_stats::compare::LogRatio;
use fathom_stats::{Confidence, Estimate};

use crate::view::{Block, Known, Row, View};

/// The overview of a file.
pub(crate) struct Overview {
    /// One a case: the result that stands for it, when that is bars with a direction.
    pub rows: Vec<OverviewRow>,
    /// One a system.
    pub scores: Vec<Score>,
    /// Short names of all blocks.
    names: Vec<String>,
}

/// One result.
pub(crate) struct OverviewRow {
    /// Index of the block.
    pub block: usize,
    /// One a system; absent where it has no entry here.
    pub cells: Vec<Option<Cell>>,
}

/// One system's part of a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cell {
    /// Its row in the block.
    pub row: usize,
    /// Its value; absent when it failed.
    pub value: Option<f64>,
    /// Share of the best value, 1 for the best; inverted where lower is better. Absent for failed
    /// and invalid ones.
    pub of_best: Option<f64>,
    /// Where it stands.
    pub standing: Standing,
}

/// Where a value stands among the others, as far as can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Best, outside the uncertainty of all others.
    First,
    /// Cannot be told apart from the best.
    Tied,
    /// Behind the best, outside the uncertainty.
    Behind,
    /// Nothing can be said.
    Unknown,
    /// Not a number to rank.
    Invalid,
}

/// A system over all cases.
pub(crate) struct Score {
    /// Geometric mean of its improvements over the baseline, one weight a case, with its interval
    /// where every ratio has one.
    pub improvement: Option<Estimate>,
    /// The mean alone, where some ratio has no interval.
    pub improvement_alone: Option<f64>,
    /// Cases it is made of.
    pub cases: usize,
    /// Results it is first in, outside the uncertainty.
    pub first: usize,
    /// Results in which it cannot be told apart from the best.
    pub tied: usize,
    /// Results with a value.
    pub results: usize,
}

impl Overview {
    /// Works out the overview; the first system is the baseline.
    pub fn of(view: &View<'_>) -> Self {
        let systems = view.systems.len();
        let is_ranked = |block: &Block<'_>| {
            block.stands && block.is_bars() && block.record.metric.direction != Direction::Neutral
        };
        let rows: Vec<OverviewRow> = view
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| is_ranked(block))
            .map(|(place, block)| OverviewRow {
                block: place,
                cells: cells_of(block, systems),
            })
            .collect();
        let scores = (0..systems)
            .map(|system| score_of(view, &rows, system))
            .collect();
        Self {
            rows,
            scores,
            names: names_of(view),
        }
    }

    /// The short name of a block: its label, else its title with the options that tell it from
    /// other results of that title.
    pub fn name(&self, block: usize) -> &str {
        &self.names[block]
    }
}

fn names_of(view: &View<'_>) -> Vec<String> {
    let mut groups: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
    for (place, block) in view.blocks.iter().enumerate() {
        let record = block.record;
        groups
            .entry((&record.title, &record.version))
            .or_default()
            .push(place);
    }
    let mut names: Vec<String> = vec![String::new(); view.blocks.len()];
    for places in groups.values() {
        let descriptions: Vec<&str> = places
            .iter()
            .map(|place| view.blocks[*place].record.description.as_str())
            .collect();
        let varied = varied_parts(&descriptions);
        for (place, parts) in places.iter().zip(varied) {
            let block = &view.blocks[*place];
            names[*place] = match (block.label(), parts.is_empty()) {
                (Some(label), _) => label.to_owned(),
                (None, true) => block.title(),
                (None, false) => format!("{}: {}", block.record.title, parts.join(" - ")),
            };
        }
    }
    names
}

/// Of each description the values of the options that are not the same in all of them; a single
/// description keeps everything.
fn varied_parts(descriptions: &[&str]) -> Vec<Vec<String>> {
    let split = |description: &str| -> Vec<(String, String)> {
        let parts = description
            .split(" - ")
            .filter(|part| !part.trim().is_empty());
        parts
            .enumerate()
            .map(|(place, part)| match part.split_once(": ") {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (place.to_string(), part.to_owned()),
            })
            .collect()
    };
    let all: Vec<Vec<(String, String)>> = descriptions.iter().map(|text| split(text)).collect();
    let mut first_values: HashMap<&str, (&str, usize, bool)> = HashMap::new();
    for (name, value) in all.iter().flatten() {
        let entry = first_values.entry(name).or_insert((value, 0, false));
        entry.1 += 1;
        entry.2 |= entry.0 != value;
    }
    let is_single = descriptions.windows(2).all(|pair| pair[0] == pair[1]);
    let is_kept = |name: &str| {
        let (_, count, varies) = first_values[name];
        is_single || varies || count != descriptions.len()
    };
    all.iter()
        .map(|parts| {
            let kept = parts.iter().filter(|(name, _)| is_kept(name));
            kept.map(|(_, value)| shortened(value)).collect()
        })
        .collect()
}

/// A few words shortened as the overview table of the Phoronix Test Suite does.
pub(crate) fn shortened(value: &str) -> String {
    value
        .replace("Random", "Rand")
        .replace("Sequential", "Seq")
        .replace("Frequency", "Freq")
        .replace("Temperature", "Temp")
}

fn cells_of(block: &Block<'_>, systems: usize) -> Vec<Option<Cell>> {
    let leaders = block.leaders();
    let best = best_value(block);
    let is_certain = !leaders.is_empty();
    let mut cells = vec![None; systems];
    for (place, row) in block
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.repeat == 0)
    {
        let standing = match row.value {
            _ if row.entry.verdict.level == Level::Invalid => Standing::Invalid,
            None => Standing::Unknown,
            Some(_) if !is_certain => Standing::Unknown,
            Some(_) if leaders == [place] => Standing::First,
            Some(_) if leaders.contains(&place) => Standing::Tied,
            Some(_) => Standing::Behind,
        };
        let ranked = row.value.filter(|_| standing != Standing::Invalid);
        let of_best = ranked.zip(best).and_then(|(value, best)| {
            let share = match block.record.metric.direction {
                Direction::LowerIsBetter => best / value,
                _ => value / best,
            };
            (share.is_finite() && share >= 0.0).then_some(share)
        });
        cells[row.system as usize] = Some(Cell {
            row: place,
            value: row.value,
            of_best,
            standing,
        });
    }
    cells
}

/// The best value above 0 that is not invalid.
fn best_value(block: &Block<'_>) -> Option<f64> {
    let values = block
        .rows
        .iter()
        .filter(|row| row.entry.verdict.level != Level::Invalid)
        .filter_map(|row| row.value)
        .filter(|value| *value > 0.0);
    match block.record.metric.direction {
        Direction::LowerIsBetter => values.reduce(f64::min),
        _ => values.reduce(f64::max),
    }
}

fn score_of(view: &View<'_>, rows: &[OverviewRow], system: usize) -> Score {
    let cells = rows.iter().filter_map(|row| row.cells[system]);
    let count = |wanted: Standing| cells.clone().filter(|cell| cell.standing == wanted).count();
    let mut ratios: Vec<LogRatio> = Vec::new();
    let mut logs: Vec<f64> = Vec::new();
    for row in rows {
        let block = &view.blocks[row.block];
        let of = |system: usize| known_of(&block.rows[row.cells[system]?.row]);
        let (Some(base), Some(mine)) = (of(0), of(system)) else {
            continue;
        };
        let sign = match block.record.metric.direction {
            Direction::LowerIsBetter => -1.0,
            _ => 1.0,
        };
        logs.push(sign * (mine.value / base.value).ln());
        if let Some(ratio) = mine.log_ratio_to(base) {
            ratios.push(LogRatio {
                log_ratio: sign * ratio.log_ratio,
                ..ratio
            });
        }
    }
    let is_all_certain = !ratios.is_empty() && ratios.len() == logs.len();
    let combined = combine_ratios(&ratios, Confidence::P95)
        .ok()
        .filter(|_| is_all_certain);
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    Score {
        improvement: combined.map(|combined| combined.estimate),
        improvement_alone: (!logs.is_empty()).then(|| mean.exp()),
        cases: logs.len(),
        first: count(Standing::First),
        tied: count(Standing::Tied),
        results: cells.clone().filter(|cell| cell.value.is_some()).count(),
    }
}

/// A number above 0 that is not invalid, of a row.
fn known_of<'v>(row: &'v Row<'_>) -> Option<Known<'v>> {
    let is_valid = row.entry.verdict.level != Level::Invalid;
    let value = row.value.filter(|value| *value > 0.0 && is_valid)?;
    Some(Known {
        value,
        certainty: &row.certainty,
    })
}

/// A class of heat for a share of the best: 0 is best, 6 is below a tenth.
pub(crate) fn heat(of_best: f64) -> usize {
    const STEPS: [f64; 6] = [0.98, 0.9, 0.75, 0.5, 0.25, 0.1];
    STEPS
        .iter()
        .position(|step| of_best >= *step)
        .unwrap_or(STEPS.len())
}

/// The name of a result in the overview table of the Phoronix Test Suite: the base name of its
/// profile and the values of its options, `fio: Rand Read - Libaio - 4KB`.
#[cfg(any(test, feature = "export"))]
pub(crate) fn pts_name(block: &Block<'_>) -> String {
    let record = block.record;
    let identifier = record
        .pts
        .as_ref()
        .map_or("", |facts| facts.identifier.as_str());
    let profile = identifier.rsplit('/').next().unwrap_or_default();
    let base = match profile.rsplit_once('-') {
        Some((base, version)) if version.starts_with(|c: char| c.is_ascii_digit()) => base,
        _ => profile,
    };
    let base = if base.is_empty() {
        record.title.as_str()
    } else {
        base
    };
    let values: Vec<String> = record
        .description
        .split(" - ")
        .map(|part| shortened(part.split_once(": ").map_or(part, |(_, value)| value)))
        .filter(|part| !part.is_empty())
        .collect();
    match values.is_empty() {
        true => base.to_owned(),
        false => format!("{base}: {}", values.join(" - ")),
    }
}

#[cfg(test)]
mod tests;

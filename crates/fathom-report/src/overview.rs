//! All results at a glance: relative to the best, and over all cases relative to a baseline.

use fathom_model::{Direction, Level};
use fathom_stats::combine::combine_ratios;
use fathom_stats::compare::LogRatio;
use fathom_stats::{Confidence, Estimate};

use crate::view::{Block, Known, Row, View};

/// The overview of a file.
pub(crate) struct Overview {
    /// One a bar result with a direction.
    pub rows: Vec<OverviewRow>,
    /// One a system.
    pub scores: Vec<Score>,
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
            block.is_bars() && block.record.metric.direction != Direction::Neutral
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
        Self { rows, scores }
    }
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
    for row in rows.iter().filter(|row| view.blocks[row.block].stands) {
        let block = &view.blocks[row.block];
        let (Some(base), Some(mine)) = (known_of(block, 0), known_of(block, system)) else {
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

/// The first entry of a system that is a number above 0 and not invalid.
fn known_of<'v>(block: &'v Block<'_>, system: usize) -> Option<Known<'v>> {
    let is_wanted =
        |row: &&Row<'_>| row.system as usize == system && row.entry.verdict.level != Level::Invalid;
    let row = block.rows.iter().find(is_wanted)?;
    let value = row.value.filter(|value| *value > 0.0)?;
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

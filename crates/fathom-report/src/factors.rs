//! Results by factor: what a file system, a drive or a layout changes, all else being equal.
//!
//! Systems that a matrix has measured carry labels. Two systems that differ in one label alone are
//! a pair; the effect of a factor's level is the ratio between the sides of its pairs, put together
//! over the pairs (and for the last line over the cases) as a geometric mean with its interval.

use std::collections::{BTreeMap, BTreeSet};

use fathom_model::{Direction, Level, ResultFile, System};
use fathom_stats::combine::combine_ratios;
use fathom_stats::compare::{CompareRule, LogRatio};
use fathom_stats::{Confidence, Sample, log_ratio};

use crate::clean;
use crate::number::rounded;
use crate::svg::{Chart, Look, Ratio, push_factor_heat, push_forest};
use crate::text::ShowOptions;
use crate::view::{Block, View};

#[cfg(test)]
mod tests;

/// Labels that follow from the layout: two systems of one layout need not share them to be a pair.
const DEPENDENT: [&str; 2] = ["drives", "raid"];

/// There is nothing to group by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    /// No system has labels.
    #[error("the systems of this result have no labels; fathom matrix gives them some")]
    NoLabels,
    /// No system has this one.
    #[error("no system has a label {name}; expected one of {known}")]
    Unknown {
        /// As asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

/// A factor of a result, with everything computed.
pub(crate) struct Factor<'a> {
    name: String,
    /// Its levels, in the order of the systems; the first is what the others are held against.
    levels: Vec<String>,
    /// Everything else, as far as it differs between systems: the rows of the heat table.
    others: Vec<String>,
    effects: Vec<Effect>,
    /// Geometric mean of the share of the best, by row and level.
    heat: BTreeMap<(usize, usize), f64>,
    title: &'a str,
}

/// What a level changes, for one case or over all.
struct Effect {
    /// The case; absent for all together.
    case: Option<String>,
    level: usize,
    pairs: usize,
    /// Above 1 is better.
    ratio: f64,
    interval: Option<(f64, f64)>,
}

/// One side of a pair.
struct Side {
    samples: Vec<f64>,
    value: f64,
}

/// A ratio of two sides; above 1 the second is better.
struct PairRatio {
    log: f64,
    known: Option<LogRatio>,
}

impl<'a> Factor<'a> {
    fn of(file: &'a ResultFile, name: &str) -> Result<Self, FactorError> {
        let levels = distinct(
            file.systems
                .iter()
                .filter_map(|system| system.labels.get(name)),
        );
        if levels.is_empty() {
            let known: BTreeSet<&str> = file
                .systems
                .iter()
                .flat_map(|system| system.labels.keys().map(String::as_str))
                .collect();
            return Err(match known.is_empty() {
                true => FactorError::NoLabels,
                false => FactorError::Unknown {
                    name: name.to_owned(),
                    known: known.into_iter().collect::<Vec<_>>().join(", "),
                },
            });
        }
        let varying = varying(file, name);
        let rows = file.systems.iter().map(|system| row_of(system, &varying));
        let others = distinct(rows.collect::<Vec<_>>().iter());
        let view = View::of(file);
        let blocks: Vec<&Block<'_>> = view
            .blocks
            .iter()
            .filter(|block| is_ranked(block))
            .collect();
        let mut factor = Self {
            name: name.to_owned(),
            effects: Vec::new(),
            heat: heat(file, &blocks, name, &levels, &others, &varying),
            levels,
            others,
            title: &file.title,
        };
        for level in 1..factor.levels.len() {
            factor.add_effects(file, &blocks, level);
        }
        Ok(factor)
    }

    /// The effects of one level: each case, then all together.
    fn add_effects(&mut self, file: &ResultFile, blocks: &[&Block<'_>], level: usize) {
        let pairs = pairs(file, &self.name, &self.levels[0], &self.levels[level]);
        let mut all: Vec<LogRatio> = Vec::new();
        let mut cases = 0;
        let mut most_pairs = 0;
        for block in blocks {
            let ratios: Vec<PairRatio> = pairs
                .iter()
                .filter_map(|(base, other)| pair_ratio(block, base, other))
                .collect();
            let Some(effect) = effect_of(Some(block_name(block)), level, &ratios) else {
                continue;
            };
            cases += 1;
            most_pairs = most_pairs.max(effect.pairs);
            all.extend(combined(&ratios));
            self.effects.push(effect);
        }
        // A case whose spread is unknown would make the whole look surer than it is.
        if cases > 1
            && all.len() == cases
            && let Ok(together) = combine_ratios(&all, Confidence::P95)
        {
            self.effects.push(Effect {
                case: None,
                level,
                pairs: most_pairs,
                ratio: together.estimate.value,
                interval: Some((together.estimate.low, together.estimate.high)),
            });
        }
    }
}

/// Bars with a direction, one a case.
fn is_ranked(block: &Block<'_>) -> bool {
    block.stands && block.is_bars() && block.record.metric.direction != Direction::Neutral
}

fn block_name(block: &Block<'_>) -> String {
    let name = block.label().map_or_else(|| block.title(), str::to_owned);
    clean::line(&name)
}

fn distinct<'t>(values: impl Iterator<Item = &'t String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    all
}

/// Labels that are not the same everywhere, without the factor and what follows from the layout.
fn varying(file: &ResultFile, factor: &str) -> Vec<String> {
    let names: BTreeSet<&String> = file.systems.iter().flat_map(|s| s.labels.keys()).collect();
    names
        .into_iter()
        .filter(|name| *name != factor && !DEPENDENT.contains(&name.as_str()))
        .filter(|name| {
            let values: BTreeSet<Option<&String>> =
                file.systems.iter().map(|s| s.labels.get(*name)).collect();
            values.len() > 1
        })
        .cloned()
        .collect()
}

/// `Force MP500 120GB, raid0`: what is usual is left out.
fn row_of(system: &System, varying: &[String]) -> String {
    const USUAL: [&str; 3] = ["defaults", "default", "none"];
    let values: Vec<&str> = varying
        .iter()
        .filter_map(|name| system.labels.get(name))
        .map(String::as_str)
        .filter(|value| !USUAL.contains(value))
        .collect();
    match values.is_empty() {
        true => "all".to_owned(),
        false => values.join(", "),
    }
}

/// Systems of two levels that agree in everything else.
fn pairs(file: &ResultFile, factor: &str, base: &str, other: &str) -> Vec<(String, String)> {
    let key = |system: &System| {
        let labels = system.labels.iter();
        labels
            .filter(|(name, _)| *name != factor && !DEPENDENT.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Vec<_>>()
    };
    let of = |level: &str| {
        file.systems
            .iter()
            .filter(|system| system.labels.get(factor).is_some_and(|own| own == level))
            .collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    for left in of(base) {
        for right in of(other) {
            if key(left) == key(right) {
                found.push((left.identifier.clone(), right.identifier.clone()));
            }
        }
    }
    found
}

fn side(block: &Block<'_>, system: &str) -> Option<Side> {
    let entry = block.record.entry(system)?;
    if entry.verdict.level == Level::Invalid {
        return None;
    }
    let value = entry.value.as_ref()?.value();
    (value > 0.0).then(|| Side {
        samples: entry.sample_values(),
        value,
    })
}

fn pair_ratio(block: &Block<'_>, base: &str, other: &str) -> Option<PairRatio> {
    let (base, other) = (side(block, base)?, side(block, other)?);
    let sign = match block.record.metric.direction {
        Direction::LowerIsBetter => -1.0,
        _ => 1.0,
    };
    let samples = |side: &Side| Sample::new(side.samples.clone()).ok();
    let test = samples(&base)
        .zip(samples(&other))
        .and_then(|(base, other)| log_ratio(&base, &other, Confidence::P95).ok());
    Some(match test {
        Some(test) => {
            let log = sign * test.estimate.value.ln();
            PairRatio {
                log,
                known: Some(LogRatio {
                    log_ratio: log,
                    variance: test.standard_error.powi(2),
                    degrees_of_freedom: test.degrees_of_freedom,
                }),
            }
        }
        None => PairRatio {
            log: sign * (other.value / base.value).ln(),
            known: None,
        },
    })
}

/// The pairs of a case as one ratio, when the spread of each is known.
fn combined(ratios: &[PairRatio]) -> Option<LogRatio> {
    let known: Option<Vec<LogRatio>> = ratios.iter().map(|ratio| ratio.known).collect();
    let together = combine_ratios(&known?, Confidence::P95).ok()?;
    Some(LogRatio {
        log_ratio: together.estimate.value.ln(),
        variance: together.log_error.powi(2),
        degrees_of_freedom: together.degrees_of_freedom,
    })
}

fn effect_of(case: Option<String>, level: usize, ratios: &[PairRatio]) -> Option<Effect> {
    if ratios.is_empty() {
        return None;
    }
    let known: Option<Vec<LogRatio>> = ratios.iter().map(|ratio| ratio.known).collect();
    let together = known.and_then(|known| combine_ratios(&known, Confidence::P95).ok());
    let mean = ratios.iter().map(|ratio| ratio.log).sum::<f64>() / ratios.len() as f64;
    Some(Effect {
        case,
        level,
        pairs: ratios.len(),
        ratio: mean.exp(),
        interval: together.map(|all| (all.estimate.low, all.estimate.high)),
    })
}

impl Effect {
    /// Above the margin, below it, within it, or none of these for certain.
    fn answer(&self) -> &'static str {
        let margin = 1.0 + CompareRule::STANDARD.margin;
        match self.interval {
            None => "one trial",
            Some((low, _)) if low > margin => "better",
            Some((_, high)) if high < 1.0 / margin => "worse",
            Some((low, high)) if low >= 1.0 / margin && high <= margin => "same",
            Some(_) => "cannot tell",
        }
    }

    /// `1.9x`, `same`, `0.52x`.
    fn words(&self) -> String {
        match self.answer() {
            "same" => "same".to_owned(),
            _ => format!("{}x", times(self.ratio)),
        }
    }

    fn interval_text(&self) -> String {
        self.interval.map_or_else(String::new, |(low, high)| {
            format!("{}-{}", times(low), times(high))
        })
    }
}

/// Two decimals below ten, else none.
fn times(ratio: f64) -> String {
    rounded(ratio, if ratio < 9.95 { 2 } else { 0 })
}

/// Shares of the best of each case, put together over the cases, by what else differs and level.
fn heat(
    file: &ResultFile,
    blocks: &[&Block<'_>],
    factor: &str,
    levels: &[String],
    others: &[String],
    varying: &[String],
) -> BTreeMap<(usize, usize), f64> {
    let mut logs: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for block in blocks {
        let sign = match block.record.metric.direction {
            Direction::LowerIsBetter => -1.0,
            _ => 1.0,
        };
        let sides: Vec<(&System, f64)> = file
            .systems
            .iter()
            .filter_map(|system| {
                let side = side(block, &system.identifier)?;
                Some((system, sign * side.value.ln()))
            })
            .collect();
        let best = sides
            .iter()
            .map(|(_, log)| *log)
            .fold(f64::NEG_INFINITY, f64::max);
        for (system, log) in sides {
            let level = system.labels.get(factor);
            let level = level.and_then(|own| levels.iter().position(|level| level == own));
            let row = row_of(system, varying);
            let row = others.iter().position(|other| *other == row);
            if let (Some(row), Some(level)) = (row, level) {
                logs.entry((row, level)).or_default().push(log - best);
            }
        }
    }
    let mean = |logs: Vec<f64>| (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    logs.into_iter()
        .map(|(place, logs)| (place, mean(logs)))
        .collect()
}

/// A result by one factor, for a terminal: effects with their intervals, then the table of what
/// else differs against the levels.
///
/// # Errors
/// [`FactorError`] with the factors there are.
pub fn by_factor(
    file: &ResultFile,
    name: &str,
    options: ShowOptions,
) -> Result<String, FactorError> {
    let factor = Factor::of(file, name)?;
    let mut out = format!("{}: by {name}\n\n", clean::line(factor.title));
    push_effects(&mut out, &factor);
    push_table(&mut out, &factor, options);
    Ok(out)
}

fn push_effects(out: &mut String, factor: &Factor<'_>) {
    let base = &factor.levels[0];
    if factor.levels.len() == 1 {
        out.push_str(&format!("every system has {} {base}\n\n", factor.name));
        return;
    }
    let width = factor
        .effects
        .iter()
        .filter_map(|effect| effect.case.as_ref())
        .map(|case| unicode_width::UnicodeWidthStr::width(case.as_str()))
        .max()
        .unwrap_or(0)
        .max("all cases".len());
    for (level, level_name) in factor.levels.iter().enumerate().skip(1) {
        let own: Vec<&Effect> = factor.effects.iter().filter(|e| e.level == level).collect();
        if own.is_empty() {
            out.push_str(&format!(
                "{level_name} against {base}: no two systems that both have results differ in this alone\n\n"
            ));
            continue;
        }
        out.push_str(&format!(
            "{level_name} against {base} (above 1 is better)\n"
        ));
        for effect in own {
            let case = effect.case.as_deref().unwrap_or("all cases");
            let pad = width.saturating_sub(unicode_width::UnicodeWidthStr::width(case));
            let line = format!(
                "  {case}{}  {:>7}  {:>13}  {:<11}  {} {}",
                " ".repeat(pad),
                effect.words(),
                effect.interval_text(),
                effect.answer(),
                effect.pairs,
                if effect.pairs == 1 { "pair" } else { "pairs" },
            );
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out.push('\n');
    }
}

fn push_table(out: &mut String, factor: &Factor<'_>, options: ShowOptions) {
    const COLUMN: usize = 9;
    let columns = options.width.clamp(60, 400);
    let names = columns
        .saturating_sub(COLUMN * factor.levels.len())
        .clamp(16, 44);
    out.push_str("share of the best of each case, geometric mean (1.00 is best everywhere)\n");
    let mut head = " ".repeat(names);
    for level in &factor.levels {
        let level = crate::text::fit(level, COLUMN - 1);
        head.push_str(&format!("{level:>COLUMN$}"));
    }
    out.push_str(&format!("{head}\n"));
    for (row, other) in factor.others.iter().enumerate() {
        let name = crate::text::fit(other, names - 3);
        let pad = (names - 2).saturating_sub(unicode_width::UnicodeWidthStr::width(&*name));
        let mut line = format!("  {name}{}", " ".repeat(pad));
        for level in 0..factor.levels.len() {
            let share = factor.heat.get(&(row, level));
            let text = share.map_or_else(|| "-".to_owned(), |share| rounded(*share, 2));
            line.push_str(&format!("{text:>COLUMN$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The charts of a result by one factor: the heat table, and for each level its effects.
///
/// # Errors
/// [`FactorError`] with the factors there are.
pub fn factor_charts(file: &ResultFile, name: &str, look: Look) -> Result<Vec<Chart>, FactorError> {
    let factor = Factor::of(file, name)?;
    let mut svg = String::new();
    push_factor_heat(
        &mut svg,
        (
            &format!("{}: share of the best by {name}", factor.title),
            "factor-heat",
        ),
        &factor.levels,
        &factor.others,
        &factor.heat,
        look,
    );
    let mut charts = vec![Chart {
        id: "factor-heat".to_owned(),
        title: format!("Share of the best by {name}"),
        svg,
    }];
    for (level, level_name) in factor.levels.iter().enumerate().skip(1) {
        let own = factor.effects.iter().filter(|effect| effect.level == level);
        let ratios: Vec<Ratio> = own.map(ratio).collect();
        if ratios.is_empty() {
            continue;
        }
        let id = format!("factor-effect-{level}");
        let title = format!("{level_name} against {}", factor.levels[0]);
        let description = format!(
            "{} effects of {name}, of pairs of systems that differ in nothing else; above 1 is better.",
            ratios.len()
        );
        let mut svg = String::new();
        push_forest(
            &mut svg,
            &ratios,
            CompareRule::STANDARD.margin,
            (&id, &title, &description),
            look.medium(),
        );
        charts.push(Chart { id, title, svg });
    }
    Ok(charts)
}

fn ratio(effect: &Effect) -> Ratio {
    Ratio {
        name: effect
            .case
            .clone()
            .unwrap_or_else(|| "all cases".to_owned()),
        side: format!("{} {}", effect.words(), effect.answer()),
        value: Some(effect.ratio),
        interval: effect.interval,
        class: match effect.answer() {
            "better" => "hb",
            "worse" => "hw",
            _ => "u",
        },
    }
}

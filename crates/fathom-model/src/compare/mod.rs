//! Comparing systems: what differs in their conditions first, then one of four answers for each
//! result, then one ratio over all cases.

use std::collections::BTreeMap;

use fathom_stats::combine::combine_ratios;
use fathom_stats::compare::{Adjustment, Answer, CompareRule, adjust, compare_arms};
use fathom_stats::interval::Estimate;
use fathom_stats::{compare as stats, sample::Sample};
use serde::Serialize;

use crate::case::CaseId;
use crate::conditions::{Condition, conditions_of};
use crate::result::{Direction, Entry, Metric, ResultFile, ResultRecord};
use crate::verdict::Level;

mod counterpart;
#[cfg(test)]
mod tests;
mod work;

pub use counterpart::{Counted, Counterpart};

/// One side of a comparison: a system in a file, under the name it is shown by.
#[derive(Clone, Copy, Debug)]
pub struct Arm<'a> {
    /// Shown in tables.
    pub label: &'a str,
    /// Where its results are.
    pub file: &'a ResultFile,
    /// Its identifier there.
    pub system: &'a str,
}

/// How to compare; see [`CompareRule`] for margin, confidence and power.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Margin, confidence and power.
    pub rule: CompareRule,
    /// How many tests at once are accounted for: Holm for gates, Benjamini-Hochberg for reports.
    pub adjustment: Adjustment,
    /// Which metrics are compared.
    pub metrics: MetricChoice,
    /// What becomes of entries that are invalid.
    pub invalid: InvalidEntries,
}

/// Which metrics take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricChoice {
    /// The one of each case that stands for it.
    Primary,
    /// All of them.
    All,
}

/// What becomes of invalid entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidEntries {
    /// They get no answer, and the reason is shown.
    Refuse,
    /// They are compared all the same.
    Include,
}

impl Default for CompareOptions {
    /// Margin 1 %, 95 %, Benjamini-Hochberg, primary metrics, invalid entries refused.
    fn default() -> Self {
        Self {
            rule: CompareRule::STANDARD,
            adjustment: Adjustment::BenjaminiHochberg,
            metrics: MetricChoice::Primary,
            invalid: InvalidEntries::Refuse,
        }
    }
}

/// Contenders against a baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Names of the arms; the baseline first.
    pub arms: Vec<String>,
    /// Conditions that differ, with each arm's value.
    pub conditions: Vec<ConditionRow>,
    /// Number of known conditions that are equal.
    pub equal_conditions: usize,
    /// Results that the baseline and at least one contender have.
    pub rows: Vec<Row>,
    /// Results without a partner, with the arms that have them: a different workload gets no
    /// answer.
    pub unmatched: Vec<Unmatched>,
    /// Results of the same work under different implementations: side by side, without an answer.
    pub counterparts: Vec<Counterpart>,
    /// One for each contender.
    pub summaries: Vec<Summary>,
    /// The margin, confidence and power the answers were given with.
    pub rule: CompareRule,
}

/// A condition that is not the same for all arms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConditionRow {
    /// `Kernel`, `scheduler`, `firmware`.
    pub name: String,
    /// One an arm; absent where it is not known.
    pub values: Vec<Option<String>>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The case.
    pub case: CaseId,
    /// The metric.
    pub metric: Metric,
    /// Short name of the case.
    pub label: String,
    /// Title, version and options, where they say more than the label.
    pub title: String,
    /// The baseline.
    pub baseline: Cell,
    /// One a contender, in their order.
    pub contenders: Vec<Contender>,
}

/// What one arm has for a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// The headline number; absent when it failed.
    pub value: Option<f64>,
    /// As printed by its source.
    pub text: String,
    /// Number of trials behind it, 0 when unknown.
    pub trials: u32,
    /// The verdict.
    pub level: Level,
    /// Why it failed or is not valid, in few words.
    pub reason: String,
}

/// A contender's side of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contender {
    /// Its number; absent when it has none for this result.
    pub cell: Option<Cell>,
    /// The judgement.
    pub comparison: Option<stats::Comparison>,
    /// The p value adjusted over all results of this contender.
    pub p_adjusted: Option<f64>,
    /// Why there is no judgement.
    pub refused: Option<String>,
}

/// A result only some arms have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmatched {
    /// Label of the case, with the unit.
    pub label: String,
    /// The arms that have it.
    pub arms: Vec<String>,
}

/// A contender over all cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The contender.
    pub arm: String,
    /// Geometric mean of the improvements (lower-is-better ratios inverted), one weight a case,
    /// over the cases whose ratio has an interval.
    pub improvement: Option<Estimate>,
    /// How many cases that is.
    pub cases_with_interval: usize,
    /// Geometric mean over all cases with a ratio, which has no interval when some lack one.
    pub improvement_of_all: Option<f64>,
    /// How many cases that is.
    pub cases: usize,
    /// Results called faster.
    pub faster: usize,
    /// Results called slower.
    pub slower: usize,
    /// Results called the same.
    pub same: usize,
    /// Results that could not be told.
    pub cannot_tell: usize,
    /// Results without a judgement: failed, missing or invalid.
    pub refused: usize,
}

/// Compares every contender with the baseline.
///
/// Results are the same when case, metric and unit are; the first entry of a system counts, with
/// the samples of later entries of the same system pooled into it.
pub fn compare(baseline: Arm<'_>, contenders: &[Arm<'_>], options: CompareOptions) -> Comparison {
    let arms: Vec<Arm<'_>> = std::iter::once(baseline)
        .chain(contenders.iter().copied())
        .collect();
    let tables: Vec<Table<'_>> = arms
        .iter()
        .map(|arm| Table::of(arm, options.metrics))
        .collect();
    let (conditions, equal_conditions) = condition_rows(&arms);
    let mut rows = Vec::new();
    for (key, result) in &tables[0].results {
        let found: Vec<Option<&Found<'_>>> =
            tables[1..].iter().map(|table| table.get(key)).collect();
        if found.iter().any(Option::is_some) {
            rows.push(row(baseline.file, result, &found, options));
        }
    }
    for index in 0..contenders.len() {
        adjust_column(&mut rows, index, options.adjustment);
    }
    let summaries = contenders
        .iter()
        .enumerate()
        .map(|(index, arm)| summary(arm.label, &rows, index, options.rule))
        .collect();
    let counterparts = counterpart::Counterparts::of(&arms, options.metrics);
    Comparison {
        arms: arms.iter().map(|arm| arm.label.to_owned()).collect(),
        conditions,
        equal_conditions,
        unmatched: unmatched(&arms, &tables, &counterparts),
        counterparts: counterparts.rows,
        rows,
        summaries,
        rule: options.rule,
    }
}

/// What makes two results the same.
type Key<'a> = (&'a CaseId, &'a str, &'a str);

/// A result of one arm with all of its entries for the system.
struct Found<'a> {
    record: &'a ResultRecord,
    entries: Vec<&'a Entry>,
}

struct Table<'a> {
    results: Vec<(Key<'a>, Found<'a>)>,
    by_key: BTreeMap<Key<'a>, usize>,
}

impl<'a> Table<'a> {
    fn of(arm: &Arm<'a>, metrics: MetricChoice) -> Self {
        let mut table = Self {
            results: Vec::new(),
            by_key: BTreeMap::new(),
        };
        for record in &arm.file.results {
            let entries: Vec<&Entry> = record
                .entries
                .iter()
                .filter(|entry| entry.system == arm.system)
                .collect();
            let wanted = record.metric.is_primary || metrics == MetricChoice::All;
            if entries.is_empty() || !wanted {
                continue;
            }
            let key = (
                &record.case,
                record.metric.id.as_str(),
                record.metric.unit.as_str(),
            );
            table.by_key.entry(key).or_insert(table.results.len());
            table.results.push((key, Found { record, entries }));
        }
        table
    }

    fn get(&self, key: &Key<'_>) -> Option<&Found<'a>> {
        self.by_key.get(key).map(|at| &self.results[*at].1)
    }
}

impl Found<'_> {
    /// The samples of all entries of the system; empty when some entry has only a mean, because
    /// a mean cannot be pooled with trials.
    fn samples(&self) -> Vec<f64> {
        let has_bare_mean = |entry: &&&Entry| entry.value.is_some() && entry.samples.is_empty();
        if self.entries.iter().any(|entry| has_bare_mean(&entry)) {
            return Vec::new();
        }
        self.entries
            .iter()
            .flat_map(|entry| entry.sample_values())
            .collect()
    }

    fn first(&self) -> &Entry {
        let good = self.entries.iter().find(|entry| entry.value.is_some());
        good.unwrap_or(&self.entries[0])
    }

    fn cell(&self) -> Cell {
        let entry = self.first();
        let counted = entry.spread.as_ref().map_or(0, |spread| spread.count);
        let samples = self
            .entries
            .iter()
            .map(|entry| entry.samples.len())
            .sum::<usize>();
        let text_of = |figure: &crate::Figure| figure.to_string();
        Cell {
            value: entry.value.as_ref().map(crate::Figure::value),
            text: entry.value.as_ref().map_or_else(String::new, text_of),
            trials: if samples > 0 {
                u32::try_from(samples).unwrap_or(u32::MAX)
            } else {
                counted
            },
            level: self
                .entries
                .iter()
                .map(|entry| entry.verdict.level)
                .max()
                .unwrap_or_default(),
            reason: match (&entry.value, &entry.error) {
                (None, Some(error)) => format!("failed: {error}"),
                (None, None) => "failed".to_owned(),
                _ => entry
                    .verdict
                    .reasons
                    .first()
                    .map_or_else(String::new, |r| r.short.clone()),
            },
        }
    }
}

/// What is known of one side, with the storage [`stats::Arm`] borrows from.
enum Known {
    Trials(Sample),
    Summary(stats::Summary),
}

impl Known {
    fn of(found: &Found<'_>) -> Result<Self, String> {
        let samples = found.samples();
        if !samples.is_empty() {
            return Sample::new(samples)
                .map(Self::Trials)
                .map_err(|error| error.to_string());
        }
        let entry = found.first();
        let Some(value) = &entry.value else {
            return Err(found.cell().reason);
        };
        let unit = |figure: &crate::Figure| 10_f64.powi(-(figure.decimals() as i32));
        Ok(Self::Summary(match &entry.spread {
            Some(spread) => stats::Summary::from_printed(
                value.value(),
                unit(value),
                spread.standard_error.value(),
                unit(&spread.standard_error),
                spread.count,
            ),
            None => stats::Summary {
                mean: value.value(),
                standard_error: None,
                trials: 1,
            },
        }))
    }

    fn arm(&self) -> stats::Arm<'_> {
        match self {
            Self::Trials(sample) => stats::Arm::Trials(sample),
            Self::Summary(summary) => stats::Arm::Summary(*summary),
        }
    }
}

fn row(
    file: &ResultFile,
    baseline: &Found<'_>,
    contenders: &[Option<&Found<'_>>],
    options: CompareOptions,
) -> Row {
    let record = baseline.record;
    let label = file
        .case(&record.case)
        .map(|case| case.label.clone())
        .unwrap_or_default();
    Row {
        case: record.case.clone(),
        metric: record.metric.clone(),
        title: long_title(record),
        label: if label.is_empty() {
            long_title(record)
        } else {
            label
        },
        baseline: baseline.cell(),
        contenders: contenders
            .iter()
            .map(|found| contender(baseline, *found, options))
            .collect(),
    }
}

fn contender(
    baseline: &Found<'_>,
    found: Option<&Found<'_>>,
    options: CompareOptions,
) -> Contender {
    let cell = found.map(Found::cell);
    let judged = match found {
        None => Err("not measured".to_owned()),
        Some(found) => judge(baseline, found, options),
    };
    let (comparison, refused) = match judged {
        Ok(comparison) => (Some(comparison), None),
        Err(why) => (None, Some(why)),
    };
    Contender {
        cell,
        comparison,
        p_adjusted: None,
        refused,
    }
}

fn judge(
    baseline: &Found<'_>,
    found: &Found<'_>,
    options: CompareOptions,
) -> Result<stats::Comparison, String> {
    let (left, right) = (&baseline.record.metric, &found.record.metric);
    if left.direction != right.direction {
        return Err("one file says higher is better, the other lower".to_owned());
    }
    let direction = match left.direction {
        Direction::HigherIsBetter => stats::Direction::HigherIsBetter,
        Direction::LowerIsBetter => stats::Direction::LowerIsBetter,
        Direction::Neutral => return Err("neither direction is better".to_owned()),
    };
    let (base, other) = (Known::of(baseline)?, Known::of(found)?);
    if options.invalid == InvalidEntries::Refuse {
        for side in [baseline, found] {
            let cell = side.cell();
            if cell.level == Level::Invalid {
                return Err(format!("invalid: {}", cell.reason));
            }
        }
    }
    compare_arms(base.arm(), other.arm(), direction, options.rule).map_err(|e| e.to_string())
}

fn long_title(record: &ResultRecord) -> String {
    let mut title = record.title.clone();
    for part in [&record.version, &record.description] {
        if !part.is_empty() {
            title.push(' ');
            title.push_str(part);
        }
    }
    title
}

/// Accounts for many tests at once: over the primary results of one contender.
fn adjust_column(rows: &mut [Row], index: usize, adjustment: Adjustment) {
    let mut judged: Vec<stats::Comparison> = Vec::new();
    for row in rows.iter_mut() {
        judged.extend(row.contenders[index].comparison.clone());
    }
    let p_values = adjust(&mut judged, adjustment);
    let mut next = judged.into_iter().zip(p_values);
    for row in rows {
        let contender = &mut row.contenders[index];
        if contender.comparison.is_some()
            && let Some((comparison, p)) = next.next()
        {
            contender.comparison = Some(comparison);
            contender.p_adjusted = p;
        }
    }
}

fn summary(arm: &str, rows: &[Row], index: usize, rule: CompareRule) -> Summary {
    let mut summary = Summary {
        arm: arm.to_owned(),
        improvement: None,
        cases_with_interval: 0,
        improvement_of_all: None,
        cases: 0,
        faster: 0,
        slower: 0,
        same: 0,
        cannot_tell: 0,
        refused: 0,
    };
    let (mut with_interval, mut log_sum) = (Vec::new(), 0.0);
    for row in rows {
        let Some(comparison) = &row.contenders[index].comparison else {
            summary.refused += 1;
            continue;
        };
        match comparison.answer {
            Answer::Faster => summary.faster += 1,
            Answer::Slower => summary.slower += 1,
            Answer::Same => summary.same += 1,
            Answer::CannotTell { .. } => summary.cannot_tell += 1,
        }
        // One weight a case: secondary metrics of a case say the same thing again.
        if row.metric.is_primary {
            summary.cases += 1;
            log_sum += comparison.improvement().ln();
            with_interval.extend(
                comparison
                    .log_ratio()
                    .map(|ratio| as_improvement(ratio, row)),
            );
        }
    }
    summary.cases_with_interval = with_interval.len();
    let combined = combine_ratios(&with_interval, rule.confidence).ok();
    summary.improvement = combined.map(|combined| combined.estimate);
    summary.improvement_of_all =
        (summary.cases > 0).then(|| (log_sum / summary.cases as f64).exp());
    summary
}

fn as_improvement(ratio: stats::LogRatio, row: &Row) -> stats::LogRatio {
    match row.metric.direction {
        Direction::LowerIsBetter => stats::LogRatio {
            log_ratio: -ratio.log_ratio,
            ..ratio
        },
        _ => ratio,
    }
}

fn unmatched(
    arms: &[Arm<'_>],
    tables: &[Table<'_>],
    counterparts: &counterpart::Counterparts,
) -> Vec<Unmatched> {
    let mut list: Vec<(Key<'_>, Unmatched)> = Vec::new();
    for (index, (arm, table)) in arms.iter().zip(tables).enumerate() {
        for (key, found) in &table.results {
            let in_baseline = tables[0].get(key).is_some();
            let in_contender = tables[1..].iter().any(|other| other.get(key).is_some());
            if in_baseline && in_contender || counterparts.has(index, key.0) {
                continue;
            }
            match list.iter_mut().find(|(known, _)| known == key) {
                Some((_, row)) => row.arms.push(arm.label.to_owned()),
                None => {
                    let title = long_title(found.record);
                    let label = format!("{title} ({})", found.record.metric.unit);
                    list.push((
                        *key,
                        Unmatched {
                            label,
                            arms: vec![arm.label.to_owned()],
                        },
                    ));
                }
            }
        }
    }
    list.into_iter().map(|(_, row)| row).collect()
}

fn condition_rows(arms: &[Arm<'_>]) -> (Vec<ConditionRow>, usize) {
    let known: Vec<Vec<Condition>> = arms
        .iter()
        .map(|arm| {
            arm.file
                .system(arm.system)
                .map(conditions_of)
                .unwrap_or_default()
        })
        .collect();
    let mut names: Vec<&str> = Vec::new();
    for condition in known.iter().flatten() {
        if !names.contains(&condition.name.as_str()) {
            names.push(&condition.name);
        }
    }
    let (mut rows, mut equal) = (Vec::new(), 0);
    for name in names {
        let values: Vec<Option<String>> = known
            .iter()
            .map(|list| {
                list.iter()
                    .find(|c| c.name == name)
                    .map(|c| c.value.clone())
            })
            .collect();
        match values.windows(2).all(|pair| pair[0] == pair[1]) {
            true => equal += 1,
            false => rows.push(ConditionRow {
                name: name.to_owned(),
                values,
            }),
        }
    }
    (rows, equal)
}

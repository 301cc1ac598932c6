//! The same work carried out by another implementation: shown side by side, never judged.

use std::collections::BTreeSet;

use serde::Serialize;

use super::work::Work;
use super::{Arm, Cell, Found, MetricChoice, Table};
use crate::case::{Case, CaseId, ImplementationKind};
use crate::definition::io::{FioFamily, pts_fio_figure};
use crate::result::{Direction, Metric};

/// A result of the baseline beside one of a contender: the same work, carried out by different
/// implementations, which is why there is no verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counterpart {
    /// Short name of the work: the baseline's.
    pub label: String,
    /// Unit of both numbers.
    pub unit: String,
    /// Which way is better.
    pub direction: Direction,
    /// The baseline.
    pub baseline: Counted,
    /// Place of the contender among the contenders.
    pub contender_index: usize,
    /// The contender.
    pub contender: Counted,
    /// Contender to baseline; absent when one of them failed.
    pub ratio: Option<f64>,
    /// Options that are not equal, the baseline's value first: `runtime 3s and 20s`.
    pub differences: Vec<String>,
}

/// A number with who measured it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// The number; its `value` is in the unit of the row.
    pub cell: Cell,
    /// `native 1.0`, `Flexible IO Tester 2.1.13`.
    pub implementation: String,
    /// How the number was converted, where it was.
    pub converted: Option<String>,
}

/// A case of an arm with its work and results.
struct Candidate<'t, 'a> {
    case: &'a Case,
    work: Work,
    results: Vec<(&'t Metric, &'t Found<'a>)>,
}

/// The rows, and which cases of which arms are in them.
#[derive(Default)]
pub(super) struct Counterparts {
    pub rows: Vec<Counterpart>,
    paired: BTreeSet<(usize, CaseId)>,
}

impl Counterparts {
    /// Pairs what the baseline and the contenders have of the same work under different
    /// implementations. A case that is matched as it is needs no counterpart.
    pub(super) fn of(arms: &[Arm<'_>], metrics: MetricChoice) -> Self {
        let tables: Vec<Table<'_>> = arms
            .iter()
            .map(|arm| Table::of(arm, MetricChoice::All))
            .collect();
        let candidates: Vec<Vec<Candidate<'_, '_>>> = arms
            .iter()
            .zip(&tables)
            .map(|(arm, table)| candidates(arm, table))
            .collect();
        let mut all = Self::default();
        let Some((baseline, contenders)) = candidates.split_first() else {
            return all;
        };
        for ours in baseline {
            for (contender_index, theirs) in contenders.iter().enumerate() {
                if theirs.iter().any(|theirs| theirs.case.id == ours.case.id) {
                    continue;
                }
                let is_free = |theirs: &&Candidate<'_, '_>| {
                    !baseline.iter().any(|o| o.case.id == theirs.case.id)
                };
                for theirs in theirs.iter().filter(is_free) {
                    if let Some(differences) = ours.work.differences(&theirs.work) {
                        let rows = pair(ours, theirs, contender_index, &differences);
                        all.add(wanted(rows, metrics), ours, theirs);
                    }
                }
            }
        }
        all
    }

    fn add(
        &mut self,
        rows: Vec<Counterpart>,
        ours: &Candidate<'_, '_>,
        theirs: &Candidate<'_, '_>,
    ) {
        for row in rows {
            self.paired.insert((0, ours.case.id.clone()));
            self.paired
                .insert((row.contender_index + 1, theirs.case.id.clone()));
            self.rows.push(row);
        }
    }

    /// Whether a case of an arm (the baseline is 0) stands in a row.
    pub(super) fn has(&self, arm: usize, case: &CaseId) -> bool {
        self.paired.contains(&(arm, case.clone()))
    }
}

fn candidates<'t, 'a>(arm: &Arm<'a>, table: &'t Table<'a>) -> Vec<Candidate<'t, 'a>> {
    let mut candidates: Vec<Candidate<'t, 'a>> = Vec::new();
    for ((id, _, _), found) in &table.results {
        let result = (&found.record.metric, found);
        if let Some(known) = candidates.iter_mut().find(|known| known.case.id == **id) {
            known.results.push(result);
            continue;
        }
        let case = arm.file.case(id);
        if let Some((case, work)) = case.and_then(|case| Some((case, Work::of(case)?))) {
            candidates.push(Candidate {
                case,
                work,
                results: vec![result],
            });
        }
    }
    candidates
}

/// One row for each metric both have.
fn pair(
    ours: &Candidate<'_, '_>,
    theirs: &Candidate<'_, '_>,
    contender_index: usize,
    differences: &[String],
) -> Vec<(bool, Counterpart)> {
    // An imported side says what is shown: its metrics are few and well known.
    let is_imported =
        |side: &Candidate<'_, '_>| side.case.implementation.kind == ImplementationKind::Imported;
    let (leading, other) = match is_imported(ours) && !is_imported(theirs) {
        true => (ours, theirs),
        false => (theirs, ours),
    };
    let mut rows = Vec::new();
    for (metric, found) in &leading.results {
        let Some((same, converts)) = same_metric(metric, leading.case, other) else {
            continue;
        };
        let lead = counted(leading.case, found, None);
        let follow = counted(other.case, same, converts);
        let (baseline, contender) = match std::ptr::eq(leading, ours) {
            true => (lead, follow),
            false => (follow, lead),
        };
        let ratio = match (baseline.cell.value, contender.cell.value) {
            (Some(base), Some(value)) if base > 0.0 && value > 0.0 => Some(value / base),
            _ => None,
        };
        let row = Counterpart {
            label: ours.label(),
            unit: metric.unit.clone(),
            direction: metric.direction,
            baseline,
            contender_index,
            contender,
            ratio,
            differences: differences.to_vec(),
        };
        rows.push((metric.is_primary, row));
    }
    rows
}

/// All metrics, or the one that stands for the case (else the first).
fn wanted(rows: Vec<(bool, Counterpart)>, metrics: MetricChoice) -> Vec<Counterpart> {
    let primary = rows.iter().position(|(is_primary, _)| *is_primary);
    let chosen = primary.unwrap_or(0);
    let rows = rows.into_iter().map(|(_, row)| row).enumerate();
    rows.filter(|(index, _)| metrics == MetricChoice::All || *index == chosen)
        .map(|(_, row)| row)
        .collect()
}

/// How a number of Fathom's becomes one of a PTS profile.
type Conversion = FioFamily;

/// The result of the other side that measures the same, in the same unit or one it can be
/// converted to.
fn same_metric<'t, 'a>(
    metric: &Metric,
    case: &Case,
    other: &Candidate<'t, 'a>,
) -> Option<(&'t Found<'a>, Option<Conversion>)> {
    let named = |wanted: &str| {
        let mut results = other.results.iter();
        results.find(|(metric, _)| metric.id == wanted)
    };
    let same_unit = |(candidate, found): &(&'t Metric, &'t Found<'a>)| {
        let is_same = candidate.unit == metric.unit && candidate.direction == metric.direction;
        is_same.then_some((*found, None))
    };
    let is_fio = case.test == "fio" && case.implementation.kind == ImplementationKind::Imported;
    let is_io = other.case.implementation.kind != ImplementationKind::Imported;
    if is_fio && is_io && metric.id == "bandwidth" {
        let family = FioFamily::of_version(&case.implementation.version)?;
        return named("bandwidth").map(|(_, found)| (*found, Some(family)));
    }
    // What the original shows comes first, then the metric that stands for the case.
    let as_shown = ["pts-bandwidth", "pts-tps", metric.id.as_str()];
    let as_shown = as_shown.into_iter().filter_map(named);
    let primary = other.results.iter().filter(|(metric, _)| metric.is_primary);
    as_shown.chain(primary).find_map(same_unit)
}

/// The unit Fathom's `io` gives its bandwidth in.
const MEGABYTE: f64 = 1e6;

fn counted(case: &Case, found: &Found<'_>, conversion: Option<Conversion>) -> Counted {
    let mut cell = found.cell();
    let mut converted = None;
    if let Some(family) = conversion {
        let own = cell.text.clone();
        cell.value = cell
            .value
            .and_then(|value| pts_fio_figure(family, value * MEGABYTE));
        cell.text = cell
            .value
            .map_or_else(String::new, |value| value.to_string());
        converted = Some(format!(
            "{own} {} as the profile counts MB/s",
            found.record.metric.unit
        ));
    }
    Counted {
        cell,
        implementation: case.implementation.to_string(),
        converted,
    }
}

impl Candidate<'_, '_> {
    fn label(&self) -> String {
        match self.case.label.as_str() {
            "" => self.case.test.clone(),
            label => label.to_owned(),
        }
    }
}

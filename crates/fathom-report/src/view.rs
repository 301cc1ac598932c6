//! What all renderings draw: systems, results and certainty, worked out once.

use std::collections::HashMap;

use fathom_model::{
    Case, CaseId, Condition, Direction, Display, Entry, Figure, ImplementationKind, Level, Reason,
    ResultFile, ResultRecord, Run, System, conditions_of,
};
use fathom_stats::Histogram;

pub(crate) use crate::certainty::{Certainty, Known, RelativeCertainty};
use crate::grouping::{Paint, groups_of};
use crate::number::decimals_for;

/// A result file, ready to be drawn.
pub(crate) struct View<'a> {
    /// The file.
    pub file: &'a ResultFile,
    /// Every system an entry or a run names, those of the file first.
    pub systems: Vec<SystemView<'a>>,
    /// The results in the order of the file.
    pub blocks: Vec<Block<'a>>,
    /// Cases that have trials or reasons but no result to show.
    pub absent: Vec<Absent<'a>>,
    /// Hardware, software and target, compared over the systems.
    pub conditions: Conditions,
}

/// A system.
pub(crate) struct SystemView<'a> {
    /// The name entries use.
    pub name: &'a str,
    /// Its description; absent when only entries name it.
    pub system: Option<&'a System>,
    /// Which group it is shown in.
    pub group: u32,
    /// How it is drawn.
    pub paint: Paint,
}

impl<'a> SystemView<'a> {
    fn new(name: &'a str, system: Option<&'a System>) -> Self {
        Self {
            name,
            system,
            group: 0,
            paint: Paint::default(),
        }
    }
}

/// One metric of one case.
pub(crate) struct Block<'a> {
    /// The result.
    pub record: &'a ResultRecord,
    /// Its case.
    pub case: Option<&'a Case>,
    /// Whether title and description are those of the block before.
    pub continues: bool,
    /// Whether it stands for its case in summaries.
    pub stands: bool,
    /// One row an entry, by group and system.
    pub rows: Vec<Row<'a>>,
    /// Decimals its values are shown with.
    pub decimals: usize,
    /// Largest value, 0 when there is none.
    pub largest: f64,
    /// Smallest value, 0 when there is none.
    pub smallest: f64,
    /// Systems of the file without an entry here.
    pub missing: Vec<u32>,
}

/// What one system gave.
pub(crate) struct Row<'a> {
    /// Index of the system.
    pub system: u32,
    /// The entry.
    pub entry: &'a Entry,
    /// Which entry of this system it is, from 0.
    pub repeat: u32,
    /// The number.
    pub value: Option<f64>,
    /// How well it is known.
    pub certainty: Certainty,
    /// Its trials.
    pub run: Option<&'a Run>,
}

/// A case of a system that gave no result at all.
pub(crate) struct Absent<'a> {
    /// Name of the case for people.
    pub label: &'a str,
    /// The system.
    pub system: &'a str,
    /// Why.
    pub reason: &'a str,
}

/// Conditions over all systems of the file.
#[derive(Default)]
pub(crate) struct Conditions {
    /// The same for every system.
    pub common: Vec<Condition>,
    /// Not the same, or not known of every one.
    pub differing: Vec<Differing>,
}

/// A condition that is not the same for every system.
pub(crate) struct Differing {
    /// `Disk`, `scheduler`.
    pub name: String,
    /// One a system of the file.
    pub values: Vec<Option<String>>,
}

type Runs<'a> = HashMap<(&'a CaseId, &'a str), &'a Run>;

impl<'a> View<'a> {
    /// Works everything out.
    pub fn of(file: &'a ResultFile) -> Self {
        let systems = systems_of(file);
        let places: HashMap<&str, u32> = systems
            .iter()
            .enumerate()
            .map(|(place, system)| (system.name, place as u32))
            .collect();
        let runs: Runs<'_> = file
            .runs
            .iter()
            .map(|run| ((&run.case, run.system.as_str()), run))
            .collect();
        let cases: HashMap<&CaseId, &Case> =
            file.cases.iter().map(|case| (&case.id, case)).collect();
        let mut blocks: Vec<Block<'a>> = Vec::with_capacity(file.results.len());
        let described = file.systems.len();
        for record in &file.results {
            let case = cases.get(&record.case).copied();
            let mut block = Block::of(record, case, &systems, &places, &runs, described);
            block.continues = blocks
                .last()
                .is_some_and(|last| last.is_continued_by(&block));
            blocks.push(block);
        }
        choose_standing(&mut blocks);
        let absent = absent_of(file, &cases);
        Self {
            file,
            systems,
            blocks,
            absent,
            conditions: Conditions::of(file),
        }
    }

    /// How a row is drawn.
    pub fn paint(&self, row: &Row<'a>) -> Paint {
        self.systems[row.system as usize].paint
    }

    /// The name of a row: its system, numbered when the system has several entries here.
    pub fn row_name(&self, row: &Row<'a>) -> std::borrow::Cow<'a, str> {
        let name = self.systems[row.system as usize].name;
        match row.repeat {
            0 => name.into(),
            repeat => format!("{name} #{}", repeat + 1).into(),
        }
    }
}

/// Of each case one block stands for it in summaries: the first whose metric is primary, else the
/// first that is drawn as bars. Series alone stand for nothing.
fn choose_standing(blocks: &mut [Block<'_>]) {
    let mut chosen: HashMap<(&CaseId, &str, &str), usize> = HashMap::new();
    for (place, block) in blocks.iter().enumerate() {
        let record = block.record;
        if record.display == Display::Line && !record.metric.is_primary {
            continue;
        }
        // Cases are told apart by their texts where a file gives no id.
        let texts = match record.case.0.is_empty() {
            true => (record.title.as_str(), record.description.as_str()),
            false => ("", ""),
        };
        let current = chosen
            .entry((&record.case, texts.0, texts.1))
            .or_insert(place);
        if record.metric.is_primary && !blocks[*current].record.metric.is_primary {
            *current = place;
        }
    }
    for place in chosen.into_values().collect::<Vec<_>>() {
        blocks[place].stands = true;
    }
}

fn systems_of(file: &ResultFile) -> Vec<SystemView<'_>> {
    let mut systems: Vec<SystemView<'_>> = Vec::with_capacity(file.systems.len());
    let mut known = std::collections::HashSet::new();
    for system in &file.systems {
        if known.insert(system.identifier.as_str()) {
            systems.push(SystemView::new(&system.identifier, Some(system)));
        }
    }
    let of_entries = file.results.iter().flat_map(|result| &result.entries);
    let of_runs = file.runs.iter().map(|run| run.system.as_str());
    for name in of_entries.map(|entry| entry.system.as_str()).chain(of_runs) {
        if known.insert(name) {
            systems.push(SystemView::new(name, None));
        }
    }
    let names: Vec<&str> = systems.iter().map(|system| system.name).collect();
    let described: Vec<Option<&System>> = systems.iter().map(|system| system.system).collect();
    for (system, (group, paint)) in systems.iter_mut().zip(groups_of(&names, &described)) {
        (system.group, system.paint) = (group, paint);
    }
    systems
}

fn absent_of<'a>(file: &'a ResultFile, cases: &HashMap<&CaseId, &'a Case>) -> Vec<Absent<'a>> {
    if file.runs.is_empty() {
        return Vec::new();
    }
    let shown: std::collections::HashSet<(&CaseId, &str)> = file
        .results
        .iter()
        .flat_map(|result| {
            result
                .entries
                .iter()
                .map(|entry| (&result.case, entry.system.as_str()))
        })
        .collect();
    let is_hidden = |run: &&Run| !shown.contains(&(&run.case, run.system.as_str()));
    let runs = file.runs.iter().filter(is_hidden);
    runs.map(|run| Absent {
        label: cases
            .get(&run.case)
            .map_or(run.case.0.as_str(), |case| case.label.as_str()),
        system: &run.system,
        reason: run_reason(run).unwrap_or("no trial was measured"),
    })
    .collect()
}

/// Why a run gave nothing.
fn run_reason(run: &Run) -> Option<&str> {
    let of_trials = || run.trials.iter().find_map(|trial| trial.error.as_deref());
    run.unavailable.as_deref().or_else(of_trials)
}

impl<'a> Block<'a> {
    fn of(
        record: &'a ResultRecord,
        case: Option<&'a Case>,
        systems: &[SystemView<'a>],
        places: &HashMap<&str, u32>,
        runs: &Runs<'a>,
        described: usize,
    ) -> Self {
        let mut rows: Vec<Row<'a>> = record
            .entries
            .iter()
            .enumerate()
            .map(|(place, entry)| Row {
                system: place_of(systems, places, place, &entry.system),
                entry,
                repeat: 0,
                value: number_of(record, entry),
                certainty: Certainty::of(entry),
                run: match runs.is_empty() {
                    true => None,
                    false => runs.get(&(&record.case, entry.system.as_str())).copied(),
                },
            })
            .collect();
        rows.sort_by_key(|row| row.system);
        for place in 1..rows.len() {
            if rows[place].system == rows[place - 1].system {
                rows[place].repeat = rows[place - 1].repeat + 1;
            }
        }
        let (smallest, largest) =
            extent(rows.iter().filter_map(|row| row.value)).unwrap_or((0.0, 0.0));
        let mut present = rows.iter().map(|row| row.system).peekable();
        let missing = (0..described as u32)
            .filter(|system| {
                while present.next_if(|present| present < system).is_some() {}
                present.peek() != Some(system)
            })
            .collect();
        rows.sort_by_key(|row| (systems[row.system as usize].group, row.system));
        let decimals = shown_decimals(&rows, smallest);
        Self {
            record,
            case,
            continues: false,
            stands: false,
            rows,
            decimals,
            largest,
            smallest,
            missing,
        }
    }

    fn is_continued_by(&self, next: &Self) -> bool {
        let (record, next) = (self.record, next.record);
        record.case == next.case
            && record.title == next.title
            && record.version == next.version
            && record.description == next.description
    }

    /// `Flexible IO Tester 3.36`; the label where a case has one and the record no title.
    pub fn title(&self) -> String {
        let label = self.case.map_or("", |case| case.label.as_str());
        let title = match self.record.title.as_str() {
            "" => label,
            title => title,
        };
        format!("{title} {}", self.record.version).trim().to_owned()
    }

    /// The short name of the case, when it was measured by Fathom and has one.
    pub fn label(&self) -> Option<&'a str> {
        self.case
            .filter(|case| case.implementation.kind != ImplementationKind::Imported)
            .map(|case| case.label.as_str())
            .filter(|label| !label.is_empty())
    }

    /// `RND4K Q1 read (Random and sequential I/O native 1)`, or the title alone.
    pub fn heading(&self) -> String {
        let title = self.title();
        match self.label() {
            Some(label) if label != title => format!("{label} ({title})"),
            _ => title,
        }
    }

    /// What the metric is called: its title, else its unit, else its id.
    pub fn metric_name(&self) -> &'a str {
        let metric = &self.record.metric;
        let names = [
            metric.title.as_str(),
            metric.unit.as_str(),
            metric.id.as_str(),
        ];
        names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or("value")
    }

    /// `MB/s, More Is Better`, as the graphs of the Phoronix Test Suite say it.
    pub fn unit_line(&self) -> String {
        let direction = match self.record.metric.direction {
            Direction::HigherIsBetter => "More Is Better",
            Direction::LowerIsBetter => "Fewer Is Better",
            Direction::Neutral => return self.record.metric.unit.clone(),
        };
        match self.record.metric.unit.as_str() {
            "" => direction.to_owned(),
            unit => format!("{unit}, {direction}"),
        }
    }

    /// Rows that cannot be told apart from the best one, the best first; none where no order can
    /// be stated: a neutral metric, fewer than two values, or a best value without spread.
    ///
    /// Another value without spread is taken to be as uncertain as the least certain one of the
    /// block. Invalid entries lead nothing.
    pub fn leaders(&self) -> Vec<usize> {
        let sign = match self.record.metric.direction {
            Direction::HigherIsBetter => 1.0,
            Direction::LowerIsBetter => -1.0,
            Direction::Neutral => return Vec::new(),
        };
        let is_ranked = |row: &Row<'_>| row.entry.verdict.level != Level::Invalid;
        let ranked: Vec<(usize, f64)> = self
            .rows
            .iter()
            .enumerate()
            .filter(|(_, row)| is_ranked(row))
            .filter_map(|(place, row)| Some((place, row.value?)))
            .collect();
        let best = ranked.iter().copied().reduce(|best, next| {
            if sign * next.1 > sign * best.1 {
                next
            } else {
                best
            }
        });
        let Some((best, best_value)) = best.filter(|_| ranked.len() >= 2) else {
            return Vec::new();
        };
        let certainty = self.rows[best].certainty;
        if certainty.half_width.is_none() || best_value <= 0.0 {
            return Vec::new();
        }
        let best_known = Known {
            value: best_value,
            certainty: &certainty,
        };
        let least_certain = self.least_certain();
        let is_near = |(place, value): (usize, f64)| {
            let own = self.rows[place].certainty;
            let certainty = match own.half_width {
                Some(_) => own,
                None => least_certain.scaled_to(value),
            };
            let known = Known {
                value,
                certainty: &certainty,
            };
            place != best && known.is_clearly_apart(best_known) == Some(false)
        };
        let near = ranked
            .iter()
            .copied()
            .filter(|candidate| is_near(*candidate));
        std::iter::once(best)
            .chain(near.map(|(place, _)| place))
            .collect()
    }

    /// The largest relative uncertainty of the block.
    fn least_certain(&self) -> RelativeCertainty {
        let known = self
            .rows
            .iter()
            .filter_map(|row| row.certainty.relative_to(row.value?));
        known.reduce(RelativeCertainty::larger).unwrap_or_default()
    }

    /// Whether it is drawn as one bar a system.
    pub fn is_bars(&self) -> bool {
        self.record.display == Display::Bar && self.rows.iter().any(|row| row.value.is_some())
    }
}

impl<'a> Row<'a> {
    /// Why there is no number.
    pub fn failure(&self) -> Option<&'a str> {
        let details = self.entry.details.as_deref();
        let has_other =
            details.is_some_and(|details| details.text.is_some() || !details.line.is_empty());
        if self.value.is_some() || has_other {
            return None;
        }
        let reasons = self
            .entry
            .verdict
            .reasons
            .first()
            .map(|reason| reason.short.as_str());
        let error = self.entry.error.as_deref();
        let of_run = self.run.and_then(run_reason);
        Some(
            error
                .or(of_run)
                .or(reasons)
                .unwrap_or("failed; no reason was recorded"),
        )
    }

    /// Failed trials and all trials, when some failed though there is a number.
    pub fn failed_trials(&self) -> Option<(usize, usize)> {
        let trials = &self.run?.trials;
        let failed = trials.iter().filter(|trial| trial.error.is_some()).count();
        (failed > 0 && self.value.is_some()).then_some((failed, trials.len()))
    }

    /// Reasons against it, the worst first as the rules put them.
    pub fn reasons(&self) -> &'a [Reason] {
        &self.entry.verdict.reasons
    }

    /// The latency histograms of all its trials by name, merged.
    pub fn histograms(&self) -> Vec<(&'a str, Histogram)> {
        let mut merged: Vec<(&'a str, Histogram)> = Vec::new();
        for trial in self.run.iter().flat_map(|run| &run.trials) {
            for (name, histogram) in &trial.histograms {
                match merged.iter_mut().find(|(known, _)| known == name) {
                    Some((_, sum)) => sum.merge(histogram),
                    None => merged.push((name, histogram.clone())),
                }
            }
        }
        merged.retain(|(_, histogram)| !histogram.is_empty());
        merged
    }
}

impl Conditions {
    fn of(file: &ResultFile) -> Self {
        let all: Vec<Vec<Condition>> = file.systems.iter().map(conditions_of).collect();
        let mut names: Vec<&str> = Vec::new();
        let mut place_of: HashMap<&str, usize> = HashMap::new();
        for condition in all.iter().flatten() {
            place_of.entry(&condition.name).or_insert_with(|| {
                names.push(&condition.name);
                names.len() - 1
            });
        }
        let mut table: Vec<Vec<Option<&str>>> = vec![vec![None; all.len()]; names.len()];
        for (system, conditions) in all.iter().enumerate() {
            for condition in conditions {
                table[place_of[condition.name.as_str()]][system] = Some(&condition.value);
            }
        }
        let mut conditions = Self::default();
        for (row, name) in names.iter().enumerate() {
            let values = &table[row];
            if says_nothing_new(name, values, &place_of, &table) {
                continue;
            }
            match values.first().copied().flatten() {
                Some(first) if values.iter().all(|value| *value == Some(first)) => {
                    let (name, value) = ((*name).to_owned(), first.to_owned());
                    conditions.common.push(Condition { name, value });
                }
                _ => conditions.differing.push(Differing {
                    name: (*name).to_owned(),
                    values: values
                        .iter()
                        .map(|value| value.map(str::to_owned))
                        .collect(),
                }),
            }
        }
        conditions
    }
}

/// Whether a fact of the target stands in the fields of the system already: `drive` in `Disk`.
fn says_nothing_new(
    name: &str,
    values: &[Option<&str>],
    places: &HashMap<&str, usize>,
    table: &[Vec<Option<&str>>],
) -> bool {
    const COVERED: [(&str, &str); 3] = [
        ("drive", "Disk"),
        ("file system", "File-System"),
        ("governor", "Processor Details"),
    ];
    let Some((_, by)) = COVERED.iter().find(|(covered, _)| *covered == name) else {
        return false;
    };
    let Some(place) = places.get(by) else {
        return false;
    };
    let mut pairs = values.iter().zip(&table[*place]);
    pairs.all(|(value, known)| match (value, known) {
        (Some(value), Some(known)) => known.contains(value),
        (None, _) => true,
        (Some(_), None) => false,
    })
}

/// The index of a system; entries mostly stand in the order of the systems.
fn place_of(
    systems: &[SystemView<'_>],
    places: &HashMap<&str, u32>,
    expected: usize,
    name: &str,
) -> u32 {
    match systems.get(expected) {
        Some(system) if system.name == name => expected as u32,
        _ => places.get(name).copied().unwrap_or_default(),
    }
}

/// The single number of an entry; a line has none, though an importer may give its mean.
fn number_of(record: &ResultRecord, entry: &Entry) -> Option<f64> {
    let has_line = || {
        entry
            .details
            .as_ref()
            .is_some_and(|details| !details.line.is_empty())
    };
    match record.display {
        Display::Line if has_line() => None,
        _ => entry.value.as_ref().map(Figure::value),
    }
}

/// Smallest and largest of some numbers.
pub(crate) fn extent(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    numbers.fold(None, |extent, number| match extent {
        None => Some((number, number)),
        Some((low, high)) => Some((low.min(number), high.max(number))),
    })
}

/// Decimals for the values of a block: as printed by their source, at most 2 when all are 10 or
/// more, and never more than four significant digits of the smallest.
fn shown_decimals(rows: &[Row<'_>], smallest: f64) -> usize {
    let numbers = rows.iter().filter(|row| row.value.is_some());
    let figures = numbers.filter_map(|row| row.entry.value.as_ref());
    let printed = figures.map(Figure::decimals).max().unwrap_or(0);
    let useful = decimals_for(smallest, 4);
    if smallest == 0.0 {
        return printed.min(2);
    }
    let limit = if smallest >= 10.0 { 2 } else { useful };
    printed.min(limit)
}

#[cfg(test)]
mod tests;

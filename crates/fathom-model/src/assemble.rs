//! From events to a result file. A live run and the replay of its journal go through the same
//! code, so that both give the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::CaseId;
use crate::event::{Event, PlannedCase, RunEnd, RunHeader, StopReason};
use crate::figure::Figure;
use crate::judge::judge_entry;
use crate::result::{
    Display, Entry, Generator, Metric, ResultFile, ResultRecord, Run, Status, Trial,
};
use crate::system::System;
use crate::verdict::{Reason, Verdict};
use fathom_stats::stopping::half_width_percent_of;
use fathom_stats::{Confidence, Sample};

/// Below so many trials the spread is too uncertain to call one of them an outlier.
const OUTLIER_TRIALS: usize = 5;

#[cfg(test)]
mod tests;

/// Collects the events of one run and makes its result file.
#[derive(Clone, Debug, Default)]
pub struct ResultBuilder {
    header: Option<Box<RunHeader>>,
    runs: BTreeMap<CaseId, Run>,
    preparations: BTreeMap<CaseId, u32>,
    notes: Vec<String>,
    end: Option<RunEnd>,
    modified: Option<fathom_base::WallTime>,
}

impl ResultBuilder {
    /// A builder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder that has seen these events.
    pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut builder = Self::new();
        for event in events {
            builder.apply(event);
        }
        builder
    }

    /// Takes the next event. A trial whose id is known already is not taken twice.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::RunStarted(header) => {
                self.modified = Some(header.started);
                self.header = Some(header.clone());
            }
            Event::RunResumed { at, .. } => {
                self.modified = Some(*at);
                self.end = None;
                // What the user stopped is open again.
                for run in self.runs.values_mut() {
                    run.stop = run.stop.filter(|stop| *stop != StopReason::Cancelled);
                }
            }
            Event::CaseUnavailable { case, reason } => {
                self.run(case).unavailable = Some(reason.clone());
            }
            Event::TrialFinished { case, trial } => {
                let run = self.run(case);
                if !run.trials.iter().any(|known| known.id == trial.id) {
                    run.trials.push((**trial).clone());
                }
            }
            Event::CaseStopped { case, reason } => self.run(case).stop = Some(*reason),
            Event::Note { text } => {
                if !self.notes.contains(text) {
                    self.notes.push(text.clone());
                }
            }
            Event::RunFinished { end, at } => {
                self.end = Some(*end);
                self.modified = Some(*at);
            }
            Event::PreparingCase { case } => {
                *self.preparations.entry(case.clone()).or_default() += 1;
            }
            Event::TrialStarted { .. } | Event::Progress { .. } => {}
        }
    }

    /// The head of the run, once it was seen.
    pub fn header(&self) -> Option<&RunHeader> {
        self.header.as_deref()
    }

    /// How the run ended, once it has.
    pub fn end(&self) -> Option<RunEnd> {
        self.end
    }

    /// The trials of a case so far, failed ones included.
    pub fn trials(&self, case: &CaseId) -> &[Trial] {
        self.runs.get(case).map_or(&[], |run| &run.trials)
    }

    /// How often a case was prepared so far.
    pub fn preparations(&self, case: &CaseId) -> u32 {
        self.preparations.get(case).copied().unwrap_or(0)
    }

    /// What is known of a case so far.
    pub fn case_run(&self, case: &CaseId) -> Option<&Run> {
        self.runs.get(case)
    }

    /// The result file; `None` before the head of the run was seen.
    ///
    /// The runs keep the order of the plan, whatever order the trials ran in.
    pub fn build(&self) -> Option<ResultFile> {
        let header = self.header.as_deref()?;
        let generator = Generator {
            name: "fathom".to_owned(),
            version: header.version.clone(),
        };
        let mut file = ResultFile::new(header.title.clone(), generator);
        file.description.clone_from(&header.description);
        file.modified = self.modified;
        file.status = match self.end {
            Some(RunEnd::Complete) => Status::Complete,
            _ => Status::Partial,
        };
        // Merged files order systems of one place by it.
        file.systems.push(System {
            time: header.system.time.or(Some(header.started)),
            ..(*header.system).clone()
        });
        for planned in &header.cases {
            file.cases.push(planned.case.clone());
            file.results.extend(records(planned));
            file.runs.push(self.finished_run(header, planned));
        }
        if !self.notes.is_empty() {
            let name = format!("run-{}.notes", header.run_id);
            file.logs.insert(name, self.notes.join("\n"));
        }
        file.rebuild();
        let measured: BTreeSet<CaseId> = file
            .runs
            .iter()
            .filter(|run| !run.trials.is_empty())
            .map(|run| run.case.clone())
            .collect();
        // Without trials an empty record stands for what is to come.
        file.results
            .retain(|record| !record.entries.is_empty() || !measured.contains(&record.case));
        Some(file)
    }

    fn run(&mut self, case: &CaseId) -> &mut Run {
        self.runs.entry(case.clone()).or_insert_with(|| Run {
            case: case.clone(),
            ..Run::default()
        })
    }

    fn finished_run(&self, header: &RunHeader, planned: &PlannedCase) -> Run {
        let mut run = self.runs.get(&planned.case.id).cloned().unwrap_or_default();
        run.case = planned.case.id.clone();
        run.system.clone_from(&header.system.identifier);
        if run.unavailable.is_none() {
            run.unavailable.clone_from(&planned.unavailable);
        }
        run
    }
}

/// The records of a case, without entries. A case that cannot run has one record: the reason is
/// said once, not once a metric.
fn records(planned: &PlannedCase) -> Vec<ResultRecord> {
    let record = |metric: &Metric, display| ResultRecord {
        case: planned.case.id.clone(),
        metric: metric.clone(),
        title: planned.title.clone(),
        version: planned.case.implementation.to_string(),
        description: planned.case.label.clone(),
        display,
        ..ResultRecord::default()
    };
    if planned.metrics.is_empty() {
        return vec![record(&Metric::default(), Display::NoResult)];
    }
    if planned.unavailable.is_some() {
        let primary = planned.metrics.iter().find(|metric| metric.is_primary);
        let metric = primary.unwrap_or(&planned.metrics[0]);
        return vec![record(metric, Display::Bar)];
    }
    let all = planned.metrics.iter();
    all.map(|metric| record(metric, Display::Bar)).collect()
}

impl ResultFile {
    /// Recomputes the entries that come from trials, after runs were merged, renamed or dropped.
    ///
    /// For each run (trials of one case on one system) every record of that case gets one entry of
    /// that system, in the place of the one it had. Records without runs, such as imported ones,
    /// are left alone. The reached widths of the runs are computed likewise. Does nothing the
    /// second time.
    pub fn rebuild(&mut self) {
        self.rebuild_widths();
        let mut done: BTreeSet<(&CaseId, &str)> = BTreeSet::new();
        for run in &self.runs {
            if !done.insert((&run.case, &run.system)) {
                continue;
            }
            let same = |other: &&Run| other.case == run.case && other.system == run.system;
            let pooled: Vec<&Run> = self.runs.iter().filter(same).collect();
            for record in self.results.iter_mut().filter(|r| r.case == run.case) {
                let Some(mut entry) = entry_of(&pooled, &record.metric) else {
                    continue;
                };
                match record.entries.iter_mut().find(|e| e.system == run.system) {
                    Some(known) => {
                        entry.details = known.details.take();
                        *known = entry;
                    }
                    None => record.entries.push(entry),
                }
            }
        }
    }
}

impl ResultFile {
    fn rebuild_widths(&mut self) {
        for run in &mut self.runs {
            let records = self.results.iter().filter(|r| r.case == run.case);
            let metrics: Vec<&Metric> = records.map(|record| &record.metric).collect();
            let trials: Vec<&Trial> = run.trials.iter().collect();
            run.reached_percent = reached(&trials, &metrics);
        }
    }
}

/// What the runs of one case on one system say about a metric: a number, why there is none, or
/// `None` when they say nothing (they have not begun).
fn entry_of(runs: &[&Run], metric: &Metric) -> Option<Entry> {
    let trials: Vec<&Trial> = runs.iter().flat_map(|run| &run.trials).collect();
    let good: Vec<&Trial> = trials
        .iter()
        .copied()
        .filter(|trial| trial.error.is_none() && trial.values.contains_key(&metric.id))
        .collect();
    let samples: Vec<Figure> = good
        .iter()
        .filter_map(|trial| trial.values.get(&metric.id).cloned())
        .collect();
    // A secondary metric may have nothing to say of a trial that went well: a percentile that the
    // number of operations does not carry.
    let went_well = trials
        .iter()
        .any(|trial| trial.error.is_none() && !trial.values.is_empty());
    if samples.is_empty() && went_well && !metric.is_primary && !metric.steers {
        return None;
    }
    let unavailable = runs.iter().find_map(|run| run.unavailable.as_deref());
    let error = match (unavailable, failures(&trials)) {
        (Some(reason), _) if samples.is_empty() => Some(format!("not available: {reason}")),
        (_, Some(failures)) => Some(failures),
        (_, None) if samples.is_empty() && !trials.is_empty() => {
            Some(format!("no trial gave {}", metric_name(metric)))
        }
        _ => None,
    };
    if samples.is_empty() && error.is_none() {
        return None;
    }
    let mut verdict = judge_entry(&metric.id, good.iter().copied());
    flag_outliers(&good, &samples, &mut verdict);
    Some(Entry {
        system: runs.first()?.system.clone(),
        value: mean(&samples),
        verdict,
        samples,
        error: error.map(Into::into),
        ..Entry::default()
    })
}

fn metric_name(metric: &Metric) -> &str {
    match metric.title.as_str() {
        "" => &metric.id,
        title => title,
    }
}

/// `None` when no trial failed.
fn failures(trials: &[&Trial]) -> Option<String> {
    let failed: Vec<&str> = trials
        .iter()
        .filter_map(|trial| trial.error.as_deref())
        .collect();
    let first = failed.first()?;
    Some(match (failed.len(), trials.len()) {
        (1, 1) => (*first).to_owned(),
        (failed, of) if failed == of => format!("all {of} trials failed: {first}"),
        (failed, of) => format!("{failed} of {of} trials failed: {first}"),
    })
}

/// The mean; of a single sample the sample itself, with the text it was printed with.
fn mean(samples: &[Figure]) -> Option<Figure> {
    match samples {
        [] => None,
        [only] => Some(only.clone()),
        _ => {
            let n = samples.len() as f64;
            let sum: f64 = samples.iter().map(Figure::value).sum();
            // Only values near the largest `f64` overflow the sum.
            Figure::new(sum / n)
                .or_else(|| Figure::new(samples.iter().map(|sample| sample.value() / n).sum()))
        }
    }
}

/// Flags values far from the others, on the entry; they count like all the rest.
fn flag_outliers(good: &[&Trial], samples: &[Figure], verdict: &mut Verdict) {
    let values: Vec<f64> = samples.iter().map(Figure::value).collect();
    let sample = match Sample::new(values) {
        Ok(sample) if samples.len() >= OUTLIER_TRIALS => sample,
        _ => return,
    };
    let outliers = sample.outliers();
    if outliers.is_empty() {
        return;
    }
    let list: Vec<String> = outliers
        .iter()
        .map(|outlier| {
            let number = good.get(outlier.position).map_or(0, |trial| trial.number);
            let value = samples.get(outlier.position).map(Figure::to_string);
            let value = value.unwrap_or_default();
            format!(
                "trial {number} ({value}, modified z {:.1})",
                outlier.modified_z
            )
        })
        .collect();
    let count = outliers.len();
    verdict.note(Reason {
        rule: "outlier".to_owned(),
        short: match count {
            1 => "1 outlier".to_owned(),
            _ => format!("{count} outliers"),
        },
        text: format!(
            "{} far from the others: {}. All trials count.",
            if count == 1 {
                "One trial is"
            } else {
                "Some trials are"
            },
            list.join(", ")
        ),
        advice: String::new(),
    });
}

/// Reached half-widths of the metrics that steer, in per cent of their means.
fn reached(trials: &[&Trial], metrics: &[&Metric]) -> BTreeMap<String, f64> {
    let width = |metric: &&Metric| {
        let good = trials.iter().filter(|trial| trial.error.is_none());
        let values: Vec<f64> = good
            .filter_map(|trial| trial.values.get(&metric.id))
            .map(Figure::value)
            .collect();
        let sample = Sample::new(values).ok()?;
        let width = half_width_percent_of(&sample, Confidence::P95)?;
        Some((metric.id.clone(), width))
    };
    let steering = metrics.iter().filter(|metric| metric.steers);
    steering.filter_map(width).collect()
}

/// The ids of all trials of a file; merging and saving ask what is in it already.
pub fn trial_ids(file: &ResultFile) -> BTreeSet<&str> {
    let runs = file.runs.iter();
    runs.flat_map(|run| run.trials.iter().map(|trial| trial.id.as_str()))
        .collect()
}

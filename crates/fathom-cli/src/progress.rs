//! Shows a run while it goes on: bars on a terminal, lines in a pipe. A sink of the event stream.

use std::collections::HashMap;
use std::sync::Arc;

use fathom_base::{Clock, Nanos};
use fathom_model::{
    CaseId, Event, Metric, PlannedCase, Progress, RunHeader, Sink, SinkError, StopReason, Trial,
};
use fathom_stats::Sample;
use fathom_stats::interval::Confidence;
use fathom_stats::stopping::{STANDARD_LOOKS, half_width_percent_of};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::describe::about;

#[cfg(test)]
mod tests;

/// A pipe gets a line at least this often while trials run.
const LINE_EVERY: Nanos = Nanos::from_secs(10);
/// Redraws of the bars a second.
const DRAW_HZ: u8 = 10;

/// What the display knows of a case.
struct CaseState {
    planned: PlannedCase,
    is_prepared: bool,
    is_stopped: bool,
    trials: u32,
    /// Wall time of its trials so far.
    spent: Nanos,
    /// What its trials gave for the metric that stands for it.
    values: Vec<f64>,
}

/// When a run ends the trials of a case, as far as an estimate of the time left needs it.
#[derive(Clone, Copy)]
struct Limits {
    min_trials: u32,
    max_trials: u32,
    goal_percent: f64,
    case_budget: Option<Nanos>,
}

impl CaseState {
    fn new(planned: &PlannedCase) -> Self {
        Self {
            is_stopped: planned.unavailable.is_some(),
            is_prepared: false,
            planned: planned.clone(),
            trials: 0,
            spent: Nanos::default(),
            values: Vec::new(),
        }
    }

    /// Time one trial takes: as measured, else as planned.
    fn trial_ns(&self) -> u64 {
        match self.spent.as_u64().checked_div(u64::from(self.trials)) {
            Some(measured) => measured,
            None => self.planned.trial_time.as_u64(),
        }
    }

    /// Time the next step takes: the preparation or a trial.
    fn step_ns(&self) -> u64 {
        match self.is_prepared {
            true => self.trial_ns(),
            false => self.planned.prepare_time.as_u64(),
        }
    }

    /// Time still expected: up to the look at which the interval should be narrow enough.
    fn remaining(&self, limits: Limits) -> Nanos {
        if self.is_stopped || self.trials >= limits.max_trials {
            return Nanos::default();
        }
        let trials = u64::from(self.last_look(limits) - self.trials);
        let prepare_ns = match self.is_prepared {
            true => 0,
            false => self.planned.prepare_time.as_u64(),
        };
        let trials_ns = self.trial_ns().saturating_mul(trials);
        let left = Nanos::new(trials_ns.saturating_add(prepare_ns));
        match limits.case_budget {
            Some(budget) => left.min(budget.since(self.spent)),
            None => left,
        }
    }

    /// The number of trials after which the case should end: an interval narrows with the root of
    /// their number, so its width by now tells how many it takes.
    fn last_look(&self, limits: Limits) -> u32 {
        let sample = Sample::new(self.values.clone()).ok();
        let width = sample.and_then(|sample| half_width_percent_of(&sample, Confidence::P95));
        let needed = match width {
            Some(width) if width > limits.goal_percent && self.trials >= limits.min_trials => {
                let times = (width / limits.goal_percent).powi(2);
                // Saturates: an endless number of trials ends at the most there may be.
                (f64::from(self.trials) * times).ceil() as u32
            }
            _ => 0,
        };
        let least = needed.max(limits.min_trials).max(self.trials + 1);
        let mut looks = STANDARD_LOOKS.into_iter();
        let look = looks.find(|look| *look >= least).unwrap_or(least);
        look.min(limits.max_trials)
    }
}

/// Where lines and bars go.
enum Output {
    Bar(ProgressBar),
    Lines {
        write: Box<dyn FnMut(&str)>,
        last: Nanos,
    },
}

/// The progress display of one run.
pub struct ProgressDisplay {
    output: Output,
    clock: Arc<dyn Clock>,
    started: Nanos,
    cases: HashMap<CaseId, CaseState>,
    /// Start of the preparation or trial that runs now.
    step: Option<(CaseId, Nanos)>,
    limits: Limits,
    budget: Option<Nanos>,
    /// Time the trials of a resumed run took before.
    spent_before: Nanos,
    label_width: usize,
}

impl ProgressDisplay {
    /// Bars on stderr, which must be a terminal.
    pub fn bars(clock: Arc<dyn Clock>) -> Self {
        let target = ProgressDrawTarget::stderr_with_hz(DRAW_HZ);
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        // A wrong template is a defect found by any test that draws.
        let style = ProgressStyle::with_template("{bar:24} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> ");
        bar.set_style(style);
        Self::new(Output::Bar(bar), clock)
    }

    /// A line a trial, and one every ten seconds while a trial runs.
    pub fn lines(clock: Arc<dyn Clock>, write: impl FnMut(&str) + 'static) -> Self {
        let last = clock.now();
        let write = Box::new(write);
        Self::new(Output::Lines { write, last }, clock)
    }

    fn new(output: Output, clock: Arc<dyn Clock>) -> Self {
        Self {
            output,
            started: clock.now(),
            clock,
            cases: HashMap::new(),
            step: None,
            limits: Limits {
                min_trials: 1,
                max_trials: u32::MAX,
                goal_percent: f64::INFINITY,
                case_budget: None,
            },
            budget: None,
            spent_before: Nanos::default(),
            label_width: 0,
        }
    }

    fn begin(&mut self, header: &RunHeader) {
        self.limits = Limits {
            min_trials: header.min_trials,
            max_trials: header.max_trials,
            goal_percent: header.goal_percent,
            case_budget: header.case_budget,
        };
        self.budget = header.run_budget;
        for planned in &header.cases {
            let width = planned.case.label.chars().count();
            self.label_width = self.label_width.max(width);
            let id = planned.case.id.clone();
            self.cases
                .entry(id)
                .or_insert_with(|| CaseState::new(planned));
        }
    }

    /// Takes in what happened before a resumed run goes on, without showing it.
    pub fn replay(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::RunStarted(header) => self.begin(header),
                Event::TrialFinished { case, trial } => {
                    let spent = Nanos::new(trial.duration_ns);
                    self.spent_before = self.spent_before.plus(spent);
                    self.count(case, trial);
                }
                Event::CaseStopped { case, reason } if *reason != StopReason::Cancelled => {
                    self.stop(case);
                }
                Event::CaseUnavailable { case, .. } => self.stop(case),
                _ => {}
            }
        }
        // The scratch directory is a new one, so files are laid out again.
        for state in self.cases.values_mut() {
            state.is_prepared = false;
        }
    }

    fn count(&mut self, case: &CaseId, trial: &Trial) {
        if let Some(state) = self.cases.get_mut(case) {
            state.trials += 1;
            state.spent = state.spent.plus(Nanos::new(trial.duration_ns));
            let figure = headline(&state.planned.metrics, trial);
            state.values.extend(figure.map(|(value, _)| value));
        }
    }

    fn stop(&mut self, case: &CaseId) {
        if let Some(state) = self.cases.get_mut(case) {
            state.is_stopped = true;
        }
    }

    fn remaining(&self) -> Nanos {
        let whole = self
            .cases
            .values()
            .map(|case| case.remaining(self.limits))
            .fold(Nanos::default(), Nanos::plus);
        let gone_ns = self.step.as_ref().map_or(0, |(case, since)| {
            let step_ns = self.cases.get(case).map_or(0, CaseState::step_ns);
            self.clock.now().since(*since).as_u64().min(step_ns)
        });
        let left = whole.since(Nanos::new(gone_ns));
        match self.budget {
            Some(budget) => left.min(budget.since(self.spent_before.plus(self.elapsed()))),
            None => left,
        }
    }

    fn step(&mut self, case: &CaseId) {
        self.step = Some((case.clone(), self.clock.now()));
        self.show(case, &Progress::default());
    }

    fn elapsed(&self) -> Nanos {
        self.clock.now().since(self.started)
    }

    /// `12 s, about 48 s left  SEQ1M Q8 read  trial 2  measure 40%  1466 MB/s`: what matters most
    /// comes first, since a narrow terminal cuts the end off.
    fn status(&self, case: &CaseId, progress: &Progress) -> String {
        let left = about(self.remaining());
        let time = format!("{}, about {left} left", about(self.elapsed()));
        let mut words = vec![time, self.label(case)];
        if let Some(state) = self.cases.get(case) {
            words.push(match state.is_prepared {
                true => format!("trial {}", state.trials + 1),
                false => "prepare".to_owned(),
            });
        }
        let mut phase = progress.phase.clone();
        if let Some(fraction) = progress.fraction.filter(|fraction| fraction.is_finite()) {
            let percent = (fraction.clamp(0.0, 1.0) * 100.0).round();
            phase.push_str(&format!(" {percent}%"));
        }
        words.extend([phase, progress.rate.clone()]);
        words.retain(|word| !word.is_empty());
        words.join("  ")
    }

    fn label(&self, case: &CaseId) -> String {
        let label = self.cases.get(case).map_or_else(
            || case.to_string(),
            |state| state.planned.case.label.clone(),
        );
        format!("{label:width$}", width = self.label_width)
    }

    fn show(&mut self, case: &CaseId, progress: &Progress) {
        let now = self.clock.now();
        let status = self.status(case, progress);
        let elapsed = self.elapsed().as_secs_f64();
        let whole = elapsed + self.remaining().as_secs_f64();
        match &mut self.output {
            Output::Bar(bar) => {
                // Both sides are bounded: the position never passes the length.
                let share = if whole > 0.0 { elapsed / whole } else { 0.0 };
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(status);
            }
            Output::Lines { write, last } => {
                if now.since(*last) >= LINE_EVERY {
                    *last = now;
                    write(&status);
                }
            }
        }
    }

    /// Prints a line that stays.
    fn line(&mut self, text: &str) {
        let now = self.clock.now();
        match &mut self.output {
            Output::Bar(bar) => bar.suspend(|| {
                use std::io::Write;
                let _ = writeln!(std::io::stderr(), "{text}");
            }),
            Output::Lines { write, last } => {
                *last = now;
                write(text);
            }
        }
    }

    fn finished(&mut self, case: &CaseId, trial: &Trial) {
        self.step = None;
        self.count(case, trial);
        let state = self.cases.get(case);
        let metrics = state.map_or(&[][..], |state| &state.planned.metrics);
        let figure = headline(metrics, trial);
        let value = figure.map(|(value, unit)| format!("{} {unit}", short(value)));
        let number = trial.number;
        let label = self.label(case);
        let text = match &trial.error {
            Some(error) => format!("{label}  trial {number} failed: {error}"),
            None => format!("{label}  trial {number}  {}", value.unwrap_or_default()),
        };
        // On a terminal the bar shows good trials; only bad news stays.
        if trial.error.is_some() || matches!(self.output, Output::Lines { .. }) {
            let left = about(self.remaining());
            self.line(&format!("{text}  (about {left} left)"));
        }
    }
}

/// The value a trial stands for, and its unit.
fn headline<'a>(metrics: &'a [Metric], trial: &Trial) -> Option<(f64, &'a str)> {
    metrics
        .iter()
        .filter(|metric| metric.is_primary)
        .chain(metrics)
        .find_map(|metric| {
            let value = trial.values.get(&metric.id)?;
            Some((value.value(), metric.unit.as_str()))
        })
}

/// Four significant digits at most, no exponent.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

impl Sink for ProgressDisplay {
    fn event(&mut self, event: &Event) -> Result<(), SinkError> {
        match event {
            Event::RunStarted(header) => self.begin(header),
            Event::RunResumed { .. } => {}
            Event::PreparingCase { case } => self.step(case),
            Event::CaseUnavailable { case, reason } => {
                self.stop(case);
                let label = self.label(case);
                self.line(&format!("{label}  not available: {reason}"));
            }
            Event::TrialStarted { case, .. } => {
                if let Some(state) = self.cases.get_mut(case) {
                    state.is_prepared = true;
                }
                self.step(case);
            }
            Event::Progress { case, progress } => self.show(case, progress),
            Event::TrialFinished { case, trial } => self.finished(case, trial),
            Event::CaseStopped { case, reason } => {
                self.stop(case);
                if *reason == StopReason::Failing {
                    let label = self.label(case);
                    self.line(&format!("{label}  given up: too many trials failed"));
                }
            }
            Event::Note { text } => self.line(&format!("note: {text}")),
            Event::RunFinished { .. } => {
                if let Output::Bar(bar) = &self.output {
                    bar.finish_and_clear();
                }
            }
        }
        Ok(())
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Output::Bar(bar) = &self.output {
            bar.finish_and_clear();
        }
    }
}

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::files::read_text_limited;
use fathom_base::process::{Finished, run};
use fathom_model::{
    Case, Context, DataEvidence, Evidence, Figure, HostEvidence, Prepared, Progress, TestError,
    Trial,
};

use super::steps::{StepRunner, said, tail};
use super::values::CaseValues;
use super::{Way, metrics_of};
use crate::hook::{self, DriverRun};
use crate::profile::{
    CountExtraction, Extraction, MetricSpec, Outputs, Profile, Step, Stream, plain,
};
use crate::service::{RunningService, ServiceHandle, StartOptions, start};

/// The server's part of the case's directory.
const SERVER: &str = "server";
/// Bytes of an output file that are looked at.
const FILE_LIMIT: u64 = 64 << 20;
/// Characters of a log that are kept with a trial.
const LOG_LIMIT: usize = 16 << 10;

/// A case that is ready: its directory is made, its server answers, its preparation is done.
pub(super) struct PreparedProfile {
    profile: Arc<Profile>,
    way: Way,
    case: Case,
    directory: PathBuf,
    service: Option<RunningService>,
}

/// What the measured part gave.
struct Measured {
    outputs: Outputs,
    driver: Option<DriverRun>,
    host: HostEvidence,
    command_line: String,
    said: String,
}

impl PreparedProfile {
    pub(super) fn prepare(
        profile: &Arc<Profile>,
        way: Way,
        case: &Case,
        cx: &Context<'_>,
    ) -> Result<Self, TestError> {
        let directory = cx.scratch.join(format!("{}-{}", profile.id, case.id));
        std::fs::create_dir(&directory)
            .map_err(|error| TestError::io("creating", &directory, error))?;
        let mut prepared = Self {
            profile: Arc::clone(profile),
            way,
            case: case.clone(),
            directory,
            service: None,
        };
        match prepared.set_up(cx) {
            Ok(()) => Ok(prepared),
            Err(error) => {
                // The first error is the one to report.
                let _ = prepared.tear_down(cx);
                Err(error)
            }
        }
    }

    fn set_up(&mut self, cx: &Context<'_>) -> Result<(), TestError> {
        progress(cx, "prepare");
        if let Some(spec) = &self.profile.service {
            progress(cx, "start server");
            let values = self.values(cx);
            let options = StartOptions {
                spec,
                values: &values,
                directory: self.directory.join(SERVER),
                asked: self.case.options.get(crate::service::SERVER),
            };
            self.service = Some(start(&options, cx)?);
            progress(cx, "prepare");
        }
        let profile = Arc::clone(&self.profile);
        let prepared = self.runner(cx).all(&profile.prepare);
        self.with_server_words(prepared)?;
        if let (Way::Driver, Some(driver)) = (self.way, &profile.run.driver) {
            let runner = self.runner(cx);
            hook::prepare(driver, self.handle(), &|word| runner.value(word), cx)?;
        }
        Ok(())
    }

    fn handle(&self) -> Option<&ServiceHandle> {
        self.service.as_ref().map(RunningService::handle)
    }

    fn values<'a>(&'a self, cx: &'a Context<'_>) -> CaseValues<'a> {
        CaseValues {
            profile: &self.profile,
            case: &self.case,
            host: cx.host,
            directory: &self.directory,
            device: cx.device.as_deref(),
            service: self.handle(),
            trial: cx.trial,
        }
    }

    fn runner<'a>(&'a self, cx: &'a Context<'a>) -> StepRunner<'a> {
        StepRunner {
            values: self.values(cx),
            cx,
            service_programs: self.service.as_ref().map_or(&[], RunningService::programs),
        }
    }

    /// An error of a program is often the server's: its last words are added.
    fn with_server_words<T>(&self, result: Result<T, TestError>) -> Result<T, TestError> {
        let Some(service) = &self.service else {
            return result;
        };
        result.map_err(|error| match error {
            TestError::Program { program, what } => match service.words() {
                words if words.is_empty() => TestError::Program { program, what },
                words => TestError::Program {
                    program,
                    what: format!("{what}; the server said: {}", tail(&words)),
                },
            },
            other => other,
        })
    }

    fn trial(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        let profile = Arc::clone(&self.profile);
        let log_from = self.service.as_ref().map_or(0, RunningService::log_length);
        if profile.run.is_fresh {
            empty(&self.directory)?;
        }
        progress(cx, "before");
        self.runner(cx).all(&profile.before)?;
        progress(cx, "measure");
        let measured = match (self.way, &profile.run.program, &profile.run.driver) {
            (Way::Program, Some(step), _) => self.measure_program(step, cx)?,
            (_, _, Some(driver)) => {
                let runner = self.runner(cx);
                let filled = |word: &_| runner.value(word);
                let run = hook::run(driver, self.handle(), &filled, cx)?;
                Measured {
                    outputs: Outputs::default(),
                    host: run.host.clone(),
                    command_line: format!("driver {}", driver.name),
                    driver: Some(run),
                    said: String::new(),
                }
            }
            _ => return Err(self.wrong("has nothing to run")),
        };
        let mut trial = self.yielded(measured, cx)?;
        progress(cx, "check");
        let runner = self.runner(cx);
        for check in &profile.checks {
            runner.check(check)?;
            trial
                .evidence
                .notes
                .push(format!("checked: {}", check.name));
        }
        if let Some(service) = &self.service {
            let log = service.log_from(log_from, LOG_LIMIT);
            keep_log(&mut trial, "server.log", &log);
        }
        Ok(trial)
    }

    fn measure_program(&self, step: &Step, cx: &Context<'_>) -> Result<Measured, TestError> {
        let runner = self.runner(cx);
        let program = runner.program(step)?;
        self.remove_outputs()?;
        let witness = cx.observer.begin();
        let finished = run(&program, cx.cancel);
        let host = witness.end();
        let finished = finished?;
        runner.judge(&program, step, &finished)?;
        Ok(Measured {
            outputs: self.outputs(&finished),
            driver: None,
            host,
            command_line: program.command_line(),
            said: said(&finished),
        })
    }

    /// A figure of the last trial must not be taken for one of this.
    fn remove_outputs(&self) -> Result<(), TestError> {
        for name in self.files() {
            let path = self.directory.join(name);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TestError::io("removing", &path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The files that metrics and counts are in.
    fn files(&self) -> Vec<&str> {
        let metrics = self.profile.metrics.iter();
        let of_metrics = metrics.filter_map(|spec| stream_of(&spec.extraction));
        let of_counts = self
            .profile
            .counts
            .iter()
            .filter_map(|spec| match &spec.extraction {
                CountExtraction::Number(extraction) => stream_of(extraction),
                CountExtraction::Matches(stream, _) => Some(stream),
            });
        let all = of_metrics.chain(of_counts);
        all.filter_map(|stream| match stream {
            Stream::File(name) => Some(name.as_str()),
            _ => None,
        })
        .collect()
    }

    fn outputs(&self, finished: &Finished) -> Outputs {
        let mut outputs = Outputs::of(finished);
        for name in self.files() {
            // What cannot be read is missing, and said where the metric is looked for.
            if let Ok(text) = read_text_limited(&self.directory.join(name), FILE_LIMIT) {
                outputs.files.insert(name.to_owned(), plain(&text));
            }
        }
        outputs
    }

    fn yielded(&self, measured: Measured, cx: &Context<'_>) -> Result<Trial, TestError> {
        let values = self.metric_values(&measured, cx)?;
        let mut trial = Trial {
            values,
            evidence: self.evidence(&measured, cx),
            ..Trial::default()
        };
        if let Some(driver) = measured.driver {
            trial.histograms = driver.histograms;
            trial.evidence.counts.extend(driver.counts);
            trial.evidence.notes.extend(driver.notes);
        } else {
            let text = format!("{}\n{}", measured.outputs.stdout, measured.outputs.stderr);
            keep_log(&mut trial, "output", text.trim());
        }
        Ok(trial)
    }

    fn metric_values(
        &self,
        measured: &Measured,
        cx: &Context<'_>,
    ) -> Result<BTreeMap<String, Figure>, TestError> {
        let mut values: BTreeMap<String, Figure> = BTreeMap::new();
        let specs: Vec<&MetricSpec> = metrics_of(&self.profile, self.way, &self.case).collect();
        let is_computed = |spec: &&&MetricSpec| matches!(spec.extraction, Extraction::Compute(_));
        for spec in specs.iter().filter(|spec| !is_computed(spec)) {
            let figure = match &spec.extraction {
                Extraction::Driver(name) => driver_figure(measured, name),
                extraction => extraction.figure(&measured.outputs),
            };
            self.take(spec, figure, measured, &mut values)?;
        }
        for spec in specs.iter().filter(is_computed) {
            let Extraction::Compute(expression) = &spec.extraction else {
                continue;
            };
            let case = self.values(cx);
            let lookup = |name: &str| match values.get(name) {
                Some(figure) => Some(figure.value()),
                None => case.number(name),
            };
            let figure = expression.value(&lookup);
            let figure = figure.and_then(|value| {
                Figure::new(value).ok_or_else(|| format!("{expression} is no number"))
            });
            self.take(spec, figure, measured, &mut values)?;
        }
        Ok(values)
    }

    /// A metric that is missing fails the trial; it is never a zero.
    fn take(
        &self,
        spec: &MetricSpec,
        figure: Result<Figure, String>,
        measured: &Measured,
        values: &mut BTreeMap<String, Figure>,
    ) -> Result<(), TestError> {
        match figure {
            Ok(figure) => {
                values.insert(spec.metric.id.clone(), figure);
                Ok(())
            }
            Err(_) if spec.is_optional => Ok(()),
            Err(what) => Err(TestError::Program {
                program: measured.command_line.clone(),
                what: format!("gave no {}: {what}{}", spec.metric.id, measured.said),
            }),
        }
    }

    fn evidence(&self, measured: &Measured, cx: &Context<'_>) -> Evidence {
        let mut notes = vec![format!("ran: {}", measured.command_line)];
        if let Some(service) = &self.service {
            notes.extend(service.notes());
        }
        Evidence {
            host: Some(measured.host.clone()),
            data: Some(DataEvidence {
                contents: "as the program has it".to_owned(),
                compressing_stack: cx.host.target.compressing.clone(),
                ..DataEvidence::default()
            }),
            counts: self.counts(&measured.outputs),
            notes,
            ..Evidence::default()
        }
    }

    fn counts(&self, outputs: &Outputs) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for spec in self
            .profile
            .counts
            .iter()
            .filter(|_| self.way == Way::Program)
        {
            let count = match &spec.extraction {
                CountExtraction::Number(extraction) => {
                    let figure = extraction.figure(outputs).ok();
                    figure.map(|figure| figure.value().max(0.0) as u64)
                }
                CountExtraction::Matches(stream, regex) => {
                    let text = outputs.text(stream).ok();
                    text.map(|text| regex.find_iter(&text).count() as u64)
                }
            };
            if let Some(count) = count {
                counts.insert(spec.id.clone(), count);
            }
        }
        counts
    }

    fn wrong(&self, what: &str) -> TestError {
        TestError::Program {
            program: self.profile.id.clone(),
            what: what.to_owned(),
        }
    }

    /// Steps of the profile, then the server, then the directory; all are tried.
    fn tear_down(&mut self, cx: &Context<'_>) -> Result<(), TestError> {
        let profile = Arc::clone(&self.profile);
        // A run that is stopped is cleaned up all the same.
        let cancel = fathom_base::Cancel::new();
        let cx = Context {
            device: cx.device.clone(),
            cancel: &cancel,
            ..*cx
        };
        let steps = self.runner(&cx).all(&profile.cleanup);
        let stopped = match self.service.take() {
            Some(service) => service.stop(),
            None => Ok(()),
        };
        let removed = remove(&self.directory);
        steps.and(stopped).and(removed)
    }
}

impl Prepared for PreparedProfile {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        let result = self.trial(cx);
        let result = self.with_server_words(result);
        let profile = Arc::clone(&self.profile);
        let after = match cx.cancel.is_cancelled() {
            true => Ok(()),
            false => self.runner(cx).all(&profile.after),
        };
        let trial = result?;
        after.map(|()| trial)
    }

    fn finish(mut self: Box<Self>, cx: &Context<'_>) -> Result<(), TestError> {
        self.tear_down(cx)
    }
}

fn driver_figure(measured: &Measured, name: &str) -> Result<Figure, String> {
    let driver = measured.driver.as_ref().ok_or("no driver ran")?;
    let value = driver.values.get(name).copied();
    value
        .and_then(Figure::new)
        .ok_or_else(|| format!("the driver gave no {name}"))
}

fn stream_of(extraction: &Extraction) -> Option<&Stream> {
    match extraction {
        Extraction::Pattern(pattern) => Some(&pattern.stream),
        Extraction::Json { stream, .. } => Some(stream),
        Extraction::Csv(csv) => Some(&csv.stream),
        Extraction::Process(_) | Extraction::Driver(_) | Extraction::Compute(_) => None,
    }
}

fn progress(cx: &Context<'_>, phase: &str) {
    (cx.progress)(Progress {
        phase: phase.to_owned(),
        ..Progress::default()
    });
}

/// The end of a log, kept with the trial.
fn keep_log(trial: &mut Trial, name: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let count = text.chars().count();
    let end: String = text.chars().skip(count.saturating_sub(LOG_LIMIT)).collect();
    let logs = trial
        .extra
        .entry("logs")
        .or_insert_with(|| serde_json::json!({}));
    if let Some(logs) = logs.as_object_mut() {
        logs.insert(name.to_owned(), end.into());
    }
}

/// Removes what the last trial left, the server's directory not.
fn empty(directory: &Path) -> Result<(), TestError> {
    let failed = |path: &Path, error| TestError::io("removing", path, error);
    let entries = std::fs::read_dir(directory).map_err(|error| failed(directory, error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(directory, error))?;
        let path = entry.path();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if entry.file_name() == SERVER {
            continue;
        }
        let removed = match is_directory {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
        removed.map_err(|error| failed(&path, error))?;
    }
    Ok(())
}

fn remove(directory: &Path) -> Result<(), TestError> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(TestError::io("removing", directory, error))
        }
        _ => Ok(()),
    }
}

//! `fathom matrix`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::files::read_text_limited;
use fathom_base::{Bytes, Clock, Nanos, SystemClock};
use fathom_matrix::{
    Cell, CellEnd, Configuration, DeviceFacts, DeviceSource, Discard, Found, MatrixEnd,
    MatrixError, MatrixFile, Session, Tools, Workspace, block_order, clean, consented, find,
    lacking,
};
use fathom_model::judge::judge_trial;
use fathom_model::{Case, Machine, Mount, RunEnd, Sink, TargetInfo, Trial};
use fathom_profiles::Profiles;
use fathom_runner::scratch::ProcessTable;
use fathom_runner::{
    Control, Monitor, Outcome, Plan, PlanRequest, Registry, ResumeOptions, RunError, Runner,
    Selection, entropy, run_id,
};
use fathom_store::Store;
use fathom_system::{MachineObserver, Root, Sensors};
use serde::Serialize;

use super::run::request::{Place, is_root, machine, named};
use crate::args::MatrixArgs;
use crate::describe::{about, wrapped};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::ProgressDisplay;
use crate::registry::{self, Tests};
use crate::settings::Settings;
use crate::signals;
use crate::trust::{self, Said};

/// The largest matrix file that is read.
const FILE_LIMIT: u64 = 1 << 20;
/// Columns of the words at the left.
const NAME: usize = 9;

/// Plans and carries out a matrix, or cleans up after one.
pub fn matrix(args: &MatrixArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    if args.clean {
        return cleaned(args, settings, printer);
    }
    let Some(path) = &args.file else {
        return Err(Failure::usage("which matrix?")
            .detail("expected a file: fathom matrix FILE.toml")
            .detail("or: fathom matrix --clean"));
    };
    let text = read_text_limited(path, FILE_LIMIT)?;
    let file = MatrixFile::parse(&path.display().to_string(), &text)?;
    let root = Root::system();
    let tools = Tools::new(&settings.search_path);
    let (found, facts) = find(&root, &file)?;
    let configurations = file.configurations(&facts)?;
    let store = Store::new(settings.data()?);
    let clock = Arc::new(SystemClock::new());
    let mut bench = Bench::new(
        &file,
        &store,
        &root,
        settings,
        printer,
        clock.clone(),
        args.quiet,
    )?;
    let head = Head::new(&file, &found, &facts, &configurations, &tools, &mut bench)?;
    match (args.dry_run && args.json, args.quiet) {
        (true, _) => printer.json(&head)?,
        (false, true) => {}
        (false, false) => printer.words(&head.text(settings.look.columns)),
    }
    if args.dry_run {
        return Ok(Exit::Good);
    }
    if !is_root() {
        return Err(MatrixError::NotRoot.into());
    }
    if !head.is_begun {
        consented(&root, &file, &found, &args.destroy)?;
    }
    signals::connect(&bench.control)?;
    let session = Session::open(
        fathom_matrix::Settings {
            root: &root,
            data: settings.data()?,
            tools: &tools,
            found: &found,
            consents: &args.destroy,
            now: clock.wall(),
            version: env!("CARGO_PKG_VERSION"),
            drawn_seed: head.seed,
        },
        &file,
        &configurations,
        &mut bench,
    )?;
    // Again: what a killed session left on the drives is gone now.
    consented(&root, &file, &found, &args.destroy)?;
    let end = session.run(&store, &mut bench)?;
    finished(&end, args, settings, printer)
}

fn cleaned(args: &MatrixArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let tools = Tools::new(&settings.search_path);
    let discard = match args.discard {
        true => Discard::Measured,
        false => Discard::Nothing,
    };
    let cleaned = clean(&Root::system(), settings.data()?, &tools, discard)?;
    for text in &cleaned.undone {
        printer.words(text);
    }
    printer.words(&match (cleaned.matrices.as_slice(), discard) {
        ([], _) => "there is no unfinished matrix".to_owned(),
        (names, Discard::Nothing) => format!(
            "{}: nothing is left that was made; fathom matrix FILE goes on",
            names.join(", ")
        ),
        (names, Discard::Measured) => format!("{}: gone", names.join(", ")),
    });
    Ok(Exit::Good)
}

fn finished(
    end: &MatrixEnd,
    args: &MatrixArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if let Some(result) = &end.result {
        match args.json {
            true => printer.bytes(&fathom_formats::native::write(result))?,
            false => printer.data(&fathom_report::text::show(
                result,
                super::show::options(settings.look),
            ))?,
        }
    }
    if let Some(name) = &end.saved_as {
        printer.words(&format!(
            "saved as {name}   fathom show {name} --by file-system   fathom export {name} --format html"
        ));
    }
    if end.unavailable > 0 {
        printer.words(&format!(
            "{} configurations cannot be built or measured here; their entries say why",
            end.unavailable
        ));
    }
    if end.failed > 0 {
        printer.words(&format!(
            "{} cells could not be built again after their first block",
            end.failed
        ));
    }
    if end.is_stopped {
        printer.words("stopped, and nothing is left that was made; the same command goes on");
    }
    let failed = end.result.as_ref().is_some_and(|result| {
        let mut trials = result.runs.iter().flat_map(|run| &run.trials);
        trials.any(|trial| trial.error.is_some())
    });
    Ok(match () {
        () if end.is_stopped => Exit::Partial,
        () if failed => Exit::Failed,
        () if end.unavailable + end.failed > 0 => Exit::Partial,
        () => Exit::Good,
    })
}

/// The plan, as `--dry-run --json` prints it.
#[derive(Serialize)]
struct Head {
    name: String,
    seed: u64,
    blocks: u32,
    is_begun: bool,
    cases: usize,
    /// All cells, without building; `None` where a case has no estimate.
    time_least: Nanos,
    time_most: Nanos,
    bytes_most: Bytes,
    erased: Vec<Erased>,
    configurations: Vec<Row>,
    /// Numbers of configurations, from 1, block by block.
    order: Vec<Vec<usize>>,
}

#[derive(Serialize)]
struct Erased {
    device: String,
    node: Option<PathBuf>,
    serial: Option<String>,
    model: String,
    size_bytes: u64,
}

#[derive(Serialize)]
struct Row {
    identifier: String,
    devices: Vec<String>,
    labels: std::collections::BTreeMap<String, String>,
    capacity_bytes: u64,
    lacking: Option<String>,
}

impl Head {
    fn new(
        file: &MatrixFile,
        found: &[Found],
        facts: &[DeviceFacts],
        configurations: &[Configuration],
        tools: &Tools,
        bench: &mut Bench<'_>,
    ) -> Result<Self, Failure> {
        let seed = file.seed.unwrap_or_else(entropy);
        let blocks = file.blocks;
        let mut head = Self {
            name: file.name.clone(),
            seed,
            blocks,
            is_begun: Workspace::is_begun(bench.settings.data()?, &file.name),
            cases: 0,
            time_least: Nanos::default(),
            time_most: Nanos::default(),
            bytes_most: Bytes::default(),
            erased: facts
                .iter()
                .map(|facts| erased(file, found, facts))
                .collect(),
            configurations: Vec::new(),
            order: (1..=blocks)
                .map(|block| block_order(seed, block, configurations.len()))
                .map(|order| order.into_iter().map(|number| number + 1).collect())
                .collect(),
        };
        for configuration in configurations {
            let lacking = lacking(bench.root, tools, configuration);
            if lacking.is_none() {
                let plan = bench.outlook(configuration)?;
                let times = u64::from(blocks);
                let scaled = |time: Nanos| Nanos::new(time.as_u64().saturating_mul(times));
                head.cases = head.cases.max(plan.totals.cases);
                head.time_least = head.time_least.plus(scaled(plan.totals.time_least));
                head.time_most = head.time_most.plus(scaled(plan.totals.time_most));
                let bytes = plan.totals.bytes_most.as_u64().saturating_mul(times);
                head.bytes_most = Bytes::new(head.bytes_most.as_u64().saturating_add(bytes));
            }
            head.configurations.push(Row {
                identifier: configuration.identifier.clone(),
                devices: configuration.devices.clone(),
                labels: configuration.labels.clone(),
                capacity_bytes: configuration.capacity_bytes,
                lacking,
            });
        }
        Ok(head)
    }

    fn text(&self, columns: usize) -> String {
        let mut text = String::new();
        let mut push = |name: &str, words: &str| {
            let body = wrapped(words, NAME, columns);
            text.push_str(&format!("{name:NAME$}{}", body.trim_start()));
        };
        push("matrix", &self.line());
        for (row, erased) in self.erased.iter().enumerate() {
            push(if row == 0 { "erases" } else { "" }, &erased.line());
        }
        for (row, configuration) in self.configurations.iter().enumerate() {
            let capacity = Bytes::new(configuration.capacity_bytes).rough();
            let line = format!(
                "{:>2} {} ({}, {capacity})",
                row + 1,
                configuration.identifier,
                configuration.devices.join(" + ")
            );
            push(if row == 0 { "builds" } else { "" }, &line);
        }
        let lacking = self.configurations.iter();
        let lacking = lacking.filter_map(|row| Some((row, row.lacking.as_ref()?)));
        for (place, (row, why)) in lacking.enumerate() {
            let name = if place == 0 { "not here" } else { "" };
            push(name, &format!("{}: {why}", row.identifier));
        }
        for (block, order) in self.order.iter().enumerate() {
            let order: Vec<String> = order.iter().map(usize::to_string).collect();
            let name = if block == 0 { "order" } else { "" };
            push(name, &format!("block {}: {}", block + 1, order.join(" ")));
        }
        if self.is_begun {
            push(
                "resumes",
                "it was begun before; what is measured is kept, in the order it was begun with",
            );
        }
        text
    }

    /// `epyc: 10 configurations x 3 blocks x 12 cases, about 2 h, at most 3 h (and building), writes at most 40 GB`
    fn line(&self) -> String {
        let (least, most) = (about(self.time_least), about(self.time_most));
        let time = match least == most {
            true => format!("about {least}"),
            false => format!("about {least}, at most {most}"),
        };
        format!(
            "{}: {} configurations x {} blocks x {} cases, {time} (without building), writes at most {}, seed {}",
            self.name,
            self.configurations.len(),
            self.blocks,
            self.cases,
            self.bytes_most.rough(),
            self.seed
        )
    }
}

impl Erased {
    fn line(&self) -> String {
        let size = Bytes::new(self.size_bytes).rough();
        match (&self.node, &self.serial) {
            (Some(node), Some(serial)) => format!(
                "everything on {} ({}, {size}, serial {serial}); to consent: --destroy '{serial}'",
                node.display(),
                self.model
            ),
            _ => format!(
                "nothing: {} is a loop file of {size}, removed at the end",
                self.device
            ),
        }
    }
}

fn erased(file: &MatrixFile, found: &[Found], facts: &DeviceFacts) -> Erased {
    let node = found.iter().find(|found| found.name == facts.name);
    let spec = file.devices.iter().find(|device| device.name == facts.name);
    let serial = spec.and_then(|device| match &device.source {
        DeviceSource::Serial(serial) => Some(serial.clone()),
        DeviceSource::Loop(_) => None,
    });
    Erased {
        device: facts.name.clone(),
        node: node.map(|found| found.node.clone()),
        serial,
        model: facts.model.clone(),
        size_bytes: facts.size_bytes,
    }
}

/// Measures what the matrix has built.
struct Bench<'a> {
    file: &'a MatrixFile,
    root: &'a Root,
    settings: &'a Settings,
    printer: &'a Printer,
    registry: Arc<Registry>,
    profiles: Profiles,
    selections: Vec<Selection>,
    /// Described once: it starts programs, and a matrix has many cells.
    machine: Machine,
    clock: Arc<SystemClock>,
    control: Control,
    is_quiet: bool,
}

impl<'a> Bench<'a> {
    fn new(
        file: &'a MatrixFile,
        store: &Store,
        root: &'a Root,
        settings: &'a Settings,
        printer: &'a Printer,
        clock: Arc<SystemClock>,
        is_quiet: bool,
    ) -> Result<Self, Failure> {
        let Tests { registry, profiles } = registry::tests(settings, &[])?;
        let suites = registry::suites(settings.suites.as_deref())?;
        let named = named(&file.suites, &suites, &registry, &profiles, store)?;
        Ok(Self {
            file,
            root,
            settings,
            printer,
            registry: Arc::new(registry),
            profiles,
            selections: named.selections,
            machine: machine(root, settings),
            clock,
            control: Control::default(),
            is_quiet,
        })
    }

    /// What measuring a configuration once will take, as if it were there.
    fn outlook(&self, configuration: &Configuration) -> Result<Plan, Failure> {
        let mut place = self.elsewhere()?;
        let size = configuration.capacity_bytes;
        place.host.target.mount = Some(Mount {
            point: place.host.target.path.clone(),
            file_system: configuration.file_system.kind.word().to_owned(),
            size_bytes: size,
            available_bytes: size,
            ..Mount::default()
        });
        let request = self.request(&place, configuration, "outlook", 0);
        let plan = Plan::build(&request, &self.registry, &place.host)?;
        // Before any drive is touched; `fathom run --trust` is where somebody agrees.
        let data = self.settings.data()?;
        let cases = &plan.header.cases;
        trust::check(cases, &self.profiles, data, Said::Nothing, self.printer)?;
        Ok(plan)
    }

    /// A place that is no configuration: the nearest directory of the data directory.
    fn elsewhere(&self) -> Result<Place, Failure> {
        let data = super::system::absolute(self.settings.data()?)?;
        let there = data.ancestors().find(|path| path.is_dir());
        let there = there.unwrap_or(Path::new("/")).to_path_buf();
        self.place(there)
    }

    fn place(&self, path: PathBuf) -> Result<Place, Failure> {
        Place::of(self.root, path, self.machine.clone(), self.settings)
    }

    fn request(
        &self,
        place: &Place,
        configuration: &Configuration,
        name: &str,
        seed: u64,
    ) -> PlanRequest {
        let started = self.clock.wall();
        let mut system = place.system(configuration.identifier.clone());
        system.labels.clone_from(&configuration.labels);
        PlanRequest {
            run_id: run_id(started, entropy()),
            seed,
            name: name.to_owned(),
            add_to: None,
            title: self.file.title.clone(),
            description: self.file.description.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started,
            target: place.path.clone(),
            scratch_parent: place.path.clone(),
            system,
            selections: self.selections.clone(),
            overrides: self.file.overrides.clone(),
            implementation: None,
            settings: self.file.run.clone(),
        }
    }

    /// Carries a plan out, or goes on with the run a killed session has begun.
    fn carry_out(
        &self,
        cell: &Cell<'_>,
        place: &Place,
        plan: Option<&Plan>,
    ) -> Result<Outcome, Failure> {
        let target = &place.host.target;
        let judge = |case: &Case, trial: &Trial| judge_trial(case, Some(target), trial);
        let runner = Runner {
            registry: Arc::clone(&self.registry),
            host: Arc::new(place.host.clone()),
            device: None,
            clock: self.clock.clone(),
            observer: Arc::new(MachineObserver::new(self.root, target)),
            monitor: Some(Monitor::new(
                Sensors::find(self.root, target),
                Nanos::from_secs(1),
            )),
            judge: &judge,
            control: self.control.clone(),
            processes: ProcessTable::new(Path::new("/")),
        };
        let keeper = registry::keeper(cell.store);
        let mut display = match (self.is_quiet, self.settings.draws_progress) {
            (true, _) => None,
            (false, true) => Some(ProgressDisplay::bars(self.clock.clone())),
            (false, false) => Some(ProgressDisplay::lines(
                self.clock.clone(),
                super::run::print_line,
            )),
        };
        let mut sinks: Vec<&mut dyn Sink> = Vec::new();
        if let Some(plan) = plan {
            sinks.extend(display.as_mut().map(|display| display as &mut dyn Sink));
            return Ok(runner.run_recorded(plan, &keeper, &mut sinks)?);
        }
        let begun = cell.store.unfinished(Some(cell.name.as_str()))?;
        if let Some(display) = &mut display {
            display.replay(&cell.store.read_journal(&begun.run_id)?.events);
            sinks.push(display);
        }
        let system = place.system(String::new());
        let options = ResumeOptions { salvage: false };
        Ok(runner.resume(&begun.run_id, &system, options, &keeper, &mut sinks)?)
    }

    fn measured(&self, cell: &Cell<'_>) -> Result<CellEnd, Failure> {
        let place = self.place(cell.point.clone())?;
        cell.store.sweep_runs()?;
        let runs = cell.store.runs()?;
        let is_begun = runs.iter().any(|run| run.name == cell.name.as_str());
        let plan = match is_begun {
            true => None,
            false => {
                let request =
                    self.request(&place, cell.configuration, cell.name.as_str(), cell.seed);
                Some(Plan::build(&request, &self.registry, &place.host)?)
            }
        };
        let outcome = self.carry_out(cell, &place, plan.as_ref())?;
        let is_hung = matches!(outcome.error, Some(RunError::Hung { .. }));
        if outcome.end == RunEnd::Aborted && outcome.saved_as.is_some() && !is_hung {
            // A full disk, for example, would be full again: what was measured stands, and the
            // other configurations have their turn.
            cell.store.discard_run(&outcome.run_id)?;
            let why = outcome
                .error
                .map_or_else(String::new, |error| error.to_string());
            let name = &cell.configuration.identifier;
            self.printer.words(&format!("{name}: ended early: {why}"));
            return Ok(CellEnd::Done);
        }
        match (outcome.end, outcome.error) {
            (RunEnd::Cancelled, _) => Ok(CellEnd::Stopped),
            (RunEnd::Complete, None) => Ok(CellEnd::Done),
            (_, Some(error)) => Err(error.into()),
            (RunEnd::Aborted, None) => Err(Failure::unmet("the run could not go on")),
        }
    }

    fn without(&self, cell: &Cell<'_>, reason: &str) -> Result<(), Failure> {
        let mut place = self.elsewhere()?;
        let mut request = self.request(&place, cell.configuration, cell.name.as_str(), cell.seed);
        place.host.target = TargetInfo::default();
        let labels = std::mem::take(&mut request.system.labels);
        request.system = place.system(cell.configuration.identifier.clone());
        request.system.target = None;
        request.system.labels = labels;
        let host = self.elsewhere()?.host;
        let mut plan = Plan::build(&request, &self.registry, &host)?;
        for planned in &mut plan.header.cases {
            planned.unavailable = Some(reason.to_owned());
        }
        self.carry_out(cell, &place, Some(&plan)).map(|_| ())
    }
}

impl fathom_matrix::Bench for Bench<'_> {
    fn measure(&mut self, cell: &Cell<'_>) -> Result<CellEnd, String> {
        self.measured(cell).map_err(|failure| failure.to_string())
    }

    fn unavailable(&mut self, cell: &Cell<'_>, reason: &str) -> Result<(), String> {
        self.without(cell, reason)
            .map_err(|failure| failure.to_string())
    }

    fn say(&mut self, text: &str) {
        if !self.is_quiet {
            self.printer.words(text);
        }
    }

    fn is_stopped(&self) -> bool {
        self.control.cancel.is_cancelled()
    }
}

impl From<MatrixError> for Failure {
    fn from(error: MatrixError) -> Self {
        match error {
            MatrixError::Base(error) => error.into(),
            MatrixError::Store(error) => error.into(),
            MatrixError::Refused(refusals) => refused(&refusals),
            error => {
                let exit = match &error {
                    MatrixError::File { .. }
                    | MatrixError::StrayConsent { .. }
                    | MatrixError::Changed { .. } => Exit::Usage,
                    MatrixError::Journal { .. } | MatrixError::Left { .. } => Exit::Failed,
                    _ => Exit::Unmet,
                };
                Self::from_text(exit, &error.to_string())
            }
        }
    }
}

fn refused(refusals: &[(String, fathom_system::Refusal)]) -> Failure {
    let failure = Failure::unmet("devices of this matrix are not touched");
    refusals.iter().fold(failure, |failure, (name, refusal)| {
        let text = format!("device {name}: {refusal}");
        text.lines().fold(failure, Failure::detail)
    })
}

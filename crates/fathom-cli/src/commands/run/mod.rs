//! `fathom run` and `fathom resume`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fathom_base::{Nanos, SystemClock};
use fathom_model::judge::judge_trial;
use fathom_model::{Case, Level, RunEnd, Sink, TargetKind, Trial};
use fathom_report::text::summary;
use fathom_runner::scratch::ProcessTable;
use fathom_runner::{Control, Monitor, Outcome, Plan, Registry, ResumeOptions, RunError, Runner};
use fathom_store::{Replay, Store};
use fathom_system::{DeviceGrant, MachineObserver, Refusal, Root, Sensors, check_device};

use crate::args::{ResumeArgs, RunArgs, RunOutputArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::progress::ProgressDisplay;
use crate::registry::{self, Tests};
use crate::settings::Settings;
use crate::signals;
use crate::trust::{self, Said};

mod head;
mod knee;
pub(super) mod request;

pub use knee::knee;
use request::Place;

/// Measures.
pub fn run(args: &RunArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    match measure(args, settings, printer)? {
        Some(outcome) => finished(&outcome, args.output, settings, printer),
        None => Ok(Exit::Good),
    }
}

/// Measures; nothing after a dry run, which has said what it would do.
fn measure(
    args: &RunArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Option<Outcome>, Failure> {
    let store = Store::new(settings.data()?);
    let files: Vec<PathBuf> = args
        .what
        .iter()
        .filter_map(|name| registry::profile_file(name))
        .collect();
    let Tests { registry, profiles } = registry::tests(settings, &files)?;
    let suites = registry::suites(settings.suites.as_deref())?;
    let root = Root::system();
    let clock = Arc::new(SystemClock::new());
    let named = match &args.own.command {
        Some(command) => request::own_command(command),
        None => request::named(&args.what, &suites, &registry, &profiles, &store)?,
    };
    let words = named.words.clone();
    let path = args.target.clone().unwrap_or_else(|| PathBuf::from("."));
    let place = Place::look(&root, super::system::absolute(&path)?, settings)?;
    if let Some(name) = &args.name {
        request::check_name(name, &suites, &registry)?;
    }
    let request = request::request(args, named, &place, &store, &*clock, settings)?;
    let plan = Plan::build(&request, &registry, &place.host)?;
    let target = &place.host.target;
    let consent = match args.dry_run {
        true => None,
        false => {
            let writes = plan.totals.bytes_most.as_u64() > 0;
            let said = args.destroy.as_deref();
            Some(Consent::check(&root, &place, said, writes)?)
        }
    };
    if args.dry_run && args.output.json {
        printer.json(&head::printed(&plan, target))?;
        return Ok(None);
    }
    if !args.output.quiet {
        let columns = settings.look.columns;
        printer.words(&head::text(&plan, &words, &place.machine, target, columns));
    }
    let Some(consent) = consent else {
        return Ok(None);
    };
    let said = match (args.own.trust, args.own.command.is_some()) {
        (_, true) => Said::Typed,
        (true, _) => Said::Trust,
        (false, false) => Said::Nothing,
    };
    trust::check(
        &plan.header.cases,
        &profiles,
        store.directory(),
        said,
        printer,
    )?;
    if plan.available().next().is_none() {
        return Err(unavailable(&plan, args.output));
    }
    make_scratch_parent(&place, &store)?;
    let session = Session {
        registry: Arc::new(registry),
        root: &root,
        place: &place,
        consent: &consent,
        clock,
        settings,
        output: args.output,
    };
    let keeper = registry::keeper(&store);
    let outcome = session.with_runner(None, |runner, sinks| {
        runner.run_recorded(&plan, &keeper, sinks)
    })?;
    Ok(Some(outcome))
}

/// Goes on with a run that was stopped or killed.
pub fn resume(args: &ResumeArgs, settings: &Settings, printer: &Printer) -> Result<Exit, Failure> {
    let store = Store::new(settings.data()?);
    let unfinished = store.unfinished(args.result.as_deref())?;
    let root = Root::system();
    let clock = Arc::new(SystemClock::new());
    let Tests { registry, profiles } = registry::tests(settings, &[])?;
    let place = Place::look(&root, PathBuf::from(&unfinished.target), settings)?;
    // Whether anything writes is in the journal; asking as if it did is the safe side.
    let consent = Consent::check(&root, &place, args.destroy.as_deref(), true)?;
    if !args.output.quiet {
        printer.words(&format!(
            "going on with {}: {} trials of {} cases done, target {}",
            unfinished.name, unfinished.trials, unfinished.cases, unfinished.target
        ));
    }
    let session = Session {
        registry: Arc::new(registry),
        root: &root,
        place: &place,
        consent: &consent,
        clock,
        settings,
        output: args.output,
    };
    let options = ResumeOptions {
        salvage: args.salvage,
    };
    let keeper = registry::keeper(&store);
    let replay = store.read_journal(&unfinished.run_id)?;
    if let Some(header) = replay.header() {
        let said = Said::Nothing;
        trust::check(&header.cases, &profiles, store.directory(), said, printer)?;
    }
    // Only its conditions are looked at.
    let system = place.system(String::new());
    let outcome = session.with_runner(Some(&replay), |runner, sinks| {
        runner.resume(&unfinished.run_id, &system, options, &keeper, sinks)
    })?;
    finished(&outcome, args.output, settings, printer)
}

/// The scratch directory of a block device is in the data directory, which may not exist yet.
fn make_scratch_parent(place: &Place, store: &Store) -> Result<(), Failure> {
    if place.host.target.kind != TargetKind::BlockDevice {
        return Ok(());
    }
    let parent = request::scratch_of_devices(store);
    std::fs::create_dir_all(&parent)
        .map_err(|error| Failure::unmet(format!("create directory {}: {error}", parent.display())))
}

/// What the user allowed to be overwritten besides the scratch directory. Holding it keeps others
/// from a block device.
enum Consent {
    /// Nothing.
    Scratch,
    /// A file: only read, or named by its path.
    File(PathBuf),
    /// A block device, named by its serial number, claimed.
    Device(DeviceGrant),
}

impl Consent {
    /// Checks what the user said against what the target is; `writes` says whether any case would
    /// write to it.
    fn check(
        root: &Root,
        place: &Place,
        said: Option<&str>,
        writes: bool,
    ) -> Result<Self, Failure> {
        let path = &place.path;
        match (place.host.target.kind, said) {
            (TargetKind::BlockDevice, said) => Ok(Self::Device(
                check_device(root, path, said).map_err(refused)?,
            )),
            (TargetKind::File, Some(said)) if Path::new(said) == path.as_path() => {
                Ok(Self::File(path.clone()))
            }
            (TargetKind::File, None) if !writes => Ok(Self::File(path.clone())),
            (TargetKind::File, _) => {
                let shown = path.display();
                Err(Failure::unmet(format!(
                    "target {shown} is a file that would be overwritten"
                ))
                .detail("name a directory to test in, or only cases that read")
                .detail(format!("if its content may be lost: --destroy {shown}")))
            }
            (TargetKind::Directory, None) => Ok(Self::Scratch),
            (TargetKind::Directory, Some(_)) => {
                let what = format!("--destroy: target {} is a directory", path.display());
                Err(Failure::usage(what)
                    .detail("leave it out: what is in a directory is never overwritten"))
            }
        }
    }

    /// What is tested instead of files in the scratch directory.
    fn device(&self) -> Option<PathBuf> {
        match self {
            Self::Scratch => None,
            Self::File(path) => Some(path.clone()),
            Self::Device(grant) => Some(grant.path.clone()),
        }
    }
}

fn refused(refusal: Refusal) -> Failure {
    let device = match refusal.device.as_str() {
        "" => String::new(),
        device => format!(" ({device})"),
    };
    let what = format!("{}{device} is not touched", refusal.path.display());
    let reasons = refusal.reasons.into_iter();
    reasons.fold(Failure::unmet(what), |failure, reason| {
        let failure = failure.detail(reason.text);
        match reason.advice.as_str() {
            "" => failure,
            advice => failure.detail(format!("  do: {advice}")),
        }
    })
}

/// Nothing can run: the reasons are the answer, unless the plan has just said them.
fn unavailable(plan: &Plan, output: RunOutputArgs) -> Failure {
    let failure = Failure::unmet("no case of this run is available here");
    match output.quiet {
        true => head::unavailable(plan)
            .into_iter()
            .fold(failure, Failure::detail),
        false => failure,
    }
}

/// What carries out plans on a target.
struct Session<'a> {
    registry: Arc<Registry>,
    root: &'a Root,
    place: &'a Place,
    consent: &'a Consent,
    clock: Arc<SystemClock>,
    settings: &'a Settings,
    output: RunOutputArgs,
}

impl Session<'_> {
    /// Hands a runner and the sinks to `carry_out`, with signals connected to the run.
    /// The progress display begins where the `replay` of a resumed run ends.
    fn with_runner(
        &self,
        replay: Option<&Replay>,
        carry_out: impl FnOnce(&Runner<'_>, &mut [&mut dyn Sink]) -> Result<Outcome, RunError>,
    ) -> Result<Outcome, Failure> {
        let target = &self.place.host.target;
        let judge = |case: &Case, trial: &Trial| judge_trial(case, Some(target), trial);
        let runner = Runner {
            registry: Arc::clone(&self.registry),
            host: Arc::new(self.place.host.clone()),
            device: self.consent.device(),
            clock: self.clock.clone(),
            observer: Arc::new(MachineObserver::new(self.root, target)),
            monitor: Some(Monitor::new(
                Sensors::find(self.root, target),
                Nanos::from_secs(1),
            )),
            judge: &judge,
            control: Control::default(),
            processes: ProcessTable::new(Path::new("/")),
        };
        signals::connect(&runner.control)?;
        let mut display = match (self.output.quiet, self.settings.draws_progress) {
            (true, _) => None,
            (false, true) => Some(ProgressDisplay::bars(self.clock.clone())),
            (false, false) => Some(ProgressDisplay::lines(self.clock.clone(), print_line)),
        };
        let mut sinks: Vec<&mut dyn Sink> = Vec::new();
        if let Some(display) = &mut display {
            display.replay(replay.map_or(&[], |replay| &replay.events));
            sinks.push(display);
        }
        Ok(carry_out(&runner, &mut sinks)?)
    }
}

/// A progress line; a stderr that is gone is nobody's problem.
pub(super) fn print_line(line: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The result, what to do next, and how it all went.
fn finished(
    outcome: &Outcome,
    output: RunOutputArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if let (0, Some(error)) = (outcome.counts.trials, &outcome.error) {
        return Err(ended_by(error));
    }
    if let Some(result) = &outcome.result {
        match output.json {
            true => printer.bytes(&fathom_formats::native::write(result))?,
            false => printer.data(&summary(result, super::show::options(settings.look)))?,
        }
    }
    if let Some(error) = &outcome.error {
        printer.words(&ended_by(error).to_string());
    }
    printer.words(&hints(outcome));
    Ok(exit_of(outcome))
}

fn ended_by(error: &RunError) -> Failure {
    Failure::from_text(Exit::Unmet, &error.to_string())
}

/// What can be done now.
fn hints(outcome: &Outcome) -> String {
    let has_doubts = outcome.result.as_ref().is_some_and(|result| {
        let entries = result.results.iter().flat_map(|record| &record.entries);
        let mut levels = entries.map(|entry| entry.verdict.level);
        levels.any(|level| level > Level::Valid)
    });
    let mut lines = Vec::new();
    if let Some(name) = &outcome.saved_as {
        let explain = match has_doubts {
            true => "   fathom explain latest",
            false => "",
        };
        lines.push(format!("saved as {name}   fathom show latest{explain}"));
    }
    let counts = outcome.counts;
    if counts.failed_trials > 0 {
        lines.push(format!(
            "{} of {} trials failed; the errors are in the result",
            counts.failed_trials, counts.trials
        ));
    }
    lines.extend(after_stop(outcome));
    lines.join("\n")
}

/// What is left of a run that did not come to its end. Without a trial nothing is: its journal is
/// gone too.
fn after_stop(outcome: &Outcome) -> Option<String> {
    let is_kept = outcome.counts.trials > 0;
    let line = match (outcome.end, is_kept) {
        (RunEnd::Complete, _) => return None,
        (_, false) => "stopped before the first trial ended; nothing was kept",
        (RunEnd::Cancelled, true) => "stopped; fathom resume goes on",
        (RunEnd::Aborted, true) => {
            "ended early; what was measured is kept, and fathom resume goes on"
        }
    };
    Some(line.to_owned())
}

/// A run that could not go on, then one with failed trials, then one that lacks something.
fn exit_of(outcome: &Outcome) -> Exit {
    let counts = outcome.counts;
    match outcome.end {
        _ if outcome.error.is_some() && counts.trials == 0 => Exit::Unmet,
        RunEnd::Complete if outcome.error.is_some() => Exit::Failed,
        RunEnd::Complete if counts.failed_trials > 0 => Exit::Failed,
        RunEnd::Complete if counts.unavailable > 0 => Exit::Partial,
        RunEnd::Complete => Exit::Good,
        RunEnd::Cancelled | RunEnd::Aborted => Exit::Partial,
    }
}

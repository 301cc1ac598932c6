//! From the command line to a plan.

use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use fathom_base::{Bytes, Clock};
use fathom_model::merge::system_difference;
use fathom_model::{Host, ImplementationKind, Machine, ResultFile, System, TargetInfo, nearest};
use fathom_profiles::Profiles;
use fathom_profiles::profile::Profile;
use fathom_runner::suite::{Suite, Suites};
use fathom_runner::{
    Override, PlanRequest, Registry, RunSettings, Selection, entropy, run_id, scratch_parent,
};
use fathom_store::{ResultName, Store, default_name};
use fathom_system::{DescribeOptions, Root, describe, resolve_target, system_fields};

use crate::args::{ImplementationArg, LimitArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::results;
use crate::settings::Settings;

/// What `fathom run` takes when nothing is named.
const DEFAULT_SUITE: &str = "quick";

/// The machine and the target, as they were found.
pub struct Place {
    /// The target as the user named it, absolute.
    pub path: PathBuf,
    /// The machine.
    pub machine: Machine,
    /// What tests may know of both.
    pub host: Host,
}

impl Place {
    /// Looks at the machine and follows the target to its drives.
    ///
    /// # Errors
    /// When the target does not exist or is nothing I/O can be measured on.
    pub fn look(root: &Root, path: PathBuf, settings: &Settings) -> Result<Self, Failure> {
        // Before the machine is described, which takes longer.
        resolve_target(root, &path)?;
        Self::of(root, path, machine(root, settings), settings)
    }

    /// Likewise, of a machine that was described before.
    ///
    /// # Errors
    /// As [`Place::look`].
    pub fn of(
        root: &Root,
        path: PathBuf,
        machine: Machine,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let target = resolve_target(root, &path)?;
        let host = Host {
            memory: Bytes::new(machine.memory.total_bytes),
            cpus: machine.cpu.threads,
            is_root: is_root(),
            search_path: settings.search_path.clone(),
            target,
        };
        Ok(Self {
            path,
            machine,
            host,
        })
    }

    /// This system under an identifier.
    pub fn system(&self, identifier: String) -> System {
        let fields = system_fields(&self.machine, &self.host.target);
        System {
            identifier,
            hardware: fields.hardware,
            software: fields.software,
            notes: fields.notes,
            client: format!("Fathom {}", env!("CARGO_PKG_VERSION")),
            machine: Some(Box::new(self.machine.clone())),
            target: Some(Box::new(self.host.target.clone())),
            ..System::default()
        }
    }

    /// `Samsung SSD 970 EVO 250GB ext4`: the drives, else the processor, and the file system. Never
    /// the host name.
    pub fn default_identifier(&self) -> String {
        let target = &self.host.target;
        let mut parts = vec![subject(target).unwrap_or_else(|| self.machine.cpu.model.clone())];
        if let Some(mount) = &target.mount {
            parts.push(mount.file_system.clone());
        }
        parts.retain(|part| !part.is_empty());
        match parts.is_empty() {
            true => "this system".to_owned(),
            false => parts.join(" "),
        }
    }
}

/// This machine, with the versions of its compilers and interpreters.
pub fn machine(root: &Root, settings: &Settings) -> Machine {
    let options = DescribeOptions {
        search_path: Some(settings.search_path.clone()),
        reveals_serials: false,
    };
    describe(root, &options)
}

/// The drives in words: `Samsung SSD 970 EVO 250GB`, `2 x ...`; the memory a target is.
fn subject(target: &TargetInfo) -> Option<String> {
    if let Some(memory) = &target.memory {
        return Some(format!("memory ({})", memory.0));
    }
    let models: Vec<&str> = target
        .drives
        .iter()
        .filter_map(|drive| drive.model.as_deref())
        .collect();
    let first = *models.first()?;
    Some(match models.len() {
        1 => first.to_owned(),
        count if models.iter().all(|model| *model == first) => format!("{count} x {first}"),
        _ => models.join(" + "),
    })
}

/// Whether we are root.
pub fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0)
}

/// What was named on the command line.
pub struct Named {
    /// The selections, in order.
    pub selections: Vec<Selection>,
    /// The result this run is added to, with its content.
    pub add_to: Option<(ResultName, ResultFile)>,
    /// For the name of the result: `quick`, `io-sqlite`.
    pub words: String,
}

/// Finds out what each name means: a suite, a test or a result, in this order.
///
/// # Errors
/// The nearest name for one that means nothing.
pub fn named(
    what: &[String],
    suites: &Suites,
    registry: &Registry,
    profiles: &Profiles,
    store: &Store,
) -> Result<Named, Failure> {
    let default = [DEFAULT_SUITE.to_owned()];
    let what = match what.is_empty() {
        true => &default,
        false => what,
    };
    let mut named = Named {
        selections: Vec::new(),
        add_to: None,
        words: what.join("-"),
    };
    for name in what {
        if suites.has(name) {
            named
                .selections
                .push(Selection::Suite(suite(suites, name)?));
        } else if registry.find(name, None).is_some() {
            named.selections.push(Selection::Test(name.clone()));
        } else if let Some(file) = crate::registry::profile_file(name) {
            let profile = Profile::read(&file)?;
            if what.len() == 1 {
                named.words.clone_from(&profile.id);
            }
            named.selections.push(Selection::Test(profile.id));
        } else if let Some((_, error)) = profiles.broken().find(|(broken, _)| broken == name) {
            return Err(Failure::from_text(Exit::Usage, &error.to_string()));
        } else {
            let loaded = match results::load(store, name) {
                Ok(loaded) => loaded,
                Err(failure) => return Err(unknown(name, failure, suites, registry, store)),
            };
            add_result(&mut named, loaded, what.len())?;
        }
    }
    Ok(named)
}

/// A suite by its name, or why its file cannot be used.
fn suite(suites: &Suites, name: &str) -> Result<Suite, Failure> {
    if let Some(suite) = suites.get(name) {
        return Ok(suite.clone());
    }
    let broken = suites.broken().find(|(broken, _)| *broken == name);
    Err(broken.map_or_else(
        || Failure::usage(format!("there is no suite named {name}")),
        |(_, error)| Failure::from_text(Exit::Usage, &error.to_string()),
    ))
}

fn add_result(named: &mut Named, loaded: results::Loaded, count: usize) -> Result<(), Failure> {
    let cases = loaded.file.cases.clone();
    if cases.is_empty() {
        let what = format!(
            "result {} has no cases that could be run again",
            loaded.name
        );
        return Err(Failure::usage(what));
    }
    named.selections.push(Selection::Cases(cases));
    match loaded.saved {
        // One saved result: this system is added to it. Else a result of its own is made.
        Some(name) if count == 1 => {
            named.words = name.to_string();
            named.add_to = Some((name, loaded.file));
        }
        _ => {
            let stem = std::path::Path::new(&loaded.name).file_stem();
            named.words = stem.unwrap_or_default().to_string_lossy().into_owned();
        }
    }
    Ok(())
}

/// Refuses to name a result like a suite or a test: `fathom run NAME` would never mean the result.
///
/// # Errors
/// Says what has the name.
pub fn check_name(name: &str, suites: &Suites, registry: &Registry) -> Result<(), Failure> {
    let taken = match () {
        () if suites.has(name) => "suite",
        () if registry.find(name, None).is_some() => "test",
        () => return Ok(()),
    };
    Err(
        Failure::usage(format!("--name {name}: there is a {taken} of this name"))
            .detail("fathom run would take the name for it; choose another"),
    )
}

/// A place instead of something to measure there.
fn misplaced(name: &str) -> Option<Failure> {
    let kind = std::fs::metadata(name).ok()?.file_type();
    let what = match () {
        () if kind.is_dir() => "a directory",
        () if kind.is_block_device() => "a block device",
        () => return None,
    };
    Some(
        Failure::usage(format!(
            "{name} is {what}; expected a suite, a test or a result"
        ))
        .detail(format!("to measure it: fathom run --target {name}")),
    )
}

/// The failure for a name that means nothing: a path keeps its own.
fn unknown(
    name: &str,
    failure: Failure,
    suites: &Suites,
    registry: &Registry,
    store: &Store,
) -> Failure {
    if let Some(failure) = misplaced(name) {
        return failure;
    }
    if name.contains('/') || failure.exit != Exit::Usage || name == "latest" {
        return failure;
    }
    let saved = store.names().unwrap_or_default();
    let known = suites
        .iter()
        .map(|suite| suite.name.as_str())
        .chain(registry.names())
        .chain(saved.iter().map(ResultName::as_str));
    Failure::usage(format!(
        "there is no suite, test or saved result named {name}"
    ))
    .nearest(nearest(name, known).as_deref())
    .detail("fathom list shows all of them")
}

/// Everything that is said about a run, resolved.
///
/// # Errors
/// A name that cannot be used, or a limit that cannot be understood.
pub fn request(
    args: &RunArgs,
    named: Named,
    place: &Place,
    store: &Store,
    clock: &dyn Clock,
    settings: &Settings,
) -> Result<PlanRequest, Failure> {
    let started = clock.wall();
    let identifier = identifier(args, place, named.add_to.as_ref());
    let run_id = run_id(started, entropy());
    let name = match (&args.name, &named.add_to) {
        (Some(name), _) => free(store, &ResultName::new(name)?)?,
        (None, Some((name, _))) => name.clone(),
        (None, None) => {
            let name = default_name(started, &settings.zone, &named.words);
            store.fresh_name(&name)?
        }
    };
    let elsewhere = scratch_of_devices(store);
    Ok(PlanRequest {
        seed: args.seed.unwrap_or_else(entropy),
        name: name.to_string(),
        add_to: named
            .add_to
            .filter(|_| args.name.is_none())
            .map(|(name, _)| name.to_string()),
        title: args.title.clone().unwrap_or_default(),
        description: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        target: place.path.clone(),
        scratch_parent: scratch_parent(&place.host.target, &elsewhere),
        system: place.system(identifier),
        selections: named.selections,
        overrides: overrides(args)?,
        implementation: args.implementation.map(kind),
        settings: limits(&args.limits)?,
        run_id,
    })
}

/// Where a run on a block device keeps its scratch directory.
pub fn scratch_of_devices(store: &Store) -> PathBuf {
    store.directory().join("scratch")
}

/// A name the user chose is used as it is, or not at all.
fn free(store: &Store, name: &ResultName) -> Result<ResultName, Failure> {
    let fresh = store.fresh_name(name)?;
    match fresh == *name {
        true => Ok(fresh),
        false => Err(
            Failure::usage(format!("there is a result named {name} already"))
                .detail(format!("{fresh} is free")),
        ),
    }
}

/// The name of this system. In a result that has a system of this name measured elsewhere or under
/// other conditions, it gets a number: what differs is not pooled.
fn identifier(args: &RunArgs, place: &Place, add_to: Option<&(ResultName, ResultFile)>) -> String {
    let base = args
        .system
        .clone()
        .unwrap_or_else(|| place.default_identifier());
    let Some((_, file)) = add_to.filter(|_| args.system.is_none()) else {
        return base;
    };
    let here = place.system(base.clone());
    let fits = |name: &String| match file.system(name) {
        None => true,
        Some(known) => is_same(known, &here),
    };
    let numbered = (2..1000).map(|number| format!("{base} ({number})"));
    std::iter::once(base.clone())
        .chain(numbered)
        .find(fits)
        .unwrap_or(base)
}

/// Same machine and configuration, same kind of target: trials may be pooled.
fn is_same(known: &System, here: &System) -> bool {
    system_difference(known, here).is_none()
}

/// The test `command` with what it runs, for `--command`.
pub fn own_command(command: &str) -> Named {
    let program = command.split_whitespace().next().unwrap_or("command");
    let program = std::path::Path::new(program)
        .file_name()
        .unwrap_or_default();
    let plain: String = program
        .to_string_lossy()
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .collect();
    Named {
        selections: vec![Selection::Test(fathom_profiles::OWN_COMMAND.to_owned())],
        add_to: None,
        words: if plain.is_empty() {
            "command".to_owned()
        } else {
            plain
        },
    }
}

/// What the command line says over options: `-o`, and the words of `--command`.
fn overrides(args: &RunArgs) -> Result<Vec<Override>, Failure> {
    let mut all: Vec<Override> = args.options.iter().map(over).collect();
    let Some(command) = &args.own.command else {
        return Ok(all);
    };
    let mut say = |name: &str, value: String| {
        all.push(Override {
            test: Some(fathom_profiles::OWN_COMMAND.to_owned()),
            name: name.to_owned(),
            values: vec![value],
        });
    };
    let here = std::env::current_dir().unwrap_or_default();
    let full = |words: &str| match args.own.shell {
        true => Ok(words.to_owned()),
        false => fathom_profiles::with_full_paths(words, &here).map_err(Failure::usage),
    };
    say("command", full(command)?);
    if args.own.shell {
        say("shell", "yes".to_owned());
    }
    if let Some(before) = &args.own.before {
        say("before", full(before)?);
    }
    if !args.own.metrics.is_empty() {
        let metrics = fathom_profiles::joined_metrics(&args.own.metrics);
        say("metrics", metrics.map_err(Failure::usage)?);
    }
    Ok(all)
}

fn over(option: &crate::args::OptionArg) -> Override {
    Override {
        test: option.test.clone(),
        name: option.name.clone(),
        values: option.values.clone(),
    }
}

fn kind(implementation: ImplementationArg) -> ImplementationKind {
    match implementation {
        ImplementationArg::Native => ImplementationKind::Native,
        ImplementationArg::Program => ImplementationKind::Program,
    }
}

fn limits(args: &LimitArgs) -> Result<RunSettings, Failure> {
    let mut settings = RunSettings::default();
    for (name, value) in [
        ("goal", &args.goal),
        ("min-trials", &args.min_trials),
        ("max-trials", &args.max_trials),
        ("budget", &args.budget),
        ("case-budget", &args.case_budget),
        ("write-limit", &args.write_limit),
        ("trial-limit", &args.trial_limit),
    ] {
        if let Some(value) = value {
            settings.set(name, value)?;
        }
    }
    Ok(settings)
}

//! A profile as a test.

mod prepared;
mod steps;
mod values;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use fathom_base::{Bytes, Nanos};
use fathom_model::{
    Case, Context, Estimate, Host, Implementation, ImplementationKind, Metric, OptionError,
    Prepared, TargetKind, Test, TestError, TestInfo, Unmet,
};

use crate::intern::interned;
use crate::locate::version_of;
use crate::profile::{Expression, Extraction, MetricSpec, Profile, TargetNeed, all_hold};
use crate::service;

use prepared::PreparedProfile;
pub(crate) use steps::{ended, tail};
pub(crate) use values::CaseValues;

/// What a trial is said to take when the profile says nothing.
const TRIAL: Nanos = Nanos::from_secs(10);

/// A test that carries out what a profile says.
#[derive(Debug)]
pub struct ProfileTest {
    profile: Arc<Profile>,
    way: Way,
    search_path: OsString,
    found: OnceLock<Option<FoundProgram>>,
}

/// How the measured part is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the program.
    Program,
    /// By the built-in driver.
    Driver,
}

/// The program of a profile.
#[derive(Clone, Debug)]
struct FoundProgram {
    version: String,
}

impl ProfileTest {
    /// The tests of a profile: by its program, and by its driver when it has one. Programs are
    /// looked up in `search_path` when they are first needed.
    pub fn of(profile: &Arc<Profile>, search_path: &OsStr) -> Vec<Self> {
        let test = |way| Self {
            profile: Arc::clone(profile),
            way,
            search_path: search_path.to_owned(),
            found: OnceLock::new(),
        };
        let run = &profile.run;
        let program = run.program.is_some().then(|| test(Way::Program));
        let driver = run.driver.is_some().then(|| test(Way::Driver));
        let mut all: Vec<Self> = program.into_iter().chain(driver).collect();
        // Where the program is not, the driver is preferred.
        let lacks = |test: &Self| test.way == Way::Program && !test.program_is_here();
        if let [first, second] = &all[..]
            && lacks(first)
            && second.driver_is_built()
        {
            all.swap(0, 1);
        }
        all
    }

    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    fn program_is_here(&self) -> bool {
        let spec = self.profile.program.as_ref();
        spec.is_none_or(|spec| spec.locate(&self.search_path).is_some())
    }

    fn driver_is_built(&self) -> bool {
        let driver = self.profile.run.driver.as_ref();
        driver.is_some_and(|driver| crate::hook::is_built(&driver.name))
    }

    fn found(&self) -> Option<&FoundProgram> {
        let find = || {
            let Some(spec) = &self.profile.program else {
                return Some(FoundProgram {
                    version: String::new(),
                });
            };
            let path = spec.locate(&self.search_path)?;
            let version = spec.version.as_ref();
            let version = version.map_or_else(String::new, |spec| version_of(&path, spec));
            Some(FoundProgram { version })
        };
        self.found.get_or_init(find).as_ref()
    }

    fn implementation(&self) -> Implementation {
        let hash = &self.profile.work_hash;
        match self.way {
            Way::Program => {
                let name = self.profile.program.as_ref();
                let version = match self.found() {
                    None => String::new(),
                    Some(found) if found.version.is_empty() => hash.clone(),
                    Some(found) => format!("{}+{hash}", found.version),
                };
                Implementation {
                    kind: ImplementationKind::Program,
                    name: name.map_or_else(|| self.profile.id.clone(), |spec| spec.name.clone()),
                    version,
                }
            }
            Way::Driver => Implementation {
                kind: ImplementationKind::Native,
                name: "fathom".to_owned(),
                version: format!("{}+{hash}", self.profile.version),
            },
        }
    }

    fn values<'a>(&'a self, host: &'a Host, case: &'a Case) -> CaseValues<'a> {
        CaseValues {
            profile: &self.profile,
            case,
            host,
            directory: Path::new(&host.target.path),
            device: None,
            service: None,
            trial: 0,
        }
    }

    fn missing_programs(&self, host: &Host, values: &CaseValues<'_>) -> Vec<Unmet> {
        let own = self.profile.program.iter();
        let own = own.filter(|_| self.way == Way::Program);
        own.chain(&self.profile.needs.programs)
            .filter(|spec| all_hold(&spec.when, values.case))
            .filter(|spec| spec.locate(&host.search_path).is_none())
            .map(|spec| need(format!("{} is not installed", spec.name), &spec.hint))
            .collect()
    }

    fn missing_files(&self, values: &CaseValues<'_>) -> Vec<Unmet> {
        let lookup = |name: &str| values.value(name);
        let files = self.profile.needs.files.iter();
        files
            .filter(|file| all_hold(&file.when, values.case))
            .filter_map(|file| {
                let path = file.path.filled(&lookup).ok()?;
                // A path may hold a `*`: any one will do.
                let is_there = !crate::locate::matching(&path).is_empty();
                let what = match path.as_str() {
                    "none" => "no file is named".to_owned(),
                    path => format!("{path} does not exist"),
                };
                (!is_there).then(|| need(what, &file.hint))
            })
            .collect()
    }

    fn wrong_target(&self, host: &Host) -> Option<Unmet> {
        let is_device = host.target.kind == TargetKind::BlockDevice;
        match (self.profile.needs.target, host.target.kind) {
            (TargetNeed::Directory, TargetKind::Directory) => None,
            (TargetNeed::Device, _) if is_device => None,
            (TargetNeed::Directory, _) => Some(need(
                format!("{} is not a directory", host.target.path),
                "name a directory on the file system to test",
            )),
            (TargetNeed::Device, _) => Some(need(
                format!("{} is no block device", host.target.path),
                "name a device as target",
            )),
        }
    }

    fn missing_service(&self, host: &Host, case: &Case) -> Option<Unmet> {
        let spec = self.profile.service.as_ref()?;
        match service::find(
            spec.kind,
            case.options.get(service::SERVER),
            &host.search_path,
        ) {
            Ok(found) => found.unfit(host, spec),
            Err(unmet) => Some(unmet),
        }
    }

    fn missing_driver(&self) -> Option<Unmet> {
        let driver = self.profile.run.driver.as_ref()?;
        (self.way == Way::Driver)
            .then(|| crate::hook::unmet(&driver.name))
            .flatten()
    }
}

fn need(what: impl Into<String>, hint: &str) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.to_owned(),
    }
}

impl Test for ProfileTest {
    fn id(&self) -> &'static str {
        interned(&self.profile.id)
    }

    fn info(&self) -> TestInfo {
        TestInfo {
            id: interned(&self.profile.id),
            title: interned(&self.profile.title),
            summary: interned(&self.profile.summary),
            version: self.profile.version.clone(),
            implementation: self.implementation(),
            options: self
                .profile
                .options
                .iter()
                .map(|option| option.info.clone())
                .collect(),
        }
    }

    fn complete(&self, mut case: Case) -> Result<Case, OptionError> {
        if let Some(spec) = &self.profile.service {
            let asked = case.options.get(service::SERVER);
            let found = service::find(spec.kind, asked, &self.search_path);
            let version = found.map_or_else(|_| "none".to_owned(), |found| found.version);
            case.options.set(service::SERVER_VERSION, version);
        }
        for option in self.profile.options.iter().filter(|option| option.is_file) {
            let named = case.options.get(option.info.name).unwrap_or_default();
            let found = crate::locate::matching(named).into_iter().next();
            let name = found.as_deref().and_then(Path::file_name);
            let name = name.map_or("none".into(), |name| name.to_string_lossy().into_owned());
            case.options.set(format!("{}-file", option.info.name), name);
        }
        let outside: Vec<&str> = self
            .profile
            .options
            .iter()
            .filter(|option| !option.identifies)
            .map(|option| option.info.name)
            .collect();
        if self.profile.service.is_some() || !outside.is_empty() {
            case.identify(&self.info(), &outside)?;
        }
        Ok(case)
    }

    fn metrics(&self, case: &Case) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for spec in metrics_of(&self.profile, self.way, case) {
            if !metrics.iter().any(|known| known.id == spec.metric.id) {
                metrics.push(spec.metric.clone());
            }
        }
        let has_primary = metrics.iter().any(|metric| metric.is_primary);
        if let (false, Some(first)) = (has_primary, metrics.first_mut()) {
            first.is_primary = true;
            first.steers = true;
        }
        metrics
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let values = self.values(host, case);
        let mut unmet = self.missing_programs(host, &values);
        unmet.extend(self.missing_files(&values));
        unmet.extend(self.missing_driver());
        unmet.extend(self.wrong_target(host));
        if self.profile.needs.root && !host.is_root {
            unmet.push(need("root is needed", "run as root"));
        }
        unmet.extend(self.missing_service(host, case));
        let space = number(self.profile.needs.space.as_ref(), &values);
        let space = Bytes::new(space.unwrap_or(0.0) as u64);
        unmet.extend(crate::needs::need_room(host, space));
        unmet
    }

    fn estimate(&self, host: &Host, case: &Case) -> Result<Estimate, TestError> {
        let values = self.values(host, case);
        let spec = &self.profile.estimate;
        let bytes = |expression| Bytes::new(number(expression, &values).unwrap_or(0.0) as u64);
        let time = |expression, otherwise: Nanos| {
            let seconds: Option<f64> = number(expression, &values);
            seconds.map_or(otherwise, |seconds| Nanos::new((seconds * 1e9) as u64))
        };
        Ok(Estimate {
            trial_time: time(spec.trial.as_ref(), TRIAL),
            prepare_time: time(spec.prepare.as_ref(), Nanos::new(0)),
            trial_bytes: bytes(spec.trial_bytes.as_ref()),
            prepare_bytes: bytes(spec.prepare_bytes.as_ref()),
            space: bytes(self.profile.needs.space.as_ref()),
            exclusive: self.profile.service.is_some(),
            ..Estimate::default()
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let prepared = PreparedProfile::prepare(&self.profile, self.way, case, cx)?;
        Ok(Box::new(prepared))
    }
}

/// The metrics that a case yields, carried out this way: a driver those it measures, a program all
/// others, both what is computed of them.
pub(crate) fn metrics_of<'a>(
    profile: &'a Profile,
    way: Way,
    case: &Case,
) -> impl Iterator<Item = &'a MetricSpec> {
    let all = profile.metrics.iter();
    let held: Vec<&MetricSpec> = all.filter(|spec| all_hold(&spec.when, case)).collect();
    held.into_iter().filter(move |spec| match &spec.extraction {
        Extraction::Driver(_) => way == Way::Driver,
        Extraction::Compute(_) => true,
        _ => way == Way::Program,
    })
}

/// A number that is not negative.
fn number(expression: Option<&Expression>, values: &CaseValues<'_>) -> Option<f64> {
    let value = expression?.value(&|name| values.number(name)).ok()?;
    Some(value.max(0.0))
}

impl Profile {
    /// What the program's metrics of a case are in a saved log; times of the process, which no log
    /// tells, are left out.
    pub fn read_log(
        &self,
        case: &Case,
        log: &str,
    ) -> Vec<(Metric, Result<fathom_model::Figure, String>)> {
        let outputs = crate::profile::Outputs::of_log(log);
        let is_in_log = |spec: &&MetricSpec| {
            !matches!(
                spec.extraction,
                Extraction::Process(_) | Extraction::Compute(_) | Extraction::Driver(_)
            )
        };
        metrics_of(self, Way::Program, case)
            .filter(is_in_log)
            .map(|spec| {
                // Whatever stream or file it comes from, the log stands for it.
                let figure = spec.extraction.figure(&outputs.for_stream(spec));
                (spec.metric.clone(), figure)
            })
            .collect()
    }
}

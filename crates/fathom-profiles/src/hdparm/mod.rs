//! Test `hdparm-read` carried out by the installed `hdparm` program: `hdparm -t DEVICE`.
//!
//! It reads block devices only, and its times are fixed: other choices are unmet needs. It prints
//! one figure, so there are no histograms; what the machine did is watched over the whole program,
//! its three quiet seconds and the flush at its end included.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fathom_base::process::{End, Finished, Program, find_program, run};
use fathom_base::{Bytes, Cancel, Nanos};
use fathom_model::definition::hdparm_read::{self as definition, HdparmMeasured, HdparmSettings};
use fathom_model::{
    Case, Context, DataEvidence, DurabilityEvidence, Estimate, Evidence, Host, Implementation,
    ImplementationKind, Metric, Prepared, Progress, TargetKind, Test, TestError, TestInfo, Trial,
    Unmet,
};

use crate::found::OnceFound;

/// What the program waits and reads; neither can be chosen.
const FIXED: Nanos = Nanos::from_secs(3);
/// Unit of `--offset`.
const GIB: u64 = 1 << 30;
/// Output that is kept: it prints three lines.
const OUTPUT_LIMIT: usize = 64 << 10;

/// Test `hdparm-read` by hdparm; see the module's description.
#[derive(Debug)]
pub struct HdparmTest {
    found: OnceFound<Hdparm>,
}

/// The program.
#[derive(Clone, Debug)]
struct Hdparm {
    path: PathBuf,
    /// `9.65`.
    version: String,
}

impl HdparmTest {
    /// The test; hdparm is looked up in `search_path`, then where system programs are, when it is
    /// first needed.
    pub fn new(search_path: &OsStr) -> Self {
        Self {
            found: OnceFound::new(search_path),
        }
    }

    fn hdparm(&self) -> Option<&Hdparm> {
        self.found.get(Hdparm::find)
    }
}

impl Hdparm {
    fn find(search_path: &OsStr) -> Option<Self> {
        let system = OsString::from("/usr/sbin:/sbin");
        // An empty search path is a wish to find nothing.
        let path = find_program("hdparm", search_path).or_else(|| {
            (!search_path.is_empty())
                .then(|| find_program("hdparm", &system))
                .flatten()
        })?;
        let mut program = Program::new(&path).args(["-V"]);
        program.timeout = Nanos::from_secs(20);
        let finished = run(&program, &Cancel::new()).ok()?;
        let version = version_of(&finished.stdout_text())?;
        finished.is_success().then_some(Self { path, version })
    }
}

/// `9.65` from `hdparm v9.65`.
fn version_of(text: &str) -> Option<String> {
    let version = text.trim().strip_prefix("hdparm v")?;
    let is_plain = !version.is_empty()
        && version.len() <= 32
        && version.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_plain.then(|| version.to_owned())
}

impl Test for HdparmTest {
    fn id(&self) -> &'static str {
        definition::ID
    }

    fn info(&self) -> TestInfo {
        let version = self.hdparm().map(|found| found.version.clone());
        TestInfo {
            id: definition::ID,
            title: definition::TITLE,
            summary: definition::SUMMARY,
            version: definition::VERSION.to_owned(),
            implementation: Implementation {
                kind: ImplementationKind::Program,
                name: "hdparm".to_owned(),
                version: version.unwrap_or_default(),
            },
            options: definition::options(),
        }
    }

    fn metrics(&self, _case: &Case) -> Vec<Metric> {
        definition::metrics()
    }

    fn check(&self, host: &Host, case: &Case) -> Vec<Unmet> {
        let settings = match HdparmSettings::from_case(case) {
            Ok(settings) => settings,
            Err(error) => return vec![need(error.to_string(), "")],
        };
        let mut unmet = settings.conflicts();
        if self.hdparm().is_none() {
            unmet.push(need("hdparm is not installed", "apt-get install hdparm"));
        }
        if host.target.kind != TargetKind::BlockDevice {
            unmet.push(need(
                format!(
                    "{} is no block device, and hdparm reads no other",
                    host.target.path
                ),
                "name a device as target, or use the built-in implementation",
            ));
        } else if !host.is_root {
            unmet.push(need("hdparm needs root", "run as root"));
        }
        unmet.extend(inexpressible(&settings));
        unmet
    }

    fn estimate(&self, _host: &Host, case: &Case) -> Result<Estimate, TestError> {
        HdparmSettings::from_case(case)?;
        Ok(Estimate {
            trial_time: FIXED.plus(FIXED).plus(Nanos::from_millis(500)),
            ..Estimate::default()
        })
    }

    fn prepare(&self, case: &Case, cx: &Context<'_>) -> Result<Box<dyn Prepared>, TestError> {
        let settings = HdparmSettings::from_case(case)?;
        let missing = |what: &str| TestError::Program {
            program: "hdparm".to_owned(),
            what: what.to_owned(),
        };
        let hdparm = self.hdparm().ok_or_else(|| missing("is not installed"))?;
        let device = cx.device.clone();
        Ok(Box::new(PreparedHdparm {
            hdparm: hdparm.clone(),
            settings,
            device: device.ok_or_else(|| missing("has no device to read"))?,
        }))
    }
}

fn need(what: impl Into<String>, hint: &str) -> Unmet {
    Unmet {
        what: what.into(),
        hint: hint.to_owned(),
    }
}

/// Choices that the program does not have.
fn inexpressible(settings: &HdparmSettings) -> Vec<Unmet> {
    let mut unmet = Vec::new();
    if (settings.time, settings.settle) != (FIXED, FIXED) {
        unmet.push(need(
            format!(
                "hdparm waits and reads 3 s each, not {} and {}",
                settings.settle, settings.time
            ),
            "leave time, settle and scale at their defaults",
        ));
    }
    if !settings.offset.as_u64().is_multiple_of(GIB) {
        unmet.push(need(
            format!(
                "hdparm takes an offset in whole GiB, not {}",
                settings.offset
            ),
            "choose a multiple of 1GiB",
        ));
    }
    unmet
}

#[derive(Debug)]
struct PreparedHdparm {
    hdparm: Hdparm,
    settings: HdparmSettings,
    device: PathBuf,
}

impl Prepared for PreparedHdparm {
    fn run_once(&mut self, cx: &Context<'_>) -> Result<Trial, TestError> {
        if cx.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        (cx.progress)(Progress {
            phase: "read".to_owned(),
            ..Progress::default()
        });
        let mut program =
            Program::new(&self.hdparm.path).args(arguments(&self.settings, &self.device));
        program.environment = vec![("LC_ALL".into(), "C".into())];
        program.timeout = cx.deadline.since(cx.clock.now());
        program.output_limit = OUTPUT_LIMIT;
        let witness = cx.observer.begin();
        let finished = run(&program, cx.cancel);
        let host = witness.end();
        let printed = figure(&program, &finished?)?;
        Ok(Trial {
            values: definition::values(&HdparmMeasured {
                mib_per_second: printed.mib_per_second,
                latency: None,
            }),
            evidence: Evidence {
                data: Some(DataEvidence {
                    contents: "as found on the target".to_owned(),
                    compressing_stack: cx.host.target.compressing.clone(),
                    ..DataEvidence::default()
                }),
                durability: Some(DurabilityEvidence {
                    policy: "none (reads)".to_owned(),
                    ..DurabilityEvidence::default()
                }),
                host: Some(host),
                counts: [("bytes-read".to_owned(), printed.bytes.as_u64())].into(),
                notes: vec![
                    format!("hdparm {}: {}", self.hdparm.version, printed.line),
                    format!("read the block device {}", self.device.display()),
                ],
                ..Evidence::default()
            },
            ..Trial::default()
        })
    }

    fn finish(self: Box<Self>, _cx: &Context<'_>) -> Result<(), TestError> {
        Ok(())
    }
}

fn arguments(settings: &HdparmSettings, device: &Path) -> Vec<OsString> {
    let mut all = vec![OsString::from("-t")];
    if settings.direct {
        all.push("--direct".into());
    }
    let gib = settings.offset.as_u64() / GIB;
    if gib > 0 {
        all.extend(["--offset".into(), gib.to_string().into()]);
    }
    all.push(device.as_os_str().to_owned());
    all
}

/// What the program printed.
#[derive(Clone, Debug, PartialEq)]
struct Printed {
    bytes: Bytes,
    mib_per_second: f64,
    line: String,
}

fn figure(program: &Program, finished: &Finished) -> Result<Printed, TestError> {
    match finished.end {
        End::Cancelled => return Err(TestError::Cancelled),
        End::TimedOut => {
            return Err(TestError::Deadline {
                what: "hdparm",
                limit: program.timeout,
            });
        }
        End::Exited(_) | End::Signalled(_) => {}
    }
    let (stdout, stderr) = (finished.stdout_text(), finished.stderr_text());
    let printed = stdout.lines().find_map(parse);
    match printed.filter(|_| finished.is_success()) {
        Some(printed) => Ok(printed),
        None => {
            let said: Vec<&str> = stderr.lines().chain(stdout.lines()).collect();
            Err(TestError::Program {
                program: program.command_line(),
                what: format!("gave no figure: {}", said.join("; ").trim()),
            })
        }
    }
}

/// Reads ` Timing buffered disk reads: 706 MB in  3.00 seconds = 234.98 MB/sec`; slow drives have
/// `kB/sec`.
fn parse(line: &str) -> Option<Printed> {
    let (what, rest) = line.trim().split_once(" disk reads:")?;
    if !what.starts_with("Timing ") {
        return None;
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [megabytes, "MB", "in", seconds, "seconds", "=", rate, unit] = words[..] else {
        return None;
    };
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|n| n.is_finite() && *n >= 0.0)
    };
    number(seconds)?;
    let per_second = match unit {
        "MB/sec" => number(rate)?,
        "kB/sec" => number(rate)? / 1024.0,
        _ => return None,
    };
    Some(Printed {
        bytes: Bytes::new(megabytes.parse::<u64>().ok()?.checked_mul(1 << 20)?),
        mib_per_second: per_second,
        line: line.trim().to_owned(),
    })
}

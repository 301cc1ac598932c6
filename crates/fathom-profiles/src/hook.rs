//! Between profiles and the built-in drivers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fathom_model::{Context, HostEvidence, Progress, TestError, Unmet};
use fathom_stats::Histogram;

use crate::drivers::{
    Address, Call, Driver, DriverError, DriverFigures, Endpoint, Options, driver,
};
use crate::profile::{DriverSpec, Word};
use crate::service::{ServiceHandle, ServiceKind};

/// A server that says nothing for this long is given up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a driver's run gave.
#[derive(Debug, Default)]
pub(crate) struct DriverRun {
    pub values: BTreeMap<String, f64>,
    pub histograms: BTreeMap<String, Histogram>,
    pub counts: BTreeMap<String, u64>,
    pub notes: Vec<String>,
    pub host: HostEvidence,
}

type Filled<'a> = dyn Fn(&Word) -> Result<String, TestError> + 'a;

/// Whether this build has a driver.
pub(crate) fn is_built(name: &str) -> bool {
    driver(name).is_ok()
}

/// Why a driver cannot be used.
pub(crate) fn unmet(name: &str) -> Option<Unmet> {
    let (what, hint) = match driver(name) {
        Ok(_) => return None,
        Err(DriverError::NotBuilt { driver, feature }) => (
            format!("this build of Fathom has no driver {driver}"),
            format!("cargo build --release --features {feature}"),
        ),
        Err(error) => (error.to_string(), String::new()),
    };
    Some(Unmet { what, hint })
}

/// A driver with everything it is told.
struct Ready {
    driver: Box<dyn Driver>,
    endpoint: Endpoint,
    options: Options,
}

impl Ready {
    fn new(
        spec: &DriverSpec,
        service: Option<&ServiceHandle>,
        filled: &Filled<'_>,
    ) -> Result<Self, TestError> {
        let service = service.ok_or_else(|| TestError::Program {
            program: format!("driver {}", spec.name),
            what: "has no server".to_owned(),
        })?;
        let mut options = Options::default();
        for (name, word) in &spec.options {
            let value = filled(word)?;
            // The driver's own default says what nothing is.
            if value != "none" {
                options.set(name, value);
            }
        }
        Ok(Self {
            driver: driver(&spec.name)?,
            endpoint: endpoint(service),
            options,
        })
    }

    /// Calls the driver with what the context has.
    fn call<T>(
        &self,
        cx: &Context<'_>,
        what: impl FnOnce(&Self, &Call<'_>) -> Result<T, DriverError>,
    ) -> Result<T, TestError> {
        let left = cx.deadline.since(cx.clock.now()).as_duration();
        // Progress may come from several threads, and the context's takes it from one.
        let silent = |_: Progress| {};
        let call = Call {
            cancel: cx.cancel,
            deadline: Instant::now() + left,
            patience: PATIENCE,
            seed: cx.seed,
            observer: cx.observer,
            progress: &silent,
        };
        Ok(what(self, &call)?)
    }
}

fn endpoint(service: &ServiceHandle) -> Endpoint {
    let address = match (&service.socket, service.kind) {
        (Some(directory), ServiceKind::Postgresql) => {
            Address::Socket(directory.join(format!(".s.PGSQL.{}", service.port)))
        }
        (Some(socket), _) => Address::Socket(socket.clone()),
        (None, _) => Address::Tcp {
            host: service.host.clone(),
            port: service.port,
        },
    };
    Endpoint {
        address,
        user: service.user.clone(),
        password: None,
        database: service.database.clone(),
    }
}

/// Fills the database.
pub(crate) fn prepare(
    spec: &DriverSpec,
    service: Option<&ServiceHandle>,
    filled: &Filled<'_>,
    cx: &Context<'_>,
) -> Result<(), TestError> {
    let ready = Ready::new(spec, service, filled)?;
    ready.call(cx, |ready, call| {
        ready.driver.prepare(&ready.endpoint, &ready.options, call)
    })
}

/// Loads the server and measures, then holds the database against what was done.
pub(crate) fn run(
    spec: &DriverSpec,
    service: Option<&ServiceHandle>,
    filled: &Filled<'_>,
    cx: &Context<'_>,
) -> Result<DriverRun, TestError> {
    let ready = Ready::new(spec, service, filled)?;
    let figures = ready.call(cx, |ready, call| {
        ready.driver.run(&ready.endpoint, &ready.options, call)
    })?;
    let verified = ready.call(cx, |ready, call| {
        ready
            .driver
            .verify(&ready.endpoint, &ready.options, &figures, call)
    })?;
    Ok(yielded(figures, verified))
}

fn yielded(figures: DriverFigures, verified: Vec<String>) -> DriverRun {
    let counts = figures.counts;
    let counts = [
        ("operations", counts.operations),
        ("statements", counts.statements),
        ("retries", counts.retries),
        ("errors", counts.errors),
        ("failed-clients", counts.failed_clients),
        (
            "client-cpu-ms",
            u64::try_from(figures.client_cpu.as_millis()).unwrap_or(u64::MAX),
        ),
    ];
    let mut notes = figures.notes;
    notes.extend(verified.into_iter().map(|what| format!("checked: {what}")));
    DriverRun {
        values: figures
            .values
            .iter()
            .map(|value| (value.metric.to_owned(), value.number))
            .collect(),
        histograms: figures.latencies,
        counts: counts.map(|(name, count)| (name.to_owned(), count)).into(),
        notes,
        host: figures.host.unwrap_or_default(),
    }
}

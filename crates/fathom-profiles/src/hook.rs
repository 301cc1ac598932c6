//! Between profiles and the built-in drivers.

use std::collections::BTreeMap;

use fathom_model::{Context, HostEvidence, TestError, Unmet};
use fathom_stats::Histogram;

use crate::profile::{DriverSpec, Word};
use crate::service::ServiceHandle;

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
    let _ = name;
    false
}

/// Why a driver cannot be used.
pub(crate) fn unmet(name: &str) -> Option<Unmet> {
    (!is_built(name)).then(|| Unmet {
        what: format!("this build of Fathom has no driver {name}"),
        hint: String::new(),
    })
}

fn absent(driver: &DriverSpec) -> TestError {
    TestError::Program {
        program: format!("driver {}", driver.name),
        what: "is not part of this build".to_owned(),
    }
}

/// Fills the database.
pub(crate) fn prepare(
    driver: &DriverSpec,
    _service: Option<&ServiceHandle>,
    _filled: &Filled<'_>,
    _cx: &Context<'_>,
) -> Result<(), TestError> {
    Err(absent(driver))
}

/// Loads the server and measures.
pub(crate) fn run(
    driver: &DriverSpec,
    _service: Option<&ServiceHandle>,
    _filled: &Filled<'_>,
    _cx: &Context<'_>,
) -> Result<DriverRun, TestError> {
    Err(absent(driver))
}

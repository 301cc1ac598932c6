//! Plan, run loop, repetition, resume, watchdog and cancellation.
//!
//! A [`PlanRequest`] becomes a [`Plan`]; a [`Runner`] carries it out and tells what happens as a
//! stream of events to its sinks (journal, progress display), from which the result file is built.
//!
//! ```
//! use fathom_base::{Bytes, FakeClock, WallTime};
//! use fathom_model::{Host, System, TargetInfo};
//! use fathom_runner::{Plan, PlanRequest, Registry, RunSettings, Selection};
//! use fathom_testkit::Script;
//!
//! // A test that does what it is told; the binary has real ones.
//! let registry = Registry::new(vec![Box::new(Script::new(&FakeClock::default()))]);
//! let host = Host {
//!     target: TargetInfo::default(),
//!     memory: Bytes::GIB,
//!     cpus: 2,
//!     is_root: false,
//!     search_path: "".into(),
//! };
//! let request = PlanRequest {
//!     run_id: fathom_runner::run_id(WallTime::default(), fathom_runner::entropy()),
//!     seed: 1,
//!     name: "mine".into(),
//!     add_to: None,
//!     title: "Mine".into(),
//!     description: String::new(),
//!     version: "0.1.0".into(),
//!     started: WallTime::default(),
//!     target: "/mnt/disk".into(),
//!     scratch_parent: "/mnt/disk".into(),
//!     system: System::default(),
//!     selections: vec![Selection::Test("scripted".into())],
//!     overrides: Vec::new(),
//!     implementation: None,
//!     settings: RunSettings::default(),
//! };
//! let plan = Plan::build(&request, &registry, &host).unwrap();
//! assert_eq!(plan.totals.cases, 1);
//! assert_eq!((plan.header.min_trials, plan.header.max_trials), (3, 30));
//! ```

mod error;
mod monitor;
mod plan;
mod registry;
mod resume;
mod run;
mod run_id;
pub mod scratch;
mod settings;
pub mod suite;
mod worker;

pub use error::RunError;
pub use monitor::{Monitor, Recorded, Recording, SENSOR_SERIES};
pub use plan::{
    CASES_LIMIT, Override, Plan, PlanError, PlanRequest, Selection, Totals, round_order,
    scratch_parent, time_limit,
};
pub use registry::Registry;
pub use resume::{Keeper, Merge, ResumeOptions};
pub use run::{Control, Counts, Outcome, Runner};
pub use run_id::{entropy, run_id, short_id};
pub use settings::{
    Cap, GOAL_PERCENT, KEYS, MAX_TRIALS, MIN_TRIALS, RunSettings, SettingError, TRIALS_LIMIT,
};

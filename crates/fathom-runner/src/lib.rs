//! Plan, run loop, repetition, resume, watchdog and cancellation.
//!
//! A [`PlanRequest`] becomes a [`Plan`]; a [`Runner`] carries it out and tells what happens as a
//! stream of events to its sinks (journal, progress display), from which the result file is built.

mod error;
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

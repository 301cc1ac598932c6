//! What the classic file-system tests share.
//!
//! The originals are single processes or forks that call the kernel in a certain order. Here a
//! thread stands in for each process ([`run_crew`]), with a table of open files of its own so that
//! the kernel takes the same paths; calls go through [`Root`] and [`Places`], which keep them inside
//! one directory and give every error its path; each call is timed ([`Meter`], [`Laps`]); and [`Outcome`] makes a
//! trial of it all, with the evidence a verdict needs.

mod crew;
mod meter;
mod needs;
mod outcome;
mod places;
mod process;
mod renew;
mod root;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod watch;

pub(crate) use crew::{Conductor, Seat, run_crew, run_threads};
pub(crate) use meter::{Laps, Meter};
pub(crate) use needs::{needs, unmet_of};
pub(crate) use outcome::{Outcome, Traffic};
pub(crate) use places::Places;
pub(crate) use process::{CpuTime, RangeLock, lock_range};
pub(crate) use renew::renew;
pub(crate) use root::Root;
pub(crate) use watch::Watch;

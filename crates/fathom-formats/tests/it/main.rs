//! Everything here runs on real files; the shared corpus lies beside the repository.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of a test may panic as a test may"
)]
#![allow(clippy::print_stderr, reason = "what is skipped is said loudly")]

mod corpus;
mod exports;
mod hostile;
mod merging;
mod pts;
mod schema;
mod seeds;
mod support;

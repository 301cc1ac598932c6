use fathom_base::Nanos;
use fathom_model::SinkError;
use fathom_store::StoreError;

use crate::scratch::ScratchError;

/// Why a run could not begin, or had to end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An event could not be kept; going on would lose what is measured.
    #[error("record the run: {0}")]
    Sink(#[from] SinkError),
    /// The scratch directory.
    #[error(transparent)]
    Scratch(#[from] ScratchError),
    /// Saved results and journals.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A test gave no answer.
    #[error(
        "{case}: no answer for {age}, although it was asked to stop; the run was ended. Its thread \
         waits in the kernel or loops: look at the target with dmesg"
    )]
    Hung {
        /// The label of the case.
        case: String,
        /// How long the step had been running.
        age: Nanos,
    },
    /// The thread of the tests ended, which it never should.
    #[error("the thread of the tests ended by itself; this is a bug in Fathom")]
    WorkerLost,
    /// The thread of the tests could not be started.
    #[error("start the thread of the tests: {0}")]
    Worker(std::io::Error),
    /// The target of the run to go on with is not what it was.
    #[error(
        "run {run} cannot go on here: {difference}. Its trials would not be of the same thing; \
         start a new run, or bring the target back"
    )]
    TargetChanged {
        /// The run.
        run: String,
        /// What differs.
        difference: String,
    },
    /// The journal has no head.
    #[error("run {run} was stopped before it began; start it again with fathom run")]
    NotBegun {
        /// The run.
        run: String,
    },
}

use fathom_base::{Cancel, Clock, Nanos};
use fathom_model::{Context, TestError};

/// When to stop: the user's wish and the deadline, for the threads of a workload.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    cancel: &'a Cancel,
    clock: &'a dyn Clock,
    deadline: Nanos,
    started: Nanos,
    what: &'static str,
}

impl<'a> Watch<'a> {
    /// Watches over `what` (`the transactions`) from now on.
    pub(crate) fn new(cx: &Context<'a>, what: &'static str) -> Self {
        Self {
            cancel: cx.cancel,
            clock: cx.clock,
            deadline: cx.deadline,
            started: cx.clock.now(),
            what,
        }
    }

    /// The time.
    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Calendar time in whole seconds.
    pub(crate) fn epoch_seconds(&self) -> u64 {
        u64::try_from(self.clock.wall().unix_ms() / 1000).unwrap_or(0)
    }

    /// Fails when the user has stopped the run, or when `now` is beyond the deadline.
    #[inline]
    pub(crate) fn check(&self, now: Nanos) -> Result<(), TestError> {
        if self.cancel.is_cancelled() {
            return Err(TestError::Cancelled);
        }
        match now > self.deadline {
            true => Err(TestError::Deadline {
                what: self.what,
                limit: self.deadline.since(self.started),
            }),
            false => Ok(()),
        }
    }

    /// [`Watch::check`] at this moment.
    pub(crate) fn check_now(&self) -> Result<(), TestError> {
        self.check(self.now())
    }
}

use std::time::{Duration, Instant};

use fathom_base::Cancel;
use fathom_model::{Observer, Progress};

use super::DriverError;

/// How often a waiting driver looks whether it shall stop.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// What a driver's call works with.
pub struct Call<'a> {
    /// Asked to stop.
    pub cancel: &'a Cancel,
    /// When the call must be over; a server that does not answer until then is given up.
    pub deadline: Instant,
    /// A server that says nothing for this long, while it is asked, is given up.
    pub patience: Duration,
    /// Seed of every random choice.
    pub seed: u64,
    /// Watches the machine over the measured window.
    pub observer: &'a dyn Observer,
    /// Takes progress.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

impl Call<'_> {
    /// Ends the call when it was cancelled or took too long.
    pub(crate) fn check(&self, doing: &'static str) -> Result<(), DriverError> {
        if self.cancel.is_cancelled() {
            return Err(DriverError::Cancelled);
        }
        match Instant::now() < self.deadline {
            true => Ok(()),
            false => Err(DriverError::Deadline { doing }),
        }
    }

    /// How long one wait for the server may take: patience, but not beyond the deadline.
    pub(crate) fn longest_wait(&self) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.patience.min(left).max(Duration::from_millis(1))
    }

    /// Reports a phase.
    pub(crate) fn say(&self, phase: &str, fraction: Option<f64>, rate: String) {
        (self.progress)(Progress {
            phase: phase.to_owned(),
            fraction,
            rate,
        });
    }
}

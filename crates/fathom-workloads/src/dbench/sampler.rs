use fathom_base::Nanos;
use fathom_model::definition::dbench::DbenchSettings;
use fathom_model::{Context, HostEvidence, Progress, Series, Witness};

use super::shared::Shared;
use crate::classic::Conductor;

/// How often is looked, as the original.
const SECOND: Nanos = Nanos::from_secs(1);

/// What the samples gave.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// The last figure before the end; absent when the clients ended first.
    pub(super) mb_per_second: Option<f64>,
    /// Longest latency of all samples.
    pub(super) max_latency: Nanos,
    /// From the end of the warm-up to the moment the clients were told to stop.
    pub(super) window: Nanos,
    pub(super) host: Option<HostEvidence>,
    /// MB a second between samples.
    pub(super) series: Series,
}

/// Looks at the clients once a second: ends the warm-up, takes the figure, ends the run.
///
/// The rules are the original's: the warm-up lasts until its time is over and every client has moved
/// data; a figure is all bytes since then by all time since then; the one before the end counts.
pub(super) struct Sampler<'a> {
    cx: &'a Context<'a>,
    shared: &'a Shared,
    warm_up: Nanos,
    limit: Nanos,
    start: Nanos,
    base_bytes: u64,
    last: (Nanos, u64),
    sampled: Sampled,
    witness: Option<Box<dyn Witness>>,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(cx: &'a Context<'a>, shared: &'a Shared, settings: &DbenchSettings) -> Self {
        Self {
            cx,
            shared,
            warm_up: Nanos::from_secs(settings.warm_up_seconds()),
            limit: Nanos::from_secs(settings.seconds),
            start: Nanos::default(),
            base_bytes: 0,
            last: Default::default(),
            sampled: Sampled {
                series: Series {
                    unit: "MB/s".to_owned(),
                    step_ns: SECOND.as_u64(),
                    ..Series::default()
                },
                ..Sampled::default()
            },
            witness: None,
        }
    }

    /// Lets the clients start, samples until the time is over or they have ended, and waits for
    /// them.
    pub(super) fn run(mut self, conductor: &Conductor<'_>) -> Sampled {
        if self.warm_up == Nanos::default() {
            self.begin(self.cx.clock.now());
        }
        if !conductor.release() {
            return self.sampled;
        }
        self.start = self.cx.clock.now();
        self.last.0 = self.start;
        let mut due = self.start.plus(SECOND);
        loop {
            if conductor.wait(due.since(self.cx.clock.now())) {
                // Nobody told them to.
                break;
            }
            let now = self.cx.clock.now();
            due = due.plus(SECOND).max(now);
            if self.sample(now) {
                self.shared.end();
                self.sampled.window = now.since(self.start);
                break;
            }
        }
        if let Some(witness) = self.witness.take() {
            self.sampled.host = Some(witness.end());
        }
        while !conductor.wait(SECOND) {
            self.tell("end", None, String::new());
        }
        self.sampled
    }

    /// The window begins: everything counted so far is forgotten.
    fn begin(&mut self, now: Nanos) {
        self.warm_up = Nanos::default();
        self.start = now;
        self.base_bytes = self.shared.bytes();
        self.last = (now, self.base_bytes);
        self.sampled.max_latency = Nanos::default();
        self.shared.measure();
        self.witness = Some(self.cx.observer.begin());
    }

    /// One look; gives whether the time is over.
    fn sample(&mut self, now: Nanos) -> bool {
        let elapsed = now.since(self.start);
        let all_have_moved = self.shared.all_have_moved();
        if all_have_moved && self.warm_up > Nanos::default() && elapsed > self.warm_up {
            self.begin(now);
            return false;
        }
        let warms_up = !all_have_moved || elapsed < self.warm_up;
        let is_over = !warms_up && elapsed > self.limit;
        // Where clients took the whole time to get going there is none but the last figure; the
        // original has none then.
        if is_over && self.sampled.mb_per_second.is_some() {
            return true;
        }
        let bytes = self.shared.bytes();
        let longest = self.shared.take_longest(now);
        let rate = (bytes - self.base_bytes) as f64 / elapsed.as_secs_f64() / 1e6;
        if warms_up {
            self.tell("warm up", None, format!("{rate:.0} MB/s"));
            return false;
        }
        let since = now.since(self.last.0).as_secs_f64();
        let between = (bytes - self.last.1) as f64 / since / 1e6;
        self.sampled.series.values.push(between);
        self.last = (now, bytes);
        self.sampled.max_latency = self.sampled.max_latency.max(longest);
        self.sampled.mb_per_second = Some(rate);
        let fraction = elapsed.as_secs_f64() / self.limit.as_secs_f64();
        self.tell("measure", Some(fraction), format!("{rate:.0} MB/s"));
        is_over
    }

    fn tell(&self, phase: &str, fraction: Option<f64>, rate: String) {
        (self.cx.progress)(Progress {
            phase: phase.to_owned(),
            fraction,
            rate,
        });
    }
}

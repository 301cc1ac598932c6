//! Sensors that are read while a trial runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fathom_base::Nanos;
use fathom_model::Series;
use fathom_system::Sensors;

#[cfg(test)]
mod tests;

/// How the names of a trial's series begin that sensors gave.
pub const SENSOR_SERIES: &str = "sensor/";
/// Values kept of one sensor in one trial: at a second each, more than a day.
const VALUES_LIMIT: usize = 100_000;

/// Reads sensors at even steps while trials run.
#[derive(Clone, Debug)]
pub struct Monitor {
    sensors: Arc<Mutex<Sensors>>,
    step: Duration,
}

/// The sensors of one trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// A series a sensor, by its name behind `sensor/`; the time is that of the trial, not only of
    /// its measured window.
    pub series: BTreeMap<String, Series>,
    /// Sensors that vanished.
    pub notes: Vec<String>,
}

/// A recording under way. It ends with [`Recording::end`], or is given up when it is dropped.
#[derive(Debug)]
pub struct Recording {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<Recorded>>,
}

#[derive(Debug, Default)]
struct Stop {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Monitor {
    /// A monitor of these sensors.
    pub fn new(sensors: Sensors, step: Nanos) -> Self {
        Self {
            sensors: Arc::new(Mutex::new(sensors)),
            step: step.as_duration().max(Duration::from_millis(10)),
        }
    }

    /// Begins to read. Without a thread to do it nothing is recorded.
    pub fn begin(&self) -> Recording {
        let stop = Arc::new(Stop::default());
        let (sensors, step) = (Arc::clone(&self.sensors), self.step);
        let told = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("fathom-monitor".to_owned())
            .spawn(move || record(&mut own(&sensors), step, &told));
        Recording {
            stop,
            thread: thread.ok(),
        }
    }
}

impl Recording {
    /// Ends it and gives what was read.
    pub fn end(mut self) -> Recorded {
        self.stop.now();
        let thread = self.thread.take();
        thread
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.stop.now();
    }
}

impl Stop {
    fn now(&self) {
        *own(&self.is_over) = true;
        self.changed.notify_all();
    }

    /// Waits until then; says whether it was stopped before.
    fn wait(&self, until: Instant) -> bool {
        let mut is_over = own(&self.is_over);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if *is_over || left.is_zero() {
                return *is_over;
            }
            let waited = self.changed.wait_timeout(is_over, left);
            is_over = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A thread that panicked has left nothing half done here.
fn own<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record(sensors: &mut Sensors, step: Duration, stop: &Stop) -> Recorded {
    let begun = Instant::now();
    let since = |begun: Instant| Nanos::new(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(0));
    // What is counted is counted from here.
    sensors.read(since(begun));
    let mut rows: Vec<Vec<Option<f64>>> = Vec::new();
    let mut step_ns = nanos(step);
    let mut next = begun + step;
    while !stop.wait(next) && rows.len() < VALUES_LIMIT {
        rows.push(sensors.read(since(begun)));
        next += step;
        // After the machine slept, steps that are long gone are not made up for.
        next = next.max(Instant::now());
    }
    if rows.is_empty() {
        // A trial shorter than a step has one value, over all of it.
        let now = since(begun);
        step_ns = now.as_u64().max(1);
        rows.push(sensors.read(now));
    }
    recorded(sensors, &rows, step_ns)
}

fn recorded(sensors: &Sensors, rows: &[Vec<Option<f64>>], step_ns: u64) -> Recorded {
    let mut recorded = Recorded::default();
    for (place, info) in sensors.infos().enumerate() {
        let values: Vec<Option<f64>> = rows
            .iter()
            .map(|row| row.get(place).copied().flatten())
            .collect();
        let Some(last) = values.iter().rposition(Option::is_some) else {
            recorded
                .notes
                .push(format!("sensor {} gave nothing", info.id));
            continue;
        };
        if last + 1 < values.len() {
            let after = Nanos::new(step_ns.saturating_mul(last as u64 + 1)).rough();
            let note = format!("sensor {} gave nothing any more after {after}", info.id);
            recorded.notes.push(note);
        }
        let series = Series {
            unit: info.unit.to_owned(),
            start_ns: 0,
            step_ns,
            values: values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect(),
        };
        recorded
            .series
            .insert(format!("{SENSOR_SERIES}{}", info.id), series);
    }
    recorded
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

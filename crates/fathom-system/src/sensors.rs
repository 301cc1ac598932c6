//! Sensors of the machine and of the drives under a target, read again and again at little cost:
//! every file is opened once.

mod find;
mod source;
#[cfg(test)]
mod tests;

use fathom_base::Nanos;
use fathom_model::TargetInfo;

use crate::root::Root;

use source::Source;

/// A sensor: what it is and what it measures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SensorInfo {
    /// Stable name: `drive-temperature/nvme0n1`, `cpu-usage`.
    pub id: String,
    /// Unit of its values: `Celsius`, `%`, `MB/s`.
    pub unit: &'static str,
}

/// The sensors that were found, with their files open.
#[derive(Debug)]
pub struct Sensors {
    all: Vec<(SensorInfo, Source)>,
    before: Option<Nanos>,
}

impl Sensors {
    /// Finds what this machine has for the drives under a target and for itself. Sensors are where
    /// the device says they are, never by their number, which changes from start to start.
    pub fn find(root: &Root, target: &TargetInfo) -> Self {
        let mut found = Self {
            all: find::all(root, target),
            before: None,
        };
        // What gives nothing now will give nothing later: a file without permission, for example.
        found.all.retain_mut(|(_, source)| source.works());
        found
    }

    /// What there is, in the order of the values.
    pub fn infos(&self) -> impl Iterator<Item = &SensorInfo> {
        self.all.iter().map(|(info, _)| info)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// One value a sensor: the state now, or for what is counted (bytes, energy, time) the rate
    /// since the last look. `None` for a sensor that gives nothing: at the first look of what is
    /// counted, and when it is gone.
    pub fn read(&mut self, now: Nanos) -> Vec<Option<f64>> {
        let elapsed = self.before.map(|before| now.since(before));
        self.before = Some(now);
        let sources = self.all.iter_mut();
        sources.map(|(_, source)| source.read(elapsed)).collect()
    }
}

//! Test `io`: reads, writes, mixes and discards of one file or device.

mod estimate;
mod metrics;
mod options;
mod pts;
mod settings;
#[cfg(test)]
mod tests;

pub use estimate::estimate;
pub use metrics::{
    IoDirection, IoMeasured, IoTotals, metrics, percentile_needs, unit_of_percentile, values,
};
pub use options::{ID, SUMMARY, TITLE, VERSION, options};
pub use pts::{FioFamily, pts_fio_figure};
pub use settings::{
    IoArrivals, IoCache, IoClock, IoContents, IoCursor, IoDirect, IoDistribution, IoEngine,
    IoFlush, IoLayout, IoMode, IoOnError, IoOpenSync, IoSettings, IoStamps, IoTuning,
};

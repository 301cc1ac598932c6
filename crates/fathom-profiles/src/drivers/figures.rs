use std::collections::BTreeMap;
use std::time::Duration;

use super::DriverError;
use fathom_model::{Direction, HostEvidence};
use fathom_stats::Histogram;

/// What a run of a driver yields.
#[derive(Clone, Debug, Default)]
pub struct DriverFigures {
    /// The figures; the first stands for the run.
    pub values: Vec<Value>,
    /// Latencies by operation: `transaction`, `read`, `write`.
    pub latencies: BTreeMap<String, Histogram>,
    /// What was done and what went wrong.
    pub counts: Counts,
    /// The measured window.
    pub elapsed: Duration,
    /// Operations completed in each second of the window; the last one may be cut short.
    pub per_second: Vec<u64>,
    /// CPU time of the clients inside the window; zero where the driver cannot tell.
    pub client_cpu: Duration,
    /// What the observer saw over the window.
    pub host: Option<HostEvidence>,
    /// What a reader must know: which server answered, what was left out.
    pub notes: Vec<String>,
    /// What the database must now contain, for [`super::Driver::verify`].
    pub expected: Expected,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Metric: `tps`.
    pub metric: &'static str,
    /// The number.
    pub number: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Which way is better.
    pub direction: Direction,
}

/// What was done and what went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations (transactions, events, queries) completed in the window.
    pub operations: u64,
    /// Statements sent in the window, where that is another number.
    pub statements: u64,
    /// Operations tried again after the server asked for it.
    pub retries: u64,
    /// Operations given up after an error that concerns them alone.
    pub errors: u64,
    /// Clients that did not connect or did not come to the end.
    pub failed_clients: u64,
}

/// What the database must contain after a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Expected {
    /// Nothing to hold it against.
    #[default]
    Nothing,
    /// `pgbench`: rows of the history.
    History {
        /// Rows before the run.
        rows_before: u64,
        /// Transactions that the server said it committed.
        committed: u64,
        /// Transactions whose end is not known, since the connection broke.
        uncertain: u64,
    },
    /// `cockroach-kv`: sequence numbers written.
    Sequence {
        /// Numbers from 1 to this one were given out.
        last: u64,
        /// Those whose write was not confirmed.
        uncertain: Vec<u64>,
    },
    /// Rows that each table must hold.
    Rows(BTreeMap<String, u64>),
}

impl Expected {
    /// Counts the rows of each table that must hold a known number of them; the tables with their
    /// rows, none where something else is expected.
    ///
    /// # Errors
    /// [`DriverError::Invariant`] of the name `check` for a table that holds another number, and
    /// what `count` fails with.
    pub(crate) fn check_rows(
        &self,
        check: &'static str,
        mut count: impl FnMut(&str) -> Result<u64, DriverError>,
    ) -> Result<Vec<(&str, u64)>, DriverError> {
        let Self::Rows(tables) = self else {
            return Ok(Vec::new());
        };
        let counted = tables.iter().map(|(table, expected)| {
            let rows = count(table)?;
            match rows == *expected {
                true => Ok((table.as_str(), rows)),
                false => Err(DriverError::Invariant {
                    check,
                    found: format!("{table} holds {rows} rows instead of {expected}"),
                }),
            }
        });
        counted.collect()
    }
}

impl DriverFigures {
    /// Adds a figure of which more is better.
    pub(crate) fn push_rate(&mut self, metric: &'static str, number: f64, unit: &'static str) {
        self.push(metric, number, unit, Direction::HigherIsBetter);
    }

    /// Adds a figure of which less is better.
    pub(crate) fn push_time(&mut self, metric: &'static str, number: f64, unit: &'static str) {
        self.push(metric, number, unit, Direction::LowerIsBetter);
    }

    fn push(&mut self, metric: &'static str, number: f64, unit: &'static str, way: Direction) {
        self.values.push(Value {
            metric,
            number,
            unit,
            direction: way,
        });
    }

    /// The figure of a metric.
    pub fn value(&self, metric: &str) -> Option<f64> {
        let found = self.values.iter().find(|value| value.metric == metric);
        found.map(|value| value.number)
    }
}

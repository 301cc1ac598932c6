use std::collections::BTreeMap;

use fathom_base::Nanos;
use fathom_stats::Histogram;

/// Latencies by kind of operation.
///
/// A histogram takes memory only as values arrive (at most 38 KiB each), so that hundreds of threads
/// can have a meter each.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    names: &'static [&'static str],
    kinds: Vec<Histogram>,
}

impl Meter {
    /// One histogram for each name; kinds are indices into `names`.
    pub(crate) fn new(names: &'static [&'static str]) -> Self {
        Self {
            names,
            kinds: names.iter().map(|_| Histogram::empty()).collect(),
        }
    }

    /// Counts one operation.
    #[inline]
    pub(crate) fn record(&mut self, kind: usize, took: Nanos) {
        self.kinds[kind].record(took.as_u64());
    }

    /// The latencies of a kind.
    pub(crate) fn of(&self, kind: usize) -> &Histogram {
        &self.kinds[kind]
    }

    /// Operations of a kind.
    pub(crate) fn count(&self, kind: usize) -> u64 {
        self.kinds[kind].count()
    }

    /// Adds another meter of the same names.
    pub(crate) fn merge(&mut self, other: &Self) {
        assert!(
            self.names == other.names,
            "meters of different names are not added up"
        );
        for (mine, theirs) in self.kinds.iter_mut().zip(&other.kinds) {
            mine.merge(theirs);
        }
    }

    /// Operations by name, those that never happened left out.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let all = self.names.iter().zip(&self.kinds);
        all.map(|(name, histogram)| (*name, histogram.count()))
            .filter(|(_, count)| *count > 0)
    }

    /// The histograms by name, empty ones left out.
    pub(crate) fn into_histograms(self) -> BTreeMap<String, Histogram> {
        let all = self.names.iter().zip(self.kinds);
        all.filter(|(_, histogram)| !histogram.is_empty())
            .map(|(name, mut histogram)| {
                histogram.shrink();
                ((*name).to_owned(), histogram)
            })
            .collect()
    }
}

/// Times calls that follow one another with one clock reading each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laps {
    started: Nanos,
    last: Nanos,
}

impl Laps {
    /// The first lap begins now.
    pub(crate) fn start(now: Nanos) -> Self {
        Self {
            started: now,
            last: now,
        }
    }

    /// Ends a lap and begins the next; gives the time it took.
    #[inline]
    pub(crate) fn lap(&mut self, now: Nanos) -> Nanos {
        let took = now.since(self.last);
        self.last = now;
        took
    }

    /// When the last lap ended, or the first began.
    #[inline]
    pub(crate) fn last(&self) -> Nanos {
        self.last
    }

    /// Time of all laps so far.
    pub(crate) fn total(&self) -> Nanos {
        self.last.since(self.started)
    }
}

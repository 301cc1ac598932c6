//! The form of a histogram in files: sparse, self-describing, checked on reading.
//!
//! `{"unit":"ns","sub_bucket_bits":7,"count":3,"min":90,"max":400,"sum":590,"clipped":0,
//! "buckets":[[90,1],[100,1],[328,1]]}`; `buckets` are pairs of index and count with rising
//! indices. Unknown fields are ignored.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::mapping::{MAX_BITS, MIN_BITS, bucket_bounds, bucket_index, last_index, middle};
use super::{Histogram, MAX_COUNT, MAX_TRACKABLE_NS, SUB_BUCKET_BITS};
use crate::error::StatsError;

/// Most buckets accepted in a list, more than our own resolution can fill.
const MAX_LISTED: usize = 1 << 16;

/// A latency histogram as stored.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Histogram"))]
struct Wire {
    /// Unit of `min`, `max` and `sum`; always `ns`.
    unit: String,
    /// Buckets an octave as a power of two; 7 when written by Fathom.
    sub_bucket_bits: u32,
    /// Number of samples.
    count: u64,
    /// Shortest sample, 0 if there is none.
    min: u64,
    /// Longest sample, 0 if there is none.
    max: u64,
    /// Sum of all samples.
    sum: u64,
    /// Samples beyond the range of the buckets (counted in the highest one).
    #[serde(default)]
    clipped: u64,
    /// Pairs of bucket index and count, indices rising.
    buckets: Listed,
}

/// The list of buckets, limited in length while it is read.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transparent))]
struct Listed(Vec<(u64, u64)>);

impl Serialize for Listed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Listed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Listed;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    f,
                    "a list of at most {MAX_LISTED} pairs [bucket index, count]"
                )
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Listed, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = seq.next_element::<(u64, u64)>()? {
                    if pairs.len() == MAX_LISTED {
                        return Err(A::Error::invalid_length(MAX_LISTED + 1, &self));
                    }
                    pairs.push(pair);
                }
                Ok(Listed(pairs))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let listed = self.counts.iter().enumerate().filter(|&(_, &n)| n > 0);
        let wire = Wire {
            unit: "ns".to_owned(),
            sub_bucket_bits: SUB_BUCKET_BITS,
            count: self.count,
            min: self.min().unwrap_or(0),
            max: self.max().unwrap_or(0),
            sum: self.sum_ns,
            clipped: self.clipped,
            buckets: Listed(listed.map(|(index, &n)| (index as u64, n)).collect()),
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        Self::try_from(wire).map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Histogram {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Wire::schema_name()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wire::json_schema(generator)
    }
}

impl TryFrom<Wire> for Histogram {
    type Error = StatsError;

    fn try_from(wire: Wire) -> Result<Self, StatsError> {
        if wire.unit != "ns" {
            return Err(StatsError::HistogramUnit { unit: wire.unit });
        }
        let foreign = Foreign {
            bits: wire.sub_bucket_bits,
            count: wire.count,
            min_ns: wire.min,
            max_ns: wire.max,
            sum_ns: wire.sum,
            clipped: wire.clipped,
            buckets: &wire.buckets.0,
        };
        foreign.check()?;
        Ok(foreign.rebucket())
    }
}

/// A histogram of any resolution, not yet trusted.
struct Foreign<'a> {
    bits: u32,
    count: u64,
    min_ns: u64,
    max_ns: u64,
    sum_ns: u64,
    clipped: u64,
    buckets: &'a [(u64, u64)],
}

impl Foreign<'_> {
    fn check(&self) -> Result<(), StatsError> {
        self.check_indices()?;
        let counted = self.buckets.iter().map(|&(_, n)| u128::from(n)).sum();
        if counted > u128::from(MAX_COUNT) {
            let (field, limit) = ("count", MAX_COUNT);
            return Err(StatsError::HistogramLimit {
                field,
                value: counted,
                limit,
            });
        }
        if counted != u128::from(self.count) {
            return Err(StatsError::HistogramCount {
                stated: self.count,
                counted,
            });
        }
        self.check_facts()
    }

    fn check_indices(&self) -> Result<(), StatsError> {
        let bits = self.bits;
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(StatsError::HistogramBits {
                bits,
                min: MIN_BITS,
                max: MAX_BITS,
            });
        }
        let limit = last_index(bits) as u64;
        let mut previous = None;
        for (position, &(index, _)) in self.buckets.iter().enumerate() {
            if index > limit {
                return Err(StatsError::HistogramIndex {
                    position,
                    index,
                    limit,
                });
            }
            if let Some(previous) = previous.filter(|&p| p >= index) {
                return Err(StatsError::HistogramOrder {
                    position,
                    index,
                    previous,
                });
            }
            previous = Some(index);
        }
        Ok(())
    }

    /// Minimum, maximum, sum and clipped must be possible with these buckets.
    fn check_facts(&self) -> Result<(), StatsError> {
        let mut filled = self.buckets.iter().filter(|&&(_, n)| n > 0);
        let Some(&first) = filled.next() else {
            return self.check_empty();
        };
        let last = *filled.next_back().unwrap_or(&first);
        let (first_low, first_high) = bucket_bounds(self.bits, first.0 as usize);
        let (last_low, last_high) = bucket_bounds(self.bits, last.0 as usize);
        within("clipped", self.clipped, 0, last.1.into())?;
        let top = if self.clipped > 0 {
            u64::MAX
        } else {
            last_high
        };
        let first_top = if first.0 == last.0 { top } else { first_high };
        within("min", self.min_ns, first_low.into(), first_top.into())?;
        let max_top = if self.count == 1 { self.min_ns } else { top };
        within(
            "max",
            self.max_ns,
            last_low.max(self.min_ns).into(),
            max_top.into(),
        )?;
        if self.sum_ns == u64::MAX {
            return Ok(());
        }
        let times_count = |ns| u128::from(self.count) * u128::from(ns);
        within(
            "sum",
            self.sum_ns,
            times_count(self.min_ns),
            times_count(self.max_ns),
        )
    }

    fn check_empty(&self) -> Result<(), StatsError> {
        for (field, value) in [
            ("min", self.min_ns),
            ("max", self.max_ns),
            ("sum", self.sum_ns),
            ("clipped", self.clipped),
        ] {
            within(field, value, 0, 0)?;
        }
        Ok(())
    }

    /// Finer buckets fold without loss; a coarser one goes where its middle lies, except that
    /// the shortest and the longest sample go where they belong.
    fn rebucket(&self) -> Histogram {
        let mut histogram = Histogram::empty();
        if self.count == 0 {
            return histogram;
        }
        let mut beyond = 0;
        let mut place = |ns, n| {
            histogram.add(bucket_index(SUB_BUCKET_BITS, ns), n);
            beyond += if ns > MAX_TRACKABLE_NS { n } else { 0 };
        };
        let exact = if self.bits < SUB_BUCKET_BITS {
            self.count.min(2)
        } else {
            0
        };
        let (mut skip_low, mut skip_high) = (exact.min(1), exact / 2);
        [self.min_ns, self.max_ns]
            .iter()
            .take(exact as usize)
            .for_each(|&ns| place(ns, 1));
        let last = self.buckets.iter().rposition(|&(_, n)| n > 0);
        for (position, &(index, n)) in self.buckets.iter().enumerate().filter(|(_, b)| b.1 > 0) {
            let (low, high) = bucket_bounds(self.bits, index as usize);
            let ns = if self.bits < SUB_BUCKET_BITS {
                middle(low, high).clamp(self.min_ns, self.max_ns)
            } else {
                low
            };
            let high_taken = if last == Some(position) {
                std::mem::take(&mut skip_high)
            } else {
                0
            };
            place(ns, n - std::mem::take(&mut skip_low) - high_taken);
        }
        histogram.count = self.count;
        histogram.min_ns = self.min_ns;
        histogram.max_ns = self.max_ns;
        histogram.sum_ns = self.sum_ns;
        histogram.clipped = self.clipped.max(beyond);
        histogram
    }
}

fn within(field: &'static str, value: u64, low: u128, high: u128) -> Result<(), StatsError> {
    if (low..=high).contains(&u128::from(value)) {
        return Ok(());
    }
    Err(StatsError::HistogramField {
        field,
        value,
        low,
        high,
    })
}

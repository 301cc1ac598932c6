//! The form of a histogram in files: sparse, self-describing, checked on reading.
//!
//! `{"unit":"ns","sub_bucket_bits":7,"count":3,"min":90,"max":400,"sum":590,"clipped":0,
//! "buckets":[[90,1],[100,1],[328,1]]}`; `buckets` are pairs of index and count with rising
//! indices. Unknown fields are ignored.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::foreign::Foreign;
use super::{Histogram, SUB_BUCKET_BITS};
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
    #[cfg_attr(feature = "schema", schemars(with = "Vec<(u64, u64)>"))]
    buckets: Listed,
}

/// The list of buckets, limited in length while it is read.
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

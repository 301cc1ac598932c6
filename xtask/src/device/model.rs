//! What the known-answer device does with a request, and when it is done.

use std::str::FromStr;

use anyhow::{Context, Result, bail};
use fathom_base::{Bytes, Nanos, Percent, Rate, SplitMix64};

/// How long requests take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Always the same.
    Constant(Nanos),
    /// The slow time with this chance, else the fast one.
    Bimodal {
        fast: Nanos,
        slow: Nanos,
        share: Percent,
    },
    /// The base time; what comes in while the device stalls is done `base` after the stall.
    Stall {
        base: Nanos,
        from: Nanos,
        length: Nanos,
    },
    /// So many requests a second, one after the other, up to `burst` at once after a pause.
    Bucket { per_second: f64, burst: u32 },
    /// Fast until so many bytes were written, slow after.
    Cache {
        bytes: Bytes,
        fast: Nanos,
        slow: Nanos,
    },
}

impl FromStr for Service {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let parts: Vec<&str> = rest.split(',').collect();
        let time = |text: &str| text.parse::<Nanos>().with_context(|| text.to_owned());
        Ok(match (name, parts.as_slice()) {
            ("constant", [one]) => Self::Constant(time(one)?),
            ("bimodal", [fast, slow, share]) => Self::Bimodal {
                fast: time(fast)?,
                slow: time(slow)?,
                share: share.parse::<Percent>().context("share of slow ones")?,
            },
            ("stall", [base, from, length]) => Self::Stall {
                base: time(base)?,
                from: time(from)?,
                length: time(length)?,
            },
            ("bucket", [rate, burst]) => match rate.parse::<Rate>().context("rate")? {
                Rate::Operations(per_second) => Self::Bucket {
                    per_second,
                    burst: burst.parse().context("burst")?,
                },
                Rate::Bytes(_) => bail!("bucket takes a rate of operations: bucket:1000/s,1"),
            },
            ("cache", [bytes, fast, slow]) => Self::Cache {
                bytes: bytes.parse().context("size of the cache")?,
                fast: time(fast)?,
                slow: time(slow)?,
            },
            _ => bail!(
                "{text}: expected constant:5ms, bimodal:5ms,50ms,2%, stall:1ms,2500ms,2s, \
                 bucket:1000/s,1 or cache:64MiB,100us,10ms"
            ),
        })
    }
}

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is acknowledged and not done.
    Lost,
    /// The first half is done.
    Torn,
    /// It is done where another block is.
    Misdirected,
    /// A bit differs.
    Flipped,
}

impl Fault {
    /// All kinds, in the order they are injected.
    pub const ALL: [Self; 4] = [Self::Lost, Self::Torn, Self::Misdirected, Self::Flipped];
}

/// A device's behaviour: the same requests in the same order are treated alike.
#[derive(Clone, Debug)]
pub struct Model {
    pub service: Service,
    /// Every so many writes one is done wrongly, of each kind in turn; 0 for none.
    pub fault_every: u64,
    /// Requests that touch this byte fail with EIO.
    pub bad_offset: Option<u64>,
    /// How long a sync takes.
    pub sync: Nanos,
    random: SplitMix64,
    /// When the first request came.
    started_ns: Option<u64>,
    /// When the bucket has room for the next request.
    room_ns: f64,
    written_bytes: u64,
    writes: u64,
    /// Writes done wrongly, by kind.
    pub injected: [u64; 4],
}

impl Model {
    /// A device without faults.
    pub fn new(service: Service, seed: u64) -> Self {
        Self {
            service,
            fault_every: 0,
            bad_offset: None,
            sync: Nanos::new(0),
            random: SplitMix64::new(seed),
            started_ns: None,
            room_ns: 0.0,
            written_bytes: 0,
            writes: 0,
            injected: [0; 4],
        }
    }

    /// When a request that came at `now_ns` is done; `written` is 0 for a read.
    pub fn done_ns(&mut self, now_ns: u64, written: u64) -> u64 {
        let started_ns = *self.started_ns.get_or_insert(now_ns);
        self.written_bytes += written;
        match self.service {
            Service::Constant(time) => now_ns + time.as_u64(),
            Service::Bimodal { fast, slow, share } => {
                let chance = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
                let is_slow = chance < share.fraction();
                now_ns + if is_slow { slow } else { fast }.as_u64()
            }
            Service::Stall { base, from, length } => {
                let begins = started_ns + from.as_u64();
                let ends = begins + length.as_u64();
                let moves_ns = if (begins..ends).contains(&now_ns) {
                    ends
                } else {
                    now_ns
                };
                moves_ns + base.as_u64()
            }
            Service::Bucket { per_second, burst } => {
                let gap = 1e9 / per_second;
                let full = now_ns as f64 - gap * f64::from(burst);
                self.room_ns = self.room_ns.max(full) + gap;
                now_ns.max(self.room_ns as u64)
            }
            Service::Cache { bytes, fast, slow } => {
                let is_over = self.written_bytes > bytes.as_u64();
                now_ns + if is_over { slow } else { fast }.as_u64()
            }
        }
    }

    /// What is wrong with the next write.
    pub fn next_fault(&mut self) -> Option<Fault> {
        self.writes += 1;
        if self.fault_every == 0 || !self.writes.is_multiple_of(self.fault_every) {
            return None;
        }
        let kind = (self.writes / self.fault_every) as usize % Fault::ALL.len();
        self.injected[kind] += 1;
        Fault::ALL.get(kind).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn model(text: &str) -> Model {
        Model::new(text.parse().unwrap(), 1)
    }

    #[test]
    fn requests_take_what_the_model_says() {
        let mut constant = model("constant:5ms");
        assert_eq!(constant.done_ns(7, 0), 7 + 5 * MS);
        let mut stall = model("stall:1ms,100ms,50ms");
        let done = [0, 99, 100, 149, 150].map(|ms| stall.done_ns(MS + ms * MS, 0) / MS);
        assert_eq!(done, [2, 101, 152, 152, 152]);
        let mut cache = model("cache:8KiB,1ms,9ms");
        let done = [4096, 4096, 4096, 0].map(|bytes| cache.done_ns(0, bytes) / MS);
        assert_eq!(done, [1, 1, 9, 9]);
        // Two at once, then one every 10 ms; a pause gives back no more than two.
        let mut bucket = model("bucket:100/s,2");
        let done =
            [0, 0, 0, 0, 500, 500, 500].map(|ms| bucket.done_ns(1000 * MS + ms * MS, 0) / MS);
        assert_eq!(done, [1000, 1000, 1010, 1020, 1500, 1500, 1510]);
    }

    #[test]
    fn the_slow_mode_has_its_share() {
        let mut bimodal = model("bimodal:1ms,10ms,2%");
        let slow = (0..100_000)
            .filter(|_| bimodal.done_ns(0, 0) == 10 * MS)
            .count();
        assert!((1900..2100).contains(&slow), "{slow}");
    }

    #[test]
    fn faults_come_at_their_turn() {
        let mut faulty = model("constant:0ns");
        faulty.fault_every = 10;
        let found: Vec<Fault> = (0..100).filter_map(|_| faulty.next_fault()).collect();
        assert_eq!(found.len(), 10);
        assert_eq!(faulty.injected.iter().sum::<u64>(), 10);
        assert!(Fault::ALL.iter().all(|kind| found.contains(kind)));
    }

    #[test]
    fn what_is_no_model_is_refused() {
        for text in [
            "",
            "constant",
            "constant:x",
            "bimodal:1ms,2ms",
            "bucket:5MB/s,1",
            "stall:1ms",
        ] {
            assert!(text.parse::<Service>().is_err(), "{text}");
        }
    }
}

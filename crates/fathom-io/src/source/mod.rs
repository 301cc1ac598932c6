//! Which operation comes next: direction, size and offset.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::seed_for;
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::spec::{Cursor, Distribution, JobSpec, Mode, SizeShare};

mod permute;
mod skew;
#[cfg(test)]
mod tests;

pub(crate) use permute::Permutation;
use skew::Skew;

/// Kinds of operation; the discriminant indexes tables by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read = 0,
    Write = 1,
    Trim = 2,
    Sync = 3,
}

impl Kind {
    pub(crate) const COUNT: usize = 4;

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Sync => "sync",
        }
    }
}

/// One operation to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) kind: Kind,
    pub(crate) offset: u64,
    pub(crate) length: u32,
}

/// The operations of one job, in order; fixed by the specification and the job's number.
#[derive(Debug)]
pub(crate) struct Source {
    /// First byte of the job's part.
    start: u64,
    /// One past its last byte.
    end: u64,
    /// Grid of random offsets.
    unit: u64,
    units: u64,
    order: Order,
    direction: Direction,
    sizes: [Sizes; 2],
    random: Xoshiro256PlusPlus,
    /// Bytes still to be issued.
    budget: u64,
    shared: Option<SharedCursor>,
}

/// Where the next block lies.
#[derive(Debug)]
enum Order {
    /// Next offset of reads, and of writes and discards, in bytes from the start.
    Sequential { next: [u64; 2] },
    /// Index in the order of the current pass.
    OnceEach {
        order: Permutation,
        index: u64,
        pass: u64,
        seed: u64,
    },
    /// Ranks drawn independently, scattered by an order.
    Skewed { skew: Skew, scatter: Permutation },
}

#[derive(Clone, Copy, Debug)]
enum Direction {
    Always(Kind),
    /// A read when 53 random bits are below this, else a write.
    Mixed(u64),
}

#[derive(Clone, Debug)]
enum Sizes {
    One(u32),
    /// Sizes with the running sum of their shares of 2^53.
    Split(Vec<(u64, u32)>),
}

/// A cursor that all jobs take blocks from.
#[derive(Debug)]
struct SharedCursor {
    next: Arc<AtomicU64>,
    /// Blocks in all.
    limit: u64,
}

/// Bytes of the span that whole blocks cover, and the limit in bytes that stop conditions put on
/// all jobs together (`u64::MAX` for none).
pub(crate) fn budget_of(spec: &JobSpec) -> u64 {
    let unit = spec.block_sizes.smallest().as_u64().max(1);
    let whole = spec.size.as_u64() / unit * unit;
    let covering = match spec.cursor {
        Cursor::Own => whole.saturating_mul(u64::from(spec.jobs)),
        Cursor::Partitioned | Cursor::Shared => whole,
    };
    let passes = spec
        .stop
        .passes
        .map_or(u64::MAX, |n| covering.saturating_mul(u64::from(n)));
    let bytes = spec.stop.bytes.map_or(u64::MAX, |b| b.as_u64());
    passes.min(bytes)
}

impl Source {
    /// For job number `job` of a checked specification; `cursor` is common to all its jobs.
    pub(crate) fn new(spec: &JobSpec, job: u32, cursor: &Arc<AtomicU64>) -> Self {
        let unit = spec.block_sizes.smallest().as_u64();
        let units = spec.size.as_u64() / unit;
        let (jobs, index) = (u64::from(spec.jobs), u64::from(job));
        let (first, last) = match spec.cursor {
            Cursor::Own | Cursor::Shared => (0, units),
            Cursor::Partitioned => (part(units, jobs, index), part(units, jobs, index + 1)),
        };
        let start = spec.offset.as_u64() + first * unit;
        let units = last - first;
        // Jobs that share an order must agree on its seed.
        let own = match spec.cursor {
            Cursor::Shared => 0,
            Cursor::Own | Cursor::Partitioned => job,
        };
        let seed = seed_for(spec.seed, &format!("offsets {own}"));
        let shared = (spec.cursor == Cursor::Shared).then(|| SharedCursor {
            next: Arc::clone(cursor),
            limit: budget_of(spec).div_ceil(unit),
        });
        let passes = spec.stop.passes.map(|n| u64::from(n).saturating_mul(units));
        let bytes = spec
            .stop
            .bytes
            .map(|bytes| block_share(bytes.as_u64().div_ceil(unit), jobs, index));
        let blocks = passes.unwrap_or(u64::MAX).min(bytes.unwrap_or(u64::MAX));
        Self {
            start,
            end: start + units * unit,
            unit,
            units,
            order: order_of(spec, units, seed),
            direction: direction_of(spec.mode),
            sizes: [
                Sizes::new(&spec.block_sizes.reads),
                Sizes::new(&spec.block_sizes.writes),
            ],
            random: generator(seed_for(spec.seed, &format!("choices {job}"))),
            budget: match shared {
                Some(_) => u64::MAX,
                None => blocks.saturating_mul(unit),
            },
            shared,
        }
    }

    /// First byte of the job's part, and one past its last.
    pub(crate) const fn part(&self) -> (u64, u64) {
        (self.start, self.end)
    }

    /// The next operation; `None` when the job has done all of its share.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<Step> {
        let kind = self.direction.pick(&mut self.random);
        let side = usize::from(kind != Kind::Read);
        let length = self.sizes[side].pick(&mut self.random);
        let index = match &self.shared {
            None if self.budget == 0 => return None,
            None => {
                self.budget = self.budget.saturating_sub(u64::from(length));
                None
            }
            Some(cursor) => {
                let index = cursor.next.fetch_add(1, Ordering::Relaxed);
                if index >= cursor.limit {
                    return None;
                }
                Some(index)
            }
        };
        let offset = match index {
            None => self.own_offset(side, length),
            Some(index) => self.shared_offset(index),
        };
        Some(Step {
            kind,
            offset,
            length,
        })
    }

    #[inline(always)]
    fn own_offset(&mut self, side: usize, length: u32) -> u64 {
        let length = u64::from(length);
        let unit = match &mut self.order {
            Order::Sequential { next } => {
                let at = &mut next[side];
                if self.start + *at + length > self.end {
                    *at = 0;
                }
                let offset = self.start + *at;
                *at += length;
                return offset;
            }
            Order::OnceEach {
                order,
                index,
                pass,
                seed,
            } => {
                if *index == self.units {
                    *index = 0;
                    *pass += 1;
                    *order = Permutation::new(self.units, pass_seed(*seed, *pass));
                }
                let unit = order.apply(*index);
                *index += 1;
                unit
            }
            Order::Skewed { skew, scatter } => {
                let rank = skew.rank(self.units, &mut self.random);
                match skew {
                    Skew::Uniform => rank,
                    _ => scatter.apply(rank),
                }
            }
        };
        // With several sizes, the last blocks move down to fit.
        (self.start + unit * self.unit).min(self.end - length)
    }

    /// Offset of block `index` of the common order; one size is all there is.
    fn shared_offset(&mut self, index: u64) -> u64 {
        let within = index % self.units;
        let unit = match &mut self.order {
            Order::Sequential { .. } => within,
            Order::OnceEach {
                order, pass, seed, ..
            } => {
                if index / self.units != *pass {
                    *pass = index / self.units;
                    *order = Permutation::new(self.units, pass_seed(*seed, *pass));
                }
                order.apply(within)
            }
            Order::Skewed { skew, scatter } => {
                scatter.apply(skew.rank(self.units, &mut self.random))
            }
        };
        self.start + unit * self.unit
    }
}

/// First unit of part `index` of `parts`.
fn part(units: u64, parts: u64, index: u64) -> u64 {
    (u128::from(units) * u128::from(index) / u128::from(parts)) as u64
}

/// How many of `blocks` fall to one of `jobs`; the first ones take the rest.
fn block_share(blocks: u64, jobs: u64, index: u64) -> u64 {
    blocks / jobs + u64::from(index < blocks % jobs)
}

fn pass_seed(seed: u64, pass: u64) -> u64 {
    seed ^ crate::contents::mix(pass)
}

fn order_of(spec: &JobSpec, units: u64, seed: u64) -> Order {
    if !spec.mode.is_random() {
        return Order::Sequential { next: [0; 2] };
    }
    let skew = match spec.distribution {
        Distribution::OnceEach => {
            return Order::OnceEach {
                order: Permutation::new(units, pass_seed(seed, 0)),
                index: 0,
                pass: 0,
                seed,
            };
        }
        Distribution::Uniform => Skew::Uniform,
        Distribution::Zipf { theta } => Skew::zipf(units, theta).unwrap_or(Skew::Uniform),
        Distribution::Pareto { h } => Skew::pareto(h),
    };
    // One scatter for all jobs: the same blocks are popular for each of them.
    let scatter = Permutation::new(units, seed_for(spec.seed, "scatter"));
    Order::Skewed { skew, scatter }
}

fn direction_of(mode: Mode) -> Direction {
    match mode {
        Mode::Read | Mode::RandRead => Direction::Always(Kind::Read),
        Mode::Write | Mode::RandWrite => Direction::Always(Kind::Write),
        Mode::Trim | Mode::RandTrim => Direction::Always(Kind::Trim),
        Mode::Mixed { read_percent } | Mode::RandMixed { read_percent } => {
            let share = read_percent.fraction().clamp(0.0, 1.0);
            Direction::Mixed((share * UNIT_53) as u64)
        }
    }
}

const UNIT_53: f64 = (1_u64 << 53) as f64;

impl Direction {
    #[inline(always)]
    fn pick(self, random: &mut Xoshiro256PlusPlus) -> Kind {
        match self {
            Self::Always(kind) => kind,
            Self::Mixed(below) if bits_53(random) < below => Kind::Read,
            Self::Mixed(_) => Kind::Write,
        }
    }
}

impl Sizes {
    fn new(shares: &[SizeShare]) -> Self {
        let length = |share: &SizeShare| u32::try_from(share.size.as_u64()).unwrap_or(u32::MAX);
        if let [one] = shares {
            return Self::One(length(one));
        }
        let total: f64 = shares.iter().map(|s| s.share.value()).sum();
        let mut sum = 0.0;
        let row = |share: &SizeShare| {
            sum += share.share.value();
            ((sum / total * UNIT_53) as u64, length(share))
        };
        Self::Split(shares.iter().map(row).collect())
    }

    #[inline(always)]
    fn pick(&self, random: &mut Xoshiro256PlusPlus) -> u32 {
        match self {
            Self::One(length) => *length,
            Self::Split(rows) => {
                let draw = bits_53(random);
                let row = rows.iter().find(|(sum, _)| draw < *sum);
                row.or(rows.last()).map_or(0, |&(_, length)| length)
            }
        }
    }
}

pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

#[inline(always)]
fn bits_53(random: &mut Xoshiro256PlusPlus) -> u64 {
    random.next_u64() >> 11
}

/// A number from 0 (inclusive) to 1 (exclusive).
#[inline(always)]
pub(crate) fn unit_interval(random: &mut Xoshiro256PlusPlus) -> f64 {
    bits_53(random) as f64 / UNIT_53
}

/// A number below `bound` by multiply-shift (Lemire 2019, without the rejection: its bias is
/// below `bound / 2^64`).
#[inline(always)]
fn below(random: &mut Xoshiro256PlusPlus, bound: u64) -> u64 {
    ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64
}

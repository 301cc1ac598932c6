//! A random order of blocks that visits each exactly once, without a table.

use fathom_base::SplitMix64;

/// A bijection of `0..len` fixed by a key.
///
/// Four rounds of multiply, add and xor-shift on the next power of two, each of them invertible;
/// a value outside of `0..len` goes through them again until it falls inside (cycle walking,
/// Black and Rogaway 2002), which takes less than two tries on average.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    len: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); ROUNDS],
}

const ROUNDS: usize = 3;

impl Permutation {
    /// The order with this `key`; `len` must be at least 1.
    pub(crate) fn new(len: u64, key: u64) -> Self {
        assert!(len > 0, "an order needs a block");
        let bits = (u64::BITS - (len - 1).leading_zeros()).max(2);
        let mut random = SplitMix64::new(key);
        let rounds = std::array::from_fn(|_| (random.next_u64() | 1, random.next_u64()));
        Self {
            len,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            rounds,
        }
    }

    /// Where index `index` below the length goes.
    #[inline(always)]
    pub(crate) fn apply(&self, index: u64) -> u64 {
        debug_assert!(index < self.len, "an index lies in the order");
        let mut x = self.round(index);
        while x >= self.len {
            x = self.round(x);
        }
        x
    }

    #[inline(always)]
    fn round(&self, mut x: u64) -> u64 {
        for (multiplier, addend) in self.rounds {
            x = x.wrapping_mul(multiplier).wrapping_add(addend) & self.mask;
            x ^= x >> self.shift;
        }
        x.wrapping_mul(self.rounds[0].0)
            .wrapping_add(self.rounds[1].1)
            & self.mask
    }
}

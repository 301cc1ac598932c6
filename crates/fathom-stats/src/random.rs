//! The generator behind the bootstrap: same seed, same intervals, on every machine.

/// xoshiro256** (Blackman & Vigna 2018), seeded through SplitMix64 (Steele et al. 2014).
#[derive(Debug, Clone)]
pub struct Xoshiro256 {
    state: [u64; 4],
}

impl Xoshiro256 {
    /// The generator of `seed`; every seed is as good as any other.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed;
        let state = std::array::from_fn(|_| split_mix(&mut mixed));
        Self { state }
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [_, s1, _, _] = self.state;
        let result = s1.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let s = &mut self.state;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= s1 << 17;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number from 0 to below 1 with 53 random bits.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A whole number from 0 to below `limit` (not 0), without bias (Lemire 2019).
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "a number below 0 does not exist");
        let threshold = limit.wrapping_neg() % limit;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(limit);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;

/// Words of state.
const WORDS: usize = 624;
/// How far apart the words are that are mixed.
const SHIFT: usize = 397;

/// The Mersenne Twister MT19937 (Matsumoto, Nishimura 1998) with the seeding of its first
/// publication, which differs from the one of 2002 that every library has.
#[derive(Clone, Debug)]
pub(crate) struct Mt1998 {
    state: Box<[u32; WORDS]>,
    next: usize,
}

impl Mt1998 {
    /// Seeds it: each word is made of the high halves of two steps of a linear congruential
    /// generator.
    pub(crate) fn new(mut seed: u32) -> Self {
        let mut step = || {
            let high = seed & 0xffff_0000;
            seed = seed.wrapping_mul(69_069).wrapping_add(1);
            high
        };
        let mut state = Box::new([0; WORDS]);
        for word in state.iter_mut() {
            *word = step() | (step() >> 16);
        }
        Self { state, next: WORDS }
    }

    /// The next 32 bits.
    #[inline]
    pub(crate) fn draw(&mut self) -> u32 {
        if self.next >= WORDS {
            self.refill();
        }
        let mut bits = self.state[self.next];
        self.next += 1;
        bits ^= bits >> 11;
        bits ^= (bits << 7) & 0x9d2c_5680;
        bits ^= (bits << 15) & 0xefc6_0000;
        bits ^ (bits >> 18)
    }

    /// A draw below `bound` by its remainder; 0 without a draw when `bound` is 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        match bound {
            0 => 0,
            bound => self.draw() % bound,
        }
    }

    fn refill(&mut self) {
        for k in 0..WORDS {
            let joined =
                (self.state[k] & 0x8000_0000) | (self.state[(k + 1) % WORDS] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[k] = self.state[(k + SHIFT) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }
}

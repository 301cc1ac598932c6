//! What is written, and checking that it was read back.
//!
//! Data are made in sectors of 512 bytes, of 64 words of 64 bits:
//!
//! - word 0 is a bijective mix of the sector's number in the target and of how many writes there
//!   were before, so that no two sectors ever written are the same;
//! - word 1 holds, masked by word 0, the number of a *filling*;
//! - words 2 to 63 are the filling: a row of a page of random words fixed by the seed, plus a mix
//!   of the filling's number. No two fillings share a word but by chance.
//!
//! A sector read back thus tells where it was meant to be and what the rest of it must be. A job
//! prepares a pool of fillings, at least [`POOL_BYTES`] of them, and only writes words 0 and 1 for
//! each operation: nothing compresses within that distance, and the processor time is small.

use fathom_base::SplitMix64;

use crate::spec::Contents;

#[cfg(test)]
mod tests;

/// Bytes that share a key.
pub const SECTOR_BYTES: usize = 512;
const SECTOR_WORDS: usize = SECTOR_BYTES / 8;
const PAGE_BYTES: usize = 4096;
const PAGE_SECTORS: usize = PAGE_BYTES / SECTOR_BYTES;
/// Distance, in bytes written by a job, at which fillings come again: more than the records in
/// which file systems and drives compress, and little enough to stay in a processor's cache.
pub const POOL_BYTES: usize = 1 << 20;
/// Words of a sector that are not its filling.
const STAMP_WORDS: usize = 2;
/// Fillings have numbers below 2^32.
const FILLING_MASK: u64 = (1 << 32) - 1;
/// Distance of the fillings of a sector from one time it is written to the next, odd and large.
const GENERATION_STRIDE: u64 = 0x9E37_79B1;
/// Bits of a key that hold the sector number: 2^40 sectors are 512 TiB.
const SECTOR_BITS: u32 = 40;
const SECTOR_MASK: u64 = (1 << SECTOR_BITS) - 1;
/// Generations that a key tells apart.
pub(crate) const GENERATIONS: u32 = 1 << (u64::BITS - SECTOR_BITS);
/// Words of a broken sector that are asked for its filling, each in turn.
const WITNESSES: usize = 16;
/// Number of different duplicate chunks.
const DUPLICATES: u64 = 64;

/// Makes and checks data.
#[derive(Clone, Debug)]
pub struct Filler {
    contents: Contents,
    base: Box<[[u64; SECTOR_WORDS]; PAGE_SECTORS]>,
    salt: u64,
    /// Random bytes at the start of each 4 KiB.
    random_bytes: usize,
    /// A chunk is a duplicate when its hash is below this.
    dedupe_below: u64,
    has_avx2: bool,
}

/// How data differ from what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// First wrong byte, as an offset in the target.
    pub offset: u64,
    /// What is there instead.
    pub kind: MismatchKind,
}

/// What a sector says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sector {
    /// It is as it was written: to this sector of the target, the generation-th time.
    Whole {
        /// Number of the sector it was written to.
        number: u64,
        /// Which writing it was, modulo [`GENERATIONS`].
        generation: u32,
    },
    /// Zeros.
    Zeros,
    /// Anything else.
    Broken,
}

/// Kinds of wrong data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// The sector is whole but belongs elsewhere: its offset.
    Misplaced(u64),
    /// Zeros: never written, or lost.
    Zeros,
    /// Anything else.
    Garbled,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at offset {} ", self.offset)?;
        match self.kind {
            MismatchKind::Misplaced(from) => write!(f, "are data written to offset {from}"),
            MismatchKind::Zeros => f.write_str("are zeros where data were written"),
            MismatchKind::Garbled => f.write_str("the data are not what was written"),
        }
    }
}

impl Filler {
    /// For contents fixed by `seed`.
    #[must_use]
    pub fn new(contents: Contents, seed: u64) -> Self {
        let mut random = SplitMix64::new(seed);
        let salt = random.next_u64();
        let mut base = Box::new([[0; SECTOR_WORDS]; PAGE_SECTORS]);
        for word in base.iter_mut().flatten() {
            *word = random.next_u64();
        }
        let (random_bytes, dedupe_below) = match contents {
            Contents::Random => (PAGE_BYTES, 0),
            Contents::Zeros => (0, 0),
            Contents::Shaped {
                compressible,
                dedupe,
            } => {
                let kept = 1.0 - compressible.fraction().clamp(0.0, 1.0);
                let bytes = (kept * PAGE_BYTES as f64 / 8.0).round() as usize * 8;
                let below = dedupe.fraction().clamp(0.0, 1.0) * u64::MAX as f64;
                (bytes, below as u64)
            }
        };
        Self {
            contents,
            base,
            salt,
            random_bytes,
            dedupe_below,
            has_avx2: has_avx2(),
        }
    }

    /// Fills `data` with what is written to `offset` the `generation`-th time, with fillings that
    /// follow from both.
    pub fn fill(&self, data: &mut [u8], offset: u64, generation: u64) {
        match self.contents {
            Contents::Random => self.fill_random(data, offset, generation),
            Contents::Zeros => data.fill(0),
            Contents::Shaped { .. } => self.fill_shaped(data, offset, generation),
        }
    }

    fn fill_random(&self, data: &mut [u8], offset: u64, generation: u64) {
        if is_sectors(data.len(), offset) {
            let sector = offset / SECTOR_BYTES as u64;
            let later = generation.wrapping_mul(GENERATION_STRIDE);
            let first = sector.wrapping_add(later) & FILLING_MASK;
            self.put_fillings(data, first);
            self.stamp(data, first, offset, generation);
            return;
        }
        // Piece by piece at the edges of sectors.
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let within = at as usize % SECTOR_BYTES;
            let (part, next) = rest.split_at_mut(rest.len().min(SECTOR_BYTES - within));
            let mut whole = [0; SECTOR_BYTES];
            self.fill_random(&mut whole, at - within as u64, generation);
            part.copy_from_slice(&whole[within..within + part.len()]);
            at += part.len() as u64;
            rest = next;
        }
    }

    /// Puts fillings into whole sectors, numbered from `first`; their first words are left for
    /// [`Filler::stamp`].
    pub(crate) fn put_fillings(&self, data: &mut [u8], first: u64) {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: the processor has AVX2, checked when this value was made.
            unsafe { self.put_fillings_avx2(data, first) };
            return;
        }
        self.put_fillings_generic(data, first);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn put_fillings_avx2(&self, data: &mut [u8], first: u64) {
        self.put_fillings_generic(data, first);
    }

    #[inline(always)]
    fn put_fillings_generic(&self, data: &mut [u8], first: u64) {
        for (number, bytes) in (first..).zip(data.chunks_exact_mut(SECTOR_BYTES)) {
            let (base, key) = self.filling(number & FILLING_MASK);
            for (out, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(base) {
                *out = word.wrapping_add(key).to_le_bytes();
            }
        }
    }

    /// The row and the summand of a filling.
    #[inline(always)]
    fn filling(&self, number: u64) -> (&[u64; SECTOR_WORDS], u64) {
        let base = &self.base[number as usize % PAGE_SECTORS];
        (base, mix(number ^ self.salt.rotate_left(17)))
    }

    /// Makes sectors whose fillings are numbered from `first` those written to `offset`, a multiple
    /// of [`SECTOR_BYTES`], the `generation`-th time.
    #[inline(always)]
    pub(crate) fn stamp(&self, data: &mut [u8], first: u64, offset: u64, generation: u64) {
        let numbers = (first..).zip(offset / SECTOR_BYTES as u64..);
        for ((filling, sector), bytes) in numbers.zip(data.chunks_exact_mut(SECTOR_BYTES)) {
            let key = self.key(sector, generation);
            let words = bytes.as_chunks_mut::<8>().0;
            words[0] = key.to_le_bytes();
            words[1] = (self.mask(key) ^ (filling & FILLING_MASK)).to_le_bytes();
        }
    }

    #[inline(always)]
    const fn mask(&self, key: u64) -> u64 {
        key.rotate_left(32) ^ self.salt
    }

    /// Per 4 KiB of the target: random bytes first, zeros after, or a duplicate chunk.
    fn fill_shaped(&self, data: &mut [u8], offset: u64, generation: u64) {
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let within = at as usize % PAGE_BYTES;
            let (part, next) = rest.split_at_mut(rest.len().min(PAGE_BYTES - within));
            let page = at / PAGE_BYTES as u64;
            let chance = mix(self.salt ^ mix(page ^ (generation << SECTOR_BITS)));
            let (source, generation) = if chance < self.dedupe_below {
                (mix(chance) % DUPLICATES, u64::MAX)
            } else {
                (page, generation)
            };
            let place = source * PAGE_BYTES as u64 + within as u64;
            self.fill_random(part, place, generation);
            let random = self.random_bytes.saturating_sub(within).min(part.len());
            part[random..].fill(0);
            at += part.len() as u64;
            rest = next;
        }
    }

    fn key(&self, sector: u64, generation: u64) -> u64 {
        let id = (sector & SECTOR_MASK) | (generation << SECTOR_BITS);
        mix(id ^ self.salt)
    }

    /// Checks data read from `offset` against [`Contents::Random`] with this seed, whichever time
    /// they were written. Only whole sectors are checked; the rest of an unaligned range is not.
    ///
    /// # Errors
    /// The first sector that differs.
    pub fn verify(&self, data: &[u8], offset: u64) -> Result<(), Mismatch> {
        let skip = (SECTOR_BYTES - offset as usize % SECTOR_BYTES) % SECTOR_BYTES;
        let first = offset + skip as u64;
        for (index, bytes) in data
            .get(skip..)
            .unwrap_or_default()
            .chunks_exact(SECTOR_BYTES)
            .enumerate()
        {
            let at = first + (index * SECTOR_BYTES) as u64;
            if let Err(kind) = self.verify_sector(bytes, at / SECTOR_BYTES as u64) {
                return Err(Mismatch { offset: at, kind });
            }
        }
        Ok(())
    }

    /// What a sector says of itself.
    pub(crate) fn inspect(&self, bytes: &[u8]) -> Sector {
        let words = bytes.as_chunks::<8>().0;
        let word = |i: usize| words.get(i).map_or(0, |w| u64::from_le_bytes(*w));
        let key = word(0);
        let filling = word(1) ^ self.mask(key);
        let (base, summand) = self.filling(filling & FILLING_MASK);
        let is_whole = filling <= FILLING_MASK
            && words
                .iter()
                .zip(base)
                .skip(STAMP_WORDS)
                .all(|(w, b)| u64::from_le_bytes(*w) == b.wrapping_add(summand));
        if is_whole {
            let id = unmix(key) ^ self.salt;
            return Sector::Whole {
                number: id & SECTOR_MASK,
                generation: (id >> SECTOR_BITS) as u32,
            };
        }
        if bytes.iter().all(|&b| b == 0) {
            return Sector::Zeros;
        }
        Sector::Broken
    }

    /// How many bits of a broken sector differ from what it was, where enough of it is left to
    /// tell. What it was is known but for its filling, which is found by the words that still agree
    /// on one; without the generation, the first word is believed.
    pub(crate) fn flipped_bits(
        &self,
        bytes: &[u8],
        sector: u64,
        generation: Option<u32>,
    ) -> Option<u32> {
        let words: Vec<u64> = bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|w| u64::from_le_bytes(*w))
            .collect();
        let filling = self.surviving_filling(&words)?;
        let key = match generation {
            Some(generation) => self.key(sector, u64::from(generation)),
            None => *words.first()?,
        };
        let mut whole = [0; SECTOR_BYTES];
        self.put_fillings(&mut whole, filling);
        let stamp = [key, self.mask(key) ^ filling];
        for (out, word) in whole.as_chunks_mut::<8>().0.iter_mut().zip(stamp) {
            *out = word.to_le_bytes();
        }
        let differing = bytes.iter().zip(&whole).map(|(a, b)| (a ^ b).count_ones());
        Some(differing.sum())
    }

    /// The filling that most words of a sector agree on.
    fn surviving_filling(&self, words: &[u64]) -> Option<u64> {
        let agreeing = SECTOR_WORDS / 2;
        for row in &*self.base {
            for witness in STAMP_WORDS..STAMP_WORDS + WITNESSES {
                let summand = words.get(witness)?.wrapping_sub(row[witness]);
                let agree = words
                    .iter()
                    .zip(row)
                    .skip(STAMP_WORDS)
                    .filter(|(w, b)| w.wrapping_sub(**b) == summand);
                if agree.count() >= agreeing {
                    let number = unmix(summand) ^ self.salt.rotate_left(17);
                    return (number <= FILLING_MASK).then_some(number);
                }
            }
        }
        None
    }

    fn verify_sector(&self, bytes: &[u8], sector: u64) -> Result<(), MismatchKind> {
        match self.inspect(bytes) {
            Sector::Whole { number, .. } if number == sector => Ok(()),
            Sector::Whole { number, .. } => {
                Err(MismatchKind::Misplaced(number * SECTOR_BYTES as u64))
            }
            Sector::Zeros => Err(MismatchKind::Zeros),
            Sector::Broken => Err(MismatchKind::Garbled),
        }
    }
}

fn is_sectors(length: usize, offset: u64) -> bool {
    offset.is_multiple_of(SECTOR_BYTES as u64) && length.is_multiple_of(SECTOR_BYTES)
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

const MIX_1: u64 = 0xBF58_476D_1CE4_E5B9;
const MIX_2: u64 = 0x94D0_49BB_1331_11EB;

/// The finalizer of SplitMix64: a bijection of 64 bits.
#[inline(always)]
pub(crate) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(MIX_1);
    z = (z ^ (z >> 27)).wrapping_mul(MIX_2);
    z ^ (z >> 31)
}

/// Inverse of [`mix`].
const fn unmix(mut z: u64) -> u64 {
    z ^= (z >> 31) ^ (z >> 62);
    z = z.wrapping_mul(inverse(MIX_2));
    z ^= (z >> 27) ^ (z >> 54);
    z = z.wrapping_mul(inverse(MIX_1));
    z ^ (z >> 30) ^ (z >> 60)
}

/// Inverse of an odd number modulo 2^64, by Newton's iteration.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        x = x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

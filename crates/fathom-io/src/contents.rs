//! What is written, and checking that it was read back.
//!
//! Data are made in sectors of 512 bytes. Sector `s` of the target, written the `g`-th time,
//! holds `base[i] + key` in its 64-bit words, where `base` is a page of random words fixed by
//! the seed and `key` a bijective mix of `(g, s)`. No two sectors share a word but by chance, so
//! nothing compresses or deduplicates; and the key read back tells which sector it was meant for.

use fathom_base::SplitMix64;

use crate::spec::Contents;

#[cfg(test)]
mod tests;

/// Bytes that share a key.
pub const SECTOR_BYTES: usize = 512;
const SECTOR_WORDS: usize = SECTOR_BYTES / 8;
const PAGE_BYTES: usize = 4096;
const PAGE_SECTORS: usize = PAGE_BYTES / SECTOR_BYTES;
/// Bits of a key that hold the sector number: 2^40 sectors are 512 TiB.
const SECTOR_BITS: u32 = 40;
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

    /// Fills `data` with what is written to `offset` the `generation`-th time.
    #[inline]
    pub fn fill(&self, data: &mut [u8], offset: u64, generation: u64) {
        match self.contents {
            Contents::Random if is_sectors(data, offset) => {
                self.fill_sectors(data, offset, generation);
            }
            Contents::Random => self.fill_any(data, offset, generation),
            Contents::Zeros => {}
            Contents::Shaped { .. } => self.fill_shaped(data, offset, generation),
        }
    }

    fn fill_sectors(&self, data: &mut [u8], offset: u64, generation: u64) {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: the processor has AVX2, checked when this value was made.
            unsafe { self.fill_sectors_avx2(data, offset, generation) };
            return;
        }
        self.fill_sectors_generic(data, offset, generation);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn fill_sectors_avx2(&self, data: &mut [u8], offset: u64, generation: u64) {
        self.fill_sectors_generic(data, offset, generation);
    }

    #[inline(always)]
    fn fill_sectors_generic(&self, data: &mut [u8], offset: u64, generation: u64) {
        let sectors = offset / SECTOR_BYTES as u64..;
        for (sector, bytes) in sectors.zip(data.chunks_exact_mut(SECTOR_BYTES)) {
            let key = self.key(sector, generation);
            let base = &self.base[sector as usize % PAGE_SECTORS];
            for (out, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(base) {
                *out = word.wrapping_add(key).to_le_bytes();
            }
        }
    }

    /// Any position and length, byte by byte at the edges.
    fn fill_any(&self, data: &mut [u8], offset: u64, generation: u64) {
        let mut at = offset;
        let mut rest = data;
        while !rest.is_empty() {
            let within = at as usize % SECTOR_BYTES;
            let (part, next) = rest.split_at_mut(rest.len().min(SECTOR_BYTES - within));
            let whole = self.sector(at / SECTOR_BYTES as u64, generation);
            part.copy_from_slice(&whole[within..within + part.len()]);
            at += part.len() as u64;
            rest = next;
        }
    }

    fn sector(&self, sector: u64, generation: u64) -> [u8; SECTOR_BYTES] {
        let mut bytes = [0; SECTOR_BYTES];
        self.fill_sectors_generic(&mut bytes, sector * SECTOR_BYTES as u64, generation);
        bytes
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
            self.fill_any(part, source * PAGE_BYTES as u64 + within as u64, generation);
            let random = self.random_bytes.saturating_sub(within).min(part.len());
            part[random..].fill(0);
            at += part.len() as u64;
            rest = next;
        }
    }

    fn key(&self, sector: u64, generation: u64) -> u64 {
        let id = (sector & ((1 << SECTOR_BITS) - 1)) | (generation << SECTOR_BITS);
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

    fn verify_sector(&self, bytes: &[u8], sector: u64) -> Result<(), MismatchKind> {
        let words = bytes.as_chunks::<8>().0;
        let word = |i: usize| words.get(i).map_or(0, |w| u64::from_le_bytes(*w));
        // Word 0 gives the key for the row of the page the sector should be in, or lies in.
        let row = sector as usize % PAGE_SECTORS;
        let holds = |row: usize, key: u64| {
            let base = self.base[row].iter();
            words
                .iter()
                .zip(base)
                .all(|(w, b)| u64::from_le_bytes(*w) == b.wrapping_add(key))
        };
        let id_of = |key: u64| (unmix(key) ^ self.salt) & ((1 << SECTOR_BITS) - 1);
        let key = word(0).wrapping_sub(self.base[row][0]);
        if id_of(key) == sector && holds(row, key) {
            return Ok(());
        }
        if bytes.iter().all(|&b| b == 0) {
            return Err(MismatchKind::Zeros);
        }
        for other in 0..PAGE_SECTORS {
            let key = word(0).wrapping_sub(self.base[other][0]);
            if id_of(key) as usize % PAGE_SECTORS == other && holds(other, key) {
                return Err(MismatchKind::Misplaced(id_of(key) * SECTOR_BYTES as u64));
            }
        }
        Err(MismatchKind::Garbled)
    }
}

fn is_sectors(data: &[u8], offset: u64) -> bool {
    offset.is_multiple_of(SECTOR_BYTES as u64) && data.len().is_multiple_of(SECTOR_BYTES)
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

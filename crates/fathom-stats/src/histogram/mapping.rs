//! The log-linear mapping between nanoseconds and bucket indices.
//!
//! With `b` sub-bucket bits, values below 2^(b+1) have a bucket each; above, every octave
//! [2^k, 2^(k+1)) is cut into 2^b buckets of equal width. The index of a value `v` whose highest
//! set bit is `k > b` is `(k - b) * 2^b + (v >> (k - b))`. With 6 bits this is the mapping of
//! fio's `plat_val_to_idx` (fio `stat.c`), so that its bins can be read back; the idea is that of
//! HdrHistogram (Tene, 2012). A bucket is at most 2^-b of its lower edge wide.

/// Fewest sub-bucket bits a histogram may be read with.
pub const MIN_BITS: u32 = 1;
/// Most sub-bucket bits a histogram may be read with.
pub const MAX_BITS: u32 = 16;
/// Sub-bucket bits of fio's histograms, 64 buckets an octave.
pub const FIO_SUB_BUCKET_BITS: u32 = 6;

/// Bucket index of `ns` with `bits` sub-bucket bits; free of branches.
#[inline(always)]
#[must_use]
pub const fn bucket_index(bits: u32, ns: u64) -> usize {
    let shift = (63 - bits) - (ns | (1 << bits)).leading_zeros();
    ((shift as usize) << bits) + (ns >> shift) as usize
}

/// Lowest and highest value, both inclusive, of the bucket `index` with `bits` sub-bucket bits.
///
/// # Panics
/// If `index` is above [`last_index`]`(bits)`.
#[must_use]
pub const fn bucket_bounds(bits: u32, index: usize) -> (u64, u64) {
    assert!(
        index <= last_index(bits),
        "a bucket index stands for a 64-bit value"
    );
    let octave = index >> bits;
    let shift = octave.saturating_sub(1);
    let low = ((index - (shift << bits)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

/// Index of the bucket of the largest 64-bit value.
#[must_use]
pub const fn last_index(bits: u32) -> usize {
    bucket_index(bits, u64::MAX)
}

/// Middle of a bucket, the value that stands for its samples.
pub(super) const fn middle(low: u64, high: u64) -> u64 {
    low + (high - low) / 2
}

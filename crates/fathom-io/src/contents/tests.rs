use std::collections::HashSet;

use fathom_base::Percent;
use proptest::prelude::*;

use super::{Filler, Mismatch, MismatchKind, SECTOR_BYTES, inverse, mix, unmix};
use crate::spec::Contents;

fn random(seed: u64) -> Filler {
    Filler::new(Contents::Random, seed)
}

fn shaped(compressible: f64, dedupe: f64) -> Filler {
    let percent = |p| Percent::new(p).unwrap();
    let contents = Contents::Shaped {
        compressible: percent(compressible),
        dedupe: percent(dedupe),
    };
    Filler::new(contents, 1)
}

fn filled(filler: &Filler, offset: u64, length: usize, generation: u64) -> Vec<u8> {
    let mut data = vec![0xEE; length];
    filler.fill(&mut data, offset, generation);
    data
}

#[test]
fn keys_can_be_taken_apart_again() {
    for z in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
        assert_eq!(unmix(mix(z)), z);
    }
    assert_eq!(inverse(3).wrapping_mul(3), 1);
}

/// No 8-byte word of a megabyte written block by block comes twice, so neither a compressor nor
/// a deduplicator finds a match.
#[test]
fn random_contents_do_not_repeat() {
    let filler = random(1);
    let mut words = HashSet::new();
    let mut count = 0;
    for block in 0..256_u64 {
        for generation in [1, 2] {
            let data = filled(&filler, block * 4096, 4096, generation);
            for word in data.as_chunks::<8>().0 {
                words.insert(*word);
                count += 1;
            }
        }
    }
    assert_eq!(words.len(), count);
}

/// What a job writes: a pool of fillings, stamped anew each time. Within the pool's size nothing
/// comes twice, and each sector verifies wherever it was written.
#[test]
fn stamped_fillings_do_not_repeat_within_the_pool() {
    let filler = random(6);
    let mut pool = vec![0; 1 << 18];
    filler.put_fillings(&mut pool, 0);
    let mut words = HashSet::new();
    let mut count = 0;
    let mut stamps = HashSet::new();
    for round in 0..3 {
        for (index, block) in pool.chunks_exact_mut(4096).enumerate() {
            let offset = (index as u64 * 7919 % 100_000) * 4096;
            filler.stamp(block, index as u64 * 8, offset, 5 + round);
            assert_eq!(filler.verify(block, offset), Ok(()));
            for (at, word) in block.as_chunks::<8>().0.iter().enumerate() {
                let is_stamp = at % 64 < 2;
                if is_stamp {
                    assert!(stamps.insert(*word), "stamps never come twice");
                }
                if round == 0 {
                    words.insert(*word);
                    count += 1;
                }
            }
        }
    }
    assert_eq!(words.len(), count);
}

#[test]
fn random_contents_use_all_bytes_evenly() {
    let data = filled(&random(2), 0, 1 << 20, 1);
    let mut counts = [0_u32; 256];
    for byte in data {
        counts[byte as usize] += 1;
    }
    let chi_square: f64 = counts
        .iter()
        .map(|&n| (f64::from(n) - 4096.0).powi(2) / 4096.0)
        .sum();
    // 255 degrees of freedom: 1e-6 quantiles are 160 and 375.
    assert!((160.0..375.0).contains(&chi_square), "{chi_square}");
}

#[test]
fn what_is_filled_verifies_wherever_it_is_cut() {
    let filler = random(3);
    for (offset, length) in [
        (0, 4096),
        (512, 512),
        (4096, 65_536),
        (100, 3000),
        (7, 20_000),
    ] {
        let data = filled(&filler, offset, length, 5);
        assert_eq!(filler.verify(&data, offset), Ok(()), "{offset} {length}");
        let whole = filled(&filler, 0, offset as usize + length, 5);
        assert_eq!(data, whole[offset as usize..], "the pieces fit together");
    }
}

#[test]
fn wrong_data_are_named_for_what_they_are() {
    let filler = random(4);
    let good = filled(&filler, 8192, 4096, 1);
    let at = |offset, kind| Err(Mismatch { offset, kind });
    assert_eq!(
        filler.verify(&good, 12_288),
        at(12_288, MismatchKind::Misplaced(8192))
    );
    assert_eq!(
        filler.verify(&good, 8192 + 512),
        at(8704, MismatchKind::Misplaced(8192)),
        "also within a page"
    );
    let mut lost = good.clone();
    lost[1024..1536].fill(0);
    assert_eq!(filler.verify(&lost, 8192), at(9216, MismatchKind::Zeros));
    let mut flipped = good.clone();
    flipped[4095] ^= 1;
    let last = 8192 + 4096 - SECTOR_BYTES as u64;
    assert_eq!(
        filler.verify(&flipped, 8192),
        at(last, MismatchKind::Garbled)
    );
    let other_seed = filled(&random(5), 8192, 512, 1);
    assert_eq!(
        filler.verify(&other_seed, 8192),
        at(8192, MismatchKind::Garbled)
    );
}

#[test]
fn zeros_are_zeros() {
    let data = filled(&Filler::new(Contents::Zeros, 1), 0, 4096, 1);
    assert!(data.iter().all(|&b| b == 0));
}

#[test]
fn shaped_contents_have_zeros_in_each_page() {
    for percent in [0.0, 25.0, 50.0, 100.0] {
        let data = filled(&shaped(percent, 0.0), 0, 16 * 4096, 1);
        for page in data.chunks_exact(4096) {
            let zeros = page.iter().rev().take_while(|&&b| b == 0).count();
            let expected = percent / 100.0 * 4096.0;
            assert!((zeros as f64 - expected).abs() <= 8.0, "{percent}: {zeros}");
        }
    }
}

#[test]
fn shaped_contents_have_duplicates() {
    let data = filled(&shaped(0.0, 40.0), 0, 4000 * 4096, 1);
    let pages: Vec<&[u8]> = data.chunks_exact(4096).collect();
    let different: HashSet<&[u8]> = pages.iter().copied().collect();
    // 40 % of the pages are one of 64.
    let expected = 0.6 * 4000.0 + 64.0;
    let found = different.len() as f64;
    assert!((found - expected).abs() < 120.0, "{found}");
    let again = filled(&shaped(0.0, 40.0), 0, 4000 * 4096, 1);
    assert!(data == again, "the seed fixes them");
}

proptest! {
    #[test]
    fn unmix_is_the_inverse_of_mix(z in any::<u64>()) {
        prop_assert_eq!(unmix(mix(z)), z);
        prop_assert_eq!(mix(unmix(z)), z);
    }

    #[test]
    fn any_flipped_bit_is_found(
        seed in any::<u64>(),
        generation in any::<u64>(),
        sector in 0_u64..(1 << 40) - 8,
        bit in 0_usize..4096 * 8,
    ) {
        let filler = random(seed);
        let offset = sector * SECTOR_BYTES as u64;
        let mut data = filled(&filler, offset, 4096, generation);
        prop_assert_eq!(filler.verify(&data, offset), Ok(()));
        data[bit / 8] ^= 1 << (bit % 8);
        let found = filler.verify(&data, offset).unwrap_err();
        let expected = offset + (bit / 8 / SECTOR_BYTES * SECTOR_BYTES) as u64;
        prop_assert_eq!(found.offset, expected);
    }
}

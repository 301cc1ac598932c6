//! How compressible data is, by a fast compressor's way of looking at it.

/// Longest sample looked at.
const SAMPLE_LIMIT: usize = 1 << 20;
/// Shortest repeat worth a reference, as in LZ4.
const SHORTEST_MATCH: usize = 4;
/// Farthest back a reference reaches, as in LZ4.
const WINDOW: usize = 65_535;
const HASH_BITS: u32 = 14;

/// Share of the bytes that an LZ4-like compressor would save on `sample`, 0 to 1.
///
/// Greedy parsing with one candidate a hash, the costs of LZ4's block format (a token and an offset
/// for a match, length bytes beyond 15 literals and 19 matched bytes), nothing compressed. Looks at
/// the first MiB at most.
pub(crate) fn compressible_share(sample: &[u8]) -> f64 {
    let sample = &sample[..sample.len().min(SAMPLE_LIMIT)];
    if sample.is_empty() {
        return 0.0;
    }
    let mut last_seen = vec![usize::MAX; 1 << HASH_BITS];
    let (mut at, mut literals_from, mut cost) = (0, 0, 0_usize);
    while at + SHORTEST_MATCH <= sample.len() {
        let slot = &mut last_seen[hash(&sample[at..at + SHORTEST_MATCH])];
        let candidate = std::mem::replace(slot, at);
        let length = match candidate {
            usize::MAX => 0,
            from if at - from > WINDOW => 0,
            from => common_length(sample, from, at),
        };
        if length < SHORTEST_MATCH {
            at += 1;
            continue;
        }
        cost += literals_cost(at - literals_from) + 2 + extra_length_bytes(length - 4, 15);
        at += length;
        literals_from = at;
    }
    cost += literals_cost(sample.len() - literals_from);
    let saved = sample.len().saturating_sub(cost);
    saved as f64 / sample.len() as f64
}

fn hash(four: &[u8]) -> usize {
    let word = four
        .iter()
        .fold(0_u32, |word, byte| (word << 8) | u32::from(*byte));
    (word.wrapping_mul(2_654_435_761) >> (32 - HASH_BITS)) as usize
}

fn common_length(sample: &[u8], from: usize, at: usize) -> usize {
    let (old, new) = (&sample[from..], &sample[at..]);
    old.iter().zip(new).take_while(|(a, b)| a == b).count()
}

/// A token, length bytes, and the literals themselves.
fn literals_cost(count: usize) -> usize {
    1 + extra_length_bytes(count, 15) + count
}

fn extra_length_bytes(length: usize, in_token: usize) -> usize {
    match length >= in_token {
        true => (length - in_token) / 255 + 1,
        false => 0,
    }
}

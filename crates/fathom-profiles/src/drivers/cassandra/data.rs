//! Keys and values: functions of a row's number.

use fathom_stats::random::Xoshiro256;

const KEY_BYTES: usize = 10;
const VALUES: usize = 5;
const VALUE_BYTES: usize = 34;

/// Ten hexadecimal digits, different for every number below 2^40 and in no order.
pub(super) fn key_of(number: u64) -> Vec<u8> {
    const MASK: u64 = (1 << (4 * KEY_BYTES)) - 1;
    // Steps that can be undone keep different numbers different: multiplying by an odd number,
    // and mixing high bits into low ones.
    let mut bits = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & MASK;
    bits ^= bits >> 21;
    bits = bits.wrapping_mul(0xbf58_476d_1ce4_e5b9) & MASK;
    bits ^= bits >> 19;
    format!("{bits:0width$x}", width = KEY_BYTES).into_bytes()
}

/// The values of a row.
pub(super) fn values_of(number: u64) -> [Vec<u8>; VALUES] {
    let mut random = Xoshiro256::new(number);
    std::array::from_fn(|_| {
        let mut value = Vec::with_capacity(VALUE_BYTES + 7);
        while value.len() < VALUE_BYTES {
            value.extend(random.next_u64().to_le_bytes());
        }
        value.truncate(VALUE_BYTES);
        value
    })
}

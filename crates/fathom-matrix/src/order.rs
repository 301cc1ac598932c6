use fathom_base::{SplitMix64, seed_for};

/// The order in which a block takes the configurations: drawn afresh for each block, the same for
/// the same seed.
pub fn block_order(seed: u64, block: u32, configurations: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..configurations).collect();
    SplitMix64::new(seed_for(seed, &format!("matrix/block/{block}"))).shuffle(&mut order);
    order
}

//! Tests of the generator.

use super::*;

#[test]
fn outputs_are_those_of_the_reference() {
    // The first outputs of xoshiro256** from the state 1, 2, 3, 4, as published with the
    // authors' C code and used by the tests of rand_xoshiro.
    let mut random = Xoshiro256 {
        state: [1, 2, 3, 4],
    };
    for expected in [
        11520,
        0,
        1509978240,
        1215971899390074240,
        1216172134540287360,
    ] {
        assert_eq!(random.next_u64(), expected);
    }
    // SplitMix64 from 0, from the same source.
    let mut state = 0;
    assert_eq!(split_mix(&mut state), 16294208416658607535);
    assert_eq!(split_mix(&mut state), 7960286522194355700);
}

#[test]
fn seeds_repeat_and_differ() {
    let first = |seed| Xoshiro256::new(seed).next_u64();
    assert_eq!(first(7), first(7));
    assert_ne!(first(7), first(8));
}

#[test]
fn numbers_below_a_limit_are_even() {
    let mut random = Xoshiro256::new(1);
    let mut counts = [0_u32; 3];
    for _ in 0..30_000 {
        counts[random.below(3) as usize] += 1;
    }
    // Five standard deviations of a binomial count.
    assert!(
        counts.iter().all(|&n| n.abs_diff(10_000) < 410),
        "{counts:?}"
    );
    assert_eq!(random.below(1), 0);
    let fractions: Vec<f64> = (0..10_000).map(|_| random.fraction()).collect();
    assert!(fractions.iter().all(|f| (0.0..1.0).contains(f)));
    let mean = fractions.iter().sum::<f64>() / 10_000.0;
    assert!((mean - 0.5).abs() < 0.015, "{mean}");
}

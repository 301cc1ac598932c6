use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use fathom_base::{Bytes, Percent};
use proptest::prelude::*;

use super::{Kind, Permutation, Source, Step, budget_of};
use crate::spec::{BlockSizes, Cursor, Distribution, JobSpec, Mode, SizeShare, Stop};
use crate::testing::null_spec;

const BLOCK: u64 = 4096;

fn random(blocks: u64, distribution: Distribution) -> JobSpec {
    JobSpec {
        mode: Mode::RandRead,
        distribution,
        size: Bytes::new(blocks * BLOCK),
        stop: unlimited(),
        ..null_spec()
    }
}

const fn unlimited() -> Stop {
    Stop {
        runtime: Some(fathom_base::Nanos::from_secs(1)),
        bytes: None,
        passes: None,
    }
}

fn source(spec: &JobSpec, job: u32) -> Source {
    Source::new(spec, job, &Arc::new(AtomicU64::new(0)))
}

/// The next `count` operations, or fewer.
fn take(source: &mut Source, count: usize) -> Vec<Step> {
    std::iter::from_fn(|| source.next()).take(count).collect()
}

fn blocks(steps: &[Step]) -> Vec<u64> {
    steps.iter().map(|s| s.offset / BLOCK).collect()
}

fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

#[test]
fn permutations_are_bijections() {
    let lengths = (1..70).chain([127, 128, 129, 1000, 4096, 4097, 65_537]);
    for len in lengths {
        for key in 0..4 {
            let order = Permutation::new(len, key);
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let at = order.apply(index);
                assert!(
                    !std::mem::replace(&mut seen[at as usize], true),
                    "{len} {key}: {at} comes twice"
                );
            }
        }
    }
}

#[test]
fn permutations_of_huge_ranges_stay_inside() {
    for len in [1 << 40, (1 << 40) + 1, u64::MAX / 2] {
        let order = Permutation::new(len, 7);
        let mut seen: Vec<u64> = (0..2000).map(|i| order.apply(i)).collect();
        assert!(seen.iter().all(|&at| at < len));
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 2000);
    }
}

/// Successive offsets of a random pass must not be near each other, or rise together: what a
/// drive would see as a pattern.
#[test]
fn permutations_look_random() {
    for (len, key) in [(1 << 18, 1_u64), (262_147, 2), (200_000, 3)] {
        let order = Permutation::new(len, key);
        let values: Vec<f64> = (0..20_000)
            .map(|i| order.apply(i) as f64 / len as f64)
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean - 0.5).abs() < 0.01, "{len}: mean {mean}");
        for lag in [1, 2, 3, 8, 64] {
            let pairs = values.iter().zip(&values[lag..]);
            let count = (values.len() - lag) as f64;
            let product: f64 = pairs.map(|(a, b)| (a - 0.5) * (b - 0.5)).sum();
            let correlation = product / count * 12.0;
            assert!(
                correlation.abs() < 0.03,
                "{len} lag {lag}: correlation {correlation}"
            );
        }
        // Steps between neighbours: a uniform pair differs by less than 1 % of the range with a
        // chance of 1.99 %.
        let close = values
            .windows(2)
            .filter(|w| (w[0] - w[1]).abs() < 0.01)
            .count();
        let share = close as f64 / values.len() as f64;
        assert!((0.017..0.023).contains(&share), "{len}: {share} are close");
    }
}

#[test]
fn once_each_visits_every_block_once_a_pass() {
    for count in [1, 2, 3, 255, 256, 1000] {
        let spec = random(count, Distribution::OnceEach);
        let mut source = source(&spec, 0);
        let passes: Vec<Vec<u64>> = (0..3)
            .map(|_| blocks(&take(&mut source, count as usize)))
            .collect();
        let all: Vec<u64> = (0..count).collect();
        for pass in &passes {
            assert_eq!(sorted(pass.clone()), all);
        }
        if count > 8 {
            assert_ne!(passes[0], passes[1], "each pass has an order of its own");
        }
    }
}

#[test]
fn offsets_lie_on_the_grid_behind_the_offset() {
    let mut spec = random(64, Distribution::Uniform);
    spec.offset = Bytes::new(3 * BLOCK);
    // A tail that is no whole block is left alone.
    spec.size = Bytes::new(64 * BLOCK + 100);
    for step in take(&mut source(&spec, 0), 5000) {
        assert_eq!(step.offset % BLOCK, 0);
        assert!((3 * BLOCK..67 * BLOCK).contains(&step.offset));
    }
}

#[test]
fn a_seed_fixes_the_offsets() {
    for distribution in [
        Distribution::OnceEach,
        Distribution::Uniform,
        Distribution::Zipf { theta: 1.1 },
        Distribution::Pareto { h: 0.2 },
    ] {
        let mut spec = random(1000, distribution);
        spec.mode = Mode::RandMixed {
            read_percent: Percent::new(50.0).unwrap(),
        };
        let first = take(&mut source(&spec, 0), 500);
        assert_eq!(first, take(&mut source(&spec, 0), 500));
        assert_ne!(first, take(&mut source(&spec, 1), 500), "jobs differ");
        spec.seed += 1;
        assert_ne!(first, take(&mut source(&spec, 0), 500), "seeds differ");
    }
}

/// Offsets are part of what a result means: a change of them is a new version of the test.
#[test]
fn offsets_of_seed_1_are_fixed_for_ever() {
    let spec = random(1000, Distribution::OnceEach);
    let once = blocks(&take(&mut source(&spec, 0), 8));
    let uniform = blocks(&take(
        &mut source(&random(1000, Distribution::Uniform), 0),
        8,
    ));
    let zipf = random(1000, Distribution::Zipf { theta: 1.1 });
    let zipf = blocks(&take(&mut source(&zipf, 0), 8));
    expect_test::expect![[r#"
        (
            [
                983,
                320,
                45,
                540,
                707,
                375,
                225,
                305,
            ],
            [
                19,
                651,
                606,
                31,
                620,
                149,
                167,
                597,
            ],
            [
                331,
                828,
                718,
                491,
                963,
                902,
                949,
                538,
            ],
        )
    "#]]
    .assert_debug_eq(&(once, uniform, zipf));
}

#[test]
fn uniform_offsets_are_uniform() {
    const BLOCKS: u64 = 100;
    const DRAWS: usize = 100_000;
    let spec = random(BLOCKS, Distribution::Uniform);
    let mut counts = [0_u64; BLOCKS as usize];
    for block in blocks(&take(&mut source(&spec, 0), DRAWS)) {
        counts[block as usize] += 1;
    }
    let expected = DRAWS as f64 / BLOCKS as f64;
    let chi_square: f64 = counts
        .iter()
        .map(|&n| (n as f64 - expected).powi(2) / expected)
        .sum();
    // 99 degrees of freedom: 1e-4 quantiles are 55.6 and 157.3.
    assert!((55.0..158.0).contains(&chi_square), "{chi_square}");
}

/// Shares of draws by popularity.
fn popularity(distribution: Distribution, blocks_in_all: u64, draws: usize) -> Vec<f64> {
    let spec = random(blocks_in_all, distribution);
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for block in blocks(&take(&mut source(&spec, 0), draws)) {
        *counts.entry(block).or_default() += 1;
    }
    let mut shares: Vec<f64> = counts.values().map(|&n| n as f64 / draws as f64).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    shares
}

#[test]
fn zipf_follows_its_law() {
    let theta = 1.2;
    let shares = popularity(Distribution::Zipf { theta }, 1000, 200_000);
    let sum: f64 = (1..=1000).map(|k| f64::from(k).powf(-theta)).sum();
    for rank in 1..=5 {
        let expected = f64::from(rank).powf(-theta) / sum;
        let found = shares[rank as usize - 1];
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "rank {rank}: {found} instead of {expected}"
        );
    }
}

#[test]
fn pareto_gives_80_per_cent_to_20_per_cent() {
    let shares = popularity(Distribution::Pareto { h: 0.2 }, 1000, 200_000);
    let top: f64 = shares.iter().take(200).sum();
    assert!((0.79..0.82).contains(&top), "{top}");
}

#[test]
fn sequential_offsets_wrap_at_the_end() {
    let spec = JobSpec {
        mode: Mode::Read,
        size: Bytes::new(3 * BLOCK),
        stop: unlimited(),
        ..null_spec()
    };
    assert_eq!(
        blocks(&take(&mut source(&spec, 0), 7)),
        [0, 1, 2, 0, 1, 2, 0]
    );
}

#[test]
fn sequential_mixes_keep_a_cursor_for_each_direction() {
    let spec = JobSpec {
        mode: Mode::Mixed {
            read_percent: Percent::new(70.0).unwrap(),
        },
        size: Bytes::new(1000 * BLOCK),
        stop: unlimited(),
        ..null_spec()
    };
    let steps = take(&mut source(&spec, 0), 1000);
    let of = |kind| -> Vec<u64> {
        let wanted: Vec<Step> = steps.iter().filter(|s| s.kind == kind).copied().collect();
        blocks(&wanted)
    };
    let (reads, writes) = (of(Kind::Read), of(Kind::Write));
    assert!((650..750).contains(&reads.len()), "{}", reads.len());
    assert_eq!(reads, (0..reads.len() as u64).collect::<Vec<_>>());
    assert_eq!(writes, (0..writes.len() as u64).collect::<Vec<_>>());
}

#[test]
fn parts_cover_the_span_without_overlap() {
    for mode in [Mode::Read, Mode::RandRead] {
        let spec = JobSpec {
            mode,
            cursor: Cursor::Partitioned,
            jobs: 7,
            size: Bytes::new(100 * BLOCK),
            stop: Stop {
                runtime: None,
                bytes: None,
                passes: Some(1),
            },
            ..null_spec()
        };
        let mut all = Vec::new();
        for job in 0..7 {
            all.extend(blocks(&take(&mut source(&spec, job), 1000)));
        }
        assert_eq!(sorted(all), (0..100).collect::<Vec<_>>(), "{mode:?}");
    }
}

#[test]
fn a_shared_cursor_hands_out_each_block_once() {
    for mode in [Mode::Read, Mode::RandRead] {
        let spec = JobSpec {
            mode,
            cursor: Cursor::Shared,
            jobs: 3,
            size: Bytes::new(100 * BLOCK),
            stop: Stop {
                runtime: None,
                bytes: None,
                passes: Some(2),
            },
            ..null_spec()
        };
        let cursor = Arc::new(AtomicU64::new(0));
        let mut jobs: Vec<Source> = (0..3).map(|j| Source::new(&spec, j, &cursor)).collect();
        let mut all = Vec::new();
        // Uneven turns, as threads take them.
        for turn in 0..1000 {
            all.extend(jobs[turn * turn % 3].next());
        }
        let twice: Vec<u64> = (0..200).map(|i| i / 2).collect();
        assert_eq!(sorted(blocks(&all)), twice, "{mode:?}");
    }
}

#[test]
fn limits_are_of_all_jobs_together() {
    let mut spec = random(100, Distribution::OnceEach);
    spec.jobs = 3;
    spec.stop = Stop {
        runtime: None,
        bytes: Some(Bytes::new(10 * BLOCK - 1)),
        passes: None,
    };
    let counts: Vec<usize> = (0..3)
        .map(|j| take(&mut source(&spec, j), 99).len())
        .collect();
    assert_eq!(counts, [4, 3, 3]);
    spec.stop.passes = Some(2);
    spec.stop.bytes = None;
    assert_eq!(budget_of(&spec), 2 * 3 * 100 * BLOCK);
}

#[test]
fn splits_follow_their_shares_and_stay_in_the_span() {
    let share = |size, percent| SizeShare {
        size: Bytes::new(size),
        share: Percent::new(percent).unwrap(),
    };
    for mode in [Mode::RandRead, Mode::Read] {
        let spec = JobSpec {
            mode,
            block_sizes: BlockSizes::split(&[
                share(4096, 60.0),
                share(65_536, 30.0),
                share(512, 10.0),
            ]),
            size: Bytes::new(1 << 20),
            stop: unlimited(),
            ..null_spec()
        };
        let steps = take(&mut source(&spec, 0), 20_000);
        for (length, expected) in [(4096, 0.6), (65_536, 0.3), (512, 0.1)] {
            let count = steps.iter().filter(|s| s.length == length).count();
            let found = count as f64 / steps.len() as f64;
            assert!((found - expected).abs() < 0.02, "{length}: {found}");
        }
        for step in steps {
            assert!(step.offset + u64::from(step.length) <= 1 << 20);
            assert_eq!(step.offset % 512, 0);
        }
    }
}

#[test]
fn reads_and_writes_may_have_sizes_of_their_own() {
    let spec = JobSpec {
        mode: Mode::RandMixed {
            read_percent: Percent::new(50.0).unwrap(),
        },
        block_sizes: BlockSizes::separate(Bytes::new(4096), Bytes::new(16_384)),
        size: Bytes::new(1 << 20),
        stop: unlimited(),
        ..null_spec()
    };
    for step in take(&mut source(&spec, 0), 1000) {
        let expected = if step.kind == Kind::Read {
            4096
        } else {
            16_384
        };
        assert_eq!(step.length, expected);
    }
}

proptest! {
    #[test]
    fn every_operation_lies_in_the_span(
        seed in any::<u64>(),
        jobs in 1_u32..5,
        blocks in 8_u64..500,
        offset in 0_u64..100,
        mode in 0_usize..4,
        cursor in 0_usize..3,
    ) {
        let percent = Percent::new(40.0).unwrap();
        let spec = JobSpec {
            seed,
            jobs,
            mode: [
                Mode::Read,
                Mode::RandWrite,
                Mode::Mixed { read_percent: percent },
                Mode::RandMixed { read_percent: percent },
            ][mode],
            cursor: [Cursor::Own, Cursor::Partitioned, Cursor::Shared][cursor],
            offset: Bytes::new(offset * BLOCK),
            size: Bytes::new(blocks * BLOCK),
            stop: Stop { runtime: None, bytes: None, passes: Some(2) },
            ..null_spec()
        };
        let shared = Arc::new(AtomicU64::new(0));
        let mut total = 0;
        for job in 0..jobs {
            let mut source = Source::new(&spec, job, &shared);
            while let Some(step) = source.next() {
                prop_assert!(step.offset >= offset * BLOCK);
                prop_assert!(step.offset + BLOCK <= (offset + blocks) * BLOCK);
                total += u64::from(step.length);
            }
        }
        prop_assert_eq!(total, budget_of(&spec));
    }
}

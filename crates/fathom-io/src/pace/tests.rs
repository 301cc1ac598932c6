use fathom_base::{Bytes, Rate};
use proptest::prelude::*;

use super::{Due, Pacer};
use crate::spec::{Arrivals, BlockSizes, JobSpec, Pace};
use crate::testing::null_spec;

fn spec(pace: Pace) -> JobSpec {
    JobSpec {
        pace,
        block_sizes: BlockSizes::one(Bytes::new(4096)),
        ..null_spec()
    }
}

fn pacer(pace: Pace) -> Pacer {
    let mut pacer = Pacer::new(&spec(pace), 0);
    pacer.start(1000);
    pacer
}

/// Due times of the next operations, taken as soon as they are due.
fn due_times(pacer: &mut Pacer, count: usize) -> Vec<u64> {
    let mut now = 0;
    let mut times = Vec::new();
    while times.len() < count {
        match pacer.due(now) {
            Due::Since(at) => {
                times.push(at);
                pacer.advance(4096);
            }
            Due::At(at) => now = at,
        }
    }
    times
}

#[test]
fn unpaced_is_always_due() {
    let mut pacer = pacer(Pace::Unpaced);
    assert!(!pacer.is_open());
    assert_eq!(pacer.due(5), Due::Since(5));
}

#[test]
fn operations_come_evenly() {
    let mut pacer = pacer(Pace::Closed(Rate::Operations(1e6)));
    assert_eq!(due_times(&mut pacer, 4), [1000, 2000, 3000, 4000]);
}

#[test]
fn bytes_count_by_their_number() {
    let mut pacer = pacer(Pace::Closed(Rate::Bytes(4096 * 1_000_000)));
    assert_eq!(due_times(&mut pacer, 3), [1000, 2000, 3000]);
    pacer.advance(8192);
    assert_eq!(pacer.due(0), Due::At(6000));
}

#[test]
fn fractions_of_a_nanosecond_are_kept() {
    let mut pacer = pacer(Pace::Closed(Rate::Operations(3e8)));
    let times = due_times(&mut pacer, 301);
    assert_eq!(times[300] - times[0], 1000);
}

#[test]
fn jobs_share_the_rate_and_take_turns() {
    let mut spec = spec(Pace::Closed(Rate::Operations(1e6)));
    spec.jobs = 4;
    let mut all = Vec::new();
    for job in 0..4 {
        let mut pacer = Pacer::new(&spec, job);
        pacer.start(0);
        all.extend(due_times(&mut pacer, 3));
    }
    all.sort_unstable();
    assert_eq!(all, (0..12).map(|i| i * 1000).collect::<Vec<_>>());
}

#[test]
fn a_closed_loop_forgets_all_but_100_ms() {
    let mut pacer = pacer(Pace::Closed(Rate::Operations(1000.0)));
    // Two seconds late: 100 operations may follow at once, not 2000.
    let now = 1000 + 2_000_000_000;
    let mut burst = 0;
    while let Due::Since(_) = pacer.due(now) {
        pacer.advance(4096);
        burst += 1;
    }
    assert_eq!(burst, 101);
}

#[test]
fn an_open_loop_forgets_nothing() {
    let mut pacer = pacer(Pace::Open {
        rate: Rate::Operations(1000.0),
        arrivals: Arrivals::Constant,
    });
    assert!(pacer.is_open());
    assert_eq!(pacer.due(2_000_001_000), Due::Since(1000));
    assert_eq!(pacer.backlog(2_000_001_000, 4096), 2000);
    assert_eq!(pacer.due(0), Due::At(2_000_001_000));
}

#[test]
fn poisson_gaps_are_exponential() {
    let mut pacer = pacer(Pace::Open {
        rate: Rate::Operations(1000.0),
        arrivals: Arrivals::Poisson,
    });
    let times = due_times(&mut pacer, 50_001);
    let gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((mean / 1e6 - 1.0).abs() < 0.02, "mean {mean}");
    let longer = gaps.iter().filter(|&&g| g > mean).count() as f64 / gaps.len() as f64;
    // exp(-1)
    assert!((longer - 0.3679).abs() < 0.01, "{longer} are longer");
}

proptest! {
    #[test]
    fn due_times_never_go_back(
        per_second in 1.0..1e8_f64,
        poisson in any::<bool>(),
        lengths in proptest::collection::vec(1_u32..1_000_000, 1..50),
    ) {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Constant };
        let mut pacer = pacer(Pace::Open { rate: Rate::Operations(per_second), arrivals });
        let mut last = 0;
        for length in lengths {
            let Due::Since(at) = pacer.due(u64::MAX) else {
                return Err(TestCaseError::fail("everything is due at the end of time"));
            };
            prop_assert!(at >= last);
            last = at;
            pacer.advance(length);
        }
    }
}

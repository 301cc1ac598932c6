use proptest::prelude::*;

use super::{MAX_ROWS, Tally};
use crate::source::Kind;

/// One read of `bytes` from `start` to `end`.
fn read(tally: &mut Tally, start: u64, end: u64, bytes: u64) {
    tally.enter(start);
    tally.leave(end);
    tally.record(Kind::Read, bytes, (start, start, end));
}

fn tally(interval_ns: u64, window: (u64, u64)) -> Tally {
    let mut tally = Tally::new(interval_ns, false);
    tally.set_window(window.0, window.1);
    tally
}

#[test]
fn an_operation_belongs_where_it_ends() {
    let mut tally = tally(1000, (1000, 2000));
    read(&mut tally, 0, 999, 1);
    read(&mut tally, 0, 1000, 2);
    read(&mut tally, 1500, 1999, 4);
    read(&mut tally, 1500, 2000, 8);
    read(&mut tally, 2500, 2600, 16);
    tally.finish(3000);
    let reads = &tally.kinds[Kind::Read as usize];
    assert_eq!((reads.ops, reads.bytes), (2, 6));
    assert_eq!(reads.latency.count(), 2);
    assert_eq!(reads.latency.sum(), 1000 + 499);
    assert_eq!((tally.outside.ramp_ops, tally.outside.ramp_bytes), (1, 1));
    assert_eq!((tally.outside.late_ops, tally.outside.late_bytes), (2, 24));
    assert_eq!(tally.last_ns, 2000);
}

#[test]
fn the_window_may_be_known_late() {
    let mut tally = Tally::new(1000, false);
    read(&mut tally, 0, 5000, 1);
    tally.set_window(6000, u64::MAX);
    read(&mut tally, 5000, 5900, 1);
    read(&mut tally, 5900, 6100, 1);
    tally.finish(6100);
    assert_eq!(tally.outside.ramp_ops, 2);
    assert_eq!(tally.kinds[Kind::Read as usize].ops, 1);
    assert!(tally.saw_window());
}

#[test]
fn a_job_that_never_saw_the_window_says_so() {
    let mut tally = Tally::new(1000, false);
    read(&mut tally, 0, 10, 1);
    tally.finish(20);
    assert!(!tally.saw_window());
    assert!(tally.rows.is_empty());
}

#[test]
fn rows_are_kept_through_silence() {
    let mut tally = tally(10, (0, u64::MAX));
    read(&mut tally, 0, 5, 1);
    read(&mut tally, 0, 37, 2);
    tally.finish(37);
    let ops: Vec<u64> = tally.rows.iter().map(|r| r[0].ops).collect();
    assert_eq!(ops, [1, 0, 0, 1]);
    assert_eq!(tally.rows[3][0].latency_max_ns, 37);
}

#[test]
fn rows_end_with_the_window() {
    let mut tally = tally(10, (0, 25));
    read(&mut tally, 0, 21, 1);
    read(&mut tally, 0, 400, 1);
    tally.finish(500);
    let ops: Vec<u64> = tally.rows.iter().map(|r| r[0].ops).collect();
    assert_eq!(ops, [0, 0, 1]);
}

#[test]
fn too_many_rows_are_merged_in_pairs() {
    let mut tally = tally(10, (0, u64::MAX));
    let rows = MAX_ROWS as u64 * 2 + 3;
    for row in 0..rows {
        read(&mut tally, row * 10, row * 10 + 5, 1);
    }
    tally.finish(rows * 10 - 5);
    assert_eq!(tally.interval_ns, 40);
    assert_eq!(tally.rows.len() as u64, rows.div_ceil(4));
    let ops: Vec<u64> = tally.rows.iter().map(|r| r[0].ops).collect();
    assert!(ops[..ops.len() - 1].iter().all(|&n| n == 4));
    assert_eq!(ops.iter().sum::<u64>(), rows);
}

#[test]
fn time_in_flight_is_counted_inside_the_window_only() {
    let mut tally = tally(1000, (100, 200));
    tally.enter(0);
    tally.enter(50);
    // Two in flight when the window opens, one from 150 on, still there when it closes.
    tally.leave(150);
    tally.record(Kind::Read, 1, (0, 0, 150));
    tally.leave(300);
    tally.record(Kind::Read, 1, (50, 50, 300));
    tally.finish(300);
    assert_eq!(tally.area, 2 * 50 + 50);
    assert_eq!(tally.inside_ns(), tally.area, "the operations say the same");
    assert_eq!(tally.most_in_flight, 2);
}

proptest! {
    /// Rows add up to the totals and no row holds what ended outside of it, however the
    /// operations lie.
    #[test]
    fn rows_add_up(
        steps in proptest::collection::vec((0_u64..500, 1_u64..700), 1..300),
        interval in 1_u64..50,
        end in prop_oneof![Just(u64::MAX), 1000_u64..100_000],
    ) {
        let mut tally = tally(interval, (200, end));
        let mut now = 0;
        let mut expected = 0;
        let mut latency = 0;
        for (pause, took) in steps {
            let start = now + pause;
            now = start + took;
            read(&mut tally, start, now, 10);
            if (200..end).contains(&now) {
                expected += 1;
                latency += took;
            }
        }
        tally.finish(now);
        let reads = &tally.kinds[0];
        prop_assert_eq!(reads.ops, expected);
        prop_assert_eq!(reads.latency.count(), expected);
        let sum = |f: fn(&super::IntervalCell) -> u64| {
            tally.rows.iter().map(|r| f(&r[0])).sum::<u64>()
        };
        prop_assert_eq!(sum(|c| c.ops), expected);
        prop_assert_eq!(sum(|c| c.bytes), expected * 10);
        prop_assert_eq!(sum(|c| c.latency_sum_ns), latency);
        prop_assert!(tally.rows.len() <= MAX_ROWS);
        prop_assert_eq!(tally.inside_ns(), tally.area);
        if end == u64::MAX && expected > 0 {
            let last_row = (tally.last_ns - 200) / tally.interval_ns;
            prop_assert_eq!(tally.rows.len() as u64, last_row + 1);
        }
    }
}

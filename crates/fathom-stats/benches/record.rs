//! Cost of recording a latency, next to the loop that makes the numbers.
//!
//! `cargo bench -p fathom-stats`; as a test (`cargo test --benches`) it runs small.
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;
use std::time::Instant;

use fathom_stats::Histogram;

/// Latencies between 64 us and 128 us, and every 256th a thousand times longer.
fn latency(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    let base = 65_536 + (*state & 65_535);
    if *state >> 56 == 0 { base * 1000 } else { base }
}

/// Best of seven in nanoseconds a call.
fn best_ns(calls: u64, mut work: impl FnMut(u64)) -> f64 {
    let once = |work: &mut dyn FnMut(u64)| {
        let start = Instant::now();
        work(calls);
        start.elapsed().as_nanos() as f64 / calls as f64
    };
    (0..7)
        .map(|_| once(&mut work))
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    let calls = if std::env::args().any(|arg| arg == "--bench") {
        20_000_000
    } else {
        20_000
    };
    let mut state = 88_172_645_463_325_252;
    let empty_ns = best_ns(calls, |calls| {
        for _ in 0..calls {
            black_box(latency(&mut state));
        }
    });
    let mut histogram = Histogram::new();
    let record_ns = best_ns(calls, |calls| {
        for _ in 0..calls {
            histogram.record(black_box(latency(&mut state)));
        }
    });
    let percentile_ns = best_ns(calls / 1000, |calls| {
        for _ in 0..calls {
            black_box(histogram.percentile(black_box(99.9)));
        }
    });
    let mut total = Histogram::new();
    let merge_ns = best_ns(calls / 1000, |calls| {
        for _ in 0..calls {
            total.merge(black_box(&histogram));
        }
    });
    println!(
        "record {:.2} ns (loop alone {empty_ns:.2} ns), percentile {percentile_ns:.0} ns, \
         merge {merge_ns:.0} ns, work {}",
        record_ns - empty_ns,
        histogram.count()
    );
}

use fathom_base::Nanos;

use super::{StampClock, clock_cost, drift_ppm, monotonic_ns};
use crate::spec::ClockChoice;

#[test]
fn stamps_agree_with_the_kernel_clock() {
    for choice in [ClockChoice::Auto, ClockChoice::Monotonic] {
        let mut clock = StampClock::new(choice);
        let mut last = clock.now();
        for _ in 0..1000 {
            let before = monotonic_ns();
            let stamp = clock.now();
            let after = monotonic_ns();
            assert!(stamp >= last, "{choice:?} never goes back");
            last = stamp;
            // 200 ppm since the calibration, and the reading itself.
            let slack = 1_000_000;
            assert!(
                (before - slack..after + slack).contains(&stamp),
                "{choice:?}: {stamp} is not between {before} and {after}"
            );
        }
    }
}

#[test]
fn a_virtual_clock_advances_when_read() {
    let mut clock = StampClock::new(ClockChoice::Virtual { step_ns: 7 });
    assert_eq!((clock.now(), clock.now()), (7, 14));
    clock.skip_to(100);
    assert_eq!(clock.now(), 107);
    clock.skip_to(50);
    assert_eq!(clock.now(), 114, "it does not go back");
    assert_eq!(clock.cost_ns(), 0.0);
}

#[test]
fn the_cost_of_the_clock_is_measured() {
    let (name, cost_ns) = clock_cost();
    assert!(["tsc", "monotonic"].contains(&name));
    assert!(cost_ns > 0.1, "{cost_ns}");
}

#[test]
fn drift_is_relative() {
    let ns = Nanos::new;
    assert_eq!(drift_ppm(ns(1_001_000), ns(1_000_000)).round(), 1000.0);
    assert_eq!(drift_ppm(ns(5), ns(0)), 0.0);
}

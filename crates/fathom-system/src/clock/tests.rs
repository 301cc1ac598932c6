use std::sync::Mutex;

use fathom_base::WallTime;
use fathom_testkit::FakeRoot;

use super::*;

/// A clock whose sides are set by hand; each reading of the monotonic one costs 20 ns.
#[derive(Default)]
struct Hands(Mutex<(u64, i64)>);

impl Hands {
    fn set(&self, now_ns: u64, wall_ms: i64) {
        *self.0.lock().unwrap() = (now_ns, wall_ms);
    }
}

impl Clock for Hands {
    fn now(&self) -> Nanos {
        let mut hands = self.0.lock().unwrap();
        hands.0 += 20;
        Nanos::new(hands.0)
    }

    fn wall(&self) -> WallTime {
        WallTime::from_unix_ms(self.0.lock().unwrap().1)
    }

    fn sleep(&self, _: Nanos) {}
}

const SOURCE: &str =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource = kvm-clock\n";

fn seen(now_ns: u64, wall_ms: i64) -> ClockEvidence {
    let fake = FakeRoot::new().tree(SOURCE);
    let clock = Hands::default();
    clock.set(1_000_000_000, 5_000);
    let witness = ClockWitness::begin(&Root::at(fake.path()), &clock);
    clock.set(now_ns, wall_ms);
    witness.end(&clock, "rdtsc")
}

#[test]
fn both_sides_of_a_sound_clock_pass_the_same_time() {
    let evidence = seen(3_000_000_000, 7_000);
    assert_eq!(evidence.source, "kvm-clock");
    assert_eq!(evidence.stamp, "rdtsc");
    assert_eq!(evidence.read_ns, 20.0);
    assert_eq!(evidence.backward_steps, 0);
    // What the thousand readings took.
    assert!(
        evidence.wall_drift_ns.unwrap().abs() < 100_000,
        "{evidence:?}"
    );
}

#[test]
fn a_step_of_the_calendar_and_a_clock_that_goes_back_are_seen() {
    let stepped = seen(3_000_000_000, 3_607_000);
    assert!((stepped.wall_drift_ns.unwrap() - 3_600_000_000_000).abs() < 100_000);
    assert_eq!(stepped.backward_steps, 0);
    assert_eq!(seen(500_000_000, 7_000).backward_steps, 1);
}

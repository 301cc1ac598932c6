use fathom_base::{Bytes, Nanos, Percent, Rate};

use super::*;
use crate::error::IoError;
use crate::testing::null_spec;

/// What `change` makes wrong, as (field, expected).
fn refusal(change: impl FnOnce(&mut JobSpec)) -> (&'static str, String) {
    let mut spec = null_spec();
    spec.clock = ClockChoice::Auto;
    change(&mut spec);
    match check(&spec) {
        Err(IoError::Spec {
            field, expected, ..
        }) => (field, expected),
        other => panic!("{spec:?} was not refused: {other:?}"),
    }
}

fn check_refused(field: &str, expected: &str, change: impl FnOnce(&mut JobSpec)) {
    let (found_field, found_expected) = refusal(change);
    assert_eq!(found_field, field);
    assert!(
        found_expected.contains(expected),
        "{field}: \"{found_expected}\" should contain \"{expected}\""
    );
}

fn percent(value: f64) -> Percent {
    Percent::new(value).unwrap()
}

#[test]
fn the_plain_job_is_valid() {
    assert!(check(&null_spec()).is_ok());
}

#[test]
fn numbers_out_of_range_are_refused() {
    check_refused("depth", "1 to 32768", |s| s.depth = 0);
    check_refused("depth", "1 to 32768", |s| s.depth = 40_000);
    check_refused("jobs", "1 to 1024", |s| s.jobs = 0);
    check_refused("interval", "1ms", |s| s.interval = Nanos::new(10));
    check_refused("stuck_after", "1s", |s| s.stuck_after = Nanos::new(10));
    check_refused("sync.every", "1 write", |s| {
        s.sync.every = Some((0, SyncKind::Fsync));
    });
    check_refused("cpus", "below 1024", |s| s.cpus = vec![0, 5000]);
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    check_refused("block_sizes.reads", "1 to 64 sizes", |s| {
        s.block_sizes.reads.clear();
    });
    check_refused("block_sizes.writes", "1B to 1GiB", |s| {
        s.block_sizes = BlockSizes::separate(Bytes::KIB, Bytes::new(0));
    });
    check_refused("block_sizes.reads", "above 0 %", |s| {
        s.block_sizes.reads[0].share = percent(0.0);
    });
    check_refused("size", "4KiB in each of 1 parts", |s| {
        s.size = Bytes::new(4095);
    });
    check_refused("size", "in each of 3 parts", |s| {
        s.size = Bytes::new(2 * 4096);
        s.jobs = 3;
        s.cursor = Cursor::Partitioned;
    });
    check_refused("offset + size", "below 2^63", |s| {
        s.offset = Bytes::new(u64::MAX - 5);
    });
    check_refused("cursor", "one block size", |s| {
        s.cursor = Cursor::Shared;
        s.block_sizes = BlockSizes::separate(Bytes::KIB, Bytes::new(4096));
    });
    check_refused("block size x depth x jobs", "half of the memory", |s| {
        s.block_sizes = BlockSizes::one(Bytes::GIB);
        s.size = Bytes::GIB;
        s.depth = 32_768;
        s.jobs = 1024;
    });
}

#[test]
fn a_job_must_end() {
    let none = Stop {
        runtime: None,
        bytes: None,
        passes: None,
    };
    check_refused("stop", "runtime, bytes or passes", |s| s.stop = none);
    check_refused("stop.runtime", "above 0", |s| {
        s.stop.runtime = Some(Nanos::new(0));
    });
    check_refused("stop.bytes", "above 0", |s| {
        s.stop.bytes = Some(Bytes::new(0));
    });
    check_refused("stop.passes", "at least 1", |s| s.stop.passes = Some(0));
}

#[test]
fn laws_out_of_range_are_refused() {
    check_refused("distribution.zipf", "above 0", |s| {
        s.distribution = Distribution::Zipf { theta: 0.0 };
    });
    check_refused("distribution.pareto", "not 0.5", |s| {
        s.distribution = Distribution::Pareto { h: 0.5 };
    });
    check_refused("distribution.zipf", "above 0", |s| {
        s.distribution = Distribution::Zipf { theta: f64::NAN };
    });
    check_refused("mode.read_percent", "0 % to 100 %", |s| {
        s.mode = Mode::RandMixed {
            read_percent: percent(101.0),
        };
    });
    check_refused("contents.dedupe", "0 % to 100 %", |s| {
        s.contents = Contents::Shaped {
            compressible: percent(50.0),
            dedupe: percent(-1.0),
        };
    });
    check_refused("pace", "above 0", |s| {
        s.pace = Pace::Closed(Rate::Operations(0.0));
    });
    check_refused("pace", "above 0", |s| {
        s.pace = Pace::Open {
            rate: Rate::Bytes(0),
            arrivals: Arrivals::Poisson,
        };
    });
}

#[test]
fn what_an_engine_cannot_honour_is_refused() {
    let options = |change: fn(&mut EngineOptions)| {
        move |s: &mut JobSpec| {
            s.engine = EngineKind::Libaio;
            change(&mut s.engine_options);
        }
    };
    check_refused(
        "engine_options.iopoll",
        "engine io_uring, not libaio",
        options(|o| o.iopoll = true),
    );
    check_refused(
        "engine_options.sqpoll",
        "engine io_uring",
        options(|o| o.sqpoll = true),
    );
    check_refused(
        "engine_options.hipri",
        "engine psync or posixaio",
        options(|o| o.hipri = true),
    );
    check_refused(
        "engine_options.force_async",
        "engine io_uring",
        options(|o| o.force_async = Some(4)),
    );
    check_refused(
        "engine_options.pool_threads",
        "engine posixaio",
        options(|o| o.pool_threads = Some(1)),
    );
    check_refused("engine_options.force_async", "at least 1", |s| {
        s.engine = EngineKind::IoUring;
        s.engine_options.force_async = Some(0);
    });
    check_refused("direct", "true with polling", |s| {
        s.engine = EngineKind::IoUring;
        s.engine_options.iopoll = true;
    });
    check_refused("direct", "engine mmap", |s| {
        s.engine = EngineKind::Mmap;
        s.direct = true;
    });
    check_refused("clock", "engine null", |s| {
        s.engine = EngineKind::Psync;
        s.clock = ClockChoice::Virtual { step_ns: 1 };
    });
    check_refused("clock.step_ns", "at least 1", |s| {
        s.clock = ClockChoice::Virtual { step_ns: 0 };
    });
}

#[test]
fn modes_and_targets_must_go_together() {
    check_refused("mode", "punch_holes for a file", |s| s.mode = Mode::Trim);
    check_refused("engine_options.punch_holes", "a regular file", |s| {
        s.target.kind = TargetKind::BlockDevice;
        s.engine_options.punch_holes = true;
    });
    check_refused("verify", "only reads", |s| {
        s.engine = EngineKind::Psync;
        s.mode = Mode::RandWrite;
        s.verify = Verify::Pattern;
    });
}

#[test]
fn errors_say_field_value_and_what_is_allowed() {
    let mut spec = null_spec();
    spec.depth = 0;
    let error = check(&spec).unwrap_err();
    assert_eq!(error.to_string(), "use depth 0: expected 1 to 32768");
}

#[test]
fn modes_know_what_they_do() {
    let mixed = |value| Mode::Mixed {
        read_percent: percent(value),
    };
    let table = [
        (Mode::Read, true, false, false),
        (Mode::RandWrite, false, true, true),
        (mixed(0.0), false, true, false),
        (mixed(50.0), true, true, false),
        (mixed(100.0), true, false, false),
        (Mode::RandTrim, false, false, true),
    ];
    for (mode, reads, writes, random) in table {
        let found = (mode.reads(), mode.writes(), mode.is_random());
        assert_eq!(found, (reads, writes, random), "{mode:?}");
    }
    assert!(Mode::Trim.trims() && !Mode::Write.trims());
}

#[test]
fn the_sector_of_a_job_is_checked() {
    let mut spec = null_spec();
    assert_eq!(sector_of(&spec, 4096), None);
    assert_eq!(
        sector_of(&spec, 8192),
        Some(("block size", Bytes::new(4096)))
    );
    spec.offset = Bytes::new(512);
    assert_eq!(sector_of(&spec, 4096), Some(("offset", Bytes::new(512))));
}

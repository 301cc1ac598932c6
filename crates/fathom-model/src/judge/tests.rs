use fathom_stats::Histogram;
use proptest::prelude::*;

use super::*;
use crate::case::{Implementation, ImplementationKind, Options};
use crate::evidence::{
    CacheEvidence, ClockEvidence, CpuEvidence, DataEvidence, DeviceEvidence, DirectEvidence,
    DurabilityEvidence, FileEvidence, HostEvidence, IoEvidence, OpenEvidence, PaceEvidence,
    PressureEvidence, VerifyEvidence,
};
use crate::figure::Figure;
use crate::machine::{Drive, Layer, LayerKind, Mount};
use crate::result::Series;
use crate::{CaseId, Level};

const GB: u64 = 1_000_000_000;
const SECOND: u64 = 1_000_000_000;

fn case(test: &str) -> Case {
    Case {
        id: CaseId::default(),
        test: test.to_owned(),
        test_version: "1".to_owned(),
        implementation: Implementation {
            kind: ImplementationKind::Native,
            name: "fathom".to_owned(),
            version: "1".to_owned(),
        },
        options: Options::default(),
        label: String::new(),
        extra: serde_json::Map::new(),
    }
}

fn facts(test: &str) -> Facts {
    Facts::of(&case(test), None)
}

/// Five seconds of direct 4 KiB random reads at depth 32 from an NVMe drive: nothing is wrong.
fn sound() -> Evidence {
    let operations = 500_000;
    let bytes = operations * 4096;
    Evidence {
        io: Some(IoEvidence {
            window_ns: 5 * SECOND,
            operations,
            read_bytes: bytes,
            histogram_count: operations,
            interval_count: operations,
            latency_ns_mean: 320_000.0,
            in_flight_mean: 32.0,
            depth_total: 32,
            block_size_bytes: Some(4096),
            engine: "io_uring".to_owned(),
            ..IoEvidence::default()
        }),
        direct: Some(DirectEvidence {
            requested: true,
            opened: true,
            memory_align_bytes: Some(4),
            offset_align_bytes: Some(512),
            transfer_ok: Some(true),
            transfer_cached_pages: Some(0),
        }),
        file: Some(FileEvidence {
            size_bytes: 1 << 30,
            unwritten_bytes: Some(0),
            extents: Some(8),
            memory_bytes: Some(24 << 30),
        }),
        data: Some(DataEvidence {
            contents: "random".to_owned(),
            compressible_share: Some(0.0),
            compressing_stack: None,
        }),
        cpu: Some(CpuEvidence {
            busiest_share: Some(0.35),
            ..CpuEvidence::default()
        }),
        host: Some(HostEvidence {
            window_ns: 5 * SECOND + 100_000,
            devices: vec![DeviceEvidence {
                name: "nvme0n1".to_owned(),
                read_bytes: bytes + 4096 * 30,
                written_bytes: 40_960,
                write_cache: Some("write back".to_owned()),
                ..DeviceEvidence::default()
            }],
            file_system: "ext4".to_owned(),
            own_read_bytes: Some(bytes),
            own_written_bytes: Some(0),
            own_user_ns: Some(SECOND),
            load_before: Some(1.9),
            steal_share: Some(0.001),
            busy_share: Some(0.30),
            user_share: Some(0.11),
            cpus: Some(2),
            // Our own threads wait for I/O and for each other.
            pressure: Some(PressureEvidence {
                cpu_ns: SECOND,
                io_ns: 4 * SECOND,
                memory_ns: 0,
            }),
            link_bytes_per_second: Some(3_938_461_538),
            throttled: Some(0),
            ..HostEvidence::default()
        }),
        clock: Some(ClockEvidence {
            source: "tsc".to_owned(),
            stamp: "rdtsc".to_owned(),
            read_ns: 8.0,
            backward_steps: 0,
            wall_drift_ns: Some(-400_000),
        }),
        ..Evidence::default()
    }
}

/// The same with writes: a journal adds a little.
fn sound_writes() -> Evidence {
    let mut evidence = sound();
    let bytes = io(&mut evidence).read_bytes;
    io(&mut evidence).read_bytes = 0;
    io(&mut evidence).written_bytes = bytes;
    let host = host(&mut evidence);
    host.devices[0].read_bytes = 8192;
    host.devices[0].written_bytes = bytes + bytes / 50;
    host.own_read_bytes = Some(0);
    host.own_written_bytes = Some(bytes);
    evidence.durability = Some(DurabilityEvidence {
        policy: "fdatasync at the end, inside the window".to_owned(),
        durable: true,
        syncs: 1,
        final_flush_ns: Some(2_000_000),
    });
    evidence
}

/// Buffered reads of a file that was not in the page cache.
fn sound_buffered() -> Evidence {
    let mut evidence = sound();
    evidence.direct = Some(DirectEvidence::default());
    evidence.cache = Some(CacheEvidence {
        resident_bytes_before: Some(0),
        resident_bytes_after: Some(1 << 30),
        asked: "cold".to_owned(),
    });
    evidence
}

fn io(evidence: &mut Evidence) -> &mut IoEvidence {
    evidence.io.as_mut().unwrap()
}

fn host(evidence: &mut Evidence) -> &mut HostEvidence {
    evidence.host.as_mut().unwrap()
}

fn direct(evidence: &mut Evidence) -> &mut DirectEvidence {
    evidence.direct.as_mut().unwrap()
}

/// Level, rules that object, rules that note.
fn told(facts: &Facts, evidence: &Evidence) -> (Level, Vec<String>, Vec<String>) {
    let verdict = judge(facts, evidence);
    let names = |reasons: &[Reason]| reasons.iter().map(|r| r.rule.clone()).collect();
    for reason in verdict.reasons.iter().chain(&verdict.notes) {
        let rule = rule(&reason.rule).unwrap_or_else(|| panic!("{} has no row", reason.rule));
        assert!(
            !reason.short.is_empty() && reason.text.ends_with('.'),
            "{reason:?}"
        );
        assert!(
            !reason.text.contains("  ") && reason.short.len() < 45,
            "{reason:?}"
        );
        assert_eq!(reason.advice, rule.advice);
    }
    for reason in &verdict.reasons {
        let worst = rule(&reason.rule).unwrap().worst;
        assert!(
            worst >= Level::Suspect,
            "{} only notes by its row",
            reason.rule
        );
    }
    (
        verdict.level,
        names(&verdict.reasons),
        names(&verdict.notes),
    )
}

fn is_valid(name: &str, facts: &Facts, evidence: &Evidence) {
    let (level, reasons, _) = told(facts, evidence);
    assert_eq!((level, reasons), (Level::Valid, Vec::new()), "{name}");
}

/// Changes sound evidence and says who must object, and how strongly.
fn objects(base: &Evidence, level: Level, rule: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = base.clone();
    change(&mut evidence);
    let found = told(&facts("io"), &evidence);
    assert_eq!(found.0, level, "{rule}: {found:?}");
    assert_eq!(found.1, [rule], "{found:?}");
}

fn notes(base: &Evidence, rule: &str, change: impl FnOnce(&mut Evidence)) {
    let mut evidence = base.clone();
    change(&mut evidence);
    let (level, reasons, notes) = told(&facts("io"), &evidence);
    assert_eq!((level, reasons), (Level::Valid, Vec::new()), "{rule}");
    assert!(notes.contains(&rule.to_owned()), "{rule}: {notes:?}");
}

#[test]
fn sound_trials_are_valid_without_a_word() {
    for (name, evidence) in [
        ("reads", sound()),
        ("writes", sound_writes()),
        ("buffered", sound_buffered()),
    ] {
        let found = told(&facts("io"), &evidence);
        assert_eq!(found, (Level::Valid, Vec::new(), Vec::new()), "{name}");
    }
}

#[test]
fn no_evidence_is_no_verdict() {
    assert_eq!(
        judge(&facts("io"), &Evidence::default()),
        Verdict::default()
    );
    let failed = Trial {
        error: Some("failed".to_owned()),
        evidence: sound(),
        ..Trial::default()
    };
    assert_eq!(
        judge_trial(&case("io"), None, &failed).level,
        Level::Unjudged
    );
}

#[test]
fn accounts_that_do_not_fit() {
    use Level::{Invalid, Suspect};
    let base = sound();
    objects(&base, Invalid, "littles-law", |e| {
        io(e).latency_ns_mean = 290_000.0
    });
    objects(&base, Invalid, "littles-law", |e| {
        io(e).in_flight_mean = 34.5
    });
    objects(&base, Invalid, "counts", |e| io(e).histogram_count -= 1);
    objects(&base, Invalid, "counts", |e| io(e).interval_count = 0);
    objects(&base, Invalid, "counts", |e| {
        io(e).block_size_bytes = Some(8192)
    });
    objects(&base, Invalid, "counts", |e| io(e).clipped = 3);
    objects(&base, Suspect, "io-errors", |e| io(e).errors = 2);
    objects(&base, Invalid, "null-engine", |e| {
        io(e).engine = "null".to_owned()
    });
}

#[test]
fn memory_is_no_disk() {
    let mut evidence = sound();
    host(&mut evidence).devices.clear();
    host(&mut evidence).memory_backed = Some("tmpfs".to_owned());
    direct(&mut evidence).transfer_cached_pages = None;
    io(&mut evidence).read_bytes = 8_600_002_560;
    io(&mut evidence).block_size_bytes = None;
    host(&mut evidence).own_read_bytes = Some(0);
    let verdict = judge(&facts("io"), &evidence);
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(verdict.reasons.len(), 1, "{verdict:?}");
    let reason = &verdict.reasons[0];
    assert_eq!(
        reason.text,
        "The target is tmpfs: it accepts O_DIRECT and serves from memory; no block device moved a \
         byte for it (0 B of 8600 MB)."
    );
    assert!(reason.advice.contains("fathom system --targets"));
    // Whatever the test: memory is not a disk for a whole workload either.
    assert_eq!(told(&facts("sqlite"), &evidence).1, ["memory-backed"]);
}

#[test]
fn direct_io_that_is_none() {
    use Level::{Invalid, Suspect};
    let base = sound();
    let cached = |e: &mut Evidence, read: u64| {
        direct(e).transfer_cached_pages = Some(16);
        host(e).devices[0].read_bytes = read;
        host(e).own_read_bytes = Some(read);
    };
    objects(&base, Suspect, "direct-io", |e| direct(e).opened = false);
    objects(&base, Suspect, "direct-io", |e| {
        direct(e).transfer_ok = Some(false)
    });
    // Pages were left in the cache, but the drive moved every byte.
    notes(&base, "direct-io", |e| cached(e, 2_048_000_000));
    // The drive did not: two witnesses.
    let mut evidence = base.clone();
    cached(&mut evidence, 100 << 20);
    let found = told(&facts("io"), &evidence);
    assert_eq!(
        (found.0, found.1),
        (Invalid, vec!["direct-io".into(), "device-bytes".into()])
    );
    // So are counters and a loop device that is known to cache.
    let cached_below = Facts {
        caches_below: true,
        ..facts("io")
    };
    let mut through_loop = base.clone();
    host(&mut through_loop).devices[0].read_bytes = 0;
    host(&mut through_loop).own_read_bytes = Some(2_048_000_000);
    let found = told(&cached_below, &through_loop);
    assert_eq!(
        (found.0, found.1),
        (Invalid, vec!["device-bytes".to_owned()])
    );
    // Counters alone may be another drive's.
    objects(&base, Suspect, "device-bytes", |e| {
        host(e).devices[0].read_bytes = 0;
        host(e).own_read_bytes = Some(0);
    });
    objects(&base, Suspect, "device-bytes", |e| {
        host(e).devices[0].read_bytes = 1_900_000_000
    });
    objects(&sound_writes(), Suspect, "device-bytes", |e| {
        host(e).devices[0].written_bytes = 1
    });
}

#[test]
fn a_page_cache_taken_for_a_disk() {
    use Level::Suspect;
    let base = sound_buffered();
    let from_cache = |e: &mut Evidence| {
        host(e).devices[0].read_bytes = 100 << 20;
        host(e).own_read_bytes = Some(100 << 20);
    };
    objects(&base, Suspect, "page-cache", from_cache);
    // A little reading by others does not hide it.
    objects(&base, Suspect, "page-cache", |e| {
        host(e).own_read_bytes = Some(0);
        host(e).devices[0].read_bytes = 1 << 20;
    });
    let mut warm = base.clone();
    from_cache(&mut warm);
    warm.cache.as_mut().unwrap().asked = "warm".to_owned();
    let found = told(&facts("io"), &warm);
    assert_eq!(
        (found.0, found.2),
        (Level::Valid, vec!["page-cache".to_owned()])
    );
    // To a whole workload the cache belongs.
    let mut workload = base.clone();
    from_cache(&mut workload);
    workload.cpu.as_mut().unwrap().busiest_share = Some(0.99);
    let found = told(&facts("dbench"), &workload);
    assert_eq!(
        (found.0, found.2),
        (Level::Valid, vec!["page-cache".to_owned()])
    );
}

#[test]
fn writes_that_stay_in_memory() {
    let mut evidence = sound_writes();
    evidence.direct = Some(DirectEvidence::default());
    let durability = evidence.durability.as_mut().unwrap();
    durability.durable = false;
    durability.policy = "none".to_owned();
    host(&mut evidence).devices[0].written_bytes = 300 << 20;
    let verdict = judge(&facts("io"), &evidence);
    assert_eq!(verdict.level, Level::Suspect);
    assert!(
        verdict.reasons[0]
            .text
            .contains("had not reached the drive"),
        "{verdict:?}"
    );
    assert_eq!(verdict.notes[0].rule, "not-durable");
    // Flushed, but overwritten in memory before.
    evidence.durability.as_mut().unwrap().durable = true;
    let verdict = judge(&facts("io"), &evidence);
    assert!(
        verdict.reasons[0].text.contains("overwritten in memory"),
        "{verdict:?}"
    );
    // All of it reached the drive.
    let written = io(&mut evidence).written_bytes;
    host(&mut evidence).devices[0].written_bytes = written;
    is_valid("flushed", &facts("io"), &evidence);
}

#[test]
fn without_counters_sizes_and_residency_speak() {
    let mut base = sound_buffered();
    host(&mut base).devices.clear();
    host(&mut base).devices_unseen = Some("nfs4 is a network file system".to_owned());
    base.io.as_mut().unwrap().read_bytes = 1 << 30;
    base.io.as_mut().unwrap().block_size_bytes = None;
    notes(&base, "devices-unseen", |_| {});
    let change = |change: fn(&mut Evidence)| {
        let mut evidence = base.clone();
        change(&mut evidence);
        told(&facts("io"), &evidence).1
    };
    assert!(change(|_| {}).is_empty());
    let resident = |e: &mut Evidence| {
        e.cache.as_mut().unwrap().resident_bytes_before = Some(900 << 20);
    };
    assert_eq!(change(resident), ["page-cache"]);
    assert_eq!(change(|e| io(e).read_bytes = 5 << 30), ["page-cache"]);
    assert_eq!(change(|e| e.cache = None), ["page-cache"]);
    // A file of twice the memory cannot be served from it.
    let large = |e: &mut Evidence| {
        e.cache = None;
        e.file.as_mut().unwrap().size_bytes = 48 << 30;
    };
    assert!(change(large).is_empty());
}

#[test]
fn faster_than_the_link() {
    let mut evidence = sound();
    let limit = 400_000_000;
    host(&mut evidence).link_bytes_per_second = Some(limit);
    let verdict = judge(&facts("io"), &evidence);
    assert_eq!(verdict.level, Level::Invalid);
    assert_eq!(
        verdict.reasons[0].text,
        "410 MB/s are more than the link to the drives carries (400 MB/s after line coding)."
    );
    // At the link's rate, with rounding, nothing is wrong.
    host(&mut evidence).link_bytes_per_second = Some(405_000_000);
    is_valid("at the limit", &facts("io"), &evidence);
    // A hundred requests of the queue finish in a short window.
    io(&mut evidence).window_ns = 1_000_000;
    io(&mut evidence).operations = 132;
    io(&mut evidence).read_bytes = 132 * 4096;
    io(&mut evidence).histogram_count = 132;
    io(&mut evidence).interval_count = 132;
    io(&mut evidence).latency_ns_mean = 242_424.0;
    host(&mut evidence).window_ns = 1_100_000;
    is_valid("short window", &facts("io"), &evidence);
}

#[test]
fn data_that_is_compressed_away() {
    let base = sound_writes();
    let compressing = |e: &mut Evidence, share: f64| {
        let data = e.data.as_mut().unwrap();
        data.compressible_share = Some(share);
        data.compressing_stack = Some("btrfs compress=lzo".to_owned());
        // Fewer bytes reach the drive, which is what is said.
        host(e).devices[0].written_bytes /= 3;
    };
    objects(&base, Level::Suspect, "compressible-data", |e| {
        compressing(e, 0.7)
    });
    notes(&base, "compressible-data", |e| {
        let data = e.data.as_mut().unwrap();
        data.contents = "zeros".to_owned();
        data.compressible_share = None;
    });
    let mut random = base.clone();
    compressing(&mut random, 0.02);
    host(&mut random).devices[0].written_bytes *= 3;
    is_valid("random data on a compressing stack", &facts("io"), &random);
}

#[test]
fn blocks_that_were_never_written() {
    let base = sound();
    objects(&base, Level::Suspect, "unwritten-blocks", |e| {
        e.file.as_mut().unwrap().unwritten_bytes = Some(1 << 30);
    });
    // Written over, not read: no matter.
    let mut writes = sound_writes();
    writes.file.as_mut().unwrap().unwritten_bytes = Some(1 << 30);
    is_valid("writes into unwritten blocks", &facts("io"), &writes);
}

#[test]
fn the_machine_around_the_test() {
    use Level::Suspect;
    let base = sound();
    let cpu = |e: &mut Evidence| e.cpu.as_mut().unwrap().busiest_share = Some(0.97);
    objects(&base, Suspect, "generator-bound", cpu);
    objects(&base, Suspect, "steal", |e| {
        host(e).steal_share = Some(0.04)
    });
    objects(&base, Suspect, "throttled", |e| host(e).throttled = Some(1));
    objects(&base, Suspect, "foreign-io", |e| {
        host(e).devices[0].read_bytes += 60_000_000
    });
    objects(&base, Suspect, "foreign-io", |e| {
        host(e).devices[0].written_bytes = 60_000_000
    });
    objects(&base, Suspect, "busy-machine", |e| {
        host(e).user_share = Some(0.45)
    });
    objects(&base, Suspect, "clock", |e| {
        e.clock.as_mut().unwrap().backward_steps = 1
    });
    objects(&base, Suspect, "clock", |e| {
        let clock = e.clock.as_mut().unwrap();
        (clock.source, clock.read_ns) = ("hpet".to_owned(), 9_000.0);
    });
    notes(&base, "clock", |e| {
        e.clock.as_mut().unwrap().read_ns = 900.0
    });
    notes(&base, "clock-step", |e| {
        e.clock.as_mut().unwrap().wall_drift_ns = Some(-3_600_000_000_000)
    });
    notes(&base, "busy-machine", |e| host(e).user_share = Some(0.25));
    // Without pressure information it is only noted.
    notes(&base, "busy-machine", |e| {
        host(e).user_share = Some(0.45);
        host(e).pressure = None;
    });
}

#[test]
fn things_worth_knowing() {
    notes(&sound_writes(), "amplification", |e| {
        host(e).devices[0].written_bytes *= 2
    });
    notes(&sound_writes(), "not-durable", |e| {
        e.durability.as_mut().unwrap().durable = false
    });
    notes(&sound(), "fragmented", |e| {
        e.file.as_mut().unwrap().extents = Some(101)
    });
    let mut facts = facts("io");
    facts.physical_block_bytes = Some(16_384);
    facts.fill_share = Some(0.81);
    facts.is_virtual = true;
    let (level, _, notes) = told(&facts, &sound());
    assert_eq!(level, Level::Valid);
    assert_eq!(notes, ["virtual-disk", "alignment", "nearly-full"]);
}

#[test]
fn what_must_not_alarm() {
    let io_facts = facts("io");
    // A virtio disk without a link, whose drive is not told.
    let mut virtio = sound();
    host(&mut virtio).link_bytes_per_second = None;
    is_valid("virtio", &io_facts, &virtio);

    // Ten requests in a millisecond: the borders weigh more than the window.
    let mut tiny = sound();
    *io(&mut tiny) = IoEvidence {
        window_ns: 1_000_000,
        operations: 10,
        read_bytes: 40_960,
        histogram_count: 10,
        interval_count: 10,
        latency_ns_mean: 900_000.0,
        in_flight_mean: 31.0,
        depth_total: 32,
        block_size_bytes: Some(4096),
        engine: "io_uring".to_owned(),
        ..IoEvidence::default()
    };
    let seen = host(&mut tiny);
    seen.window_ns = 1_200_000;
    seen.devices[0].read_bytes = 42 * 4096;
    seen.own_read_bytes = Some(42 * 4096);
    (seen.steal_share, seen.user_share) = (Some(0.5), Some(0.9));
    is_valid("tiny window", &io_facts, &tiny);

    // A stall longer than anything before crosses the window's end.
    let mut stalled = sound();
    io(&mut stalled).in_flight_mean = 40.0;
    stalled.counts.insert("late-operations".to_owned(), 32);
    let found = told(&io_facts, &stalled);
    assert_eq!(
        (found.0, found.1),
        (Level::Suspect, vec!["littles-law".to_owned()])
    );
    // One as long as others seen does not even make it suspect.
    let known = Facts {
        latency_ns_max: Some(2 * SECOND),
        ..io_facts.clone()
    };
    is_valid("known stall", &known, &stalled);

    // An old kernel does not count what its workers read for us.
    let mut old = sound_buffered();
    host(&mut old).own_read_bytes = Some(0);
    is_valid("io_uring on an old kernel", &io_facts, &old);

    // Progress that is written to a file on the same disk.
    let mut logged = sound();
    host(&mut logged).own_written_bytes = Some(4096);
    is_valid("log on the same disk", &io_facts, &logged);

    // RAID 5 reads to write.
    let mut parity = sound_writes();
    host(&mut parity).devices[0].read_bytes = 900_000_000;
    host(&mut parity).devices[0].written_bytes *= 2;
    let raid = Facts {
        reads_on_write: true,
        ..io_facts.clone()
    };
    is_valid("RAID 5", &raid, &parity);

    // Encryption: the kernel's CPU time is ours, and threads wait for it.
    let mut encrypted = sound();
    host(&mut encrypted).busy_share = Some(0.98);
    is_valid("dm-crypt", &io_facts, &encrypted);

    // A polling engine is busy by design.
    let mut polling = sound();
    polling.cpu.as_mut().unwrap().busiest_share = Some(1.0);
    polling.cpu.as_mut().unwrap().polls = true;
    is_valid("polling", &io_facts, &polling);

    // Without a volatile write cache a direct write is durable.
    let mut through = sound_writes();
    through.durability.as_mut().unwrap().durable = false;
    host(&mut through).devices[0].write_cache = Some("write through".to_owned());
    assert_eq!(told(&io_facts, &through).2, Vec::<String>::new());

    // A program is watched from its start to its end, with its ramp and its layout.
    let mut program = sound_writes();
    host(&mut program).window_ns = 9 * SECOND;
    host(&mut program).devices[0].written_bytes *= 2;
    host(&mut program).own_written_bytes = Some(4 * GB);
    io(&mut program).interval_count = 0;
    io(&mut program).in_flight_mean = 0.0;
    let fio = Facts {
        counts_itself: false,
        ..io_facts
    };
    assert_eq!(told(&fio, &program), (Level::Valid, Vec::new(), Vec::new()));
}

#[test]
fn whole_workloads_without_an_account_are_valid() {
    // sqlite: no account of single transfers, a journal that doubles what is written.
    let mut evidence = sound_writes();
    evidence.io = None;
    evidence.direct = None;
    evidence.cpu = None;
    host(&mut evidence).devices[0].written_bytes = 3 * GB;
    assert_eq!(
        told(&facts("sqlite"), &evidence),
        (Level::Valid, Vec::new(), Vec::new())
    );
    // A server's I/O is not ours to count.
    host(&mut evidence).own_read_bytes = Some(0);
    host(&mut evidence).own_written_bytes = Some(0);
    host(&mut evidence).devices[0].read_bytes = 3 * GB;
    host(&mut evidence).user_share = Some(0.95);
    is_valid("pgbench", &facts("pgbench"), &evidence);
    // Classic file calls: numbers in flight are not measured.
    let mut calls = sound_writes();
    io(&mut calls).in_flight_mean = f64::NAN;
    io(&mut calls).latency_ns_mean = f64::NAN;
    is_valid("file calls", &facts("fs-mark"), &calls);
}

#[test]
fn facts_of_a_target() {
    let target = TargetInfo {
        mount: Some(Mount {
            file_system: "xfs".to_owned(),
            size_bytes: 1000,
            available_bytes: 100,
            ..Mount::default()
        }),
        layers: vec![Layer {
            kind: LayerKind::Md,
            detail: "raid5, 3 drives".to_owned(),
            ..Layer::default()
        }],
        drives: vec![Drive {
            transport: Some("virtio".to_owned()),
            physical_block_bytes: Some(4096),
            ..Drive::default()
        }],
        ..TargetInfo::default()
    };
    let found = Facts::of(&case("io"), Some(&target));
    assert!(found.reads_on_write && found.is_virtual && found.counts_itself);
    assert_eq!(found.physical_block_bytes, Some(4096));
    assert_eq!(found.fill_share, Some(0.9));
    assert_eq!(found.scope, Scope::Device);
    let mut plain = target;
    plain.layers[0].detail = "raid0, 2 drives".to_owned();
    assert!(!Facts::of(&case("io"), Some(&plain)).reads_on_write);
    assert_eq!(Facts::of(&case("sqlite"), None).scope, Scope::Stack);
}

fn trial(samples: u64, values: &[&str]) -> Trial {
    let mut histogram = Histogram::new();
    histogram.record_n(100_000, samples);
    let mut trial = Trial {
        evidence: sound(),
        ..Trial::default()
    };
    io(&mut trial.evidence).histogram_count = samples;
    io(&mut trial.evidence).operations = samples;
    io(&mut trial.evidence).interval_count = samples;
    io(&mut trial.evidence).block_size_bytes = None;
    io(&mut trial.evidence).in_flight_mean = 0.0;
    trial.histograms.insert("read".to_owned(), histogram);
    for value in values {
        trial
            .values
            .insert((*value).to_owned(), Figure::new(1.0).unwrap());
    }
    trial
}

/// A sound trial whose bandwidth went like this, a row a second.
fn trial_of(rows: impl IntoIterator<Item = f64>) -> Trial {
    let mut steady = trial(100_000, &[]);
    let series = Series {
        unit: "MB/s".to_owned(),
        start_ns: 0,
        step_ns: SECOND,
        values: rows.into_iter().collect(),
    };
    steady.series.insert("bandwidth".to_owned(), series);
    steady
}

/// Level and rules of reasons and notes.
fn told_of(trial: &Trial) -> (Level, Vec<String>) {
    let verdict = judge_trial(&case("io"), None, trial);
    let all = verdict.reasons.iter().chain(&verdict.notes);
    (
        verdict.level,
        all.map(|reason| reason.rule.clone()).collect(),
    )
}

#[test]
fn a_series_tells_of_phases_starts_and_drifts() {
    let check = |rows: &[f64], level: Level, rules: &[&str]| {
        let found = told_of(&trial_of(rows.iter().copied()));
        let expected: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        assert_eq!(found, (level, expected), "{rows:?}");
    };
    let wobble = |n: usize| (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 });
    let flat: Vec<f64> = wobble(20).map(|w| 500.0 + w).collect();
    check(&flat, Level::Valid, &[]);
    // A write cache full after 8 s.
    let mut knee = flat.clone();
    knee[8..].iter_mut().for_each(|row| *row *= 0.3);
    check(&knee, Level::Suspect, &["two-phases"]);
    let verdict = judge_trial(&case("io"), None, &trial_of(knee));
    assert_eq!(
        verdict.reasons[0].text,
        "Bandwidth went from 500.0 to 150.0 MB/s 8.0 s into the window, after 4000 MB: the figure is a \
         mean of two states."
    );
    // A smaller step is told, and is no steady state either.
    let mut step = flat.clone();
    step[8..].iter_mut().for_each(|row| *row *= 0.85);
    check(&step, Level::Suspect, &["transient", "two-phases"]);
    let mut slow = flat.clone();
    slow[0] = 200.0;
    check(&slow, Level::Valid, &["slow-start"]);
    // Rows too few to say anything.
    check(&[500.0, 100.0, 20.0], Level::Valid, &[]);
    // All over the place, without direction.
    let wild = [3.0, 4.0, 9.0, 8.0, 2.0, 3.0, 9.0, 8.0, 4.0, 3.0];
    check(&wild, Level::Valid, &["transient"]);
}

#[test]
fn a_figure_that_moves_on_is_no_steady_state() {
    // 2 % less each second, without a step.
    let drift = (0..12).map(|i| 500.0 * 0.98_f64.powi(i));
    let (level, rules) = told_of(&trial_of(drift));
    assert_eq!((level, rules[0].as_str()), (Level::Suspect, "transient"));
}

#[test]
fn a_first_trial_unlike_the_others_is_told() {
    let of = |values: &[f64]| {
        let trials: Vec<Trial> = values
            .iter()
            .map(|value| {
                let mut one = trial(100_000, &[]);
                one.values
                    .insert("iops".to_owned(), Figure::new(*value).unwrap());
                one.verdict = Verdict::valid();
                one
            })
            .collect();
        let verdict = judge_entry("iops", &trials);
        verdict.notes.iter().any(|note| note.rule == "first-trial")
    };
    assert!(of(&[50.0, 100.0, 101.0, 99.0, 100.0]));
    assert!(!of(&[98.0, 100.0, 101.0, 99.0, 100.0]));
    // They are as far from each other.
    assert!(!of(&[50.0, 100.0, 180.0, 99.0, 100.0]));
    assert!(!of(&[50.0, 100.0]));
}

#[test]
fn corrupt_blocks_are_counted_and_named() {
    let verified = VerifyEvidence {
        checked_bytes: GB,
        read_back_bytes: GB,
        ..VerifyEvidence::default()
    };
    let mut evidence = sound();
    evidence.verify = Some(verified.clone());
    is_valid("sound data", &facts("io"), &evidence);
    objects(&sound(), Level::Invalid, "data-corrupt", |e| {
        let faults = [("stale", 2), ("torn", 1)].map(|(kind, n)| (kind.to_owned(), n));
        e.verify = Some(VerifyEvidence {
            faults: faults.into(),
            first: vec!["at offset 4096 (4KiB) is an earlier writing".to_owned()],
            ..verified
        });
    });
}

/// The sound trial as an open loop that kept up.
fn at_a_rate(evidence: &mut Evidence) -> &mut OpenEvidence {
    let pace = evidence.pace.insert(PaceEvidence {
        rate: "100000/s".to_owned(),
        reached_share: Some(1.0),
        open: Some(OpenEvidence {
            arrivals: "constant".to_owned(),
            due: 500_000,
            late_starts: 50,
            latest_start_ns: 70_000,
            backlog: 0,
            unfinished: 30,
        }),
    });
    pace.open.as_mut().unwrap()
}

#[test]
fn an_open_loop_tells_what_was_late_and_what_was_missed() {
    let facts = facts("io");
    let mut evidence = sound();
    at_a_rate(&mut evidence);
    let (level, _, notes) = told(&facts, &evidence);
    assert_eq!((level, notes), (Level::Valid, vec!["open-loop".to_owned()]));
    // A stall that the end of the window hides; and a target that cannot keep up.
    objects(&sound(), Level::Suspect, "rate-missed", |e| {
        at_a_rate(e).backlog = 600;
    });
    objects(&sound(), Level::Suspect, "rate-missed", |e| {
        at_a_rate(e).unfinished = 600;
    });
}

#[test]
fn a_latency_at_a_rate_from_a_closed_loop_is_refused() {
    let mut closed = trial(100_000, &["iops", "latency-p99", "service-p99"]);
    closed.evidence.pace = Some(PaceEvidence {
        rate: "1000/s".to_owned(),
        reached_share: Some(1.0),
        open: None,
    });
    closed.verdict = judge_trial(&case("io"), None, &closed);
    assert_eq!(closed.verdict.level, Level::Valid);
    for (metric, level) in [
        ("iops", Level::Valid),
        ("service-p99", Level::Valid),
        ("sync-latency-p99", Level::Valid),
        ("latency-p99", Level::Invalid),
        ("read-latency-mean", Level::Invalid),
    ] {
        let verdict = judge_entry(metric, [&closed]);
        assert_eq!(verdict.level, level, "{metric}");
        let refused = verdict.reasons.iter().any(|r| r.rule == "closed-loop");
        assert_eq!(refused, level == Level::Invalid, "{metric}");
    }
    closed.evidence.pace.as_mut().unwrap().reached_share = Some(0.5);
    let verdict = judge_trial(&case("io"), None, &closed);
    assert_eq!(verdict.notes[0].short, "50.0 % of the rate limit");
    // The same of an open loop stands.
    at_a_rate(&mut closed.evidence);
    closed.verdict = judge_trial(&case("io"), None, &closed);
    assert_eq!(judge_entry("latency-p99", [&closed]).level, Level::Valid);
}

#[test]
fn samples_of_an_open_loop_are_counted_once() {
    let mut open = trial(600, &["latency-p99"]);
    let service = open.histograms["read"].clone();
    open.histograms
        .insert("read-service".to_owned(), service.clone());
    open.histograms.insert("sync".to_owned(), service);
    let weak = account::too_few("latency-p99", &open);
    assert_eq!(weak, Some((99.0, 600)));
    assert_eq!(account::too_few("service-p99", &open), weak);
}

#[test]
fn percentiles_need_their_samples() {
    for (p, needed) in [(50.0, 20), (99.0, 1000), (99.9, 10_000), (99.99, 100_000)] {
        assert_eq!(account::needed(p), needed, "{p}");
    }
    let few = trial(
        9_999,
        &["bandwidth", "latency-p50", "latency-p99", "latency-p99.9"],
    );
    let verdict = judge_trial(&case("io"), None, &few);
    assert_eq!(verdict.level, Level::Valid);
    assert_eq!(verdict.notes.len(), 1, "{verdict:?}");
    assert_eq!(
        verdict.notes[0].text,
        "Samples, of those needed: p99.9 has 9999 of 10000."
    );
    let enough = trial(10_000, &["latency-p99.9"]);
    assert!(judge_trial(&case("io"), None, &enough).notes.is_empty());
}

#[test]
fn the_entry_of_a_percentile_is_suspect_and_that_of_the_bandwidth_is_not() {
    let mut few = trial(500, &["bandwidth", "read-latency-p99"]);
    few.verdict = judge_trial(&case("io"), None, &few);
    let trials = [few.clone(), few];
    let bandwidth = judge_entry("bandwidth", &trials);
    assert_eq!(bandwidth, Verdict::valid());
    let tail = judge_entry("read-latency-p99", &trials);
    assert_eq!(tail.level, Level::Suspect);
    assert_eq!(
        tail.reasons[0].text,
        "p99 of a trial rests on 500 samples; it needs 1000."
    );
}

#[test]
fn an_entry_says_in_how_many_trials() {
    let judged = |change: fn(&mut Evidence)| {
        let mut evidence = sound();
        change(&mut evidence);
        Trial {
            verdict: judge(&facts("io"), &evidence),
            evidence,
            ..Trial::default()
        }
    };
    let failed = Trial {
        error: Some("no".to_owned()),
        ..Trial::default()
    };
    let busy = |e: &mut Evidence| host(e).user_share = Some(0.45);
    let trials = [
        judged(|_| {}),
        judged(busy),
        judged(|_| {}),
        judged(busy),
        judged(|_| {}),
        failed,
    ];
    let entry = judge_entry("bandwidth", &trials);
    assert_eq!(entry.level, Level::Suspect);
    assert_eq!(entry.reasons.len(), 1);
    assert_eq!(entry.reasons[0].short, "busy machine in 2 of 5 trials");
    assert!(entry.reasons[0].text.ends_with("Seen in 2 of 5 trials."));
    // In all trials it goes without saying.
    let always = judge_entry("bandwidth", [&trials[1], &trials[3]]);
    assert_eq!(always.reasons[0].short, "busy machine");
    assert_eq!(judge_entry("bandwidth", []), Verdict::default());
}

#[test]
fn flushes_that_cost_nothing_are_noted() {
    let mut fast = trial(1000, &[]);
    let mut syncs = Histogram::new();
    syncs.record_n(5_000, 100);
    fast.histograms.insert("fdatasync".to_owned(), syncs);
    let names = |trial: &Trial| -> Vec<String> {
        let verdict = judge_trial(&case("io"), None, trial);
        verdict.notes.iter().map(|note| note.rule.clone()).collect()
    };
    assert_eq!(names(&fast), ["flush-too-fast"]);
    host(&mut fast.evidence).devices[0].write_cache = Some("write through".to_owned());
    assert!(names(&fast).is_empty());
}

#[test]
fn the_table_has_a_row_for_every_rule_once() {
    let table = rule_table();
    for (at, row) in table.iter().enumerate() {
        assert!(
            !row.title.is_empty() && row.meaning.ends_with('.'),
            "{}",
            row.id
        );
        assert!(
            row.advice.is_empty() || row.advice.ends_with('.'),
            "{}",
            row.id
        );
        assert!(
            table[at + 1..].iter().all(|other| other.id != row.id),
            "{} twice",
            row.id
        );
        assert!(
            !row.title.contains("  ") && !row.meaning.contains("  "),
            "{}",
            row.id
        );
        if row.worst >= Level::Suspect {
            assert!(!row.threshold.is_empty(), "{} states no threshold", row.id);
        }
    }
    let link = rule("link-ceiling").unwrap();
    assert_eq!(link.threshold, "over 102 % of the link, each direction");
    assert_eq!(rule("no-such-rule"), None);
}

proptest! {
    #[test]
    fn any_evidence_is_judged(
        numbers in proptest::collection::vec(any::<u64>(), 12),
        shares in proptest::collection::vec(-1.0_f64..2.0, 6),
        flags in proptest::collection::vec(any::<bool>(), 6),
    ) {
        let mut evidence = if flags[0] { sound() } else { sound_writes() };
        let account = io(&mut evidence);
        account.window_ns = numbers[0];
        account.operations = numbers[1];
        account.read_bytes = numbers[2];
        account.written_bytes = numbers[3];
        account.depth_total = numbers[4];
        account.block_size_bytes = flags[1].then_some(numbers[5]);
        account.latency_ns_mean = shares[0] * 1e9;
        account.in_flight_mean = if flags[2] { f64::NAN } else { shares[1] };
        let seen = host(&mut evidence);
        seen.window_ns = numbers[6];
        seen.devices[0].read_bytes = numbers[7];
        seen.devices[0].written_bytes = numbers[8];
        seen.own_read_bytes = flags[3].then_some(numbers[9]);
        seen.own_written_bytes = flags[4].then_some(numbers[10]);
        seen.link_bytes_per_second = Some(numbers[11]);
        seen.user_share = Some(shares[2]);
        evidence.file.as_mut().unwrap().size_bytes = numbers[5];
        evidence.direct.as_mut().unwrap().opened = flags[5];
        let first = judge(&facts("io"), &evidence);
        prop_assert_eq!(&first, &judge(&facts("io"), &evidence));
        prop_assert!(first.level >= Level::Valid);
        prop_assert_eq!(first.reasons.is_empty(), first.level == Level::Valid);
    }
}

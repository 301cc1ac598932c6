//! This machine: whatever it is, the answers must fit together.

use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use fathom_base::SystemClock;
use fathom_model::judge::{Facts, Scope, judge};
use fathom_model::{DirectEvidence, Evidence, IoEvidence, Observer, TargetInfo, TargetKind};
use fathom_system::{
    ClockWitness, DescribeOptions, MachineObserver, Root, SystemError, describe, list_targets,
    resolve_target, system_fields,
};
use fathom_testkit::{disk_directory, skipped};
use rustix::fs::{Mode, OFlags};

#[test]
fn the_directory_of_the_sources_resolves() {
    let root = Root::system();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = resolve_target(&root, here).unwrap();
    assert_eq!(target.kind, TargetKind::Directory);
    assert!(Path::new(&target.path).is_absolute());
    let ends_somewhere = !target.drives.is_empty()
        || target.memory.is_some()
        || target.is_network
        || target.opaque.is_some();
    assert!(ends_somewhere, "{target:#?}");
    for layer in &target.layers {
        for below in &layer.below {
            assert!(
                target.layers.iter().any(|other| other.name == *below),
                "{layer:?}"
            );
        }
    }
    let file = resolve_target(&root, &here.join("Cargo.toml")).unwrap();
    assert_eq!(file.kind, TargetKind::File);
    let point = |target: &fathom_model::TargetInfo| {
        target
            .mount
            .as_ref()
            .map(|mount| (mount.point.clone(), mount.device.clone()))
    };
    assert_eq!(point(&file), point(&target));
}

#[test]
fn what_is_no_target_says_so() {
    let root = Root::system();
    let error = resolve_target(&root, Path::new("/dev/null")).unwrap_err();
    assert!(
        matches!(
            error,
            SystemError::Kind {
                found: "character device",
                ..
            }
        ),
        "{error}"
    );
    let error = resolve_target(&root, Path::new("/no/such/place")).unwrap_err();
    assert!(
        error.to_string().contains("does not exist; / does"),
        "{error}"
    );
}

#[test]
fn this_machine_is_described() {
    let root = Root::system();
    let search = std::env::var_os("PATH");
    let options = DescribeOptions {
        search_path: search,
        ..DescribeOptions::default()
    };
    let machine = describe(&root, &options);
    assert!(
        machine.cpu.threads >= 1 && machine.cpu.cores >= 1,
        "{:?}",
        machine.cpu
    );
    assert!(machine.cpu.threads >= machine.cpu.cores);
    assert!(machine.memory.total_bytes > 1 << 26);
    assert!(!machine.platform.kernel.is_empty());
    let target = resolve_target(&root, Path::new("/")).unwrap();
    let fields = system_fields(&machine, &target);
    assert!(fields.software.iter().any(|field| field.name == "Kernel"));
    let text = serde_json::to_string(&machine).unwrap();
    assert_eq!(
        serde_json::from_str::<fathom_model::Machine>(&text).unwrap(),
        machine
    );
}

#[test]
fn the_mounts_of_this_machine_are_listed() {
    for one in list_targets(&Root::system()) {
        assert_eq!(one.target.path, one.mount.point);
        assert!(
            one.mount.size_bytes > 0 || one.target.drives.is_empty(),
            "{one:?}"
        );
    }
}

#[test]
fn a_synced_write_moves_the_counters_of_its_drive() {
    const BYTES: usize = 8 << 20;
    let Some(directory) = disk_directory() else {
        return;
    };
    let root = Root::system();
    let target = resolve_target(&root, directory.path()).unwrap();
    if target.drives.is_empty() {
        skipped("the drive of the scratch directory cannot be seen");
        return;
    }
    let observer = MachineObserver::new(&root, &target);
    let witness = observer.begin();
    let clock = SystemClock::new();
    let clock_witness = ClockWitness::begin(&root, &clock);
    let mut file = std::fs::File::create(directory.path().join("witnessed")).unwrap();
    // A pattern no layer below can shorten by much: a counter, multiplied.
    let data: Vec<u8> = (0..BYTES / 8)
        .flat_map(|n| (n as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect();
    file.write_all(&data).unwrap();
    file.sync_all().unwrap();
    let seen = witness.end();
    let clock_seen = clock_witness.end(&clock, "clock_gettime");
    let written: u64 = seen.devices.iter().map(|device| device.written_bytes).sum();
    assert!(written >= BYTES as u64, "{seen:#?}");
    assert!(seen.own_written_bytes.unwrap() >= BYTES as u64, "{seen:#?}");
    assert!(seen.window_ns > 0);
    assert_eq!(seen.memory_backed, None);
    assert_eq!(clock_seen.backward_steps, 0);
    assert!(clock_seen.read_ns > 0.0);
}

/// Reads a file once, watched, and gives the rules that speak of where the bytes came from.
fn read_and_judge(target: &TargetInfo, path: &Path, is_direct: bool) -> Vec<String> {
    const BLOCK: usize = 1 << 20;
    let flags = match is_direct {
        true => OFlags::RDONLY | OFlags::DIRECT,
        false => OFlags::RDONLY,
    };
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else {
        skipped("no direct I/O on the scratch directory");
        return Vec::new();
    };
    let file = std::fs::File::from(file);
    let mut buffer = vec![0_u8; 2 * BLOCK];
    let at = buffer.as_ptr().align_offset(4096);
    let block = &mut buffer[at..at + BLOCK];
    let (mut operations, mut bytes) = (0, 0);
    let observer = MachineObserver::new(&Root::system(), target);
    let witness = observer.begin();
    loop {
        match file.read_at(block, bytes).unwrap() {
            0 => break,
            count => (operations, bytes) = (operations + 1, bytes + count as u64),
        }
    }
    let host = witness.end();
    let evidence = Evidence {
        io: Some(IoEvidence {
            window_ns: host.window_ns,
            operations,
            read_bytes: bytes,
            histogram_count: operations,
            interval_count: operations,
            depth_total: 1,
            block_size_bytes: Some(BLOCK as u64),
            engine: "psync".to_owned(),
            ..IoEvidence::default()
        }),
        direct: Some(DirectEvidence {
            requested: is_direct,
            opened: is_direct,
            ..DirectEvidence::default()
        }),
        host: Some(host),
        ..Evidence::default()
    };
    let facts = Facts {
        scope: Scope::Device,
        owns_its_io: true,
        ..Facts::default().with_target(target)
    };
    let verdict = judge(&facts, &evidence);
    let about = [
        "page-cache",
        "device-bytes",
        "direct-io",
        "link-ceiling",
        "counts",
    ];
    let rules = verdict.reasons.into_iter().map(|reason| reason.rule);
    rules
        .filter(|rule| about.contains(&rule.as_str()))
        .collect()
}

#[test]
fn cached_and_direct_reads_are_told_apart() {
    let Some(directory) = disk_directory() else {
        return;
    };
    let target = resolve_target(&Root::system(), directory.path()).unwrap();
    if target.drives.is_empty() {
        skipped("the drive of the scratch directory cannot be seen");
        return;
    }
    let path = directory.path().join("read");
    let data: Vec<u8> = (0..16_u64 << 17)
        .flat_map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect();
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&data).unwrap();
    file.sync_all().unwrap();
    assert_eq!(read_and_judge(&target, &path, false), ["page-cache"]);
    assert_eq!(read_and_judge(&target, &path, true), Vec::<String>::new());
}

#[test]
fn memory_has_no_drives_to_watch() {
    let root = Root::system();
    let Ok(target) = resolve_target(&root, Path::new("/dev/shm")) else {
        skipped("there is no /dev/shm");
        return;
    };
    if target.memory.is_none() {
        skipped("/dev/shm is not memory here");
        return;
    }
    let seen = MachineObserver::new(&root, &target).begin().end();
    assert_eq!(seen.memory_backed.as_deref(), Some("tmpfs"));
    assert!(seen.devices.is_empty());
    assert_eq!(seen.devices_unseen, None);
}

/// Prints what a look costs; `cargo test -p fathom-system --release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_look() {
    const LOOKS: u32 = 500;
    let root = Root::system();
    let target = resolve_target(&root, Path::new(".")).unwrap();
    let observer = MachineObserver::new(&root, &target);
    let mut begins = Vec::new();
    let mut ends = Vec::new();
    for _ in 0..LOOKS {
        let start = Instant::now();
        let witness = observer.begin();
        begins.push(start.elapsed());
        let start = Instant::now();
        black_box(witness.end());
        ends.push(start.elapsed());
    }
    begins.sort_unstable();
    ends.sort_unstable();
    let middle = LOOKS as usize / 2;
    let start = Instant::now();
    black_box(describe(&root, &DescribeOptions::default()));
    let described = start.elapsed();
    let start = Instant::now();
    black_box(resolve_target(&root, Path::new(".")).unwrap());
    let resolved = start.elapsed();
    let line = format!(
        "begin {:?}, end {:?} (medians of {LOOKS}); describe {described:?}, resolve {resolved:?}\n",
        begins[middle], ends[middle]
    );
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

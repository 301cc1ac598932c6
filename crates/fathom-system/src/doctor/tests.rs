use fathom_model::{Cpu, Drive, Layer, Link, Machine, MemoryBacking, Mount, Platform};

use super::*;

fn ids(machine: &Machine, target: &TargetInfo) -> Vec<&'static str> {
    doctor(machine, target)
        .iter()
        .map(|finding| finding.id)
        .collect()
}

fn mounted(options: &[&str]) -> TargetInfo {
    TargetInfo {
        mount: Some(Mount {
            point: "/data".to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            size_bytes: 100,
            available_bytes: 50,
            ..Mount::default()
        }),
        ..TargetInfo::default()
    }
}

#[test]
fn a_good_machine_has_no_findings() {
    let machine = Machine {
        cpu: Cpu {
            threads: 8,
            governor: Some("performance".to_owned()),
            ..Cpu::default()
        },
        platform: Platform {
            clock_source: Some("tsc".to_owned()),
            load: Some(0.3),
            io_uring_disabled: Some(0),
            ..Platform::default()
        },
        ..Machine::default()
    };
    assert_eq!(
        ids(&machine, &mounted(&["rw", "relatime"])),
        Vec::<&str>::new()
    );
}

#[test]
fn machines_that_bend_figures() {
    let platform = |platform: Platform| Machine {
        platform,
        ..Machine::default()
    };
    let none = TargetInfo::default();
    let cases = [
        (
            Machine {
                cpu: Cpu {
                    governor: Some("performance + powersave".to_owned()),
                    ..Cpu::default()
                },
                ..Machine::default()
            },
            "governor",
        ),
        (
            platform(Platform {
                clock_source: Some("hpet".to_owned()),
                ..Platform::default()
            }),
            "clock-source",
        ),
        (
            platform(Platform {
                load: Some(0.6),
                ..Platform::default()
            }),
            "load",
        ),
        (
            platform(Platform {
                locked_memory_limit_bytes: Some(65536),
                ..Platform::default()
            }),
            "locked-memory",
        ),
        (
            platform(Platform {
                io_uring_disabled: Some(2),
                ..Platform::default()
            }),
            "io-uring",
        ),
        (
            platform(Platform {
                cpu_quota: Some(0.5),
                ..Platform::default()
            }),
            "cpu-quota",
        ),
        (
            platform(Platform {
                io_limit: Some("8:0 rbps=1".to_owned()),
                ..Platform::default()
            }),
            "io-limit",
        ),
    ];
    for (machine, id) in cases {
        assert_eq!(ids(&machine, &none), [id]);
    }
}

#[test]
fn targets_that_bend_figures() {
    let machine = Machine::default();
    for (option, id) in [
        ("ro", "read-only"),
        ("noexec", "noexec"),
        ("nobarrier", "no-barrier"),
        ("sync", "sync"),
    ] {
        assert_eq!(ids(&machine, &mounted(&[option])), [id]);
    }
    let mut full = mounted(&[]);
    full.mount.as_mut().unwrap().available_bytes = 19;
    assert_eq!(ids(&machine, &full), ["nearly-full"]);
    full.mount.as_mut().unwrap().available_bytes = 20;
    assert_eq!(ids(&machine, &full), Vec::<&str>::new());

    let with = |layer: Layer| TargetInfo {
        layers: vec![layer],
        ..TargetInfo::default()
    };
    let layer = |kind, detail: &str| Layer {
        kind,
        detail: detail.to_owned(),
        ..Layer::default()
    };
    let array = |detail| with(layer(LayerKind::Md, detail));
    assert_eq!(
        ids(&machine, &array("raid1, 2 drives, 1 missing")),
        ["degraded-array"]
    );
    assert_eq!(
        ids(&machine, &array("raid1, 2 drives, resync running")),
        ["array-busy"]
    );
    assert_eq!(
        ids(&machine, &with(layer(LayerKind::Loop, "/a"))),
        ["loop-cache"]
    );
    assert!(ids(&machine, &with(layer(LayerKind::Loop, "/a, direct I/O"))).is_empty());

    let memory = TargetInfo {
        memory: Some(MemoryBacking("tmpfs".to_owned())),
        ..TargetInfo::default()
    };
    assert_eq!(ids(&machine, &memory), ["memory"]);
    let slow_link = TargetInfo {
        drives: vec![Drive {
            counts_io: Some(false),
            link: Some(Link {
                text: "PCIe 3.0 x1".to_owned(),
                bytes_per_second: 1,
                is_degraded: true,
            }),
            ..Drive::default()
        }],
        ..TargetInfo::default()
    };
    // Warnings come before notes.
    assert_eq!(ids(&machine, &slow_link), ["degraded-link", "no-counters"]);
}

use super::*;
use crate::{Drive, Link, MemoryBacking};

fn nvme() -> TargetInfo {
    TargetInfo {
        drives: vec![Drive {
            transport: Some("nvme".to_owned()),
            link: Some(Link {
                text: "PCIe 3.0 x2".to_owned(),
                bytes_per_second: 1_969_000_000,
                is_degraded: false,
            }),
            ..Drive::default()
        }],
        ..TargetInfo::default()
    }
}

#[test]
fn estimates_respect_the_link_the_depth_and_the_flushes() {
    let guess = Guess::of(&nvme());
    let second = Nanos::from_secs(1);
    let sequential = guess.written(second, Bytes::MIB, 8, false);
    assert_eq!(sequential, Bytes::new(1_969_000_000));
    let one_small = guess.written(second, Bytes::new(4096), 1, false);
    assert_eq!(one_small, Bytes::new(409_600_000));
    let deep_small = guess.written(second, Bytes::new(4096), 1024, false);
    assert_eq!(
        deep_small,
        Bytes::new(1_969_000_000).min(Bytes::new(700_000 * 4096))
    );
    let durable = guess.written(second, Bytes::new(4096), 1, true);
    assert!(durable < Bytes::new(20_000_000));
    let memory = TargetInfo {
        memory: Some(MemoryBacking("tmpfs".to_owned())),
        ..TargetInfo::default()
    };
    assert!(Guess::of(&memory).bytes_per_second > guess.bytes_per_second);
}

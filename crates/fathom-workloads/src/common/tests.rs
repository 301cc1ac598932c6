use fathom_base::{Bytes, Nanos, SplitMix64};
use fathom_model::{Drive, Host, Link, MemoryBacking, Mount, TargetInfo};

use super::*;

fn random(length: usize) -> Vec<u8> {
    let mut random = SplitMix64::new(7);
    let words = length.div_ceil(8);
    let mut bytes: Vec<u8> = (0..words)
        .flat_map(|_| random.next_u64().to_le_bytes())
        .collect();
    bytes.truncate(length);
    bytes
}

#[test]
fn random_bytes_do_not_compress() {
    assert_eq!(compressible_share(&random(1 << 20)), 0.0);
    assert_eq!(compressible_share(&[]), 0.0);
}

#[test]
fn zeros_compress_to_almost_nothing() {
    assert!(compressible_share(&[0; 1 << 20]) > 0.995);
}

#[test]
fn half_zeros_compress_by_half() {
    let mut bytes = random(1 << 20);
    for chunk in bytes.chunks_mut(4096) {
        chunk[2048..].fill(0);
    }
    let share = compressible_share(&bytes);
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

#[test]
fn repeated_blocks_within_the_window_compress() {
    let block = random(4096);
    let bytes: Vec<u8> = block.iter().copied().cycle().take(1 << 20).collect();
    assert!(compressible_share(&bytes) > 0.98);
}

#[test]
fn the_page_pattern_of_iozone_compresses() {
    let mut bytes = vec![0; 1 << 20];
    for chunk in bytes.chunks_mut(4096) {
        chunk[..8].fill(b'_');
    }
    assert!(compressible_share(&bytes) > 0.98);
}

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
    let durable = guess.written(second, Bytes::new(4096), 1, true);
    assert!(durable < Bytes::new(20_000_000));
    let memory = TargetInfo {
        memory: Some(MemoryBacking("tmpfs".to_owned())),
        ..TargetInfo::default()
    };
    assert!(Guess::of(&memory).bytes_per_second > guess.bytes_per_second);
}

fn host(mount: Mount) -> Host {
    Host {
        target: TargetInfo {
            path: "/mnt".to_owned(),
            mount: Some(mount),
            ..TargetInfo::default()
        },
        memory: Bytes::GIB,
        cpus: 2,
        is_root: false,
        search_path: std::ffi::OsString::new(),
    }
}

#[test]
fn a_small_or_read_only_target_is_named() {
    let host = host(Mount {
        point: "/mnt".to_owned(),
        options: vec!["ro".to_owned(), "relatime".to_owned()],
        available_bytes: 500_000_000,
        ..Mount::default()
    });
    let unmet = need_space(&host, Bytes::GIB).unwrap();
    assert_eq!(
        unmet.what,
        "/mnt has 500 MB free, the case needs 1074 MB and a reserve of 64MiB"
    );
    assert!(need_space(&host, Bytes::MIB).is_none());
    assert_eq!(
        need_writable(&host).unwrap().what,
        "/mnt is mounted read-only"
    );
}

use fathom_base::{Bytes, SplitMix64};
use fathom_model::{Host, Mount, TargetInfo};

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

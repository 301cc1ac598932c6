//! What the machine and its file systems say of themselves.

use std::path::Path;

use fathom_base::Bytes;
use fathom_io::{DirectVerdict, EngineKind, Range, direct_probe, evict, probe, residency};

use crate::common::{has_direct, laid_out, scratch};

const SIZE: Bytes = Bytes::new(8 << 20);

fn is_memory(directory: &Path) -> bool {
    matches!(
        direct_probe(directory).map(|p| p.verdict),
        Ok(DirectVerdict::Memory)
    )
}

#[test]
fn eviction_empties_the_cache() {
    let directory = scratch();
    if is_memory(directory.path()) {
        crate::common::skip("eviction: the temporary directory is memory");
        return;
    }
    let path = laid_out(&directory.path().join("file"), SIZE);
    assert_eq!(std::fs::read(&path).unwrap().len() as u64, SIZE.as_u64());
    let evicted = evict(&path).unwrap();
    assert_eq!(evicted.before.resident, SIZE);
    assert_eq!(evicted.before.share(), 1.0);
    assert_eq!(evicted.after.resident, Bytes::new(0));
    assert_eq!(residency(&path, None).unwrap().resident, Bytes::new(0));
}

#[test]
fn dirty_pages_are_written_before_they_are_dropped() {
    let directory = scratch();
    if is_memory(directory.path()) {
        crate::common::skip("eviction: the temporary directory is memory");
        return;
    }
    let path = directory.path().join("file");
    let data: Vec<u8> = (0..1_u32 << 18).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&path, &data).unwrap();
    let evicted = evict(&path).unwrap();
    assert_eq!(evicted.after.resident, Bytes::new(0));
    assert!(std::fs::read(&path).unwrap() == data);
}

#[test]
fn residency_of_a_range_is_told() {
    let directory = scratch();
    if is_memory(directory.path()) {
        crate::common::skip("eviction: the temporary directory is memory");
        return;
    }
    let path = laid_out(&directory.path().join("file"), SIZE);
    evict(&path).unwrap();
    let range = |offset, length| Range {
        offset: Bytes::new(offset),
        length: Bytes::new(length),
    };
    let file = std::fs::File::open(&path).unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
    let mut page = [0; 4096];
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut page, 4 << 20).unwrap();
    let first = residency(&path, Some(range(0, 4 << 20))).unwrap();
    assert_eq!(first.resident, Bytes::new(0));
    let second = residency(&path, Some(range(4 << 20, 4 << 20))).unwrap();
    assert!(second.resident >= Bytes::new(4096), "{second:?}");
    assert_eq!(second.looked_at, Bytes::new(4 << 20));
    let behind = residency(&path, Some(range(64 << 20, 4096))).unwrap();
    assert_eq!(behind.looked_at, Bytes::new(0));
}

#[test]
fn direct_io_is_tried_for_real() {
    let directory = scratch();
    if !has_direct(directory.path()) {
        return;
    }
    let path = laid_out(&directory.path().join("file"), SIZE);
    let file = direct_probe(&path).unwrap();
    assert_eq!(file.verdict, DirectVerdict::Effective);
    std::fs::write(directory.path().join("short"), b"x").unwrap();
    let short = direct_probe(&directory.path().join("short")).unwrap();
    assert_eq!(short.verdict, DirectVerdict::TooShort);
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "the trial leaves nothing behind");
}

#[test]
fn memory_is_known_as_memory() {
    let shm = Path::new("/dev/shm");
    if !shm.is_dir() {
        crate::common::skip("/dev/shm: not there");
        return;
    }
    let verdict = direct_probe(shm).unwrap().verdict;
    // Before Linux 6.6, tmpfs refused O_DIRECT.
    assert!(
        matches!(
            verdict,
            DirectVerdict::Memory | DirectVerdict::Refused(libc::EINVAL)
        ),
        "{verdict:?}"
    );
}

#[test]
fn probes_of_missing_files_name_them() {
    let missing = Path::new("/nonexistent/file");
    for error in [
        evict(missing).unwrap_err(),
        residency(missing, None).unwrap_err(),
        direct_probe(missing).unwrap_err(),
        fathom_io::extents(missing).unwrap_err(),
    ] {
        assert!(error.to_string().contains("/nonexistent/file"), "{error}");
    }
}

#[test]
fn plain_engines_are_always_there() {
    for engine in [EngineKind::Psync, EngineKind::PosixAio, EngineKind::Mmap] {
        assert_eq!(probe(engine), Ok(()));
    }
}

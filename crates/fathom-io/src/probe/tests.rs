//! The ways that are taken only on older kernels or other file systems.

use std::fs::File;

use fathom_base::Bytes;

use super::cache::{mincore, residency_of};
use super::extents::{extents, holes_only};

#[test]
fn mincore_says_what_cachestat_says() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), vec![1; 300_000]).unwrap();
    let open = File::options()
        .read(true)
        .write(true)
        .open(file.path())
        .unwrap();
    let by_cachestat = residency_of(&open, file.path(), None).unwrap();
    let by_mincore = mincore(&open, 0, 300_000).unwrap();
    assert_eq!(by_mincore.resident, by_cachestat.resident);
    assert_eq!(by_mincore.looked_at, Bytes::new(300_000));
    assert_eq!(by_mincore.dirty, None);
}

#[test]
fn seeking_finds_the_holes_that_fiemap_finds() {
    use std::os::unix::fs::FileExt as _;
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(4 << 20).unwrap();
    for offset in [0, 1 << 20, (3 << 20) + 65_536] {
        file.as_file().write_all_at(&[1; 65_536], offset).unwrap();
    }
    file.as_file().sync_all().unwrap();
    let by_seeking = holes_only(file.as_file(), 4 << 20).unwrap();
    assert_eq!(by_seeking.holes, Bytes::new((4 << 20) - 3 * 65_536));
    assert_eq!(by_seeking.unwritten, None);
    assert_eq!(extents(file.path()).unwrap().holes, by_seeking.holes);
    let data_to_the_end = holes_only(file.as_file(), 65_536).unwrap();
    assert_eq!(data_to_the_end.holes, Bytes::new(0));
}

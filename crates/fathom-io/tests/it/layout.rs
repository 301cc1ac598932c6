//! Files laid out for reading.

use std::cell::RefCell;

use fathom_base::{Bytes, Cancel, Nanos, Percent};
use fathom_io::contents::Filler;
use fathom_io::{Contents, IoError, LayoutSpec, extents, lay_out};

use crate::common::{has_direct, scratch};

fn layout(path: std::path::PathBuf, size: u64, direct: bool) -> LayoutSpec {
    LayoutSpec {
        path,
        size: Bytes::new(size),
        contents: Contents::Random,
        seed: 9,
        direct,
        stuck_after: Nanos::from_secs(60),
    }
}

#[test]
fn every_block_is_written() {
    let directory = scratch();
    let direct_works = has_direct(directory.path());
    for direct in [false, true] {
        for size in [1, 4096, 100_000, 1 << 20, (3 << 20) + 4096, (2 << 20) + 77] {
            let spec = layout(directory.path().join("file"), size, direct);
            let told = RefCell::new(Vec::new());
            let report = lay_out(&spec, &Cancel::new(), &|bytes| {
                told.borrow_mut().push(bytes);
            })
            .unwrap();
            assert!(report.created);
            assert_eq!(report.written, Bytes::new(size));
            assert_eq!(report.direct, direct && direct_works && size >= 1 << 20);
            assert!(report.extents.is_written(), "{:?}", report.extents);
            assert_eq!(report.extents.size, Bytes::new(size));
            assert_eq!(told.borrow().last(), Some(&Bytes::new(size)));
            let data = std::fs::read(&spec.path).unwrap();
            assert_eq!(data.len() as u64, size);
            let filler = Filler::new(Contents::Random, 9);
            assert_eq!(filler.verify(&data, 0), Ok(()));
            std::fs::remove_file(&spec.path).unwrap();
        }
    }
}

#[test]
fn a_file_that_is_there_is_written_over() {
    let directory = scratch();
    let spec = layout(directory.path().join("file"), 2 << 20, false);
    std::fs::write(&spec.path, vec![7; 3 << 20]).unwrap();
    let report = lay_out(&spec, &Cancel::new(), &|_| {}).unwrap();
    assert!(!report.created);
    let data = std::fs::read(&spec.path).unwrap();
    assert_eq!(data.len(), 3 << 20, "the rest of a longer file stays");
    let filler = Filler::new(Contents::Random, 9);
    assert_eq!(filler.verify(&data[..2 << 20], 0), Ok(()));
    assert!(data[2 << 20..].iter().all(|&b| b == 7));
}

#[test]
fn shaped_contents_and_zeros_are_laid_out_too() {
    let directory = scratch();
    for contents in [
        Contents::Zeros,
        Contents::Shaped {
            compressible: Percent::new(50.0).unwrap(),
            dedupe: Percent::new(0.0).unwrap(),
        },
    ] {
        let spec = LayoutSpec {
            contents,
            ..layout(directory.path().join("file"), (1 << 20) + 5000, false)
        };
        lay_out(&spec, &Cancel::new(), &|_| {}).unwrap();
        let data = std::fs::read(&spec.path).unwrap();
        let zeros = data.iter().filter(|&&b| b == 0).count() as f64 / data.len() as f64;
        let expected = if contents == Contents::Zeros {
            1.0
        } else {
            0.5
        };
        assert!((zeros - expected).abs() < 0.01, "{contents:?}: {zeros}");
    }
}

#[test]
fn a_cancelled_layout_leaves_no_file() {
    let directory = scratch();
    let spec = layout(directory.path().join("file"), 32 << 20, false);
    let cancel = Cancel::new();
    cancel.cancel();
    let error = lay_out(&spec, &cancel, &|_| {}).unwrap_err();
    assert!(matches!(error, IoError::Cancelled { .. }), "{error}");
    assert!(!spec.path.exists());
}

#[test]
fn a_layout_that_cannot_be_made_says_where() {
    let directory = scratch();
    let spec = layout(directory.path().join("missing/file"), 1 << 20, false);
    let error = lay_out(&spec, &Cancel::new(), &|_| {}).unwrap_err();
    assert!(error.to_string().contains("missing/file"), "{error}");
}

#[test]
fn holes_and_unwritten_blocks_are_told() {
    let directory = scratch();
    let path = directory.path().join("sparse");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(1 << 20).unwrap();
    let map = extents(&path).unwrap();
    assert_eq!(map.holes, Bytes::new(1 << 20), "{map:?}");
    assert!(!map.is_written());
    {
        use std::os::unix::fs::FileExt as _;
        file.write_all_at(&[1; 65_536], 65_536).unwrap();
    }
    let map = extents(&path).unwrap();
    assert_eq!(map.holes, Bytes::new((1 << 20) - 65_536), "{map:?}");
    let path = directory.path().join("allocated");
    let file = std::fs::File::create(&path).unwrap();
    let none = rustix::fs::FallocateFlags::empty();
    if rustix::fs::fallocate(&file, none, 0, 1 << 20).is_err() {
        crate::common::skip("fallocate: not supported here");
        return;
    }
    let map = extents(&path).unwrap();
    match map.unwritten {
        Some(unwritten) => {
            assert_eq!(unwritten, Bytes::new(1 << 20), "{map:?}");
            assert!(!map.is_written());
        }
        None => crate::common::skip("FIEMAP: not supported here"),
    }
}

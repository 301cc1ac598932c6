use std::cell::RefCell;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A device of zeros with a few bytes in it; reads are remembered.
#[derive(Default)]
struct Picture {
    size: u64,
    bytes: BTreeMap<u64, u8>,
    broken: bool,
    furthest: RefCell<u64>,
}

impl Picture {
    fn new(size: u64) -> Self {
        Self {
            size,
            ..Self::default()
        }
    }

    fn with(mut self, offset: u64, bytes: &[u8]) -> Self {
        for (at, byte) in bytes.iter().enumerate() {
            self.bytes.insert(offset + at as u64, *byte);
        }
        self
    }
}

impl Media for Picture {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> bool {
        let end = offset + buffer.len() as u64;
        self.furthest.replace_with(|furthest| (*furthest).max(end));
        if self.broken || end > self.size {
            return false;
        }
        buffer.fill(0);
        for (at, byte) in self.bytes.range(offset..end) {
            buffer[(at - offset) as usize] = *byte;
        }
        true
    }
}

fn found(picture: &Picture) -> Vec<&'static str> {
    scan(picture).iter().map(|found| found.what).collect()
}

const SIZE: u64 = 100 * MIB + 37 * 512;

#[test]
fn zeros_carry_nothing() {
    for size in [0, 1, 512, 4096, MIB, SIZE, 300 * 1024 * MIB] {
        let picture = Picture::new(size);
        assert_eq!(found(&picture), Vec::<&str>::new(), "{size}");
        assert!(*picture.furthest.borrow() <= size);
        assert!(is_blank(&picture));
    }
}

#[test]
fn every_mark_of_the_table_is_found_where_it_stands() {
    const LARGE: u64 = 300 * 1024 * MIB;
    for mark in MARKS {
        let offset = offset_of(mark.at, LARGE).unwrap();
        let mut picture = Picture::new(LARGE).with(offset, mark.bytes);
        if mark.check.is_some() {
            assert!(
                scan(&picture).is_empty(),
                "{} needs more than its mark",
                mark.what
            );
            picture = believable(picture, mark.what, offset);
        }
        assert!(
            found(&picture).contains(&mark.what),
            "{} at {offset}",
            mark.what
        );
    }
}

/// Adds what must stand around a short mark.
fn believable(picture: Picture, what: &str, offset: u64) -> Picture {
    match what {
        EXT => picture.with(offset - 0x38, &[0, 1, 0, 0, 0, 4]),
        NILFS => picture.with(offset - 6, &[2]),
        MINIX if offset == KIB + 0x18 => picture.with(KIB, &[9]),
        MINIX => picture.with(KIB, &[9, 0, 9, 0, 1, 0, 1, 0]),
        "Sun disk label" => picture.with(0, &[0xda, 0xbe]),
        "Apple partition map" => picture.with(offset + 4, &[0, 0, 0, 3]),
        "HFS file system" => picture.with(offset + 20, &[0, 0, 16, 0]),
        other => panic!("{other} is not known here"),
    }
}

#[test]
fn an_external_journal_without_inodes_is_ext() {
    let picture = Picture::new(SIZE)
        .with(0x404, &[0, 4])
        .with(0x438, &[0x53, 0xef]);
    assert_eq!(found(&picture), [EXT]);
}

#[test]
fn chance_does_not_look_like_a_short_mark() {
    // An ext mark with an impossible block size, a nilfs mark of no revision.
    let picture = Picture::new(SIZE)
        .with(0x404, &[0, 4])
        .with(0x438, &[0x53, 0xef])
        .with(0x418, &[99])
        .with(0x406, &[0x34, 0x34]);
    assert_eq!(found(&picture), Vec::<&str>::new());
}

#[test]
fn marks_at_the_end_follow_the_size() {
    for size in [MIB, SIZE, SIZE + 512, 64 * 1024 * MIB] {
        let md = size / (64 * KIB) * (64 * KIB) - 64 * KIB;
        assert_eq!(found(&Picture::new(size).with(md, MD_MAGIC)), [MD]);
        assert_eq!(
            found(&Picture::new(size).with(size - 512, b"EFI PART")),
            [GPT_BACKUP]
        );
        let zfs = size / (256 * KIB) * (256 * KIB) - 128 * KIB;
        let big = 0x00ba_b10c_u64.to_be_bytes();
        assert_eq!(
            found(&Picture::new(size).with(zfs + 5 * KIB, &big)),
            ["ZFS pool member"]
        );
    }
}

#[test]
fn a_device_that_cannot_be_read_is_not_taken_for_empty() {
    let picture = Picture {
        broken: true,
        ..Picture::new(SIZE)
    };
    assert_eq!(found(&picture), ["unreadable area"]);
    assert!(!is_blank(&picture));
}

#[test]
fn data_at_either_end_is_not_blank() {
    assert!(!is_blank(&Picture::new(SIZE).with(70_000, &[1])));
    assert!(!is_blank(&Picture::new(SIZE).with(SIZE - 1, &[1])));
    assert!(is_blank(&Picture::new(SIZE).with(50 * MIB, &[1])));
}

proptest! {
    #[test]
    fn any_bytes_are_scanned(bytes in proptest::collection::vec(any::<u8>(), 0..9000)) {
        struct Bytes(Vec<u8>);
        impl Media for Bytes {
            fn size(&self) -> u64 {
                self.0.len() as u64
            }
            fn read_at(&self, offset: u64, buffer: &mut [u8]) -> bool {
                let start = offset as usize;
                let Some(part) = self.0.get(start..start + buffer.len()) else {
                    return false;
                };
                buffer.copy_from_slice(part);
                true
            }
        }
        let media = Bytes(bytes);
        let _ = scan(&media);
        let _ = is_blank(&media);
    }
}

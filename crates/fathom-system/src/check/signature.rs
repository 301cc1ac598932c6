//! Marks that file systems, volume managers, RAID, encryption and partition tables leave at known
//! places of a device. Places and values are facts of the on-disk formats (see each row's format
//! documentation; the kernel's `include/uapi/linux/magic.h`).

#[cfg(test)]
mod tests;

/// Where bytes are read from: a device, or a picture of one in memory.
pub(super) trait Media {
    /// Its size.
    fn size(&self) -> u64;
    /// Fills the buffer from an offset; false when that cannot be done.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> bool;
}

/// A mark that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// `ext2/ext3/ext4 file system`.
    pub what: &'static str,
    /// Where the mark stands.
    pub offset: u64,
}

/// Where a mark is looked for.
#[derive(Clone, Copy)]
enum At {
    /// From the start.
    Start(u64),
    /// So many bytes before the end, which is first cut to a multiple.
    End { before: u64, multiple: u64 },
}

/// One mark: what it belongs to, where it stands, its bytes, and what else must hold around it for
/// marks so short that chance could write them.
struct Mark {
    what: &'static str,
    at: At,
    bytes: &'static [u8],
    check: Option<fn(&dyn Media, u64) -> bool>,
}

const fn start(what: &'static str, offset: u64, bytes: &'static [u8]) -> Mark {
    Mark {
        what,
        at: At::Start(offset),
        bytes,
        check: None,
    }
}

const fn end(what: &'static str, before: u64, multiple: u64, bytes: &'static [u8]) -> Mark {
    Mark {
        what,
        at: At::End { before, multiple },
        bytes,
        check: None,
    }
}

const fn checked(
    what: &'static str,
    offset: u64,
    bytes: &'static [u8],
    check: fn(&dyn Media, u64) -> bool,
) -> Mark {
    Mark {
        what,
        at: At::Start(offset),
        bytes,
        check: Some(check),
    }
}

const EXT: &str = "ext2/ext3/ext4 file system";
const BTRFS: &str = "btrfs file system";
const F2FS: &str = "f2fs file system";
const SWAP: &str = "swap area";
const HIBERNATED: &str = "hibernation image in a swap area";
const LVM: &str = "LVM physical volume";
const MD: &str = "Linux RAID (md) member";
const LUKS: &str = "LUKS encrypted volume";
const GPT: &str = "GPT partition table";
const GPT_BACKUP: &str = "GPT partition table (backup)";
const MBR: &str = "MBR partition table or boot sector";
const FAT: &str = "FAT file system";
const ISO: &str = "ISO 9660 file system";
const UDF: &str = "UDF file system";
const BCACHE: &str = "bcache device";
const BCACHEFS: &str = "bcachefs file system";
const REISER: &str = "reiserfs file system";
const NILFS: &str = "nilfs2 file system";
const MINIX: &str = "minix file system";
const UFS: &str = "UFS file system";
const OCFS: &str = "ocfs2 file system";
const VMFS: &str = "VMware VMFS";
const DRBD: &str = "DRBD meta data";
const STRATIS: &str = "Stratis member";
const BSD: &str = "BSD disk label";
const PROMISE: &str = "Promise RAID member";

const MD_MAGIC: &[u8] = &[0xfc, 0x4e, 0x2b, 0xa9];
const MD_MAGIC_BIG: &[u8] = &[0xa9, 0x2b, 0x4e, 0xfc];
const BCACHE_MAGIC: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81,
];
const BCACHEFS_MAGIC: &[u8] = &[
    0xc6, 0x85, 0x73, 0xf6, 0x66, 0xce, 0x90, 0xa9, 0xd9, 0x6a, 0x60, 0xcf, 0x80, 0x3d, 0xf7, 0xef,
];
const STRATIS_MAGIC: &[u8] = b"!Stra0tis\x86\xff\x02^\x41rh";
const BTRFS_MAGIC: &[u8] = b"_BHRfS_M";
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

const MARKS: &[Mark] = &[
    // Partition tables and boot sectors.
    start(GPT, 512, b"EFI PART"),
    start(GPT, 4096, b"EFI PART"),
    end(GPT_BACKUP, 512, 512, b"EFI PART"),
    end(GPT_BACKUP, 4096, 4096, b"EFI PART"),
    start(MBR, 510, &[0x55, 0xaa]),
    checked("Sun disk label", 508, &[0xda, 0xbe], is_sun_label),
    start("SGI disk label", 0, &[0x0b, 0xe5, 0xa9, 0x41]),
    start(BSD, 512, &[0x57, 0x45, 0x56, 0x82]),
    start(BSD, 64, &[0x57, 0x45, 0x56, 0x82]),
    checked("Apple partition map", 512, b"PM", is_apple_map),
    start("Amiga partition table", 0, b"RDSK"),
    // File systems.
    checked(EXT, 0x438, &[0x53, 0xef], is_ext),
    start("xfs file system", 0, b"XFSB"),
    start("xfs log", 0, &[0xfe, 0xed, 0xba, 0xbe]),
    start(BTRFS, 64 * KIB + 0x40, BTRFS_MAGIC),
    start(BTRFS, 64 * MIB + 0x40, BTRFS_MAGIC),
    start(BTRFS, 256 * 1024 * MIB + 0x40, BTRFS_MAGIC),
    start(F2FS, KIB, &[0x10, 0x20, 0xf5, 0xf2]),
    start(F2FS, 5 * KIB, &[0x10, 0x20, 0xf5, 0xf2]),
    start(BCACHEFS, 4 * KIB + 24, BCACHEFS_MAGIC),
    start("NTFS file system", 3, b"NTFS    "),
    start("ReFS file system", 3, b"ReFS\0\0\0\0"),
    start("exFAT file system", 3, b"EXFAT   "),
    start(FAT, 82, b"FAT32   "),
    start(FAT, 54, b"FAT16   "),
    start(FAT, 54, b"FAT12   "),
    start(FAT, 54, b"FAT     "),
    start(FAT, 82, b"MSWIN"),
    start(ISO, 32 * KIB + 1, b"CD001"),
    start(UDF, 32 * KIB + 1, b"BEA01"),
    start(UDF, 34 * KIB + 1, b"NSR02"),
    start(UDF, 34 * KIB + 1, b"NSR03"),
    start("erofs file system", KIB, &[0xe2, 0xe1, 0xf5, 0xe0]),
    start("squashfs file system", 0, b"hsqs"),
    start("squashfs file system", 0, b"sqsh"),
    start("cramfs file system", 0, &[0x45, 0x3d, 0xcd, 0x28]),
    start("romfs file system", 0, b"-rom1fs-"),
    start(REISER, 64 * KIB + 0x34, b"ReIsErFs"),
    start(REISER, 64 * KIB + 0x34, b"ReIsEr2Fs"),
    start(REISER, 64 * KIB + 0x34, b"ReIsEr3Fs"),
    start(REISER, 8 * KIB + 0x34, b"ReIsErFs"),
    start("reiser4 file system", 64 * KIB, b"ReIsEr4"),
    start("jfs file system", 32 * KIB, b"JFS1"),
    checked(NILFS, KIB + 6, &[0x34, 0x34], is_nilfs),
    checked(MINIX, KIB + 0x10, &[0x7f, 0x13], is_minix),
    checked(MINIX, KIB + 0x10, &[0x8f, 0x13], is_minix),
    checked(MINIX, KIB + 0x10, &[0x68, 0x24], is_minix),
    checked(MINIX, KIB + 0x10, &[0x78, 0x24], is_minix),
    checked(MINIX, KIB + 0x18, &[0x5a, 0x4d], is_minix3),
    start(UFS, 8 * KIB + 1372, &[0x54, 0x19, 0x01, 0x00]),
    start(UFS, 8 * KIB + 1372, &[0x00, 0x01, 0x19, 0x54]),
    start(UFS, 64 * KIB + 1372, &[0x19, 0x01, 0x54, 0x19]),
    start(UFS, 64 * KIB + 1372, &[0x19, 0x54, 0x01, 0x19]),
    checked("HFS file system", KIB, b"BD", is_hfs),
    start("HFS+ file system", KIB, b"H+\x00\x04"),
    start("HFS+ file system", KIB, b"HX\x00\x05"),
    start("APFS container", 32, b"NXSB"),
    start(OCFS, KIB, b"OCFSV2"),
    start(OCFS, 2 * KIB, b"OCFSV2"),
    start(OCFS, 4 * KIB, b"OCFSV2"),
    start(OCFS, 8 * KIB, b"OCFSV2"),
    start("gfs2 file system", 64 * KIB, &[0x01, 0x16, 0x19, 0x70]),
    start(VMFS, MIB, &[0x0d, 0xd0, 0x01, 0xc0]),
    start(VMFS, 2 * MIB, &[0x5e, 0xf1, 0xab, 0x2f]),
    start("zonefs file system", 0, b"SFOZ"),
    start("Ceph BlueStore", 0, b"bluestore block device"),
    start("Oracle ASM disk", 32, b"ORCLDISK"),
    // Swap, whose mark ends the first page.
    start(SWAP, 4 * KIB - 10, b"SWAPSPACE2"),
    start(SWAP, 8 * KIB - 10, b"SWAPSPACE2"),
    start(SWAP, 16 * KIB - 10, b"SWAPSPACE2"),
    start(SWAP, 32 * KIB - 10, b"SWAPSPACE2"),
    start(SWAP, 64 * KIB - 10, b"SWAPSPACE2"),
    start(SWAP, 4 * KIB - 10, b"SWAP-SPACE"),
    start(HIBERNATED, 4 * KIB - 10, b"S1SUSPEND"),
    start(HIBERNATED, 4 * KIB - 10, b"S2SUSPEND"),
    start(HIBERNATED, 4 * KIB - 10, b"ULSUSPEND"),
    start(HIBERNATED, 4 * KIB - 10, b"LINHIB0001"),
    // Volume managers.
    start(LVM, 0, b"LABELONE"),
    start(LVM, 512, b"LABELONE"),
    start(LVM, 1024, b"LABELONE"),
    start(LVM, 1536, b"LABELONE"),
    start(STRATIS, 512 + 4, STRATIS_MAGIC),
    start(STRATIS, 512 * 9 + 4, STRATIS_MAGIC),
    start("VDO volume", 0, b"dmvdo001"),
    start(BCACHE, 4 * KIB + 24, BCACHE_MAGIC),
    start("dm-integrity volume", 0, b"integrt\0"),
    start("dm-verity hash area", 0, b"verity\0\0"),
    start("dm snapshot", 0, b"SnAp"),
    start("dm-thin meta data", 32, &[0xba, 0x52, 0x9c, 0x01]),
    start("dm-cache meta data", 32, &[0x03, 0xc4, 0x18, 0x00]),
    // RAID.
    start(MD, 0, MD_MAGIC),
    start(MD, 4 * KIB, MD_MAGIC),
    end(MD, 8 * KIB, 4 * KIB, MD_MAGIC),
    end(MD, 64 * KIB, 64 * KIB, MD_MAGIC),
    end(MD, 64 * KIB, 64 * KIB, MD_MAGIC_BIG),
    end(
        "Intel Matrix RAID member",
        1024,
        512,
        b"Intel Raid ISM Cfg Sig. ",
    ),
    end("DDF RAID member", 512, 512, &[0xde, 0x11, 0xde, 0x11]),
    end("DDF RAID member", 257 * 512, 512, &[0xde, 0x11, 0xde, 0x11]),
    end("NVIDIA RAID member", 1024, 512, b"NVIDIA"),
    end(PROMISE, 63 * 512, 512, b"Promise Technology, Inc."),
    end(PROMISE, 255 * 512, 512, b"Promise Technology, Inc."),
    end(DRBD, 4 * KIB - 60, 4 * KIB, &[0x83, 0x74, 0x02, 0x6b]),
    end(DRBD, 4 * KIB - 60, 4 * KIB, &[0x83, 0x74, 0x02, 0x6c]),
    end(DRBD, 4 * KIB - 60, 4 * KIB, &[0x83, 0x74, 0x02, 0x6d]),
    // Encryption.
    start(LUKS, 0, b"LUKS\xba\xbe"),
    start(LUKS, 16 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, 32 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, 64 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, 128 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, 256 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, 512 * KIB, b"SKUL\xba\xbe"),
    start(LUKS, MIB, b"SKUL\xba\xbe"),
    start(LUKS, 2 * MIB, b"SKUL\xba\xbe"),
    start(LUKS, 4 * MIB, b"SKUL\xba\xbe"),
    start("BitLocker volume", 3, b"-FVE-FS-"),
];

/// Everything found on a device, in the order of the table; an unreadable place counts as a mark,
/// since nothing is known about it.
pub(super) fn scan(media: &dyn Media) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for mark in MARKS {
        let Some(offset) = offset_of(mark.at, media.size()) else {
            continue;
        };
        if offset.saturating_add(mark.bytes.len() as u64) > media.size() {
            continue;
        }
        let mut buffer = [0_u8; 32];
        let buffer = &mut buffer[..mark.bytes.len()];
        let what = if !media.read_at(offset, buffer) {
            "unreadable area"
        } else if buffer == mark.bytes && mark.check.is_none_or(|check| check(media, offset)) {
            mark.what
        } else {
            continue;
        };
        if found.iter().all(|known| known.what != what) {
            found.push(Found { what, offset });
        }
    }
    found.extend(zfs(media));
    found
}

fn offset_of(at: At, size: u64) -> Option<u64> {
    match at {
        At::Start(offset) => Some(offset),
        At::End { before, multiple } => (size / multiple * multiple).checked_sub(before),
    }
}

/// Each of the four ZFS labels (two at the start, two at the end) holds 128 KiB of uberblocks in
/// slots of at least 1 KiB, in either byte order.
fn zfs(media: &dyn Media) -> Option<Found> {
    const LABEL: u64 = 256 * KIB;
    const RING: u64 = 128 * KIB;
    const MAGIC: u64 = 0x00ba_b10c;
    let size = media.size() / LABEL * LABEL;
    let labels = [
        Some(0),
        Some(LABEL),
        size.checked_sub(2 * LABEL),
        size.checked_sub(LABEL),
    ];
    for label in labels.into_iter().flatten() {
        let mut ring = vec![0_u8; RING as usize];
        if label + LABEL > size || !media.read_at(label + RING, &mut ring) {
            continue;
        }
        let is_magic = |slot: &[u8]| {
            let bytes: [u8; 8] = slot[..8].try_into().unwrap_or_default();
            u64::from_le_bytes(bytes) == MAGIC || u64::from_be_bytes(bytes) == MAGIC
        };
        if let Some(slot) = ring.chunks_exact(KIB as usize).position(is_magic) {
            return Some(Found {
                what: "ZFS pool member",
                offset: label + RING + slot as u64 * KIB,
            });
        }
    }
    None
}

/// Whether the first and last MiB hold nothing but zeros.
pub(super) fn is_blank(media: &dyn Media) -> bool {
    let length = media.size().min(MIB);
    let mut buffer = vec![0_u8; length as usize];
    [0, media.size() - length]
        .into_iter()
        .all(|offset| media.read_at(offset, &mut buffer) && buffer.iter().all(|byte| *byte == 0))
}

fn word(media: &dyn Media, offset: u64) -> u32 {
    let mut bytes = [0_u8; 4];
    media.read_at(offset, &mut bytes);
    u32::from_le_bytes(bytes)
}

fn half(media: &dyn Media, offset: u64) -> u16 {
    (word(media, offset) & 0xffff) as u16
}

/// Some blocks of at most 64 KiB, a known revision. An external journal has no inodes.
fn is_ext(media: &dyn Media, magic: u64) -> bool {
    let base = magic - 0x38;
    let has_blocks = word(media, base + 4) > 0 && word(media, base + 0x18) <= 6;
    has_blocks && word(media, base + 0x4c) <= 1
}

/// Revision 2, the only one there is.
fn is_nilfs(media: &dyn Media, magic: u64) -> bool {
    word(media, magic - 6) == 2
}

/// Some inodes, maps of inodes and zones, zones of 1 KiB.
fn is_minix(media: &dyn Media, magic: u64) -> bool {
    let base = magic - 0x10;
    let has_maps = half(media, base + 4) > 0 && half(media, base + 6) > 0;
    half(media, base) > 0 && has_maps && half(media, base + 10) == 0
}

/// Version 3: zones of one block, and both paddings zero.
fn is_minix3(media: &dyn Media, magic: u64) -> bool {
    let base = magic - 0x18;
    let paddings = half(media, base + 4) | half(media, base + 14);
    word(media, base) > 0 && paddings == 0 && half(media, base + 12) == 0
}

/// The exclusive or of all half words is zero.
fn is_sun_label(media: &dyn Media, _: u64) -> bool {
    let mut label = [0_u8; 512];
    media.read_at(0, &mut label);
    let sum = label
        .chunks_exact(2)
        .fold(0, |sum, pair| sum ^ u16::from_be_bytes([pair[0], pair[1]]));
    sum == 0
}

/// The reserved half word is zero and the map has at most 256 entries.
fn is_apple_map(media: &dyn Media, magic: u64) -> bool {
    let entries = word(media, magic + 4).swap_bytes();
    half(media, magic + 2) == 0 && (1..=256).contains(&entries)
}

/// Allocation blocks of whole sectors.
fn is_hfs(media: &dyn Media, magic: u64) -> bool {
    let block = word(media, magic + 20).swap_bytes();
    block > 0 && block.is_multiple_of(512)
}

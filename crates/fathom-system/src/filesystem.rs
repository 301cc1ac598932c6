//! What is known about file systems by their names.

/// Where the bytes of a file system go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// To a block device.
    Disk,
    /// To memory.
    Memory,
    /// To another machine.
    Network,
    /// To devices that it hides.
    Hidden(&'static str),
    /// To another directory.
    Stacked,
    /// Nowhere: the kernel shows itself.
    Pseudo,
}

const MEMORY: [&str; 5] = ["tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"];
const NETWORK: [&str; 25] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "ncpfs",
    "afs",
    "coda",
    "ceph",
    "lustre",
    "beegfs",
    "gpfs",
    "orangefs",
    "pvfs2",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.ceph",
    "fuse.sshfs",
    "fuse.s3fs",
    "fuse.rclone",
    "fuse.gcsfuse",
    "fuse.davfs2",
    "fuse.curlftpfs",
    "fuse.juicefs",
    "davfs",
];
const STACKED: [&str; 4] = ["overlay", "overlayfs", "ecryptfs", "aufs"];
const PSEUDO: [&str; 29] = [
    "proc",
    "sysfs",
    "cgroup",
    "cgroup2",
    "cpuset",
    "devpts",
    "mqueue",
    "debugfs",
    "tracefs",
    "securityfs",
    "selinuxfs",
    "smackfs",
    "pstore",
    "efivarfs",
    "bpf",
    "autofs",
    "configfs",
    "fusectl",
    "binfmt_misc",
    "rpc_pipefs",
    "nfsd",
    "nsfs",
    "sockfs",
    "pipefs",
    "anon_inodefs",
    "bdev",
    "resctrl",
    "functionfs",
    "binder",
];

/// What a file system of this name is.
pub(crate) fn nature(name: &str) -> Nature {
    if MEMORY.contains(&name) {
        Nature::Memory
    } else if NETWORK.contains(&name) {
        Nature::Network
    } else if STACKED.contains(&name) {
        Nature::Stacked
    } else if PSEUDO.contains(&name) {
        Nature::Pseudo
    } else if name == "zfs" {
        Nature::Hidden("the devices of the pool are not shown by the kernel")
    } else if name == "9p" || name == "virtiofs" || name == "vboxsf" || name == "vmhgfs" {
        Nature::Hidden("the drive belongs to the host of this virtual machine")
    } else if name == "fuse" || name.starts_with("fuse.") {
        Nature::Hidden("a program serves the file system")
    } else {
        Nature::Disk
    }
}

/// File systems that cannot be written.
pub(crate) fn is_read_only_kind(name: &str) -> bool {
    ["squashfs", "erofs", "iso9660", "udf", "cramfs", "romfs"].contains(&name)
}

/// The name of a file system by the number `statfs` gives, for mounts that are not listed.
pub(crate) fn by_magic(magic: u64) -> Option<&'static str> {
    // linux/magic.h, and the headers of the file systems themselves. Only the low 32 bits count.
    Some(match magic & 0xffff_ffff {
        0x0102_1994 => "tmpfs",
        0x8584_58f6 => "ramfs",
        0x9584_58f6 => "hugetlbfs",
        0xef53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683e => "btrfs",
        0xf2f5_2010 => "f2fs",
        0x2fc1_2fc1 => "zfs",
        0xca45_1a4e => "bcachefs",
        0x794c_7630 => "overlay",
        0x6969 => "nfs",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb3",
        0x6573_5546 => "fuse",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        0x0bd0_0bd0 => "lustre",
        0x4d44 => "vfat",
        0x2011_bab0 => "exfat",
        0x5346_544e => "ntfs",
        0x7366_746e => "ntfs3",
        0x5265_4973 => "reiserfs",
        0x3153_464a => "jfs",
        0x3434 => "nilfs2",
        0x7371_7368 => "squashfs",
        0xe0f5_e1e2 => "erofs",
        0x9660 => "iso9660",
        0x1501_3346 => "udf",
        0xf15f => "ecryptfs",
        0x6165_676c => "pstore",
        0x9fa0 => "proc",
        0x6265_6572 => "sysfs",
        0x6c6f_6f70 => "binfmt_misc",
        _ => return None,
    })
}

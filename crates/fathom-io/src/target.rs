//! Opening the target.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use fathom_base::Bytes;
use rustix::fs::{Advice, AtFlags, FallocateFlags, StatxFlags};

use crate::error::IoError;
use crate::spec::{EngineKind, JobSpec, OpenSync, TargetKind, sector_of};

/// `STATX_DIOALIGN` of Linux 6.1.
const STATX_DIOALIGN: u32 = 0x2000;
/// `_IO(0x12, 104)` of `linux/fs.h`: logical sector size.
const BLKSSZGET: libc::c_ulong = 0x1268;

/// What O_DIRECT asks for on a file, as `statx` tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of memory in bytes.
    pub memory: u32,
    /// Alignment of offsets and lengths in bytes; 0 means O_DIRECT is not supported.
    pub offset: u32,
}

/// Checks the target, makes or extends it where the job writes, and holds it while jobs run.
///
/// # Errors
/// Whatever keeps the job from starting, with the path.
pub(crate) fn prepare(spec: &JobSpec) -> Result<File, IoError> {
    let path = &spec.target.path;
    let at = |source| IoError::Open {
        path: path.clone(),
        source,
    };
    let existed = check_kind(spec)?;
    let makes = spec.mode.writes() && !spec.target.kind.is_device();
    let changes = spec.mode.writes() || spec.mode.trims();
    let exclusive = spec.target.kind == TargetKind::BlockDevice && changes;
    let mut extra = 0;
    if exclusive {
        // Refused with EBUSY when the device is mounted or part of a stack.
        extra |= libc::O_EXCL;
    }
    let file = open_with(spec, extra, makes)?;
    check_alignment(spec, &file)?;
    let end = spec.offset.as_u64() + spec.size.as_u64();
    let found = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0)).map_err(|e| at(e.into()))?;
    if found < end {
        if !makes || spec.mode.reads() {
            return Err(IoError::TooShort {
                path: path.clone(),
                needed: Bytes::new(end),
                found: Bytes::new(found),
            });
        }
        if let Err(error) = extend(spec, &file, end) {
            // The first error is the one to tell; a part of the space must not stay taken.
            let _ = if existed {
                file.set_len(found)
            } else {
                std::fs::remove_file(path)
            };
            return Err(error);
        }
    }
    Ok(file)
}

/// One more descriptor of a prepared target, for a job of its own.
///
/// # Errors
/// As `open(2)`.
pub(crate) fn open(spec: &JobSpec) -> Result<File, IoError> {
    let file = open_with(spec, 0, false)?;
    advise(spec, &file);
    Ok(file)
}

/// Whether the target is there, and of the right kind then.
fn check_kind(spec: &JobSpec) -> Result<bool, IoError> {
    let path = &spec.target.path;
    let found = match std::fs::metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(e) if e.kind() == io::ErrorKind::NotFound && creates(spec) => return Ok(false),
        Err(source) => {
            return Err(IoError::Open {
                path: path.clone(),
                source,
            });
        }
    };
    let matches = match spec.target.kind {
        TargetKind::File => found.is_file(),
        TargetKind::BlockDevice | TargetKind::ClaimedDevice => found.is_block_device(),
    };
    if matches {
        return Ok(true);
    }
    Err(IoError::WrongKind {
        path: path.clone(),
        expected: spec.target.kind,
        found: match () {
            () if found.is_file() => "a regular file",
            () if found.is_dir() => "a directory",
            () if found.is_block_device() => "a block device",
            () if found.is_char_device() => "a character device",
            () => "neither a file nor a block device",
        },
    })
}

fn creates(spec: &JobSpec) -> bool {
    spec.target.kind == TargetKind::File && spec.mode.writes() && !spec.mode.reads()
}

fn open_with(spec: &JobSpec, extra_flags: i32, create: bool) -> Result<File, IoError> {
    let path = &spec.target.path;
    let mut flags = libc::O_CLOEXEC | extra_flags;
    flags |= match spec.sync.open {
        OpenSync::None => 0,
        OpenSync::Sync => libc::O_SYNC,
        OpenSync::Dsync => libc::O_DSYNC,
    };
    let writes = spec.mode.writes() || spec.mode.trims();
    let mut options = OpenOptions::new();
    // A mapping that is written must be readable too.
    options.read(spec.mode.reads() || spec.engine == EngineKind::Mmap || !writes);
    options.write(writes).create(create).mode(0o600);
    let direct = if spec.direct { libc::O_DIRECT } else { 0 };
    let attempt = |flags: i32| options.clone().custom_flags(flags).open(path);
    // Without O_NOATIME a buffered read may write the inode; only the owner may ask for it.
    let mut result = attempt(flags | direct | libc::O_NOATIME);
    if is_errno(&result, libc::EPERM) {
        result = attempt(flags | direct);
    }
    if spec.direct && is_errno(&result, libc::EINVAL) {
        let source = io::Error::from_raw_os_error(libc::EINVAL);
        return Err(IoError::DirectRefused {
            path: path.clone(),
            source,
        });
    }
    result.map_err(|source| IoError::Open {
        path: path.clone(),
        source,
    })
}

fn is_errno<T>(result: &io::Result<T>, errno: i32) -> bool {
    result
        .as_ref()
        .is_err_and(|e| e.raw_os_error() == Some(errno))
}

/// Alignment that O_DIRECT asks for; `None` where the kernel or file system does not say.
pub(crate) fn direct_alignment(file: &impl AsFd) -> Option<DirectAlignment> {
    let mask = StatxFlags::from_bits_retain(STATX_DIOALIGN);
    let empty: &Path = Path::new("");
    let found = rustix::fs::statx(file, empty, AtFlags::EMPTY_PATH, mask).ok()?;
    (found.stx_mask & STATX_DIOALIGN != 0).then_some(DirectAlignment {
        memory: found.stx_dio_mem_align,
        offset: found.stx_dio_offset_align,
    })
}

fn check_alignment(spec: &JobSpec, file: &File) -> Result<(), IoError> {
    if !spec.direct {
        return Ok(());
    }
    let path = &spec.target.path;
    let required = match direct_alignment(file) {
        Some(DirectAlignment { offset: 0, .. }) => {
            return Err(IoError::DirectRefused {
                path: path.clone(),
                source: io::Error::from_raw_os_error(libc::EOPNOTSUPP),
            });
        }
        Some(alignment) => u64::from(alignment.offset),
        None => match spec.target.kind {
            TargetKind::BlockDevice | TargetKind::ClaimedDevice => logical_sector(file),
            // Not known: the first operation will tell.
            TargetKind::File => 1,
        },
    };
    match sector_of(spec, required) {
        None => Ok(()),
        Some((what, value)) => Err(IoError::Unaligned {
            path: path.clone(),
            what,
            value,
            required: Bytes::new(required),
        }),
    }
}

fn logical_sector(file: &File) -> u64 {
    let mut size: libc::c_int = 0;
    // SAFETY: BLKSSZGET writes one int to the address, which is a local of that type.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), BLKSSZGET, &raw mut size) };
    match u64::try_from(size) {
        Ok(size) if returned == 0 && size > 0 => size,
        _ => 512,
    }
}

/// Allocates up to `end`, or at least makes the file that long.
fn extend(spec: &JobSpec, file: &File, end: u64) -> Result<(), IoError> {
    let path = &spec.target.path;
    let (offset, size) = (spec.offset.as_u64(), spec.size.as_u64());
    let fail = |call: &'static str, errno: rustix::io::Errno| match errno {
        rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT => IoError::NoSpace {
            path: path.clone(),
            call,
            offset,
            length: Bytes::new(size),
        },
        errno => IoError::Call {
            path: path.clone(),
            call,
            source: errno.into(),
        },
    };
    match rustix::fs::fallocate(file, FallocateFlags::empty(), offset, size) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {
            rustix::fs::ftruncate(file, end).map_err(|e| fail("ftruncate", e))
        }
        Err(errno) => Err(fail("fallocate", errno)),
    }
}

/// Tells the page cache the order of access, as fio does; a hint, so nothing fails. It holds for
/// this descriptor only.
fn advise(spec: &JobSpec, file: &File) {
    if spec.direct {
        return;
    }
    let advice = if spec.mode.is_random() {
        Advice::Random
    } else {
        Advice::Sequential
    };
    let length = std::num::NonZeroU64::new(spec.size.as_u64());
    let _ = rustix::fs::fadvise(file, spec.offset.as_u64(), length, advice);
}

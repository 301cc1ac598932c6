//! What can go wrong, with what to do about it.

use std::io;
use std::path::PathBuf;

use fathom_base::{Bytes, Nanos};

use crate::spec::{EngineKind, TargetKind};

/// What can go wrong; texts are fragments for "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IoError {
    /// A specification that cannot be carried out.
    #[error("use {field} {value}: expected {expected}")]
    Spec {
        /// The field of [`crate::JobSpec`].
        field: &'static str,
        /// Its value as text.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// A target that is missing or may not be opened.
    #[error("open {path}: {source}")]
    Open {
        /// The target.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A target of another kind than the specification says.
    #[error("use {path}: it is {found}, expected {}", kind_name(*.expected))]
    WrongKind {
        /// The target.
        path: PathBuf,
        /// What it must be.
        expected: TargetKind,
        /// What it is.
        found: &'static str,
    },
    /// A target on which O_DIRECT cannot be used.
    #[error("open {path} with O_DIRECT: {source}")]
    DirectRefused {
        /// The target.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// An offset, size or block size that O_DIRECT does not allow on this target.
    #[error("use {what} {value} with O_DIRECT on {path}: it must be a multiple of {required}")]
    Unaligned {
        /// The target.
        path: PathBuf,
        /// `offset`, `block size`, ...
        what: &'static str,
        /// Its value.
        value: Bytes,
        /// The alignment the target requires.
        required: Bytes,
    },
    /// A target that ends before the span does.
    #[error("read {path} up to {needed}: it holds {found}")]
    TooShort {
        /// The target.
        path: PathBuf,
        /// End of the span.
        needed: Bytes,
        /// Size of the target.
        found: Bytes,
    },
    /// The file system or device is full.
    #[error("write {length} at offset {offset} of {path}: no space left ({call})")]
    NoSpace {
        /// The target.
        path: PathBuf,
        /// The system call.
        call: &'static str,
        /// Where.
        offset: u64,
        /// How much.
        length: Bytes,
    },
    /// An operation that failed.
    #[error("{call} {length} at offset {offset} of {path}: {source}")]
    Transfer {
        /// The target.
        path: PathBuf,
        /// The system call or operation.
        call: &'static str,
        /// Where.
        offset: u64,
        /// How much.
        length: Bytes,
        /// The system's answer.
        source: io::Error,
    },
    /// A system call on the target as a whole that failed.
    #[error("{call} {path}: {source}")]
    Call {
        /// The target.
        path: PathBuf,
        /// The system call.
        call: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A file that was written whole, yet has blocks its file system calls unwritten.
    #[error("write every block of {path}: {unwritten} are still unwritten and {holes} are holes")]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Allocated but unwritten.
        unwritten: Bytes,
        /// Not allocated.
        holes: Bytes,
    },
    /// A file that ended while it was read.
    #[error("read {length} at offset {offset} of {path}: the file ends there")]
    EndOfFile {
        /// The target.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// How much was to be read.
        length: Bytes,
    },
    /// Data read that were not what had been written.
    #[error("verify {length} at offset {offset} of {path}: {mismatch}")]
    Corrupt {
        /// The target.
        path: PathBuf,
        /// Where the operation began.
        offset: u64,
        /// How much it read.
        length: Bytes,
        /// What was found.
        mismatch: crate::contents::Mismatch,
    },
    /// An engine that cannot be used here.
    #[error("use engine {engine}: {unavailable}")]
    Engine {
        /// The engine.
        engine: EngineKind,
        /// Why, and what to do.
        unavailable: Unavailable,
    },
    /// An operation that did not return.
    #[error(
        "finish {what} at offset {offset} of {path}: in flight for {} and no end in sight",
        .age.rough()
    )]
    Stuck {
        /// The target.
        path: PathBuf,
        /// `read`, `write`, ...
        what: &'static str,
        /// Where.
        offset: u64,
        /// For how long.
        age: Nanos,
    },
    /// The caller's [`fathom_base::Cancel`] was raised.
    #[error("finish the job on {path}: cancelled{}", abandoned_text(*.abandoned))]
    Cancelled {
        /// The target.
        path: PathBuf,
        /// Jobs whose operations in flight did not end within the grace time; their threads and
        /// buffers stay until they do.
        abandoned: u32,
    },
    /// A system resource a job needs.
    #[error("{action}: {source}")]
    Resource {
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// A bug of ours: a thread of the job panicked.
    #[error("run a job's thread: it panicked, please report this")]
    Panicked,
}

impl IoError {
    /// What to do about it, where there is something to say.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Engine { unavailable, .. } => Some(unavailable.remedy.to_owned()),
            Self::DirectRefused { .. } => Some(
                "this file system has no direct I/O: choose buffered I/O, or another directory"
                    .to_owned(),
            ),
            Self::Unaligned { required, .. } => {
                Some(format!("choose a multiple of {required}, or buffered I/O"))
            }
            Self::TooShort { .. } => Some("lay the file out before it is read".to_owned()),
            Self::NoSpace { .. } => Some("free space, or choose a smaller size".to_owned()),
            Self::Open { source, .. } => open_hint(source).map(str::to_owned),
            Self::Transfer { source, .. } => transfer_hint(source).map(str::to_owned),
            Self::Stuck { .. } => Some(
                "look at the kernel log for the device; the thread stays until it answers"
                    .to_owned(),
            ),
            _ => None,
        }
    }

    /// The operating system's error number, where there is one.
    #[must_use]
    pub fn os_error(&self) -> Option<i32> {
        match self {
            Self::Open { source, .. }
            | Self::DirectRefused { source, .. }
            | Self::Transfer { source, .. }
            | Self::Call { source, .. }
            | Self::Resource { source, .. } => source.raw_os_error(),
            Self::NoSpace { .. } => Some(libc::ENOSPC),
            Self::Engine { unavailable, .. } => unavailable.errno,
            _ => None,
        }
    }

    pub(crate) fn resource(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::Resource {
            action,
            source: source.into(),
        }
    }
}

/// Why an engine cannot be used, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// Why, as a fragment.
    pub reason: String,
    /// What to do, as a sentence.
    pub remedy: &'static str,
    /// The system's error number, where there was one.
    pub errno: Option<i32>,
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)
    }
}

fn kind_name(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::File => "a regular file",
        TargetKind::BlockDevice | TargetKind::ClaimedDevice => "a block device",
    }
}

fn abandoned_text(abandoned: u32) -> String {
    match abandoned {
        0 => String::new(),
        n => format!(" ({n} jobs still wait for the device and were left behind)"),
    }
}

fn open_hint(source: &io::Error) -> Option<&'static str> {
    match source.raw_os_error()? {
        libc::EROFS => Some("the file system is mounted read-only"),
        libc::EACCES | libc::EPERM => Some("the user running Fathom may not open it that way"),
        libc::ENOENT => Some("the directory, or the file to be read, does not exist"),
        libc::EBUSY => Some("something else holds the device exclusively"),
        libc::EMFILE => Some("raise the limit of open files (ulimit -n) or use fewer jobs"),
        libc::ENOSPC | libc::EDQUOT => Some("free space, or choose another target"),
        _ => None,
    }
}

fn transfer_hint(source: &io::Error) -> Option<&'static str> {
    match source.raw_os_error()? {
        libc::EINVAL => Some(
            "with O_DIRECT, offset, size and memory must be aligned to the device's logical block",
        ),
        libc::EOPNOTSUPP => Some("the target or kernel does not support this kind of operation"),
        libc::EIO => Some("the device reported an error: look at the kernel log"),
        libc::EFBIG => Some("the file system or the process's limit (ulimit -f) forbids the size"),
        _ => None,
    }
}

//! Writing a file before it is read.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fathom_base::{Bytes, Cancel, Nanos};

use crate::clock::monotonic_ns;
use crate::contents::Filler;
use crate::error::IoError;
use crate::probe::{DirectVerdict, ExtentMap, direct_probe, extents};
use crate::report::{Note, Snapshot};
use crate::run::{Hooks, run};
use crate::spec::{
    BlockSizes, ClockChoice, Contents, Cursor, Distribution, EngineKind, EngineOptions, JobSpec,
    Mode, OnError, OpenSync, Pace, Stamps, Stop, SyncKind, SyncPolicy, Target, TargetKind, Verify,
};

/// Bytes written at a time.
const BLOCK: Bytes = Bytes::MIB;
/// Writes in flight.
const DEPTH: u32 = 8;

/// A file to be written whole.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutSpec {
    /// The file; made when missing, written over when there. A longer one keeps its rest.
    pub path: PathBuf,
    /// Bytes to write, from offset 0.
    pub size: Bytes,
    /// What to write.
    pub contents: Contents,
    /// Fixes the contents.
    pub seed: u64,
    /// Whether to write past the page cache where O_DIRECT works; else, and where it does not,
    /// through it, followed by fsync.
    pub direct: bool,
    /// As [`JobSpec::stuck_after`].
    pub stuck_after: Nanos,
}

/// How a file was written.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutReport {
    /// Bytes written.
    pub written: Bytes,
    /// Time it took, fsync included.
    pub took: Nanos,
    /// Whether it went past the page cache.
    pub direct: bool,
    /// Whether the file is new.
    pub created: bool,
    /// The file's blocks: nothing unwritten, no holes.
    pub extents: ExtentMap,
    /// Things worth telling.
    pub notes: Vec<Note>,
}

/// Writes every block of a file and syncs it, so that reading it later reads the device.
///
/// `progress` is told the bytes written a few times a second.
///
/// # Errors
/// [`IoError::NoSpace`] when it does not fit, [`IoError::Unwritten`] when the file system still
/// calls blocks unwritten afterwards, and what else the writing meets. A file made by this call
/// is removed again on any error; one that was there is partly written over.
pub fn lay_out(
    spec: &LayoutSpec,
    cancel: &Cancel,
    progress: &dyn Fn(Bytes),
) -> Result<LayoutReport, IoError> {
    let started_ns = monotonic_ns();
    let created = create(&spec.path)?;
    let result = write_all(spec, cancel, progress);
    let (direct, notes) = match result {
        Ok(done) => done,
        Err(error) => {
            if created {
                // The first error is the one to tell.
                let _ = std::fs::remove_file(&spec.path);
            }
            return Err(error);
        }
    };
    Ok(LayoutReport {
        written: spec.size,
        took: Nanos::new(monotonic_ns().saturating_sub(started_ns)),
        direct,
        created,
        extents: extents(&spec.path)?,
        notes,
    })
}

/// Makes the file if it is missing; whether it did.
fn create(path: &Path) -> Result<bool, IoError> {
    let at = |source| IoError::Open {
        path: path.to_path_buf(),
        source,
    };
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    match options.clone().create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
            options.open(path).map_err(at)?;
            Ok(false)
        }
        Err(e) => Err(at(e)),
    }
}

fn write_all(
    spec: &LayoutSpec,
    cancel: &Cancel,
    progress: &dyn Fn(Bytes),
) -> Result<(bool, Vec<Note>), IoError> {
    let whole = Bytes::new(spec.size.as_u64() / BLOCK.as_u64() * BLOCK.as_u64());
    let mut direct = false;
    let mut notes = Vec::new();
    if whole.as_u64() > 0 {
        direct = spec.direct && goes_direct(&spec.path)?;
        let job = job_of(spec, whole, direct);
        let report = run(&job, &Tell(progress), cancel)?;
        assert!(
            report.write.bytes == whole.as_u64(),
            "a pass of writes covers the file"
        );
        notes = report.notes;
    }
    write_tail(spec, whole)?;
    let map = extents(&spec.path)?;
    // A file system may keep zeros as holes.
    if !map.is_written() && spec.contents != Contents::Zeros {
        return Err(IoError::Unwritten {
            path: spec.path.clone(),
            unwritten: map.unwritten.unwrap_or_default(),
            holes: map.holes,
        });
    }
    progress(spec.size);
    Ok((direct, notes))
}

/// Whether direct writes can work beside this file.
fn goes_direct(path: &Path) -> Result<bool, IoError> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    match direct_probe(directory.unwrap_or(Path::new("."))) {
        Ok(probe) => Ok(probe.verdict == DirectVerdict::Effective),
        // Without O_TMPFILE there is no trial; buffered writing always works.
        Err(IoError::Open { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The bytes behind the last whole block, and the sync of everything.
fn write_tail(spec: &LayoutSpec, whole: Bytes) -> Result<(), IoError> {
    let offset = whole.as_u64();
    let length = spec.size.as_u64() - offset;
    let file = OpenOptions::new()
        .write(true)
        .open(&spec.path)
        .map_err(|source| IoError::Open {
            path: spec.path.clone(),
            source,
        })?;
    let mut data = vec![0; usize::try_from(length).unwrap_or(0)];
    Filler::new(spec.contents, spec.seed).fill(&mut data, offset, 1);
    let fail = |call: &'static str, source: std::io::Error| match source.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT) => IoError::NoSpace {
            path: spec.path.clone(),
            call,
            offset,
            length: Bytes::new(length),
        },
        _ => IoError::Call {
            path: spec.path.clone(),
            call,
            source,
        },
    };
    file.write_all_at(&data, offset)
        .map_err(|e| fail("pwrite", e))?;
    file.sync_all().map_err(|e| fail("fsync", e))
}

struct Tell<'a>(&'a dyn Fn(Bytes));

impl Hooks for Tell<'_> {
    fn progress(&self, snapshot: &Snapshot) {
        (self.0)(Bytes::new(snapshot.bytes));
    }
}

fn job_of(spec: &LayoutSpec, whole: Bytes, direct: bool) -> JobSpec {
    JobSpec {
        target: Target {
            path: spec.path.clone(),
            kind: TargetKind::File,
        },
        mode: Mode::Write,
        block_sizes: BlockSizes::one(BLOCK),
        engine: if direct {
            EngineKind::IoUring
        } else {
            EngineKind::Psync
        },
        engine_fallback: true,
        engine_options: EngineOptions::PLAIN,
        depth: if direct { DEPTH } else { 1 },
        jobs: 1,
        cursor: Cursor::Own,
        direct,
        offset: Bytes::new(0),
        size: whole,
        stop: Stop {
            runtime: None,
            bytes: None,
            passes: Some(1),
        },
        ramp: Nanos::new(0),
        sync: SyncPolicy {
            every: None,
            final_flush: Some(SyncKind::Fsync),
            open: OpenSync::None,
        },
        pace: Pace::Unpaced,
        distribution: Distribution::OnceEach,
        contents: spec.contents,
        verify: Verify::Off,
        on_error: OnError::Stop,
        seed: spec.seed,
        interval: Nanos::from_secs(1),
        stamps: Stamps::PerIo,
        clock: ClockChoice::Auto,
        cpus: Vec::new(),
        stuck_after: spec.stuck_after,
    }
}

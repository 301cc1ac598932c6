use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Nanos, SplitMix64, seed_for};
use fathom_model::TestError;
use fathom_model::definition::tiobench::{BLOCK, TiobenchOperation, TiobenchSettings};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::classic::{Laps, Meter, Root, Seat, Watch};

/// Mode of the files.
const MODE: Mode = Mode::from_raw_mode(0o600);
/// Calls between two words of progress.
const TELL_EVERY: u64 = 64;

/// Names of the kinds: the operations, then what goes around them.
pub(super) const KINDS: &[&str] = &[
    "write",
    "random-write",
    "read",
    "random-read",
    "open",
    "truncate",
    "fsync",
    "close",
];
const OPEN: usize = 4;
const TRUNCATE: usize = 5;
pub(super) const FSYNC: usize = 6;
const CLOSE: usize = 7;

/// The kind of an operation's calls.
pub(super) fn kind_of(operation: TiobenchOperation) -> usize {
    match operation {
        TiobenchOperation::Write => 0,
        TiobenchOperation::RandomWrite => 1,
        TiobenchOperation::Read => 2,
        TiobenchOperation::RandomRead => 3,
    }
}

/// The kinds of the chosen operation, for the account of its I/O.
pub(super) fn io_kinds(operation: TiobenchOperation) -> &'static [usize] {
    const ONE: [[usize; 1]; 4] = [[0], [1], [2], [3]];
    &ONE[kind_of(operation)]
}

/// The file of a thread.
pub(super) fn name_of(index: u32) -> CString {
    // A number has no zero byte in it.
    CString::new(format!("tiobench.thr{index}")).unwrap_or_default()
}

/// What a thread did in a phase.
pub(super) struct Worked {
    pub(super) began: Nanos,
    pub(super) ended: Nanos,
    /// Time of the fsync.
    pub(super) flush: Nanos,
    pub(super) meter: Meter,
}

/// A thread in a phase.
pub(super) struct Worker<'a> {
    settings: &'a TiobenchSettings,
    operation: TiobenchOperation,
    root: &'a Root,
    watch: Watch<'a>,
    done: &'a AtomicU64,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        settings: &'a TiobenchSettings,
        operation: TiobenchOperation,
        root: &'a Root,
        watch: Watch<'a>,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            settings,
            operation,
            root,
            watch,
            done,
        }
    }

    /// Waits for the start, then the whole phase of this thread.
    pub(super) fn run(&self, seat: &Seat<'_>, seed: u64) -> Result<Worked, TestError> {
        let name = name_of(seat.index);
        let mut meter = Meter::new(KINDS);
        let mut buffer = vec![0; BLOCK as usize];
        let random = SplitMix64::new(seed_for(seed, &format!("thread {}", seat.index)));
        seat.start()?;
        let began = self.watch.now();
        let mut laps = Laps::start(began);
        let file = self.root.open_file(&name, self.flags(), MODE)?;
        meter.record(OPEN, laps.lap(self.watch.now()));
        rustix::fs::ftruncate(&file, self.settings.size.as_u64())
            .map_err(|errno| self.root.error("setting the size of", &name, errno))?;
        meter.record(TRUNCATE, laps.lap(self.watch.now()));
        self.transfer(
            &name,
            file.as_fd(),
            random,
            &mut buffer,
            &mut laps,
            &mut meter,
        )?;
        self.root.sync_file(file.as_fd(), &name)?;
        let flush = laps.lap(self.watch.now());
        meter.record(FSYNC, flush);
        drop(file);
        meter.record(CLOSE, laps.lap(self.watch.now()));
        Ok(Worked {
            began,
            ended: laps.last(),
            flush,
            meter,
        })
    }

    fn flags(&self) -> OFlags {
        let sync = match self.settings.sync_open {
            true => OFlags::SYNC,
            false => OFlags::empty(),
        };
        OFlags::RDWR | OFlags::CREATE | sync
    }

    fn transfer(
        &self,
        name: &CString,
        file: BorrowedFd<'_>,
        mut random: SplitMix64,
        buffer: &mut [u8],
        laps: &mut Laps,
        meter: &mut Meter,
    ) -> Result<(), TestError> {
        let (kind, blocks) = (kind_of(self.operation), self.settings.blocks());
        for index in 0..self.settings.calls(self.operation) {
            let block = match self.operation.is_random() {
                true => random.below(blocks),
                false => index,
            };
            let moved = match self.operation.reads() {
                true => rustix::io::pread(file, &mut *buffer, block * BLOCK),
                false => rustix::io::pwrite(file, buffer, block * BLOCK),
            };
            meter.record(kind, laps.lap(self.watch.now()));
            match moved {
                Ok(count) if count as u64 == BLOCK => {}
                Ok(count) => return Err(self.short(name, block, count)),
                Err(errno) => return Err(self.failed(name, errno)),
            }
            self.watch.check(laps.last())?;
            if index % TELL_EVERY == TELL_EVERY - 1 {
                self.done.fetch_add(TELL_EVERY, Ordering::Relaxed);
            }
        }
        match self.operation.reads() && buffer.iter().any(|byte| *byte != 0) {
            true => Err(TestError::Check {
                check: "reading back what was written",
                found: format!(
                    "{} holds other bytes than zeros",
                    self.root.path_of(name).display()
                ),
            }),
            false => Ok(()),
        }
    }

    #[cold]
    fn failed(&self, name: &CString, errno: Errno) -> TestError {
        let doing = match self.operation.reads() {
            true => "reading",
            false => "writing",
        };
        self.root.error(doing, name, errno)
    }

    /// A block that was moved in part: a disk that is full takes what fits.
    #[cold]
    fn short(&self, name: &CString, block: u64, count: usize) -> TestError {
        match self.operation.reads() {
            true => TestError::Check {
                check: "reading back what was written",
                found: format!(
                    "{count} bytes instead of {BLOCK} of block {block} of {}",
                    self.root.path_of(name).display()
                ),
            },
            false => self.root.error("writing", name, Errno::NOSPC),
        }
    }
}

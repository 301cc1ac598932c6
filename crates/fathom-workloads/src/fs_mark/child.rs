use std::ffi::CStr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Nanos;
use fathom_model::TestError;
use fathom_model::definition::fs_mark::{FsMarkSettings, FsMarkSync};
use rustix::fs::{Mode, OFlags};

use super::names::Names;
use crate::classic::{Laps, Meter, Places, Root, Seat, Watch};

/// Kinds of operations, by their place in [`KINDS`].
pub(super) const FILE: usize = 0;
const CREATE: usize = 1;
pub(super) const WRITE: usize = 2;
pub(super) const FSYNC: usize = 3;
const CLOSE: usize = 4;
const SYNC: usize = 5;
const MKDIR: usize = 6;
const UNLINK: usize = 7;

/// Names of the kinds: `file` is all of one file, the others are calls.
pub(super) const KINDS: &[&str] = &[
    "file", "create", "write", "fsync", "close", "sync", "mkdir", "unlink",
];

/// One child: what a process of the original does.
pub(super) struct Child<'a> {
    settings: &'a FsMarkSettings,
    root: &'a Root,
    places: Places<'a>,
    watch: Watch<'a>,
    seed: u64,
    done: &'a AtomicU64,
}

/// What a child did.
#[derive(Debug)]
pub(super) struct ChildReport {
    pub(super) meter: Meter,
    pub(super) files_per_second: f64,
    /// Time of the loop outside the calls on files.
    pub(super) overhead: Nanos,
    pub(super) written_bytes: u64,
    pub(super) writes: u64,
    pub(super) syncs: u64,
    pub(super) directories_used: u64,
}

impl Default for ChildReport {
    fn default() -> Self {
        Self {
            meter: Meter::new(KINDS),
            files_per_second: 0.0,
            overhead: Nanos::default(),
            written_bytes: 0,
            writes: 0,
            syncs: 0,
            directories_used: 0,
        }
    }
}

impl ChildReport {
    /// Adds another child's, but for the meter.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.files_per_second += other.files_per_second;
        self.overhead = self.overhead.plus(other.overhead);
        self.written_bytes += other.written_bytes;
        self.writes += other.writes;
        self.syncs += other.syncs;
        // The children go through the same directories.
        self.directories_used = self.directories_used.max(other.directories_used);
    }

    /// Counts a call on a file; its time is no overhead.
    #[inline]
    fn call(&mut self, kind: usize, took: Nanos, in_calls: &mut Nanos) {
        self.meter.record(kind, took);
        *in_calls = in_calls.plus(took);
    }
}

impl<'a> Child<'a> {
    pub(super) fn new(
        settings: &'a FsMarkSettings,
        root: &'a Root,
        watch: Watch<'a>,
        seed: u64,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            settings,
            root,
            places: Places::new(root),
            watch,
            seed,
            done,
        }
    }

    /// Creates the files with the clock running, then removes them.
    pub(super) fn run(mut self, seat: &Seat<'_>) -> Result<ChildReport, TestError> {
        let mut names = Names::new(self.settings, self.seed, seat.index);
        let zeros = vec![0; self.settings.write_size.as_u64() as usize];
        let mut report = ChildReport::default();
        seat.start()?;
        let mut laps = Laps::start(self.watch.now());
        let mut in_calls = Nanos::default();
        for index in 0..self.settings.files {
            self.check(seat, laps)?;
            self.create(
                index,
                &mut names,
                &zeros,
                &mut laps,
                &mut in_calls,
                &mut report,
            )?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        self.sync_after(seat, &mut names, &mut laps, &mut in_calls, &mut report)?;
        let loop_time = laps.total();
        seat.stop_clock();
        report.files_per_second = self.settings.files as f64 / loop_time.as_secs_f64();
        report.overhead = loop_time.since(in_calls);
        report.directories_used = names.directories_used();
        for index in 0..self.settings.files {
            let before = self.watch.now();
            self.watch.check(before)?;
            names.recall(index);
            self.places.remove_file(names.path())?;
            report.meter.record(UNLINK, self.watch.now().since(before));
        }
        Ok(report)
    }

    fn check(&self, seat: &Seat<'_>, laps: Laps) -> Result<(), TestError> {
        match seat.is_halted() {
            true => Err(TestError::Cancelled),
            false => self.watch.check(laps.last()),
        }
    }

    fn create(
        &mut self,
        index: u64,
        names: &mut Names,
        zeros: &[u8],
        laps: &mut Laps,
        in_calls: &mut Nanos,
        report: &mut ChildReport,
    ) -> Result<(), TestError> {
        let began = laps.last();
        names.make(index, self.watch.epoch_seconds());
        laps.lap(self.watch.now());
        let (root, watch, path) = (self.root, self.watch, names.path());
        let mode = Mode::from_raw_mode(0o777);
        self.places.need_directory(names.directory(), mode)?;
        report.meter.record(MKDIR, laps.lap(watch.now()));
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC;
        let file = root.open_file(path, flags, Mode::from_raw_mode(0o666))?;
        report.call(CREATE, laps.lap(watch.now()), in_calls);
        let mut left = self.settings.size.as_u64();
        while left > 0 {
            let piece = left.min(zeros.len() as u64);
            root.write(file.as_fd(), path, &zeros[..piece as usize])?;
            report.call(WRITE, laps.lap(watch.now()), in_calls);
            report.writes += 1;
            report.written_bytes += piece;
            left -= piece;
        }
        if self.settings.sync == FsMarkSync::Fsync {
            root.sync_file(file.as_fd(), path)?;
            report.call(FSYNC, laps.lap(watch.now()), in_calls);
            report.syncs += 1;
        }
        drop(file);
        let closed = watch.now();
        report.call(CLOSE, laps.lap(closed), in_calls);
        report.meter.record(FILE, closed.since(began));
        Ok(())
    }

    /// The syncs of the methods that sync after the loop.
    fn sync_after(
        &self,
        seat: &Seat<'_>,
        names: &mut Names,
        laps: &mut Laps,
        in_calls: &mut Nanos,
        report: &mut ChildReport,
    ) -> Result<(), TestError> {
        if self.settings.sync.syncs_everything() {
            self.check(seat, *laps)?;
            rustix::fs::sync();
            report.call(SYNC, laps.lap(self.watch.now()), in_calls);
            report.syncs += 1;
        }
        let last = self.settings.files - 1;
        let count = match self.settings.sync {
            FsMarkSync::None | FsMarkSync::Fsync => 0,
            FsMarkSync::SyncOne => 1,
            _ => self.settings.files,
        };
        for number in 0..count {
            self.check(seat, *laps)?;
            names.recall(match self.settings.sync {
                FsMarkSync::PostReverse | FsMarkSync::SyncPostReverse => last - number,
                _ => number,
            });
            self.sync_again(names.path(), laps, in_calls, report)?;
        }
        Ok(())
    }

    /// Opens a file that was closed, syncs and closes it.
    fn sync_again(
        &self,
        path: &CStr,
        laps: &mut Laps,
        in_calls: &mut Nanos,
        report: &mut ChildReport,
    ) -> Result<(), TestError> {
        let file = self.root.open_file(path, OFlags::RDONLY, Mode::empty())?;
        *in_calls = in_calls.plus(laps.lap(self.watch.now()));
        self.root.sync_file(file.as_fd(), path)?;
        report.call(FSYNC, laps.lap(self.watch.now()), in_calls);
        report.syncs += 1;
        drop(file);
        report.call(CLOSE, laps.lap(self.watch.now()), in_calls);
        Ok(())
    }
}

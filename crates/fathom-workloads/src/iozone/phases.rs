use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::{Nanos, SplitMix64, seed_for};
use fathom_model::definition::iozone::{IozoneOperation, IozoneSettings};
use fathom_model::{CacheEvidence, FileEvidence, HostEvidence, Observer, TestError};
use rustix::fs::{Mode, OFlags, SeekFrom};

use crate::classic::{CpuTime, Laps, Meter, Places, Root, Watch};

/// The file.
const NAME: &CStr = c"iozone.tmp";
/// Its mode.
const MODE: Mode = Mode::from_raw_mode(0o640);
/// Bytes of a page that are not zero.
const MARK: &[u8; 8] = b"________";
const PAGE: usize = 4096;

/// Names of the kinds: the operations, then the flushes inside their timing.
pub(super) const KINDS: &[&str] = &[
    "write",
    "rewrite",
    "read",
    "reread",
    "random-read",
    "random-write",
    "fsync",
];
const FSYNC: usize = 6;

/// The kind of an operation's records.
pub(super) fn kind_of(operation: IozoneOperation) -> usize {
    match operation {
        IozoneOperation::Write => 0,
        IozoneOperation::Rewrite => 1,
        IozoneOperation::Read => 2,
        IozoneOperation::Reread => 3,
        IozoneOperation::RandomRead => 4,
        IozoneOperation::RandomWrite => 5,
    }
}

/// What a trial did.
pub(super) struct Report {
    pub(super) meter: Meter,
    /// Each operation and its time.
    pub(super) elapsed: Vec<(IozoneOperation, Nanos)>,
    /// The chosen operation's.
    pub(super) window: Option<Window>,
    pub(super) file: FileEvidence,
}

/// What was seen over the chosen operation.
pub(super) struct Window {
    pub(super) elapsed: Nanos,
    pub(super) calls: u64,
    /// Time of the flush inside the timing.
    pub(super) flush: Option<Nanos>,
    pub(super) host: HostEvidence,
    pub(super) cpu: CpuTime,
    pub(super) cache: CacheEvidence,
}

/// The operations of a trial, one after another.
pub(super) struct Phases<'a> {
    settings: IozoneSettings,
    root: &'a Root,
    watch: Watch<'a>,
    done: &'a AtomicU64,
    buffer: Vec<u8>,
    /// Numbers of the records in random order, when they are needed.
    order: Vec<u32>,
}

/// A record's worth of the contents.
pub(super) fn sample() -> &'static [u8] {
    static SAMPLE: LazyLock<Vec<u8>> = LazyLock::new(|| contents(64 << 10));
    &SAMPLE
}

fn contents(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    for page in bytes.chunks_mut(PAGE) {
        let marked = page.len().min(MARK.len());
        page[..marked].copy_from_slice(&MARK[..marked]);
    }
    bytes
}

impl<'a> Phases<'a> {
    pub(super) fn new(
        settings: IozoneSettings,
        root: &'a Root,
        watch: Watch<'a>,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            settings,
            root,
            watch,
            done,
            buffer: contents(settings.record.as_u64() as usize),
            order: Vec::new(),
        }
    }

    /// Carries out the whole chain and removes the file.
    pub(super) fn run(mut self, seed: u64, observer: &dyn Observer) -> Result<Report, TestError> {
        rustix::fs::sync();
        rustix::fs::sync();
        self.watch.check_now()?;
        if self.settings.operation.is_random() {
            self.order = (0..self.settings.records() as u32).collect();
            SplitMix64::new(seed_for(seed, "iozone records")).shuffle(&mut self.order);
        }
        drop(
            self.root
                .open_file(NAME, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, MODE)?,
        );
        let mut report = Report {
            meter: Meter::new(KINDS),
            elapsed: Vec::new(),
            window: None,
            file: FileEvidence::default(),
        };
        for operation in self.settings.operation.chain() {
            let is_chosen = *operation == self.settings.operation;
            self.operate(*operation, is_chosen.then_some(observer), &mut report)?;
        }
        report.file = self.look_at_file()?;
        Places::new(self.root).remove_file(NAME)?;
        Ok(report)
    }

    /// One operation; watched when it is the chosen one.
    fn operate(
        &mut self,
        operation: IozoneOperation,
        observer: Option<&dyn Observer>,
        report: &mut Report,
    ) -> Result<(), TestError> {
        let file = self.root.open_file(NAME, self.flags(operation), MODE)?;
        let file = file.as_fd();
        if !operation.is_random() {
            self.root.sync_file(file, NAME)?;
        }
        if matches!(operation, IozoneOperation::Read | IozoneOperation::Reread) {
            self.read_record(file)?;
            self.seek(file, 0)?;
        }
        let cache = observer.map(|_| self.residency());
        let (witness, before) = (observer.map(Observer::begin), CpuTime::of_this_thread());
        let mut laps = Laps::start(self.watch.now());
        let calls = self.transfer(operation, file, &mut laps, &mut report.meter)?;
        let flush = match self.settings.fsync {
            true => {
                self.root.sync_file(file, NAME)?;
                let took = laps.lap(self.watch.now());
                report.meter.record(FSYNC, took);
                Some(took)
            }
            false => None,
        };
        let elapsed = laps.total();
        report.elapsed.push((operation, elapsed));
        if let (Some(witness), Some(cache)) = (witness, cache) {
            report.window = Some(Window {
                elapsed,
                calls,
                flush,
                cpu: CpuTime::of_this_thread().since(before),
                host: witness.end(),
                cache,
            });
        }
        self.root.sync_file(file, NAME)
    }

    /// All records in the operation's order; gives how many calls moved data.
    fn transfer(
        &mut self,
        operation: IozoneOperation,
        file: BorrowedFd<'_>,
        laps: &mut Laps,
        meter: &mut Meter,
    ) -> Result<u64, TestError> {
        let kind = kind_of(operation);
        for index in 0..self.settings.records() as usize {
            if operation.is_random() {
                let record = self.order.get(index).copied().unwrap_or(0);
                self.seek(file, u64::from(record) * self.settings.record.as_u64())?;
            }
            match operation.reads() {
                true => self.read_record(file)?,
                false => self.root.write(file, NAME, &self.buffer)?,
            }
            meter.record(kind, laps.lap(self.watch.now()));
            self.watch.check(laps.last())?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self.settings.records())
    }

    fn read_record(&mut self, file: BorrowedFd<'_>) -> Result<(), TestError> {
        let mut filled = 0;
        while filled < self.buffer.len() {
            match self.root.read(file, NAME, &mut self.buffer[filled..])? {
                0 => {
                    return Err(TestError::Check {
                        check: "reading back what was written",
                        found: format!("the file ends after {filled} bytes of a record"),
                    });
                }
                count => filled += count,
            }
        }
        Ok(())
    }

    fn seek(&self, file: BorrowedFd<'_>, offset: u64) -> Result<(), TestError> {
        rustix::fs::seek(file, SeekFrom::Start(offset))
            .map(|_| ())
            .map_err(|errno| self.root.error("seeking in", NAME, errno))
    }

    fn flags(&self, operation: IozoneOperation) -> OFlags {
        let sync = match self.settings.sync_open {
            true => OFlags::SYNC,
            false => OFlags::empty(),
        };
        match operation {
            IozoneOperation::Write | IozoneOperation::Rewrite => OFlags::RDWR | sync,
            IozoneOperation::Read | IozoneOperation::Reread => OFlags::RDONLY,
            IozoneOperation::RandomRead | IozoneOperation::RandomWrite => {
                OFlags::RDWR | OFlags::CREATE | sync
            }
        }
    }

    /// How much of the file is in the page cache before the chosen operation.
    fn residency(&self) -> CacheEvidence {
        let look = |path: &Path| fathom_io::residency(path, None).ok();
        let found = self.root.look(NAME, look).ok().flatten().flatten();
        CacheEvidence {
            resident_bytes_before: found.map(|found| found.resident.as_u64()),
            resident_bytes_after: None,
            asked: "any".to_owned(),
        }
    }

    /// Size, contents and extents of the file at the end.
    fn look_at_file(&self) -> Result<FileEvidence, TestError> {
        let look = |path: &Path| (std::fs::metadata(path), fathom_io::extents(path).ok());
        let (size, map) = self.root.look(NAME, look)?.unzip();
        let size = size.transpose().map_err(|error| {
            let path = self.root.path_of(NAME);
            TestError::io("looking at", &path, error)
        })?;
        let (size, map) = (size.map_or(0, |meta| meta.len()), map.flatten());
        Root::expect("size of the file", size, self.settings.size.as_u64())?;
        if self.settings.operation.reads() && !self.buffer.starts_with(&MARK[..]) {
            return Err(TestError::Check {
                check: "reading back what was written",
                found: "the last record read does not begin as every record does".to_owned(),
            });
        }
        Ok(FileEvidence {
            size_bytes: size,
            unwritten_bytes: map.and_then(|map| map.unwritten).map(|u| u.as_u64()),
            extents: map.and_then(|map| map.extents),
            memory_bytes: None,
        })
    }
}

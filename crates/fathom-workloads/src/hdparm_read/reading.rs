use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Nanos;
use fathom_model::definition::hdparm_read::{BLOCK, HdparmSettings};
use fathom_model::{Context, HostEvidence, Observer, TestError};
use rustix::io::Errno;

use crate::classic::{CpuTime, Laps, Meter, Watch};

/// Names of the kinds.
pub(super) const KINDS: &[&str] = &["read"];
pub(super) const READ: usize = 0;

/// Alignment of the piece: more than direct reads need, so that it can be one huge page.
const ALIGNMENT: usize = 2 << 20;
/// Every so many bytes one is touched.
const TOUCHED: usize = 512;
/// Bytes that are kept for a look at the contents.
const SAMPLE: usize = 64 << 10;
/// Longest sleep between two looks at whether to stop.
const NAP: Nanos = Nanos::from_millis(50);

/// What a trial did.
pub(super) struct Report {
    pub(super) bytes: u64,
    pub(super) elapsed: Nanos,
    pub(super) reached_end: bool,
    pub(super) meter: Meter,
    pub(super) sample: Vec<u8>,
    pub(super) host: HostEvidence,
    pub(super) cpu: CpuTime,
}

/// Leaves the machine alone for a while.
pub(super) fn settle(time: Nanos, cx: &Context<'_>, watch: Watch<'_>) -> Result<(), TestError> {
    let until = watch.now().plus(time);
    loop {
        watch.check_now()?;
        let left = until.since(watch.now());
        if left == Nanos::default() {
            return Ok(());
        }
        cx.clock.sleep(left.min(NAP));
    }
}

/// Reads pieces in order.
pub(super) struct Reader<'a> {
    file: &'a File,
    path: &'a Path,
    watch: Watch<'a>,
    done: &'a AtomicU64,
    offset: u64,
    pieces: u64,
    time: Nanos,
    /// A piece and what its alignment takes.
    memory: Vec<u8>,
    from: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        settings: &HdparmSettings,
        file: &'a File,
        path: &'a Path,
        size: u64,
        watch: Watch<'a>,
        done: &'a AtomicU64,
    ) -> Result<Self, TestError> {
        let offset = settings.offset.as_u64();
        let pieces = size.saturating_sub(offset) / BLOCK;
        if pieces == 0 {
            return Err(TestError::Check {
                check: "a piece of 2 MiB to read",
                found: format!("{} has {size} bytes, offset {offset}", path.display()),
            });
        }
        // Written to, so that its pages are there.
        let memory = vec![1; BLOCK as usize + ALIGNMENT];
        let from = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Ok(Self {
            file,
            path,
            watch,
            done,
            offset,
            pieces,
            time: settings.time,
            memory,
            from,
        })
    }

    /// Reads until the time is over or the end has come.
    pub(super) fn run(mut self, observer: &dyn Observer) -> Result<Report, TestError> {
        let mut meter = Meter::new(KINDS);
        let (mut bytes, mut touched) = (0, 0_u8);
        let witness = observer.begin();
        let before = CpuTime::of_this_thread();
        let mut laps = Laps::start(self.watch.now());
        let mut reached_end = true;
        for piece in 0..self.pieces {
            bytes += self.read(self.offset + piece * BLOCK)?;
            meter.record(READ, laps.lap(self.watch.now()));
            let buffer = &self.memory[self.from..];
            for byte in buffer.iter().take(BLOCK as usize).step_by(TOUCHED) {
                touched ^= byte;
            }
            self.done.store(bytes, Ordering::Relaxed);
            self.watch.check(laps.last())?;
            if laps.total() >= self.time {
                reached_end = false;
                break;
            }
        }
        std::hint::black_box(touched);
        let cpu = CpuTime::of_this_thread().since(before);
        Ok(Report {
            bytes,
            elapsed: laps.total(),
            reached_end,
            meter,
            sample: self.memory[self.from..][..SAMPLE].to_vec(),
            host: witness.end(),
            cpu,
        })
    }

    /// One whole piece.
    fn read(&mut self, offset: u64) -> Result<u64, TestError> {
        let buffer = &mut self.memory[self.from..][..BLOCK as usize];
        let mut filled = 0;
        while filled < buffer.len() {
            match rustix::io::pread(self.file, &mut buffer[filled..], offset + filled as u64) {
                Ok(0) => {
                    return Err(TestError::Check {
                        check: "reading whole pieces of 2 MiB",
                        found: format!(
                            "{} ends after {} bytes",
                            self.path.display(),
                            offset + filled as u64
                        ),
                    });
                }
                Ok(count) => filled += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(TestError::io("reading", self.path, errno.into())),
            }
        }
        Ok(filled as u64)
    }
}

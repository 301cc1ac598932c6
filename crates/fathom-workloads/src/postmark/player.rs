use std::ffi::CStr;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use fathom_base::Nanos;
use fathom_model::definition::postmark::{
    PostmarkFile, PostmarkOp, PostmarkPlan, PostmarkSettings, PostmarkStream,
};
use fathom_model::{HostEvidence, Observer, TestError};
use rustix::fs::{Mode, OFlags, SeekFrom};

use super::stdio::Stdio;
use crate::classic::{CpuTime, Laps, Meter, Places, Root, Watch};

/// Kinds of operations, by their place in [`KINDS`].
pub(super) const CREATE: usize = 0;
pub(super) const READ: usize = 1;
pub(super) const APPEND: usize = 2;
pub(super) const DELETE: usize = 3;
pub(super) const TRANSACTION: usize = 4;
pub(super) const INITIAL_CREATE: usize = 5;
pub(super) const FINAL_DELETE: usize = 6;

/// Names of the kinds; the last two are outside the measured window.
pub(super) const KINDS: &[&str] = &[
    "create",
    "read",
    "append",
    "delete",
    "transaction",
    "initial-create",
    "final-delete",
];

/// What a run did.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) meter: Meter,
    /// Counted by what was drawn.
    pub(super) drawn: PostmarkPlan,
    /// Counted by what the kernel moved, in the transactions and altogether.
    pub(super) moved_mixed: Moved,
    pub(super) moved: Moved,
    pub(super) elapsed: Nanos,
    pub(super) whole_seconds: u64,
    pub(super) host: HostEvidence,
    pub(super) cpu: CpuTime,
    /// Some of the contents.
    pub(super) sample: Vec<u8>,
}

/// Bytes that went through the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
}

impl Moved {
    fn since(self, earlier: Self) -> Self {
        Self {
            read_bytes: self.read_bytes - earlier.read_bytes,
            written_bytes: self.written_bytes - earlier.written_bytes,
        }
    }
}

/// One run: what the process of the original does.
pub(super) struct Player<'a> {
    settings: PostmarkSettings,
    root: &'a Root,
    places: Places<'a>,
    watch: Watch<'a>,
    done: &'a AtomicU64,
    stdio: Stdio,
    contents: Vec<u8>,
    block: Vec<u8>,
    name: Vec<u8>,
    moved: Moved,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        settings: PostmarkSettings,
        root: &'a Root,
        watch: Watch<'a>,
        done: &'a AtomicU64,
    ) -> Self {
        Self {
            settings,
            root,
            places: Places::new(root),
            watch,
            done,
            stdio: Stdio::new(),
            contents: vec![0; settings.size_high as usize],
            block: vec![0; settings.read_block as usize],
            name: Vec::new(),
            moved: Moved::default(),
        }
    }

    /// Creates the pool, does the transactions with the clock running, deletes what is left.
    pub(super) fn run(mut self, observer: &dyn Observer) -> Result<Report, TestError> {
        let mut meter = Meter::new(KINDS);
        let mut stream = PostmarkStream::new(&self.settings, &mut self.contents);
        let mut drawn = PostmarkPlan::default();
        self.make_directories()?;
        let mut laps = Laps::start(self.watch.now());
        for _ in 0..self.settings.files {
            if let Some(op @ PostmarkOp::Create { file }) = stream.create() {
                drawn.created += 1;
                drawn.written_bytes_alone += u64::from(file.size);
                self.carry_out(op)?;
                meter.record(INITIAL_CREATE, laps.lap(self.watch.now()));
            }
            self.watch.check(laps.last())?;
        }
        let before = self.moved;
        let (witness, cpu) = (observer.begin(), CpuTime::of_this_thread());
        let (began, began_second) = (self.watch.now(), self.watch.epoch_seconds());
        self.transactions(&mut stream, &mut drawn, &mut meter, began)?;
        let (ended, ended_second) = (self.watch.now(), self.watch.epoch_seconds());
        let cpu = CpuTime::of_this_thread().since(cpu);
        let host = witness.end();
        let moved_mixed = self.moved.since(before);
        let mut laps = Laps::start(self.watch.now());
        while let Some(op) = stream.delete_first() {
            drawn.deleted_alone += 1;
            self.carry_out(op)?;
            meter.record(FINAL_DELETE, laps.lap(self.watch.now()));
            self.watch.check(laps.last())?;
        }
        self.remove_directories()?;
        self.contents.truncate(1 << 20);
        Ok(Report {
            meter,
            drawn,
            moved_mixed,
            moved: self.moved,
            elapsed: ended.since(began),
            whole_seconds: ended_second.saturating_sub(began_second),
            host,
            cpu,
            sample: self.contents,
        })
    }

    fn transactions(
        &mut self,
        stream: &mut PostmarkStream,
        drawn: &mut PostmarkPlan,
        meter: &mut Meter,
        began: Nanos,
    ) -> Result<(), TestError> {
        let mut laps = Laps::start(began);
        for number in 0..self.settings.transactions {
            if stream.is_out_of_files() {
                return Err(TestError::Check {
                    check: "doing all transactions",
                    found: format!(
                        "the files ran out after {number} of {}; use more files or fewer \
                         transactions",
                        self.settings.transactions
                    ),
                });
            }
            let start = laps.last();
            for half in [
                PostmarkStream::read_or_append,
                PostmarkStream::create_or_delete,
            ] {
                let op = half(stream);
                drawn.count(op);
                if let Some(op) = op {
                    self.carry_out(op)?;
                    meter.record(kind_of(op), laps.lap(self.watch.now()));
                }
            }
            meter.record(TRANSACTION, laps.last().since(start));
            drawn.transactions += 1;
            self.watch.check(laps.last())?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn carry_out(&mut self, op: PostmarkOp) -> Result<(), TestError> {
        match op {
            PostmarkOp::Create { file } => self.create(file),
            PostmarkOp::Read { file } => self.read(file),
            PostmarkOp::Append { file, bytes } => self.append(file, bytes),
            PostmarkOp::Delete { file } => {
                self.set_name(file);
                self.places.remove_file(c_text(&self.name))
            }
        }
    }

    fn create(&mut self, file: PostmarkFile) -> Result<(), TestError> {
        self.set_name(file);
        let (flags, mode) = match self.settings.buffering {
            true => (OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, 0o666),
            false => (OFlags::RDWR | OFlags::CREATE, 0o644),
        };
        let mode = Mode::from_raw_mode(mode);
        let open = self.root.open_file(c_text(&self.name), flags, mode)?;
        self.fill(&open, file.size)
    }

    fn append(&mut self, file: PostmarkFile, bytes: u32) -> Result<(), TestError> {
        self.set_name(file);
        let name = c_text(&self.name);
        let open = match self.settings.buffering {
            true => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
                let open = self
                    .root
                    .open_file(name, flags, Mode::from_raw_mode(0o666))?;
                rustix::fs::seek(&open, SeekFrom::End(0))
                    .map_err(|errno| self.root.error("seeking in", name, errno))?;
                open
            }
            false => {
                let flags = OFlags::RDWR | OFlags::APPEND;
                self.root.open_file(name, flags, Mode::empty())?
            }
        };
        self.fill(&open, bytes)
    }

    /// Writes so many bytes from the beginning of the contents.
    fn fill(&mut self, open: &OwnedFd, bytes: u32) -> Result<(), TestError> {
        let name = c_text(&self.name);
        let contents = &self.contents[..bytes as usize];
        self.stdio.open();
        for block in contents.chunks(self.settings.write_block as usize) {
            match self.settings.buffering {
                true => self.stdio.write(self.root, open, name, block)?,
                false => self.root.write(open.as_fd(), name, block)?,
            }
        }
        self.stdio.flush(self.root, open, name)?;
        self.moved.written_bytes += u64::from(bytes);
        Ok(())
    }

    fn read(&mut self, file: PostmarkFile) -> Result<(), TestError> {
        self.set_name(file);
        let name = c_text(&self.name);
        let open = self.root.open_file(name, OFlags::RDONLY, Mode::empty())?;
        self.stdio.open();
        let mut left = file.size as usize;
        while left > 0 {
            let length = left.min(self.block.len());
            let block = &mut self.block[..length];
            let count = match self.settings.buffering {
                true => self.stdio.read(self.root, &open, name, block)?,
                false => self.root.read(open.as_fd(), name, block)?,
            };
            // The original looks at nothing it reads either, but copies it.
            std::hint::black_box(&block);
            if count == 0 {
                return Err(TestError::Check {
                    check: "reading a whole file",
                    found: format!(
                        "{} ends {left} bytes before its {}",
                        self.root.path_of(name).display(),
                        file.size
                    ),
                });
            }
            self.moved.read_bytes += count as u64;
            left -= count;
        }
        Ok(())
    }

    fn set_name(&mut self, file: PostmarkFile) {
        self.name.clear();
        // A vector takes every byte.
        let _ = match self.settings.directories() {
            0 => write!(self.name, "{}\0", file.number),
            _ => write!(self.name, "s{}/{}\0", file.directory, file.number),
        };
    }

    fn make_directories(&mut self) -> Result<(), TestError> {
        for number in 0..self.settings.directories() {
            let name = directory(number);
            let mode = Mode::from_raw_mode(0o700);
            self.places.need_directory(c_text(&name), mode)?;
        }
        Ok(())
    }

    fn remove_directories(&mut self) -> Result<(), TestError> {
        for number in 0..self.settings.directories() {
            let name = directory(number);
            let name = c_text(&name);
            self.places
                .remove_directory(name)
                .map_err(|errno| self.root.error("removing", name, errno))?;
        }
        Ok(())
    }
}

fn kind_of(op: PostmarkOp) -> usize {
    match op {
        PostmarkOp::Create { .. } => CREATE,
        PostmarkOp::Read { .. } => READ,
        PostmarkOp::Append { .. } => APPEND,
        PostmarkOp::Delete { .. } => DELETE,
    }
}

fn directory(number: u32) -> Vec<u8> {
    format!("s{number}\0").into_bytes()
}

fn c_text(bytes: &[u8]) -> &CStr {
    CStr::from_bytes_with_nul(bytes).unwrap_or(c"")
}
